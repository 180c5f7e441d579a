//! A store in a file that every process appends to.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use sconce_base::error::{Error, Result, Status};
use sconce_base::lock::{Mutex, rank};

use super::deadline::Deadline;
use super::limits::{MOST_TABLE_BYTES, shown, sum_of};
use super::records::{Replay, deletion, record};
use super::{KeyValueStore, missing_keys};

/// How long to wait before another look at the file or its lock.
const LOOK_AGAIN: Duration = Duration::from_millis(10);
/// Counts the stores that are open.
const REFERENCES: &[u8] = b"refcount/";
/// Counts the stores that have been closed.
const FINISHED: &[u8] = b"cleanup/";
/// The most bytes of a file: old values stay in it.
const MOST_FILE_BYTES: u64 = 4 * MOST_TABLE_BYTES as u64;

pub(super) struct FileStore {
    path: PathBuf,
    world_size: u32,
    timeout: Duration,
    seen: Mutex<rank::StoreFile, Seen>,
    is_closed: AtomicBool,
    process: u32,
}

/// What is known of the file.
#[derive(Default)]
struct Seen {
    replay: Replay,
    /// The file that was read, by its device and number: another one of the same name is read from its beginning.
    file: (u64, u64),
}

impl FileStore {
    pub(super) fn open(path: &str, world_size: u32, timeout: Duration) -> Result<FileStore> {
        let store = FileStore {
            path: PathBuf::from(path),
            world_size,
            timeout,
            seen: Mutex::default(),
            is_closed: AtomicBool::new(false),
            process: std::process::id(),
        };
        store.add(REFERENCES, 1, timeout)?;
        Ok(store)
    }

    fn failed(&self, what: &str, why: impl std::fmt::Display) -> Error {
        Error::new(Status::Io, format!("the store's file {}: {what}: {why}", self.path.display()))
    }

    /// Opens the file, with its lock, which ends with the result.
    fn locked(&self, deadline: Deadline) -> Result<File> {
        let open = OpenOptions::new().read(true).append(true).create(true).open(&self.path);
        let file = open.map_err(|why| self.failed("cannot be opened", why))?;
        loop {
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(file),
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(why) => return Err(self.failed("cannot be locked", why)),
            }
            match deadline.left() {
                Some(left) => sleep(LOOK_AGAIN.min(left)),
                None => {
                    return Err(Error::new(
                        Status::Timeout,
                        format!(
                            "the store's file {} is locked by another process for more than {} ms",
                            self.path.display(),
                            deadline.ms()
                        ),
                    ));
                }
            }
        }
    }

    /// Reads what others have appended.
    fn refresh(&self, file: &mut File, seen: &mut Seen) -> Result<()> {
        let data = file.metadata().map_err(|why| self.failed("cannot be examined", why))?;
        let identity = (data.dev(), data.ino());
        if identity != seen.file || data.len() < seen.replay.read {
            *seen = Seen { replay: Replay::default(), file: identity };
        }
        if data.len() == seen.replay.read {
            return Ok(());
        }
        if data.len() > MOST_FILE_BYTES {
            return Err(self.failed("is too large", format!("{} bytes", data.len())));
        }
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(seen.replay.read))
            .and_then(|_| file.take(data.len() - seen.replay.read).read_to_end(&mut bytes))
            .map_err(|why| self.failed("cannot be read", why))?;
        seen.replay
            .extend(&bytes)
            .map_err(|why| self.failed("is damaged; remove it and start the job again", why))
    }

    /// Looks at the values with the file's lock held, and appends what the look returns.
    fn with_file<T>(
        &self,
        timeout: Duration,
        look: impl FnOnce(&Replay) -> Result<(T, Vec<u8>)>,
    ) -> Result<T> {
        if self.process != std::process::id() {
            return Err(Error::new(
                Status::Forked,
                "the store is the parent process's; make a store in the child",
            ));
        }
        let deadline = Deadline::after(timeout);
        let mut file = self.locked(deadline)?;
        let mut seen = self.seen.lock();
        self.refresh(&mut file, &mut seen)?;
        let (result, appended) = look(&seen.replay)?;
        if !appended.is_empty() {
            file.write_all(&appended).map_err(|why| self.failed("cannot be written", why))?;
        }
        Ok(result)
    }

    /// Looks again and again until there is a result.
    fn poll<T>(
        &self,
        keys: &[Vec<u8>],
        timeout: Duration,
        look: impl Fn(&Replay) -> Option<T>,
    ) -> Result<T> {
        let deadline = Deadline::after(timeout);
        loop {
            if self.is_closed.load(Ordering::Acquire) {
                return Err(Error::invalid_state("the store was destroyed while the call used it"));
            }
            let found = self.with_file(self.timeout, |replay| Ok((look(replay), Vec::new())))?;
            if let Some(found) = found {
                return Ok(found);
            }
            match deadline.left() {
                Some(left) => sleep(LOOK_AGAIN.min(left)),
                None => return Err(missing_keys(keys, deadline)),
            }
        }
    }

    /// Counts the store as closed, and removes the file if it was the last one.
    fn finish(&self) -> Result<()> {
        if !Path::exists(&self.path) {
            return Ok(());
        }
        let (references, finished) = self.with_file(self.timeout, |replay| {
            let counted = |key: &[u8], delta| {
                sum_of(replay.values.get(key).map(Vec::as_slice), delta)
                    .map_err(|why| self.failed("is damaged", why))
            };
            let (references, finished) = (counted(REFERENCES, -1)?, counted(FINISHED, 1)?);
            let mut appended = record(REFERENCES, references.to_string().as_bytes());
            appended.extend(record(FINISHED, finished.to_string().as_bytes()));
            Ok(((references, finished), appended))
        })?;
        if references <= 0 && self.world_size > 0 && finished >= i64::from(self.world_size) {
            std::fs::remove_file(&self.path)
                .map_err(|why| self.failed("cannot be removed", why))?;
        }
        Ok(())
    }
}

impl Drop for FileStore {
    fn drop(&mut self) {
        if self.process == std::process::id()
            && let Err(error) = self.finish()
        {
            sconce_base::log::warn(format_args!("a store was not closed: {}", error.message()));
        }
    }
}

impl KeyValueStore for FileStore {
    fn set(&self, key: &[u8], value: &[u8], timeout: Duration) -> Result<()> {
        self.with_file(timeout, |_| Ok(((), record(key, value))))
    }

    fn get(&self, key: &[u8], timeout: Duration) -> Result<Vec<u8>> {
        self.poll(&[key.to_vec()], timeout, |replay| replay.values.get(key).cloned())
    }

    fn add(&self, key: &[u8], delta: i64, timeout: Duration) -> Result<i64> {
        self.with_file(timeout, |replay| {
            let sum = sum_of(replay.values.get(key).map(Vec::as_slice), delta).map_err(|why| {
                Error::invalid_state(format!("cannot add to the key \"{}\", {why}", shown(key)))
            })?;
            Ok((sum, record(key, sum.to_string().as_bytes())))
        })
    }

    fn compare_set(
        &self,
        key: &[u8],
        expected: &[u8],
        desired: &[u8],
        timeout: Duration,
    ) -> Result<Vec<u8>> {
        self.with_file(timeout, |replay| {
            let value = replay.values.get(key).map(Vec::as_slice);
            if value.unwrap_or_default() == expected {
                return Ok((desired.to_vec(), record(key, desired)));
            }
            Ok((value.unwrap_or(expected).to_vec(), Vec::new()))
        })
    }

    fn check(&self, keys: &[Vec<u8>], timeout: Duration) -> Result<bool> {
        self.with_file(timeout, |replay| {
            Ok((keys.iter().all(|key| replay.values.contains_key(key)), Vec::new()))
        })
    }

    fn wait(&self, keys: &[Vec<u8>], timeout: Duration) -> Result<()> {
        self.poll(keys, timeout, |replay| {
            keys.iter().all(|key| replay.values.contains_key(key)).then_some(())
        })
    }

    fn delete_key(&self, key: &[u8], timeout: Duration) -> Result<bool> {
        self.with_file(timeout, |replay| {
            let is_there = replay.values.contains_key(key);
            Ok((is_there, if is_there { deletion(key) } else { Vec::new() }))
        })
    }

    fn num_keys(&self, timeout: Duration) -> Result<i64> {
        self.with_file(timeout, |replay| Ok((replay.values.len() as i64, Vec::new())))
    }

    fn port(&self) -> Option<u16> {
        None
    }

    fn close(&self) {
        self.is_closed.store(true, Ordering::Release);
    }
}
