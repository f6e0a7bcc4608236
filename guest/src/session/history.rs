//! What came before the run, as far as a question tells it.

use std::borrow::Cow;

use super::message::Kind;
use super::projection::Projection;
use super::run::untitled;
use crate::secrets::Masks;
use crate::text::clip;

/// Most characters of the summary.
const SUMMARY: usize = 2_000;
/// Most characters of the session's first prompt.
const FIRST_REQUEST: usize = 1_000;
/// Most characters of a prompt.
const PROMPT: usize = 800;
/// Most characters of a reply.
const REPLY: usize = 1_200;

/// An earlier prompt with the reply that answered it.
#[derive(Clone, Debug, PartialEq)]
pub struct Exchange {
    /// The prompt, clipped.
    pub prompt: String,
    /// The reply, clipped; none where there was none.
    pub reply: Option<String>,
}

/// The earlier conversation, masked and clipped to what leaves in a question.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    /// The newest summary of a compaction or a branch.
    pub summary: Option<String>,
    /// The session's first prompt, where it is not among `exchanges`.
    pub first_request: Option<String>,
    /// The last exchanges, oldest first.
    pub exchanges: Vec<Exchange>,
}

/// A user message and the last text that answered it, both untrimmed.
struct Pair<'a> {
    prompt: Cow<'a, str>,
    reply: Option<Cow<'a, str>>,
}

impl History {
    /// Tells what came before the entry at index `start`, in at most `count` exchanges; 0 tells nothing at all.
    ///
    /// Every user message opens an exchange, steering ones of earlier runs included. The stub of an omitted
    /// exchange opens none: its prompt was judged to have nothing to do with the work. Secrets are masked before the
    /// texts are clipped.
    pub fn before(projection: Projection<'_>, start: usize, count: usize, masks: &Masks) -> History {
        if count == 0 {
            return History::default();
        }
        let mut summary = None;
        let mut pairs: Vec<Pair<'_>> = vec![];
        let mut open = false;
        for item in projection.before(start).iter() {
            let Some(shown) = item.shown() else { continue };
            match shown.kind {
                Kind::Summary(text) if !text.trim().is_empty() => summary = Some(text),
                Kind::User => {
                    open = !item.ours();
                    if open {
                        pairs.push(Pair { prompt: shown.text(), reply: None });
                    }
                }
                Kind::Assistant(_) if open => {
                    let text = shown.text();
                    if let Some(pair) = pairs.last_mut().filter(|_| !text.trim().is_empty()) {
                        pair.reply = Some(text);
                    }
                }
                _ => {}
            }
        }

        let told = pairs.len().saturating_sub(count);
        let first = pairs.first().map(|pair| pair.prompt.trim()).filter(|text| told > 0 && !text.is_empty());
        History {
            summary: summary.map(|text| clip(&masks.text(text), SUMMARY).into_owned()),
            first_request: first.map(|text| clip(&masks.text(text), FIRST_REQUEST).into_owned()),
            exchanges: pairs[told..].iter().map(|pair| pair.told(masks)).collect(),
        }
    }

    /// Returns whether there is nothing to tell.
    pub fn is_empty(&self) -> bool {
        self.summary.is_none() && self.first_request.is_none() && self.exchanges.is_empty()
    }
}

impl Pair<'_> {
    fn told(&self, masks: &Masks) -> Exchange {
        Exchange {
            prompt: clip(&masks.text(untitled(self.prompt.trim())), PROMPT).into_owned(),
            reply: self.reply.as_ref().map(|text| clip(&masks.text(text.trim()), REPLY).into_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::fixtures::*;
    use crate::text::units;

    fn history(items: impl IntoIterator<Item = Item>, count: usize) -> History {
        let mirror = session(items);
        let projection = mirror.projection();
        History::before(projection, projection.len(), count, &Masks::default())
    }

    fn prompts(history: &History) -> Vec<&str> {
        history.exchanges.iter().map(|exchange| exchange.prompt.as_str()).collect()
    }

    fn answered(count: usize) -> Vec<Item> {
        (1..=count)
            .flat_map(|number| [u(&format!("prompt {number}")), a(&format!("reply {number}"))])
            .collect()
    }

    #[test]
    fn r17_the_last_exchanges_and_the_first_request() {
        let history = history(answered(4), 2);
        assert_eq!(prompts(&history), ["prompt 3", "prompt 4"]);
        assert_eq!(history.exchanges[0].reply.as_deref(), Some("reply 3"));
        assert_eq!(history.first_request.as_deref(), Some("prompt 1"));
    }

    #[test]
    fn r18_no_first_request_where_it_is_among_the_exchanges() {
        let history = history(answered(2), 2);
        assert_eq!(prompts(&history), ["prompt 1", "prompt 2"]);
        assert_eq!(history.first_request, None);
    }

    #[test]
    fn r19_an_image_only_first_prompt_is_no_first_request() {
        let mut items = vec![u("").block(png(9, 9)), a("Nice.")];
        items.extend(answered(3));
        assert_eq!(history(items.clone(), 2).first_request, None);
        assert_eq!(prompts(&history(items, 9))[0], "[the user sent only an image]");
    }

    #[test]
    fn r20_a_steering_message_of_an_earlier_run_has_a_pair_of_its_own() {
        let told = history(
            [u("1"), a("One."), u("2"), a("").call("c1", "bash", "{}"), r("c1", "x"), u("more"), a("Two.")],
            2,
        );
        assert_eq!(prompts(&told), ["2", "more"]);
        assert_eq!(told.exchanges[0].reply, None);
    }

    #[test]
    fn r21_only_the_last_text_is_the_reply_and_tools_never_appear() {
        let told = history(
            [u("p"), a("Looking.").call("c1", "bash", "{}"), r("c1", "out"), a(" Done. "), a(" ")],
            3,
        );
        assert_eq!(told.exchanges, [Exchange { prompt: "p".into(), reply: Some("Done.".into()) }]);
    }

    #[test]
    fn r22_b5_the_summary_keeps_to_its_limit() {
        let told = history([compaction(&"x".repeat(3_000)), u("p")], 1);
        assert_eq!(told.summary.map(|text| units(&text)), Some(2_000));
    }

    #[test]
    fn the_newest_summary_with_text_wins() {
        let told = history([compaction("old"), u("p"), branch_summary("new"), branch_summary(" ")], 1);
        assert_eq!(told.summary.as_deref(), Some("new"));
    }

    #[test]
    fn r23_no_history_at_all_with_a_count_of_0() {
        assert!(history([compaction("so far"), u("p"), a("Done.")], 0).is_empty());
    }

    #[test]
    fn r24_b14_an_omitted_exchange_takes_no_slot_and_is_never_the_first_request() {
        let stub = "[context-guard] Omitted an earlier exchange.";
        let mut items = answered(4);
        items[0] = u("prompt 1").replaced(stub);
        items[1] = a("reply 1").omitted();
        items[4] = u("prompt 3").replaced(stub);
        items[5] = a("reply 3").omitted();
        items.extend(guard_pass(&[("e0", "removed"), ("e4", "removed")]));
        let two = history(items.clone(), 2);
        assert_eq!(prompts(&two), ["prompt 2", "prompt 4"]);
        assert_eq!(two.exchanges[0].reply.as_deref(), Some("reply 2"));
        assert_eq!(two.first_request, None);
        assert_eq!(history(items, 1).first_request.as_deref(), Some("prompt 2"));
    }

    #[test]
    fn b14_what_is_said_after_a_stub_answers_no_earlier_prompt() {
        let mut items = answered(2);
        items[2] = u("prompt 2").replaced("[context-guard] Omitted an earlier exchange.");
        items.extend(guard_pass(&[("e2", "removed")]));
        assert_eq!(history(items, 3).exchanges[0].reply.as_deref(), Some("reply 1"));
    }

    #[test]
    fn b6_a_prompt_that_begins_with_the_marker_is_told() {
        assert_eq!(
            prompts(&history([u("[context-guard] what is this?")], 1)),
            ["[context-guard] what is this?"]
        );
    }

    #[test]
    fn only_what_comes_before_the_run_is_told_and_every_part_is_clipped() {
        let long = "y".repeat(5_000);
        let mirror = session([u(&long), a(&long), u(&long), a(&long), u("now"), a("later")]);
        let told = History::before(mirror.projection(), 4, 1, &Masks::default());
        assert_eq!(told.first_request.as_deref().map(units), Some(1_000));
        assert_eq!(units(&told.exchanges[0].prompt), 800);
        assert_eq!(told.exchanges[0].reply.as_deref().map(units), Some(1_200));
        assert_eq!(told.exchanges.len(), 1);
    }
}
