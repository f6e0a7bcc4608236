//! Secrets in what a question tells, masked before it leaves.
//!
//! A heuristic over the forms in which secrets are usually printed. Precision comes first: a mask in the wrong
//! place hides code from the classifier. Lines that stay in the context are never touched.
//!
//! Texts are masked whole, before they are shortened or cut into parts: a secret of which only a part would leave
//! could not be told any more.

mod assignments;
mod forms;
mod keys;
mod names;
mod runs;
mod scan;
#[cfg(test)]
mod tests;
mod tokens;
mod values;

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;

use serde_json::Value;

/// Opens every mask, which reads `‹secret 1›`. Nothing that a form takes for a value holds this character.
const OPEN: char = '‹';

/// The masks of the questions of one pass, numbered in the order of their first use.
///
/// Equal secrets have equal masks, so that the classifier still sees what belongs together. A mask tells nothing of
/// its secret, not even a hash, which could be guessed.
#[derive(Default)]
pub struct Masks {
    /// Behind a cell, since all that is told in a pass shares them.
    numbers: RefCell<HashMap<String, usize>>,
}

impl fmt::Debug for Masks {
    /// Leaves the secrets out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Masks").field("secrets", &self.numbers.borrow().len()).finish()
    }
}

impl Masks {
    /// Masks the secrets of a text. The number of its lines stays.
    pub fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let found = scan::find(text);
        if found.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut masked = String::with_capacity(text.len());
        let mut at = 0;
        for scan::Secret { range, whole } in found {
            let (Some(before), Some(secret)) = (text.get(at..range.start), text.get(range.clone())) else {
                continue;
            };
            masked.push_str(before);
            masked.push_str(&self.of(whole.as_deref().unwrap_or(secret)));
            at = range.end;
        }
        masked.push_str(text.get(at..).unwrap_or_default());
        Cow::Owned(masked)
    }

    /// Masks the secrets of all strings of a JSON value.
    pub fn value(&self, value: &mut Value) {
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

    fn of(&self, secret: &str) -> String {
        let mut numbers = self.numbers.borrow_mut();
        let next = numbers.len() + 1;
        let number = *numbers.entry(secret.trim().to_owned()).or_insert(next);
        format!("{OPEN}secret {number}›")
    }
}
