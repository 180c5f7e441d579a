//! Gradients of padding with the outermost elements.

#![allow(unsafe_code, reason = "functions of C over handles and arrays")]

use crate::abi::tensors::{device_of_tensor, dtype_of_tensor, sizes_of};
use crate::error::{Error, Result};
use crate::fallbacks::{Place, give};
use crate::operations::layout::sum_of;
use crate::sconce::operations::{self, Operand, binary, reduce};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::values::{integer, options};
use crate::sconce::{Tensor, api};

/// The gradient along one dimension: elements of the padding add to the outermost one, whose copies they were.
fn along(gradient: &Tensor, dim: i64, size: i64, begin: i64, end: i64) -> Result<Tensor> {
    let mut sizes = sizes_of(gradient.handle())?.to_vec();
    let place = dim as usize;
    let outer = sizes[place];
    sizes[place] = size;
    let wanted = options(dtype_of_tensor(gradient.handle())?, device_of_tensor(gradient.handle())?);
    let result = operations::full(&sizes, &integer(0), &wanted)?;
    // What of the input is in the output.
    let (first, last) = ((-begin).max(0), size.min(outer - begin));
    if last > first {
        let into = operations::narrow(result.handle(), dim, first, last - first)?;
        let from = operations::narrow(gradient.handle(), dim, first + begin, last - first)?;
        operations::copy(&into, from.handle())?;
    }
    let add = |at: i64, from: i64, count: i64| -> Result<()> {
        if count <= 0 {
            return Ok(());
        }
        let copies = operations::narrow(gradient.handle(), dim, from, count)?;
        let default = api::SCONCE_DTYPE_DEFAULT;
        let sum = reduce(api::SCONCE_REDUCE_SUM, copies.handle(), &[dim], true, default)?;
        let into = operations::narrow(result.handle(), dim, at, 1)?;
        let sum = binary(api::SCONCE_BINARY_ADD, &into, Operand::Tensor(&sum))?;
        operations::copy(&into, sum.handle())
    };
    add(0, 0, begin.min(outer))?;
    add(size - 1, (outer - end).max(0), end.min(outer))?;
    Ok(result)
}

/// `replication_pad{1,2}d_backward(grad_output, self, padding)`
fn replicated(
    gradient: TensorHandle,
    tensor: TensorHandle,
    padding: &[i64],
    dims: usize,
) -> Result<Tensor> {
    let sizes = sizes_of(tensor)?.to_vec();
    let rank = sizes.len();
    if padding.len() != 2 * dims || !(dims + 1..=dims + 2).contains(&rank) {
        return Err(Error::invalid_argument(format!(
            "padding has {} entries and self {rank} dimensions; it needs {} entries, and self {} or {} dimensions",
            padding.len(),
            2 * dims,
            dims + 1,
            dims + 2
        )));
    }
    let mut outer = sizes.clone();
    for (pair, size) in padding.chunks_exact(2).zip(outer.iter_mut().rev()) {
        *size = sum_of(sum_of(*size, pair[0], "padding")?, pair[1], "padding")?;
    }
    let given = sizes_of(gradient)?.to_vec();
    if sizes.iter().rev().take(dims).any(|&size| size < 1) {
        return Err(Error::invalid_argument(format!(
            "self has the sizes {sizes:?}; dimensions that are padded need an element to copy"
        )));
    }
    if given != outer {
        return Err(Error::invalid_argument(format!(
            "grad_output has the sizes {given:?}; a padded tensor of {sizes:?} has {outer:?}"
        )));
    }
    // Sums of 16-bit numbers are rounded once.
    let dtype = dtype_of_tensor(gradient)?;
    let mut result = operations::widened(gradient)?;
    for (back, pair) in padding.chunks_exact(2).enumerate() {
        let dim = rank - 1 - back;
        result = along(&result, dim as i64, sizes[dim], pair[0], pair[1])?;
    }
    operations::to_dtype(result.handle(), dtype)
}

abi_functions! {
    /// Returns the gradient of padding the last dimension with its outermost elements.
    aoti_torch_cpu_replication_pad1d_backward | aoti_torch_cuda_replication_pad1d_backward(
        grad_output: TensorHandle, tensor as self: TensorHandle, padding: &[i64], ret0: Place,
    ) {
        give(ret0, replicated(grad_output, tensor, padding, 1)?)
    }

    /// Returns the gradient of padding the last two dimensions with their outermost elements.
    aoti_torch_cpu_replication_pad2d_backward | aoti_torch_cuda_replication_pad2d_backward(
        grad_output: TensorHandle, tensor as self: TensorHandle, padding: &[i64], ret0: Place,
    ) {
        give(ret0, replicated(grad_output, tensor, padding, 2)?)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::testing::{Cases, Dense, assert_refused, call, live, returned_by};

    #[test]
    fn each_element_gets_the_gradients_of_its_copies() {
        let before = live();
        let mut cases = Cases::new(9);
        for _ in 0..60 {
            let sizes = [2, cases.int(3, 5), cases.int(3, 5)];
            let pad: Vec<i64> = (0..4).map(|_| cases.int(-1, 3)).collect();
            let outer = [2, sizes[1] + pad[2] + pad[3], sizes[2] + pad[0] + pad[1]];
            let gradient = Dense::quarters(&mut cases, &outer);
            let mut expected = Dense::build(&sizes, |_| 0.0);
            Dense::build(&outer, |at| {
                let row = (at[1] - pad[2]).clamp(0, sizes[1] - 1);
                let column = (at[2] - pad[0]).clamp(0, sizes[2] - 1);
                let place = (at[0] * sizes[1] + row) * sizes[2] + column;
                expected.values[place as usize] += gradient.at(at);
                0.0
            });
            let dtype = cases.one(&[api::SCONCE_DTYPE_F32, api::SCONCE_DTYPE_F64]);
            let input = Dense::build(&sizes, |_| 0.0).tensor(dtype);
            let gradient = gradient.either(&mut cases, dtype);
            let (tensor, gradient) = (input.handle(), gradient.handle());
            let found = returned_by!(aoti_torch_cpu_replication_pad2d_backward(
                gradient,
                tensor,
                pad.as_ptr(),
                4
            ));
            expected.assert_near(found.handle(), 1e-6, "gradient of padding");
        }
        assert_eq!(live(), before);
    }

    #[test]
    fn other_sizes_are_refused() {
        let tensor = |sizes: &[i64]| Dense::build(sizes, |_| 1.0).tensor(api::SCONCE_DTYPE_F32);
        let (input, gradient) = (tensor(&[2, 4]), tensor(&[2, 5]));
        let mut place = std::ptr::null_mut();
        let mut refused = |input: &Tensor, pad: &[i64], words: &str| {
            let status = call!(aoti_torch_cpu_replication_pad1d_backward(
                gradient.handle(),
                input.handle(),
                pad.as_ptr(),
                pad.len() as i64,
                &mut place
            ));
            assert_refused(status, &[words]);
        };
        refused(&input, &[1, 1], "a padded tensor of [2, 4] has [2, 6]");
        refused(&input, &[1], "padding has 1 entries");
        refused(&tensor(&[4]), &[1, 0], "self 1 dimensions");
        refused(&tensor(&[2, 0]), &[3, 2], "self has the sizes [2, 0]");
    }
}
