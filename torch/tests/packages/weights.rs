//! Weights that a package keeps beside the library, or does not have at all.

use std::path::Path;

use super::shared::{
    F32, live, load_model, message, release, sconce_model_unload, tensor, update_constants,
};
use super::{compiled, doubled, folder, package};

fn unload(model: usize) {
    assert_eq!(sconce_model_unload(model), 0, "{}", message());
}

fn bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// A file of `torch.save` with one storage.
fn saved(values: &[f32]) -> Vec<u8> {
    package(&[
        ("archive/data.pkl", b"not read"),
        ("archive/byteorder", b"little"),
        ("archive/data/0", &bytes(values)),
        ("archive/version", b"3"),
    ])
}

/// Loads a package of the model with more files.
fn load(folder: &Path, library: &[u8], more: &[(&str, &[u8])]) -> Result<usize, String> {
    let mut files: Vec<(&str, &[u8])> =
        vec![("p/archive_format", b"pt2"), ("p/data/aotinductor/model/m.so", library)];
    files.extend(more);
    let path = folder.join("package.pt2");
    std::fs::write(&path, package(&files)).unwrap();
    load_model(&path)
}

const CONFIG: &str = "p/data/aotinductor/model/weights_config.json";
const SOURCE: &str = "p/data/aotinductor/model/m.wrapper.cpp";
const BLOB: &str = "p/data/aotinductor/model/m.wrapper_weights.blob";

#[test]
fn weights_beside_the_library_are_read() {
    let folder = folder("weights");
    let library = std::fs::read(compiled(&folder, &["-DWEIGHTS"])).unwrap();
    let before = live();
    let model = load(&folder, &library, &[(BLOB, &bytes(&[3.0, 1.0]))]).unwrap();
    assert_eq!(doubled(model, &[1.0, 2.0]).unwrap(), [4.0, 7.0]);
    unload(model);

    // The weight begins at the second element of a storage, and takes every second one.
    let storage = saved(&[9.0, 5.0, 9.0, -1.0]);
    let config =
        br#"{"inner.weight": ["weight_0", [2], [2], 1], "other": ["weight_1", [1], [1], 0]}"#;
    let files: [(&str, &[u8]); 3] = [
        (CONFIG, config),
        ("p/data/weights/weight_0", &storage),
        ("p/data/weights/weight_1", &saved(&[0.0])),
    ];
    let model = load(&folder, &library, &files).unwrap();
    assert_eq!(doubled(model, &[1.0, 2.0]).unwrap(), [4.0, 9.0]);
    unload(model);
    assert_eq!(live(), before, "tensors are left");
}

#[test]
fn a_model_without_its_weights_runs_when_it_has_them() {
    let folder = folder("no_weights");
    let library = std::fs::read(compiled(&folder, &["-DWEIGHTS"])).unwrap();
    let before = live();
    let model = load(&folder, &library, &[]).unwrap();
    let why = doubled(model, &[1.0]).unwrap_err();
    assert!(
        why.contains("1 of the model's constants have no values, such as inner_weight"),
        "{why}"
    );
    assert!(why.contains("sconce_model_update_constants"), "{why}");
    let weight = tensor(&[0.5_f32, 8.0], F32, &[2]);
    update_constants(model, &[("inner.weight", weight)], false).unwrap();
    release(weight);
    assert_eq!(doubled(model, &[4.0]).unwrap(), [10.0]);
    unload(model);
    assert_eq!(live(), before, "tensors are left");
}

#[test]
fn the_rounded_memory_of_a_constant_does_not_count() {
    let folder = folder("rounded_weights");
    let library = std::fs::read(compiled(&folder, &["-DWEIGHTS", "-DROUNDED"])).unwrap();
    let before = live();
    let config = br#"{"inner.weight": ["weight_0", [2], [1], 0]}"#;
    let source = b"constants_info_[0].name = \"inner_weight\";\nconstants_info_[0].shape = {2};\n";
    let weight = saved(&[5.0, -1.0]);
    let files: [(&str, &[u8]); 3] =
        [(CONFIG, config), ("p/data/weights/weight_0", &weight), (SOURCE, source)];
    // The source says how many elements there are.
    let update = |model, values: &[f32]| {
        let weight = tensor(values, F32, &[values.len() as i64]);
        let outcome = update_constants(model, &[("inner.weight", weight)], false);
        release(weight);
        outcome
    };
    let model = load(&folder, &library, &files).unwrap();
    assert_eq!(doubled(model, &[1.0, 2.0]).unwrap(), [4.0, 9.0]);
    update(model, &[3.0, 0.0]).unwrap();
    assert_eq!(doubled(model, &[1.0, 2.0]).unwrap(), [3.0, 6.0]);
    for values in [&[1.0_f32; 1][..], &[1.0; 3], &[1.0; 16]] {
        let why = update(model, values).unwrap_err();
        assert!(
            why.contains("was passed for the constant inner.weight, which is float32[2]"),
            "{why}"
        );
    }
    unload(model);
    // Without the source anything that has the same rounded size is taken.
    let model = load(&folder, &library, &files[..2]).unwrap();
    assert_eq!(doubled(model, &[1.0, 2.0]).unwrap(), [4.0, 9.0]);
    let why = update(model, &[1.0; 17]).unwrap_err();
    assert!(why.contains("the constant inner.weight, which is float32 in 64 bytes"), "{why}");
    unload(model);
    // The file of all weights has the rounded sizes.
    let mut blob = bytes(&[3.0, 1.0]);
    let why = load(&folder, &library, &[(BLOB, &blob), (SOURCE, source)]).unwrap_err();
    assert!(why.contains("(.blob) has 8 bytes; the model has constants of 64 bytes"), "{why}");
    blob.resize(64, 0);
    let model = load(&folder, &library, &[(BLOB, &blob), (SOURCE, source)]).unwrap();
    assert_eq!(doubled(model, &[1.0, 2.0]).unwrap(), [4.0, 7.0]);
    unload(model);
    assert_eq!(live(), before, "tensors are left");
}

#[test]
fn damaged_weights_are_refused_in_words() {
    let folder = folder("hostile_weights");
    let library = std::fs::read(compiled(&folder, &["-DWEIGHTS"])).unwrap();
    let before = live();
    let good = saved(&[1.0, 2.0]);
    let entry = |sizes: &str, strides: &str, offset: &str| {
        format!(r#"{{"inner.weight": ["weight_0", {sizes}, {strides}, {offset}]}}"#)
    };
    let whole = entry("[2]", "[1]", "0");
    let longer = saved(&[1.0, 2.0, 3.0]);
    let big = package(&[("archive/byteorder", b"big"), ("archive/data/0", &bytes(&[1.0, 2.0]))]);
    let two = package(&[("archive/data/0", b"x"), ("archive/data/1", b"y")]);
    let none = package(&[("archive/data.pkl", b"x")]);
    for (config, storage, words) in [
        ("{", &good[..], "not understood at byte"),
        ("[]", &good, "no object"),
        (
            r#"{"inner.weight": ["../weight_0", [2], [1], 0]}"#,
            &good,
            "which is not in data/weights/",
        ),
        (r#"{"inner.weight": ["weight_7", [2], [1], 0]}"#, &good, "names \"weight_7\""),
        (&entry("[2]", "[1]", "1"), &good, "the weight inner.weight"),
        (&entry("[2]", "[1]", "-1"), &good, "begins at element -1"),
        (&entry("[2]", "[1]", "9223372036854775807"), &good, "begins at element 92233"),
        (&entry("[4611686018427387904]", "[4]", "0"), &good, "the weight inner.weight"),
        (&entry("[2]", "[1, 1]", "0"), &good, "another number of strides"),
        (&entry("[2]", "[-1]", "0"), &good, "the weight inner.weight"),
        (&entry("[1]", "[1]", "0"), &longer, "has 4 bytes; the model's constant has 8"),
        (&whole, b"no zip", "could not be read"),
        (&whole, &good[..good.len() - 30], "could not be read"),
        (&whole, &big, "in another order"),
        (&whole, &two, "several storages"),
        (&whole, &none, "no storage"),
    ] {
        let files: [(&str, &[u8]); 2] =
            [(CONFIG, config.as_bytes()), ("p/data/weights/weight_0", storage)];
        let why = load(&folder, &library, &files).unwrap_err();
        assert!(why.contains(words), "expected {words:?} in {why:?}");
    }
    let why = load(&folder, &library, &[(BLOB, &bytes(&[1.0]))]).unwrap_err();
    assert!(why.contains("(.blob) has 4 bytes; the model has constants of 8 bytes"), "{why}");
    assert_eq!(live(), before, "tensors are left");
}
