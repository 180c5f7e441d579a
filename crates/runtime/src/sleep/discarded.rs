//! Bytes that nobody needs.

use sconce_base::error::Result;
use sconce_base::types::DeviceIndex;

use crate::context::Runtime;
use crate::memory::sleep::{LiveBlock, SavedBytes};

/// No storage.
pub(super) struct Discarded;

impl SavedBytes for Discarded {
    fn save(
        &mut self,
        _: &Runtime,
        _: DeviceIndex,
        _: &[LiveBlock],
        _: &mut dyn FnMut(u64) -> Result<()>,
    ) -> Result<()> {
        Ok(())
    }

    fn restore(
        &self,
        _: &Runtime,
        _: DeviceIndex,
        _: &[LiveBlock],
        _: &mut dyn FnMut(u64) -> Result<()>,
    ) -> Result<()> {
        Ok(())
    }

    fn bytes(&self) -> u64 {
        0
    }

    fn place_of(&self, _: u64) -> Option<usize> {
        None
    }
}
