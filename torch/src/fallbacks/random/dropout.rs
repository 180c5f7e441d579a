//! Dropout.

#![allow(unsafe_code, reason = "functions of C over handles and arrays")]

use crate::abi::arguments::optional;
use crate::fallbacks::give_both;
use crate::operations::random::dropout;
use crate::sconce::tensor::TensorHandle;

fallbacks! {
    /// Returns elements that are zero with probability `p` and else divided by `1 - p`, and a mask that is true where
    /// they stayed. `train` that is 0 keeps all of them as they are.
    aoti_torch_cpu_native_dropout | aoti_torch_cuda_native_dropout(
        input: TensorHandle,
        p: f64,
        train: *const i32,
        ret0: *mut TensorHandle,
        ret1: *mut TensorHandle,
    ) {
        // SAFETY: `train` is an optional argument of the ABI: NULL, or the address of a value.
        let train = unsafe { optional(train) }.is_none_or(|train| train != 0);
        give_both([ret0, ret1], dropout(input, p, train)?)
    }
}
