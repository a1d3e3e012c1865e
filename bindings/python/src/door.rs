//! The one door into Rust: work runs on a thread of its own while the caller waits without holding the interpreter, so that
//! other Python threads go on, and looks for Ctrl-C many times a second, whatever the work is doing.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// How often the waiting caller looks for Ctrl-C.
const LOOK: Duration = Duration::from_millis(50);

/// How long the caller waits for work that was asked to stop; then it leaves the thread to end by itself.
const FAREWELL: Duration = Duration::from_millis(300);

/// Deep recursion has as much room here as on a main thread.
const STACK: usize = 8 << 20;

/// What a worker says while it works.
pub enum Message<E, R> {
    /// Something worth telling; the worker waits for the answer whether to go on.
    Event(E),
    /// The end.
    Done(R),
}

/// What a worker holds: a flag that asks it to stop, and a line to the caller.
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

    /// Tells the caller and waits for its word: whether to go on.
    pub fn tell(&self, event: E) -> bool {
        self.events.send(Message::Event(event)).is_ok() && self.answers.recv().unwrap_or(false)
    }
}

/// Runs `work` and gives what it gives. `heard` is called on the caller's thread, holding the interpreter, for every event; it
/// says whether to go on. When it fails, or on Ctrl-C, the work is asked to stop and the exception is raised at once.
pub fn run<E: Send + 'static, R: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce(&Worker<E, R>) -> R + Send + 'static,
    mut heard: impl FnMut(E) -> PyResult<bool>,
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
        match py.detach(move || inbox.recv_timeout(LOOK)) {
            Ok(Message::Done(result)) => return Ok(result),
            Ok(Message::Event(event)) => match heard(event) {
                Ok(go_on) => {
                    let _ = replies.send(go_on);
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
    py.detach(move || while let Ok(Message::Event(_)) = inbox.recv_timeout(FAREWELL) {});
    Err(outcome)
}

/// As [`run`], for work that tells nothing on its way.
pub fn run_silently<R: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> R + Send + 'static,
) -> PyResult<R> {
    run::<(), R>(py, move |_| work(), |()| Ok(true))
}
