//! Few files stand in a folder, and a folder of a library with more than a handful has a table in its `mod.rs` (a crate
//! in its `lib.rs`) that names each of them.

use std::collections::{BTreeMap, BTreeSet};

use crate::assert_none;
use crate::source::{self, Source, is_root, sources};

/// How many files may stand in one folder beside its `mod.rs`.
const MOST: usize = 15;
/// How many files and folders may do so without a table.
const WITHOUT_TABLE: usize = 5;

/// What stands in a folder, tests left out.
#[derive(Default)]
struct Folder {
    files: usize,
    /// The names of its files and folders.
    names: BTreeSet<String>,
    /// The names in its table.
    tabled: BTreeSet<String>,
}

fn folders(sources: &[Source]) -> BTreeMap<String, Folder> {
    let mut folders = BTreeMap::<String, Folder>::new();
    for source in sources.iter().filter(|source| !source.is_test()) {
        let (folder, file) = source.path.rsplit_once('/').unwrap();
        let entry = folders.entry(folder.to_owned()).or_default();
        if is_root(file) {
            entry.tabled = tabled(&source.text);
        } else {
            entry.files += 1;
        }
        let module = source.module();
        if let Some((name, above)) = module.split_last() {
            let above = [std::slice::from_ref(&source.root), above].concat().join("/");
            folders.entry(above).or_default().names.insert(name.clone());
        }
    }
    folders
}

/// The names in the tables of a text's comments.
fn tabled(text: &str) -> BTreeSet<String> {
    let rows = text.lines().filter(|line| line.starts_with("//! |"));
    let cells = rows.filter_map(|row| row.split('|').nth(1));
    let names = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2));
    names.map(|name| name.trim_end_matches(['/', ':']).trim_end_matches(".rs").to_owned()).collect()
}

fn faults(sources: &[Source]) -> Vec<String> {
    let mut wrong = Vec::new();
    for (path, folder) in folders(sources) {
        if folder.files > MOST {
            wrong.push(format!("{path}: {} files, more than {MOST}", folder.files));
        }
        let lacking: Vec<&str> =
            folder.names.difference(&folder.tabled).map(String::as_str).collect();
        let has_table = path.split('/').any(|part| part == "src");
        if has_table && folder.names.len() > WITHOUT_TABLE && !lacking.is_empty() {
            wrong.push(format!("{path}: its table lacks {}", lacking.join(", ")));
        }
    }
    wrong
}

#[test]
fn folders_are_small_and_have_tables() {
    assert_none(&faults(&sources(&source::all())));
}

#[test]
fn planted_full_folders_and_tables_without_names_are_seen() {
    let of = |files: usize, table: &str| {
        let file = |name: &str, text: &str| Source::new("src", &format!("src/a/{name}.rs"), text);
        let files = (0..files).map(|i| file(&format!("f{i:02}"), ""));
        faults(&files.chain([file("mod", table), file("tests", "")]).collect::<Vec<_>>())
    };
    let table = "//! | file | what |\n//! | `f00`, `f01/` | x |\n//! | [`f02`] | `f05` |\n//! | `f03.rs` | x |";
    assert_eq!(of(5, ""), [""; 0]);
    assert_eq!(of(6, table), ["src/a: its table lacks f04, f05"]);
    assert_eq!(of(6, &format!("{table}\n//! | `f04` | x |\n//! | `f05` | x |")), [""; 0]);
    let rows: String = (0..16).map(|i| format!("//! | `f{i:02}` |\n")).collect();
    assert_eq!(of(15, &rows), [""; 0]);
    assert_eq!(of(16, &rows), ["src/a: 16 files, more than 15"]);
}
