//! One session in which something goes wrong, and what must hold all the same.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use context_guard_tests::lab::{Lab, Plan, Rpc, Session};
use serde_json::{Value, json};

use crate::search::{self, COMMAND, NEEDED, NOISE, result_in, text_of};

/// What becomes of the search in the context.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Search {
    /// It stays as it is.
    Kept,
    /// The guard replaced it as ever.
    Distilled,
    /// One or the other, as it depends on what came first.
    Either,
}

/// A running session.
pub(crate) struct Trial {
    pub(crate) lab: Lab,
    pub(crate) pi: Rpc,
}

impl Trial {
    pub(crate) fn new(plan: Plan) -> Result<Self> {
        let lab = search::lab(plan)?;
        let pi = lab.rpc(&[])?;
        Ok(Self { lab, pi })
    }

    /// Runs the search, and a prompt after it.
    pub(crate) fn search(&mut self) -> Result<()> {
        self.pi.prompt("Where is the backoff set?")?;
        self.pi.prompt("Are you sure?")
    }

    /// Begins a run and waits until its pass asks the classifier. Returns the place in time where the pass began.
    pub(crate) fn until_asking(&mut self) -> Result<usize> {
        let mark = self.pi.mark();
        self.pi.send("prompt", json!({ "message": "Where is the backoff set?" }))?;
        self.pi.until_status(mark, "🛡 distilling…")?;
        Ok(mark)
    }

    /// Waits until the run that began at `mark` has settled.
    pub(crate) fn until_settled(&mut self, mark: usize) -> Result<()> {
        self.pi.until(mark, "the end of the run", |record| record["type"] == "agent_settled").map(drop)
    }

    /// Waits until the guard works again, and has the same search judged once more.
    pub(crate) fn until_recovered(&mut self) -> Result<()> {
        let start = Instant::now();
        loop {
            ensure!(start.elapsed() < Duration::from_secs(60), "the guard does not come back");
            let mark = self.pi.mark();
            self.pi.prompt("/guard reload")?;
            // A runner that has just ended is not started again at once.
            if self.pi.warnings(mark).is_empty() {
                break;
            }
        }
        self.pi.prompt("Search again.")?;
        let session = self.lab.session()?;
        let last = session.tool_results("bash").pop().context("the search ran again")?;
        assert_eq!(edits_of(&session, last), 1, "the new runner judged it");
        Ok(())
    }

    /// Checks that the user was told once at most, namely this; an empty text stands for nothing.
    pub(crate) fn told(&mut self, notice: &str) {
        let warnings = self.pi.warnings(0);
        assert_eq!(warnings.len(), usize::from(!notice.is_empty()), "{warnings:#?}");
        assert!(warnings.iter().all(|warning| warning.contains(notice)), "{warnings:#?}");
    }

    /// Ends the session and checks what must hold whatever went wrong. That each request was valid, the laboratory checks.
    pub(crate) fn end(self, search: Search) -> Result<()> {
        let Self { lab, mut pi } = self;
        assert_eq!(pi.extension_errors(), Vec::<Value>::new());
        assert_eq!(pi.close()?, Some(0), "Pi leaves as ever");
        lab.until_left()?;
        let original = original_of(&lab)?;
        let last = lab.requests()?.pop().context("the model was asked")?;
        let seen = result_in(&last).context("the search is in the context")?;
        let session = lab.session()?;
        let edits = edits_of(&session, session.tool_results("bash")[0]);
        let became = if seen == original { Search::Kept } else { Search::Distilled };
        assert!(search == Search::Either || search == became, "{search:?} was expected, but {became:?}");
        if became == Search::Kept {
            assert_eq!(edits, 0);
        } else {
            assert!(seen.starts_with("[context-guard] Distilled") && seen.contains(NEEDED), "{seen}");
            assert_eq!(edits, 1);
        }
        Ok(())
    }
}

fn edits_of(session: &Session, entry: &Value) -> usize {
    session.of_type("context_edit").into_iter().filter(|edit| edit["targetId"] == entry["id"]).count()
}

/// The turns after the search: an answer, and once more the search.
pub(crate) fn later_turns() -> Vec<Value> {
    let again = json!({ "tools": [{ "name": "bash", "input": { "command": COMMAND } }] });
    vec![json!({ "text": "Yes." }), again, json!({ "text": "The backoff is still set in src/needed.rs." })]
}

/// The search's result as the session has it; it must be whole.
pub(crate) fn original_of(lab: &Lab) -> Result<String> {
    let session = lab.session()?;
    let results = session.tool_results("bash");
    let original = text_of(&results.first().context("the search ran")?["message"]["content"]);
    let lines = |what: &str| original.lines().filter(|line| line.contains(what)).count();
    ensure!((lines(NEEDED), lines(NOISE)) == (60, 300), "the original is damaged");
    Ok(original)
}
