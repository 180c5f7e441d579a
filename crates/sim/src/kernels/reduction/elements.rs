//! Device memory that elements are read from and written to. Their addresses are aligned, as a device
//! needs them.
#![forbid(unsafe_code)]

use sconce_math::folding::ElementMemory;

use crate::codes;
use crate::memory::DeviceMemoryView;

/// Device memory.
pub(super) struct DeviceElements<'a, 'b>(pub(super) &'a DeviceMemoryView<'b>);

impl ElementMemory for DeviceElements<'_, '_> {
    type Failure = i32;

    fn read(&mut self, address: u64, into: &mut [u8]) -> Result<(), i32> {
        self.0.read(address, into)
    }

    fn write(&mut self, address: u64, from: &[u8]) -> Result<(), i32> {
        self.0.write(address, from)
    }
}

/// Refuses addresses that no device reads elements of so many bytes at.
pub(super) fn aligned(operands: &[(u64, usize)]) -> Result<(), i32> {
    let fits = operands.iter().all(|(address, bytes)| address.is_multiple_of(*bytes as u64));
    fits.then_some(()).ok_or(codes::MISALIGNED_ADDRESS)
}
