//! Questions and answers, independent of the wire protocol.
//!
//! These are the JSON bodies of the contract's `question` and `reply`.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One request to the classifier: what it should know, and what it is asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// The facts, in the order in which they are to be read.
    pub state: Map<String, Value>,
    /// Questions by id ([`Question`] as JSON), in order.
    pub questions: Map<String, Value>,
}

impl Request {
    /// Writes the request as compact JSON.
    pub fn to_json(&self) -> String {
        // Maps of JSON values always have a JSON form.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// A typed question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum Question {
    /// Yes or no.
    Bool {
        /// What is asked.
        instructions: String,
        /// What `true` and `false` mean.
        criteria: Map<String, Value>,
    },
    /// One of several options.
    Choice {
        /// What is asked.
        instructions: String,
        /// The options by key, in order, with their meaning.
        criteria: Map<String, Value>,
    },
}

impl Question {
    /// Asks a yes-or-no question, with what the two answers mean.
    pub fn yes_or_no(instructions: String, yes: String, no: String) -> Self {
        let criteria = [("true", yes), ("false", no)];
        Question::Bool {
            instructions,
            criteria: criteria.map(|(key, meaning)| (key.to_owned(), meaning.into())).into_iter().collect(),
        }
    }
}

/// A typed answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum Answer {
    /// To a yes-or-no question.
    Bool {
        /// Of yes.
        probability: f64,
    },
    /// To a choice.
    Choice {
        /// The option chosen.
        choice: String,
        /// Probabilities by option, in the order given.
        #[serde(default)]
        probabilities: Map<String, Value>,
    },
}

impl Answer {
    /// Returns the probability of yes among `answers` to the question with that id; none where the answer is
    /// missing, to another type of question, or no probability.
    pub fn yes(answers: &Map<String, Value>, id: &str) -> Option<f64> {
        match Answer::deserialize(answers.get(id)?).ok()? {
            Answer::Bool { probability } if (0.0..=1.0).contains(&probability) => Some(probability),
            _ => None,
        }
    }
}

#[cfg(test)]
pub(crate) mod page {
    //! The page that publishes the questions.

    use std::collections::BTreeSet;

    use super::*;

    /// Returns what the page quotes in its sections of that name, below "The questions".
    pub(crate) fn quoted(sections: &str) -> BTreeSet<String> {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/JEV.md");
        let page = std::fs::read_to_string(path).unwrap();
        let of_sections = page.split("\n### ").filter(|section| section.starts_with(sections));
        let lines = of_sections.flat_map(str::lines).filter_map(|line| line.strip_prefix("> "));
        lines.map(str::to_owned).collect()
    }

    /// Returns a question's texts as the page quotes them.
    pub(crate) fn texts(question: Question) -> Vec<String> {
        let (Question::Bool { instructions, criteria } | Question::Choice { instructions, criteria }) =
            question;
        let meanings =
            criteria.iter().map(|(key, meaning)| format!("`{key}`: {}", meaning.as_str().unwrap()));
        std::iter::once(instructions).chain(meanings).collect()
    }
}
