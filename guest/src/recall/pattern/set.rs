//! Sets of characters, as classes and single characters name them.

/// The last code point.
const LAST: u32 = 0x10_FFFF;

/// What `\w` stands for.
const WORD: &[(u32, u32)] = &[(0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)];

/// What `\s` stands for: JavaScript's white space and line ends.
const SPACE: &[(u32, u32)] = &[
    (0x09, 0x0D),
    (0x20, 0x20),
    (0xA0, 0xA0),
    (0x1680, 0x1680),
    (0x2000, 0x200A),
    (0x2028, 0x2029),
    (0x202F, 0x202F),
    (0x205F, 0x205F),
    (0x3000, 0x3000),
    (0xFEFF, 0xFEFF),
];

/// A set of characters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Set {
    /// Membership of the first 128 code points, which most lines consist of.
    ascii: [u64; 2],
    /// Sorted, disjoint ranges of code points, ends included.
    ranges: Vec<(u32, u32)>,
}

impl Set {
    /// Collects ranges in any order.
    pub(super) fn new(mut ranges: Vec<(u32, u32)>) -> Set {
        ranges.sort_unstable();
        let mut merged: Vec<(u32, u32)> = Vec::with_capacity(ranges.len());
        for (low, high) in ranges {
            match merged.last_mut() {
                Some(last) if low <= last.1.saturating_add(1) => last.1 = last.1.max(high),
                _ => merged.push((low, high)),
            }
        }
        let mut ascii = [0; 2];
        for &(low, high) in &merged {
            for code in low..=high.min(127) {
                ascii[code as usize / 64] |= 1 << (code % 64);
            }
        }
        Set { ascii, ranges: merged }
    }

    /// The set of one character.
    pub(super) fn single(code: u32) -> Set {
        Set::new(vec![(code, code)])
    }

    /// What `.` stands for: everything but line ends.
    pub(super) fn dot() -> Set {
        Set::new(vec![(0x0A, 0x0A), (0x0D, 0x0D), (0x2028, 0x2029)]).complement()
    }

    /// What `\d`, `\s` or `\w` and their capital opposites stand for; none for another letter.
    pub(super) fn shorthand(letter: char) -> Option<Set> {
        let ranges = match letter.to_ascii_lowercase() {
            'd' => &[(0x30, 0x39)],
            's' => SPACE,
            'w' => WORD,
            _ => return None,
        };
        let set = Set::new(ranges.to_vec());
        Some(if letter.is_ascii_uppercase() { set.complement() } else { set })
    }

    /// Returns the set of all other characters.
    pub(super) fn complement(&self) -> Set {
        let mut next = 0;
        let mut ranges = Vec::with_capacity(self.ranges.len() + 1);
        for &(low, high) in &self.ranges {
            if next < low {
                ranges.push((next, low - 1));
            }
            next = high + 1;
        }
        if next <= LAST {
            ranges.push((next, LAST));
        }
        Set::new(ranges)
    }

    /// Returns the ranges, to be joined with others.
    pub(super) fn ranges(&self) -> &[(u32, u32)] {
        &self.ranges
    }

    /// Returns whether the character belongs to the set.
    pub(super) fn contains(&self, c: char) -> bool {
        let code = u32::from(c);
        if code < 128 {
            return self.ascii[code as usize / 64] >> (code % 64) & 1 == 1;
        }
        let after = self.ranges.partition_point(|&(low, _)| low <= code);
        after > 0 && self.ranges[after - 1].1 >= code
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_merge_and_complement() {
        let set = Set::new(vec![(0x62, 0x64), (0x61, 0x62), (0x65, 0x65), (0x3B1, 0x3C9)]);
        assert_eq!(set.ranges(), [(0x61, 0x65), (0x3B1, 0x3C9)]);
        assert!(['a', 'e', 'α', 'ω'].iter().all(|&c| set.contains(c)));
        assert!(['f', '`', 'ϊ', '😀'].iter().all(|&c| !set.contains(c)));
        assert_eq!(set.complement().complement(), set);
        assert!(!Set::new(vec![(0, LAST)]).complement().contains('a'));
    }
}
