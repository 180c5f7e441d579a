//! Functions of the program that must wait until their thread holds no lock, as messages do (`log`). They run at the
//! end of the call that needed them, or of the next call of any thread.

use crate::lock::{Mutex, rank};
use crate::process;

/// A function that waits.
type WaitingFunction = Box<dyn FnOnce() + Send>;

static WAITING: Mutex<rank::ProgramFunctions, Vec<WaitingFunction>> = Mutex::new(Vec::new());

/// Runs a function once the thread holds no lock.
pub fn later(function: impl FnOnce() + Send + 'static) {
    WAITING.lock().push(Box::new(function));
    process::message_waits();
}

/// Runs the functions that wait. The thread holds no lock.
pub(crate) fn run_waiting() {
    let waiting = std::mem::take(&mut *WAITING.lock());
    process::messages_taken(waiting.len());
    waiting.into_iter().for_each(|function| function());
}
