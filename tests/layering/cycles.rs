//! No import cycle within a room: of the files and folders that stand in one folder, none uses itself by way of
//! others.
//!
//! A path into a folder counts as a use of that folder, whichever of its files holds the item. What a file takes from
//! its own folder's `mod.rs` is not counted: the items are those of the room as a whole. Tests may use what they like.

use std::collections::{BTreeMap, BTreeSet};

use crate::source::{Source, crate_sources, is_test, paths};
use crate::{against, assert_none};

/// The files and folders that are in a cycle with others of their folder.
const ADMITTED: &[&str] = &[];

/// For each folder, which of its files and folders uses which.
type Uses = BTreeMap<String, BTreeMap<String, BTreeSet<String>>>;

/// The uses between the files and folders that stand in one folder.
fn uses(sources: &[Source]) -> Uses {
    let modules: BTreeSet<Vec<String>> = sources.iter().map(Source::module).collect();
    let mut uses = Uses::new();
    for source in sources.iter().filter(|source| !is_test(&source.path)) {
        let from = source.module();
        for named in paths(source).into_iter().filter(|named| !named.by_tests) {
            let same = from.iter().zip(&named.path).take_while(|(a, b)| a == b).count();
            let (Some(user), Some(used)) = (from.get(same), named.path.get(same)) else { continue };
            let folder = &from[..same];
            if same == 0 || !modules.contains(&[folder, std::slice::from_ref(used)].concat()) {
                continue; // Between rooms, or an item of the folder's own `mod.rs`.
            }
            let within = uses.entry(folder.join("/")).or_default();
            within.entry(user.clone()).or_default().insert(used.clone());
        }
    }
    uses
}

/// What uses itself by way of others of its folder.
fn cyclic(sources: &[Source]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (folder, uses) in uses(sources) {
        for start in uses.keys() {
            let (mut open, mut seen) = (vec![start], BTreeSet::new());
            while let Some(next) = open.pop() {
                open.extend(uses.get(next).into_iter().flatten().filter(|used| seen.insert(*used)));
            }
            if seen.contains(start) {
                found.insert(format!("{folder}/{start}"));
            }
        }
    }
    found
}

#[test]
fn no_file_of_a_room_uses_itself_by_way_of_others() {
    let roots = ["src", "torch/src"];
    let found = roots.iter().flat_map(|root| {
        cyclic(&crate_sources(root)).into_iter().map(move |name| format!("{root}/{name}"))
    });
    assert_none(&against(
        &found.collect(),
        ("cycles.rs", "ADMITTED", ADMITTED),
        "uses itself by way of others of its folder",
    ));
}

mod planted {
    use super::{Source, cyclic};

    fn of(files: &[(&str, &str)]) -> Vec<String> {
        let sources: Vec<Source> =
            files.iter().map(|(path, text)| Source::new(path, text)).collect();
        cyclic(&sources).into_iter().collect()
    }

    #[test]
    fn cycles_of_files_and_of_folders_are_seen() {
        let two = [("a/b.rs", "use super::c::X;"), ("a/c.rs", "fn f() { crate::a::b::g(); }")];
        assert_eq!(of(&two), ["a/b", "a/c"]);
        let three = [
            ("a/b.rs", "use super::c::X;"),
            ("a/c.rs", "use super::d::X;"),
            ("a/d.rs", "use super::b::X;"),
        ];
        assert_eq!(of(&three), ["a/b", "a/c", "a/d"]);
        let folders = [
            ("a/b/mod.rs", ""),
            ("a/b/x.rs", "use crate::a::c::Y;"),
            ("a/c/mod.rs", ""),
            ("a/c/y.rs", "use crate::a::b::X;"),
        ];
        assert_eq!(of(&folders), ["a/b", "a/c"]);
    }

    #[test]
    fn one_way_uses_tests_and_items_of_the_room_pass() {
        let one_way =
            [("a/b.rs", "use super::c::X;"), ("a/c.rs", "use super::Item;"), ("a/mod.rs", "")];
        assert_eq!(of(&one_way), [""; 0]);
        let tests = [
            ("a/b.rs", "use super::c::X;"),
            ("a/c.rs", "mod tests { use super::super::b::Y; }"),
            ("a/tests.rs", "use super::b; use super::c;"),
        ];
        assert_eq!(of(&tests), [""; 0]);
        let rooms = [("a/b.rs", "use crate::d::e::X;"), ("d/e.rs", "use crate::a::b::X;")];
        assert_eq!(of(&rooms), [""; 0], "cycles between rooms are judged by floors");
    }
}
