//! A store as its users see it: the table, a prefix of the keys, and a timeout.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use sconce_base::error::{Error, Result};

use super::file::FileStore;
use super::limits::{check_key, check_keys, check_value};
use super::tcp::TcpStore;
use super::{KeyValueStore, barrier};

/// The wait that a call is given when it names none, until another one is set: PyTorch's 300 s.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(300);

/// A table and the number of stores that use it.
struct Shared {
    table: Box<dyn KeyValueStore>,
    users: AtomicUsize,
}

/// A store. Any thread may use it at any time.
pub struct Store {
    shared: Arc<Shared>,
    /// What stands before every key.
    prefix: Vec<u8>,
    timeout_ms: AtomicU64,
}

impl Store {
    fn new(table: Box<dyn KeyValueStore>, timeout: Duration) -> Store {
        Store {
            shared: Arc::new(Shared { table, users: AtomicUsize::new(1) }),
            prefix: b"/".to_vec(),
            timeout_ms: AtomicU64::new(timeout.as_millis() as u64),
        }
    }

    /// A store in a file. The last of `world_size` processes to destroy its store removes the file, unless that is
    /// 0.
    pub fn file(path: &str, world_size: u32, timeout: Duration) -> Result<Store> {
        let table = FileStore::open(path, world_size, timeout)?;
        Ok(Store::new(Box::new(table), timeout))
    }

    /// A client of a server, which may be started meanwhile.
    pub fn client(host: &str, port: u16, timeout: Duration) -> Result<Store> {
        Ok(Store::new(Box::new(TcpStore::connect(host, port, timeout)?), timeout))
    }

    /// A server in this process, and its client.
    pub fn server(host: &str, port: u16, timeout: Duration) -> Result<Store> {
        Ok(Store::new(Box::new(TcpStore::serve(host, port, timeout)?), timeout))
    }

    /// A store of the same table whose keys begin with `prefix/`.
    pub fn prefixed(&self, prefix: &str) -> Result<Store> {
        let prefix = [&self.prefix[..], prefix.as_bytes(), b"/"].concat();
        check_key(&prefix)?;
        self.shared.users.fetch_add(1, Ordering::Relaxed);
        Ok(Store {
            shared: Arc::clone(&self.shared),
            prefix,
            timeout_ms: AtomicU64::new(self.timeout().as_millis() as u64),
        })
    }

    /// Ends the store's use. The table of the last store is closed, which ends calls in progress.
    pub(super) fn give_up(&self) {
        if self.shared.users.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.shared.table.close();
        }
    }

    /// The wait of a call that names none.
    pub fn timeout(&self) -> Duration {
        Duration::from_millis(self.timeout_ms.load(Ordering::Relaxed))
    }

    /// Sets the wait of a call that names none.
    pub fn set_timeout(&self, timeout: Duration) {
        self.timeout_ms.store(timeout.as_millis() as u64, Ordering::Relaxed);
    }

    /// The port of the server.
    pub fn port(&self) -> Result<u16> {
        self.shared
            .table
            .port()
            .ok_or_else(|| Error::invalid_argument("store is a store in a file, which has no port"))
    }

    fn full(&self, key: &[u8]) -> Result<Vec<u8>> {
        let full = [&self.prefix[..], key].concat();
        check_key(&full)?;
        Ok(full)
    }

    fn all(&self, keys: &[&[u8]]) -> Result<Vec<Vec<u8>>> {
        let full: Vec<Vec<u8>> = keys.iter().map(|key| [&self.prefix[..], key].concat()).collect();
        check_keys(&full)?;
        Ok(full)
    }

    fn within(&self, timeout: Option<Duration>) -> Duration {
        timeout.unwrap_or_else(|| self.timeout())
    }

    /// Sets a value.
    pub fn set(&self, key: &[u8], value: &[u8]) -> Result<()> {
        check_value(value, "value")?;
        self.shared.table.set(&self.full(key)?, value, self.timeout())
    }

    /// Waits for a key, and returns its value.
    pub fn get(&self, key: &[u8], timeout: Option<Duration>) -> Result<Vec<u8>> {
        self.shared.table.get(&self.full(key)?, self.within(timeout))
    }

    /// Adds to a counter, and returns the sum.
    pub fn add(&self, key: &[u8], delta: i64) -> Result<i64> {
        self.shared.table.add(&self.full(key)?, delta, self.timeout())
    }

    /// Adds to a counter that is the store's own and has no prefix.
    pub(super) fn add_own(&self, key: &[u8], delta: i64) -> Result<i64> {
        self.shared.table.add(key, delta, self.timeout())
    }

    /// Sets `desired` if the value is `expected`, and returns the value that is there then.
    pub fn compare_set(&self, key: &[u8], expected: &[u8], desired: &[u8]) -> Result<Vec<u8>> {
        check_value(expected, "expected")?;
        check_value(desired, "desired")?;
        self.shared.table.compare_set(&self.full(key)?, expected, desired, self.timeout())
    }

    /// Whether all keys are there.
    pub fn check(&self, keys: &[&[u8]]) -> Result<bool> {
        self.shared.table.check(&self.all(keys)?, self.timeout())
    }

    /// Waits until all keys are there.
    pub fn wait(&self, keys: &[&[u8]], timeout: Option<Duration>) -> Result<()> {
        self.shared.table.wait(&self.all(keys)?, self.within(timeout))
    }

    /// Deletes a key. Whether it was there.
    pub fn delete_key(&self, key: &[u8]) -> Result<bool> {
        self.shared.table.delete_key(&self.full(key)?, self.timeout())
    }

    /// The number of all keys of the table.
    pub fn num_keys(&self) -> Result<i64> {
        self.shared.table.num_keys(self.timeout())
    }

    /// Waits until `world_size` processes have called it with this name.
    pub fn barrier(&self, name: &[u8], world_size: u32, timeout: Option<Duration>) -> Result<()> {
        barrier::wait_for_all(self, name, world_size, self.within(timeout))
    }
}
