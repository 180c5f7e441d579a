//! A default of the contract may not hide what a backend has forgotten: the CUDA backend and the simulator implement
//! every method of every trait, except those named here. The methods are read from the sources, which rustfmt has laid
//! out.

#![allow(clippy::unwrap_used, reason = "a failure of a test is a panic")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Methods that a backend leaves to their defaults, and why.
const DEFAULTS: &[(&str, &str, &str)] = &[
    ("CudaDriver", "stream_is_capturing", "is made of stream_capture_status"),
    ("CudaDriver", "observes_blocks", "CUDA has no use for reports of blocks"),
    ("CudaDriver", "block_handed_out", "as observes_blocks"),
    ("CudaDriver", "block_used", "as observes_blocks"),
    ("CudaDriver", "block_taken_back", "as observes_blocks"),
    ("CudaDriver", "block_unused", "as observes_blocks"),
    ("CudaDriver", "guard_bytes", "only the sanitizer guards blocks"),
    ("CudaDriver", "quarantine_bytes", "as guard_bytes"),
    ("CudaDriver", "quarantine_ended", "as guard_bytes"),
    ("CudaDriver", "host_block_handed_out", "as observes_blocks"),
    ("CudaDriver", "host_block_used", "as observes_blocks"),
    ("CudaDriver", "host_block_taken_back", "as observes_blocks"),
    ("CudaDriver", "memory_sleeps", "CUDA finds unmapped addresses itself"),
    ("CudaDriver", "memory_wakes", "as memory_sleeps"),
    ("CudaDriver", "observes_host", "only the sanitizer follows the host"),
    ("CudaDriver", "host_used", "as observes_host"),
    ("CudaDriver", "host_waits_for", "as observes_host"),
    ("CudaDriver", "asks_for_itself", "as observes_host"),
    ("CudaDriver", "moves_memory", "only the sanitizer asks what memory holds"),
    ("CudaDriver", "needs_no_contents", "as moves_memory"),
    ("CudaDriver", "address_passed", "only the sanitizer remembers memory that is gone"),
    ("CudaDriver", "stream_seen_capture", "is made of stream_capture_number"),
    ("CudaDriver", "stream_head", "CUDA does not tell what a stream is at"),
    ("Simulator", "stream_is_capturing", "is made of stream_capture_status"),
    ("Simulator", "block_unused", "its reports are for tests of what callers do"),
    ("Simulator", "guard_bytes", "only the sanitizer guards blocks"),
    ("Simulator", "quarantine_bytes", "as guard_bytes"),
    ("Simulator", "quarantine_ended", "as guard_bytes"),
    ("Simulator", "host_block_handed_out", "the sanitizer follows pinned blocks"),
    ("Simulator", "host_block_used", "the sanitizer follows pinned blocks"),
    ("Simulator", "host_block_taken_back", "the sanitizer follows pinned blocks"),
    ("Simulator", "observes_host", "only the sanitizer follows the host"),
    ("Simulator", "host_used", "as observes_host"),
    ("Simulator", "host_waits_for", "as observes_host"),
    ("Simulator", "asks_for_itself", "as observes_host"),
    ("Simulator", "moves_memory", "only the sanitizer asks what memory holds"),
    ("Simulator", "needs_no_contents", "as moves_memory"),
    ("Simulator", "address_passed", "only the sanitizer remembers memory that is gone"),
    ("Simulator", "copy_direct_async", "the simulator looks every address up"),
    ("Simulator", "comm_pending", "the simulator has no library to be inside of"),
];

/// A method, and whether it has a body.
type Methods = Vec<(String, bool)>;

/// The Rust files of a folder, and of those in it.
fn sources(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(std::fs::read_to_string(path).unwrap());
        }
    }
    found
}

fn sources_of(name: &str) -> Vec<String> {
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name).join("src"))
}

/// The methods of the item that begins with a line: they are indented once, and the item ends with a brace that is not.
fn methods(lines: &mut std::str::Lines<'_>) -> Methods {
    let mut found = Methods::new();
    for line in lines.take_while(|line| *line != "}") {
        if let Some(rest) = line.strip_prefix("    fn ") {
            let name = rest.split(['(', '<']).next().unwrap();
            found.push((name.into(), false));
        }
        // The last line of a signature tells; those of a body change nothing.
        if let Some((_, has_body)) = found.last_mut() {
            *has_body |= line.ends_with('{') || line.ends_with("{}");
        }
    }
    found
}

/// The traits of a driver, by name.
fn traits(contract: &[String]) -> BTreeMap<String, Methods> {
    let mut found = BTreeMap::new();
    for source in contract {
        let mut lines = source.lines();
        while let Some(line) = lines.next() {
            let name =
                line.strip_prefix("pub trait ").and_then(|it| it.strip_suffix(": Send + Sync {"));
            if let Some(name) = name {
                found.insert(name.to_owned(), methods(&mut lines));
            }
        }
    }
    // Objects that a driver makes, rather than subjects of it.
    found.remove("CommAbort");
    found
}

/// The methods that a backend implements, by trait.
fn implemented(backend: &str, sources: &[String]) -> BTreeMap<String, BTreeSet<String>> {
    let mut found = BTreeMap::new();
    for source in sources {
        let mut lines = source.lines();
        while let Some(line) = lines.next() {
            let Some((name, rest)) =
                line.strip_prefix("impl ").and_then(|it| it.split_once(" for "))
            else {
                continue;
            };
            if rest == format!("{backend} {{") {
                let names = methods(&mut lines).into_iter().map(|(name, _)| name).collect();
                found.insert(name.to_owned(), names);
            } else if rest == format!("{backend} {{}}") {
                found.insert(name.to_owned(), BTreeSet::new());
            }
        }
    }
    found
}

/// The methods that a backend lacks and does not name in [`DEFAULTS`], and those that it names and implements.
fn faults(backend: &str, contract: &[String], sources: &[String]) -> Vec<String> {
    let implemented = implemented(backend, sources);
    let mut found = Vec::new();
    for (subject, methods) in traits(contract) {
        let Some(of_subject) = implemented.get(&subject) else {
            found.push(format!("{backend} does not implement {subject} in a block of its own"));
            continue;
        };
        for (method, _) in methods {
            let is_left = DEFAULTS.iter().any(|(of, name, _)| *of == backend && *name == method);
            match (of_subject.contains(&method), is_left) {
                (false, false) => found.push(format!("{backend} lacks {method} of {subject}")),
                (true, true) => {
                    found.push(format!("{backend} has {method}: not left to the default"))
                }
                _ => {}
            }
        }
    }
    found
}

/// The traits and methods of the contract were found: as many as it has.
fn contract() -> Vec<String> {
    let contract = sources_of("driver");
    let traits = traits(&contract);
    let bounds = contract.iter().find_map(|source| {
        let (_, rest) = source.split_once("pub trait Driver:\n")?;
        Some(rest.split_once("\n{")?.0.replace([' ', '\n'], ""))
    });
    let names: BTreeSet<String> = bounds.unwrap().split('+').map(str::to_owned).collect();
    assert_eq!(traits.keys().cloned().collect::<BTreeSet<_>>(), names);
    contract
}

#[test]
fn each_backend_implements_every_method() {
    let contract = contract();
    for (backend, folder) in [("CudaDriver", "cuda"), ("Simulator", "sim")] {
        let sources = sources_of(folder);
        assert_eq!(faults(backend, &contract, &sources), [""; 0]);

        // A method that is forgotten, and a whole subject.
        let without = |text: &str, instead: &str| -> Vec<String> {
            let count = sources.iter().filter(|source| source.contains(text)).count();
            assert!(count > 0, "{text}");
            sources.iter().map(|source| source.replace(text, instead)).collect()
        };
        let planted = without("    fn stream_wait_event(", "    fn stream_waits_event(");
        let lacks = format!("{backend} lacks stream_wait_event of Streams");
        assert_eq!(faults(backend, &contract, &planted), [lacks]);
        let planted = without(&format!("impl Ipc for {backend} {{"), "impl Somebody {");
        let lacks = format!("{backend} does not implement Ipc in a block of its own");
        assert_eq!(faults(backend, &contract, &planted), [lacks]);
        // What the list names is left to the default.
        let planted = without(
            "    fn stream_query(",
            "    fn stream_is_capturing(&self) {}\n    fn stream_query(",
        );
        let stale = format!("{backend} has stream_is_capturing: not left to the default");
        assert_eq!(faults(backend, &contract, &planted), [stale]);
    }
}

#[test]
fn the_table_of_the_contract_names_the_methods_without_a_default() {
    let table = include_str!("../src/contract/mod.rs");
    let mut required = Vec::new();
    for (subject, methods) in traits(&contract()) {
        let row = table.lines().find(|line| line.contains(&format!("[`{subject}`]"))).unwrap();
        let column = row.trim_end_matches(" |").rsplit(" | ").next().unwrap();
        let named: Vec<&str> = column.split('`').skip(1).step_by(2).collect();
        let without: Vec<&str> = methods
            .iter()
            .filter(|(_, has_body)| !has_body)
            .map(|(name, _)| name.as_str())
            .collect();
        assert_eq!(named, without, "{subject}");
        required.extend(without.into_iter().map(str::to_owned));
    }
    assert_eq!(required.len(), 19, "{required:?}");
}

#[test]
fn the_default_of_a_method_names_it() {
    let mut count = 0;
    for source in sources_of("driver") {
        let mut method = "";
        for line in source.lines() {
            if let Some(rest) = line.strip_prefix("    fn ") {
                method = rest.split('(').next().unwrap();
            }
            if let Some(rest) = line.strip_prefix("        lacks(\"") {
                assert_eq!(rest.split('"').next(), Some(method));
                count += 1;
            }
        }
    }
    assert!(count > 60, "{count}");
}
