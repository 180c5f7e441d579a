//! Texts for callers are in their languages, C and C++: they name no functions, arguments and values as Python spells
//! them. Advice for those who compile a model is for Python, where models are compiled.

use crate::assert_none;
use crate::source::{self, files, sources, text};

/// Files whose texts are values of PyTorch's settings or of variables, and printed tensors, all of which are spelled as
/// PyTorch does.
const SPELLED_AS_PYTORCH: &[&str] = &[
    "crates/runtime/src/caching/settings/keys.rs",
    "crates/base/src/config/job.rs",
    "crates/tensors/src/tensor/print/layout.rs",
    "crates/tensors/src/tensor/print/numbers.rs",
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

/// What a file says to callers in Python.
fn faults(path: &str, texts: Vec<String>) -> Vec<String> {
    let python = |text: String| Some(format!("{path}: `{}` in \"{text}\"", python_word(&text)?));
    texts.into_iter().filter_map(python).collect()
}

/// The texts of a C++ header.
fn texts_of_header(text: &str) -> Vec<String> {
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    let quoted = code.flat_map(|line| line.split('"').skip(1).step_by(2));
    quoted.map(str::to_owned).collect()
}

#[test]
fn texts_for_callers_are_not_in_python() {
    let headers = files("include/sconce", "hpp");
    assert!(headers.len() > 60, "{} headers", headers.len());
    let mut found: Vec<String> =
        headers.iter().flat_map(|path| faults(path, texts_of_header(&text(path)))).collect();
    let mut spelled = 0;
    for source in sources(&[source::libsconce(), vec!["torch/src".to_owned()]].concat()) {
        if SPELLED_AS_PYTORCH.contains(&source.path.as_str()) {
            spelled += 1;
        } else {
            found.extend(faults(&source.path, source.code().texts));
        }
    }
    assert_none(&found);
    assert_eq!(spelled, SPELLED_AS_PYTORCH.len(), "a file of SPELLED_AS_PYTORCH is gone");
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
    let source = source::Source::new("src", "src/a/b.rs", source);
    let python = ["src/a/b.rs: `True` in \"a text that is True\""];
    assert_eq!(faults(&source.path, source.code().texts), python);
    let header = "// says \"is True\"\nthrow Error(\"a text that is True\");";
    assert_eq!(faults("src/a/b.rs", texts_of_header(header)), python);
}
