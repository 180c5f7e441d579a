//! A type's name is unique in the crate: what a reader finds by its name is what was meant.

use std::collections::{BTreeMap, BTreeSet};

use crate::source::{Source, crate_sources, is_test, tokens};
use crate::{against, assert_none};

/// Names that several types have.
const ADMITTED: &[&str] = &[];

/// The types that a file defines outside its tests, functions and implementations.
fn types(source: &Source) -> Vec<String> {
    let tokens = tokens(&source.text);
    let word = |i: usize| tokens.get(i).map_or("", |token| token.0.as_str());
    // For each open brace, whether types within count: those of inline modules do.
    let (mut open, mut found, mut module) = (vec![true], Vec::new(), None);
    for i in 0..tokens.len() {
        match word(i) {
            "mod" if word(i + 2) == "{" => {
                module = Some(!matches!(word(i + 1), "tests" | "loom_models"))
            }
            "{" => open.push(open.last() == Some(&true) && module.take() == Some(true)),
            "}" => drop(open.pop()),
            "struct" | "enum" | "union" | "trait" | "type" if open.last() == Some(&true) => {
                let name = word(i + 1);
                if name.starts_with(char::is_alphabetic)
                    && matches!(word(i + 2), "{" | "(" | "<" | ";" | ":" | "=" | "where")
                {
                    found.push(name.to_owned());
                }
            }
            _ => {}
        }
    }
    found
}

/// The names that more than one type has.
fn repeated(sources: &[Source]) -> BTreeSet<String> {
    let mut counts = BTreeMap::<String, usize>::new();
    for source in sources.iter().filter(|source| !is_test(&source.path)) {
        // Of alternatives in one file each is compiled without the other.
        for name in types(source).into_iter().collect::<BTreeSet<_>>() {
            *counts.entry(name).or_default() += 1;
        }
    }
    counts.into_iter().filter(|(_, count)| *count > 1).map(|(name, _)| name).collect()
}

#[test]
fn names_of_types_are_unique() {
    let roots = ["src", "torch/src"];
    let found = roots.iter().flat_map(|root| repeated(&crate_sources(root))).collect();
    assert_none(&against(&found, ("names.rs", "ADMITTED", ADMITTED), "the name of several types"));
}

mod planted {
    use super::{Source, repeated};

    fn of(files: &[(&str, &str)]) -> Vec<String> {
        let sources: Vec<Source> =
            files.iter().map(|(path, text)| Source::new(path, text)).collect();
        repeated(&sources).into_iter().collect()
    }

    #[test]
    fn a_name_of_two_types_is_seen() {
        for (a, b) in [
            ("pub struct Plan { x: u8 }", "enum Plan { A }"),
            ("struct Plan(u8);", "type Plan<T> = Vec<T>;"),
            ("trait Plan: Send { fn f(); }", "mod inner { struct Plan; }"),
        ] {
            assert_eq!(of(&[("a.rs", a), ("b.rs", b)]), ["Plan"], "{a} {b}");
        }
    }

    #[test]
    fn types_of_functions_tests_and_implementations_pass() {
        for b in [
            "fn f() { struct Plan; }",
            "mod tests { struct Plan; }",
            "impl Iterator for X { type Plan = u8; }",
            "// struct Plan;",
            "fn f(x: Plan) {}",
        ] {
            assert_eq!(of(&[("a.rs", "struct Plan;"), ("b.rs", b)]), [""; 0], "{b}");
        }
    }
}
