//! Which memory work of the current device may use, and where memory ends.

use sconce_base::error::{Error, Result, Status};
use sconce_base::types::DeviceIndex;
use sconce_driver::{Driver, PointerInfo};

use super::peers;
use crate::context::Runtime;

/// Whether work of `current` may use an address of `device`.
pub fn allow(
    runtime: &Runtime,
    current: DeviceIndex,
    device: DeviceIndex,
    address: usize,
    what: &str,
) -> Result<()> {
    if device == current || peers::is_enabled(current, device) {
        return Ok(());
    }
    Err(out_of_reach(runtime, current, device, address, what))
}

#[cold]
fn out_of_reach(
    runtime: &Runtime,
    current: DeviceIndex,
    device: DeviceIndex,
    address: usize,
    what: &str,
) -> Error {
    let remedy = match peers::is_possible(runtime, current, device) {
        Ok(false) => format!(", nor can have any; make device {device} current"),
        _ => format!(
            "; make device {device} current, or call \
             sconce_device_enable_peer_access({current}, {device})"
        ),
    };
    Error::new(
        Status::CrossDevice,
        format!(
            "{what} {address:#x} is memory of device {device}, but the current device is \
             {current}, which has no peer access to it{remedy}"
        ),
    )
}

/// Whether all memory up to `end` is of one kind, from the address on that the driver described by `info`.
///
/// Adjoining mappings count as one: a range of addresses may have been mapped, or page-locked, in pieces.
pub(crate) fn extends_to(driver: &dyn Driver, info: &PointerInfo, end: usize) -> Result<bool> {
    if info.bytes == 0 {
        return Ok(true); // The driver does not report sizes.
    }
    let end = end as u64;
    let mut known = info.base.0.saturating_add(info.bytes as u64);
    while known < end {
        let next = driver.pointer_info(known as usize)?;
        let next_end = next.base.0.saturating_add(next.bytes as u64);
        if next.kind != info.kind || next_end <= known {
            return Ok(false);
        }
        known = next_end;
    }
    Ok(true)
}
