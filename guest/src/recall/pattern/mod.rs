//! JavaScript regular expressions whose search has a fixed price.
//!
//! A pattern comes from a model and runs where there is no clock, so every step is counted. Neither crate that
//! knows look-around and back-references can do that: `fancy-regex` limits its own back-tracking, but not the
//! automata that it hands parts of a pattern to (a look-ahead can run over the rest of the line at each
//! position for the price of one step), and `regress`, which reads JavaScript's syntax, has no limit.

mod first;
mod machine;
mod program;
mod set;
mod syntax;
#[cfg(test)]
mod tests;

use machine::{Budget, Machine};
use program::Program;

use crate::text::{prefix, units};

/// Most characters of a pattern.
const LENGTH: usize = 500;

/// How much of a line is matched, in characters.
pub(super) const REACH: usize = 4_000;

/// Steps of a whole search. A step was measured to take 5 to 9 ns natively and up to 25 ns in WebAssembly.
const STEPS: usize = 30_000_000;

/// Why a pattern cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PatternError {
    /// It is longer than allowed.
    #[error("the pattern has {0} characters and may have {LENGTH}: search for a shorter part of the line")]
    TooLong(usize),
    /// It is no regular expression.
    #[error("the pattern is no JavaScript regular expression: at character {at}, {problem}")]
    Invalid {
        /// Which character, from 1.
        at: usize,
        /// What is wrong, and what to write instead.
        problem: String,
    },
    /// The search took too many steps.
    #[error(
        "the search took too long: use a simpler pattern, without repetitions inside repetitions, or a literal word"
    )]
    TooSlow,
}

/// A compiled pattern.
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern {
    program: Program,
}

impl Pattern {
    /// Compiles a JavaScript regular expression without flags.
    ///
    /// # Errors
    ///
    /// `TooLong` above 500 characters, `Invalid` where it cannot be read.
    pub fn new(source: &str) -> Result<Pattern, PatternError> {
        let length = units(source);
        if length > LENGTH {
            return Err(PatternError::TooLong(length));
        }
        let (node, groups) = syntax::parse(source)
            .map_err(|mistake| PatternError::Invalid { at: mistake.at, problem: mistake.problem })?;
        Ok(Pattern { program: Program::new(&node, groups) })
    }

    /// Returns the indices of the lines that match, by their first 4,000 characters each.
    ///
    /// A carriage return at the end of a line can be matched, but does not keep `$` from matching before it.
    ///
    /// # Errors
    ///
    /// `TooSlow` where the whole search would take more than about a second.
    pub fn filter<'t>(&self, lines: impl Iterator<Item = &'t str>) -> Result<Vec<usize>, PatternError> {
        let mut machine = Machine::new(&self.program);
        let mut budget = Budget(STEPS);
        let mut found = vec![];
        for (index, line) in lines.enumerate() {
            let line = prefix(line, REACH);
            let mut matches =
                |line: &str| machine.matches(line, &mut budget).map_err(|_| PatternError::TooSlow);
            let bare = line.strip_suffix('\r');
            if matches(line)? || bare.map(&mut matches).transpose()?.unwrap_or(false) {
                found.push(index);
            }
        }
        Ok(found)
    }
}
