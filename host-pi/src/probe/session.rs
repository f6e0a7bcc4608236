//! A situation as a session that a host would mirror.

use super::set::{Call, Exchange, Situation};
use crate::contract::sessions::Delta;
use crate::contract::types::{
    Assistant, Block, CacheScheme, Entry, EntryBody, Message, Model, StopReason, ThinkingBinding, ToolCall,
    ToolResult, View, Visible,
};

/// The chat model of the sessions.
const MODEL: &str = "probe/scripted";
/// What stands for an output that no question holds: long enough for its exchange to be judged.
const UNSEEN: &str = "An output that no question holds. ";
const UNSEEN_TIMES: usize = 100;

/// Returns the whole session, to take the place of any earlier one.
pub(super) fn delta(situation: &Situation) -> Delta {
    let mut session = Session::default();
    for exchange in &situation.history {
        session.exchange(exchange);
    }
    session.user(&situation.question);
    for call in situation.calls.iter().chain(&situation.later) {
        session.call(call, call.text());
    }
    if !situation.answer.is_empty() {
        session.reply(&situation.answer);
    }
    let visible = |entry: &Entry| Visible { id: entry.id.clone(), view: View::AsRecorded };
    let context = session.0.iter().map(visible).collect();
    Delta { keep_branch: 0, branch: session.0, keep_context: 0, context }
}

/// The model that the next request of such a session goes to. It has no part in what is asked.
pub(super) fn model() -> Model {
    Model {
        name: MODEL.into(),
        cache: CacheScheme::Other,
        prices: None,
        cache_lifetime: 300,
        thinking: ThinkingBinding::Unbound,
    }
}

#[derive(Default)]
struct Session(Vec<Entry>);

impl Session {
    fn exchange(&mut self, exchange: &Exchange) {
        self.user(&exchange.prompt);
        for call in &exchange.calls {
            self.call(call, UNSEEN.repeat(UNSEEN_TIMES));
        }
        self.reply(&exchange.answer);
    }

    fn user(&mut self, text: &str) {
        self.add(Message::User(vec![Block::Text(text.into())]));
    }

    fn reply(&mut self, text: &str) {
        self.assistant(vec![Block::Text(text.into())], StopReason::Stop);
    }

    fn call(&mut self, call: &Call, output: String) {
        let id = format!("call{}", self.0.len());
        let note = Some(&call.note).filter(|note| !note.is_empty()).map(|note| Block::Text(note.clone()));
        let made = Block::ToolCall(ToolCall {
            id: id.clone(),
            name: call.tool.clone(),
            arguments: serde_json::Value::from(call.arguments.clone()).to_string(),
        });
        self.assistant(note.into_iter().chain([made]).collect(), StopReason::ToolUse);
        self.add(Message::ToolResult(ToolResult {
            call_id: id,
            tool_name: Some(call.tool.clone()),
            is_error: call.failed,
            blocks: vec![Block::Text(output)],
        }));
    }

    fn assistant(&mut self, blocks: Vec<Block>, stop_reason: StopReason) {
        let reply = Assistant { blocks, stop_reason, model: MODEL.into(), usage: None };
        self.add(Message::Assistant(reply));
    }

    fn add(&mut self, message: Message) {
        let number = self.0.len() + 1;
        // A second apart; when it was is of no account.
        let time = 1_000 * number as u64;
        self.0.push(Entry { id: format!("e{number}"), time, body: EntryBody::Message(message) });
    }
}
