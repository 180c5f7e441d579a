//! The rules of the source tree that neither a compiler nor Clippy checks.
//!
//! | file | rule |
//! |---|---|
//! | `crates` | which crate may depend on which |
//! | `cycles` | no import cycle between the files and folders of one folder |
//! | `folders` | few files in a folder, each named in the folder's table |
//! | `locks` | every lock is one of `crates/base/src/lock` |
//! | `messages` | texts for callers are in their languages |
//! | `reasons` | a safety comment says why the operation is sound where it stands |
//! | `main` | where unsafe code may stand, how long a file may be |
//! | `source` | Rust source files, read as paths, calls and texts |

#![allow(clippy::unwrap_used, reason = "a failure of a test is a panic")]

mod crates;
mod cycles;
mod folders;
mod locks;
mod messages;
mod reasons;
mod source;

use std::collections::BTreeMap;

use source::{Source, sources};

/// Where unsafe code may stand: these files and folders of libsconce, and nothing else.
const ISLANDS: &[&str] = &[
    "crates/base/src/announcements/loom_models.rs",
    "crates/base/src/announcements/shared_value.rs",
    "crates/base/src/dynlib.rs",
    "crates/base/src/lock/",
    "crates/base/src/log.rs",
    "crates/base/src/nvtx/injection.rs",
    "crates/base/src/nvtx/memory.rs",
    "crates/base/src/process.rs",
    "crates/base/src/sync.rs",
    "crates/compute/src/copy/host_copy.rs",
    "crates/compute/src/ordering/host.rs",
    "crates/compute/src/pointwise/host.rs",
    "crates/compute/src/reduction/host.rs",
    "crates/compute/src/testing.rs",
    "crates/cuda/src/",
    "crates/driver/src/contract/handles.rs",
    "crates/driver/src/contract/host_pointers.rs",
    "crates/driver/src/contract/modules/values.rs",
    "crates/math/src/arithmetic/erf.rs",
    "crates/math/src/convolutions/direct/tiles.rs",
    "crates/math/src/convolutions/direct/weights.rs",
    "crates/math/src/parallel/divided.rs",
    "crates/math/src/parallel/job.rs",
    "crates/math/src/parallel/pool.rs",
    "crates/math/src/products/",
    "crates/runtime/src/caching/biased_lock/",
    "crates/runtime/src/caching/lock.rs",
    "crates/runtime/src/host_memory/pages.rs",
    "crates/runtime/src/ipc/peer.rs",
    "crates/runtime/src/sleep/host_block.rs",
    "crates/runtime/src/testing.rs",
    "crates/sanitizer/src/testing.rs",
    "crates/sim/src/host/",
    "crates/sim/src/lib.rs",
    "crates/sim/src/tests/support.rs",
    "crates/tensors/src/dlpack/export.rs",
    "crates/tensors/src/dlpack/import.rs",
    "crates/tensors/src/tensor/handle/mod.rs",
    "crates/tensors/src/tensor/operations/convolution/host.rs",
    "crates/tensors/src/tensor/operations/product/host.rs",
    "crates/tensors/src/tensor/shared_storage.rs",
    "crates/tensors/src/tensor/storage.rs",
    "crates/tensors/src/tensor/transfer/host_values.rs",
    "src/",
];

/// The longest that a file may be. Half of this is the guide line for review.
const MOST_LINES: usize = 800;

/// Files with unsafe code that are on no island, and islands without. That each block has its reason is Clippy's to
/// check.
fn unsafe_code(sources: &[Source], islands: &[&str]) -> Vec<String> {
    let holds = |island: &str, path: &str| {
        path == island || island.ends_with('/') && path.starts_with(island)
    };
    let mut unused = islands.to_vec();
    let mut wrong = Vec::new();
    for source in sources.iter().filter(|source| source.code().is_unsafe) {
        let path = &source.path;
        unused.retain(|island| !holds(island, path));
        if !islands.iter().any(|island| holds(island, path)) {
            wrong.push(format!("{path}: unsafe code outside ISLANDS"));
        }
    }
    wrong.extend(unused.iter().map(|island| format!("{island} holds no unsafe code")));
    wrong
}

/// The median, the 90th percentile and the greatest of the lengths of the files of each root, and the files that are
/// too long.
fn lengths(sources: &[Source]) -> (BTreeMap<&str, [usize; 3]>, Vec<String>) {
    let (mut roots, mut wrong) = (BTreeMap::<&str, Vec<usize>>::new(), Vec::new());
    for source in sources {
        let lines = source.text.lines().count();
        roots.entry(&source.root).or_default().push(lines);
        if lines > MOST_LINES {
            wrong.push(format!("{}: {lines} lines, more than {MOST_LINES}", source.path));
        }
    }
    let shares = |mut lines: Vec<usize>| {
        lines.sort_unstable();
        let last = lines.len() - 1;
        [lines[last / 2], lines[last * 9 / 10], lines[last]]
    };
    (roots.into_iter().map(|(root, lines)| (root, shares(lines))).collect(), wrong)
}

#[track_caller]
fn assert_none(wrong: &[String]) {
    assert!(wrong.is_empty(), "{} findings:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn unsafe_code_stays_on_its_islands() {
    assert_none(&unsafe_code(&sources(&source::libsconce()), ISLANDS));
}

/// `cargo test --test layering no_file -- --nocapture` shows the table.
#[test]
fn no_file_is_too_long() {
    let sources = sources(&source::all());
    let (roots, wrong) = lengths(&sources);
    println!("{:24} {:>6} {:>6} {:>6}", "lines of a file", "median", "90 %", "most");
    for (root, [median, most_have, most]) in roots {
        println!("{root:24} {median:>6} {most_have:>6} {most:>6}");
    }
    assert_none(&wrong);
}

mod planted {
    use super::{Source, lengths, unsafe_code};

    #[test]
    fn unsafe_code_is_seen_where_it_may_not_be() {
        let of = |path: &str, text: &str| {
            let log = Source::new("src", "src/log.rs", "unsafe fn f() {}");
            let lock = Source::new("src", "src/lock/x.rs", "unsafe fn f() {}");
            let planted = Source::new("src", path, text);
            unsafe_code(&[log, lock, planted], &["src/log.rs", "src/lock/"]).len()
        };
        for text in [
            "fn f() { unsafe { g() } }",
            "#[unsafe(no_mangle)] fn f() {}",
            "pub unsafe fn f() {}",
            "pub unsafe extern \"C\" fn f() {}",
            "unsafe impl Send for X {}",
            "#[cfg(test)] mod tests { unsafe fn f() {} }",
        ] {
            assert_eq!(of("src/lock.rs", text), 1, "{text}");
            assert_eq!(of("src/log/x.rs", text), 1, "{text}");
            assert_eq!(of("src/lock/y/z.rs", text), 0, "{text}");
        }
        assert_eq!(of("src/x.rs", "type F = unsafe extern \"C\" fn(i32); // unsafe { }"), 0);
        let safe = [Source::new("src", "src/log.rs", "fn f() {}")];
        assert_eq!(unsafe_code(&safe, &["src/log.rs"]), ["src/log.rs holds no unsafe code"]);
    }

    #[test]
    fn a_long_file_is_seen() {
        let of = |lines: usize| Source::new("a", "a/b.rs", &"x\n".repeat(lines));
        assert_eq!(lengths(&[of(800)]).1.len(), 0);
        assert_eq!(lengths(&[of(801)]).1, ["a/b.rs: 801 lines, more than 800"]);
        let many: Vec<Source> = (1..=21).map(of).collect();
        assert_eq!(lengths(&many).0["a"], [11, 19, 21]);
    }
}
