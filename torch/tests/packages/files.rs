//! The files of packages: damaged ones are named, and nothing stays on the disk.

use std::path::Path;

use super::shared::{load_model, message, sconce_model_unload};
use super::{compiled, doubled, folder, package};

/// A package of a model with more files.
fn load(folder: &Path, files: &[(&str, &[u8])]) -> Result<usize, String> {
    let path = folder.join("package.pt2");
    std::fs::write(&path, package(files)).unwrap();
    load_model(&path)
}

fn unload(model: usize) {
    assert_eq!(sconce_model_unload(model), 0, "{}", message());
}

const LIBRARY: &str = "p/data/aotinductor/model/m.wrapper.so";
const SOURCE: &str = "p/data/aotinductor/model/m.wrapper.cpp";
const METADATA: &str = "p/data/aotinductor/model/m.wrapper_metadata.json";
const OPERATORS: &str = "p/data/aotinductor/model/m.wrapper.json";
const BLOB: &str = "p/data/aotinductor/model/m.wrapper_weights.blob";
const CONFIG: &str = "p/data/aotinductor/model/weights_config.json";
const WEIGHT: &str = "p/data/weights/weight_0";

#[test]
fn a_loaded_model_has_no_files() {
    let folder = folder("no_files");
    let private = folder.join("private");
    super::shared::set_variable("TMPDIR", &private);
    // The model itself sees no files when it is made: a process that is killed then leaves none.
    let library = std::fs::read(compiled(&folder, &["-DNAMELESS"])).unwrap();
    // What the model does not need is not read, and may be damaged.
    let files: [(&str, &[u8]); 2] =
        [(LIBRARY, &library), ("p/data/aotinductor/model/notes.bin", b"these are notes")];
    let mut zip = package(&files);
    damage(&mut zip, files[1].1);
    let path = folder.join("package.pt2");
    std::fs::write(&path, zip).unwrap();
    let model = load_model(&path).unwrap();
    assert_eq!(
        std::fs::read_dir(&private).unwrap().count(),
        0,
        "a process that is killed leaves files"
    );
    assert_eq!(doubled(model, &[1.0, 2.0]).unwrap(), [2.0, 4.0]);
    unload(model);
}

/// Changes the last byte of a file in a zip, whose bytes are not compressed.
fn damage(zip: &mut [u8], bytes: &[u8]) {
    let at = zip.windows(bytes.len()).position(|window| window == bytes).unwrap();
    zip[at + bytes.len() - 1] ^= 1;
}

#[test]
fn damaged_entries_are_named() {
    let folder = folder("damaged");
    let library = std::fs::read(compiled(&folder, &["-DWEIGHTS"])).unwrap();
    let config = br#"{"inner.weight": ["weight_0", [2], [1], 0]}"#;
    let weight = package(&[("a/byteorder", b"little"), ("a/data/0", &[0; 8])]);
    let whole: [(&str, &[u8]); 6] = [
        (LIBRARY, &library),
        (SOURCE, b"static void check_input_0("),
        (METADATA, br#"{"AOTI_DEVICE_KEY": "cpu"}"#),
        (OPERATORS, br#"{"nodes": []}"#),
        (CONFIG, config),
        (WEIGHT, &weight),
    ];
    unload(load(&folder, &whole).unwrap());
    let blob: [(&str, &[u8]); 2] = [(LIBRARY, &library), (BLOB, &[1, 2, 3, 4, 5, 6, 7, 8])];
    for files in [&whole[..], &blob] {
        for (name, bytes) in files {
            let mut zip = package(files);
            damage(&mut zip, bytes);
            let path = folder.join("package.pt2");
            std::fs::write(&path, zip).unwrap();
            let why = load_model(&path).unwrap_err();
            let file = name.rsplit('/').next().unwrap();
            assert!(why.contains("package.pt2 is no package that can be read"), "{name}: {why}");
            assert!(why.contains(file), "{name}: {why}");
        }
    }
}

#[test]
fn lists_that_do_not_parse_are_not_missing() {
    let folder = folder("lists");
    let library = compiled(&folder, &["-DCUSTOM"]);
    let bytes = std::fs::read(&library).unwrap();
    let cut = br#"{"nodes": ["#;
    for (name, words) in [
        (METADATA, "m.wrapper_metadata.json: JSON that is not understood at byte"),
        (OPERATORS, "m.wrapper.json: JSON that is not understood at byte"),
        (CONFIG, "weights_config.json: JSON that is not understood at byte"),
    ] {
        let why = load(&folder, &[(LIBRARY, &bytes), (name, cut)]).unwrap_err();
        assert!(why.contains(words) && !why.contains("missing"), "{name}: {why}");
    }
    std::fs::write(folder.join("model.json"), cut).unwrap();
    let why = load_model(&library).unwrap_err();
    assert!(
        why.contains("model.json, which names the model's custom operators: JSON that is not"),
        "{why}"
    );
    // A model that calls no such operators does not need the list.
    let plain = std::fs::read(compiled(&folder, &[])).unwrap();
    unload(load(&folder, &[(LIBRARY, &plain), (OPERATORS, cut)]).unwrap());
}

#[test]
fn operations_of_pytorch_are_no_custom_operators() {
    let folder = folder("named");
    let library = std::fs::read(compiled(&folder, &["-DCUSTOM"])).unwrap();
    let nodes = |names: &[&str]| {
        let node = |name: &&str| {
            format!(r#"{{"node": {{"target": "{name}", "inputs": [], "outputs": []}}}}"#)
        };
        format!("{{\"nodes\": [{}]}}", names.iter().map(node).collect::<Vec<_>>().join(", "))
    };
    let load = |names: &[&str]| {
        load(&folder, &[(LIBRARY, &library), (OPERATORS, nodes(names).as_bytes())])
    };
    let why = load(&["aten::no_such.default", "prims::neither"]).unwrap_err();
    assert!(why.contains("operations of PyTorch by name that libsconce_torch does not offer: aten::no_such, prims::neither"), "{why}");
    assert!(why.contains("run_decompositions") && !why.contains("custom operators"), "{why}");
    let why = load(&["aten::no_such", "mine::op"]).unwrap_err();
    assert!(
        why.contains("does not offer: aten::no_such.")
            && why.contains("for its device: mine::op. Load"),
        "{why}"
    );
}
