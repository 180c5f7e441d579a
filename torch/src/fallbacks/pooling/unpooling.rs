//! The inverse of pooling: largest elements go back to where they were found.

#![allow(unsafe_code, reason = "functions of C over handles and arrays")]

use crate::abi::tensors::{device_of_tensor, dtype_of_tensor, sizes_of};
use crate::error::{Error, Result};
use crate::fallbacks::{Place, give};
use crate::operations::indexed::scatter;
use crate::operations::layout::count_of;
use crate::sconce::tensor::TensorHandle;
use crate::sconce::values::{integer, options};
use crate::sconce::{Tensor, api, operations};

/// `max_unpool{2,3}d(self, indices, output_size)`: zeros, with each element at its index in the plane.
fn unpooled(
    tensor: TensorHandle,
    indices: TensorHandle,
    output: &[i64],
    dims: usize,
) -> Result<Tensor> {
    let sizes = sizes_of(tensor)?.to_vec();
    let rank = sizes.len();
    if dtype_of_tensor(indices)? != api::SCONCE_DTYPE_I64 {
        return Err(Error::invalid_argument("elements in indices should be type int64"));
    }
    if sizes != *sizes_of(indices)? {
        return Err(Error::invalid_argument(
            "Expected shape of indices to be the same as that of the input tensor",
        ));
    }
    if output.len() != dims || output.iter().any(|&size| size < 0) {
        return Err(Error::invalid_argument(format!(
            "There should be exactly {dims} elements in output_size, none below 0, but got {output:?}"
        )));
    }
    let is_empty = |sizes: &[i64]| sizes.contains(&0);
    if !(dims + 1..=dims + 2).contains(&rank) || is_empty(&sizes[rank.saturating_sub(dims + 1)..]) {
        return Err(Error::invalid_argument(format!(
            "self has the sizes {sizes:?}; it needs {} or {} dimensions, and elements in all but the batch",
            dims + 1,
            dims + 2
        )));
    }
    let outer = &sizes[..rank - dims];
    let with = |last: &[i64]| [outer, last].concat();
    let options = options(dtype_of_tensor(tensor)?, device_of_tensor(tensor)?);
    let zeros =
        operations::full(&with(&[count_of(output, "output_size")?]), &integer(0), &options)?;
    let flat = with(&[sizes[rank - dims..].iter().product()]);
    let elements = operations::reshape(tensor, &flat)?;
    let places = operations::reshape(indices, &flat)?;
    let (at, dim) = (zeros.handle(), outer.len() as i64);
    scatter(at, at, dim, places.handle(), elements.handle())?;
    operations::reshape(at, &with(output))
}

abi_functions! {
    /// Returns images with zeros and, where `max_pool2d` found them, the largest elements.
    aoti_torch_cpu_max_unpool2d | aoti_torch_cuda_max_unpool2d(
        tensor as self: TensorHandle, indices: TensorHandle, output_size: &[i64], ret0: Place,
    ) {
        give(ret0, unpooled(tensor, indices, output_size, 2)?)
    }

    /// Returns volumes with zeros and, where `max_pool3d` found them, the largest elements.
    aoti_torch_cpu_max_unpool3d | aoti_torch_cuda_max_unpool3d(
        tensor as self: TensorHandle, indices: TensorHandle, output_size: &[i64], stride: &[i64], padding: &[i64],
        ret0: Place,
    ) {
        // They decide nothing, as in PyTorch, which checks them all the same.
        if stride.len() != 3 || padding.len() != 3 || stride.iter().any(|&step| step < 1) {
            return Err(Error::invalid_argument(format!(
                "stride is {stride:?} and padding {padding:?}; both need three entries, and steps of at least 1"
            )));
        }
        give(ret0, unpooled(tensor, indices, output_size, 3)?)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::testing::{Cases, Dense, assert_refused, call, live, returned_by};

    #[test]
    fn elements_go_to_their_indices_among_zeros() {
        let before = live();
        let mut cases = Cases::new(3);
        for _ in 0..40 {
            let (channels, rows, columns) = (cases.int(1, 3), cases.int(1, 3), cases.int(1, 3));
            let sizes = [channels, rows, columns];
            let output = [2 * rows, 2 * columns];
            let elements = Dense::quarters(&mut cases, &sizes);
            // One of the four places of each window.
            let places = Dense::build(&sizes, |at| {
                let (row, column) = (2 * at[1] + cases.int(0, 1), 2 * at[2] + cases.int(0, 1));
                (row * output[1] + column) as f64
            });
            let mut expected = Dense::build(&[channels, output[0], output[1]], |_| 0.0);
            Dense::build(&sizes, |at| {
                let place = at[0] * output[0] * output[1] + places.at(at) as i64;
                expected.values[place as usize] = elements.at(at);
                0.0
            });
            let tensor = elements.either(&mut cases, api::SCONCE_DTYPE_F32);
            let indices = places.either(&mut cases, api::SCONCE_DTYPE_I64);
            let (tensor, indices) = (tensor.handle(), indices.handle());
            let found =
                returned_by!(aoti_torch_cpu_max_unpool2d(tensor, indices, output.as_ptr(), 2));
            expected.assert_near(found.handle(), 0.0, "unpooled");
        }
        assert_eq!(live(), before);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let whole = |sizes: &[i64], dtype| Dense::build(sizes, |_| 7.0).tensor(dtype);
        let (f32, i64) = (api::SCONCE_DTYPE_F32, api::SCONCE_DTYPE_I64);
        let tensor = whole(&[1, 2, 2], f32);
        let mut place = std::ptr::null_mut();
        let mut refused = |indices: Tensor, output: &[i64], words: &str| {
            let status = call!(aoti_torch_cpu_max_unpool2d(
                tensor.handle(),
                indices.handle(),
                output.as_ptr(),
                output.len() as i64,
                &mut place
            ));
            assert_refused(status, &[words]);
        };
        refused(whole(&[1, 2, 2], f32), &[4, 4], "int64");
        refused(whole(&[1, 2, 3], i64), &[4, 4], "same as that of the input");
        refused(whole(&[1, 2, 2], i64), &[4], "exactly 2 elements");
        refused(whole(&[1, 2, 2], i64), &[2, 2], "index 7 is out of bounds");
    }
}
