//! Private folders: made for this user alone, removed when they are dropped, or else at exit.

#![allow(unsafe_code, reason = "mkdtemp and atexit")]

use std::ffi::{CString, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, Once, PoisonError};

use crate::error::{Error, Result};

/// Folders that exist.
static FOLDERS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
static AT_EXIT: Once = Once::new();

/// A folder with a new name that only this user can enter.
#[derive(Debug)]
pub struct PrivateFolder(PathBuf);

impl PrivateFolder {
    /// A new folder in `TMPDIR`, or in /tmp.
    pub fn new() -> Result<PrivateFolder> {
        let parent = std::env::var_os("TMPDIR").filter(|folder| !folder.is_empty());
        let parent = parent.unwrap_or_else(|| OsString::from("/tmp"));
        let template = Path::new(&parent).join("sconce-torch-XXXXXX");
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
        });
        Ok(PrivateFolder(path))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Writes a file of the folder.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<PathBuf> {
        let path = self.0.join(name);
        std::fs::write(&path, bytes).map_err(|why| {
            Error::io(format!(
                "{} could not be written: {why}; set TMPDIR to a folder with room",
                path.display()
            ))
        })?;
        Ok(path)
    }
}

impl Drop for PrivateFolder {
    fn drop(&mut self) {
        let mut folders = FOLDERS.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = folders.iter().position(|folder| *folder == self.0) {
            folders.swap_remove(at);
            // One that somebody removed, or that cannot be removed, is nobody's concern any more.
            let _ = std::fs::remove_dir_all(&self.0);
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
