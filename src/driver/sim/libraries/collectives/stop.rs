//! Why an operation ends early.
#![forbid(unsafe_code)]

use std::io;

use crate::error::{Error, Status};

/// Whose failure it is.
pub(super) enum Stop {
    /// The driver's code; the device fails.
    Device(i32),
    /// The communicator fails, the device goes on.
    Comm(Error),
}

impl From<i32> for Stop {
    fn from(code: i32) -> Stop {
        Stop::Device(code)
    }
}

impl From<Error> for Stop {
    fn from(why: Error) -> Stop {
        Stop::Comm(why)
    }
}

impl From<io::Error> for Stop {
    fn from(why: io::Error) -> Stop {
        Stop::Comm(Error::new(Status::Io, format!("no memory file for other ranks: {why}")))
    }
}
