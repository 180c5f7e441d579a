//! A model that calls custom operators, which the library of `kernels/sample.cc` has.

use std::path::{Path, PathBuf};

use super::shared::operators::{load, unload};
use super::shared::{live, load_model, sconce_model_unload};
use super::{compiled, doubled, folder, package};

/// The kernel library.
pub(super) fn sample(folder: &Path) -> PathBuf {
    let library = folder.join("libsample.so");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernels/sample.cc");
    let compiler = std::env::var("CXX").unwrap_or_else(|_| "c++".to_owned());
    let output = std::process::Command::new(compiler)
        .args(["-std=c++17", "-shared", "-fPIC", "-o"])
        .arg(&library)
        .arg(source)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    library
}

const SCALED: &str = r#"{"node": {"target": "sample::scaled", "inputs": [
    {"name": "x", "arg": {"as_tensor": {"name": "a"}}}, {"name": "factor", "arg": {"as_float": 3}},
    {"name": "mode", "arg": MODE}], "outputs": [{"as_tensor": {"name": "b"}}]}}"#;
const TWICE: &str = r#"{"node": {"target": "sample::twice", "inputs": [
    {"name": "x", "arg": {"as_tensor": {"name": "b"}}}], "outputs": [{"as_none": true}]}}"#;
const HALVES: &str = r#"{"node": {"target": "sample::halves", "inputs": [
    {"name": "xs", "arg": {"as_tensors": [{"name": "b"}, {"name": "a"}]}},
    {"name": "dim", "arg": {"as_int": 0}}],
    "outputs": [{"as_tensors": [{"name": "c"}, {"name": "d"}]}, {"as_none": true}]}}"#;

/// The same without the number, which the model passes all the same.
const UNNAMED: &str = r#"{"node": {"target": "sample::halves", "inputs": [
    {"name": "xs", "arg": {"as_tensors": [{"name": "b"}, {"name": "a"}]}}],
    "outputs": [{"as_tensors": [{"name": "c"}, {"name": "d"}]}, {"as_none": true}]}}"#;

/// The file that names the calls.
fn nodes(calls: &[&str]) -> String {
    format!("{{\"nodes\": [{}]}}", calls.join(", "))
}

#[test]
fn a_model_calls_the_operators_of_a_kernel_library() {
    let folder = folder("operators");
    let model = compiled(&folder, &["-DCUSTOM"]);
    let bytes = std::fs::read(&model).unwrap();
    let names = folder.join("model.json");
    let scaled = |mode: &str| SCALED.replace("MODE", mode);
    let none = scaled(r#"{"as_none": true}"#);

    let why = load_model(&model).unwrap_err();
    assert!(why.contains("the file that names them is missing"), "{why}");
    std::fs::write(&names, nodes(&[&none, TWICE, HALVES])).unwrap();
    let why = load_model(&model).unwrap_err();
    for words in ["sample::scaled, sample::twice, sample::halves", "sconce_torch_load"] {
        assert!(why.contains(words), "{why}");
    }

    let library = load(&sample(&folder)).unwrap();
    let packed = folder.join("packed.pt2");
    let files: &[(&str, &[u8])] = &[
        ("archive_format", b"pt2"),
        ("data/aotinductor/model/m.wrapper.so", &bytes),
        ("data/aotinductor/model/m.wrapper.json", &std::fs::read(&names).unwrap()),
        ("data/aotinductor/model/m.wrapper_metadata.json", b"{\"AOTI_DEVICE_KEY\": \"cpu\"}"),
    ];
    std::fs::write(&packed, package(files)).unwrap();
    for path in [&model, &packed] {
        let loaded = load_model(path).unwrap();
        let before = live();
        assert_eq!(doubled(loaded, &[1.0, -2.5, 4.0, 0.5]).unwrap(), [2.0, -15.0, 24.0, 3.0]);
        assert_eq!(live(), before);
        assert_eq!(sconce_model_unload(loaded), 0);
    }

    // A number that has its default is left out of the file.
    std::fs::write(&names, nodes(&[&none, TWICE, UNNAMED])).unwrap();
    let loaded = load_model(&model).unwrap();
    assert_eq!(doubled(loaded, &[1.0, -2.5, 4.0, 0.5]).unwrap(), [2.0, -15.0, 24.0, 3.0]);
    assert_eq!(sconce_model_unload(loaded), 0);

    let throws = scaled(r#"{"as_string": "throw"}"#);
    let short = HALVES.replace(r#", {"name": "d"}"#, "");
    let no_int = HALVES.replace(r#"{"as_int": 0}"#, r#"{"as_none": true}"#);
    let more = r#"}}}, {"name": "y", "arg": {"as_float": 1.5}}"#;
    let unknown_argument = TWICE.replacen("}}}", more, 1);
    for (calls, words) in [
        (&[&*throws, TWICE, HALVES][..], "sample::scaled: the mode says to throw"),
        (&[&none, TWICE], "the model calls its operator 2; its package names 2"),
        (&[&none, TWICE, &short], "2 tensors where the model expects 1"),
        (&[&none, TWICE, &no_int], "1 more whole numbers"),
        (&[&none, HALVES, TWICE], "too few tensors"),
        (&[&none, &unknown_argument, HALVES], "no argument y"),
    ] {
        std::fs::write(&names, nodes(calls)).unwrap();
        let loaded = load_model(&model).unwrap();
        let before = live();
        let why = doubled(loaded, &[1.0, 2.0]).unwrap_err();
        assert!(
            why.contains("the model failed: the operator") || words.contains("operator 2"),
            "{why}"
        );
        assert!(why.contains(words), "expected {words:?} in {why:?}");
        assert_eq!(live(), before, "{words}");
        assert_eq!(sconce_model_unload(loaded), 0);
    }

    // The library goes while the model stays.
    std::fs::write(&names, nodes(&[&none, TWICE, HALVES])).unwrap();
    let loaded = load_model(&model).unwrap();
    unload(library);
    let why = doubled(loaded, &[1.0]).unwrap_err();
    assert!(why.contains("there is no operator sample::scaled"), "{why}");
    assert_eq!(sconce_model_unload(loaded), 0);
}
