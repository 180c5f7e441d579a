//! Every lock of libsconce is one of `crates/base/src/lock`, which has a rank that debug builds check, and so is every
//! wait for another thread. See docs/design/locks.md.

use crate::assert_none;
use crate::source::{self, Source, sources};

/// What may name other locks: that which gives them ranks.
const RANKED: &str = "crates/base/src/lock/";
/// What of `std::sync` waits.
const OF_STD: &[&str] =
    &["Mutex", "RwLock", "Condvar", "Once", "OnceLock", "LazyLock", "LazyCell", "Barrier"];
/// Methods that wait for another thread. The joins of texts and paths have arguments.
const WAITS: &[&str] = &["join()", "recv()", "recv_timeout(…)"];

/// Whether a path leads to a lock or a wait without a rank. Values of `once_cell::race` do not wait.
fn has_no_rank(path: &[String]) -> bool {
    let path: Vec<&str> = path.iter().map(String::as_str).collect();
    match path.strip_prefix(&["std"]).unwrap_or(&path) {
        ["sync", name, ..] => OF_STD.contains(name),
        ["parking_lot", ..] | ["once_cell", "sync", ..] | ["thread", "park", ..] => true,
        _ => false,
    }
}

/// The locks and waits of a file that have no rank.
fn without_rank(source: &Source) -> Vec<String> {
    let code = source.code();
    let paths = code.paths.iter().filter(|path| has_no_rank(path)).map(|path| path.join("::"));
    let waits = code.calls.iter().filter(|call| WAITS.contains(&call.as_str())).cloned();
    let place = |what| format!("{}: {what}: take it from sconce_base::lock", source.path);
    paths.chain(waits).map(place).collect()
}

#[test]
fn every_lock_has_a_rank() {
    let sources = sources(&source::libsconce());
    let others = sources.iter().filter(|source| !source.path.starts_with(RANKED));
    assert_none(&others.flat_map(without_rank).collect::<Vec<_>>());
}

#[test]
fn planted_locks_without_a_rank_are_seen() {
    let count = |text: &str| without_rank(&Source::new("src", "src/stream/pool.rs", text)).len();
    for text in [
        "use parking_lot::Mutex;",
        "static X: parking_lot::RwLock<()> = new();",
        "use std::sync::Mutex;",
        "use std::sync::{Arc, Once, Weak};",
        "static X: std::sync::OnceLock<u8> = new();",
        "use std::{sync::Condvar};",
        "use std::sync; static X: sync::Barrier = new();",
        "use once_cell::sync::OnceCell;",
        "fn f() { std::thread::park(); }",
        "use std::thread::{Builder, park};",
        "fn f() { thread.join().ok(); }",
        "fn f() { done.recv_timeout(limit); }",
    ] {
        assert_eq!(count(text), 1, "{text}");
    }
    for text in [
        "use sconce_base::lock::{Mutex, rank};",
        "use crate::lock::lock_api;",
        "use crate::sync::{AtomicU64, Mutex};",
        "use std::sync::{Arc, Weak, mpsc};",
        "use std::sync::atomic::AtomicBool;",
        "use once_cell::race::OnceBox;",
        "fn f() { names.join(\", \") }",
        "#[cfg(test)] mod tests { use parking_lot::Mutex; }",
        "// parking_lot",
    ] {
        assert_eq!(count(text), 0, "{text}");
    }
}
