//! The house rules that a compiler does not check: which room may use which, where unsafe code may
//! stand, how long a file may be.
//!
//! A room is a top-level module of the crate. A file names another room by a path that begins with
//! `crate::`, or with enough `super::`; both are found in the source text, with comments and
//! strings taken out. New rooms count as nouns; a new room of the ground floor is added below.

#![allow(clippy::unwrap_used, reason = "a failure of a test is a panic")]

mod source;

use std::collections::{BTreeMap, BTreeSet};

use source::{Source, crate_sources, paths, tokens};

/// Rooms below all others. They may use each other.
const GROUND_FLOOR: &[&str] = &[
    "config",
    "dynlib",
    "element",
    "entropy",
    "error",
    "kernels",
    "lazy_handle",
    "leak_if_captured",
    "lock",
    "log",
    "lru",
    "per_device",
    "philox",
    "process",
    "sha256",
    "slab",
    "strided",
    "sync",
    "thread_state",
    "types",
    "word_hash",
];

/// What may hold unsafe code: these files and folders, and nothing else.
const ISLANDS: &[&str] = &[
    "copy/host_copy.rs",
    "driver/cuda/",
    "driver/contract/host_pointers.rs",
    "driver/sim/host/",
    "driver/sim/libraries/products.rs",
    "driver/sim/tests/support.rs",
    "dynlib.rs",
    "ffi/",
    "host_memory/pages.rs",
    "ipc/peer.rs",
    "lock.rs",
    "log.rs",
    "caching/lock.rs",
    "nvtx/injection.rs",
    "process.rs",
];

/// Where `parking_lot` is named. All others take the locks of `lock`, which debug builds count; the
/// simulator's engine needs condition variables.
const UNCOUNTED_LOCKS: &[&str] = &["driver/sim/", "lock.rs", "caching/lock.rs"];

const MOST_LINES: usize = 400;
/// How far above an unsafe block or impl its reason may begin.
const REASON_REACH: usize = 12;

/// How high a room stands: what is used stands lower, or is a neighbour on the ground floor or
/// among the nouns.
fn height(room: &str) -> usize {
    match room {
        "driver" => 1,
        "context" => 2,
        "ffi" => 4,
        "lib" => 5,
        room if GROUND_FLOOR.contains(&room) => 0,
        _ => 3,
    }
}

/// What is wrong with which room uses which.
fn layering(sources: &[Source]) -> Vec<String> {
    let rooms: BTreeSet<String> = sources.iter().map(Source::room).collect();
    let mut wrong = Vec::new();
    let mut uses: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for source in sources {
        let room = source.room();
        for (path, line) in paths(source) {
            let place = format!("src/{}:{line}", source.path);
            let used = &path[0];
            if !rooms.contains(used) {
                continue; // A macro or a re-export of the crate's root.
            }
            let (from, to) = (height(&room), height(used));
            if room != *used && (to > from || (to == from && !matches!(from, 0 | 3))) {
                wrong.push(format!("{place}: {room} uses {used}, which stands above it"));
            }
            let concrete = path.get(1).filter(|_| used == "driver");
            if let Some(name) = concrete.filter(|name| matches!(name.as_str(), "cuda" | "sim")) {
                let own = format!("driver/{name}");
                let inside = source.path == format!("{own}.rs")
                    || source.path.starts_with(&format!("{own}/"));
                if !inside && room != "context" && source.path != "driver/mod.rs" {
                    wrong.push(format!("{place}: only context names driver::{name}"));
                }
            }
            if room != *used {
                uses.entry(room.clone()).or_default().insert(used.clone());
            }
        }
    }
    for room in uses.keys() {
        let (mut open, mut seen) = (vec![room], BTreeSet::new());
        while let Some(next) = open.pop() {
            for used in uses.get(next).into_iter().flatten() {
                if used == room {
                    wrong.push(format!("{room} uses itself by way of {next}"));
                } else if seen.insert(used) {
                    open.push(used);
                }
            }
        }
    }
    wrong
}

/// What is wrong with where unsafe code stands, and how it is reasoned.
fn unsafe_code(source: &Source) -> Vec<String> {
    let tokens = tokens(&source.text);
    let lines: Vec<&str> = source.text.lines().collect();
    let mut wrong = Vec::new();
    for (i, (_, line)) in tokens.iter().enumerate().filter(|(_, token)| token.0 == "unsafe") {
        let rest: Vec<&str> = tokens[i + 1..].iter().take(4).map(|t| t.0.as_str()).collect();
        // The type of a function pointer is not unsafe code.
        if matches!(rest[..], ["extern", "\"\"", "fn", "("] | ["fn", "(", ..]) {
            continue;
        }
        let place = format!("src/{}:{line}", source.path);
        let admitted = ISLANDS.iter().any(|island| {
            source.path == *island || (island.ends_with('/') && source.path.starts_with(island))
        });
        if !admitted {
            wrong.push(format!("{place}: unsafe code outside the admitted islands"));
        }
        let above = &lines[line.saturating_sub(1 + REASON_REACH)..*line];
        let reasoned = above.iter().any(|text| text.contains("SAFETY:"));
        if matches!(rest.first(), Some(&"{" | &"impl")) && !reasoned {
            wrong.push(format!("{place}: no SAFETY reason"));
        }
    }
    wrong
}

/// What is wrong with a file's length.
fn length(source: &Source) -> Vec<String> {
    let lines = source.text.lines().count();
    let place = &source.path;
    (lines > MOST_LINES)
        .then(|| format!("{place}: {lines} lines; past {MOST_LINES} it is two ideas"))
        .into_iter()
        .collect()
}

#[track_caller]
fn assert_none(wrong: &[String]) {
    assert!(wrong.is_empty(), "{} findings:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn rooms_use_only_what_stands_below_them() {
    assert_none(&layering(&crate_sources("src")));
}

#[test]
fn unsafe_code_stays_on_its_islands_and_gives_reasons() {
    let sources = crate_sources("src");
    assert_none(&sources.iter().flat_map(unsafe_code).collect::<Vec<_>>());
    for island in ISLANDS {
        let used = sources.iter().any(|source| source.path.starts_with(island));
        assert!(used, "{island} is gone; take it off the list");
    }
}

#[test]
fn locks_are_those_that_debug_builds_count() {
    let wrong: Vec<String> = crate_sources("src")
        .iter()
        .filter(|source| !UNCOUNTED_LOCKS.iter().any(|place| source.path.starts_with(place)))
        .flat_map(|source| {
            let lines = source.text.lines().enumerate();
            let code = lines.filter(|(_, line)| !line.trim_start().starts_with("//"));
            code.filter(|(_, line)| line.contains("parking_lot::"))
                .map(|(at, _)| {
                    format!("src/{}:{}: take the locks of crate::lock", source.path, at + 1)
                })
                .collect::<Vec<_>>()
        })
        .collect();
    assert_none(&wrong);
}

#[test]
fn no_file_is_too_long() {
    let mut sources = crate_sources("src");
    sources.extend(crate_sources("tests"));
    assert_none(&sources.iter().flat_map(length).collect::<Vec<_>>());
}

mod planted {
    use super::{Source, layering, length, paths, tokens, unsafe_code};

    fn judged(path: &str, text: &str) -> Vec<String> {
        let rest = ["ffi/mod.rs", "stream.rs", "event.rs", "context/mod.rs", "driver/mod.rs"];
        let mut sources: Vec<Source> =
            rest.iter().chain(&["error.rs"]).map(|path| Source::new(path, "")).collect();
        sources.push(Source::new(path, text));
        layering(&sources)
    }

    #[test]
    fn upward_uses_are_seen_in_every_spelling() {
        for (path, text) in [
            ("stream/pool.rs", "use crate::ffi::status;"),
            ("driver/sim/machine/engine.rs", "use crate::{error::Error, context::{runtime}};"),
            ("driver/kernel.rs", "fn f() { crate::stream::current(); }"),
            ("error.rs", "use super::driver::Driver;"),
            (
                "driver/sim/mod.rs",
                "mod tests { mod deep { use super::super::super::super::event; } }",
            ),
            ("context/fork.rs", "use crate::{\n    error::Error as E,\n    event as e,\n};"),
        ] {
            assert_eq!(judged(path, text).len(), 1, "{path}: {text}");
        }
    }

    #[test]
    fn downward_uses_and_words_in_comments_and_strings_pass() {
        for (path, text) in [
            ("ffi/stream.rs", "use crate::{stream::Stream, driver::Driver, error::Error};"),
            (
                "stream.rs",
                "// crate::ffi::x\n/* crate::ffi /* x */ crate::ffi::y */ use crate::error;",
            ),
            ("stream.rs", r##"const A: &str = "crate::ffi::x \" crate::ffi"; "##),
            (
                "stream.rs",
                "const A: &str = r#\"crate::ffi::x\" crate::ffi::y\"#; fn f<'a>(x: &'a u8) {}",
            ),
            ("driver/sim/mod.rs", "mod tests { use super::super::Driver; use super::*; }"),
            ("context/mod.rs", "use crate::driver::sim::Simulator;"),
            ("driver/sim/memory/space.rs", "pub(in crate::driver::sim) fn f() {}"),
        ] {
            assert_eq!(judged(path, text), Vec::<String>::new(), "{path}: {text}");
        }
    }

    #[test]
    fn a_concrete_driver_outside_context_is_seen() {
        for (path, text) in [
            ("stream.rs", "use crate::driver::sim::Simulator;"),
            ("ffi/mod.rs", "use crate::driver::{Driver, cuda::CudaDriver};"),
            ("driver/sim/mod.rs", "use super::cuda::CudaDriver;"),
            ("driver/cuda/mod.rs", "use crate::driver::sim;"),
        ] {
            assert_eq!(judged(path, text).len(), 1, "{path}: {text}");
        }
    }

    #[test]
    fn a_circle_of_nouns_is_seen() {
        let sources = [
            Source::new("stream.rs", "use crate::event::Event;"),
            Source::new("event.rs", "use crate::stream::Stream;"),
        ];
        assert_eq!(layering(&sources).len(), 2);
    }

    #[test]
    fn unsafe_code_is_seen_where_it_may_not_be_and_without_a_reason() {
        let of = |path: &str, text: &str| unsafe_code(&Source::new(path, text)).len();
        assert_eq!(of("stream.rs", "// SAFETY: x\nunsafe { f() }"), 1);
        assert_eq!(of("stream.rs", "#[unsafe(no_mangle)] fn f() {}"), 1);
        assert_eq!(of("stream.rs", "pub unsafe fn f() {}"), 1);
        assert_eq!(of("stream.rs", "type F = unsafe extern \"C\" fn(i32); // unsafe { }"), 0);
        assert_eq!(of("log.rs", "unsafe impl Send for X {}"), 1);
        assert_eq!(of("log.rs", "// SAFETY: x\nunsafe impl Send for X {}"), 0);
        let far = format!("// SAFETY: x{}unsafe {{}}", "\n".repeat(13));
        assert_eq!(of("ffi/x.rs", &far), 1);
        assert_eq!(of("logs.rs", "// SAFETY: x\nunsafe { f() }"), 1);
    }

    #[test]
    fn a_long_file_is_seen() {
        assert_eq!(length(&Source::new("a.rs", &"x\n".repeat(400))).len(), 0);
        assert_eq!(length(&Source::new("a.rs", &"x\n".repeat(401))).len(), 1);
    }

    #[test]
    fn the_reader_keeps_lines_and_reads_groups() {
        let text = "/* a\n b */ \"c\n\\\" d\" 'e' '\\'' 'f\nuse crate::{a::{b, c as d}, e};";
        assert_eq!(tokens(text).last(), Some(&(";".to_owned(), 4)));
        let found: Vec<String> =
            paths(&Source::new("x.rs", text)).iter().map(|path| path.0.join("::")).collect();
        assert_eq!(found, ["a::b", "a::c", "e"]);
    }
}
