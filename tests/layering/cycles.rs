//! No import cycle: of the files and folders that stand in one folder, none uses itself by way of others.
//!
//! This holds from the root of a crate down, so the modules of a crate have an order, too. A path into a folder counts
//! as a use of that folder, whichever of its files holds the item. What a file takes from its own folder's `mod.rs` is
//! not counted: the items are those of the folder as a whole. Tests may use what they like.

use std::collections::{BTreeMap, BTreeSet};

use crate::assert_none;
use crate::source::{self, Source, sources};

/// For each folder, which of its files and folders uses which.
type Uses = BTreeMap<String, BTreeMap<String, BTreeSet<String>>>;

/// The uses between the files and folders that stand in one folder.
fn uses(sources: &[Source]) -> Uses {
    let modules: BTreeSet<(&str, Vec<String>)> =
        sources.iter().map(|source| (&*source.root, source.module())).collect();
    let mut uses = Uses::new();
    for source in sources {
        let from = source.module();
        let paths = source.code().paths.into_iter().filter(|path| path[0] == "crate");
        for path in paths {
            let path = &path[1..];
            let same = from.iter().zip(path).take_while(|(a, b)| a == b).count();
            let (Some(user), Some(used)) = (from.get(same), path.get(same)) else { continue };
            if modules.contains(&(&source.root, path[..=same].to_vec())) {
                let folder = [std::slice::from_ref(&source.root), &from[..same]].concat().join("/");
                let within = uses.entry(folder).or_default();
                within.entry(user.clone()).or_default().insert(used.clone());
            }
        }
    }
    uses
}

/// What uses itself by way of others of its folder.
fn cyclic(sources: &[Source]) -> Vec<String> {
    let mut found = Vec::new();
    for (folder, uses) in uses(sources) {
        for start in uses.keys() {
            let (mut open, mut seen) = (vec![start], BTreeSet::new());
            while let Some(next) = open.pop() {
                open.extend(uses.get(next).into_iter().flatten().filter(|used| seen.insert(*used)));
            }
            if seen.contains(start) {
                let uses: Vec<&str> = uses[start].iter().map(String::as_str).collect();
                found.push(format!("{folder}/{start} is in a cycle; it uses {}", uses.join(", ")));
            }
        }
    }
    found
}

#[test]
fn no_file_or_folder_uses_itself_by_way_of_others() {
    assert_none(&cyclic(&sources(&source::libraries())));
}

mod planted {
    use super::{Source, cyclic};

    fn of(files: &[(&str, &str)]) -> Vec<String> {
        let source = |(path, text): &(&str, &str)| Source::new("src", &format!("src/{path}"), text);
        let found = cyclic(&files.iter().map(source).collect::<Vec<_>>());
        found.iter().map(|line| line.split(' ').next().unwrap().to_owned()).collect()
    }

    #[test]
    fn cycles_of_files_folders_and_modules_of_the_crate_are_seen() {
        let two = [("a/b.rs", "use super::c::X;"), ("a/c.rs", "fn f() { crate::a::b::g(); }")];
        assert_eq!(of(&two), ["src/a/b", "src/a/c"]);
        let three = [
            ("a/b.rs", "use super::c::X;"),
            ("a/c.rs", "use super::{d::X};"),
            ("a/d.rs", "use super::b::X;"),
        ];
        assert_eq!(of(&three), ["src/a/b", "src/a/c", "src/a/d"]);
        let folders = [
            ("a/b/mod.rs", ""),
            ("a/b/x.rs", "use crate::a::c::Y;"),
            ("a/c/mod.rs", ""),
            ("a/c/y.rs", "use super::super::b::X;"),
        ];
        assert_eq!(of(&folders), ["src/a/b", "src/a/c"]);
        let modules = [
            ("lib.rs", "mod a; mod d; pub use a::X; pub use d::Y;"),
            ("a/mod.rs", ""),
            ("a/b.rs", "use crate::d::X;"),
            ("d.rs", "use crate::a::b::X;"),
        ];
        assert_eq!(of(&modules), ["src/a", "src/d"]);
    }

    #[test]
    fn one_way_uses_tests_and_items_of_the_folder_pass() {
        let one_way =
            [("a/b.rs", "use super::c::X;"), ("a/c.rs", "use super::Item;"), ("a/mod.rs", "")];
        assert_eq!(of(&one_way), [""; 0]);
        let tests = [
            ("a/b.rs", "use super::c::X;"),
            ("a/c.rs", "#[cfg(test)] mod tests { use super::super::b::Y; }"),
            ("a/tests.rs", "use super::b; use super::c;"),
            ("a/mod.rs", "mod b; mod c; use self::b::X;"),
        ];
        assert_eq!(of(&tests), [""; 0]);
    }
}
