//! Secrets in what a question tells, masked before it leaves.
//!
//! A heuristic over the forms in which secrets are usually printed. Precision comes first: a mask in the wrong
//! place hides code from the classifier. Lines that stay in the context are never touched.

mod kinds;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use serde_json::Value;

use crate::jev::question::Request;

/// Opens every mask, which reads `‹secret 1›`. Nothing that a kind takes for a value holds this character.
const OPEN: char = '‹';

/// Masks the secrets in all texts of a request's state.
///
/// Equal secrets have equal masks within the request, so that the classifier still sees what belongs together. A
/// mask tells nothing of its secret, not even a hash, which could be guessed.
pub fn mask(request: &mut Request) {
    let mut masks = Masks::default();
    request.state.values_mut().for_each(|value| masks.value(value));
}

/// The masks of one request, numbered in the order of their first use.
#[derive(Default)]
struct Masks {
    numbers: HashMap<String, usize>,
}

impl Masks {
    fn value(&mut self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Cow::Owned(masked) = self.text(text) {
                    *text = masked;
                }
            }
            Value::Array(values) => values.iter_mut().for_each(|value| self.value(value)),
            Value::Object(values) => values.values_mut().for_each(|value| self.value(value)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn text<'t>(&mut self, text: &'t str) -> Cow<'t, str> {
        let found = kinds::find(text);
        if found.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut masked = String::with_capacity(text.len());
        let mut at = 0;
        for Range { start, end } in found {
            masked.push_str(&text[at..start]);
            let mask = self.of(&text[start..end]);
            // A secret of several lines leaves as many, so that chunks still tell their lines.
            for (number, line) in text[start..end].split('\n').enumerate() {
                if number > 0 {
                    masked.push('\n');
                }
                if !line.trim().is_empty() {
                    masked.push_str(&mask);
                }
            }
            at = end;
        }
        masked.push_str(&text[at..]);
        Cow::Owned(masked)
    }

    fn of(&mut self, secret: &str) -> String {
        let next = self.numbers.len() + 1;
        let number = *self.numbers.entry(secret.trim().to_owned()).or_insert(next);
        format!("{OPEN}secret {number}›")
    }
}
