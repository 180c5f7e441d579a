//! PyTorch's ABI: operations that compiled models call instead of kernels of their own, `aoti_torch_cpu_…` and
//! `aoti_torch_cuda_…`. The device is that of the tensors, so both names are one function.
//!
//! | file | family |
//! |---|---|
//! | `products` | products of matrices |
//! | `convolution` | convolutions |
//! | `attention` | attention, as products and softmax |
//! | `lines` | running sums |
//! | `random` | random numbers, with torch's bits |

/// Functions of the ABI under the names of the CPU and of CUDA, with one body that returns a result.
macro_rules! fallbacks {
    ($($(#[$doc:meta])* $cpu:ident | $cuda:ident ($($name:ident: $kind:ty),* $(,)?) $body:block)*) => {
        $(
            fallbacks!(@one $(#[$doc])* $cpu($($name: $kind),*) $body);
            fallbacks!(@one $(#[$doc])* $cuda($($name: $kind),*) $body);
        )*
    };
    (@one $(#[$doc:meta])* $function:ident($($name:ident: $kind:ty),*) $body:block) => {
        $(#[$doc])*
        ///
        /// # Safety
        /// Arrays have as many entries as is said beside them; other pointers are NULL or valid.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $function($($name: $kind),*) -> i32 {
            crate::fallbacks::operation(stringify!($function), || $body)
        }
    };
}

pub mod attention;
pub mod convolution;
pub mod lines;
pub mod products;
pub mod random;

use crate::error::{Result, shim};
use crate::sconce::Tensor;
use crate::sconce::tensor::TensorHandle;

/// Runs the body of a function of the ABI, whose failure begins with the operation's name.
fn operation(name: &str, body: impl FnOnce() -> Result<()>) -> i32 {
    shim(|| body().map_err(|error| error.within(name)))
}

/// Writes a new tensor where the caller wants it.
///
/// # Safety
/// The place is NULL or valid for a write.
#[allow(unsafe_code, reason = "writes through a pointer of the caller")]
unsafe fn give(place: *mut TensorHandle, tensor: Tensor) -> Result<()> {
    // SAFETY: the caller's promise.
    unsafe { crate::error::write_out(place, "ret", tensor.handle()) }?;
    tensor.into_handle();
    Ok(())
}
