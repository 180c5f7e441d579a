//! Makes the C headers: cbindgen reads all sources at once, and each declaration goes to the header of its noun.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use testkit::header::{blocks, declared_name, identifiers, plain_enum};

use crate::layout::{NOUNS, Noun, OPERATIONS};
use crate::operations;

const RULES: &str = include_str!("texts/rules.h.in");
const LIBRARY: &str = include_str!("texts/library.h.in");
const DLPACK: &str = include_str!("texts/dlpack.h.in");
const INITIALISERS: &str = include_str!("texts/initialisers.h.in");

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The file of a source that `layout` names.
fn source(file: &str) -> PathBuf {
    match file {
        OPERATIONS => operations::source(),
        file => root().join(format!("src/{file}.rs")),
    }
}

/// All declarations, in the order of the nouns and their files.
fn declarations() -> String {
    let config = cbindgen::Config::from_file(root().join("cbindgen.toml")).unwrap();
    let mut builder = cbindgen::Builder::new().with_config(config);
    for file in NOUNS.iter().flat_map(|noun| noun.files) {
        builder = builder.with_src(source(file));
    }
    let mut text = Vec::new();
    builder.generate().unwrap().write(&mut text);
    String::from_utf8(text).unwrap()
}

/// The noun whose sources define a name.
fn owners() -> BTreeMap<String, usize> {
    let mut owners = BTreeMap::new();
    for (number, noun) in NOUNS.iter().enumerate() {
        for file in noun.files {
            let text = std::fs::read_to_string(source(file)).unwrap();
            for line in text.lines().map(str::trim_start) {
                let Some(at) = ["fn ", "struct ", "enum ", "const ", "type ", "union "]
                    .into_iter()
                    .find_map(|word| Some(line.split_once(word)?.1))
                else {
                    continue;
                };
                if line.starts_with("//") {
                    continue;
                }
                let mut words = at.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
                let name = words.next().unwrap();
                if name.to_lowercase().starts_with("sconce_") {
                    owners.entry(name.to_owned()).or_insert(number);
                }
            }
        }
    }
    owners
}

/// The guard of a header's file.
fn guard(file: &str) -> String {
    format!("SCONCE_{}_", file.to_uppercase().replace(['/', '.'], "_"))
}

fn notice(sources: &str) -> String {
    format!(
        "/*\n * Sconce: PyTorch's CUDA runtime layer without PyTorch. The C API.\n *\n * Generated from {sources}; do \
         not edit. SCONCE_BLESS=1 cargo test --test header_sync\n * writes it anew.\n */\n\n"
    )
}

/// What belongs to one header.
#[derive(Default)]
struct Parts {
    types: Vec<String>,
    functions: Vec<String>,
}

impl Parts {
    /// The header's text.
    fn text(&self, noun: &Noun, owners: &BTreeMap<String, usize>, number: usize) -> String {
        let file = format!("c/{}.h", noun.name);
        let mut text = notice("src by cbindgen");
        if noun.name == "library" {
            text += RULES;
        } else {
            write!(
                text,
                "/**\n * @file\n * {}\n *\n * What holds for every function is said in sconce/c/library.h.\n */\n",
                noun.about
            )
            .unwrap();
        }
        write!(text, "\n#ifndef {0}\n#define {0}\n\n", guard(&file)).unwrap();
        if noun.name == "library" {
            text += "/* A parser that knows these types itself, such as that of cffi, defines the macro. */\n\
                     #ifndef SCONCE_NO_SYSTEM_HEADERS\n#include <stdbool.h>\n#include <stddef.h>\n\
                     #include <stdint.h>\n#endif\n\n";
            text += LIBRARY;
        } else {
            let mut used: Vec<usize> = self
                .types
                .iter()
                .chain(&self.functions)
                .flat_map(|block| identifiers(block))
                .filter_map(|name| owners.get(&name).copied())
                .filter(|owner| *owner != number)
                .collect();
            used.push(0);
            // An element type is passed as an integer; its names are part of the call all the same.
            let takes_types = self
                .types
                .iter()
                .chain(&self.functions)
                .any(|block| identifiers(block).iter().any(|name| name == "dtype"));
            let types = NOUNS.iter().position(|other| other.name == "dtype").unwrap();
            used.extend((takes_types && number > types).then_some(types));
            used.sort_unstable();
            used.dedup();
            for owner in used {
                assert!(
                    owner < number,
                    "{} uses what {} declares, and stands before it",
                    noun.name,
                    NOUNS[owner].name
                );
                writeln!(text, "#include <sconce/c/{}.h>", NOUNS[owner].name).unwrap();
            }
            if noun.name == "dlpack" {
                write!(text, "\n{DLPACK}").unwrap();
            }
        }
        for block in &self.types {
            write!(text, "\n{block}\n").unwrap();
        }
        if !self.functions.is_empty() {
            text += "\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n";
            for block in &self.functions {
                write!(text, "\n{block}\n").unwrap();
            }
            text += "\n#ifdef __cplusplus\n}  // extern \"C\"\n#endif\n";
        }
        text + &format!("\n#endif  /* {} */\n", guard(&file))
    }
}

/// A header that includes others.
fn umbrella(file: &str, about: &str, includes: &[String]) -> String {
    let mut text = notice("tests/header_sync/layout.rs");
    write!(text, "/**\n * @file\n{about} */\n\n#ifndef {0}\n#define {0}\n\n", guard(file)).unwrap();
    for include in includes {
        writeln!(text, "#include <sconce/{include}>").unwrap();
    }
    text + &format!("\n#endif  /* {} */\n", guard(file))
}

/// The files below `include/sconce` and their texts.
pub(crate) fn headers() -> Vec<(String, String)> {
    let owners = owners();
    let mut parts: Vec<Parts> = NOUNS.iter().map(|_| Parts::default()).collect();
    let mut initialisers: BTreeMap<String, String> = BTreeMap::new();
    for block in blocks(INITIALISERS) {
        let name = block.split("sizeof(").nth(1).unwrap().split(')').next().unwrap();
        initialisers.insert(name.to_owned(), block.clone());
    }
    for block in blocks(&declarations()) {
        let name = declared_name(&block);
        let owner = *owners.get(&name).unwrap_or_else(|| panic!("no source defines {name}"));
        let block = plain_enum(&block);
        if block.contains("sconce_")
            && block.trim_end().ends_with(");")
            && !block.contains("typedef ")
        {
            parts[owner].functions.push(block);
        } else {
            parts[owner].types.push(block);
            parts[owner].types.extend(initialisers.remove(&name));
        }
    }
    assert!(initialisers.is_empty(), "no such structs: {initialisers:?}");
    let mut files: Vec<(String, String)> = NOUNS
        .iter()
        .zip(&parts)
        .enumerate()
        .map(|(number, (noun, parts))| {
            (format!("c/{}.h", noun.name), parts.text(noun, &owners, number))
        })
        .collect();
    let of = |all: bool| -> Vec<String> {
        let nouns = NOUNS.iter().filter(|noun| all || noun.in_runtime);
        nouns.map(|noun| format!("c/{}.h", noun.name)).collect()
    };
    files.push((
        "sconce.h".to_owned(),
        umbrella(
            "sconce.h",
            " * The C API of the runtime: devices, streams, events, memory, copies, modules, random numbers, graphs. What\n \
             * holds for every function is said in sconce/c/library.h. sconce_all.h has the rest, and each header in\n \
             * sconce/c can be included alone.\n",
            &of(false),
        ),
    ));
    files.push((
        "sconce_all.h".to_owned(),
        umbrella("sconce_all.h", " * The whole C API.\n", &of(true)),
    ));
    files
}
