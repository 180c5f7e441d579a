//! Dropout.

#![allow(unsafe_code, reason = "functions of C over handles and arrays")]

use crate::fallbacks::{Place, give_both};
use crate::operations::random::dropout;
use crate::sconce::tensor::TensorHandle;

abi_functions! {
    /// Returns elements that are zero with probability `p` and else divided by `1 - p`, and a mask that is true where
    /// they stayed. `train` that is 0 keeps all of them as they are.
    aoti_torch_cpu_native_dropout | aoti_torch_cuda_native_dropout(
        input: TensorHandle, p: f64, train: Option<bool>, ret0: Place, ret1: Place,
    ) {
        give_both([ret0, ret1], dropout(input, p, train.unwrap_or(true))?)
    }
}
