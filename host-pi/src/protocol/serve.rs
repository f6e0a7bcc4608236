//! The loop: calls in order, and beside a pass those that must not wait for it.

use super::lines::{self, Unreadable};
use super::message::{self, Answer, Error, Request};
use super::methods;
use crate::runner::Runner;
use serde_json::value::RawValue;
use std::collections::VecDeque;
use std::io::{self, BufReader, Read, Write};
use std::sync::Arc;
use std::thread;
use tokio::sync::{mpsc, oneshot};
use tokio::task::{JoinError, JoinHandle};

type Line = Result<String, Unreadable>;

/// A pass or an `ask` that waits for the classifier.
struct Running {
    id: Option<Box<RawValue>>,
    task: JoinHandle<Answer>,
    cancel: Option<oneshot::Sender<()>>,
}

/// Serves one session until the input ends; a pass that still runs then is cancelled. Calls that came before the end
/// are answered.
///
/// # Errors
///
/// When the output cannot be written, as after the agent's death.
pub async fn serve(
    runner: Arc<Runner>,
    input: impl Read + Send + 'static,
    output: impl Write,
) -> io::Result<()> {
    let mut input = read(input, runner.limits().line_bytes)?;
    let (notify, mut notifications) = mpsc::unbounded_channel::<String>();
    let mut output = Output(output);
    let mut waiting = VecDeque::new();
    let mut running: Option<Running> = None;
    let mut open = true;
    while open || running.is_some() {
        tokio::select! {
            // What a pass says about itself comes before its result.
            biased;
            Some(line) = notifications.recv() => output.write(&line)?,
            answer = finished(&mut running) => {
                if let Some(Running { id, .. }) = running.take() {
                    output.answer(id.as_deref(), &answer)?;
                }
            }
            line = input.recv(), if open => match line {
                Some(line) => match line.map_err(|error| (None, Error::parse(error))).and_then(|line| Request::read(&line)) {
                    Ok(request) => waiting.push_back(request),
                    Err((id, error)) => output.write(&message::response(id.as_deref(), &Err(error)))?,
                },
                None => {
                    open = false;
                    cancel(&mut running);
                }
            }
        }
        // In order, except that some need not wait for a pass.
        let mut later = VecDeque::new();
        while let Some(Request { id, method, params }) = waiting.pop_front() {
            if method == "cancel" {
                cancel(&mut running);
                output.answer(id.as_deref(), &message::result(&()))?;
            } else if running.is_some() && !methods::is_urgent(&method) {
                later.push_back(Request { id, method, params });
            } else if methods::is_long(&method) {
                running = Some(start(&runner, &notify, Request { id, method, params }));
                if !open {
                    cancel(&mut running);
                }
            } else {
                let answer = methods::short(&runner, &method, params.as_deref()).await;
                output.answer(id.as_deref(), &answer)?;
            }
        }
        waiting = later;
    }
    Ok(())
}

/// Reads lines on a thread of its own: reading blocks, and waking a thread per line costs less than a blocking pool.
fn read(input: impl Read + Send + 'static, limit: usize) -> io::Result<mpsc::Receiver<Line>> {
    let (sender, receiver) = mpsc::channel(64);
    thread::Builder::new().name("input".into()).spawn(move || {
        let mut input = BufReader::with_capacity(1 << 16, input);
        while let Ok(Some(line)) = lines::next(&mut input, limit) {
            if line.as_ref().is_ok_and(|line| line.trim().is_empty()) {
                continue;
            }
            if sender.blocking_send(line).is_err() {
                break;
            }
        }
    })?;
    Ok(receiver)
}

fn start(runner: &Arc<Runner>, notify: &mpsc::UnboundedSender<String>, request: Request) -> Running {
    let (cancel, cancelled) = oneshot::channel();
    let (runner, notify) = (Arc::clone(runner), notify.clone());
    let Request { id, method, params } = request;
    let task = tokio::spawn(async move {
        let judging = |questions, timeout_ms| {
            // Only a loop that ended listens no more.
            let _ = notify.send(message::judging(questions, timeout_ms));
        };
        let cancelled = async {
            // A dropped sender is no order to stop.
            if cancelled.await.is_err() {
                std::future::pending().await
            }
        };
        methods::long(&runner, &method, params.as_deref(), judging, cancelled).await
    });
    Running { id, task, cancel: Some(cancel) }
}

fn cancel(running: &mut Option<Running>) {
    if let Some(cancel) = running.as_mut().and_then(|running| running.cancel.take()) {
        // A pass that ended meanwhile has its result already.
        let _ = cancel.send(());
    }
}

async fn finished(running: &mut Option<Running>) -> Answer {
    match running {
        Some(running) => {
            (&mut running.task).await.unwrap_or_else(|error: JoinError| Err(Error::other(error)))
        }
        None => std::future::pending().await,
    }
}

struct Output<W>(W);

impl<W: Write> Output<W> {
    fn answer(&mut self, id: Option<&RawValue>, answer: &Answer) -> io::Result<()> {
        // A notification gets no answer.
        id.map_or(Ok(()), |id| self.write(&message::response(Some(id), answer)))
    }

    fn write(&mut self, line: &str) -> io::Result<()> {
        self.0.write_all(line.as_bytes())?;
        self.0.flush()
    }
}
