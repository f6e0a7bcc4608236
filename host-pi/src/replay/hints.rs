//! What the guard tells a judge of outputs that a later call made stale.

use crate::contract::sessions::Question;
use serde_json::Value;

/// Returns, for every small output that the questions are about and in their order, why it is out of date.
///
/// Such a question holds the outputs as `item_1`, `item_2`, …; others hold none.
pub(super) fn superseded(questions: &[Question]) -> Vec<Option<String>> {
    let bodies = questions.iter().filter_map(|question| serde_json::from_str::<Value>(&question.body).ok());
    bodies.flat_map(|body| items(&body)).collect()
}

fn items(body: &Value) -> Vec<Option<String>> {
    let items = (1..).map_while(|number| body["state"]["items"].get(format!("item_{number}")));
    items.map(|item| item["superseded"].as_str().map(str::to_owned)).collect()
}
