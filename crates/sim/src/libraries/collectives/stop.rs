//! Why an operation ends early.
#![forbid(unsafe_code)]

use std::io;

use sconce_base::error::{Error, Status};

/// Whose failure it is.
pub(super) enum WorkStop {
    /// The driver's code; the device fails.
    Device(i32),
    /// The communicator fails, the device goes on.
    Comm(Error),
}

impl From<i32> for WorkStop {
    fn from(code: i32) -> WorkStop {
        WorkStop::Device(code)
    }
}

impl From<Error> for WorkStop {
    fn from(why: Error) -> WorkStop {
        WorkStop::Comm(why)
    }
}

impl From<io::Error> for WorkStop {
    fn from(why: io::Error) -> WorkStop {
        WorkStop::Comm(Error::new(Status::Io, format!("no memory file for other ranks: {why}")))
    }
}
