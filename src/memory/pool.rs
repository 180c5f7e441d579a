//! Placeholder until the core arrives.
#![allow(missing_docs, unused_variables, reason = "placeholder")]
use crate::error::{Error, Result};
pub use crate::slab::Key;

fn later<T>() -> Result<T> {
    Err(Error::not_supported("the allocator is not there yet"))
}
pub fn create() -> Result<Key> {
    later()
}
pub fn destroy(pool: Key) -> Result<()> {
    later()
}
pub fn begin(pool: Key, device: i32) -> Result<()> {
    later()
}
pub fn end(pool: Key, device: i32) -> Result<()> {
    later()
}
pub fn trim(pool: Key) -> Result<usize> {
    later()
}
