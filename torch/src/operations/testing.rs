//! Tensors for tests of operations, and random cases.

#![allow(
    unsafe_code,
    clippy::unwrap_used,
    reason = "calls libsconce.so; a test fails by panicking"
)]

use super::layout::contiguous_strides;
use super::walk::walk;
use crate::abi::tensors::{numel_of, sizes_of};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::values::options;
use crate::sconce::{Tensor, api, check, operations};

/// A tensor of the CPU with these values, converted to a type.
pub fn tensor(sizes: &[i64], dtype: i32, values: &[f64]) -> Tensor {
    assert_eq!(sizes.iter().product::<i64>() as usize, values.len());
    let double = options(api::SCONCE_DTYPE_F64, api::SCONCE_DEVICE_CPU);
    let bytes = size_of_val(values);
    // SAFETY: the values have that many bytes; sizes, options and the place are valid.
    let made = Tensor::made(|made| unsafe {
        let (values, sizes, rank) = (values.as_ptr().cast(), sizes.as_ptr(), sizes.len());
        api::sconce_tensor_from_values(values, bytes, sizes, rank, &double, made)
    });
    operations::to_dtype(made.unwrap().handle(), dtype).unwrap()
}

/// As [`tensor`], with dimensions that lie in another order, and gaps between elements.
pub fn scattered_tensor(sizes: &[i64], dtype: i32, values: &[f64], random: &mut Random) -> Tensor {
    let mut order: Vec<i64> = (0..sizes.len() as i64).collect();
    for at in (1..order.len()).rev() {
        order.swap(at, random.below(at as u64 + 1) as usize);
    }
    // Twice the size along each dimension, of which every second element is used.
    let outer: Vec<i64> = order.iter().map(|&dim| sizes[dim as usize] * 2).collect();
    let memory = tensor(&outer, dtype, &vec![1.0; outer.iter().product::<i64>() as usize]);
    let mut strides = vec![0; sizes.len()];
    for (&dim, stride) in order.iter().zip(contiguous_strides(&outer)) {
        strides[dim as usize] = 2 * stride;
    }
    let view = operations::as_strided(memory.handle(), sizes, &strides, Some(0)).unwrap();
    operations::copy(&view, tensor(sizes, dtype, values).handle()).unwrap();
    view
}

/// The values of a real tensor, the last dimension first.
pub fn values(tensor: TensorHandle) -> Vec<f64> {
    let double = operations::to_dtype(tensor, api::SCONCE_DTYPE_F64).unwrap();
    let mut values = vec![0.0_f64; numel_of(tensor).unwrap() as usize];
    let bytes = size_of_val(values.as_slice());
    // SAFETY: the buffer has that many bytes.
    check(unsafe {
        api::sconce_tensor_to_values(double.handle(), values.as_mut_ptr().cast(), bytes)
    })
    .unwrap();
    values
}

/// The sizes and the values.
pub fn content(tensor: &Tensor) -> (Vec<i64>, Vec<f64>) {
    (sizes_of(tensor.handle()).unwrap(), values(tensor.handle()))
}

/// All indices of a tensor of these sizes, the last dimension first.
pub fn indices(sizes: &[i64]) -> Vec<Vec<i64>> {
    let strides = contiguous_strides(sizes);
    let mut all = Vec::new();
    walk(sizes, [&strides], |[place]| {
        all.push(sizes.iter().zip(&strides).map(|(size, stride)| place / stride % size).collect());
    });
    all
}

/// Numbers that look random, the same ones for the same seed (SplitMix64).
pub struct Random(pub u64);

impl Random {
    /// A number from 0 to `end`, excluding `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % end.max(1)
    }

    /// A size from `low` to `high`.
    pub fn size(&mut self, low: i64, high: i64) -> i64 {
        low + self.below((high - low + 1) as u64) as i64
    }

    /// Sizes of a tensor of `rank` dimensions.
    pub fn sizes(&mut self, rank: usize, most: i64) -> Vec<i64> {
        (0..rank).map(|_| self.size(1, most)).collect()
    }

    /// Small whole numbers, which all types hold, from 0 to `end`, excluding `end`.
    pub fn values(&mut self, count: i64, end: u64) -> Vec<f64> {
        (0..count).map(|_| self.below(end) as f64).collect()
    }
}
