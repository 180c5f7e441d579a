//! Texts for callers are in their languages, C and C++: they name no functions, arguments and values as Python spells
//! them. Advice for those who compile a model is for Python, where models are compiled.

use std::path::Path;

use crate::assert_none;
use crate::source::{Source, crate_sources, is_test, strings};

/// Files whose texts are values of PyTorch's settings or of variables, and printed tensors, all of which are spelled as
/// PyTorch does.
const SPELLED_AS_PYTORCH: &[&str] = &[
    "caching/settings/keys.rs",
    "config/job.rs",
    "tensor/print/layout.rs",
    "tensor/print/numbers.rs",
];

/// Modules of Python in advice on how to compile a model.
const COMPILING: &[&str] = &["torch._inductor", "torch.export", "aot_inductor.", "model.eval()"];

/// The words of a text: what stands between blanks, without punctuation at either end.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(char::is_whitespace).map(|word| word.trim_matches(|c: char| "()'`\",;.".contains(c)))
}

/// Whether a word is spelled as in Python.
fn is_python(word: &str) -> bool {
    let value = |value: &str| ["True", "False", "None"].contains(&value);
    let assigned = word.split_once('=').is_some_and(|(name, to)| {
        let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c == '_');
        is_name && (value(to) || ["true", "false"].contains(&to))
    });
    let of_torch = word.strip_prefix("torch.").is_some_and(|name| {
        name.starts_with(|c: char| c.is_ascii_alphabetic() || "_{".contains(c))
    });
    value(word) || assigned || of_torch
}

/// The first word of a text that is Python's. Schemas of operations are not texts for callers, and neither are parts of
/// them: their parameters have types.
fn python_word(text: &str) -> Option<&str> {
    let is_schema = text.contains("->")
        || text.contains("? ")
        || text.contains("Tensor(a")
        || text.contains("float ");
    let is_advice = COMPILING.iter().any(|module| text.contains(module));
    // A word alone is a value or a name.
    let is_text = text.contains(' ') && !is_schema && !is_advice;
    if is_text { words(text).find(|word| is_python(word)) } else { None }
}

fn faults(root: &str, sources: &[Source]) -> Vec<String> {
    let mut found = Vec::new();
    for source in sources {
        if is_test(&source.path) || SPELLED_AS_PYTORCH.contains(&source.path.as_str()) {
            continue;
        }
        for (text, line) in strings(&source.text) {
            if let Some(word) = python_word(&text) {
                found.push(format!("{root}/{}:{line}: `{word}` in \"{text}\"", source.path));
            }
        }
    }
    found
}

/// The C++ headers.
fn headers() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("include/sconce");
    let mut found = Vec::new();
    for entry in std::fs::read_dir(root).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "hpp") {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            found.push(Source::new(&name, &std::fs::read_to_string(&path).unwrap()));
        }
    }
    assert!(found.len() > 60, "{} headers", found.len());
    found
}

#[test]
fn texts_for_callers_are_not_in_python() {
    let mut found = faults("include/sconce", &headers());
    for root in ["src", "torch/src"] {
        found.extend(faults(root, &crate_sources(root)));
    }
    assert_none(&found);
}

#[test]
fn planted_python_is_seen() {
    for text in [
        "pass enable_timing=True to both",
        "one of None, 'trunc' or 'floor'",
        "torch.cat(): expected a list",
        "was created with keep_graph=true",
        "call torch.cuda.synchronize() first",
        "torch.{name}: Expected two",
    ] {
        assert!(python_word(text).is_some(), "{text}");
    }
    for text in [
        "export with torch._inductor.config.freezing = False",
        "sum(Tensor self, *, ScalarType? dtype=None) -> Tensor",
        "policy:pages (expandable_segments:True) in SCONCE_ALLOC_CONF",
        "what torch calls a stream",
        "True",
        "from=2 > to=1 is no range",
    ] {
        assert!(python_word(text).is_none(), "{text}");
    }
    let source = "// in torch.cuda: True \nfn f() { g(\"a text that is \\\n    True\") }\n#[cfg(test)]\nmod tests { \"is True\" }";
    let planted = faults("src", &[Source::new("a/b.rs", source)]);
    assert_eq!(planted.len(), 1, "{planted:?}");
    assert!(planted[0].contains("`True` in \"a text that is True\""), "{planted:?}");
}
