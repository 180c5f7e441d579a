//! Devices: properties, peers, free memory, processes. See `docs/design/device.md`.

use std::ffi::{c_char, c_void};

use sconce_base::error::Error;
use sconce_runtime::device;

use crate::device::properties::sconce_device_properties;
use crate::{guard, null, sconce_status, string};

/// Reports the properties of a device. Makes no context.
///
/// - `out_properties`: receives the properties; begin with `SCONCE_DEVICE_PROPERTIES_INIT`.
/// - torch: `torch.cuda.get_device_properties()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_device_get_properties(
    device: i32,
    out_properties: *mut sconce_device_properties,
) -> sconce_status {
    guard(|| {
        let place = out_struct!(out_properties);
        place.write(sconce_device_properties::from_core(&device::properties(device)?));
        Ok(())
    })
}

/// Reports the compute capability of a device. Makes no context.
///
/// - `out_major`, `out_minor`: receive its two numbers, e.g. 9 and 0.
/// - torch: `torch.cuda.get_device_capability()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_device_get_capability(
    device: i32,
    out_major: *mut i32,
    out_minor: *mut i32,
) -> sconce_status {
    guard(|| {
        let out_major = out!(out_major);
        let out_minor = out!(out_minor);
        let properties = device::properties(device)?;
        out_major.write(properties.major);
        out_minor.write(properties.minor);
        Ok(())
    })
}

/// Reports the name of a device. Makes no context.
///
/// - `buffer`: receives the name, NUL-terminated.
/// - `length`: bytes that `buffer` can hold; 256 always suffice. If they do not suffice, the
///   call returns INVALID_ARGUMENT, and the message states the number of bytes needed.
/// - torch: `torch.cuda.get_device_name()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_device_get_name(
    device: i32,
    buffer: *mut c_char,
    length: usize,
) -> sconce_status {
    guard(|| {
        if buffer.is_null() {
            return Err(null("buffer"));
        }
        let name = device::properties(device)?.name;
        let bytes = name.as_bytes();
        if length <= bytes.len() {
            return Err(too_short(length, bytes.len() + 1));
        }
        // SAFETY: not NULL; `buffer` can hold `length` bytes, as its comment demands, and the name has fewer.
        unsafe { buffer.cast::<u8>().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        // SAFETY: the byte after the name is still within `length`.
        unsafe { buffer.wrapping_add(bytes.len()).write(0) };
        Ok(())
    })
}

#[cold]
#[inline(never)]
fn too_short(length: usize, needed: usize) -> Error {
    Error::invalid_argument(format!("length is {length}; the name needs {needed} bytes"))
}

/// Reports whether the hardware lets kernels of one device use another device's memory. Makes no
/// context.
///
/// - `device`, `peer`: indices, -1 for the current device.
/// - `out_possible`: receives the answer; false if both are one device, as in CUDA.
/// - torch: `torch.cuda.can_device_access_peer()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_device_can_access_peer(
    device: i32,
    peer: i32,
    out_possible: *mut bool,
) -> sconce_status {
    guard(|| {
        let out_possible = out!(out_possible);
        out_possible.write(device::can_access_peer(device, peer)?);
        Ok(())
    })
}

/// Lets kernels of `device` use the memory of `peer`, in this direction only. Has no effect if it
/// is enabled already.
///
/// - `device`, `peer`: indices, -1 for the current device.
/// - Errors: INVALID_ARGUMENT: both are one device. NOT_SUPPORTED: the hardware does not allow it.
/// - Ordering: makes the contexts of both devices, and may wait for both.
/// - torch: `cudaDeviceEnablePeerAccess`, which torch calls at the first copy between two devices.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_device_enable_peer_access(device: i32, peer: i32) -> sconce_status {
    guard(|| device::enable_peer_access(device, peer))
}

/// Reports the free and the total memory of a device, in bytes. Free memory takes all processes
/// into account. Makes the device's context.
///
/// - `out_free_bytes`, `out_total_bytes`: receive the two figures.
/// - torch: `torch.cuda.mem_get_info()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_device_get_memory_info(
    device: i32,
    out_free_bytes: *mut usize,
    out_total_bytes: *mut usize,
) -> sconce_status {
    guard(|| {
        let out_free_bytes = out!(out_free_bytes);
        let out_total_bytes = out!(out_total_bytes);
        let info = device::memory_info(device)?;
        out_free_bytes.write(info.free_bytes);
        out_total_bytes.write(info.total_bytes);
        Ok(())
    })
}

/// Reports the device that an address belongs to.
///
/// - `pointer`: any address, also inside an allocation.
/// - `out_device`: receives the index.
/// - Errors: INVALID_ARGUMENT: `pointer` is not device memory; the message states what it is.
/// - torch: `at::cuda::getDeviceFromPtr`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_device_of_pointer(
    pointer: *const c_void,
    out_device: *mut i32,
) -> sconce_status {
    guard(|| {
        let out_device = out!(out_device);
        out_device.write(device::of_pointer(pointer as usize)?.as_i32());
        Ok(())
    })
}

/// Lists the processes that hold memory of a device, as text in torch's format: a line
/// `GPU:<index>`, then a line for each process with its id and its memory in MiB, or
/// `no processes are running`.
///
/// The device is identified by its PCI bus id, so `CUDA_VISIBLE_DEVICES` has no effect.
/// Containers may hide processes or show other ids. Makes no context.
///
/// - `out_text`: receives the text.
/// - Errors: LIBRARY_NOT_FOUND: NVIDIA's management library is missing.
/// - torch: `torch.cuda.list_gpu_processes()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_device_list_processes(
    device: i32,
    out_text: *mut *mut c_char,
) -> sconce_status {
    guard(|| {
        let out_text = out!(out_text);
        out_text.write(string::into_raw(device::list_processes(device)?));
        Ok(())
    })
}
