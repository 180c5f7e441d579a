//! Every lock of the library is one of `src/lock`, which has a rank that debug builds check, and so is every wait for
//! another thread. See docs/design/locks.md.

use crate::assert_none;
use crate::source::{Source, crate_sources, is_test, tokens};

/// Files that may name other locks: those that have the ranks, and what stands in for them in loom's models.
const ADMITTED: &[&str] = &["lock/", "sync.rs"];
/// What of `std::sync` waits.
const OF_STD: &[&str] =
    &["Mutex", "RwLock", "Condvar", "Once", "OnceLock", "LazyLock", "LazyCell", "Barrier"];
/// Modules of `once_cell` whose values wait. Those of its module `race` do not.
const OF_ONCE_CELL: &[&str] = &["sync"];
/// Methods that wait for another thread.
const WAITS: &[&str] = &["join", "recv", "recv_timeout"];

/// The words that stand behind `first::second::`, in braces or not; nothing if the path is another one.
fn behind(words: &[&str], at: usize, path: &[&str]) -> Vec<String> {
    let mut i = at;
    for part in path {
        if words.get(i) != Some(part) || words.get(i + 1) != Some(&"::") {
            return Vec::new();
        }
        i += 2;
    }
    if words.get(i) != Some(&"{") {
        return words.get(i).map(|word| (*word).to_owned()).into_iter().collect();
    }
    let group = words[i + 1..].iter().take_while(|word| **word != "}");
    group
        .filter(|word| word.starts_with(char::is_alphabetic))
        .map(|word| (*word).to_owned())
        .collect()
}

/// The tokens of a file before its tests.
fn code(source: &Source) -> Vec<(String, usize)> {
    let tokens = tokens(&source.text);
    let word = |i: usize| tokens.get(i).map_or("", |token| token.0.as_str());
    let is_tests = |i: usize| {
        word(i) == "mod" && matches!(word(i + 1), "tests" | "loom_models") && word(i + 2) == "{"
    };
    let end = (0..tokens.len()).find(|i| is_tests(*i)).unwrap_or(tokens.len());
    tokens[..end].to_vec()
}

/// The locks and waits of a file that have no rank.
fn without_rank(source: &Source) -> Vec<String> {
    if is_test(&source.path) || source.path.contains("loom_models") {
        return Vec::new();
    }
    let tokens = code(source);
    let words: Vec<&str> = tokens.iter().map(|token| token.0.as_str()).collect();
    let mut wrong = Vec::new();
    for (i, (word, line)) in tokens.iter().enumerate() {
        let mut found = |what: &str| {
            wrong.push(format!("src/{}:{line}: {what}: take it from crate::lock", source.path));
        };
        if word == "parking_lot" {
            found(word);
        }
        let is_own_sync = words.get(i.wrapping_sub(2)) == Some(&"crate");
        for name in behind(&words, i, &["sync"]) {
            if OF_STD.contains(&name.as_str()) && !is_own_sync {
                found(&format!("std::sync::{name}"));
            }
        }
        let is_used = words[..i].iter().rev().take(24).any(|word| *word == "use");
        let is_called = words.get(i + 3) == Some(&"(");
        if (is_used || is_called)
            && behind(&words, i, &["thread"]).iter().any(|name| name == "park")
        {
            found("std::thread::park");
        }
        if behind(&words, i, &["once_cell"])
            .iter()
            .any(|name| OF_ONCE_CELL.contains(&name.as_str()))
        {
            found("once_cell::sync");
        }
        // The joins of texts and paths have arguments; a thread's has none. `recv` of `rustix` is a function.
        let is_method = i > 0 && words[i - 1] == "." && words.get(i + 1) == Some(&"(");
        let is_thread = word != "join" || words.get(i + 2) == Some(&")");
        let is_ours = i > 1 && words[i - 2] == "self";
        if WAITS.contains(&word.as_str()) && is_method && is_thread && !is_ours {
            found(&format!("{word}()"));
        }
    }
    wrong
}

#[test]
fn every_lock_has_a_rank() {
    let sources = crate_sources("src");
    let outside = sources
        .iter()
        .filter(|source| !ADMITTED.iter().any(|place| source.path.starts_with(place)));
    assert_none(&outside.flat_map(without_rank).collect::<Vec<_>>());
}

mod planted {
    use super::{Source, without_rank};

    fn count(text: &str) -> usize {
        without_rank(&Source::new("stream/pool.rs", text)).len()
    }

    #[test]
    fn locks_without_a_rank_are_seen() {
        for text in [
            "use parking_lot::Mutex;",
            "static X: parking_lot::RwLock<()> = new();",
            "use std::sync::Mutex;",
            "use std::sync::{Arc, Once, Weak};",
            "static X: std::sync::OnceLock<u8> = new();",
            "use std::{sync::Condvar};",
            "use once_cell::sync::OnceCell;",
            "fn f() { std::thread::park(); }",
            "use std::thread::{Builder, park};",
            "fn f() { thread.join().ok(); }",
            "fn f() { done.recv_timeout(limit); }",
        ] {
            assert_eq!(count(text), 1, "{text}");
        }
    }

    #[test]
    fn what_does_not_wait_and_tests_pass() {
        for text in [
            "use crate::lock::{Mutex, rank};",
            "use crate::lock::lock_api;",
            "use crate::sync::{AtomicU64, Mutex};",
            "use std::sync::{Arc, Weak, mpsc};",
            "use std::sync::atomic::AtomicBool;",
            "use once_cell::race::OnceBox;",
            "fn f() { names.join(\", \") }",
            "mod tests { use parking_lot::Mutex; }",
            "// parking_lot",
        ] {
            assert_eq!(count(text), 0, "{text}");
        }
    }
}
