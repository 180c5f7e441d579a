//! Attention of sequences of several lengths, by name.

use super::{Value, call, counted, ints, tensors, word};
use crate::abi::tensors::sizes_of;
use crate::sconce::Tensor;
use crate::sconce::api::{SCONCE_DTYPE_F32 as F32, SCONCE_DTYPE_I32 as I32};
use crate::testing::Dense;

fn tensor(sizes: &[i64], values: &[f64], dtype: i32) -> Tensor {
    Dense { sizes: sizes.to_vec(), values: values.to_vec() }.tensor(dtype)
}

/// Two sequences of two queries and one; a query attends to its own position and those before it. All scores are equal,
/// so results are means of the values, and log sums logarithms of the numbers of keys.
fn arguments(window: Option<&[i64]>) -> Vec<Value> {
    let zeros = tensor(&[3, 1, 2], &[0.0; 6], F32);
    let value = tensor(&[3, 1, 2], &[1.0, 2.0, 3.0, 6.0, 5.0, 7.0], F32);
    let bounds = tensor(&[3], &[0.0, 2.0, 3.0], I32);
    vec![
        word(&zeros),
        word(&zeros),
        word(&value),
        word(&bounds),
        word(&bounds),
        Value::Int(2),
        Value::Int(2),
        Value::Bool(true),
        Value::None,
        window.map_or(Value::None, ints),
    ]
}

const MEANS: [f64; 6] = [1.0, 2.0, 2.0, 4.0, 5.0, 7.0];

fn assert_values(found: &Tensor, sizes: &[i64], values: &[f64]) {
    assert_eq!(sizes_of(found.handle()).unwrap(), sizes);
    let expected = Dense { sizes: sizes.to_vec(), values: values.to_vec() };
    expected.assert_near(found.handle(), 1e-6, "attention");
}

#[test]
fn sequences_have_attention_of_their_own() {
    counted(|| {
        let log_sums = [0.0, 2.0_f64.ln(), 0.0];
        for window in [None, Some([-1, 0].as_slice())] {
            let found = tensors(call("torch_attn::_varlen_attn", "", arguments(window)).unwrap());
            assert_eq!(found.len(), 3);
            assert_values(&found[0], &[3, 1, 2], &MEANS);
            assert_values(&found[1], &[1, 3], &log_sums);
            assert_eq!(sizes_of(found[2].handle()).unwrap(), [2]);
        }
        // Each query attends to its own position only.
        let found =
            tensors(call("torch_attn::_varlen_attn", "", arguments(Some(&[0, 0]))).unwrap());
        assert_values(&found[0], &[3, 1, 2], &[1.0, 2.0, 3.0, 6.0, 5.0, 7.0]);

        let out = tensor(&[3, 1, 2], &[9.0; 6], F32);
        let values = std::iter::once(word(&out)).chain(arguments(None)).collect();
        let found = tensors(call("torch_attn::_varlen_attn_out", "", values).unwrap());
        assert_values(&out, &[3, 1, 2], &MEANS);
        assert_values(&found[0], &[1, 3], &log_sums);
        let why = call("torch_attn::_varlen_attn", "", arguments(Some(&[1]))).unwrap_err();
        assert!(why.contains("window_size must have length 2, got 1"), "{why}");
    });
}
