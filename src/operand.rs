//! What the arguments of a library's call must be: memory of one device, as large as the call uses.
//!
//! The libraries below follow addresses without looking at them, and a wrong one ends the device. So
//! each address is looked up before anything is queued: memory of this library without the driver, any
//! other by asking it. A range that begins inside a block is known by its segment only.

use crate::context::Runtime;
use crate::device::reach;
use crate::driver::PointerKind;
use crate::error::{Error, Result, Status};
use crate::memory;
use crate::thread_state;
use crate::types::DeviceIndex;

/// An argument of a call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operand {
    /// Its name, for messages.
    pub(crate) name: &'static str,
    /// Its address.
    pub(crate) address: usize,
    /// How many bytes are used from there on, more than 0.
    pub(crate) bytes: usize,
    /// What the address is a multiple of: a power of two.
    pub(crate) alignment: usize,
}

impl Operand {
    /// Whether it ends before the other one begins, or the reverse.
    #[inline]
    pub(crate) fn is_apart_from(&self, other: &Operand) -> bool {
        self.address.saturating_add(self.bytes) <= other.address
            || other.address.saturating_add(other.bytes) <= self.address
    }

    /// The device it lies on. Managed memory counts as the current device's.
    #[inline]
    pub(crate) fn device(&self, runtime: &Runtime) -> Result<DeviceIndex> {
        if self.address & (self.alignment - 1) != 0 {
            return Err(self.misaligned());
        }
        match memory::block_at(self.address) {
            Some((device, room)) if self.bytes <= room => Ok(device),
            Some(_) => Err(self.too_short()),
            None => self.of_others(runtime),
        }
    }

    fn of_others(&self, runtime: &Runtime) -> Result<DeviceIndex> {
        let name = self.name;
        if self.address == 0 {
            return Err(Error::invalid_argument(format!("{name} is NULL")));
        }
        let info = runtime.driver().pointer_info(self.address)?;
        let device = match info.kind {
            PointerKind::Device(device) => device,
            PointerKind::Managed => thread_state::device(),
            PointerKind::PinnedHost | PointerKind::Unregistered => {
                return Err(Error::invalid_argument(format!(
                    "{name} {:#x} is no memory of a device; copy it to one first",
                    self.address
                )));
            }
        };
        let end = self.address.checked_add(self.bytes).ok_or_else(|| self.too_short())?;
        if reach::extends_to(runtime.driver(), &info, end)? {
            Ok(device)
        } else {
            Err(self.too_short())
        }
    }

    #[cold]
    fn too_short(&self) -> Error {
        Error::invalid_argument(format!(
            "{} {:#x} points into an allocation that has less than the {} bytes that are used from \
             there on",
            self.name, self.address, self.bytes
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
pub(crate) fn device_of(runtime: &Runtime, operands: &[Operand]) -> Result<DeviceIndex> {
    let Some((first, others)) = operands.split_first() else { return Ok(thread_state::device()) };
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
