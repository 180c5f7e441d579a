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

/// Functions of the ABI: a name, or the names of the CPU and of CUDA, whose body is one; the arguments as the body sees
/// them; and a body that returns a result. `name as other: kind` is an argument that PyTorch's headers call `other`, as
/// failures do; a test compares the names of tensors.
///
/// | as the body sees it | in C |
/// |---|---|
/// | `i32`, `i64`, `f64`, `TensorHandle` | the same |
/// | `bool` | a number that is not 0 |
/// | `Option<T>` | the address of a value, or NULL |
/// | `CText` | the address of a text that ends with NUL |
/// | `Place`, `Out<T>` | the address of a place for a result |
/// | `&[T]`, `Option<&[T]>`, `[bool; N]` | the address of a list, and the number of its entries |
/// | `[Option<T>]` (a vector) | the address of a list of addresses, and the number of its entries |
/// | `NewTensor` | the five arguments that say what a new tensor is to be |
macro_rules! abi_functions {
    ($($(#[$doc:meta])* $function:ident $(| $other:ident)? ($($arguments:tt)*) $body:block)*) => {
        $(abi_functions!(@named [$(#[$doc])*] [$function $($other)?] ($($arguments)*) $body);)*
    };
    (@named $docs:tt [$($function:ident)*] $arguments:tt $body:block) => {
        $(abi_functions!(@next $docs $function call $body [] [] [] $arguments);)*
    };
    (@next [$($doc:tt)*] $function:ident $call:ident $body:block [$($in_c:tt)*] [$($seen:tt)*] [$($tensors:tt)*] ()) => {
        $($doc)*
        ///
        /// # Safety
        /// Arrays have as many entries as is said beside them, texts end with NUL, and other pointers are NULL or valid.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $function($($in_c)*) -> i32 {
            let body = || {
                let $call = &crate::abi::arguments::Call::started();
                $($seen)*
                $body
            };
            crate::fallbacks::operation_on(stringify!($function), body, || {
                crate::abi::arguments::GivenTensors::default() $($tensors)*
            })
        }
    };
    (@next $docs:tt $function:ident $call:ident $body:block [$($in_c:tt)*] [$($seen:tt)*] [$($tensors:tt)*]
        ($name:ident: &[$entry:ty] $(, $($rest:tt)*)?)) => {
        abi_functions!(@list $docs $function $call $body [$($in_c)*] [$($seen)*] [$($tensors)*] $name (&[$entry]) ($($($rest)*)?));
    };
    (@next $docs:tt $function:ident $call:ident $body:block [$($in_c:tt)*] [$($seen:tt)*] [$($tensors:tt)*]
        ($name:ident: Option<&[$entry:ty]> $(, $($rest:tt)*)?)) => {
        abi_functions!(
            @list $docs $function $call $body [$($in_c)*] [$($seen)*] [$($tensors)*] $name (Option<&[$entry]>) ($($($rest)*)?)
        );
    };
    (@next $docs:tt $function:ident $call:ident $body:block [$($in_c:tt)*] [$($seen:tt)*] [$($tensors:tt)*]
        ($name:ident: [bool; $count:literal] $(, $($rest:tt)*)?)) => {
        abi_functions!(
            @list $docs $function $call $body [$($in_c)*] [$($seen)*] [$($tensors)*] $name ([bool; $count]) ($($($rest)*)?)
        );
    };
    (@next $docs:tt $function:ident $call:ident $body:block [$($in_c:tt)*] [$($seen:tt)*] [$($tensors:tt)*]
        ($name:ident: [$entry:ty] $(, $($rest:tt)*)?)) => {
        abi_functions!(@list $docs $function $call $body [$($in_c)*] [$($seen)*] [$($tensors)*] $name (Vec<$entry>) ($($($rest)*)?));
    };
    (@next $docs:tt $function:ident $call:ident $body:block [$($in_c:tt)*] [$($seen:tt)*] [$($tensors:tt)*]
        ($name:ident: NewTensor $(, $($rest:tt)*)?)) => {
        abi_functions!(@next $docs $function $call $body
            [
                $($in_c)* dtype: *const i32, layout: *const i32, device: *const i32, device_index: i32,
                pin_memory: *const i32,
            ]
            [
                $($seen)*
                let pointers = [dtype, layout, device, pin_memory];
                // SAFETY: C calls this function, and passes pointers that are NULL, or valid until it returns.
                let $name = unsafe { crate::abi::arguments::NewTensor::of_c(pointers, device_index) };
            ]
            [$($tensors)*]
            ($($($rest)*)?)
        );
    };
    (@next $docs:tt $function:ident $call:ident $body:block [$($in_c:tt)*] [$($seen:tt)*] [$($tensors:tt)*]
        ($name:ident: $kind:ty $(, $($rest:tt)*)?)) => {
        abi_functions!(@next $docs $function $call $body [$($in_c)*] [$($seen)*] [$($tensors)*]
            ($name as $name: $kind $(, $($rest)*)?)
        );
    };
    (@next $docs:tt $function:ident $call:ident $body:block [$($in_c:tt)*] [$($seen:tt)*] [$($tensors:tt)*]
        ($name:ident as $name_in_c:ident: $kind:ty $(, $($rest:tt)*)?)) => {
        abi_functions!(@next $docs $function $call $body
            [$($in_c)* $name: <$kind as crate::abi::arguments::InC>::C,]
            [
                $($seen)*
                // SAFETY: C calls this function, and passes what the ABI says of the argument until it returns; the
                // call is a local value.
                let $name = unsafe { <$kind as crate::abi::arguments::Argument>::of_c($name, $call) };
            ]
            [
                $($tensors)*
                // SAFETY: C calls this function, which has not returned: the argument is still what the ABI says of it.
                .and(stringify!($name_in_c), unsafe {
                    <$kind as crate::abi::arguments::Argument>::tensor($name)
                })
            ]
            ($($($rest)*)?)
        );
    };
    (@list $docs:tt $function:ident $call:ident $body:block [$($in_c:tt)*] [$($seen:tt)*] [$($tensors:tt)*]
        $name:ident ($kind:ty) $rest:tt) => {
        abi_functions!(@next $docs $function $call $body
            [$($in_c)* $name: *const <$kind as crate::abi::arguments::ListInC>::Entry, count: i64,]
            [
                $($seen)*
                let name = stringify!($name);
                // SAFETY: C calls this function, and passes as many entries as it says, which stay until it returns; the
                // call is a local value.
                let $name = unsafe { <$kind as crate::abi::arguments::List>::of_c($name, count, name, $call) }?;
            ]
            [
                $($tensors)*
                // SAFETY: C calls this function, which has not returned: the entries are still as many as it says.
                .and_list(stringify!($name), unsafe {
                    <$kind as crate::abi::arguments::List>::tensors($name, count)
                })
            ]
            $rest
        );
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

use crate::abi::arguments::{GivenTensors, Out, name_tensor};
use crate::error::{Result, shim};
use crate::sconce::Tensor;
use crate::sconce::tensor::TensorHandle;

/// Runs the body of a function of the ABI, whose failure begins with the operator's name.
fn operation(function: &str, body: impl FnOnce() -> Result<()>) -> i32 {
    shim(|| body().map_err(|error| error.within(operator_of(function))))
}

/// As [`operation`]; a failure for a handle that is no tensor names the argument. `tensors` returns the arguments that
/// are tensors, and is called only after such a failure.
fn operation_on(
    function: &str,
    body: impl FnOnce() -> Result<()>,
    tensors: impl FnOnce() -> GivenTensors,
) -> i32 {
    operation(function, || body().map_err(|error| name_tensor(error, tensors)))
}

/// The operator of a function of the ABI: the function's name without `aoti_torch_` and the device.
fn operator_of(function: &str) -> &str {
    let name = function.strip_prefix("aoti_torch_").unwrap_or(function);
    ["cpu_", "cuda_"].iter().find_map(|device| name.strip_prefix(device)).unwrap_or(name)
}

/// The place of a tensor that a function returns.
type Place<'a> = Out<'a, TensorHandle>;

/// Writes a new tensor where the caller wants it.
fn give(place: Place<'_>, tensor: Tensor) -> Result<()> {
    place.write("ret", tensor.handle())?;
    crate::abi::live::made(tensor.into_handle());
    Ok(())
}

/// Writes new tensors where the caller wants them: all of them, or none. NULL is the place of a result that the caller
/// does not read: compiled models pass it.
fn give_all<const N: usize>(results: [(Place<'_>, &str, Tensor); N]) -> Result<()> {
    for (place, name, _) in results.iter().filter(|(place, ..)| !place.is_none()) {
        place.check(name)?;
    }
    for (place, _, tensor) in results.into_iter().filter(|(place, ..)| !place.is_none()) {
        give(place, tensor)?;
    }
    Ok(())
}

/// As [`give_all`], of two.
fn give_both([first, second]: [Place<'_>; 2], tensors: impl Into<(Tensor, Tensor)>) -> Result<()> {
    let tensors = tensors.into();
    give_all([(first, "ret0", tensors.0), (second, "ret1", tensors.1)])
}
