//! What the libraries of products, convolutions and transforms have in common.

use crate::error::{Error, Status};

/// The failure of a call with a library's own number, spelled by its table.
pub(super) fn library_failure(table: &[(i32, &str, Status)], call: &str, code: i32) -> Error {
    let (name, status) = table
        .iter()
        .find(|(number, ..)| *number == code)
        .map_or(("an unrecognised error", Status::Driver), |(_, name, status)| (*name, *status));
    Error::driver(status, call, code, name)
}
