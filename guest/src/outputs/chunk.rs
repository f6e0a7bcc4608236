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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Lines of that cost each, which is their length and one more.
    fn text(costs: &[usize]) -> String {
        costs.iter().map(|cost| "x".repeat(cost - 1)).collect::<Vec<_>>().join("\n")
    }

    fn cut(text: &str) -> Vec<Range<usize>> {
        chunks(&Lines::new(text), None).into_iter().map(|chunk| chunk.lines).collect()
    }

    /// Numbered matches, each of that cost.
    fn matches(file: &str, count: usize, cost: usize) -> Vec<String> {
        (0..count).map(|at| format!("{:x<1$}", format!("{file}:{at}:"), cost - 1)).collect()
    }

    #[test]
    fn l11_the_target_grows_with_the_text() {
        assert_eq!([50_413, 120_000, 600_000].map(|len| target(&"x".repeat(len))), [800, 1_000, 5_000]);
        assert_eq!(target(&"x".repeat(120_001)), 1_001);
    }

    #[test]
    fn l14_b3_a_log_is_cut_into_windows() {
        let log = vec!["2026-10-06T12:30:45Z start of something or other"; 40].join("\n");
        let chunks = chunks(&Lines::new(&log), None);
        assert_eq!(chunks.len(), 3);
        assert!(chunks.iter().all(|chunk| chunk.files.is_empty()), "{chunks:?}");
    }

    #[test]
    fn l18_groups_by_file_are_merged_cut_or_left() {
        let groups = [("a.rs", 4), ("b.rs", 30), ("c.rs", 3), ("d.rs", 4), ("e.rs", 10)];
        let lines: Vec<String> = groups.iter().flat_map(|(file, count)| matches(file, *count, 50)).collect();
        let text = lines.join("\n");
        let chunks = chunks(&Lines::new(&text), None);
        let shape: Vec<_> = chunks.iter().map(|chunk| (chunk.files[0].as_str(), chunk.lines.len())).collect();
        assert_eq!(shape, [("a.rs", 4), ("b.rs", 16), ("b.rs", 14), ("c.rs", 3), ("d.rs", 4), ("e.rs", 10)]);
    }

    #[test]
    fn l19_small_groups_are_merged_up_to_half_the_target() {
        let lines: Vec<String> = (0..10).flat_map(|at| matches(&format!("{at}.rs"), 1, 50)).collect();
        let text = lines.join("\n");
        let chunks = chunks(&Lines::new(&text), None);
        assert_eq!(chunks.iter().map(|chunk| chunk.files.len()).collect::<Vec<_>>(), [8, 2]);
        assert_eq!(chunks[0].units, 8 * 50 - 1);
    }

    #[test]
    fn l20_the_same_file_in_two_places_makes_two_groups() {
        let lines = [matches("a.rs", 6, 50), matches("b.rs", 6, 50), matches("a.rs", 6, 50)].concat();
        let text = lines.join("\n");
        let chunks = chunks(&Lines::new(&text), None);
        assert_eq!(
            chunks.iter().map(|chunk| chunk.files.join(",")).collect::<Vec<_>>(),
            ["a.rs", "b.rs", "a.rs"]
        );
    }

    #[test]
    fn l20_a_merged_chunk_names_a_file_once() {
        let lines = [matches("a.rs", 2, 50), matches("b.rs", 2, 50), matches("a.rs", 2, 50)].concat();
        let text = lines.join("\n");
        let chunks = chunks(&Lines::new(&text), None);
        assert_eq!(chunks.iter().map(|chunk| chunk.files.join(",")).collect::<Vec<_>>(), ["a.rs,b.rs"]);
    }

    #[test]
    fn lines_before_the_first_file_form_a_group_without_one() {
        let lines = [vec!["-".repeat(299)], matches("a.rs", 6, 50)].concat();
        let text = lines.join("\n");
        let chunks = chunks(&Lines::new(&text), None);
        assert_eq!(chunks.iter().map(|chunk| chunk.files.len()).collect::<Vec<_>>(), [0, 1]);
    }

    #[test]
    fn l21_windows_are_full() {
        assert_eq!(cut(&text(&[40; 30])), [0..20, 20..30]);
    }

    #[test]
    fn l22_a_blank_line_ends_the_window() {
        let mut costs = [40; 30];
        costs[13] = 1;
        assert_eq!(cut(&text(&costs)), [0..14, 14..30]);
    }

    #[test]
    fn l23_only_the_last_two_fifths_of_a_window_can_end_it() {
        let blank = |at: usize| {
            let mut lines: Vec<String> = vec!["x".repeat(39); 30];
            lines[at] = " ".repeat(39);
            cut(&lines.join("\n"))
        };
        assert_eq!(blank(11), [0..20, 20..30]);
        assert_eq!(blank(12), [0..13, 13..30]);
    }

    #[test]
    fn l24_a_long_line_is_a_window_of_its_own() {
        assert_eq!(cut(&format!("short\n{}\nshort", "x".repeat(10_000))), [0..1, 1..2, 2..3]);
    }

    #[test]
    fn l50_b4_a_newline_at_the_end_is_in_no_chunk() {
        assert_eq!(cut(&text(&[40; 30])), cut(&(text(&[40; 30]) + "\n")));
    }

    proptest! {
        #[test]
        fn chunks_cover_every_line_once_in_order(
            lines in prop::collection::vec(
                prop_oneof![
                    "[\\x00-\\x7f\u{2028}\u{85}é😀]{0,40}",
                    "[a-c]\\.rs[:-][0-9]{1,3}[:-].{0,30}",
                    "[a-c/]{1,3}:x{0,900}",
                    Just("--".to_owned()),
                    Just("\x1b[35ma.rs\x1b[0m:12:x\r".to_owned()),
                    Just("x".repeat(3_000)),
                    Just(String::new()),
                ],
                0..60,
            ),
            call in prop_oneof![Just(None), any::<bool>().prop_map(|headings| Some(SearchCall { headings }))],
        ) {
            let text = lines.join("\n");
            let lines = Lines::new(&text);
            let chunks = chunks(&lines, call);
            let mut next = 0;
            for chunk in &chunks {
                prop_assert_eq!(chunk.lines.start, next);
                prop_assert!(!chunk.lines.is_empty());
                prop_assert_eq!(chunk.units, units(lines.slice(chunk.lines.clone())));
                next = chunk.lines.end;
            }
            prop_assert_eq!(next, lines.count());
            let joined = chunks.iter().map(|c| lines.slice(c.lines.clone())).collect::<Vec<_>>().join("\n");
            prop_assert_eq!(&joined, text.strip_suffix('\n').unwrap_or(&text));
        }
    }
}
