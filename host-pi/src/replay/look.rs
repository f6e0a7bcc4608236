//! How text is laid out for people: width, colours, shortened words and numbers.

use console::{Alignment, colors_enabled};
use console::{Style, Term, measure_text_width, pad_str, strip_ansi_codes, truncate_str};
use indicatif::HumanCount;

/// Narrower tables cannot hold their columns, and wider ones are hard to read.
const NARROWEST: usize = 80;
const WIDEST: usize = 100;

/// Width and colours.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    pub(crate) width: usize,
    pub(crate) colour: bool,
}

impl Look {
    /// Takes both from standard output: colours on a terminal that wants them, and nothing wide anywhere else.
    pub(crate) fn of_stdout() -> Self {
        let columns = Term::stdout().size_checked().map_or(0, |(_, columns)| usize::from(columns));
        Self { width: columns.clamp(NARROWEST, WIDEST), colour: colors_enabled() }
    }

    pub(crate) fn dim(self, text: &str) -> String {
        self.styled(Style::new().dim(), text)
    }

    pub(crate) fn bold(self, text: &str) -> String {
        self.styled(Style::new().bold(), text)
    }

    pub(crate) fn good(self, text: &str) -> String {
        self.styled(Style::new().green(), text)
    }

    pub(crate) fn bad(self, text: &str) -> String {
        self.styled(Style::new().yellow(), text)
    }

    fn styled(self, style: Style, text: &str) -> String {
        style.force_styling(self.colour).apply_to(text).to_string()
    }

    /// Wraps words so that lines fit, the second and later ones below the first's text.
    pub(crate) fn wrapped(self, head: &str, text: &str) -> String {
        let indent = measure_text_width(head);
        let mut lines = vec![head.to_owned()];
        let mut used = indent;
        for word in text.split(' ') {
            let width = measure_text_width(word) + 1;
            if used + width > self.width && used > indent {
                lines.push(" ".repeat(indent));
                used = indent;
            }
            if let Some(line) = lines.last_mut() {
                if used > indent {
                    line.push(' ');
                    used += 1;
                }
                line.push_str(word);
                used += width - 1;
            }
        }
        lines.join("\n")
    }
}

/// Removes what a terminal would obey: sessions hold the output of any program.
pub(super) fn harmless(text: &str) -> String {
    let text = strip_ansi_codes(text);
    let shown = text.chars().filter(|c| *c != '\r').map(|c| match c {
        '\n' => '\n',
        '\t' => ' ',
        c if c.is_control() => '\u{fffd}',
        // Marks that turn the direction of what follows.
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
        c => c,
    });
    shown.collect()
}

/// Makes one line of a text.
pub(super) fn line(text: &str) -> String {
    harmless(text).replace('\n', " ")
}

/// Cuts the end off.
pub(crate) fn cut(text: &str, width: usize) -> String {
    truncate_str(text, width, "…").into_owned()
}

/// Shortens the label of a tool call: a command is known by how it begins, a file by how its path ends.
pub(super) fn label(text: &str, width: usize) -> String {
    let (tool, rest) = text.split_once(' ').unwrap_or(("", text));
    if measure_text_width(text) <= width || tool.is_empty() || rest.starts_with('`') {
        return cut(text, width);
    }
    let tool = truncate_str(tool, width / 2, "…");
    let room = width.saturating_sub(measure_text_width(&tool) + measure_text_width(" …"));
    let mut tail = rest;
    while measure_text_width(tail) > room {
        let mut shorter = tail.chars();
        shorter.next();
        tail = shorter.as_str();
    }
    format!("{tool} …{tail}")
}

pub(crate) fn left(text: &str, width: usize) -> String {
    pad_str(text, width, Alignment::Left, None).into_owned()
}

pub(crate) fn right(text: &str, width: usize) -> String {
    pad_str(text, width, Alignment::Right, None).into_owned()
}

pub(crate) fn count(number: u64) -> String {
    HumanCount(number).to_string()
}

/// `3 runs`, `1 run`.
pub(crate) fn plural(number: usize, word: &str) -> String {
    let s = if number == 1 { "" } else { "s" };
    format!("{} {word}{s}", count(number as u64))
}

/// `999`, `15.8k`, `2.3M`.
pub(super) fn short(number: u64) -> String {
    match number {
        0..1_000 => number.to_string(),
        // From here on, one decimal would round to 1000.0k.
        1_000..999_950 => format!("{:.1}k", number as f64 / 1e3),
        _ => format!("{:.1}M", number as f64 / 1e6),
    }
}

/// `$0`, `$0.0012`, `$1.23`.
pub(crate) fn dollars(amount: f64) -> String {
    match amount {
        0.0 => "$0".into(),
        amount if amount < 0.01 => format!("${amount:.4}"),
        amount => format!("${amount:.2}"),
    }
}

/// `34 ms`, `1.3 s`.
pub(crate) fn duration(ms: u64) -> String {
    if ms < 1000 { format!("{ms} ms") } else { format!("{:.1} s", ms as f64 / 1e3) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_never_round_up_to_a_thousand_thousands() {
        let shown = [0, 999, 1_000, 15_093, 999_949, 999_950, 2_345_678].map(short);
        assert_eq!(shown, ["0", "999", "1.0k", "15.1k", "999.9k", "1.0M", "2.3M"]);
        assert_eq!([0.0, 0.00123, 1.234].map(dollars), ["$0", "$0.0012", "$1.23"]);
        assert_eq!([999, 1_250].map(duration), ["999 ms", "1.2 s"]);
        assert_eq!((plural(1, "run"), plural(1_200, "line")), ("1 run".into(), "1,200 lines".into()));
    }

    #[test]
    fn a_terminal_is_given_nothing_to_obey() {
        assert_eq!(
            harmless("\u{1b}[31mred\u{1b}[0m\r\n\u{7}\u{1b}]0;title\u{7}x\u{202e}"),
            "red\n\u{fffd}x\u{fffd}"
        );
        assert_eq!(line("a\nb\tc"), "a b c");
    }

    #[test]
    fn a_long_label_keeps_its_tool_and_what_tells_it_apart() {
        assert_eq!(label("read packages/agent/src/main.ts", 20), "read …nt/src/main.ts");
        assert_eq!(label("read main.ts", 20), "read main.ts");
        assert_eq!(label("bash `cargo test --workspace --all`", 20), "bash `cargo test --…");
        let wide = label("읽기 파일/이름/매우/긴/경로/본문.ts", 20);
        assert!((19..=20).contains(&measure_text_width(&wide)), "{wide}");
    }

    #[test]
    fn words_are_wrapped_below_each_other() {
        let look = Look { width: 20, colour: false };
        assert_eq!(look.wrapped("note     ", "one two three four"), "note     one two\n         three four");
    }
}
