//! Which crate of the workspace may depend on which. A row differs from the `Cargo.toml` only with a decision.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use testkit_json::Json;

use crate::assert_none;

/// A crate, what it depends on, and what its tests depend on besides. The names are those of the packages, without
/// `sconce-`.
type Row = (&'static str, &'static str, &'static str);

/// The crates, from the ground up. `runtime` and what stands on it know the contract of drivers alone, and no backend
/// but in tests; the C API opens one.
const CRATES: &[Row] = &[
    ("base", "", ""),
    ("driver", "base", ""),
    ("math", "base driver", ""),
    ("kernels", "base driver math", ""),
    ("cuda", "base driver", ""),
    ("sim", "base driver kernels math", ""),
    ("runtime", "base driver", "sim testkit-json"),
    ("compute", "base driver kernels math runtime", "sim"),
    ("tensors", "base compute driver math runtime", ""),
    ("sanitizer", "base driver sim", "testkit-json"),
    (
        "sconce",
        "base compute cuda driver math runtime sanitizer sim tensors",
        "kernels testkit testkit-json",
    ),
    ("torch", "", "sconce"),
    ("replay", "base runtime sconce", ""),
    ("own-driver", "base driver runtime", ""),
    ("testkit", "base compute cuda driver runtime sconce testkit-json", ""),
    ("testkit-json", "", ""),
];

/// What each crate, and what its tests depend on, within the workspace.
type Graph = BTreeMap<String, [Vec<String>; 2]>;

/// The graph in an answer of `cargo metadata`.
fn graph(metadata: &str) -> Graph {
    let metadata = Json::read(metadata);
    let packages = metadata["packages"].items();
    let name = |item: &Json| item["name"].text().trim_start_matches("sconce-").to_owned();
    let names: Vec<&str> = packages.iter().map(|package| package["name"].text()).collect();
    let mut graph = Graph::new();
    for package in packages {
        let row = graph.entry(name(package)).or_default();
        for dependency in package["dependencies"].items() {
            let of_tests = dependency["kind"] == Json::Text("dev".to_owned());
            if names.contains(&dependency["name"].text()) {
                row[usize::from(of_tests)].push(name(dependency));
            }
        }
        row.iter_mut().for_each(|names| names.sort());
    }
    graph
}

/// Where the graph differs from the table.
fn differences(graph: &Graph, table: &[Row]) -> Vec<String> {
    let gone = table.iter().filter(|row| !graph.contains_key(row.0));
    let mut wrong: Vec<String> = gone.map(|row| format!("{} is gone", row.0)).collect();
    for (name, [uses, tests_use]) in graph {
        let Some(row) = table.iter().find(|row| row.0 == name) else {
            wrong.push(format!("{name} has no row in tests/layering/crates.rs"));
            continue;
        };
        for (what, found, wanted) in [("it", uses, row.1), ("its tests", tests_use, row.2)] {
            let found = found.join(" ");
            if found != wanted {
                wrong.push(format!("{name}: {what} may use [{wanted}], not [{found}]"));
            }
        }
    }
    wrong
}

/// What cargo answers.
fn cargo(arguments: &[&str]) -> String {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| env!("CARGO").into());
    let output = Command::new(cargo)
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn crates_depend_on_what_the_table_says() {
    let metadata = cargo(&["metadata", "--no-deps", "--offline", "--format-version=1"]);
    assert_none(&differences(&graph(&metadata), CRATES));
}

/// The packages that some others are built from, each with its features: lines of `cargo tree`.
fn features(of: &[&str]) -> BTreeSet<String> {
    let lines =
        ["tree", "--locked", "--offline", "--prefix=none", "--no-dedupe", "--format={p} [{f}]"];
    cargo(&[&lines[..], of].concat()).lines().map(|line| line.replace(" (*)", "")).collect()
}

/// What one choice of packages is built from, and another one has with other features. Cargo adds up the features that
/// the packages of a command ask for, and compiles again what is built on a package with others.
fn compiled_again(of: &BTreeSet<String>, beside: &BTreeSet<String>) -> Vec<String> {
    let name = |line: &str| line.split(" [").next().unwrap_or_default().to_owned();
    let pair = |line: &String| {
        let other = beside.iter().find(|other| name(other) == name(line))?;
        (!beside.contains(line)).then(|| format!("{line}: {other} among other packages"))
    };
    of.iter().filter_map(pair).collect()
}

/// A program of the workspace, libsconce_torch and the tests are built on the same crates.
#[test]
fn the_library_has_the_same_features_beside_all_packages() {
    let alone = features(&["--edges=normal,build", "--package=sconce"]);
    assert!(alone.iter().any(|line| line.starts_with("rustfft ")), "{alone:?}");
    assert_none(&compiled_again(&alone, &features(&["--edges=normal,build,dev", "--workspace"])));
}

#[test]
fn planted_features_are_seen() {
    let lines = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect();
    let alone = lines(&["a v1 []", "b v1 [std]"]);
    assert_eq!(compiled_again(&alone, &lines(&["a v1 []", "b v1 [std]", "c v1 [x]"])), [""; 0]);
    let found = compiled_again(&alone, &lines(&["a v1 [std]", "b v1 [std]"]));
    assert_eq!(found, ["a v1 []: a v1 [std] among other packages"]);
}

#[test]
fn planted_edges_are_seen() {
    let metadata = |kind: &str, name: &str| {
        format!(
            r#"{{"packages": [{{"name": "sconce-a", "dependencies": []}}, {{"name": "b", "dependencies":
            [{{"name": "{name}", "kind": {kind}}}, {{"name": "libc", "kind": null}}]}}]}}"#
        )
    };
    let of =
        |kind: &str, name: &str, table: &[Row]| differences(&graph(&metadata(kind, name)), table);
    let table: &[Row] = &[("a", "", ""), ("b", "a", "")];
    assert_eq!(of("null", "sconce-a", table), [""; 0]);
    assert_eq!(
        of("\"dev\"", "sconce-a", table).len(),
        2,
        "an edge less, and one of the tests more"
    );
    assert_eq!(of("\"build\"", "b", table).len(), 1, "another edge");
    assert_eq!(of("null", "libc", table).len(), 1, "an edge less");
    assert_eq!(of("null", "sconce-a", &table[1..]), ["a has no row in tests/layering/crates.rs"]);
    let more: &[Row] = &[table[0], table[1], ("c", "", "")];
    assert_eq!(of("null", "sconce-a", more), ["c is gone"]);
}
