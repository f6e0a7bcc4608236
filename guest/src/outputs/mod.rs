//! Large tool outputs: which there are, what to ask about them, and what takes their place.
//!
//! [`outputs`] finds the candidates of a run. A [`Plan`] cuts a large one into chunks and segments, asks about
//! every segment, and judges the replies. All of it is computation on what is handed in.

mod candidate;
mod chunk;
mod cited;
mod decision;
mod failure;
mod lines;
mod numbering;
mod origin;
mod question;
mod rendering;
mod search;
mod segment;
#[cfg(test)]
mod tests;
mod trace;

use std::ops::Range;

use regex::Regex;

pub use self::candidate::{Candidate, outputs, worth_asking};
pub use self::decision::{Failure, Reason, Reply};
pub use self::numbering::{ends_with_note, first_line};
pub(crate) use self::question::{ANSWER, NOTES, QUESTION, conversation};
pub use self::rendering::recall;

use self::chunk::Chunk;
use self::decision::{Answers, Decision};
use self::lines::Lines;
use self::question::Subject;
use self::rendering::Original;
use self::search::SearchCall;
use self::segment::Segment;
use crate::jev::question::Request;
use crate::label;
use crate::secrets::Masks;
use crate::session::History;
use crate::settings::Settings;
use crate::text::units;

/// What a question tells besides the output itself. Of a scene that is told, every text is masked already.
#[derive(Clone, Copy, Debug)]
pub struct Scene<'s> {
    /// What came before the run; empty where the settings leave it out.
    pub history: &'s History,
    /// What the user asked, with what was added during the run.
    pub question: &'s str,
    /// Whether the run has ended.
    pub phase: Phase<'s>,
}

/// Where the run stands when an output is judged.
#[derive(Clone, Copy, Debug)]
pub enum Phase<'s> {
    /// The run has ended, so its answer tells what was needed.
    RunEnd {
        /// The answer; empty where there was none.
        answer: &'s str,
        /// What the agent said before.
        notes: &'s str,
    },
    /// The run goes on.
    Checkpoint {
        /// The last thing that the agent said.
        latest_note: &'s str,
        /// What it said before.
        earlier_notes: &'s str,
        /// Labels of all calls of turns after the one that made the output, oldest first.
        later_calls: &'s [&'s str],
        /// Why the output is out of date, where one of those calls made it so.
        superseded: Option<&'s str>,
    },
}

/// A large output, cut up for judging.
#[derive(Clone, Debug)]
pub struct Plan<'a> {
    candidate: Candidate<'a>,
    call: Option<SearchCall>,
    chunks: Vec<Chunk>,
    segments: Vec<Segment>,
}

/// What became of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Some lines stay, notes tell of the others.
    Distilled,
    /// One line takes its place.
    Removed,
    /// It stays as it is.
    Kept,
}

impl Outcome {
    /// Returns the word for it in records.
    pub fn as_str(self) -> &'static str {
        match self {
            Outcome::Distilled => "distilled",
            Outcome::Removed => "removed",
            Outcome::Kept => "kept",
        }
    }
}

/// The judgement on one output, with what its record needs. Lengths are in UTF-16 units.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// What becomes of it.
    pub outcome: Outcome,
    /// Why, as words joined with commas. Where a request failed and the output is not kept for just that,
    /// the failure comes last.
    pub reason: String,
    /// The text that takes its place; none where it stays.
    pub replacement: Option<String>,
    /// Lines that stay.
    pub kept_lines: usize,
    /// Lines in all.
    pub total_lines: usize,
    /// Length before.
    pub before_chars: usize,
    /// Length after.
    pub after_chars: usize,
    /// One line per segment that tells how it was decided.
    pub traces: Vec<String>,
}

impl<'a> Plan<'a> {
    /// Cuts an output into chunks, and these into segments.
    pub fn new(candidate: Candidate<'a>, settings: &Settings) -> Self {
        let call = SearchCall::read(candidate.tool, &candidate.object());
        let chunks = chunk::chunks(&Lines::new(&candidate.text), call);
        let segments = segment::segments(&chunks, settings);
        Plan { candidate, call, chunks, segments }
    }

    /// Returns the output that it is about.
    pub fn candidate(&self) -> &Candidate<'a> {
        &self.candidate
    }

    /// Returns one request per segment that is sent, in order.
    ///
    /// Secrets are masked in the output as a whole, since one can reach over several chunks. Its lines stay in number.
    pub fn requests(&self, scene: &Scene<'_>, masks: &Masks) -> Vec<Request> {
        let text = masks.text(&self.candidate.text);
        let lines = Lines::new(&text);
        let subject = Subject {
            candidate: &self.candidate,
            lines: &lines,
            chunks: &self.chunks,
            segments: &self.segments,
            masks,
        };
        let sent = self.segments.iter().enumerate().filter(|(_, segment)| !segment.oversize);
        sent.map(|(at, _)| question::request(subject, at, scene)).collect()
    }

    /// Returns the number of [`Plan::requests`].
    pub fn questions(&self) -> usize {
        self.segments.iter().filter(|segment| !segment.oversize).count()
    }

    /// Judges the output by the replies to [`Plan::requests`], in the same order.
    ///
    /// A reply that is missing counts as one that came too late. Whatever fails is kept.
    pub fn judge(&self, replies: &[Reply], scene: &Scene<'_>, settings: &Settings) -> Judgement {
        let (decisions, traces) = self.decide(replies, scene, settings);
        let lines = Lines::new(&self.candidate.text);
        let length = units(&self.candidate.text);
        let kept = |reason: String, traces| Judgement {
            outcome: Outcome::Kept,
            reason,
            replacement: None,
            kept_lines: lines.count(),
            total_lines: lines.count(),
            before_chars: length,
            after_chars: length,
            traces,
        };

        let mut keep: Vec<bool> = decisions.iter().flat_map(|decision| &decision.keep).copied().collect();
        if !keep.contains(&false) {
            return kept(reason_to_keep(&decisions), traces);
        }
        if settings.keep_cited_files
            && let Phase::RunEnd { answer, .. } = scene.phase
        {
            for (keep, chunk) in keep.iter_mut().zip(&self.chunks) {
                *keep |= chunk.files.iter().any(|file| cited::names(answer, file));
            }
        }
        let pieces = rendering::pieces(&self.chunks, &keep, &self.candidate.failing_lines(self.call, &lines));
        let staying: usize = pieces.iter().map(|piece| units(lines.slice(piece.clone())) + 1).sum();
        if staying as f64 > settings.max_keep_ratio * length as f64 {
            return kept(with_failures(Reason::NotWorth, &decisions), traces);
        }
        let original = Original {
            candidate: &self.candidate,
            lines: &lines,
            chunks: &self.chunks,
            searched: self.searched(),
        };
        let replacement = original.reduced_to(&pieces);
        let after_chars = units(&replacement);
        if after_chars >= length {
            return kept(with_failures(Reason::NotWorth, &decisions), traces);
        }
        let (outcome, reason) = if pieces.is_empty() {
            (Outcome::Removed, Reason::NoneNeeded)
        } else {
            (Outcome::Distilled, Reason::Chunks)
        };
        Judgement {
            outcome,
            reason: with_failures(reason, &decisions),
            replacement: Some(replacement),
            kept_lines: pieces.iter().map(ExactSizeIterator::len).sum(),
            after_chars,
            ..kept(String::new(), traces)
        }
    }

    /// Decides every segment, and writes down how.
    fn decide(
        &self,
        replies: &[Reply],
        scene: &Scene<'_>,
        settings: &Settings,
    ) -> (Vec<Decision>, Vec<String>) {
        let chunk_keep = match scene.phase {
            Phase::RunEnd { .. } => settings.chunk_keep_threshold,
            Phase::Checkpoint { .. } => settings.mid_run_chunk_keep_threshold,
        };
        let mut replies = replies.iter();
        let decide = |segment: &Segment| {
            let failed = |reason| (None, Decision::keep_all(segment, reason));
            let (answers, decision) = if segment.oversize {
                failed(Reason::Oversize)
            } else {
                match replies.next() {
                    Some(Reply::Answers(answers)) => {
                        let answers = Answers::read(answers, segment);
                        let decision = Decision::weigh(&answers, segment, settings, chunk_keep);
                        (Some(answers), decision)
                    }
                    Some(Reply::Failed(Failure::Error)) => failed(Reason::Error),
                    Some(Reply::Failed(Failure::Timeout)) | None => failed(Reason::Timeout),
                }
            };
            let trace = trace::trace(answers.as_ref(), &decision);
            (decision, trace)
        };
        self.segments.iter().map(decide).unzip()
    }

    /// Returns whether notes may speak of matches.
    ///
    /// A compiler and a logger write `file:12:` as well, and a file that is read may hold such lines. So a
    /// command must be seen to search; other tools are believed, since a search tool can have any name.
    fn searched(&self) -> bool {
        let runs_or_reads = self.candidate.tool == "read" || label::has_command(self.candidate.arguments);
        self.call.is_some() || !runs_or_reads
    }
}

impl Candidate<'_> {
    /// Returns the text of a failing result that says what failed, in pieces of whole lines and in order; nothing
    /// where the call did not fail.
    pub(crate) fn failure(&self) -> Vec<&str> {
        let lines = Lines::new(&self.text);
        let ranges = self.failing_lines(SearchCall::read(self.tool, &self.object()), &lines);
        ranges.into_iter().map(|range| lines.slice(range)).collect()
    }

    fn failing_lines(&self, call: Option<SearchCall>, lines: &Lines<'_>) -> Vec<Range<usize>> {
        if !self.failed {
            return Vec::new();
        }
        // What a search found in files is not what went wrong with it.
        let hits = call.and_then(|call| search::files(lines, Some(call))).unwrap_or_default();
        failure::lines(lines, |at| hits.get(at).is_some_and(Option::is_some))
    }
}

/// Says why an output stays of which every chunk is kept.
fn reason_to_keep(decisions: &[Decision]) -> String {
    let reasons = decisions.iter().map(|decision| decision.reason).filter(|reason| *reason != Reason::Chunks);
    let reasons = joined(reasons);
    if reasons.is_empty() { Reason::AllChunks.as_str().to_owned() } else { reasons }
}

/// Adds to a reason how requests failed, so that the output is asked about again.
fn with_failures(reason: Reason, decisions: &[Decision]) -> String {
    let failures = decisions.iter().map(|decision| decision.reason).filter(|reason| reason.is_failure());
    joined(std::iter::once(reason).chain(failures))
}

/// Joins reasons with commas, each once, in order.
fn joined(reasons: impl Iterator<Item = Reason>) -> String {
    let mut words: Vec<&str> = Vec::new();
    for word in reasons.map(Reason::as_str) {
        if !words.contains(&word) {
            words.push(word);
        }
    }
    words.join(",")
}

/// Compiles one of this module's own patterns.
#[expect(clippy::expect_used, reason = "the patterns are fixed, and every one of them is used by a test")]
fn pattern(source: &str) -> Regex {
    Regex::new(source).expect("a pattern of this module compiles")
}
