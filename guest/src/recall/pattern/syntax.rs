//! The syntax of JavaScript's regular expressions without flags, as web browsers read it (ECMA-262, annex B).
//!
//! Three things that JavaScript reads in a surprising way are refused instead, since a pattern that silently
//! finds nothing costs more than an error: `\1` without such a group, and `\p{…}` and `\u{…}`, which only work
//! with a flag.

use std::collections::HashMap;
use std::ops::Range;

use super::set::Set;

/// No upper limit of a repetition.
pub(super) const UNBOUNDED: u32 = u32::MAX;

/// How deep groups may be nested; the call stack of a sandbox is small.
const DEPTH: usize = 100;

/// A part of a pattern.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node {
    /// One character of a set.
    Set(Set),
    /// `^`.
    Start,
    /// `$`.
    End,
    /// `\b`, or `\B` where negated.
    WordBoundary { negated: bool },
    /// A capturing group with its number, from 1.
    Group(usize, Box<Node>),
    /// What that group captured; nothing where it has not taken part.
    BackReference(usize),
    /// One after the other; nothing at all where empty.
    Sequence(Vec<Node>),
    /// The first that leads to a match.
    Alternatives(Vec<Node>),
    /// The groups inside start anew each time.
    Repeat { body: Box<Node>, min: u32, max: u32, greedy: bool, groups: Range<usize> },
    /// Looks ahead or behind without moving.
    Look { behind: bool, negated: bool, body: Box<Node> },
}

impl Node {
    /// Returns whether it only holds or not, and is none of the look-aheads, which annex B lets repeat.
    fn is_place(&self) -> bool {
        matches!(self, Node::Start | Node::End | Node::WordBoundary { .. } | Node::Look { behind: true, .. })
    }
}

/// What is wrong with a pattern.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Mistake {
    /// Which character of the pattern, from 1.
    pub(super) at: usize,
    /// What is wrong, and what to write instead.
    pub(super) problem: String,
}

/// Reads a pattern; gives its tree and the number of its capturing groups.
pub(super) fn parse(pattern: &str) -> Result<(Node, usize), Mistake> {
    let chars: Vec<char> = pattern.chars().collect();
    let (groups, names) = survey(&chars)?;
    let mut parser = Parser { chars: &chars, at: 0, depth: 0, opened: 0, groups, names };
    let node = parser.alternatives()?;
    match parser.peek() {
        Some(_) => Err(parser.mistake("`)` closes nothing: write `\\)` for the character")),
        None => Ok((node, groups)),
    }
}

/// Counts the capturing groups and collects their names, since references may come before their group.
fn survey(chars: &[char]) -> Result<(usize, HashMap<String, usize>), Mistake> {
    let mut groups = 0;
    let mut names = HashMap::new();
    let mut in_class = false;
    let mut at = 0;
    while let Some(&c) = chars.get(at) {
        match c {
            '\\' => at += 1,
            '[' => in_class = true,
            ']' => in_class = false,
            '(' if !in_class => match chars.get(at + 1..).unwrap_or_default() {
                ['?', '<', next, ..] if !matches!(next, '=' | '!') => {
                    groups += 1;
                    if names.insert(name_at(chars, at + 3)?, groups).is_some() {
                        let problem = "two groups have this name: give each its own".into();
                        return Err(Mistake { at: at + 1, problem });
                    }
                }
                ['?', ..] => {}
                _ => groups += 1,
            },
            _ => {}
        }
        at += 1;
    }
    Ok((groups, names))
}

/// Reads the name that starts there and ends with `>`.
fn name_at(chars: &[char], start: usize) -> Result<String, Mistake> {
    let name: String = chars.get(start..).unwrap_or_default().iter().take_while(|&&c| c != '>').collect();
    let ends = chars.get(start + name.chars().count()) == Some(&'>');
    let named =
        |(at, c): (usize, char)| matches!(c, '_' | '$') || c.is_alphabetic() || at > 0 && c.is_numeric();
    if ends && !name.is_empty() && name.chars().enumerate().all(named) {
        return Ok(name);
    }
    Err(Mistake { at: start + 1, problem: "a group's name is made of letters, as in `(?<name>…)`".into() })
}

struct Parser<'a> {
    chars: &'a [char],
    at: usize,
    /// Groups that are open now.
    depth: usize,
    /// Capturing groups opened so far.
    opened: usize,
    groups: usize,
    names: HashMap<String, usize>,
}

impl Parser<'_> {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn rest(&self) -> &[char] {
        self.chars.get(self.at..).unwrap_or_default()
    }

    /// Steps over `text` if it comes next.
    fn eat(&mut self, text: &str) -> bool {
        let length = text.chars().count();
        let found = self.rest().len() >= length && text.chars().zip(self.rest()).all(|(a, &b)| a == b);
        if found {
            self.at += length;
        }
        found
    }

    fn mistake(&self, problem: impl Into<String>) -> Mistake {
        Mistake { at: self.at + 1, problem: problem.into() }
    }

    fn alternatives(&mut self) -> Result<Node, Mistake> {
        let first = self.sequence()?;
        if self.peek() != Some('|') {
            return Ok(first);
        }
        let mut all = vec![first];
        while self.eat("|") {
            all.push(self.sequence()?);
        }
        Ok(Node::Alternatives(all))
    }

    fn sequence(&mut self) -> Result<Node, Mistake> {
        let mut nodes = vec![];
        while !matches!(self.peek(), None | Some('|' | ')')) {
            nodes.push(self.term()?);
        }
        Ok(if nodes.len() == 1 { nodes.remove(0) } else { Node::Sequence(nodes) })
    }

    fn term(&mut self) -> Result<Node, Mistake> {
        let (start, before) = (self.at, self.opened);
        if self.quantifier()?.is_some() {
            self.at = start;
            return Err(self.mistake("nothing to repeat: put `\\` before it for the character"));
        }
        let node = self.atom()?;
        let end = self.at;
        let Some((min, max)) = self.quantifier()? else { return Ok(node) };
        if node.is_place() {
            self.at = end;
            return Err(self.mistake("this place cannot be repeated: leave the quantifier out"));
        }
        let greedy = !self.eat("?");
        Ok(Node::Repeat { body: Box::new(node), min, max, greedy, groups: before + 1..self.opened + 1 })
    }

    /// Reads a quantifier if one comes next; a brace that starts none is a character.
    fn quantifier(&mut self) -> Result<Option<(u32, u32)>, Mistake> {
        let limits = match self.peek() {
            Some('*') => (0, UNBOUNDED),
            Some('+') => (1, UNBOUNDED),
            Some('?') => (0, 1),
            Some('{') => return self.braces(),
            _ => return Ok(None),
        };
        self.at += 1;
        Ok(Some(limits))
    }

    fn braces(&mut self) -> Result<Option<(u32, u32)>, Mistake> {
        let start = self.at;
        self.at += 1;
        let min = self.number();
        let max = if self.eat(",") { self.number().or(Some(UNBOUNDED)) } else { min };
        let closed = self.eat("}");
        let (Some(min), Some(max), true) = (min, max, closed) else {
            self.at = start;
            return Ok(None);
        };
        if min > max {
            self.at = start;
            return Err(self.mistake("the numbers in `{}` are out of order: write the smaller one first"));
        }
        Ok(Some((min, max)))
    }

    fn number(&mut self) -> Option<u32> {
        let mut value = None;
        while let Some(digit) = self.peek().and_then(|c| c.to_digit(10)) {
            value = Some(value.unwrap_or(0u32).saturating_mul(10).saturating_add(digit));
            self.at += 1;
        }
        value
    }

    fn atom(&mut self) -> Result<Node, Mistake> {
        let Some(c) = self.peek() else { return Ok(Node::Sequence(vec![])) };
        self.at += 1;
        Ok(match c {
            '^' => Node::Start,
            '$' => Node::End,
            '.' => Node::Set(Set::dot()),
            '(' => return self.group(),
            '[' => Node::Set(self.class()?),
            '\\' => return self.escape(),
            _ => Node::Set(Set::single(u32::from(c))),
        })
    }

    fn group(&mut self) -> Result<Node, Mistake> {
        let opening = self.at;
        let look = [("?=", false, false), ("?!", false, true), ("?<=", true, false), ("?<!", true, true)];
        let look = look.into_iter().find(|(text, ..)| self.eat(text));
        let mut number = None;
        if look.is_none() && !self.eat("?:") {
            if self.eat("?<") {
                while !self.eat(">") {
                    // `survey` has found the end of the name.
                    self.at += 1;
                }
            } else if self.peek() == Some('?') {
                return Err(self.mistake(
                    "invalid group: flags and atomic groups do not exist; write `(?:…)`, and both cases as in `[Ee]rror`",
                ));
            }
            self.opened += 1;
            number = Some(self.opened);
        }
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(self.mistake(format!("groups are nested more than {DEPTH} deep: use fewer")));
        }
        let body = Box::new(self.alternatives()?);
        self.depth -= 1;
        if !self.eat(")") {
            self.at = opening - 1;
            return Err(self.mistake("this group is not closed: add `)`, or write `\\(` for the character"));
        }
        Ok(match (look, number) {
            (Some((_, behind, negated)), _) => Node::Look { behind, negated, body },
            (None, Some(number)) => Node::Group(number, body),
            // A place in a group can be repeated, unlike one on its own.
            (None, None) if body.is_place() => Node::Sequence(vec![*body]),
            (None, None) => *body,
        })
    }

    fn escape(&mut self) -> Result<Node, Mistake> {
        let Some(c) = self.peek() else {
            self.at -= 1;
            return Err(self.mistake("`\\` at the end of the pattern: write `\\\\` for the character"));
        };
        match c {
            'b' | 'B' => {
                self.at += 1;
                Ok(Node::WordBoundary { negated: c == 'B' })
            }
            '1'..='9' => {
                let start = self.at;
                let group = self.number().map_or(usize::MAX, |number| number as usize);
                if group <= self.groups {
                    return Ok(Node::BackReference(group));
                }
                self.at = start;
                Err(self.mistake(format!(
                    "`\\{c}` names no group of the pattern: write `\\x0{c}` for that control character"
                )))
            }
            'k' if !self.names.is_empty() => {
                self.at += 1;
                if !self.eat("<") {
                    return Err(self.mistake("a reference by name is written `\\k<name>`"));
                }
                let name = name_at(self.chars, self.at)?;
                let Some(&group) = self.names.get(&name) else {
                    return Err(self.mistake(format!("no group is named `{name}`: add `(?<{name}>…)`")));
                };
                self.at += name.chars().count() + 1;
                Ok(Node::BackReference(group))
            }
            _ => Ok(Node::Set(self.class_escape(false)?)),
        }
    }

    /// Reads what follows a backslash where it stands for characters, the backslash itself read already.
    fn class_escape(&mut self, in_class: bool) -> Result<Set, Mistake> {
        let Some(c) = self.peek() else {
            return Err(self.mistake("`\\` at the end of the pattern: write `\\\\` for the character"));
        };
        self.at += 1;
        if let Some(set) = Set::shorthand(c) {
            return Ok(set);
        }
        let braced = self.peek() == Some('{');
        let code = match c {
            't' => 0x09,
            'n' => 0x0A,
            'v' => 0x0B,
            'f' => 0x0C,
            'r' => 0x0D,
            'b' if in_class => 0x08,
            '0'..='9'
                if c != '0' && in_class
                    || self.peek().is_some_and(|next| c == '0' && next.is_ascii_digit()) =>
            {
                self.at -= 1;
                return Err(self.mistake("octal escapes do not exist: write `\\xHH`"));
            }
            '0' => 0x00,
            'p' | 'P' if braced => {
                self.at -= 1;
                let problem = format!("`\\{c}{{…}}` needs a flag: list the characters, as in `[A-Za-zÀ-ÿ]`");
                return Err(self.mistake(problem));
            }
            'u' if braced => {
                self.at -= 1;
                return Err(self.mistake("`\\u{…}` needs a flag: write the character itself, or `\\uHHHH`"));
            }
            'c' => match self.peek() {
                Some(letter)
                    if letter.is_ascii_alphabetic()
                        || in_class && (letter.is_ascii_digit() || letter == '_') =>
                {
                    self.at += 1;
                    u32::from(letter) % 32
                }
                _ => {
                    self.at -= 1;
                    u32::from('\\')
                }
            },
            'x' => self.hex(2).unwrap_or(u32::from(c)),
            'u' => self.utf16().unwrap_or(u32::from(c)),
            _ => u32::from(c),
        };
        Ok(Set::single(code))
    }

    /// Reads that many hexadecimal digits, or none of them.
    fn hex(&mut self, length: usize) -> Option<u32> {
        let digits = self.rest().get(..length)?;
        let value = digits.iter().try_fold(0, |value, c| Some(value * 16 + c.to_digit(16)?))?;
        self.at += length;
        Some(value)
    }

    /// Reads `HHHH`, and a second `\uHHHH` where both are one character.
    fn utf16(&mut self) -> Option<u32> {
        let first = self.hex(4)?;
        let after = self.at;
        if (0xD800..0xDC00).contains(&first) && self.eat("\\u") {
            if let Some(second @ 0xDC00..0xE000) = self.hex(4) {
                return Some(0x1_0000 + (first - 0xD800) * 0x400 + (second - 0xDC00));
            }
            self.at = after;
        }
        Some(first)
    }

    /// Reads a class up to its end, the opening bracket read already.
    fn class(&mut self) -> Result<Set, Mistake> {
        let opening = self.at - 1;
        let negated = self.eat("^");
        let mut ranges = vec![];
        while !self.eat("]") {
            let start = self.at;
            let Some(low) = self.member()? else {
                self.at = opening;
                return Err(
                    self.mistake("this class is not closed: add `]`, or write `\\[` for the character")
                );
            };
            let dash = matches!(self.rest(), ['-', next, ..] if *next != ']');
            if !dash {
                ranges.extend(low);
                continue;
            }
            self.at += 1;
            let Some(high) = self.member()? else { continue };
            match (low.as_slice(), high.as_slice()) {
                (&[(low, end)], &[(high, last)]) if low == end && high == last => {
                    if low > high {
                        self.at = start;
                        return Err(self.mistake("this range is out of order: write the lower end first"));
                    }
                    ranges.push((low, high));
                    // To JavaScript a character beyond U+FFFF is two surrogates, each of them in this range.
                    if low <= 0xD800 && high >= 0xDFFF {
                        ranges.push((0x1_0000, 0x10_FFFF));
                    }
                }
                // With a shorthand at either end the dash is a character.
                _ => ranges.extend(low.into_iter().chain(high).chain([(0x2D, 0x2D)])),
            }
        }
        let set = Set::new(ranges);
        Ok(if negated { set.complement() } else { set })
    }

    /// Reads one member of a class as ranges; none at the end of the pattern.
    fn member(&mut self) -> Result<Option<Vec<(u32, u32)>>, Mistake> {
        let Some(c) = self.peek() else { return Ok(None) };
        self.at += 1;
        if c == '\\' {
            return Ok(Some(self.class_escape(true)?.ranges().to_vec()));
        }
        Ok(Some(vec![(u32::from(c), u32::from(c))]))
    }
}
