//! Where stretches of a text end, remembered: a long one may hold many names, each of which asks for its end.

/// The ends that [`super::assignments`] asks for.
#[derive(Default)]
pub(super) struct Runs {
    /// Of a value without quotes.
    pub(super) value: Run,
    /// Of one that stands among other words.
    pub(super) word: Run,
    /// Of a value above what is looked at, in quotes and without.
    pub(super) quoted: Run,
    pub(super) plain: Run,
}

/// A stretch without an end in it.
#[derive(Default)]
pub(super) struct Run {
    from: usize,
    to: usize,
    /// There is one at `to`; else the search has got so far.
    ended: bool,
}

impl Run {
    /// Returns where the stretch that starts at `at` ends, `limit` at the latest. `ends` is told a character and the
    /// byte after it, and must be the same in every call.
    pub(super) fn end(
        &mut self,
        text: &str,
        at: usize,
        limit: usize,
        ends: impl Fn(char, Option<u8>) -> bool,
    ) -> usize {
        let find = |from: usize, to: usize| {
            let next = |at: usize, c: char| text.as_bytes().get(from + at + c.len_utf8()).copied();
            let stretch = text.get(from..to).unwrap_or_default();
            stretch.char_indices().find(|(at, c)| ends(*c, next(*at, *c))).map(|(at, _)| from + at)
        };
        if at < self.from && limit > self.from {
            // Values start in the order of their names but for what stands between, which is short.
            if let Some(end) = find(at, self.from) {
                return end;
            }
            self.from = at;
        } else if !(self.from..=self.to).contains(&at) {
            *self = Run { from: at, to: at, ended: false };
        }
        if !self.ended && self.to < limit {
            let found = find(self.to, limit);
            (self.to, self.ended) = (found.unwrap_or(limit), found.is_some());
        }
        self.to.min(limit)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_long_stretch_is_walked_through_once() {
        let text = "token=a1b2".repeat(1_000);
        let (mut run, looked) = (Run::default(), std::cell::Cell::new(0));
        for at in (0..text.len()).step_by(10) {
            // The second value of a pair starts before the first one does.
            for at in [at + 6, at] {
                run.end(&text, at, text.len(), |_, _| {
                    looked.set(looked.get() + 1);
                    false
                });
            }
        }
        assert!(looked.get() <= text.len() + 6, "{}", looked.get());
    }

    proptest! {
        #[test]
        fn what_is_remembered_is_what_would_be_found(
            text in "[ab \"é😀]{0,60}",
            asked in prop::collection::vec((0usize..90, 0usize..90), 1..20),
        ) {
            let mut run = Run::default();
            for (at, length) in asked {
                let (at, limit) = (text.floor_char_boundary(at), text.floor_char_boundary(at + length));
                let found = text[at..limit].find([' ', '"']).map_or(limit, |found| at + found);
                prop_assert_eq!(run.end(&text, at, limit, |c, _| matches!(c, ' ' | '"')), found);
            }
        }
    }
}
