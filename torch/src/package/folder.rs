//! Private folders: made for this user alone, and removed when they are dropped, or else at exit.
//!
//! A process that is killed leaves its folders. Each has a file that its process keeps locked, so the next process that
//! makes one in the same place finds them and removes them.

#![allow(unsafe_code, reason = "mkdtemp, flock and atexit")]

use std::ffi::{CString, OsString};
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, Once, PoisonError};

use crate::error::{Error, Result};

/// How names of private folders begin.
const BEGIN: &str = "sconce-torch-";
/// The file of a folder that its process keeps locked, and its name until it is.
const LOCK: &str = "lock";
const UNLOCKED: &str = "unlocked";

/// Folders that exist.
static FOLDERS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
static AT_EXIT: Once = Once::new();

/// A folder with a new name that only this user can enter.
#[derive(Debug)]
pub struct PrivateFolder {
    path: PathBuf,
    /// Locked while it is open.
    _lock: File,
}

/// `TMPDIR`, or /tmp.
pub(super) fn parent() -> OsString {
    let parent = std::env::var_os("TMPDIR").filter(|folder| !folder.is_empty());
    parent.unwrap_or_else(|| OsString::from("/tmp"))
}

impl PrivateFolder {
    /// A new folder in `TMPDIR`, or in /tmp.
    pub fn new() -> Result<PrivateFolder> {
        let parent = parent();
        let template = Path::new(&parent).join(format!("{BEGIN}XXXXXX"));
        let template = CString::new(template.as_os_str().as_bytes())
            .map_err(|_| Error::io("TMPDIR contains a NUL"))?;
        let mut bytes = template.into_bytes_with_nul();
        // SAFETY: the template ends with XXXXXX and NUL, and is written in place.
        let made = unsafe { libc::mkdtemp(bytes.as_mut_ptr().cast()) };
        if made.is_null() {
            return Err(Error::io(format!(
                "a private folder could not be made in {}: {}; set TMPDIR to a folder that can be written",
                Path::new(&parent).display(),
                std::io::Error::last_os_error()
            )));
        }
        bytes.pop();
        let path = PathBuf::from(OsString::from_vec(bytes));
        FOLDERS.lock().unwrap_or_else(PoisonError::into_inner).push(path.clone());
        AT_EXIT.call_once(|| {
            OWNER.store(std::process::id(), std::sync::atomic::Ordering::Relaxed);
            // SAFETY: the function has no preconditions.
            unsafe { libc::atexit(remove_all) };
            remove_left(Path::new(&parent));
        });
        let lock = locked(&path).map_err(|why| {
            let _ = std::fs::remove_dir_all(&path);
            Error::io(format!("{} could not be written to: {why}", path.display()))
        })?;
        Ok(PrivateFolder { path, _lock: lock })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a file of the folder.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<PathBuf> {
        let path = self.path.join(name);
        std::fs::write(&path, bytes).map_err(|why| {
            Error::io(format!(
                "{} could not be written: {why}; set TMPDIR to a folder with free space",
                path.display()
            ))
        })?;
        Ok(path)
    }
}

impl Drop for PrivateFolder {
    fn drop(&mut self) {
        let mut folders = FOLDERS.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = folders.iter().position(|folder| *folder == self.path) {
            folders.swap_remove(at);
            // One that somebody removed, or that cannot be removed, is nobody's concern any more.
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }
}

/// Locks a file, if nobody else has.
fn lock(file: &File) -> std::io::Result<()> {
    // SAFETY: the descriptor is open as long as the file.
    match unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}

/// A locked file in a new folder, which has its name when it is locked.
fn locked(folder: &Path) -> std::io::Result<File> {
    let unlocked = folder.join(UNLOCKED);
    let file = File::create_new(&unlocked)?;
    lock(&file)?;
    std::fs::rename(unlocked, folder.join(LOCK))?;
    Ok(file)
}

/// Removes the folders of this user whose processes have ended.
fn remove_left(parent: &Path) {
    let Ok(entries) = std::fs::read_dir(parent) else { return };
    // SAFETY: no preconditions.
    let user = unsafe { libc::geteuid() };
    let folders = entries.flatten().filter(|entry| {
        entry.file_name().as_bytes().starts_with(BEGIN.as_bytes())
            && entry.metadata().is_ok_and(|kind| kind.is_dir() && kind.uid() == user)
    });
    for folder in folders.map(|entry| entry.path()) {
        // Without the file it is being made, or not of this version.
        if File::open(folder.join(LOCK)).is_ok_and(|file| lock(&file).is_ok()) {
            let _ = std::fs::remove_dir_all(folder);
        }
    }
}

/// Removes the folders of models that were not unloaded.
extern "C" fn remove_all() {
    // A forked child that ends leaves the folders to its parent, whose list it has.
    let Ok(mut folders) = FOLDERS.try_lock() else { return };
    if OWNER.load(std::sync::atomic::Ordering::Relaxed) != std::process::id() {
        return;
    }
    for folder in folders.drain(..) {
        let _ = std::fs::remove_dir_all(folder);
    }
}

/// The process that made the first folder.
static OWNER: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_ended_processes_are_removed_and_others_stay() {
        let parent = PrivateFolder::new().unwrap();
        let make = |name: &str| {
            let path = parent.path().join(name);
            std::fs::create_dir(&path).unwrap();
            std::fs::write(path.join("file"), b"bytes").unwrap();
            path
        };
        let ended = make("sconce-torch-ended");
        drop(locked(&ended).unwrap());
        let lives = make("sconce-torch-lives");
        let lock = locked(&lives).unwrap();
        let others = [make("sconce-torch-unlocked"), make("another")];
        std::fs::write(others[1].join(LOCK), b"").unwrap();
        remove_left(parent.path());
        assert!(!ended.exists());
        assert!(
            lives.join("file").exists() && others.iter().all(|other| other.join("file").exists())
        );
        drop(lock);
        remove_left(parent.path());
        assert!(!lives.exists());
    }
}
