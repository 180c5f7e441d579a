//! How a communicator is made.

use std::time::Duration;

use sconce_driver::CommOptions;

/// How long calls that wait for other ranks may take if nothing else is said: as long as PyTorch's.
const DEFAULT: Duration = Duration::from_secs(600);

/// How long things may take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Limit {
    /// Calls that wait for ranks give up after 10 minutes; queued work is not watched.
    #[default]
    Usual,
    /// Nothing is given up.
    Never,
    /// Calls that wait for ranks, and queued work, are given up after this time.
    After(Duration),
}

impl Limit {
    /// How long a call waits.
    pub(super) fn of_calls(self) -> Option<Duration> {
        match self {
            Limit::Usual => Some(DEFAULT),
            Limit::Never => None,
            Limit::After(time) => Some(time),
        }
    }

    /// How long queued work may take.
    pub(super) fn of_work(self) -> Option<Duration> {
        match self {
            Limit::After(time) => Some(time),
            Limit::Usual | Limit::Never => None,
        }
    }
}

/// What is chosen when a communicator is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CommConfig {
    /// What the library is given.
    pub options: CommOptions,
    /// Whether the stream of asynchronous calls has the greatest priority.
    pub high_priority: bool,
    /// How long things may take.
    pub limit: Limit,
}
