//! Failures: a status of the C API with a text, and the calling thread's newest one.
//!
//! Functions of PyTorch's ABI return 0 or 1, the library's own a `sconce_status`. Both leave the text for the thread:
//! `torch_exception_get_what` and `sconce_torch_last_error_message` return it.

use std::cell::RefCell;
use std::ffi::{CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::api;

/// What the text of a failure begins with that is this library's own fault.
const DEFECT: &str = "a defect of libsconce_torch";

/// A failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// `SCONCE_ERROR_…`.
    pub status: i32,
    /// What was wrong, and the remedy.
    pub message: String,
}

/// A result of this library.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// A failure with a status.
    pub fn new(status: i32, message: impl Into<String>) -> Error {
        Error { status, message: message.into() }
    }

    /// An argument that a function refuses.
    pub fn invalid_argument(message: impl Into<String>) -> Error {
        Error::new(api::SCONCE_ERROR_INVALID_ARGUMENT, message)
    }

    /// A handle that is not alive.
    pub fn invalid_handle(message: impl Into<String>) -> Error {
        Error::new(api::SCONCE_ERROR_INVALID_HANDLE, message)
    }

    /// What this library does not do.
    pub fn not_supported(message: impl Into<String>) -> Error {
        Error::new(api::SCONCE_ERROR_NOT_SUPPORTED, message)
    }

    /// A file or folder that could not be read or written.
    pub fn io(message: impl Into<String>) -> Error {
        Error::new(api::SCONCE_ERROR_IO, message)
    }

    /// A defect of this library.
    pub fn internal(message: impl Into<String>) -> Error {
        Error::new(api::SCONCE_ERROR_INTERNAL, format!("{DEFECT}: {}", message.into()))
    }

    /// The same failure with words before its text.
    pub fn within(self, what: &str) -> Error {
        Error { status: self.status, message: format!("{what}: {}", self.message) }
    }

    /// The same failure of a field, with which the message begins, of `whole`.
    pub fn of_field(self, whole: &str) -> Error {
        Error { status: self.status, message: format!("{whole}.{}", self.message) }
    }
}

/// The texts that a thread keeps. A program may hold the one that it read last while another call fails, as in
/// `printf("%s %s", name(call()), sconce_torch_last_error_message())`, whose arguments are evaluated in any order. So a
/// text that was read stays until a later one was read.
struct Texts {
    newest: Option<CString>,
    /// Whether the program has the address of the newest.
    was_read: bool,
    /// The one before it that was read last.
    read: Option<CString>,
}

impl Texts {
    fn keep(&mut self, text: Option<CString>) {
        let old = std::mem::replace(&mut self.newest, text);
        if std::mem::take(&mut self.was_read) {
            self.read = old;
        }
    }
}

thread_local! {
    static TEXTS: RefCell<Texts> = const {
        RefCell::new(Texts { newest: None, was_read: false, read: None })
    };
}

/// Keeps a failure as the thread's newest and returns its status.
#[cold]
pub fn record(error: &Error) -> i32 {
    let text = CString::new(error.message.replace('\0', "\\0")).unwrap_or_default();
    // A thread whose destructors have run keeps no text.
    let _ = TEXTS.try_with(|texts| texts.borrow_mut().keep(Some(text)));
    error.status
}

/// Forgets the thread's newest failure, so that [`newest`] is one of what follows.
pub fn forget() {
    let _ = TEXTS.try_with(|texts| texts.borrow_mut().keep(None));
}

/// The text of the thread's newest failure, if there was one.
pub fn newest() -> Option<String> {
    let seen = TEXTS.try_with(|texts| texts.borrow().newest.clone());
    seen.ok().flatten().map(|text| text.to_string_lossy().into_owned())
}

/// The text of the thread's newest failure, for the program: empty before the first. It stays until the program has
/// read that of a later failure.
pub fn read_newest() -> *const c_char {
    let seen = TEXTS.try_with(|texts| {
        let mut texts = texts.borrow_mut();
        texts.was_read = texts.newest.is_some();
        texts.newest.as_deref().unwrap_or(c"").as_ptr()
    });
    seen.unwrap_or(c"".as_ptr())
}

/// Runs the body of a function of the C API and returns its status. A panic becomes INTERNAL.
pub fn guard(body: impl FnOnce() -> Result<()>) -> i32 {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => api::SCONCE_OK,
        Ok(Err(error)) => record(&error),
        Err(panic) => {
            let text = panic
                .downcast_ref::<String>()
                .map(String::as_str)
                .or_else(|| panic.downcast_ref::<&str>().copied())
                .unwrap_or("a panic without a text");
            record(&Error::internal(text))
        }
    }
}

/// Runs the body of a function of PyTorch's ABI: 0 if it succeeded, 1 if it failed.
#[inline]
pub fn shim(body: impl FnOnce() -> Result<()>) -> i32 {
    i32::from(guard(body) != api::SCONCE_OK)
}

/// Ends a function with a failure if a condition does not hold that a safe function's access to memory rests on. Callers of
/// the function meet it, so the failure is this library's own fault; it is one in every build, where a wrong access would
/// be worse.
macro_rules! ensure {
    ($condition:expr) => {
        if !$condition {
            let words = concat!(stringify!($condition), " does not hold");
            return Err($crate::error::Error::internal(words));
        }
    };
}
pub(crate) use ensure;

/// Refuses a pointer of the caller that is NULL or misaligned.
#[inline]
pub fn not_null<T>(pointer: *const T, name: &str) -> Result<()> {
    if pointer.is_null() || !pointer.is_aligned() {
        return Err(unusable(pointer.is_null(), name));
    }
    Ok(())
}

#[cold]
fn unusable(is_null: bool, name: &str) -> Error {
    Error::invalid_argument(format!("{name} is {}", if is_null { "NULL" } else { "misaligned" }))
}

/// Writes a result where the caller wants it.
///
/// # Safety
/// `place` is NULL or valid for a write of a `T`.
#[inline]
#[allow(unsafe_code, reason = "writes through a pointer of the caller")]
pub unsafe fn write_out<T>(place: *mut T, name: &str, value: T) -> Result<()> {
    not_null(place, name)?;
    // SAFETY: the place is neither NULL nor misaligned, so it is valid for a write.
    unsafe { place.write(value) };
    Ok(())
}
