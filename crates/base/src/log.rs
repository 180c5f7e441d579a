//! Messages to the user: levels, `SCONCE_LOG`, and the callback.
//!
//! Without a callback messages go to standard error at once. A callback may call the library, so it
//! must not run under a lock. Messages arise under locks, however, for example in destructors, so
//! they are queued, and delivered where no lock is held: when a call ends (`guard` of the C API).

use std::cell::Cell;
use std::ffi::{CString, c_char, c_void};
use std::fmt;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicU8, Ordering};

use crate::lock::{Mutex, rank, refuse_held};
use crate::thread_state;
use crate::{process, program_code};

/// The severity of a message. The values are those of the C API.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Something failed that no status reports.
    Error = 1,
    /// Something is probably not what the user wants.
    Warn = 2,
    /// Rare events of interest.
    Info = 3,
    /// Everything.
    Debug = 4,
}

impl Level {
    fn name(self) -> &'static str {
        match self {
            Level::Error => "error",
            Level::Warn => "warning",
            Level::Info => "info",
            Level::Debug => "debug",
        }
    }
}

/// A function of the user's that receives messages.
#[derive(Clone, Copy, Debug)]
pub struct Callback {
    function: unsafe extern "C" fn(i32, *const c_char, *mut c_void),
    user: *mut c_void,
}

#[allow(unsafe_code, reason = "the constructor's promise covers other threads")]
// SAFETY: `new` is unsafe and demands that the function may be called with its pointer from any thread.
unsafe impl Send for Callback {}

#[allow(unsafe_code, reason = "the constructor's promise covers other threads")]
// SAFETY: calls may overlap, as `new` demands of the function.
unsafe impl Sync for Callback {}

impl Callback {
    /// Makes a callback of a C function and its user pointer.
    ///
    /// # Safety
    /// `function` may be called with `user` from any thread, also at the same time, until it is
    /// replaced and every call has returned; it does not unwind.
    #[allow(unsafe_code, reason = "marks the promise; the body does nothing unsafe")]
    pub const unsafe fn new(
        function: unsafe extern "C" fn(i32, *const c_char, *mut c_void),
        user: *mut c_void,
    ) -> Callback {
        Callback { function, user }
    }

    /// True if both have one function and one user pointer.
    fn is(self, other: Callback) -> bool {
        std::ptr::fn_addr_eq(self.function, other.function) && self.user == other.user
    }

    #[allow(unsafe_code, reason = "calls the caller's function")]
    fn call(self, level: Level, message: &str) {
        refuse_held("the callback for messages");
        let text = CString::new(message.replace('\0', "\\0")).unwrap_or_default();
        // SAFETY: `new` demands that the function may be called with its pointer at any time; the text is NUL-
        // terminated and lives through the call.
        unsafe { (self.function)(level as i32, text.as_ptr(), self.user) }
    }
}

/// A callback that has been set at some time. It is never freed: a thread may be about to call it.
struct Known {
    callback: Callback,
    next: *const Known,
}

/// Every callback that has been set, newest first, each once.
static KNOWN: AtomicPtr<Known> = AtomicPtr::new(null_mut());

/// The current callback; null stands for standard error. It is an atomic, since a forked child may
/// set and call callbacks too and must not wait for a lock.
static CURRENT: AtomicPtr<Known> = AtomicPtr::new(null_mut());

/// The members of the list, from `first` on.
#[allow(unsafe_code, reason = "follows the pointers of the list")]
fn members(first: *const Known) -> impl Iterator<Item = &'static Known> {
    // SAFETY: null, or a member of the list: made from a leaked box, and never written again.
    std::iter::successors(unsafe { first.as_ref() }, |known| unsafe { known.next.as_ref() })
}

fn current() -> Option<Callback> {
    members(CURRENT.load(Ordering::Acquire)).next().map(|known| known.callback)
}

/// Messages that wait for the callback, because the thread may have held locks when they arose.
static WAITING: Mutex<rank::Messages, Vec<(Level, String)>> = Mutex::new(Vec::new());

thread_local! {
    /// True while the thread passes messages to the callback.
    static DELIVERING: Cell<bool> = const { Cell::new(false) };
}

/// 0: not read yet; 1: off; otherwise the level + 1.
static THRESHOLD: AtomicU8 = AtomicU8::new(0);

fn threshold() -> u8 {
    match THRESHOLD.load(Ordering::Relaxed) {
        0 => {
            let level = threshold_of(std::env::var("SCONCE_LOG").ok().as_deref());
            THRESHOLD.store(level, Ordering::Relaxed);
            level
        }
        level => level,
    }
}

fn threshold_of(value: Option<&str>) -> u8 {
    let level = value.and_then(|value| level_named(value.trim()));
    level.unwrap_or(Some(Level::Warn)).map_or(1, |level| level as u8 + 1)
}

/// The least severe level that is shown for a value of `SCONCE_LOG`, which may be no level; `None` for other texts.
pub(crate) fn level_named(value: &str) -> Option<Option<Level>> {
    Some(match value.to_ascii_lowercase().as_str() {
        "off" | "none" | "0" => None,
        "error" => Some(Level::Error),
        "warn" | "warning" | "" => Some(Level::Warn),
        "info" => Some(Level::Info),
        "debug" => Some(Level::Debug),
        _ => return None,
    })
}

/// True if messages of this level are logged.
pub fn enabled(level: Level) -> bool {
    (level as u8) < threshold()
}

/// Sends later messages to `callback`; `None` sends them to standard error again.
pub fn set_callback(callback: Option<Callback>) {
    let Some(callback) = callback else {
        CURRENT.store(null_mut(), Ordering::Release);
        return;
    };
    let first = KNOWN.load(Ordering::Acquire);
    if let Some(known) = members(first).find(|known| known.callback.is(callback)) {
        CURRENT.store(std::ptr::from_ref(known).cast_mut(), Ordering::Release);
        return;
    }
    let known = Box::leak(Box::new(Known { callback, next: first }));
    while let Err(next) =
        KNOWN.compare_exchange(known.next.cast_mut(), known, Ordering::AcqRel, Ordering::Acquire)
    {
        known.next = next;
    }
    CURRENT.store(known, Ordering::Release);
}

/// Logs one message, if its level is enabled. Standard error gets it at once; a callback gets it
/// when the current call ends ([`flush`]), since the thread may hold locks here.
pub fn message(level: Level, text: fmt::Arguments<'_>) {
    if !enabled(level) {
        return;
    }
    match current() {
        None => write(level, &text.to_string()),
        // The child has one thread, and may take no lock.
        Some(callback) if process::in_child() => callback.call(level, &text.to_string()),
        Some(_) => {
            let mut waiting = WAITING.lock();
            waiting.push((level, text.to_string()));
            process::message_waits();
        }
    }
}

/// Writes one line in one write. Rust's lock of standard error is not used: another thread may have
/// held it when the process forked.
fn write(level: Level, text: &str) {
    let line = format!("sconce {}: {text}\n", level.name());
    // Standard error may be closed; there is no other place for the message.
    let _ = rustix::io::write(rustix::stdio::stderr(), line.as_bytes());
}

/// Passes the queued messages to the callback. It is called where the thread holds no lock: at the
/// end of each call, and by the library's own threads. It does nothing inside a callback, whose
/// messages are delivered after it, and while a call names a stream: a callback would see that
/// stream as the thread's. The end of the call that names it delivers them. Then it runs the functions of the program
/// that have waited for this, too.
#[cold]
#[inline(never)]
pub fn flush() {
    if process::in_child() || thread_state::named_device().is_some() || DELIVERING.replace(true) {
        return;
    }
    loop {
        let messages = {
            let mut waiting = WAITING.lock();
            process::messages_taken(waiting.len());
            std::mem::take(&mut *waiting)
        };
        if messages.is_empty() {
            break;
        }
        for (level, text) in messages {
            match current() {
                Some(callback) => callback.call(level, &text),
                None => write(level, &text),
            }
        }
    }
    program_code::run_waiting();
    DELIVERING.set(false);
}

/// A failure that no status reports.
pub fn error(text: fmt::Arguments<'_>) {
    message(Level::Error, text);
}

/// Probably not what the user wants.
pub fn warn(text: fmt::Arguments<'_>) {
    message(Level::Warn, text);
}

/// A rare event of interest.
pub fn info(text: fmt::Arguments<'_>) {
    message(Level::Info, text);
}

/// Everything else.
pub fn debug(text: fmt::Arguments<'_>) {
    message(Level::Debug, text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_shows_warnings_and_off_shows_nothing() {
        let shows = |value: Option<&str>, level: Level| (level as u8) < threshold_of(value);
        assert!(shows(None, Level::Warn));
        assert!(!shows(None, Level::Info));
        assert!(shows(Some("debug"), Level::Debug));
        assert!(shows(Some("ERROR"), Level::Error));
        assert!(!shows(Some("error"), Level::Warn));
        assert!(!shows(Some("off"), Level::Error));
    }
}
