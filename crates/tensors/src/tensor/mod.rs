//! Tensors: memory with a type and a shape. See `docs/design/tensor.md`.
//!
//! Each file uses only files above it.
//!
//! | file | idea |
//! |---|---|
//! | `place` | the CPU or a device |
//! | `storage` | counted memory of one owner |
//! | `shared_storage` | counted references to storages |
//! | `dim_list` | a list of sizes or strides |
//! | `dims` | sizes and strides: numbers of elements, dense strides, what is contiguous |
//! | `layout` | where a tensor's elements lie in its storage |
//! | `value` | a tensor |
//! | `handle/` | the places behind the C API's handles |
//! | `options` | type, place and order in memory of a new tensor |
//! | `views/` | tensors that share a storage |
//! | `promotion` | the type of a result |
//! | `iteration` | the shape of an elementwise result, and its order in memory |
//! | `overlap` | what must not share memory |
//! | `host_use` | what the processor reads and writes, for a backend that follows it |
//! | `launch` | from operands to work of lower crates: on a stream, or by the calling thread |
//! | `operations/` | operations on tensors |
//! | `transfer/` | from one tensor's memory to another's |
//! | `create/` | new tensors with values |
//! | `print/` | a tensor as text |

pub mod create;
mod dim_list;
mod dims;
#[allow(unsafe_code, reason = "ownerships that places hold as numbers")]
pub mod handle;
mod host_use;
mod iteration;
mod launch;
mod layout;
pub mod operations;
mod options;
mod overlap;
mod place;
pub mod print;
pub mod promotion;
#[allow(unsafe_code, reason = "places of storages, used again and again")]
mod shared_storage;
#[allow(unsafe_code, reason = "memory of the heap and of others")]
mod storage;
pub mod transfer;
mod value;
pub mod views;

pub use dim_list::Dims;
pub use dims::{contiguous_strides, count, extent};
pub(crate) use dims::{looks_channels_last, wrap_dim};
pub use layout::TensorLayout;
pub use options::{MemoryFormat, TensorOptions};
pub(crate) use overlap::refuse_unwritable;
pub use place::Place;
pub use shared_storage::{ReservedStorage, StorageRef};
pub use storage::{ForeignOwner, Lender, Storage};
pub use value::Tensor;
