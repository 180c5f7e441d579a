//! Snapshots as files, which appear whole or not at all.

use std::ffi::OsStr;
use std::path::Path;

use sconce_base::error::{Error, Result, Status};
use sconce_base::whole_file;

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
    whole_file::write(path, bytes).map_err(|reason| {
        Error::new(Status::Io, format!("path {} cannot be written: {reason}", path.display()))
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use super::super::golden;
    use super::*;

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
