//! Few files stand in a folder, and a folder with more than a handful has a table in its `mod.rs` (the crate in
//! `lib.rs`) that names each of them.

use std::collections::{BTreeMap, BTreeSet};

use crate::source::{Source, crate_sources, is_test};
use crate::{against, assert_none};

/// How many files may stand in one folder beside its `mod.rs`.
const MOST: usize = 15;
/// How many files and folders may do so without a table.
const WITHOUT_TABLE: usize = 5;

/// Folders with more.
const FULL: &[&str] = &[];
/// Folders whose tables lack names.
const WITHOUT_NAMES: &[&str] = &[];

/// The names of what stands in each folder, tests left out, and the text that holds the folder's table.
fn folders(root: &str, sources: &[Source]) -> BTreeMap<String, (BTreeSet<String>, String)> {
    let mut folders = BTreeMap::<String, (BTreeSet<String>, String)>::new();
    for source in sources {
        let path = format!("{root}/{}", source.path);
        let (mut folder, name) = path.rsplit_once('/').unwrap();
        if matches!(name, "mod.rs" | "lib.rs" | "main.rs") {
            folders.entry(folder.to_owned()).or_default().1 = source.text.clone();
        }
        let mut name = name.trim_end_matches(".rs");
        if matches!(name, "mod" | "lib" | "main") {
            let Some((above, own)) = folder.rsplit_once('/') else { continue };
            (folder, name) = (above, own);
        }
        if !is_test(&source.path) {
            folders.entry(folder.to_owned()).or_default().0.insert(name.to_owned());
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

fn full(root: &str, sources: &[Source]) -> BTreeSet<String> {
    let mut counts = BTreeMap::<String, usize>::new();
    for source in sources.iter().filter(|source| !is_test(&source.path)) {
        let path = format!("{root}/{}", source.path);
        let (folder, name) = path.rsplit_once('/').unwrap();
        if !matches!(name, "mod.rs" | "lib.rs" | "main.rs") {
            *counts.entry(folder.to_owned()).or_default() += 1;
        }
    }
    counts.into_iter().filter(|(_, count)| *count > MOST).map(|(folder, _)| folder).collect()
}

/// Folders with a name that their table lacks, each with these names.
fn without_names(root: &str, sources: &[Source]) -> BTreeMap<String, Vec<String>> {
    let mut found = BTreeMap::new();
    for (folder, (names, text)) in folders(root, sources) {
        let tabled = tabled(&text);
        let lacking: Vec<String> = names.difference(&tabled).cloned().collect();
        if names.len() > WITHOUT_TABLE && !lacking.is_empty() {
            found.insert(folder, lacking);
        }
    }
    found
}

#[test]
fn no_folder_is_too_full() {
    let roots = ["src", "torch/src", "testkit/src", "tests"];
    let found = roots.iter().flat_map(|root| full(root, &crate_sources(root))).collect();
    assert_none(&against(&found, ("folders.rs", "FULL", FULL), &format!("more than {MOST} files")));
}

#[test]
fn a_folders_table_names_what_stands_in_it() {
    let roots = ["src", "torch/src", "testkit/src"];
    let lacking: BTreeMap<_, _> =
        roots.iter().flat_map(|root| without_names(root, &crate_sources(root))).collect();
    let folders = lacking.keys().cloned().collect();
    let mut wrong =
        against(&folders, ("folders.rs", "WITHOUT_NAMES", WITHOUT_NAMES), "its table lacks names");
    for line in &mut wrong {
        let folder = line.split(':').next().and_then(|folder| lacking.get(folder));
        line.push_str(&folder.map(|names| format!(": {}", names.join(", "))).unwrap_or_default());
    }
    assert_none(&wrong);
}

mod planted {
    use super::{Source, full, without_names};

    fn sources(files: usize, table: &str) -> Vec<Source> {
        let names = (0..files).map(|i| Source::new(&format!("a/f{i}.rs"), ""));
        names.chain([Source::new("a/mod.rs", table), Source::new("a/tests.rs", "")]).collect()
    }

    #[test]
    fn a_full_folder_is_seen() {
        assert_eq!(full("src", &sources(15, "")).len(), 0);
        assert_eq!(full("src", &sources(16, "")).into_iter().collect::<Vec<_>>(), ["src/a"]);
    }

    #[test]
    fn a_table_that_lacks_a_name_is_seen() {
        let table = "//! | file | what |\n//! | `f0`, `f1` | x |\n//! | `f2` | `f5` |\n//! | `f3` | x |\n//! `f4`";
        assert_eq!(without_names("src", &sources(4, "")).len(), 0);
        assert_eq!(without_names("src", &sources(6, table))["src/a"], ["f4", "f5"]);
        let whole = format!("{table}\n//! | `f4` | x |\n//! | `f5` | x |");
        assert_eq!(without_names("src", &sources(6, &whole)).len(), 0);
    }
}
