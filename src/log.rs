//! Messages to the user: levels, `SCONCE_LOG`, and the callback.
//!
//! Without a callback messages go to standard error. A callback is called with no lock held, so it
//! may call the library.

use std::ffi::{CString, c_char, c_void};
use std::fmt;
use std::io::Write as _;
use std::sync::atomic::{AtomicU8, Ordering};

use parking_lot::RwLock;

/// How much a message matters. The values are those of the C API.
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

/// A caller's function that takes messages.
#[derive(Clone, Copy, Debug)]
pub struct Callback {
    function: unsafe extern "C" fn(i32, *const c_char, *mut c_void),
    user: *mut c_void,
}

#[allow(unsafe_code, reason = "the constructor's promise covers other threads")]
// SAFETY: whoever makes a `Callback` promises that it may be called from any thread (see `new`).
unsafe impl Send for Callback {}

#[allow(unsafe_code, reason = "the constructor's promise covers other threads")]
// SAFETY: see `Send`; calls may overlap.
unsafe impl Sync for Callback {}

impl Callback {
    /// A callback that a caller vouches for.
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

    #[allow(unsafe_code, reason = "calls the caller's function")]
    fn call(self, level: Level, message: &str) {
        let text = CString::new(message.replace('\0', "\\0")).unwrap_or_default();
        // SAFETY: the promise of `new`; the text is NUL-terminated and lives through the call.
        unsafe { (self.function)(level as i32, text.as_ptr(), self.user) }
    }
}

static CALLBACK: RwLock<Option<Callback>> = RwLock::new(None);

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
    match value.map(str::trim).map(str::to_ascii_lowercase).as_deref() {
        Some("off" | "none" | "0") => 1,
        Some("error") => Level::Error as u8 + 1,
        Some("info") => Level::Info as u8 + 1,
        Some("debug") => Level::Debug as u8 + 1,
        _ => Level::Warn as u8 + 1,
    }
}

/// Whether messages of this level are wanted.
pub fn enabled(level: Level) -> bool {
    (level as u8) < threshold()
}

/// Sends later messages to `callback`; `None` sends them to standard error again.
pub fn set_callback(callback: Option<Callback>) {
    *CALLBACK.write() = callback;
}

/// Sends one message, if its level is wanted.
pub fn message(level: Level, text: fmt::Arguments<'_>) {
    if !enabled(level) {
        return;
    }
    let callback = *CALLBACK.read();
    match callback {
        Some(callback) => callback.call(level, &text.to_string()),
        None => {
            // Standard error may be closed; there is nobody left to tell.
            let _ = writeln!(std::io::stderr(), "sconce {}: {text}", level.name());
        }
    }
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
