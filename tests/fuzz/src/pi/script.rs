//! A session as a script, one step a line, so that a person can write one and a fuzzer can change one.
//!
//! The first character says what happens, the rest is its text. In a text `\n` is a line break, and `*40 text` is that
//! text on 40 lines, each `#` in it the number of the line.
//!
//! | | |
//! |---|---|
//! | `S`, `J` | settings of the user, of the project |
//! | `u`, `a`, `n`, `m` | a prompt, a reply, a note of an extension, the summary of a branch |
//! | `c`, `k` | a reply with a call, one more call in it: the tool's name, a space, its arguments |
//! | `r`, `R`, `s` | the result of the oldest open call, of a failed one, a result out of order |
//! | `t`, `i`, `l` | thinking, an image (its base64), a reply's end by its length, in the last message |
//! | `f`, `h` | a fixed message of so many characters, an entry that the model never sees |
//! | `C`, `b` | a compaction that keeps from that entry on, going back to so many entries |
//! | `e`, `o` | somebody else rewrites or omits an entry |
//! | `p`, `q` | a pass at run end, at mid-run; see [`passing`] |
//! | `w`, `x` | so many seconds pass, the classifier has a problem (none: it has gone) |
//! | `v`, `V` | a request whose answer read so much from the cache, one that keeps it warm |
//! | `?` | `recall`: an entry's id, a space, a pattern |
//! | `g` | everything that is said to people is read |

use super::host::{Answering, Host, Passing};
use super::mapping::Role;
use crate::contract::sessions::{Failure, Phase};
use crate::contract::types::{
    Assistant, Block, CacheScheme, EntryBody, Image, Message, Note, StopReason, Thinking, ThinkingBinding,
    ToolCall, ToolResult,
};

/// Most steps and most characters of a script that are played, so that a long one takes no minutes.
const STEPS: usize = 120;
const CHARACTERS: usize = 150_000;

/// Plays a script to its end.
pub(crate) fn play(script: &str) {
    let mut player = Player { host: Host::new(), open: vec![], calls: 0, room: CHARACTERS };
    for step in script.split('\n').take(STEPS) {
        let mut rest = step.chars();
        if let Some(step) = rest.next() {
            player.step(step, rest.as_str());
        }
    }
}

struct Player {
    host: Host,
    /// Calls without a result.
    open: Vec<(String, String)>,
    calls: usize,
    /// Characters that may still be said.
    room: usize,
}

impl Player {
    fn step(&mut self, step: char, rest: &str) {
        let number: usize = rest.trim().parse().unwrap_or(0);
        match step {
            'S' => match rest.split_once('\t') {
                Some((user, project)) => self.host.configure(user, Some(project)),
                None => self.host.configure(rest, None),
            },
            'J' => self.host.configure("{}", Some(rest)),
            'u' => self.say(Message::User(vec![]), rest),
            'a' => self.say(reply(StopReason::Stop), rest),
            'n' => self.say(Message::Note(Note { kind: "notice".into(), blocks: vec![] }), rest),
            'm' => {
                let text = self.text(rest);
                self.host.append(EntryBody::BranchSummary(text), Role::Fixed);
            }
            'c' => {
                self.say(reply(StopReason::ToolUse), "");
                self.call(rest);
            }
            'k' => self.call(rest),
            'r' | 'R' if !self.open.is_empty() => {
                let (call_id, name) = self.open.remove(0);
                let tool_name = (!name.is_empty()).then_some(name);
                self.say(result(call_id, tool_name, step == 'R'), rest);
            }
            's' => self.say(result(format!("c{number}"), None, false), rest),
            't' => {
                let thinking = Thinking { text: self.text(rest), signature_length: 90 };
                self.block(Block::Thinking(thinking));
            }
            'i' => {
                let head = self.text(rest);
                let base64_length = u32::try_from(head.len()).unwrap_or(u32::MAX);
                self.block(Block::Image(Image { media_type: "image/png".into(), head, base64_length }));
            }
            'l' => self.ends(rest),
            'f' => {
                let length = u32::try_from(number).unwrap_or(u32::MAX);
                self.host.append(EntryBody::Message(Message::Fixed(length)), Role::Fixed);
            }
            'h' => self.host.append(EntryBody::Other, Role::Unseen),
            'C' => {
                let first_kept = self.host.branch.get(number).map(|recorded| recorded.entry.id.clone());
                self.host.append(EntryBody::Compaction("so far".into()), Role::Compaction { first_kept });
            }
            'b' => {
                self.host.back(number);
                self.open.clear();
            }
            'e' | 'o' => self.edit_as_somebody_else(step == 'o', rest),
            'p' => self.host.pass(&passing(Phase::RunEnd, rest)),
            'q' => self.host.pass(&passing(Phase::MidRun, rest)),
            'w' => self.host.wait(number as u64),
            'x' => self.host.observe((!rest.is_empty()).then(|| rest.to_owned())),
            'v' | 'V' => self.host.request(number as u64, step == 'V'),
            '?' => {
                let (entry, pattern) =
                    rest.split_once(' ').map_or((rest, None), |(id, rest)| (id, Some(rest)));
                self.host.recall(entry, pattern, 0, 1);
            }
            'g' => self.host.report(),
            _ => {}
        }
    }

    fn text(&mut self, text: &str) -> String {
        let text = text.replace("\\n", "\n");
        let repeated = text.strip_prefix('*').and_then(|rest| rest.split_once(' '));
        let mut said = match repeated.map(|(times, line)| (times.parse::<usize>(), line)) {
            Some((Ok(times), line)) => {
                let lines =
                    (1..=times.min(3_000)).map(|number| line.replace('#', &number.to_string()) + "\n");
                let mut length = 0;
                lines
                    .take_while(|line| {
                        length += line.len();
                        length < CHARACTERS
                    })
                    .collect()
            }
            _ => text,
        };
        said.truncate(said.floor_char_boundary(self.room));
        self.room -= said.len();
        said
    }

    fn say(&mut self, mut message: Message, text: &str) {
        let text = self.text(text);
        // No text is no block, so that there are replies of nothing but calls.
        if !text.is_empty() {
            blocks(&mut message).push(Block::Text(text));
        }
        self.host.say(message);
    }

    /// Adds a block to the last message.
    fn block(&mut self, block: Block) {
        if let Some(EntryBody::Message(message)) =
            self.host.branch.last_mut().map(|last| &mut last.entry.body)
            && !matches!(message, Message::Fixed(_))
        {
            blocks(message).push(block);
        }
    }

    fn call(&mut self, rest: &str) {
        let last = self.host.branch.last().map(|last| &last.entry.body);
        if !matches!(last, Some(EntryBody::Message(Message::Assistant(_)))) {
            return;
        }
        let (name, arguments) = rest.split_once(' ').unwrap_or((rest, "{}"));
        let id = format!("c{}", self.calls);
        self.calls += 1;
        let arguments = self.text(arguments);
        self.block(Block::ToolCall(ToolCall { id: id.clone(), name: name.into(), arguments }));
        self.open.push((id, name.to_owned()));
    }

    fn ends(&mut self, reason: &str) {
        if let Some(EntryBody::Message(Message::Assistant(reply))) =
            self.host.branch.last_mut().map(|last| &mut last.entry.body)
        {
            reply.stop_reason = match reason.trim() {
                "aborted" => StopReason::Aborted,
                "error" => StopReason::Error,
                _ => StopReason::Length,
            };
        }
    }

    /// Only what keeps the context valid by itself: a reply without calls is omitted, the text of a result rewritten.
    fn edit_as_somebody_else(&mut self, omit: bool, rest: &str) {
        let (entry, text) = rest.split_once(' ').unwrap_or((rest, ""));
        let place: usize = entry.trim().parse().unwrap_or(0);
        let Some(recorded) = self.host.branch.get(place) else { return };
        let target = recorded.entry.id.clone();
        let free = match &recorded.entry.body {
            EntryBody::Message(Message::Assistant(reply)) => {
                omit && !reply.blocks.iter().any(|block| matches!(block, Block::ToolCall(_)))
            }
            EntryBody::Message(Message::ToolResult(_)) => !omit,
            _ => false,
        };
        if free {
            let replacement = (!omit).then(|| vec![Block::Text(self.text(text))]);
            self.host.append(EntryBody::Edit(target.clone()), Role::Edit { target, replacement });
        }
    }
}

fn reply(stop_reason: StopReason) -> Message {
    Message::Assistant(Assistant {
        blocks: vec![],
        stop_reason,
        model: "anthropic/claude".into(),
        usage: None,
    })
}

fn result(call_id: String, tool_name: Option<String>, is_error: bool) -> Message {
    Message::ToolResult(ToolResult { call_id, tool_name, is_error, blocks: vec![] })
}

fn blocks(message: &mut Message) -> &mut Vec<Block> {
    match message {
        Message::User(blocks) => blocks,
        Message::Assistant(reply) => &mut reply.blocks,
        Message::ToolResult(result) => &mut result.blocks,
        Message::Note(note) => &mut note.blocks,
        Message::Fixed(_) => panic!("a fixed message has no blocks"),
    }
}

/// Reads a pass: after `=` the text that answers every question; else letters, and digits for tenths of probabilities.
///
/// `A` and `X` are the caches of Anthropic and OpenAI, `D` and `R` what becomes of thinking, `T` a pass that took too
/// long, `b` the built-in judge, `!` a service that fails, `~` one that does not answer in time.
pub(crate) fn passing(phase: Phase, text: &str) -> Passing {
    let (letters, raw) = text.split_once('=').map_or((text, None), |(letters, raw)| (letters, Some(raw)));
    let has = |letter: char| letters.contains(letter);
    let answering = match raw {
        Some(raw) => Answering::Raw(raw.into()),
        None if has('b') => Answering::Builtin,
        None if has('!') => Answering::Failed(Failure::Error),
        None if has('~') => Answering::Failed(Failure::Timeout),
        None => Answering::Wanted(
            letters
                .chars()
                .filter_map(|c| c.to_digit(10))
                .map(|tenths| f64::from(tenths) / 10.0 + 0.02)
                .collect(),
        ),
    };
    Passing {
        phase,
        cache: match (has('A'), has('X')) {
            (true, _) => CacheScheme::Anthropic,
            (_, true) => CacheScheme::OpenaiCodex,
            _ => CacheScheme::Other,
        },
        thinking: match (has('D'), has('R')) {
            (true, _) => ThinkingBinding::Dropped,
            (_, true) => ThinkingBinding::Refused,
            _ => ThinkingBinding::Unbound,
        },
        answering,
        timed_out: has('T'),
    }
}
