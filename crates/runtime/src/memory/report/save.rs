//! Snapshots as files. What is written appears under its name whole or not at all: it is written
//! beside it first, and renamed.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use sconce_base::error::{Error, Result, Status};

use super::snapshot_json;
use super::snapshot_page;
use super::snapshot_pickle;
use crate::memory::Snapshot;

/// Writes the snapshot in the form that the ending of `path` names: `.pickle` for torch's viewers,
/// `.json`, or `.html` for a browser.
pub fn save_snapshot(path: &Path, snapshot: &Snapshot) -> Result<()> {
    let shown = path.display();
    match path.extension().and_then(OsStr::to_str) {
        Some("pickle") => write_whole(path, &snapshot_pickle(snapshot)),
        Some("json") => write_whole(path, snapshot_json(snapshot).as_bytes()),
        Some("html") => write_whole(path, snapshot_page(snapshot).as_bytes()),
        _ => Err(Error::invalid_argument(format!(
            "path is \"{shown}\", whose ending names no form; end it in .pickle, .json or .html"
        ))),
    }
}

fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    write_under(path, bytes, names_beside(path)).map_err(|reason| {
        Error::new(Status::Io, format!("path {} cannot be written: {reason}", path.display()))
    })
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
    use super::super::golden;
    use super::*;

    #[test]
    fn a_file_of_another_process_stays() {
        let folder = Folder::new("foreign");
        let [path, theirs, ours] = ["a.json", "theirs.part", "ours.part"].map(|n| folder.0.join(n));
        fs::write(&theirs, "theirs").unwrap();
        write_under(&path, b"ours", [theirs.clone(), ours.clone()]).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"ours");
        assert_eq!(fs::read(&theirs).unwrap(), b"theirs");
        // Without a free name nothing is written, and nothing removed.
        assert!(write_under(&path, b"again", [theirs.clone()]).is_err());
        // What was begun and could not be finished goes: the name of a folder cannot be taken.
        let taken = folder.0.join("taken.json");
        fs::create_dir_all(taken.join("inside")).unwrap();
        assert!(write_under(&taken, b"ours", [ours.clone()]).is_err());
        assert_eq!(fs::read(&theirs).unwrap(), b"theirs");
        assert!(!ours.exists());
    }

    /// A folder that goes when it is no longer needed.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Folder {
            let name = format!("sconce-report-{name}-{}", std::process::id());
            let folder = std::env::temp_dir().join(name);
            fs::create_dir_all(&folder).unwrap();
            Folder(folder)
        }

        fn names(&self) -> Vec<String> {
            let entries = fs::read_dir(&self.0).unwrap();
            let mut names: Vec<String> =
                entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
            names.sort();
            names
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            fs::remove_dir_all(&self.0).unwrap();
        }
    }

    #[test]
    fn the_ending_chooses_the_form_and_older_files_are_replaced() {
        let folder = Folder::new("forms");
        let snapshot = golden::everything();
        for _ in 0..2 {
            save_snapshot(&folder.0.join("a.b.json"), &snapshot).unwrap();
            save_snapshot(&folder.0.join("a.pickle"), &snapshot).unwrap();
            save_snapshot(&folder.0.join("a.html"), &snapshot).unwrap();
            assert_eq!(folder.names(), ["a.b.json", "a.html", "a.pickle"]);
        }
        let json = fs::read_to_string(folder.0.join("a.b.json")).unwrap();
        assert_eq!(json, snapshot_json(&snapshot));
        assert_eq!(fs::read(folder.0.join("a.pickle")).unwrap(), snapshot_pickle(&snapshot));
        let page = fs::read_to_string(folder.0.join("a.html")).unwrap();
        assert_eq!(page, snapshot_page(&snapshot));
    }

    #[test]
    fn other_endings_are_refused_in_words_that_help() {
        let folder = Folder::new("endings");
        let save = |name: &str| save_snapshot(&folder.0.join(name), &golden::snapshot());
        for name in ["a", "a.txt", "a.JSON", ".json", "a.json.", "a.pickle~", "a.htm"] {
            let refused = save(name).unwrap_err();
            assert_eq!(refused.status(), Status::InvalidArgument, "{name}");
            let message = refused.message();
            assert!(
                message.contains(".pickle, .json or .html") && message.contains(name),
                "{message}"
            );
        }
        assert_eq!(folder.names(), [""; 0]);
    }

    #[test]
    fn a_failure_names_path_and_reason_and_leaves_nothing_behind() {
        let folder = Folder::new("failures");
        let missing = folder.0.join("missing").join("a.json");
        let refused = save_snapshot(&missing, &golden::snapshot()).unwrap_err();
        assert_eq!(refused.status(), Status::Io);
        assert!(refused.message().contains("missing/a.json"), "{refused}");
        assert!(refused.message().contains("No such file"), "{refused}");
        // The rename fails: a folder with something in it stands in the way.
        let taken = folder.0.join("taken.json");
        fs::create_dir_all(taken.join("inside")).unwrap();
        assert_eq!(save_snapshot(&taken, &golden::snapshot()).unwrap_err().status(), Status::Io);
        assert_eq!(folder.names(), ["taken.json"]);
    }
}
