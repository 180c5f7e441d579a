//! What went wrong, in the words that are printed.

use std::fmt;

/// A reason to stop, for a person to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure(String);

pub(crate) type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    pub(crate) fn new(words: impl Into<String>) -> Failure {
        Failure(words.into())
    }

    /// The same with words put before its own, for the caller who knows more.
    pub(crate) fn context(self, what: impl fmt::Display) -> Failure {
        Failure(format!("{what}: {}", self.0))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl From<sconce::error::Error> for Failure {
    fn from(error: sconce::error::Error) -> Failure {
        Failure(error.to_string())
    }
}
