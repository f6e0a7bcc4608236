//! What a pass would send if the run ended now. Nothing leaves for it.

use super::overview::RECALL_INACTIVE;
use crate::passes::{Pass, Situation};
use crate::text::{plural, prefix, short, units};

/// Characters of each question that are shown.
const SHOWN: usize = 600;

/// Questions that are shown; of more, their number is told.
const QUESTIONS: usize = 3;

/// Writes the questions of the next pass as they would leave.
pub(super) fn preview(situation: Situation<'_>) -> String {
    let Situation { settings, circumstances, .. } = situation;
    if !settings.enabled {
        return "The guard is off: nothing would be sent.".into();
    }
    if let Some(problem) = &circumstances.problem {
        return format!("Nothing would be sent: {problem}.");
    }
    if !circumstances.recall_active {
        return format!("Nothing would be sent. {RECALL_INACTIVE}");
    }
    let questions = Pass::preview(situation);
    if questions.is_empty() {
        return "Nothing would be sent: there is nothing to judge now. What is judged, and from which size on, the \
                settings tell."
            .into();
    }
    let bytes: usize = questions.iter().map(String::len).sum();
    let destination = match &circumstances.destination {
        Some(origin) => format!("go to {origin}"),
        None => "stay on this machine".into(),
    };
    let mut text = format!(
        "If the run ended now, {} of {} bytes would {destination}. Nothing was sent for this view.",
        plural(questions.len(), "question"),
        short(bytes),
    );
    for (number, question) in (1..).zip(&questions).take(QUESTIONS) {
        let shown = prefix(question, SHOWN);
        let more = units(question) - units(shown);
        text.push_str(&format!("\n\nQuestion {number}, {} bytes:\n{shown}", short(question.len())));
        if more > 0 {
            text.push_str(&format!("\n[… {}]", plural(more, "more character")));
        }
    }
    if questions.len() > QUESTIONS {
        text.push_str(&format!("\n\n[… {}]", plural(questions.len() - QUESTIONS, "more question")));
    }
    text
}
