//! Devices, failures and their texts.

use std::ffi::{c_char, c_int, c_uint, c_void};

use super::arguments::CudaPlace;
use super::driver::{Code, driver};
use super::state::{self, check, codes, ready, started};
use super::{NamedFunction, runtime};
use crate::abi::arguments::Out;

/// The version that `cudaRuntimeGetVersion` returns: that of CUDA 12.0, whose driver these functions need.
const VERSION: c_int = 12_000;

runtime! {
    /// The calling thread's device.
    fn cudaGetDevice(device: Out<c_int>) {
        device.give(state::device()?)
    }

    /// Sets the calling thread's device.
    fn cudaSetDevice(device: c_int) {
        state::set_device(device)
    }

    /// How many devices there are.
    fn cudaGetDeviceCount(count: Out<c_int>) {
        count.fill(0, |count| check((started()?.device_count)(count)))
    }

    /// A property of a device; the driver has the same numbers.
    fn cudaDeviceGetAttribute(value: Out<c_int>, attribute: c_int, device: c_int) {
        let driver = started()?;
        let mut of_driver = 0;
        check((driver.device)(&mut of_driver, device))?;
        value.fill(0, |value| check((driver.device_attribute)(value, attribute, of_driver)))
    }

    /// The address of a function of the driver, as of the version of these functions.
    fn cudaGetDriverEntryPoint(
        name: *const c_char,
        address: *mut *mut c_void,
        flags: u64,
        found: *mut c_int,
    ) {
        // SAFETY: the arguments are those that a C caller passes to `cudaGetDriverEntryPoint`.
        unsafe { entry_point(name, address, VERSION, flags, found) }
    }

    /// The address of a function of the driver, as of a version of CUDA. Flags and answers are the driver's.
    fn cudaGetDriverEntryPointByVersion(
        name: *const c_char,
        address: *mut *mut c_void,
        version: c_uint,
        flags: u64,
        found: *mut c_int,
    ) {
        let version = c_int::try_from(version).map_err(|_| codes::INVALID_VALUE)?;
        // SAFETY: the arguments are those that a C caller passes to `cudaGetDriverEntryPointByVersion`.
        unsafe { entry_point(name, address, version, flags, found) }
    }

    /// Waits for all work of the device.
    fn cudaDeviceSynchronize() {
        check((ready()?.synchronize)())
    }

    /// The version of CUDA that the driver supports; 0 without a driver.
    fn cudaDriverGetVersion(version: Out<c_int>) {
        version.fill(0, |version| match driver() {
            Some(driver) => check((driver.version)(version)),
            None => Ok(()),
        })
    }

    /// The version of CUDA that these functions are of.
    fn cudaRuntimeGetVersion(version: Out<c_int>) {
        version.give(VERSION)
    }
}

/// # Safety
/// The name is NULL or ends with NUL; the places are NULL or valid for writes.
unsafe fn entry_point(
    name: *const c_char,
    address: *mut *mut c_void,
    version: c_int,
    flags: u64,
    found: *mut c_int,
) -> state::Outcome {
    if name.is_null() || address.is_null() {
        return Err(codes::INVALID_VALUE);
    }
    // SAFETY: neither the name nor the place for the address is NULL, so a text ends with NUL there and an address may be
    // written; the driver accepts NULL for the answer.
    check(unsafe { (started()?.function_address)(name, address, version, flags, found) })
}

/// The newest failure, which is forgotten.
extern "C" fn cudaGetLastError() -> Code {
    state::take_newest()
}

/// The newest failure.
extern "C" fn cudaPeekAtLastError() -> Code {
    state::newest()
}

/// The text of a code.
extern "C" fn cudaGetErrorString(code: Code) -> *const c_char {
    let mut text = std::ptr::null();
    match driver() {
        Some(driver) if (driver.error_string)(code, &mut text) == codes::SUCCESS => text,
        _ => without_driver(code, c"unrecognized error code"),
    }
}

/// The name of a code.
extern "C" fn cudaGetErrorName(code: Code) -> *const c_char {
    let mut text = std::ptr::null();
    match driver() {
        Some(driver) if (driver.error_name)(code, &mut text) == codes::SUCCESS => text,
        _ => without_driver(code, c"unrecognized error code"),
    }
}

/// Texts of codes that the driver does not know, or that there is no driver to ask about.
fn without_driver(code: Code, other: &'static std::ffi::CStr) -> *const c_char {
    match code {
        codes::SUCCESS => c"no error",
        codes::INSUFFICIENT_DRIVER => {
            c"there is no CUDA driver, or its version is below that of CUDA 12.0"
        }
        codes::INVALID_DEVICE_FUNCTION => c"invalid device function",
        _ => other,
    }
    .as_ptr()
}

/// Functions that store no failure.
pub(super) const TEXTS: &[NamedFunction] = &[
    ("cudaGetLastError", cudaGetLastError as *const ()),
    ("cudaPeekAtLastError", cudaPeekAtLastError as *const ()),
    ("cudaGetErrorString", cudaGetErrorString as *const ()),
    ("cudaGetErrorName", cudaGetErrorName as *const ()),
];
