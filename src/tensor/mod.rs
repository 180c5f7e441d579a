//! The C API. Tensors. See `docs/design/tensor.md`.
//!
//! | file | idea |
//! |---|---|
//! | `handle` | the opaque type, its counts, and how functions take and return tensors |
//! | `scalar` | numbers of any kind |
//! | `options` | type, place and order in memory of new tensors |
//! | `query` | what a tensor is |
//! | `create` | new tensors |
//! | `blob` | tensors over memory of others |
//! | `random` | random fills |
//! | `convert` | other types, places, orders in memory; values of the host |
//! | `views`, `pieces` | tensors that share memory |
//! | `pointwise` | elementwise operations |
//! | `reduce` | reductions, softmax, running sums |
//! | `order` | tensors joined, sorted, selected, compared |
//! | `product` | products of matrices |
//! | `keep` | tensors whose memory a graph keeps |
//! | `outputs/` | operations whose results go to tensors of the caller's choice |

/// The tensors of an array of handles. As [`checked`].
macro_rules! tensors {
    ($tensors:ident, $count:expr) => {{
        use $crate::tensor::handle::tensors_of;
        checked!(tensors_of, $tensors, $count)
    }};
}

/// Runs the body of a C function whose out-parameter receives a new handle of the tensor that the block makes.
/// Otherwise as [`checked`].
macro_rules! new_tensor {
    ($place:ident, $make:block) => {
        new_handle!($place, {
            let tensor: sconce_tensors::tensor::Tensor = $make;
            $crate::tensor::handle::returned(tensor)
        })
    };
}

/// Runs the body of a C function whose out-parameter receives the new handle that the block makes. Otherwise as
/// [`checked`].
macro_rules! new_handle {
    ($place:ident, $make:block) => {
        $crate::guard(|| {
            let place = out!($place);
            let handle: sconce_base::error::Result<*mut sconce_tensor> = $make;
            place.write(handle?);
            Ok(())
        })
    };
}

/// Reads the options of a new tensor. Otherwise as [`checked`].
macro_rules! asked {
    ($options:ident) => {{
        use $crate::tensor::options::asked_of;
        checked!(asked_of($options))
    }};
}

/// Reads a number that may be NULL. Otherwise as [`checked`].
macro_rules! optional_scalar {
    ($scalar:ident) => {{
        use $crate::tensor::scalar::optional_scalar;
        checked!(optional_scalar, $scalar)
    }};
}

/// Reads a number. Otherwise as [`checked`].
macro_rules! scalar {
    ($scalar:ident) => {
        optional_scalar!($scalar).ok_or_else(|| $crate::null(stringify!($scalar)))?
    };
}

mod blob;
mod convert;
mod create;
pub(crate) mod handle;
mod keep;
mod options;
mod order;
mod outputs;
mod pieces;
mod pointwise;
mod product;
mod query;
mod random;
mod reduce;
mod scalar;
mod views;

pub use blob::*;
pub use convert::*;
pub use create::*;
pub use handle::*;
pub(crate) use handle::{defined, returned_by};
pub use keep::*;
pub use options::*;
pub use order::*;
pub use outputs::*;
pub use pieces::*;
pub use pointwise::*;
pub use product::*;
pub use query::*;
pub use random::*;
pub use reduce::*;
pub use scalar::*;
pub use views::*;
