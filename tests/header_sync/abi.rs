//! The binary interface: what the header declares, what the library exports and what
//! `tests/abi.txt` lists are one set. Functions enter the list with the version they came in. One that is not in a release
//! may leave it, with a row in `docs/guide/upgrading.md`.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

fn listed() -> Vec<(String, String)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/abi.txt");
    std::fs::read_to_string(path)
        .unwrap_or_default()
        .lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty())
        .map(|line| {
            let (name, since) = line.split_once(' ').expect("a line is: name version");
            (name.to_owned(), since.to_owned())
        })
        .collect()
}

fn declared() -> BTreeSet<String> {
    testkit::header::prototypes(&testkit::header::text())
        .into_iter()
        .map(|prototype| prototype.name)
        .collect()
}

fn output(program: &str, arguments: &[&str]) -> String {
    let library = testkit::shared_library();
    let output = Command::new(program).args(arguments).arg(library).output().unwrap();
    assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn exported() -> BTreeSet<String> {
    output("nm", &["-D", "--defined-only"])
        .lines()
        .filter_map(|line| line.split_whitespace().last())
        .map(|name| name.split('@').next().unwrap().to_owned())
        .collect()
}

#[test]
fn header_exports_and_list_are_one_set() {
    let declared = declared();
    assert!(declared.len() > 400, "the headers were not understood: {declared:?}");
    if std::env::var_os("SCONCE_BLESS").is_some() {
        bless(&declared);
    }
    let exported = exported();
    assert_eq!(declared, exported, "left: declared in the header, right: exported");
    let listed: BTreeSet<_> = listed().into_iter().map(|(name, _)| name).collect();
    assert_eq!(
        listed, declared,
        "left: tests/abi.txt, right: the header; SCONCE_BLESS=1 writes the list anew"
    );
}

/// Whether a row of a table begins with a name, or with a pattern of it (`sconce_tensor_*_on`).
fn has_row(page: &str, name: &str) -> bool {
    page.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).any(|old| match old
        .split_once('*')
    {
        Some((start, end)) => name.starts_with(start) && name.ends_with(end),
        None => name == old,
    })
}

/// Adds new functions with the package's version. A function that is gone leaves the list only if `docs/guide/upgrading.md`
/// says what became of it; else it stays and fails the test.
fn bless(declared: &BTreeSet<String>) {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/guide/upgrading.md");
    let page = std::fs::read_to_string(page).unwrap();
    let mut lines = listed();
    lines.retain(|(name, _)| declared.contains(name) || !has_row(&page, name));
    for name in declared {
        if !lines.iter().any(|(listed, _)| listed == name) {
            lines.push((name.clone(), env!("CARGO_PKG_VERSION").to_owned()));
        }
    }
    lines.sort();
    let mut text = String::from("# Every exported function, and the version it came in.\n");
    for (name, since) in lines {
        text.push_str(&format!("{name} {since}\n"));
    }
    std::fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/abi.txt"), text).unwrap();
}

#[test]
fn the_library_needs_nothing_but_libc_and_carries_its_soname() {
    let dynamic = output("readelf", &["-d", "-W"]);
    assert!(dynamic.contains("[libsconce.so.0]"), "no soname:\n{dynamic}");
    assert!(dynamic.contains("NODELETE"), "the library could be unloaded:\n{dynamic}");
    for line in dynamic.lines().filter(|line| line.contains("(NEEDED)")) {
        let allowed =
            ["libc.so.", "libgcc_s.so.", "ld-linux", "libm.so.", "libpthread.so.", "libdl.so."];
        assert!(allowed.iter().any(|name| line.contains(name)), "{line}");
    }
}

/// The types of parameters and of fields in a source: what C callers write.
fn types_from_c(source: &str) -> Vec<(String, String)> {
    let mut types = Vec::new();
    for piece in source.split("extern \"C\" fn ").skip(1) {
        let (name, rest) = piece.split_once('(').unwrap();
        let parameters = rest.split_once(") ").map_or(rest, |(parameters, _)| parameters);
        for parameter in parameters.split(',').filter(|parameter| parameter.contains(": ")) {
            let (parameter, kind) = parameter.split_once(": ").unwrap();
            types.push((format!("{name}: {}", parameter.trim()), kind.trim().to_owned()));
        }
    }
    for piece in source.split("#[repr(C)]\n").skip(1) {
        let body = piece.split_once('{').unwrap().1.split_once('}').unwrap().0;
        for line in body.lines().filter(|line| line.trim().starts_with("pub ")) {
            let (field, kind) = line.trim().split_once(": ").unwrap();
            types.push((field.to_owned(), kind.trim_end_matches(',').to_owned()));
        }
    }
    types
}

/// The sources in a folder and in those below it.
fn sources_of(folder: &Path) -> Vec<String> {
    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let sources = paths.map(|path| match path.is_dir() {
        true => sources_of(&path),
        false => vec![std::fs::read_to_string(path).unwrap()],
    });
    sources.flatten().collect()
}

/// A `bool` or an enum made of a byte of C's that it does not know is undefined behaviour.
#[test]
fn no_bool_and_no_enum_comes_from_c() {
    let sources = testkit::header::boundary_sources();
    let of_torch = sources_of(&Path::new(env!("CARGO_MANIFEST_DIR")).join("torch/src"));
    assert!(of_torch.len() > 100, "the sources of libsconce_torch are not there");
    let enums: BTreeSet<&str> = sources
        .iter()
        .flat_map(|source| source.split("pub enum ").skip(1))
        .map(|piece| piece.split_once(' ').unwrap().0)
        .collect();
    assert!(enums.contains("sconce_status") && enums.contains("sconce_dtype"), "{enums:?}");
    let (mut seen, mut wrong) = (0, Vec::new());
    for (place, kind) in sources.iter().chain(&of_torch).flat_map(|source| types_from_c(source)) {
        seen += 1;
        let words: Vec<&str> = kind.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
        // A place for a result is only written to.
        let is_result = kind.starts_with("*mut ") && place.contains(": out_");
        let is_known = words.iter().any(|word| *word == "bool" || enums.contains(word));
        if is_known && !is_result {
            wrong.push(format!("{place}: {kind}"));
        }
    }
    assert!(seen > 300, "the sources were not understood: {seen}");
    assert!(wrong.is_empty(), "take a CBool or a number instead:\n{}", wrong.join("\n"));
}

#[test]
fn the_abi_number_is_the_sonames() {
    let source =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("build.rs")).unwrap();
    let soname = format!("libsconce.so.{}", sconce::SCONCE_ABI_VERSION);
    assert!(source.contains(&format!("-soname,{soname}\"")));
}
