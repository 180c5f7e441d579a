//! Views: tensors that share the storage of another. torch's rules and texts.
//!
//! | file | idea |
//! |---|---|
//! | `pick` | a part of a dimension, or one index of it |
//! | `dimensions` | the order, the number and the repetition of dimensions |
//! | `shape` | other sizes over the same elements |
//! | `pieces` | several views at once |

mod dimensions;
mod pick;
mod pieces;
mod shape;

pub(crate) use dimensions::{
    diagonal, expand, permute, squeeze, squeeze_all, transpose_in_place, unsqueeze,
    unsqueeze_in_place,
};
pub(crate) use pick::{
    as_strided, narrow, narrow_in_place, select, select_in_place, slice_in_place,
};
pub(crate) use pieces::{chunk, split, split_with_sizes, unbind};
pub(crate) use shape::{flatten, infer_sizes, unflatten, view, view_in_place, view_strides};
