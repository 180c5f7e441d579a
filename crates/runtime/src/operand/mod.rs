//! The memory that a call is given, checked before anything is queued.
//!
//! A new call that takes an address of a device goes through one of these files.
//!
//! | file | idea |
//! |---|---|
//! | `address_range` | the kind of memory of a range, and whether the range stays inside one block or allocation |
//! | `device_operand` | an operand of a library such as cuBLAS: memory of one device, aligned |

pub mod address_range;
mod device_operand;

pub use device_operand::{Operand, device_of};
