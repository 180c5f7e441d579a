//! Placeholder until the core arrives.
#![allow(missing_docs, unused_variables, reason = "placeholder")]
use super::{MemoryStats, Snapshot};
use crate::error::{Error, Result};
use crate::stream::Stream;
use crate::types::DeviceIndex;

fn later<T>() -> Result<T> {
    Err(Error::not_supported("the allocator is not there yet"))
}
pub fn alloc(bytes: usize) -> Result<usize> {
    later()
}
pub fn alloc_on(bytes: usize, stream: Stream) -> Result<usize> {
    later()
}
pub fn free(address: usize) -> Result<()> {
    later()
}
pub fn record_stream(address: usize, stream: Stream) -> Result<()> {
    later()
}
pub fn empty_cache() -> Result<()> {
    later()
}
pub fn base_of(address: usize) -> Result<(usize, usize)> {
    later()
}
pub fn usable_bytes(address: usize) -> Result<usize> {
    later()
}
pub fn owner_of(address: usize) -> Option<(DeviceIndex, usize)> {
    None
}
pub fn set_fraction(fraction: f64, device: i32) -> Result<()> {
    later()
}
pub fn get_fraction(device: i32) -> Result<f64> {
    later()
}
pub fn stats(device: i32) -> Result<MemoryStats> {
    later()
}
pub fn reset_peak_stats(device: i32) -> Result<()> {
    later()
}
pub fn reset_accumulated_stats(device: i32) -> Result<()> {
    later()
}
pub fn snapshot() -> Result<Snapshot> {
    later()
}
pub fn alloc_native(bytes: usize, device: i32, native_stream: usize) -> Result<usize> {
    later()
}
