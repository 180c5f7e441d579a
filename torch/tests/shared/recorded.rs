//! Models of PyTorch, and what PyTorch recorded of them.

use std::path::{Path, PathBuf};

use super::{F32, read_values};

/// The folder of the models, if there is one.
pub(crate) fn models() -> Option<PathBuf> {
    let folder = std::env::var_os("SCONCE_TEST_MODELS").map(PathBuf::from);
    let folder =
        folder.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/models"));
    let found = folder.join("cpu_mlp.pt2").exists();
    if !found {
        println!("skipped: there are no models in {}; set SCONCE_TEST_MODELS", folder.display());
    }
    found.then_some(folder)
}

/// A tensor as the description has it: type, shape and values.
pub(crate) struct Recorded {
    pub(crate) dtype: i32,
    pub(crate) shape: Vec<i64>,
    pub(crate) bytes: Vec<u8>,
}

fn numbers(text: &str) -> Vec<i64> {
    text.split(',').filter_map(|number| number.trim().parse().ok()).collect()
}

/// Inputs and outputs of a model.
pub(crate) fn recorded(folder: &Path, name: &str) -> (Vec<Recorded>, Vec<Recorded>) {
    let json = std::fs::read_to_string(folder.join(format!("{name}.json"))).unwrap();
    let values = std::fs::read(folder.join(format!("{name}.bin"))).unwrap();
    let (inputs, rest) = json.split_once("\"outputs\"").unwrap();
    let outputs = rest.split("\"needs\"").next().unwrap();
    let mut at = 0;
    let mut list = |part: &str| -> Vec<Recorded> {
        let mut found = Vec::new();
        for entry in part.split("\"dtype\": \"").skip(1) {
            let (dtype, width) = match entry.split('"').next().unwrap() {
                "float32" => (0, 4),
                "int64" => (7, 8),
                "bfloat16" => (3, 2),
                other => panic!("{other} is not read here"),
            };
            let shape = entry.split_once("\"shape\": [").unwrap().1.split(']').next().unwrap();
            let shape = numbers(shape);
            let bytes = width * usize::try_from(shape.iter().product::<i64>()).unwrap();
            found.push(Recorded { dtype, shape, bytes: values[at..at + bytes].to_vec() });
            at += bytes;
        }
        found
    };
    let lists = (list(inputs), list(outputs));
    assert_eq!(at, values.len(), "{name}.bin has other values than {name}.json says");
    lists
}

impl Recorded {
    pub(crate) fn tensor(&self) -> usize {
        super::tensor(&self.bytes, self.dtype, &self.shape)
    }

    /// Compares a tensor with the recorded values: within 1e-5 of the largest, whole numbers exactly.
    pub(crate) fn compare(&self, tensor: usize, what: &str) {
        self.compare_within(tensor, 1e-5, what);
    }

    pub(crate) fn compare_within(&self, tensor: usize, within: f32, what: &str) {
        assert_eq!(super::numel(tensor), self.shape.iter().product::<i64>(), "{what}");
        let mut bytes = vec![0_u8; self.bytes.len()];
        read_values(tensor, &mut bytes);
        if self.dtype != F32 {
            assert_eq!(bytes, self.bytes, "{what}");
            return;
        }
        let read = |bytes: &[u8]| -> Vec<f32> {
            bytes.chunks_exact(4).map(|four| f32::from_le_bytes(four.try_into().unwrap())).collect()
        };
        let (ours, theirs) = (read(&bytes), read(&self.bytes));
        let largest = theirs.iter().fold(0.0_f32, |most, value| most.max(value.abs()));
        let apart = ours.iter().zip(&theirs).map(|(ours, theirs)| (ours - theirs).abs());
        let apart =
            apart.fold(
                0.0_f32,
                |most, apart| if apart.is_nan() { f32::INFINITY } else { most.max(apart) },
            );
        assert!(
            apart <= within * largest,
            "{what}: {apart} apart, the largest element is {largest}"
        );
    }
}
