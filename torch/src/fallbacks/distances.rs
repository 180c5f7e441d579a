//! Distances between rows.

#![allow(unsafe_code, reason = "functions of C over handles and pointers of the caller")]

use super::{Place, give};
use crate::operations::distance::{between, of_between, of_within, within};
use crate::sconce::tensor::TensorHandle;

abi_functions! {
    /// Returns the distance of each row of `x1` and each row of `x2`, in the p-norm.
    aoti_torch_cpu__cdist_forward | aoti_torch_cuda__cdist_forward(
        x1: TensorHandle, x2: TensorHandle, p: f64, compute_mode: Option<i64>, ret0: Place,
    ) {
        // It chooses between ways to the same result.
        let _ = compute_mode;
        give(ret0, between(x1, x2, p)?)
    }

    /// Returns the distances of each row and those behind it, in the p-norm.
    aoti_torch_cpu__pdist_forward | aoti_torch_cuda__pdist_forward(
        tensor as self: TensorHandle, p: f64, ret0: Place,
    ) {
        give(ret0, within(tensor, p)?)
    }

    /// Returns the gradient of `x1` for distances that `_cdist_forward` returned.
    aoti_torch_cpu__cdist_backward | aoti_torch_cuda__cdist_backward(
        grad as grad_output: TensorHandle, x1: TensorHandle, x2: TensorHandle, p: f64, cdist: TensorHandle, ret0: Place,
    ) {
        give(ret0, of_between(grad, [x1, x2], p, cdist)?)
    }

    /// Returns the gradient of rows for distances that `_pdist_forward` returned.
    aoti_torch_cpu__pdist_backward | aoti_torch_cuda__pdist_backward(
        grad as grad_output: TensorHandle, tensor as self: TensorHandle, p: f64, pdist: TensorHandle, ret0: Place,
    ) {
        give(ret0, of_within(grad, tensor, p, pdist)?)
    }
}
