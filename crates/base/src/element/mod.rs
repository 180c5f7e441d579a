//! Element types: the one list of data types, and the tables that belong to it. See
//! `docs/design/element.md`.
//!
//! | file | idea |
//! |---|---|
//! | `dtype` | the list: number, name, bytes and kind of each type |
//! | `limits` | what a type can represent: digits, ranges, the nearest value |
//! | `exchange` | the numbers of other libraries: c10's `ScalarType`, DLPack's `DLDataType` |
//! | `names` | the names of PyTorch: c10's `ScalarType`, the module `torch` |
//! | `narrow_float` | between `f32` and the 8-bit floating-point types |
//! | `conversion` | between `f32` and the 16-bit floating-point types |
//! | `order` | the order of values in a sort |

mod conversion;
mod dtype;
mod exchange;
mod limits;
mod names;
mod narrow_float;
mod order;

pub use conversion::{bf16_bits, bf16_value, f16_bits, f16_value};
pub use dtype::{Dtype, DtypeKind};
pub use exchange::DlpackType;
pub use narrow_float::{narrow_bits, narrow_value, round_narrow, saturated_bits};
pub use order::KeyOrder;
