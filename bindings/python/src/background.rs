//! The one entry point for long work: it runs on a thread of its own while the caller waits without holding the interpreter, so
//! that other Python threads run, and checks for Ctrl-C many times per second.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// How often the waiting caller checks for Ctrl-C.
const POLL_EVERY: Duration = Duration::from_millis(50);

/// How long the caller waits for interrupted work to end; then it abandons the thread.
const GRACE: Duration = Duration::from_millis(500);

/// Deep recursion has as much room here as on a main thread.
const STACK: usize = 8 << 20;

/// A message from the worker.
pub enum Message<E, R> {
    /// An event; the worker waits for the reply whether to continue.
    Event(E),
    /// The result.
    Done(R),
}

/// The worker's side: a flag that stops it, and a channel to the caller.
pub struct Worker<E, R> {
    stop: Arc<AtomicBool>,
    events: Sender<Message<E, R>>,
    answers: Receiver<bool>,
}

impl<E, R> Worker<E, R> {
    /// Whether the caller wants the work to end.
    pub fn must_stop(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Sends an event to the caller and waits for the reply: whether to continue.
    pub fn report(&self, event: E) -> bool {
        self.events.send(Message::Event(event)).is_ok() && self.answers.recv().unwrap_or(false)
    }
}

/// Runs `work` and returns its result. `on_event` is called on the caller's thread, holding the interpreter, for every event; it
/// returns whether to continue. When it fails, or on Ctrl-C, the work is stopped and the exception is raised at once;
/// `on_interrupted` sees that exception and what the stopped work gave, if it ended soon.
pub fn run<E: Send + 'static, R: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce(&Worker<E, R>) -> R + Send + 'static,
    mut on_event: impl FnMut(E) -> PyResult<bool>,
    on_interrupted: impl FnOnce(&PyErr, R),
) -> PyResult<R> {
    let stop = Arc::new(AtomicBool::new(false));
    let (events, mut inbox) = channel();
    let (replies, answers) = channel();
    let worker = Worker { stop: stop.clone(), events, answers };
    std::thread::Builder::new()
        .name("ldlf-work".into())
        .stack_size(STACK)
        .spawn(move || {
            let result = work(&worker);
            // The caller may have left on Ctrl-C.
            let _ = worker.events.send(Message::Done(result));
        })
        .map_err(|error| PyRuntimeError::new_err(format!("cannot start a thread: {error}")))?;
    let outcome = loop {
        let inbox = &mut inbox;
        match py.detach(move || inbox.recv_timeout(POLL_EVERY)) {
            Ok(Message::Done(result)) => return Ok(result),
            Ok(Message::Event(event)) => match on_event(event) {
                Ok(proceed) => {
                    let _ = replies.send(proceed);
                }
                Err(error) => break error,
            },
            Err(RecvTimeoutError::Timeout) => {
                if let Err(error) = py.check_signals() {
                    break error;
                }
            }
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err(
                    "the work ended without a result; this is a fault of ldlf, please report it",
                ));
            }
        }
    };
    stop.store(true, Ordering::Relaxed);
    drop(replies);
    let inbox = &mut inbox;
    let late = py.detach(move || {
        loop {
            match inbox.recv_timeout(GRACE) {
                Ok(Message::Event(_)) => {}
                Ok(Message::Done(result)) => return Some(result),
                Err(_) => return None,
            }
        }
    });
    if let Some(result) = late {
        on_interrupted(&outcome, result);
    }
    Err(outcome)
}

/// As [`run`], for work without events.
pub fn run_silently<R: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> R + Send + 'static,
) -> PyResult<R> {
    run::<(), R>(py, move |_| work(), |()| Ok(true), |_, _| ())
}
