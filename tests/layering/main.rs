//! The rules of the source tree that a compiler does not check.
//!
//! | file | rule |
//! |---|---|
//! | `floors` | which room may use which |
//! | `cycles` | no import cycle within a room |
//! | `names` | a type's name is unique in the crate |
//! | `folders` | few files in a folder, each named in the folder's table |
//! | `locks` | every lock is one of `src/lock` |
//! | `messages` | texts for callers are in their languages |
//! | `main` | where unsafe code may stand, how long a file may be |
//! | `source` | Rust source text, read as words and paths |
//!
//! A room is a top-level module of the crate. Code names another file by a path that begins with `crate::`, or with
//! `super::`; both are found in the source text, with comments and strings taken out.

#![allow(clippy::unwrap_used, reason = "a failure of a test is a panic")]

mod cycles;
mod floors;
mod folders;
mod locks;
mod messages;
mod names;
mod source;

use std::collections::BTreeSet;
use std::path::Path;

use source::{Source, crate_sources, tokens};

/// What may hold unsafe code: these files and folders, and nothing else.
const ISLANDS: &[&str] = &[
    "announcements/loom_models.rs",
    "announcements/shared_value.rs",
    "arithmetic/erf.rs",
    "convolutions/direct/tiles.rs",
    "convolutions/direct/weights.rs",
    "copy/host_copy.rs",
    "dlpack/export.rs",
    "dlpack/import.rs",
    "cuda/",
    "driver/contract/handles.rs",
    "driver/contract/host_pointers.rs",
    "driver/contract/modules/values.rs",
    "sim/host/",
    "sim/tests/support.rs",
    "dynlib.rs",
    "ffi/",
    "host_memory/pages.rs",
    "ipc/peer.rs",
    "lock/",
    "log.rs",
    "caching/biased_lock/",
    "caching/lock.rs",
    "nvtx/injection.rs",
    "ordering/host.rs",
    "parallel/divided.rs",
    "parallel/job.rs",
    "parallel/pool.rs",
    "pointwise/host.rs",
    "process.rs",
    "products/",
    "reduction/host.rs",
    "sleep/host_block.rs",
    "sync.rs",
    "tensor/handle/mod.rs",
    "tensor/operations/convolution/host.rs",
    "tensor/operations/product/host.rs",
    "tensor/shared_storage.rs",
    "tensor/storage.rs",
    "tensor/transfer/host_values.rs",
];

const MOST_LINES: usize = 400;
/// How far above an unsafe block or impl its reason may begin.
const REASON_REACH: usize = 12;

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

/// What an allow-list does not admit. With `SCONCE_STRICT_TESTS`, also what it admits without need: such a list only
/// shrinks. `SCONCE_BLESS=1` takes from the list `name` of a file of this test what is not needed any more.
fn against(found: &BTreeSet<String>, (file, name, admitted): List, what: &str) -> Vec<String> {
    let admitted: BTreeSet<String> = admitted.iter().map(|entry| (*entry).to_owned()).collect();
    let new = found.difference(&admitted).map(|entry| format!("{entry}: {what}"));
    let gone: Vec<&String> = admitted.difference(found).collect();
    if std::env::var_os("SCONCE_BLESS").is_some() && !gone.is_empty() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/layering").join(file);
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, without(&text, name, &gone)).unwrap();
    }
    let strict = std::env::var_os("SCONCE_STRICT_TESTS").is_some();
    let gone = gone.into_iter().filter(|_| strict).map(|entry| {
        format!("{entry} is in order now; SCONCE_BLESS=1 cargo test --test layering takes it off")
    });
    new.chain(gone).collect()
}

/// A file of this test, the name of a list in it, and the list.
type List<'a> = (&'a str, &'a str, &'a [&'a str]);

/// A file's text with entries taken from one of its lists.
fn without(text: &str, name: &str, entries: &[&String]) -> String {
    let start = text.find(&format!("const {name}: ")).unwrap();
    let end = start + text[start..].find("];").unwrap();
    let mut list = text[start..end].to_owned();
    for entry in entries {
        for after in [",\n", ", ", ""] {
            list = list.replace(&format!("\"{entry}\"{after}"), "");
        }
    }
    format!("{}{list}{}", &text[..start], &text[end..])
}

#[track_caller]
fn assert_none(wrong: &[String]) {
    assert!(wrong.is_empty(), "{} findings:\n{}", wrong.len(), wrong.join("\n"));
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
fn no_file_is_too_long() {
    let roots = ["src", "tests", "testkit", "torch"];
    let wrong = roots.iter().flat_map(|root| {
        let sources = crate_sources(root);
        sources.iter().flat_map(length).map(|found| format!("{root}/{found}")).collect::<Vec<_>>()
    });
    assert_none(&wrong.collect::<Vec<_>>());
}

mod planted {
    use super::source::paths;
    use super::{Source, against, length, tokens, unsafe_code, without};

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
    fn a_list_admits_what_it_names() {
        let found = ["a".to_owned(), "b".to_owned()].into();
        assert_eq!(against(&found, ("x.rs", "X", &["a", "b"]), "wrong"), [""; 0]);
        assert_eq!(against(&found, ("x.rs", "X", &["a"]), "wrong"), ["b: wrong"]);
    }

    #[test]
    fn entries_are_taken_from_their_list_alone() {
        let text = "const X: &[&str] = &[\n    \"a\",\n    \"ab\",\n];\nconst Y: &[&str] = &[\"b\", \"a\"];\n";
        let a = "a".to_owned();
        let expected =
            "const X: &[&str] = &[\n        \"ab\",\n];\nconst Y: &[&str] = &[\"b\", \"a\"];\n";
        assert_eq!(without(text, "X", &[&a]), expected);
        assert!(without(text, "Y", &[&a]).ends_with("&[\"b\", ];\n"));
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
            paths(&Source::new("x.rs", text)).iter().map(|named| named.path.join("::")).collect();
        assert_eq!(found, ["a::b", "a::c", "e"]);
    }
}
