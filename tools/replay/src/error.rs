//! The error type of the program: a message that is printed.

use std::fmt;

/// A reason to stop, for a person to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure(String);

pub(crate) type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    pub(crate) fn new(words: impl Into<String>) -> Failure {
        Failure(words.into())
    }

    /// The error with a text in front of its message, for a caller that can add context.
    pub(crate) fn context(self, what: impl fmt::Display) -> Failure {
        Failure(format!("{what}: {}", self.0))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl From<sconce_base::error::Error> for Failure {
    fn from(error: sconce_base::error::Error) -> Failure {
        Failure(error.to_string())
    }
}
