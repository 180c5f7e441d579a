//! Dropout. On the CPU the mask has the bits of torch; on a device it is drawn as `bernoulli_` draws, while the kernel of
//! PyTorch that does all in one pass draws others.

#![allow(unsafe_code, reason = "functions of C over handles and arrays")]

use crate::abi::arguments::optional;
use crate::abi::copies::cloned;
use crate::abi::tensors::numel_of;
use crate::error::{Error, Result};
use crate::fallbacks::give_both;
use crate::sconce::operations::{Operand, binary, empty_like, fill};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::values::truth;
use crate::sconce::{Tensor, api, check};

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
        // SAFETY: the caller's promise for the pointer.
        let train = unsafe { optional(train) }.is_none_or(|train| train != 0);
        // SAFETY: the caller's promise for the places.
        unsafe { give_both([ret0, ret1], dropped(input, p, train)?) }
    }
}

fn dropped(input: TensorHandle, p: f64, train: bool) -> Result<(Tensor, Tensor)> {
    if !(0.0..=1.0).contains(&p) {
        return Err(Error::invalid_argument(format!("p must be from 0 to 1, but is {p}")));
    }
    let mask = empty_like(input, api::SCONCE_DTYPE_BOOL)?;
    if !train || numel_of(input)? == 0 {
        fill(mask.handle(), &truth(true))?;
        return Ok((cloned(input)?, mask));
    }
    let kept = 1.0 - p;
    let scale = if kept == 0.0 { 0.0 } else { 1.0 / kept };
    // SAFETY: any number may be passed as a handle; NULL is the default generator.
    check(unsafe { api::sconce_tensor_bernoulli(mask.handle(), kept, std::ptr::null_mut()) })?;
    let input = Tensor::retained(input)?;
    let masked = binary(api::SCONCE_BINARY_MUL, &input, Operand::Tensor(&mask))?;
    Ok((binary(api::SCONCE_BINARY_MUL, &masked, Operand::Number(scale))?, mask))
}
