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
    diagonal, expand, permute, squeeze, squeeze_all, transpose, unsqueeze,
};
pub(crate) use pick::{as_strided, narrow, select, slice};
pub(crate) use pieces::{chunk, split, split_with_sizes, unbind};
pub(crate) use shape::{flatten, infer_sizes, unflatten, view, view_strides};
