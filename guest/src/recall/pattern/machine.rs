//! Runs a compiled pattern against one line, counting every step.
//!
//! It tries one way after another, as JavaScript does, with the ways still open on a stack of its own: neither
//! a deep pattern nor a long line can overflow the call stack.

use super::program::{Instruction, Program, exhausted};
use super::set::Set;

/// No position: the group has not taken part.
const UNSET: usize = usize::MAX;

/// Most open ways, a limit on memory (some 30 MB at most).
const CHOICES: usize = 1 << 20;

/// Characters that are passed over in the time of a step.
const PASSED: usize = 8;

/// The steps that a search may still take.
#[derive(Clone, Debug)]
pub(super) struct Budget(pub(super) usize);

/// The budget ran out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Exhausted;

impl Budget {
    fn spend(&mut self, steps: usize) -> Result<(), Exhausted> {
        self.0 = self.0.checked_sub(steps).ok_or(Exhausted)?;
        Ok(())
    }
}

/// What to do when a way leads nowhere.
#[derive(Clone, Copy, Debug)]
enum Choice {
    /// Go on there.
    Branch { at: usize, position: usize },
    /// Give back one character of a run, down to `least`, and go on there.
    Shorter { at: usize, position: usize, least: usize },
    /// Take one more character in the run at that place.
    Longer { at: usize, position: usize, taken: u32 },
    /// Undo this and go further back.
    Restore { slot: usize, value: usize },
}

/// The working memory of a search, reused from line to line.
#[derive(Debug)]
pub(super) struct Machine<'p> {
    code: &'p [Instruction],
    first: Option<&'p Set>,
    slots: Vec<usize>,
    choices: Vec<Choice>,
}

impl<'p> Machine<'p> {
    pub(super) fn new(program: &'p Program) -> Self {
        Machine {
            code: &program.code,
            first: program.first.as_ref(),
            slots: vec![UNSET; program.slots],
            choices: vec![],
        }
    }

    /// Returns whether the pattern matches anywhere in the line.
    pub(super) fn matches(&mut self, line: &str, budget: &mut Budget) -> Result<bool, Exhausted> {
        budget.spend(line.len() / PASSED + 1)?;
        let first = self.first;
        let starts = line.char_indices().filter(|(_, c)| first.is_none_or(|set| set.contains(*c)));
        for start in starts.map(|(at, _)| at).chain([line.len()]) {
            // A failed attempt has undone all it did.
            if self.run(line, 0, start, budget)? {
                budget.spend(self.slots.len())?;
                self.slots.fill(UNSET);
                self.choices.clear();
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Runs from that place to the next `Match`; leaves the open ways on the stack where it got there.
    fn run(
        &mut self,
        line: &str,
        mut at: usize,
        mut position: usize,
        budget: &mut Budget,
    ) -> Result<bool, Exhausted> {
        let base = self.choices.len();
        loop {
            budget.spend(1)?;
            if matches!(self.code[at], Instruction::Match) {
                return Ok(true);
            }
            match self.advance(line, at, position, budget)? {
                Some(next) => (at, position) = next,
                None => match self.retry(line, base) {
                    Some(next) => (at, position) = next,
                    None => return Ok(false),
                },
            }
            if self.choices.len() > CHOICES {
                return Err(Exhausted);
            }
        }
    }

    /// Carries out one instruction; none where it fails.
    fn advance(
        &mut self,
        line: &str,
        at: usize,
        position: usize,
        budget: &mut Budget,
    ) -> Result<Option<(usize, usize)>, Exhausted> {
        let next = at + 1;
        let code = self.code;
        let holds = |holds: bool| Ok(holds.then_some((next, position)));
        match &code[at] {
            Instruction::Step { set, back } => {
                let moved = if *back { step_back(line, position, set) } else { step(line, position, set) };
                return Ok(moved.map(|position| (next, position)));
            }
            Instruction::Run { set, min, max, greedy } => {
                return self.consume(line, at, position, (set, *min, *max, *greedy), budget);
            }
            Instruction::Split { other } => self.choices.push(Choice::Branch { at: *other, position }),
            Instruction::Jump(target) => return Ok(Some((*target, position))),
            Instruction::Save(slot) => self.set(*slot, position),
            Instruction::Zero(slot) => self.set(*slot, 0),
            Instruction::Loop { count, min, max, greedy, exit } => {
                let done = self.slots[*count];
                if done >= *min as usize {
                    if exhausted(done, *max) {
                        return Ok(Some((*exit, position)));
                    }
                    let (first, other) = if *greedy { (next, *exit) } else { (*exit, next) };
                    self.choices.push(Choice::Branch { at: other, position });
                    return Ok(Some((first, position)));
                }
            }
            Instruction::Enter { start, groups } => {
                self.set(*start, position);
                budget.spend(groups.len())?;
                for slot in groups.clone() {
                    self.set(slot, UNSET);
                }
            }
            Instruction::Next { count, start, min, entry } => {
                let done = self.slots[*count];
                if done >= *min as usize && self.slots[*start] == position {
                    return Ok(None);
                }
                self.set(*count, done + 1);
                return Ok(Some((*entry, position)));
            }
            Instruction::Start => return holds(position == 0),
            Instruction::End => return holds(position == line.len()),
            Instruction::WordBoundary { negated } => return holds(boundary(line, position) != *negated),
            Instruction::BackReference { group, back } => {
                let captured = match (self.slots[2 * group], self.slots[2 * group + 1]) {
                    (start, end) if start != UNSET && end != UNSET => line.get(start..end).unwrap_or(""),
                    _ => "",
                };
                budget.spend(captured.len())?;
                let (before, after) = line.split_at(position);
                return Ok(match back {
                    true => before.ends_with(captured).then(|| (next, position - captured.len())),
                    false => after.starts_with(captured).then(|| (next, position + captured.len())),
                });
            }
            Instruction::Look { negated, after } => {
                let base = self.choices.len();
                let found = self.run(line, next, position, budget)?;
                if found {
                    budget.spend(self.choices.len() - base)?;
                    if *negated { self.undo(base) } else { self.settle(base) }
                }
                return Ok((found != *negated).then_some((*after, position)));
            }
            // Only `run` meets it.
            Instruction::Match => return Ok(None),
        }
        Ok(Some((next, position)))
    }

    /// Consumes a run of characters of one set.
    fn consume(
        &mut self,
        line: &str,
        at: usize,
        start: usize,
        (set, min, max, greedy): (&Set, u32, u32, bool),
        budget: &mut Budget,
    ) -> Result<Option<(usize, usize)>, Exhausted> {
        let (mut position, mut least, mut taken) = (start, start, 0);
        let wanted = if greedy { max } else { min };
        while taken < wanted {
            let Some(further) = step(line, position, set) else { break };
            budget.spend(1)?;
            (position, taken) = (further, taken + 1);
            if taken == min {
                least = position;
            }
        }
        if taken < min {
            return Ok(None);
        }
        if greedy && position > least {
            self.choices.push(Choice::Shorter { at: at + 1, position, least });
        } else if !greedy && taken < max {
            self.choices.push(Choice::Longer { at, position, taken });
        }
        Ok(Some((at + 1, position)))
    }

    /// Takes the newest open way above `base`; none where all are used up.
    fn retry(&mut self, line: &str, base: usize) -> Option<(usize, usize)> {
        while self.choices.len() > base {
            match self.choices.pop()? {
                Choice::Branch { at, position } => return Some((at, position)),
                Choice::Shorter { at, position, least } => {
                    let position = line[..position].char_indices().next_back().map_or(0, |(at, _)| at);
                    if position > least {
                        self.choices.push(Choice::Shorter { at, position, least });
                    }
                    return Some((at, position));
                }
                Choice::Longer { at, position, taken } => {
                    let Instruction::Run { set, max, .. } = &self.code[at] else { continue };
                    let Some(position) = step(line, position, set) else { continue };
                    if taken + 1 < *max {
                        self.choices.push(Choice::Longer { at, position, taken: taken + 1 });
                    }
                    return Some((at + 1, position));
                }
                Choice::Restore { slot, value } => self.slots[slot] = value,
            }
        }
        None
    }

    fn set(&mut self, slot: usize, value: usize) {
        let old = std::mem::replace(&mut self.slots[slot], value);
        if old != value {
            self.choices.push(Choice::Restore { slot, value: old });
        }
    }

    /// Undoes everything above `base`.
    fn undo(&mut self, base: usize) {
        for choice in self.choices.drain(base..).rev() {
            if let Choice::Restore { slot, value } = choice {
                self.slots[slot] = value;
            }
        }
    }

    /// Gives up the ways above `base`, but not how to undo what they did: a look-around is never tried twice.
    fn settle(&mut self, base: usize) {
        let mut kept = base;
        for index in base..self.choices.len() {
            if matches!(self.choices[index], Choice::Restore { .. }) {
                self.choices[kept] = self.choices[index];
                kept += 1;
            }
        }
        self.choices.truncate(kept);
    }
}

/// Returns the position after the character there, if it belongs to the set.
fn step(line: &str, position: usize, set: &Set) -> Option<usize> {
    let c = line[position..].chars().next()?;
    set.contains(c).then(|| position + c.len_utf8())
}

/// Returns the position before the character that ends there, if it belongs to the set.
fn step_back(line: &str, position: usize, set: &Set) -> Option<usize> {
    let c = line[..position].chars().next_back()?;
    set.contains(c).then(|| position - c.len_utf8())
}

/// Returns whether just one of the characters on both sides is a word character, which are all ASCII.
fn boundary(line: &str, position: usize) -> bool {
    let word = |at: Option<usize>| {
        let byte = at.and_then(|at| line.as_bytes().get(at));
        byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
    };
    word(position.checked_sub(1)) != word(Some(position))
}
