//! Which room may use which: a room uses what stands on lower floors.

use std::collections::{BTreeMap, BTreeSet};

use crate::assert_none;
use crate::source::{Source, crate_sources, paths};

/// The rooms of each floor, from the ground up. A room of the ground floor may use its neighbours; one of another
/// floor uses lower floors alone.
type Floors = &'static [&'static [&'static str]];

/// The floors of libsconce.
const FLOORS: Floors = &[
    &[
        "announcements",
        "collections",
        "config",
        "dynlib",
        "element",
        "entropy",
        "error",
        "graph_shared",
        "lock",
        "log",
        "nvtx",
        "process",
        "program_code",
        "sha256",
        "store",
        "strided",
        "sync",
        "thread_state",
        "types",
    ],
    &["driver"],
    &["arithmetic", "cuda", "fourier", "parallel", "philox"],
    &["folding", "mersenne", "products"],
    &["unfolding"],
    &["convolutions"],
    &["kernels"],
    &["sim"],
    &["context", "lazy_handle"],
    &["device", "kernel_loader"],
    &["stream"],
    &["event", "module", "sleep_kernel"],
    &["caching"],
    &["memory"],
    &["host_memory", "ipc", "library_handles"],
    &["operand", "sleep"],
    &["collectives", "copy", "graph", "ordering", "pointwise", "random", "reduction"],
    &["blas", "dnn", "fft"],
    &["tensor"],
    &["backward", "comm_tensors", "dlpack"],
    &["ffi"],
    &["lib"],
];

/// The floors of libsconce_torch.
const FLOORS_OF_TORCH: Floors = &[
    &["api"],
    &["error"],
    &["sconce"],
    &["foreign"],
    &["abi"],
    &["testing"],
    &["kernels"],
    &["vectors"],
    &["operations"],
    &["fallbacks"],
    &["registry"],
    &["dispatcher"],
    &["package"],
    &["runtime"],
    &["loading"],
    &["model"],
    &["capi"],
    &["lib"],
];

fn floor(floors: Floors, room: &str) -> Option<usize> {
    floors.iter().position(|rooms| rooms.contains(&room))
}

/// What is wrong with which room uses which.
fn layering(root: &str, floors: Floors, sources: &[Source]) -> Vec<String> {
    let floor = |room: &str| floor(floors, room);
    let rooms: BTreeSet<String> = sources.iter().map(Source::room).collect();
    let mut wrong: Vec<String> = rooms
        .iter()
        .filter(|room| floor(room).is_none())
        .map(|room| format!("{room} stands on no floor; give it one in tests/layering/floors.rs"))
        .collect();
    let mut uses: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for source in sources {
        let room = source.room();
        for named in paths(source) {
            let place = format!("{root}/{}:{}", source.path, named.line);
            let used = &named.path[0];
            if matches!(used.as_str(), "cuda" | "sim")
                && room != *used
                && !matches!(room.as_str(), "context" | "ffi")
            {
                wrong.push(format!(
                    "{place}: only context and the controls of the C API name {used}"
                ));
            }
            if !rooms.contains(used) {
                continue; // A macro or a re-export of the crate's root.
            }
            // What unit tests share stands above some of the rooms whose tests use it.
            if room == *used || (used == "testing" && named.by_tests) {
                continue;
            }
            let (Some(from), Some(to)) = (floor(&room), floor(used)) else { continue };
            if to > from || (to == from && from > 0) {
                wrong.push(format!("{place}: {room} uses {used}, which does not stand below it"));
            }
            uses.entry(room.clone()).or_default().insert(used.clone());
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

#[test]
fn rooms_use_only_what_stands_below_them() {
    let mut wrong = Vec::new();
    for (root, floors) in [("src", FLOORS), ("torch/src", FLOORS_OF_TORCH)] {
        let sources = crate_sources(root);
        let rooms: BTreeSet<String> = sources.iter().map(Source::room).collect();
        let gone = floors.iter().copied().flatten().filter(|room| !rooms.contains(**room));
        wrong.extend(gone.map(|room| format!("{root} has no room {room}")));
        wrong.extend(layering(root, floors, &sources));
    }
    assert_none(&wrong);
}

mod planted {
    use super::{FLOORS, FLOORS_OF_TORCH, Source, layering};

    fn judged(path: &str, text: &str) -> Vec<String> {
        let rest = ["ffi/mod.rs", "stream.rs", "event.rs", "context/mod.rs", "driver/mod.rs"];
        let mut sources: Vec<Source> =
            rest.iter().chain(&["error.rs"]).map(|path| Source::new(path, "")).collect();
        sources.push(Source::new(path, text));
        layering("src", FLOORS, &sources)
    }

    #[test]
    fn upward_uses_are_seen_in_every_spelling() {
        for (path, text) in [
            ("stream/pool.rs", "use crate::ffi::status;"),
            ("sim/machine/engine.rs", "use crate::{error::Error, context::{runtime}};"),
            ("driver/kernel.rs", "fn f() { crate::stream::current(); }"),
            ("error.rs", "use super::driver::Driver;"),
            ("sim/mod.rs", "mod tests { mod deep { use super::super::super::super::event; } }"),
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
            ("sim/mod.rs", "mod tests { use super::super::Driver; use super::*; }"),
            ("context/mod.rs", "use crate::sim::Simulator;"),
            ("sim/memory/space.rs", "pub(in crate::sim) fn f() {}"),
        ] {
            assert_eq!(judged(path, text), Vec::<String>::new(), "{path}: {text}");
        }
    }

    #[test]
    fn a_concrete_driver_outside_context_is_seen() {
        for (path, text) in [
            ("stream.rs", "use crate::sim::Simulator;"),
            ("copy/mod.rs", "use crate::{cuda::CudaDriver, driver::Driver};"),
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
        // One use goes upward, and each room uses itself.
        assert_eq!(layering("src", FLOORS, &sources).len(), 3);
    }

    #[test]
    fn each_library_has_its_own_floors() {
        let of = |files: &[(&str, &str)]| {
            let sources: Vec<Source> =
                files.iter().map(|(path, text)| Source::new(path, text)).collect();
            layering("torch/src", FLOORS_OF_TORCH, &sources)
        };
        let upward = of(&[("sconce/mod.rs", "use crate::abi::tensors;"), ("abi/tensors.rs", "")]);
        assert_eq!(
            upward,
            ["torch/src/sconce/mod.rs:1: sconce uses abi, which does not stand below it"]
        );
        assert_eq!(of(&[("stream.rs", "")]).len(), 1, "a room of the other library");
        let shared = ("testing.rs", "use crate::abi::x;");
        let by_tests = ("abi/x.rs", "mod tests { use crate::testing::Cases; }");
        assert_eq!(of(&[shared, by_tests]), [""; 0]);
        assert_ne!(of(&[shared, ("abi/x.rs", "use crate::testing::Cases;")]), [""; 0]);
    }

    #[test]
    fn neighbours_above_the_ground_floor_and_rooms_without_a_floor_are_seen() {
        let of = |files: &[(&str, &str)]| {
            let sources: Vec<Source> =
                files.iter().map(|(path, text)| Source::new(path, text)).collect();
            layering("src", FLOORS, &sources).len()
        };
        assert_eq!(of(&[("dnn/run.rs", "use crate::blas::Handle;"), ("blas/mod.rs", "")]), 1);
        assert_eq!(of(&[("collections/lru.rs", "use crate::sync::Shared;"), ("sync.rs", "")]), 0);
        assert_eq!(of(&[("attic.rs", "")]), 1);
    }
}
