//! Files that appear under their names whole or not at all: each is written beside its place first, and renamed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// Writes a file, in place of an older one. What is no file but a device or a pipe stays, and receives the bytes; a
/// link to a file stays, too.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let kind = fs::metadata(path).map(|found| found.file_type());
    if kind.as_ref().is_ok_and(|kind| !kind.is_file() && !kind.is_dir()) {
        return OpenOptions::new().write(true).open(path)?.write_all(bytes);
    }
    if kind.is_ok() && fs::symlink_metadata(path)?.is_symlink() {
        let path = fs::canonicalize(path)?;
        return write_under(&path, bytes, names_beside(&path));
    }
    write_under(path, bytes, names_beside(path))
}

/// Writes a new file under the first name that is free, and renames it to `path`.
fn write_under(
    path: &Path,
    bytes: &[u8],
    names: impl IntoIterator<Item = PathBuf>,
) -> io::Result<()> {
    let mut outcome = Err(io::Error::from(io::ErrorKind::AlreadyExists));
    for name in names {
        match File::create_new(&name) {
            Ok(file) => {
                // From here on the file is ours, and only ours is removed.
                return fill_and_rename(file, &name, path, bytes)
                    .inspect_err(|_| drop(fs::remove_file(&name)));
            }
            Err(reason) if reason.kind() == io::ErrorKind::AlreadyExists => outcome = Err(reason),
            Err(reason) => return Err(reason),
        }
    }
    outcome
}

fn fill_and_rename(mut file: File, name: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(name, path)
}

/// Names in the same folder, so that renaming does not copy. Another process may use the first: in
/// another container, with the same process id.
fn names_beside(path: &Path) -> impl Iterator<Item = PathBuf> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    (0..100).map(move |_| {
        let call = NEXT.fetch_add(1, Ordering::Relaxed);
        let now =
            SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.subsec_nanos());
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".{}-{call}-{now:x}.part", std::process::id()));
        PathBuf::from(name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_and_links_stay() {
        assert!(write(Path::new("/dev/full"), b"bytes").is_err());
        assert!(!fs::metadata("/dev/full").unwrap().is_file());
        let folder = std::env::temp_dir().join(format!("sconce-whole-link-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let [file, link] = ["file", "link"].map(|name| folder.join(name));
        fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write(&link, b"new").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&file).unwrap(), b"new");
        // A link to nothing becomes the file.
        fs::remove_file(&file).unwrap();
        write(&link, b"again").unwrap();
        assert_eq!(fs::read(&link).unwrap(), b"again");
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_file_of_another_process_stays() {
        let folder = std::env::temp_dir().join(format!("sconce-whole-file-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let [path, theirs, ours] = ["a.json", "theirs.part", "ours.part"].map(|n| folder.join(n));
        fs::write(&theirs, "theirs").unwrap();
        write_under(&path, b"ours", [theirs.clone(), ours.clone()]).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"ours");
        assert_eq!(fs::read(&theirs).unwrap(), b"theirs");
        // Without a free name nothing is written, and nothing removed.
        assert!(write_under(&path, b"again", [theirs.clone()]).is_err());
        // What was begun and could not be finished goes: the name of a folder cannot be taken.
        let taken = folder.join("taken.json");
        fs::create_dir_all(taken.join("inside")).unwrap();
        assert!(write_under(&taken, b"ours", [ours.clone()]).is_err());
        assert_eq!(fs::read(&theirs).unwrap(), b"theirs");
        assert!(!ours.exists());
        fs::remove_dir_all(&folder).unwrap();
    }
}
