//! When requests run: a bounded number at a time, one deadline for all, one retry each.
//!
//! The network and the clock are behind [`Transport`], so that all of this is tested with a clock that
//! nobody waits for.

use crate::contract::sessions::{Budget, Failure};

use super::system_one::worth_retrying;

/// Pause before a retry when the service names none, in milliseconds: the first pause of Pi's own client.
const PAUSE: u64 = 500;

/// Sends requests. Times are milliseconds of a clock that never goes back.
pub trait Transport {
    /// A request under way. Dropping it ends it.
    type Task;

    /// Returns the time.
    fn now(&mut self) -> u64;

    /// Begins the request of that question, without waiting for anything.
    fn start(&mut self, question: usize) -> Self::Task;

    /// Waits until some of `tasks` can go on or the time is `until`, and adds the indices of the former to
    /// `ready`. There can be no task to wait for.
    fn wait(&mut self, tasks: &[&Self::Task], until: u64, ready: &mut Vec<usize>);

    /// Goes on with a task as far as it gets without waiting; tells when and how it ended.
    fn advance(&mut self, task: &mut Self::Task) -> Option<End>;

    /// Returns how many bytes of the request's body have left so far.
    fn sent_bytes(&self, task: &Self::Task) -> u64;
}

/// How a request ended.
#[derive(Clone, Debug, PartialEq)]
pub enum End {
    /// With a response.
    Response {
        /// The HTTP status.
        status: u16,
        /// What the service asks to wait before the next try, in milliseconds.
        retry_after: Option<u64>,
        /// The body; read only where the status means success.
        body: Vec<u8>,
    },
    /// Refused by the network permission.
    Denied,
    /// Without a response, for a reason that may pass.
    Disconnected,
    /// Without a response, for a reason that will stay.
    Failed,
}

/// What became of one question.
#[derive(Clone, Debug, PartialEq)]
pub struct Exchange {
    /// The body of the response, or why there is none.
    pub outcome: Result<Vec<u8>, Failure>,
    /// Body bytes that left, retries included.
    pub sent_bytes: u64,
}

/// Runs the requests of the questions `0..count` and returns what became of each, in order.
pub fn run<T: Transport>(transport: &mut T, count: usize, budget: Budget) -> Vec<Exchange> {
    let deadline = transport.now().saturating_add(budget.timeout_ms.into());
    let mut queue = Queue {
        exchanges: vec![Exchange { outcome: Err(Failure::Timeout), sent_bytes: 0 }; count],
        fresh: 0..count,
        paused: Vec::new(),
        deadline,
    };
    let limit = usize::try_from(budget.concurrency).unwrap_or(usize::MAX).max(1);
    let mut running: Vec<Running<T::Task>> = Vec::new();
    let mut ready = Vec::new();
    loop {
        let now = transport.now();
        if now >= deadline {
            break;
        }
        while running.len() < limit
            && let Some((question, last_try)) = queue.next(now)
        {
            running.push(Running { question, last_try, task: transport.start(question) });
        }
        if running.is_empty() && queue.paused.is_empty() {
            return queue.exchanges;
        }
        let until = if running.len() < limit { queue.wakes() } else { deadline };
        ready.clear();
        let tasks: Vec<&T::Task> = running.iter().map(|entry| &entry.task).collect();
        transport.wait(&tasks, until, &mut ready);
        let now = transport.now();
        if now >= deadline {
            break;
        }
        // From the back, so that a removal leaves the smaller indices in place.
        ready.sort_unstable_by(|a, b| b.cmp(a));
        ready.dedup();
        for &index in &ready {
            let Some(entry) = running.get_mut(index) else { continue };
            if let Some(end) = transport.advance(&mut entry.task) {
                let entry = running.swap_remove(index);
                let sent = transport.sent_bytes(&entry.task);
                queue.settle(entry.question, end, sent, entry.last_try, now);
            }
        }
    }
    for entry in running {
        queue.exchanges[entry.question].sent_bytes += transport.sent_bytes(&entry.task);
    }
    queue.exchanges
}

struct Running<Task> {
    question: usize,
    last_try: bool,
    task: Task,
}

/// What has not been started yet, and what became of the rest.
struct Queue {
    /// By question. What nobody settles stays a timeout.
    exchanges: Vec<Exchange>,
    fresh: std::ops::Range<usize>,
    /// Retries that wait for their time, without holding a slot: time and question.
    paused: Vec<(u64, usize)>,
    deadline: u64,
}

impl Queue {
    /// Takes the next question that may start, and whether it is its last try. Retries go first: theirs is
    /// the older question.
    fn next(&mut self, now: u64) -> Option<(usize, bool)> {
        if let Some(due) = self.paused.iter().position(|(time, _)| *time <= now) {
            return Some((self.paused.remove(due).1, true));
        }
        self.fresh.next().map(|question| (question, false))
    }

    /// Returns when the next retry is due, or the deadline.
    fn wakes(&self) -> u64 {
        self.paused.iter().map(|(time, _)| *time).min().unwrap_or(self.deadline).min(self.deadline)
    }

    fn settle(&mut self, question: usize, end: End, sent: u64, last_try: bool, now: u64) {
        let exchange = &mut self.exchanges[question];
        exchange.sent_bytes += sent;
        let wish = match end {
            End::Response { status: 200..=299, body, .. } => {
                exchange.outcome = Ok(body);
                return;
            }
            End::Denied => {
                exchange.outcome = Err(Failure::Denied);
                return;
            }
            End::Response { status, retry_after, .. } if worth_retrying(status) => Some(retry_after),
            End::Disconnected => Some(None),
            End::Response { .. } | End::Failed => None,
        };
        exchange.outcome = Err(Failure::Error);
        let Some(retry_after) = wish.filter(|_| !last_try) else { return };
        // A service that wants to be left alone for longer than the budget lasts is left alone.
        let time = now.saturating_add(retry_after.unwrap_or(PAUSE));
        if time < self.deadline {
            // Unless the retry ends otherwise, the deadline ended it.
            exchange.outcome = Err(Failure::Timeout);
            self.paused.push((time, question));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    /// A network whose requests take a set time and end as scripted.
    #[derive(Default)]
    struct Script {
        now: u64,
        /// Ends by question, first try first; without one a request succeeds after `takes`.
        ends: BTreeMap<usize, Vec<(u64, End)>>,
        takes: u64,
        running: usize,
        peak: usize,
        /// When each request started.
        starts: Vec<(u64, usize)>,
        dropped: std::rc::Rc<std::cell::Cell<usize>>,
    }

    struct Request {
        ends_at: u64,
        end: Option<End>,
        dropped: std::rc::Rc<std::cell::Cell<usize>>,
    }

    impl Drop for Request {
        fn drop(&mut self) {
            self.dropped.set(self.dropped.get() + usize::from(self.end.is_some()));
        }
    }

    impl Transport for Script {
        type Task = Request;

        fn now(&mut self) -> u64 {
            self.now
        }

        fn start(&mut self, question: usize) -> Request {
            self.running += 1;
            self.peak = self.peak.max(self.running);
            self.starts.push((self.now, question));
            let script = self.ends.get_mut(&question).filter(|script| !script.is_empty());
            let (takes, end) = script.map_or((self.takes, success()), |script| script.remove(0));
            Request { ends_at: self.now + takes, end: Some(end), dropped: self.dropped.clone() }
        }

        fn wait(&mut self, tasks: &[&Request], until: u64, ready: &mut Vec<usize>) {
            assert!(until > self.now, "a wait that waits for nothing spins");
            let next = tasks.iter().map(|task| task.ends_at).min().unwrap_or(until);
            self.now = self.now.max(next.min(until));
            ready.extend((0..tasks.len()).filter(|&at| tasks[at].ends_at <= self.now));
        }

        fn advance(&mut self, task: &mut Request) -> Option<End> {
            self.running -= 1;
            task.end.take()
        }

        fn sent_bytes(&self, _: &Request) -> u64 {
            100
        }
    }

    fn success() -> End {
        End::Response { status: 200, retry_after: None, body: b"{}".to_vec() }
    }

    fn status(status: u16, retry_after: Option<u64>) -> End {
        End::Response { status, retry_after, body: Vec::new() }
    }

    fn budget(timeout_ms: u32, concurrency: u32) -> Budget {
        Budget { timeout_ms, concurrency }
    }

    fn script(takes: u64, ends: impl IntoIterator<Item = (usize, Vec<(u64, End)>)>) -> Script {
        Script { takes, ends: ends.into_iter().collect(), ..Script::default() }
    }

    fn outcomes(exchanges: Vec<Exchange>) -> Vec<Result<Vec<u8>, Failure>> {
        exchanges.into_iter().map(|exchange| exchange.outcome).collect()
    }

    #[test]
    fn twenty_questions_of_200_ms_at_six_at_a_time_take_800_ms() {
        let mut script = script(200, []);
        let exchanges = run(&mut script, 20, budget(8_000, 6));
        assert_eq!((script.now, script.peak), (800, 6));
        assert!(exchanges.iter().all(|exchange| exchange.outcome.is_ok()));
    }

    #[test]
    fn l42_the_deadline_ends_what_runs_and_starts_nothing_new() {
        let mut script = script(200, []);
        let exchanges = run(&mut script, 20, budget(500, 6));
        assert_eq!((script.now, script.starts.len()), (500, 18));
        assert_eq!(script.dropped.get(), 6, "what still ran was dropped");
        assert_eq!(exchanges[12], Exchange { outcome: Err(Failure::Timeout), sent_bytes: 100 });
        assert_eq!(exchanges[19], Exchange { outcome: Err(Failure::Timeout), sent_bytes: 0 });
        assert_eq!(exchanges.iter().filter(|exchange| exchange.outcome.is_ok()).count(), 12);
    }

    #[test]
    fn l42_an_answer_that_arrives_with_the_deadline_is_late() {
        let mut script = script(500, []);
        assert_eq!(outcomes(run(&mut script, 1, budget(500, 1))), [Err(Failure::Timeout)]);
    }

    #[test]
    fn l42_without_a_budget_nothing_is_sent() {
        let mut script = script(1, []);
        let exchanges = run(&mut script, 2, budget(0, 6));
        assert!(exchanges.iter().all(|exchange| exchange.sent_bytes == 0));
        assert_eq!(script.starts, []);
    }

    #[test]
    fn l44_never_more_than_the_limit_in_flight() {
        let mut script = script(10, [(4, vec![(30, status(503, None))]), (7, vec![(1, End::Disconnected)])]);
        run(&mut script, 9, budget(8_000, 3));
        assert_eq!(script.peak, 3);
    }

    #[test]
    fn a_limit_of_zero_is_as_good_as_one() {
        let mut script = script(10, []);
        assert_eq!(run(&mut script, 3, budget(8_000, 0)).len(), 3);
        assert_eq!((script.peak, script.now), (1, 30));
    }

    #[test]
    fn a_retry_waits_as_long_as_the_service_asks_and_holds_no_slot() {
        let mut script = script(100, [(0, vec![(100, status(429, Some(1_000)))])]);
        let exchanges = run(&mut script, 3, budget(8_000, 1));
        assert_eq!(script.starts, [(0, 0), (100, 1), (200, 2), (1_100, 0)]);
        assert!(exchanges[0].outcome.is_ok());
        assert_eq!(exchanges[0].sent_bytes, 200, "both tries left");
    }

    #[test]
    fn a_retry_after_beyond_the_budget_is_not_tried() {
        let mut script = script(100, [(0, vec![(100, status(503, Some(60_000)))])]);
        assert_eq!(outcomes(run(&mut script, 1, budget(8_000, 1))), [Err(Failure::Error)]);
        assert_eq!(script.starts, [(0, 0)]);
    }

    #[test]
    fn a_retry_that_cannot_start_in_time_is_not_waited_for() {
        let mut script = script(100, [(0, vec![(100, status(503, None))])]);
        assert_eq!(outcomes(run(&mut script, 1, budget(600, 1))), [Err(Failure::Error)]);
        assert_eq!(script.now, 100);
    }

    #[test]
    fn a_retry_that_the_deadline_overtakes_is_a_timeout() {
        let mut script = script(300, [(0, vec![(100, status(500, None))])]);
        assert_eq!(outcomes(run(&mut script, 1, budget(700, 1))), [Err(Failure::Timeout)]);
    }

    #[test]
    fn one_retry_is_all() {
        let mut script = script(
            100,
            [
                (0, vec![(100, End::Disconnected), (100, End::Disconnected)]),
                (1, vec![(100, End::Denied)]),
                (2, vec![(100, status(401, None))]),
                (3, vec![(100, End::Failed)]),
                (4, vec![(100, status(302, None))]),
            ],
        );
        let outcomes = outcomes(run(&mut script, 5, budget(8_000, 6)));
        use Failure::{Denied, Error};
        assert_eq!(outcomes, [Error, Denied, Error, Error, Error].map(Err));
        assert_eq!(script.starts.len(), 6);
    }

    fn end() -> impl Strategy<Value = End> {
        prop_oneof![
            Just(success()),
            Just(End::Denied),
            Just(End::Disconnected),
            Just(End::Failed),
            (400u16..600, proptest::option::of(0u64..3_000)).prop_map(|(code, after)| status(code, after)),
        ]
    }

    proptest! {
        #[test]
        fn every_question_has_an_outcome_by_the_deadline(
            ends in proptest::collection::vec(proptest::collection::vec((0u64..900, end()), 0..3), 0..12),
            timeout in 0u32..2_000,
            limit in 0u32..5,
        ) {
            let count = ends.len();
            let mut script = script(100, ends.into_iter().enumerate());
            let exchanges = run(&mut script, count, budget(timeout, limit));
            prop_assert_eq!(exchanges.len(), count);
            prop_assert!(script.now <= u64::from(timeout));
            prop_assert!(script.peak <= limit.max(1) as usize);
            for (question, exchange) in exchanges.iter().enumerate() {
                let tries = script.starts.iter().filter(|(_, started)| *started == question).count();
                prop_assert!(tries <= 2);
                prop_assert_eq!(exchange.sent_bytes, 100 * tries as u64);
            }
        }
    }
}
