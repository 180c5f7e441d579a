//! Stores: tables of keys and values that the processes of a job share. See `docs/design/store.md`.
//!
//! | file | idea |
//! |---|---|
//! | `shared` | a store with its prefix and its timeout; what other modules use |
//! | `handle` | stores behind the handles of the C API |
//! | `barrier` | all processes wait for each other |
//! | `environment` | the store of the job that the environment describes |
//! | `file`, `records` | a store in a file, and the file's format |
//! | `tcp`, `channel` | a store over TCP: the client, and one of its connections |
//! | `request` | the protocol of servers |
//! | `server/` | the server |
//! | `limits`, `deadline` | how large keys and values may be; how long a call may take |

mod barrier;
mod channel;
mod deadline;
mod environment;
mod file;
mod handle;
mod limits;
mod records;
mod request;
mod server;
mod shared;
mod tcp;
#[cfg(test)]
mod tests;

use std::time::Duration;

pub use environment::join_job;
pub use handle::{destroy, get, insert};
pub use server::dialogue;
pub use shared::{DEFAULT_TIMEOUT, Store};

use sconce_base::error::{Error, Result, Status};

use deadline::Deadline;

/// A table of keys and values that processes share. Keys are complete, with `/` and prefixes, and keys and values
/// are within the limits.
pub(crate) trait KeyValueStore: Send + Sync {
    /// Sets a value. When the call returns, the value is there for all.
    fn set(&self, key: &[u8], value: &[u8], timeout: Duration) -> Result<()>;
    /// Waits for a key, and returns its value.
    fn get(&self, key: &[u8], timeout: Duration) -> Result<Vec<u8>>;
    /// Adds to a counter, which is decimal text and 0 while it is missing, and returns the sum.
    fn add(&self, key: &[u8], delta: i64, timeout: Duration) -> Result<i64>;
    /// Sets `desired` if the value is `expected`; a missing key has an empty value. Returns the value that is there
    /// then, or `expected` if the key is missing and something was expected.
    fn compare_set(
        &self,
        key: &[u8],
        expected: &[u8],
        desired: &[u8],
        timeout: Duration,
    ) -> Result<Vec<u8>>;
    /// Whether all keys are there.
    fn check(&self, keys: &[Vec<u8>], timeout: Duration) -> Result<bool>;
    /// Waits until all keys are there.
    fn wait(&self, keys: &[Vec<u8>], timeout: Duration) -> Result<()>;
    /// Deletes a key. Whether it was there.
    fn delete_key(&self, key: &[u8], timeout: Duration) -> Result<bool>;
    /// The number of all keys, those of other prefixes and the store's own included.
    fn num_keys(&self, timeout: Duration) -> Result<i64>;
    /// The port of the server, if there is one.
    fn port(&self) -> Option<u16>;
    /// Ends the calls in progress, and makes later ones fail.
    fn close(&self);
}

/// The failure of a wait whose keys have not come.
fn missing_keys(keys: &[Vec<u8>], deadline: Deadline) -> Error {
    Error::new(
        Status::Timeout,
        format!(
            "the wait for {} has timed out after {} ms; has the process that sets the key failed, or does it wait for \
             another key?",
            limits::shown_all(keys),
            deadline.ms()
        ),
    )
}
