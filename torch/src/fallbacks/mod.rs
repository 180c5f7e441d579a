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
            // SAFETY: C calls this function, and passes what the ABI says of each argument until it returns.
            $(let $name = unsafe { crate::abi::arguments::Argument::seen($name) };)*
            crate::fallbacks::operation(stringify!($function), || $body)
        }
    };
}

/// Lets the body of a function that stands alone see its places for results as such.
macro_rules! places {
    ($($place:ident),*) => {
        // SAFETY: the function is one of C's, whose places are NULL, or valid for a write until it returns.
        $(let $place = unsafe { crate::abi::arguments::Out::of_c($place) };)*
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

use crate::abi::arguments::Out;
use crate::error::{Result, shim};
use crate::sconce::Tensor;
use crate::sconce::tensor::TensorHandle;

/// Runs the body of a function of the ABI, whose failure begins with the operation's name.
fn operation(name: &str, body: impl FnOnce() -> Result<()>) -> i32 {
    shim(|| body().map_err(|error| error.within(name)))
}

/// Writes a new tensor where the caller wants it.
fn give(place: Out<'_, TensorHandle>, tensor: Tensor) -> Result<()> {
    place.write("ret", tensor.handle())?;
    crate::abi::live::made(tensor.into_handle());
    Ok(())
}

/// Writes new tensors where the caller wants them: all of them, or none. NULL is the place of a result that the caller
/// does not read: compiled models pass it.
fn give_all<const N: usize>(results: [(Out<'_, TensorHandle>, &str, Tensor); N]) -> Result<()> {
    for (place, name, _) in results.iter().filter(|(place, ..)| !place.is_none()) {
        place.check(name)?;
    }
    for (place, _, tensor) in results.into_iter().filter(|(place, ..)| !place.is_none()) {
        give(place, tensor)?;
    }
    Ok(())
}

/// As [`give_all`], of two.
fn give_both(
    [first, second]: [Out<'_, TensorHandle>; 2],
    tensors: impl Into<(Tensor, Tensor)>,
) -> Result<()> {
    let tensors = tensors.into();
    give_all([(first, "ret0", tensors.0), (second, "ret1", tensors.1)])
}
