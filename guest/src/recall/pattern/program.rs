//! A pattern as instructions for the machine.

use std::ops::Range;

use super::first::first;
use super::set::Set;
use super::syntax::{Node, UNBOUNDED};

/// One instruction. A place is an index into the program, a slot holds a position in the line or a count.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Instruction {
    /// Consumes one character of the set, or the one before where `back`.
    Step { set: Set, back: bool },
    /// Consumes characters of the set, as many as the rest allows, or as few where not greedy.
    Run { set: Set, min: u32, max: u32, greedy: bool },
    /// Goes on at the next instruction, and at `other` if that fails.
    Split { other: usize },
    /// Goes on there.
    Jump(usize),
    /// Keeps the position.
    Save(usize),
    /// Sets a count to zero.
    Zero(usize),
    /// Decides whether the body at the next instruction is repeated once more, or left for `exit`.
    Loop { count: usize, min: u32, max: u32, greedy: bool, exit: usize },
    /// Starts one repetition at this position, with the groups inside unset.
    Enter { start: usize, groups: Range<usize> },
    /// Ends one repetition; one that consumed nothing is not worth another.
    Next { count: usize, start: usize, min: u32, entry: usize },
    /// Holds at the start of the line.
    Start,
    /// Holds at the end of the line.
    End,
    /// Holds between a word character and another one.
    WordBoundary { negated: bool },
    /// Consumes what the group captured.
    BackReference { group: usize, back: bool },
    /// Runs what follows up to its `Match` and goes on at `after` where that (or, negated, only that) failed.
    Look { negated: bool, after: usize },
    /// The end of the pattern or of a look-around.
    Match,
}

/// A compiled pattern.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Program {
    pub(super) code: Vec<Instruction>,
    /// Two for each group, those of group 0 unused, then those of the repetitions.
    pub(super) slots: usize,
    /// Characters of which every match begins with one; none where a match can be empty.
    pub(super) first: Option<Set>,
}

impl Program {
    /// Compiles a pattern with that many groups.
    pub(super) fn new(node: &Node, groups: usize) -> Program {
        let mut program = Program { code: vec![], slots: 2 * (groups + 1), first: first(node) };
        program.emit(node, false);
        program.code.push(Instruction::Match);
        program
    }

    fn slot(&mut self) -> usize {
        self.slots += 1;
        self.slots - 1
    }

    /// Emits a node; `back` is the direction of look-behinds, which read from right to left.
    fn emit(&mut self, node: &Node, back: bool) {
        match node {
            Node::Set(set) => self.code.push(Instruction::Step { set: set.clone(), back }),
            Node::Start => self.code.push(Instruction::Start),
            Node::End => self.code.push(Instruction::End),
            Node::WordBoundary { negated } => {
                self.code.push(Instruction::WordBoundary { negated: *negated });
            }
            Node::BackReference(group) => {
                self.code.push(Instruction::BackReference { group: *group, back });
            }
            Node::Group(number, body) => {
                let (first, last) = if back { (1, 0) } else { (0, 1) };
                self.code.push(Instruction::Save(2 * number + first));
                self.emit(body, back);
                self.code.push(Instruction::Save(2 * number + last));
            }
            Node::Sequence(nodes) if back => nodes.iter().rev().for_each(|node| self.emit(node, back)),
            Node::Sequence(nodes) => nodes.iter().for_each(|node| self.emit(node, back)),
            Node::Alternatives(nodes) => self.alternatives(nodes, back),
            Node::Repeat { body, min, max, greedy, groups } => match &**body {
                Node::Set(set) if !back => {
                    let (set, min, max, greedy) = (set.clone(), *min, *max, *greedy);
                    self.code.push(Instruction::Run { set, min, max, greedy });
                }
                _ => self.repeat(body, (*min, *max, *greedy), groups, back),
            },
            Node::Look { behind, negated, body } => {
                let at = self.reserve();
                self.emit(body, *behind);
                self.code.push(Instruction::Match);
                self.code[at] = Instruction::Look { negated: *negated, after: self.code.len() };
            }
        }
    }

    /// Leaves room for an instruction that depends on what comes after it.
    fn reserve(&mut self) -> usize {
        self.code.push(Instruction::Match);
        self.code.len() - 1
    }

    fn alternatives(&mut self, nodes: &[Node], back: bool) {
        let mut jumps = vec![];
        for (index, node) in nodes.iter().enumerate() {
            if index + 1 == nodes.len() {
                self.emit(node, back);
                break;
            }
            let split = self.reserve();
            self.emit(node, back);
            jumps.push(self.reserve());
            self.code[split] = Instruction::Split { other: self.code.len() };
        }
        for jump in jumps {
            self.code[jump] = Instruction::Jump(self.code.len());
        }
    }

    fn repeat(
        &mut self,
        body: &Node,
        (min, max, greedy): (u32, u32, bool),
        groups: &Range<usize>,
        back: bool,
    ) {
        let (count, start) = (self.slot(), self.slot());
        self.code.push(Instruction::Zero(count));
        let entry = self.reserve();
        self.code.push(Instruction::Enter { start, groups: 2 * groups.start..2 * groups.end });
        self.emit(body, back);
        self.code.push(Instruction::Next { count, start, min, entry });
        self.code[entry] = Instruction::Loop { count, min, max, greedy, exit: self.code.len() };
    }
}

/// Returns whether that many repetitions are all that `max` allows.
pub(super) fn exhausted(count: usize, max: u32) -> bool {
    max != UNBOUNDED && count >= max as usize
}
