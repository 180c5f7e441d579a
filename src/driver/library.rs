//! What the libraries of products, convolutions and transforms have in common.

use crate::error::{Error, Status};

/// The type of the numbers that a library calculates with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Element {
    /// IEEE half precision.
    F16,
    /// The upper half of an F32.
    Bf16,
    /// IEEE single precision.
    F32,
    /// IEEE double precision.
    F64,
}

impl Element {
    /// Bytes of a real number.
    pub const fn bytes(self) -> usize {
        match self {
            Element::F16 | Element::Bf16 => 2,
            Element::F32 => 4,
            Element::F64 => 8,
        }
    }
}

/// The failure of a call with a library's own number, spelled by its table.
pub(super) fn library_failure(table: &[(i32, &str, Status)], call: &str, code: i32) -> Error {
    let (name, status) = table
        .iter()
        .find(|(number, ..)| *number == code)
        .map_or(("an unrecognised error", Status::Driver), |(_, name, status)| (*name, *status));
    Error::driver(status, call, code, name)
}
