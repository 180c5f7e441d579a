//! Files of libraries that have no name, so that nothing stays of a process that is killed.
//!
//! The loader opens such a file through `/proc/self/fd`. It takes two libraries with one path for the same, and numbers
//! of descriptors are used again, so each path is spelled in another way: `/proc/self/fd/.//7` is the second file's.

use std::fs::File;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::folder::{PrivateFolder, parent};
use crate::error::{Error, Result};

/// How many files have been made.
static COUNT: AtomicU64 = AtomicU64::new(0);

/// A file of a library, which the loader is to open while this lives. It has no name, or is in a private folder of its
/// own where the system has no files without names.
#[derive(Debug)]
pub struct LibraryFile {
    file: File,
    path: PathBuf,
    /// Removed with this value.
    _folder: Option<PrivateFolder>,
}

/// The path of an open file, of which no other has had the same spelling.
fn spelled(descriptor: i32, count: u64) -> PathBuf {
    let mut path = String::from("/proc/self/fd/");
    for bit in (0..u64::BITS - count.leading_zeros()).rev() {
        path.push_str(if count >> bit & 1 == 1 { "./" } else { "/" });
    }
    path.push_str(&descriptor.to_string());
    PathBuf::from(path)
}

impl LibraryFile {
    /// A new file in `TMPDIR`, or in /tmp. Its name is used where a file must have one.
    pub fn new(name: &str) -> Result<LibraryFile> {
        if let Some(file) = LibraryFile::unnamed(Path::new(&parent())) {
            return Ok(file);
        }
        let folder = PrivateFolder::new()?;
        let path = folder.path().join(name);
        let file = File::create_new(&path).map_err(|why| failed(&path, &why))?;
        Ok(LibraryFile { file, path, _folder: Some(folder) })
    }

    /// None if the file system or the system has no such files.
    fn unnamed(parent: &Path) -> Option<LibraryFile> {
        let mut options = File::options();
        options.read(true).write(true).mode(0o700).custom_flags(libc::O_TMPFILE);
        let file = options.open(parent).ok()?;
        let count = COUNT.fetch_add(1, Ordering::Relaxed) + 1;
        let path = spelled(file.as_raw_fd(), count);
        // There may be no /proc.
        File::open(&path).ok()?;
        Some(LibraryFile { file, path, _folder: None })
    }

    /// A file with these bytes.
    pub fn with(name: &str, bytes: &[u8]) -> Result<LibraryFile> {
        let mut file = LibraryFile::new(name)?;
        file.write(bytes)?;
        Ok(file)
    }

    /// Writes behind what is written.
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.write_all(bytes).map_err(|why| failed(&self.path, &why))
    }

    /// Where the loader finds it.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

fn failed(path: &Path, why: &std::io::Error) -> Error {
    let parent = parent();
    let place = if path.starts_with("/proc") { Path::new(&parent) } else { path };
    Error::io(format!(
        "a library could not be written to {}: {why}; set TMPDIR to a folder with free space",
        place.display()
    ))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::ffi::OsString;

    use super::*;

    #[test]
    fn files_have_no_name_and_each_path_its_own_spelling() {
        let folder = PrivateFolder::new().unwrap();
        let entries = || std::fs::read_dir(folder.path()).unwrap().count();
        let before = entries();
        // Paths that are equal may be spelled in several ways: the spellings are compared.
        let mut spellings: HashSet<OsString> = HashSet::new();
        for turn in 0..20_u8 {
            let mut file = LibraryFile::unnamed(folder.path()).unwrap();
            file.write(&[turn]).unwrap();
            file.write(b"!").unwrap();
            assert_eq!(std::fs::read(file.path()).unwrap(), [turn, b'!']);
            assert_eq!(entries(), before);
            assert!(spellings.insert(file.path().into()), "{}", file.path().display());
        }
        let spelled: HashSet<OsString> = (1..300)
            .flat_map(|count| (3..20).map(move |file| spelled(file, count).into_os_string()))
            .collect();
        assert_eq!(spelled.len(), 299 * 17);
    }
}
