//! Properties of addresses, variables of kernels, copies of rows, and memory of other processes.

use std::ffi::{c_int, c_uint, c_void};

use super::arguments::CudaPlace;
use super::driver::{Address, IpcHandle, RowCopy, RowSide, Stream};
use super::images::variable_of;
use super::memory::check_direction;
use super::runtime;
use super::state::{check, codes, ready};
use crate::abi::arguments::Out;

/// `cudaPointerAttributes`, as far as both CUDA 12 and 13 have it.
#[repr(C)]
struct AddressProperties {
    /// 0 for memory that CUDA does not know, 1 for the host's, 2 for a device's, 3 for managed memory.
    kind: c_int,
    device: c_int,
    on_device: Address,
    on_host: Address,
}

/// `CU_POINTER_ATTRIBUTE_MEMORY_TYPE`, `_DEVICE_POINTER`, `_HOST_POINTER`, `_IS_MANAGED`, `_DEVICE_ORDINAL`.
const PROPERTIES: [c_int; 5] = [2, 3, 4, 8, 9];
const MANAGED: c_int = 3;
/// The device of memory that CUDA does not know.
const NO_DEVICE: c_int = -2;

/// The sides of a copy by its direction: `CU_MEMORYTYPE_HOST`, `_DEVICE` or `_UNIFIED`.
const SIDES: [(c_uint, c_uint); 5] = [(1, 1), (1, 2), (2, 1), (2, 2), (4, 4)];

fn side(kind: c_uint, address: Address, pitch: usize) -> RowSide {
    RowSide {
        first_byte: 0,
        first_row: 0,
        kind,
        host: if kind == 1 { address } else { 0 },
        device: if kind == 1 { 0 } else { address },
        array: std::ptr::null_mut(),
        pitch,
    }
}

runtime! {
    /// Copies rows in the order of a stream.
    fn cudaMemcpy2DAsync(
        into: Address,
        into_pitch: usize,
        from: Address,
        from_pitch: usize,
        width: usize,
        rows: usize,
        kind: c_int,
        stream: Stream,
    ) {
        check_direction(kind)?;
        let (from_side, into_side) = SIDES[kind as usize];
        let driver = ready()?;
        if width == 0 || rows == 0 {
            return Ok(());
        }
        if width > into_pitch || width > from_pitch {
            return Err(codes::INVALID_PITCH);
        }
        let copy = RowCopy {
            from: side(from_side, from, from_pitch),
            into: side(into_side, into, into_pitch),
            width,
            rows,
        };
        // SAFETY: `cudaMemcpy2DAsync` demands so many rows of such pitches at both addresses until the stream has copied
        // them.
        check(unsafe { (driver.copy_rows_async)(&copy, stream) })
    }

    /// Copies to a variable of kernels, and waits.
    fn cudaMemcpyToSymbol(
        symbol: *const c_void,
        from: Address,
        bytes: usize,
        offset: usize,
        kind: c_int,
    ) {
        check_direction(kind)?;
        let driver = ready()?;
        let (address, size) = variable_of(driver, symbol)?;
        if offset.checked_add(bytes).is_none_or(|end| end > size) {
            return Err(codes::INVALID_VALUE);
        }
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: the variable has so many bytes behind the offset, and `cudaMemcpyToSymbol` demands as many at `from`.
        check(unsafe { (driver.copy)(address + offset, from, bytes) })
    }

    /// The kind and the device of an address. Of CUDA 13, what is reserved stays as it is.
    fn cudaPointerGetAttributes(place: Out<AddressProperties>, address: Address) {
        let driver = ready()?;
        let (mut kind, mut managed, mut device) = (0, 0_u8, NO_DEVICE);
        let (mut on_device, mut on_host): (Address, Address) = (0, 0);
        let values: [*mut c_void; 5] = [
            (&raw mut kind).cast(),
            (&raw mut on_device).cast(),
            (&raw mut on_host).cast(),
            (&raw mut managed).cast(),
            (&raw mut device).cast(),
        ];
        // SAFETY: there are five properties, and each value is of the type that the driver writes for its property.
        check(unsafe {
            (driver.address_attributes)(5, PROPERTIES.as_ptr(), values.as_ptr(), address)
        })?;
        let found = match kind {
            0 => AddressProperties { kind, device: NO_DEVICE, on_device: 0, on_host: address },
            kind => {
                let kind = if managed != 0 { MANAGED } else { kind };
                AddressProperties { kind, device, on_device, on_host }
            }
        };
        place.give(found)
    }

    /// The device's address of page-locked memory.
    fn cudaHostGetDevicePointer(place: Out<Address>, host: *mut c_void, flags: c_uint) {
        place.fill(0, |found| check((ready()?.host_address)(found, host, flags)))
    }

    /// A handle of memory for another process.
    fn cudaIpcGetMemHandle(place: Out<IpcHandle>, address: Address) {
        place.fill(IpcHandle([0; 64]), |found| check((ready()?.ipc_handle)(found, address)))
    }

    /// Memory of another process; the flags are the driver's.
    fn cudaIpcOpenMemHandle(place: Out<Address>, handle: IpcHandle, flags: c_uint) {
        place.fill(0, |found| check((ready()?.ipc_open)(found, handle, flags)))
    }

    /// Ends the use of memory of another process.
    fn cudaIpcCloseMemHandle(address: Address) {
        // SAFETY: `cudaIpcCloseMemHandle` demands an address of `cudaIpcOpenMemHandle` that the caller uses no more.
        check(unsafe { (ready()?.ipc_close)(address) })
    }
}
