//! Where a mask is true.

#![allow(unsafe_code, reason = "functions of C over handles and arrays")]

use super::{Place, give};
use crate::operations::selected;
use crate::sconce::tensor::TensorHandle;

abi_functions! {
    /// Returns the coordinates of all elements that are not 0.
    aoti_torch_cpu_nonzero | aoti_torch_cuda_nonzero(tensor as self: TensorHandle, ret0: Place) {
        give(ret0, selected::nonzero(tensor)?)
    }

    /// Returns the coordinates of the first `size` elements that are not 0, filled up with a value.
    aoti_torch_cpu_nonzero_static | aoti_torch_cuda_nonzero_static(
        tensor as self: TensorHandle, size: i64, fill_value: i64, ret0: Place,
    ) {
        give(ret0, selected::nonzero_static(tensor, size, fill_value)?)
    }

    /// Returns the elements for which the mask is true.
    aoti_torch_cpu_masked_select | aoti_torch_cuda_masked_select(
        tensor as self: TensorHandle, mask: TensorHandle, ret0: Place,
    ) {
        give(ret0, selected::masked_select(tensor, mask)?)
    }

    /// Returns `tensor` with elements of `source`, in order, where the mask is true.
    aoti_torch_cpu_masked_scatter | aoti_torch_cuda_masked_scatter(
        tensor as self: TensorHandle, mask: TensorHandle, source: TensorHandle, ret0: Place,
    ) {
        give(ret0, selected::masked_scatter(tensor, mask, source)?)
    }

    /// Returns the gradient of the source of `masked_scatter`.
    aoti_torch_cpu_masked_scatter_backward | aoti_torch_cuda_masked_scatter_backward(
        grad_output: TensorHandle, mask: TensorHandle, sizes: &[i64], ret0: Place,
    ) {
        give(ret0, selected::masked_scatter_backward(grad_output, mask, sizes)?)
    }
}
