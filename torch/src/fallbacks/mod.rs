//! PyTorch's ABI: operations that compiled models call instead of kernels of their own, `aoti_torch_cpu_…` and
//! `aoti_torch_cuda_…`. The device is that of the tensors, so both names are one function.
//!
//! | file | family |
//! |---|---|
//! | `products` | products of matrices |
//! | `convolution` | convolutions, transposed ones, gradients |
//! | `fused` | oneDNN's convolutions and products, with operations on elements behind them |
//! | `constants` | a model's constants, which may be packed for oneDNN |
//! | `observers` | ranges observed while training, elements rounded |
//! | `attention` | attention and its gradients |
//! | `indexing` | elements at indices |
//! | `bags` | embeddings of bags |
//! | `masks` | where a mask is true |
//! | `ordering` | sorted lines, searches in them, histograms |
//! | `lines` | running sums, products, extremes |
//! | `pooling` | windows of images: the largest element, the mean, gradients; elements back where they were found |
//! | `resampling` | gradients of images of another size; images at the places of a grid |
//! | `segments` | sums, means, products and extremes of segments |
//! | `distances` | distances between rows, and their gradients |
//! | `elements` | sums, products and powers of elements, views, padding |
//! | `transforms` | Fourier transforms |
//! | `norms` | division by the root of the mean square |
//! | `recurrent` | recurrent networks |
//! | `solvers` | linear equations and factors of matrices |
//! | `random` | random numbers, with torch's bits; dropout |

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
pub mod bags;
pub mod constants;
pub mod convolution;
pub mod distances;
pub mod elements;
pub mod fused;
pub mod indexing;
pub mod lines;
pub mod masks;
pub mod norms;
pub mod observers;
pub mod ordering;
pub mod pooling;
pub mod products;
pub mod random;
pub mod recurrent;
pub mod resampling;
pub mod segments;
pub mod solvers;
pub mod transforms;

#[cfg(test)]
mod tests;

use crate::error::{Error, Result, shim};
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
    crate::abi::live::made(tensor.into_handle());
    Ok(())
}

/// Writes new tensors where the caller wants them: all of them, or none. NULL is the place of a result that the caller
/// does not read: compiled models pass it.
///
/// # Safety
/// The places are NULL or valid for writes.
#[allow(unsafe_code, reason = "writes through pointers of the caller")]
unsafe fn give_all<const N: usize>(results: [(*mut TensorHandle, &str, Tensor); N]) -> Result<()> {
    if let Some((_, name, _)) = results.iter().find(|(place, ..)| !place.is_aligned()) {
        return Err(Error::invalid_argument(format!("{name} is misaligned")));
    }
    for (place, _, tensor) in results.into_iter().filter(|(place, ..)| !place.is_null()) {
        // SAFETY: the caller's promise.
        unsafe { give(place, tensor) }?;
    }
    Ok(())
}

/// As [`give_all`], of two.
///
/// # Safety
/// As [`give_all`].
#[allow(unsafe_code, reason = "writes through pointers of the caller")]
unsafe fn give_both(
    [first, second]: [*mut TensorHandle; 2],
    tensors: impl Into<(Tensor, Tensor)>,
) -> Result<()> {
    let tensors = tensors.into();
    // SAFETY: the caller's promise.
    unsafe { give_all([(first, "ret0", tensors.0), (second, "ret1", tensors.1)]) }
}
