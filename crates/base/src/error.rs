//! The one error type of the crate and the status codes it carries.
//!
//! An error has a kind ([`Status`], which decides what a caller does next), a message that names
//! the argument and the remedy, and the driver's number if a driver call caused it. A query that
//! reports "not ready" has not failed: the driver traits return `Ok(false)`.

use std::borrow::Cow;
use std::fmt;

/// The kind of outcome of a call. The values are those of `sconce_status` in C and never change.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// The call succeeded.
    Ok = 0,
    /// An argument is outside what the call accepts.
    InvalidArgument = 1,
    /// A device index names no device.
    InvalidDevice = 2,
    /// A handle was never returned by the library, or has been destroyed.
    InvalidHandle = 3,
    /// The object is not in a state in which the call makes sense.
    InvalidState = 4,
    /// There is no device to work on.
    NoDevice = 5,
    /// Device or host memory is exhausted.
    OutOfMemory = 6,
    /// A library that is opened at run time is missing or lacks a symbol.
    LibraryNotFound = 7,
    /// The device, the driver or the backend cannot do this.
    NotSupported = 8,
    /// The driver reported an error that no other kind describes.
    Driver = 9,
    /// One call used memory or objects of different devices.
    CrossDevice = 10,
    /// The queried work has not finished.
    NotReady = 11,
    /// The process was forked after initialisation; the child cannot use devices.
    Forked = 12,
    /// Reading or writing a file failed.
    Io = 13,
    /// A defect of the library itself.
    Internal = 14,
    /// What the call waited for did not happen in the given time.
    Timeout = 15,
    /// Another process or rank that takes part has failed or has gone.
    Remote = 16,
    /// The operation was ended by an abort.
    Aborted = 17,
}

impl Status {
    /// Every status, in the order of its value.
    pub const ALL: [Status; 18] = [
        Status::Ok,
        Status::InvalidArgument,
        Status::InvalidDevice,
        Status::InvalidHandle,
        Status::InvalidState,
        Status::NoDevice,
        Status::OutOfMemory,
        Status::LibraryNotFound,
        Status::NotSupported,
        Status::Driver,
        Status::CrossDevice,
        Status::NotReady,
        Status::Forked,
        Status::Io,
        Status::Internal,
        Status::Timeout,
        Status::Remote,
        Status::Aborted,
    ];

    /// The spelling of the C constant, e.g. `SCONCE_ERROR_NOT_READY`.
    pub const fn name(self) -> &'static str {
        match self {
            Status::Ok => "SCONCE_OK",
            Status::InvalidArgument => "SCONCE_ERROR_INVALID_ARGUMENT",
            Status::InvalidDevice => "SCONCE_ERROR_INVALID_DEVICE",
            Status::InvalidHandle => "SCONCE_ERROR_INVALID_HANDLE",
            Status::InvalidState => "SCONCE_ERROR_INVALID_STATE",
            Status::NoDevice => "SCONCE_ERROR_NO_DEVICE",
            Status::OutOfMemory => "SCONCE_ERROR_OUT_OF_MEMORY",
            Status::LibraryNotFound => "SCONCE_ERROR_LIBRARY_NOT_FOUND",
            Status::NotSupported => "SCONCE_ERROR_NOT_SUPPORTED",
            Status::Driver => "SCONCE_ERROR_DRIVER",
            Status::CrossDevice => "SCONCE_ERROR_CROSS_DEVICE",
            Status::NotReady => "SCONCE_ERROR_NOT_READY",
            Status::Forked => "SCONCE_ERROR_FORKED",
            Status::Io => "SCONCE_ERROR_IO",
            Status::Internal => "SCONCE_ERROR_INTERNAL",
            Status::Timeout => "SCONCE_ERROR_TIMEOUT",
            Status::Remote => "SCONCE_ERROR_REMOTE",
            Status::Aborted => "SCONCE_ERROR_ABORTED",
        }
    }
}

/// A failure: its kind, its message, and the driver's number (0 if no driver call caused it).
///
/// One pointer wide, so that a `Result` of the hot path travels in a register.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(Box<Failure>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Failure {
    status: Status,
    message: Cow<'static, str>,
    backend_code: i32,
    cause: Option<Cause>,
}

/// Why a driver refused a call, for the refusals on which the library acts. A backend translates
/// its own numbers into causes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cause {
    /// The memory or object was not made for this use.
    NotPermitted,
    /// The handle is one that the calling process made; only other processes can open it.
    OwnHandle,
    /// A device has as many peers as its hardware has room for.
    TooManyPeers,
}

/// The result type of everything below the C API.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// A failure that no driver call caused.
    pub fn new(status: Status, message: impl Into<Cow<'static, str>>) -> Self {
        Error(Box::new(Failure { status, message: message.into(), backend_code: 0, cause: None }))
    }

    /// A failure of the driver call `call`, which returned `code`; the driver spells it
    /// `code_name`.
    ///
    /// `status` is the kind that callers see.
    pub fn driver(status: Status, call: &str, code: i32, code_name: &str) -> Self {
        Error(Box::new(Failure {
            status,
            message: Cow::Owned(format!("{call} failed: {code_name} ({code})")),
            backend_code: code,
            cause: None,
        }))
    }

    /// An `InvalidArgument` with the given message.
    pub fn invalid_argument(message: impl Into<Cow<'static, str>>) -> Self {
        Error::new(Status::InvalidArgument, message)
    }

    /// An `InvalidHandle` with the given message.
    pub fn invalid_handle(message: impl Into<Cow<'static, str>>) -> Self {
        Error::new(Status::InvalidHandle, message)
    }

    /// An `InvalidState` with the given message.
    pub fn invalid_state(message: impl Into<Cow<'static, str>>) -> Self {
        Error::new(Status::InvalidState, message)
    }

    /// A `NotSupported` with the given message.
    pub fn not_supported(message: impl Into<Cow<'static, str>>) -> Self {
        Error::new(Status::NotSupported, message)
    }

    /// The error with a text in front of its message, for a caller that can add context.
    #[must_use]
    pub fn context(mut self, what: impl fmt::Display) -> Self {
        self.0.message = Cow::Owned(format!("{what}: {}", self.0.message));
        self
    }

    /// The error with a text after its message, such as what a compiler said.
    #[must_use]
    pub fn followed_by(mut self, text: impl fmt::Display) -> Self {
        self.0.message = Cow::Owned(format!("{}\n{text}", self.0.message));
        self
    }

    /// The error with another kind, for a caller that knows what the failure means here.
    #[must_use]
    pub fn with_status(mut self, status: Status) -> Self {
        self.0.status = status;
        self
    }

    /// The error with its cause.
    #[must_use]
    pub fn with_cause(mut self, cause: Cause) -> Self {
        self.0.cause = Some(cause);
        self
    }

    /// The error with what helps after its message.
    #[must_use]
    pub fn with_remedy(mut self, remedy: &str) -> Self {
        self.0.message = Cow::Owned(format!("{}; {remedy}", self.0.message));
        self
    }

    /// Why the driver refused the call, if it is one of the causes on which the library acts.
    pub fn cause(&self) -> Option<Cause> {
        self.0.cause
    }

    /// The kind.
    pub fn status(&self) -> Status {
        self.0.status
    }

    /// The message.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The driver's number; 0 if no driver call caused the failure.
    pub fn backend_code(&self) -> i32 {
        self.0.backend_code
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.0.status.name(), self.0.message)
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_follow_the_list_and_names_are_distinct() {
        for (index, status) in Status::ALL.into_iter().enumerate() {
            assert_eq!(status as usize, index);
        }
        let mut names: Vec<_> = Status::ALL.iter().map(|s| s.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Status::ALL.len());
    }

    #[test]
    fn a_driver_failure_names_call_code_and_number() {
        let error = Error::driver(Status::Driver, "cuCtxSynchronize", 999, "CUDA_ERROR_UNKNOWN");
        assert_eq!(error.backend_code(), 999);
        assert_eq!(error.message(), "cuCtxSynchronize failed: CUDA_ERROR_UNKNOWN (999)");
        assert!(error.context("stream 3").message().starts_with("stream 3: cuCtx"));
    }
}
