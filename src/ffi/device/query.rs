//! Devices: what they are, and what belongs to them. See `docs/design/device.md`.

use std::ffi::{c_char, c_void};

use crate::device;
use crate::error::Error;
use crate::ffi::device::properties::sconce_device_properties;
use crate::ffi::structs::OutStruct;
use crate::ffi::{Out, guard, null, sconce_status, string};

/// Tells what a device is.
///
/// # Parameters
/// `device`: index, -1 for the current device. `out_properties` [in, out]: `struct_size` is set by
/// the caller (`SCONCE_DEVICE_PROPERTIES_INIT`); as much as fits is written.
/// # Errors
/// INVALID_DEVICE. INVALID_ARGUMENT: `out_properties` is NULL, or its `struct_size` is no
/// version's. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// Does not block; makes no context.
/// # Threads
/// Any.
/// # Safety
/// `out_properties` is NULL or points to `struct_size` readable and writable bytes.
/// # Upstream
/// `torch.cuda.get_device_properties()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_device_get_properties(
    device: i32,
    out_properties: *mut sconce_device_properties,
) -> sconce_status {
    guard(|| {
        // SAFETY: the caller promises a readable and writable struct.
        let place = unsafe { OutStruct::new(out_properties, "out_properties") }?;
        place.write(sconce_device_properties::from_core(&device::properties(device)?));
        Ok(())
    })
}

/// Gives a device's compute capability.
///
/// # Parameters
/// `device`: index, -1 for the current device. `out_major`, `out_minor` [out]: e.g. 9 and 0.
/// # Errors
/// INVALID_DEVICE. INVALID_ARGUMENT: `out_major` or `out_minor` is NULL. NO_DEVICE,
/// LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// Does not block; makes no context.
/// # Threads
/// Any.
/// # Safety
/// `out_major` and `out_minor` are each NULL or valid for writing one value.
/// # Upstream
/// `torch.cuda.get_device_capability()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_device_get_capability(
    device: i32,
    out_major: *mut i32,
    out_minor: *mut i32,
) -> sconce_status {
    guard(|| {
        // SAFETY: the caller promises a writable place.
        let out_major = unsafe { Out::new(out_major, "out_major") }?;
        // SAFETY: the caller promises a writable place.
        let out_minor = unsafe { Out::new(out_minor, "out_minor") }?;
        let properties = device::properties(device)?;
        out_major.write(properties.major);
        out_minor.write(properties.minor);
        Ok(())
    })
}

/// Gives a device's name.
///
/// # Parameters
/// `device`: index, -1 for the current device. `buffer` [out]: the name, NUL-terminated. `length`:
/// bytes the buffer has; 256 are always enough.
/// # Errors
/// INVALID_DEVICE. INVALID_ARGUMENT: `buffer` is NULL or `length` too small, in which case the
/// message says how many bytes are needed. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// Does not block; makes no context.
/// # Threads
/// Any.
/// # Safety
/// `buffer` is NULL or valid for writing `length` bytes.
/// # Upstream
/// `torch.cuda.get_device_name()`.
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
        // SAFETY: the caller promises `length` writable bytes, more than the name has.
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

/// Tells whether kernels of one device could use another's memory.
///
/// # Parameters
/// `device`, `peer`: indices, -1 for the current device. `out_possible` [out]; false for a device
/// and itself, as with CUDA.
/// # Errors
/// INVALID_DEVICE. INVALID_ARGUMENT: `out_possible` is NULL. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED
/// as `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// Does not block; makes no context.
/// # Threads
/// Any.
/// # Safety
/// `out_possible` is NULL or valid for writing one value.
/// # Upstream
/// `torch.cuda.can_device_access_peer()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_device_can_access_peer(
    device: i32,
    peer: i32,
    out_possible: *mut bool,
) -> sconce_status {
    guard(|| {
        // SAFETY: the caller promises a writable place.
        let out_possible = unsafe { Out::new(out_possible, "out_possible") }?;
        out_possible.write(device::can_access_peer(device, peer)?);
        Ok(())
    })
}

/// Lets kernels of `device` use the memory of `peer`, in this direction only. Enabling twice is
/// fine.
///
/// # Parameters
/// `device`, `peer`: indices, -1 for the current device.
/// # Errors
/// INVALID_DEVICE. INVALID_ARGUMENT: both are one device. NOT_SUPPORTED: the hardware does not
/// allow it. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// May wait for the devices; makes their contexts.
/// # Threads
/// Any.
/// # Safety
/// No requirements.
/// # Upstream
/// `cudaDeviceEnablePeerAccess`, which torch calls at the first copy between two devices.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_device_enable_peer_access(device: i32, peer: i32) -> sconce_status {
    guard(|| device::enable_peer_access(device, peer))
}

/// Gives a device's free and total memory.
///
/// # Parameters
/// `device`: index, -1 for the current device. `out_free_bytes`, `out_total_bytes` [out]: bytes,
/// counting every process.
/// # Errors
/// INVALID_DEVICE. INVALID_ARGUMENT: `out_free_bytes` or `out_total_bytes` is NULL. NO_DEVICE,
/// LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// Does not block; makes the device's context.
/// # Threads
/// Any.
/// # Safety
/// `out_free_bytes` and `out_total_bytes` are each NULL or valid for writing one value.
/// # Upstream
/// `torch.cuda.mem_get_info()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_device_get_memory_info(
    device: i32,
    out_free_bytes: *mut usize,
    out_total_bytes: *mut usize,
) -> sconce_status {
    guard(|| {
        // SAFETY: the caller promises a writable place.
        let out_free_bytes = unsafe { Out::new(out_free_bytes, "out_free_bytes") }?;
        // SAFETY: the caller promises a writable place.
        let out_total_bytes = unsafe { Out::new(out_total_bytes, "out_total_bytes") }?;
        let info = device::memory_info(device)?;
        out_free_bytes.write(info.free_bytes);
        out_total_bytes.write(info.total_bytes);
        Ok(())
    })
}

/// Gives the device that an address belongs to.
///
/// # Parameters
/// `pointer`: any address, also inside an allocation; it is not followed. `out_device` [out]:
/// index.
/// # Errors
/// INVALID_ARGUMENT: not device memory (the message says what it is instead), or `out_device` is
/// NULL. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// Does not block.
/// # Threads
/// Any.
/// # Safety
/// `out_device` is NULL or valid for writing one value.
/// # Upstream
/// `at::cuda::getDeviceFromPtr`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_device_of_pointer(
    pointer: *const c_void,
    out_device: *mut i32,
) -> sconce_status {
    guard(|| {
        // SAFETY: the caller promises a writable place.
        let out_device = unsafe { Out::new(out_device, "out_device") }?;
        out_device.write(device::of_pointer(pointer as usize)?.as_i32());
        Ok(())
    })
}

/// Lists the processes that hold memory of a device, as text: a line `GPU:<index>`, then a line for
/// each process with its id and its memory in MiB, or `no processes are running`.
///
/// # Parameters
/// `device`: index, -1 for the current device. `out_text` [out]: the text.
/// # Errors
/// INVALID_DEVICE. LIBRARY_NOT_FOUND: NVIDIA's management library is missing. INVALID_ARGUMENT:
/// `out_text` is NULL. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
/// # Ownership
/// The caller frees the text with `sconce_string_free`.
/// # Ordering
/// Does not block; makes no context.
/// # Threads
/// Any.
/// # Safety
/// `out_text` is NULL or valid for writing one value.
/// # Upstream
/// `torch.cuda.list_gpu_processes()`, in its words; the device is found by its PCI bus id, so
/// `CUDA_VISIBLE_DEVICES` does not confuse it. Containers may hide processes or show other ids.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_device_list_processes(
    device: i32,
    out_text: *mut *mut c_char,
) -> sconce_status {
    guard(|| {
        // SAFETY: the caller promises a writable place.
        let out_text = unsafe { Out::new(out_text, "out_text") }?;
        out_text.write(string::into_raw(device::list_processes(device)?));
        Ok(())
    })
}
