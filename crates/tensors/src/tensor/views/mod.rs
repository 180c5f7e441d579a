//! Views: tensors that share the storage of another. torch's rules and texts.
//!
//! A view is another layout of the same storage, so functions ending in `_in_place` change a layout; it then reaches no
//! element that it did not reach before. Those of whole tensors call them.
//!
//! | file | idea |
//! |---|---|
//! | `pick` | a part of a dimension, or one index of it |
//! | `dimensions` | the order, the number and the repetition of dimensions |
//! | `shape` | other sizes over the same elements |
//! | `direct` | the commonest of them, from the words of a handle |
//! | `pieces` | several views at once |

mod dimensions;
mod direct;
mod pick;
mod pieces;
mod shape;

pub use dimensions::{
    diagonal, diagonal_in_place, expand, expand_in_place, permute, permute_in_place,
    squeeze_all_in_place, squeeze_in_place, transpose_in_place, unsqueeze, unsqueeze_in_place,
};
pub use direct::{select_directly, view_directly};
pub use pick::{as_strided, narrow, narrow_in_place, select, select_in_place, slice_in_place};
pub(crate) use pieces::split_flat;
pub use pieces::{chunk, split, split_with_sizes, unbind};
pub use shape::{flatten, unflatten_in_place, view, view_in_place};
pub(crate) use shape::{infer_sizes, view_strides};
