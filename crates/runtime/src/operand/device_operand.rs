//! The operands of a call to cuBLAS, cuDNN or cuFFT: memory of one device, aligned, and as large as the
//! call uses. Each is checked before anything is queued.

use sconce_base::error::{Error, Result, Status};
use sconce_base::types::DeviceIndex;

use super::address_range::{self, MemoryKind};
use crate::context::Runtime;
use crate::device;

/// An argument of a call.
#[derive(Clone, Copy, Debug)]
pub struct Operand {
    /// Its name, for messages.
    pub name: &'static str,
    /// Its address.
    pub address: usize,
    /// How many bytes are used from there on, more than 0.
    pub bytes: usize,
    /// What the address is a multiple of: a power of two.
    pub alignment: usize,
}

impl Operand {
    /// Whether it ends before the other one begins, or the reverse.
    #[inline]
    pub fn is_apart_from(&self, other: &Operand) -> bool {
        self.address.saturating_add(self.bytes) <= other.address
            || other.address.saturating_add(other.bytes) <= self.address
    }

    /// The device it lies on. Managed memory counts as the current device's.
    #[inline]
    pub(crate) fn device(&self, runtime: &Runtime) -> Result<DeviceIndex> {
        if self.address & (self.alignment - 1) != 0 {
            return Err(self.misaligned());
        }
        if self.address == 0 {
            return Err(Error::invalid_argument(format!("{} is NULL", self.name)));
        }
        match address_range::kind_of(runtime, self.address, self.bytes, self.name)? {
            MemoryKind::Device(device) | MemoryKind::Managed(device) => Ok(device),
            MemoryKind::Pinned | MemoryKind::Ordinary => Err(self.not_on_a_device()),
        }
    }

    #[cold]
    fn not_on_a_device(&self) -> Error {
        Error::invalid_argument(format!(
            "{} {:#x} is not memory of a device; copy it to one first",
            self.name, self.address
        ))
    }

    #[cold]
    fn misaligned(&self) -> Error {
        Error::invalid_argument(format!(
            "{} {:#x} is not aligned to its elements of {} bytes",
            self.name, self.address, self.alignment
        ))
    }
}

/// The device that all operands lie on; the current one if there are none.
#[inline]
pub fn device_of(runtime: &Runtime, operands: &[Operand]) -> Result<DeviceIndex> {
    let Some((first, others)) = operands.split_first() else {
        return device::current_of_thread(runtime);
    };
    let device = first.device(runtime)?;
    for other in others {
        let found = other.device(runtime)?;
        if found != device {
            return Err(apart((device, first.name), (found, other.name)));
        }
    }
    Ok(device)
}

#[cold]
fn apart(first: (DeviceIndex, &str), second: (DeviceIndex, &str)) -> Error {
    Error::new(
        Status::CrossDevice,
        format!(
            "{} is memory of device {}, but {} of device {}; copy one of them to the other's device",
            first.1, first.0, second.1, second.0
        ),
    )
}
