//! Where results lie that nobody reads without dropout, as their memory counts in each call.

#![allow(
    clippy::multiple_unsafe_ops_per_block,
    reason = "calls of one kind, with the same promise"
)]

use super::{BATCH, HEADS, QUERIES, WIDTH, sizes, tensor};
use crate::abi::tensors::{device_of_tensor, dtype_of_tensor, is_defined, sizes_of};
use crate::error::newest;
use crate::fallbacks::attention::functions::{
    aoti_torch_cuda__scaled_dot_product_cudnn_attention as cudnn,
    aoti_torch_cuda__scaled_dot_product_efficient_attention as efficient,
    aoti_torch_cuda__scaled_dot_product_flash_attention as flash,
};
use crate::operations::tensors::on_device;
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, api};
use crate::testing::{call, captured};

/// The four results of attention within a tensor, without log sums.
fn attended(query: &Tensor) -> [Tensor; 4] {
    let mut handles: [TensorHandle; 4] = [std::ptr::null_mut(); 4];
    let [a, b, c, d] = handles.each_mut().map(std::ptr::from_mut);
    let (q, none, scale) = (query.handle(), std::ptr::null(), std::ptr::null());
    let status = call!(efficient(q, q, q, none, 0, 0.0, 0, scale, a, b, c, d));
    assert_eq!(status, 0, "{:?}", newest());
    handles.map(Tensor::from_handle)
}

fn check_results([_, log_sums, seed, offset]: &[Tensor; 4], device_of_state: i32) {
    assert_eq!(sizes_of(log_sums.handle()).unwrap(), [BATCH as i64, HEADS as i64, 0]);
    assert_eq!(dtype_of_tensor(log_sums.handle()).unwrap(), api::SCONCE_DTYPE_F32);
    for state in [seed, offset] {
        assert_eq!(device_of_tensor(state.handle()).unwrap(), device_of_state);
        assert_eq!(dtype_of_tensor(state.handle()).unwrap(), api::SCONCE_DTYPE_I64);
        assert!(sizes_of(state.handle()).unwrap().is_empty());
    }
}

#[test]
fn what_flash_attention_returns_without_dropout_has_torchs_sizes_and_types() {
    let (tensor, _) = tensor(&sizes(HEADS, QUERIES, WIDTH), 1);
    let (q, none, scale) = (tensor.handle(), std::ptr::null_mut(), std::ptr::null());
    let mut handles: [TensorHandle; 5] = [std::ptr::null_mut(); 5];
    let [a, b, c, d, e] = handles.each_mut().map(std::ptr::from_mut);
    let (no_length, no_bias) = (std::ptr::null_mut(), std::ptr::null());
    for is_flash in [true, false] {
        // SAFETY: the handles are alive, the places valid for writes or NULL.
        let status = unsafe {
            match is_flash {
                true => flash(
                    q, q, q, 0.0, 0, 0, scale, a, b, none, none, no_length, no_length, c, d, e,
                ),
                false => cudnn(
                    q, q, q, no_bias, 0, 0.0, 0, 0, scale, a, b, none, none, no_length, no_length,
                    c, d, e,
                ),
            }
        };
        assert_eq!(status, 0, "{:?}", newest());
        let [_, _, seed, offset, mask] = handles.map(Tensor::from_handle);
        let found = [&seed, &offset]
            .map(|one| (dtype_of_tensor(one.handle()).unwrap(), sizes_of(one.handle()).unwrap()));
        let (u64s, i64s) = (api::SCONCE_DTYPE_U64, api::SCONCE_DTYPE_I64);
        match is_flash {
            true => {
                assert_eq!(found, [(u64s, vec![2]), (u64s, vec![])]);
                assert_eq!(dtype_of_tensor(mask.handle()).unwrap(), api::SCONCE_DTYPE_F32);
                assert_eq!(sizes_of(mask.handle()).unwrap(), [0]);
            }
            false => {
                assert_eq!(found, [(i64s, vec![]), (i64s, vec![])]);
                assert!(!is_defined(mask.handle()).unwrap());
            }
        }
    }
}

#[test]
fn seed_and_offset_take_memory_of_the_device_in_a_capture_alone() {
    crate::testing::simulate();
    let (tensor, _) = tensor(&sizes(HEADS, QUERIES, WIDTH), 1);
    check_results(&attended(&tensor), api::SCONCE_DEVICE_CPU);
    let query = on_device(tensor.handle(), 0).unwrap();
    check_results(&attended(&query), api::SCONCE_DEVICE_CPU);

    captured(|| check_results(&attended(&query), 0));
}
