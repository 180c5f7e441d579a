//! From one tensor's memory to another's.
//!
//! | file | idea |
//! |---|---|
//! | `copy` | elements of any type and strides, between any places |
//! | `convert` | to another type, place or order in memory |
//! | `resize` | other sizes in the same memory, or in more of it |
//! | `host_values` | values that the host passes or asks for |

mod convert;
mod copy;
#[allow(unsafe_code, reason = "a place of one element on the stack")]
mod host_values;
mod resize;

pub use convert::{
    Conversion, clone, contiguous, empty_like, is_in_format, is_pinned, pin_memory, reshape,
    strides_of_format, to, to_in_place,
};
pub(crate) use copy::zero_if_dense;
pub use copy::{copy_into, zero};
pub use host_values::{elements, from_values, item, to_values, write_bytes};
pub(crate) use host_values::{from_integers, read_bytes};
pub use resize::{resize, resized};
