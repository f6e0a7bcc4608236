//! Chunks: the pieces of an output that are judged one by one.

use std::ops::Range;

use super::lines::Lines;
use super::search::{self, SearchCall};
use crate::text::{blank, units};

/// Least size that chunks aim at. Smaller ones cost a question each and say too little to be judged.
const TARGET: usize = 800;

/// Chunks that an output of any length is cut into, roughly: three full segments.
const PIECES: usize = 120;

/// Consecutive lines of an output.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Chunk {
    /// Its lines.
    pub(super) lines: Range<usize>,
    /// For search output the files that its matches are in, each once, in order.
    pub(super) files: Vec<String>,
    /// Length of its text in UTF-16 units, the newline after it not counted.
    pub(super) units: usize,
}

impl Chunk {
    /// Returns its length with the newline that joins it to the next.
    pub(super) fn cost(&self) -> usize {
        self.units + 1
    }
}

/// Names the chunk at that place, counted over the whole output from 1.
pub(super) fn name(at: usize) -> String {
    format!("chunk_{}", at + 1)
}

/// Cuts an output into chunks that cover every line once, in order.
///
/// Search output is cut by file, anything else at blank lines into windows of about equal length.
pub(super) fn chunks(lines: &Lines<'_>, call: Option<SearchCall>) -> Vec<Chunk> {
    let costs: Vec<usize> = lines.iter().map(|line| units(line) + 1).collect();
    let cutter = Cutter { lines, costs: &costs, target: target(lines.text()) };
    match search::files(lines, call) {
        Some(files) => cutter.by_file(groups(&files)),
        None => cutter.windows(0..lines.count(), &[]),
    }
}

/// Returns the size that chunks of a text aim at.
fn target(text: &str) -> usize {
    TARGET.max(units(text).div_ceil(PIECES))
}

/// Consecutive lines of search output about one file.
struct Group {
    lines: Range<usize>,
    file: Option<String>,
}

/// Opens a group wherever the file changes; lines without a file go with what stands before them.
fn groups(files: &[Option<String>]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for (at, file) in files.iter().enumerate() {
        match groups.last_mut() {
            Some(group) if file.is_none() || *file == group.file => group.lines.end = at + 1,
            _ => groups.push(Group { lines: at..at + 1, file: file.clone() }),
        }
    }
    groups
}

struct Cutter<'l> {
    lines: &'l Lines<'l>,
    /// Length of every line with its newline.
    costs: &'l [usize],
    target: usize,
}

impl Cutter<'_> {
    fn chunk(&self, lines: Range<usize>, files: Vec<String>) -> Chunk {
        Chunk { units: self.cost(&lines).saturating_sub(1), lines, files }
    }

    fn cost(&self, lines: &Range<usize>) -> usize {
        self.costs[lines.clone()].iter().sum()
    }

    /// Joins small groups up to half the target, and cuts big ones into windows.
    fn by_file(&self, groups: Vec<Group>) -> Vec<Chunk> {
        let mut chunks: Vec<Chunk> = Vec::new();
        let mut merging = false;
        for Group { lines, file } in groups {
            let cost = self.cost(&lines);
            let files: Vec<String> = file.into_iter().collect();
            let small = cost * 4 < self.target;
            if 2 * cost > 3 * self.target {
                chunks.extend(self.windows(lines, &files));
            } else if let Some(last) = chunks.last_mut()
                && small
                && merging
                && (last.cost() + cost) * 2 <= self.target
            {
                last.lines.end = lines.end;
                last.units += cost;
                last.files
                    .extend(files.into_iter().filter(|file| !last.files.contains(file)).collect::<Vec<_>>());
            } else {
                chunks.push(self.chunk(lines, files));
            }
            merging = small;
        }
        chunks
    }

    /// Cuts lines into windows of at most the target, where possible after a blank line in the last two
    /// fifths of a window.
    fn windows(&self, lines: Range<usize>, files: &[String]) -> Vec<Chunk> {
        let mut chunks = Vec::new();
        let mut start = lines.start;
        while start < lines.end {
            let mut end = start + 1;
            let mut cost = self.costs[start];
            while end < lines.end && cost + self.costs[end] <= self.target {
                cost += self.costs[end];
                end += 1;
            }
            if end < lines.end {
                let least = start + ((end - start) * 3 / 5).max(1) + 1;
                end = (least..=end).rev().find(|&end| blank(self.lines.get(end - 1))).unwrap_or(end);
            }
            chunks.push(self.chunk(start..end, files.to_vec()));
            start = end;
        }
        chunks
    }
}
