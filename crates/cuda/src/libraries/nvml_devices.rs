//! The devices of the machine, from NVIDIA's management library: a process that has asked CUDA can no longer fork, and
//! one that has asked this library can.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::mem::transmute;
use std::ptr::{NonNull, null_mut};

use super::loader::open_library;
use super::nvml::{Init, NAMES, SUCCESS};

/// More than a UUID's text has in any release.
const UUID_BYTES: usize = 96;

type DeviceCount = unsafe extern "C" fn(*mut c_uint) -> c_int;
type DeviceByIndex = unsafe extern "C" fn(c_uint, *mut *mut c_void) -> c_int;
type DeviceUuid = unsafe extern "C" fn(*mut c_void, *mut c_char, c_uint) -> c_int;
type MigMode = unsafe extern "C" fn(*mut c_void, *mut c_uint, *mut c_uint) -> c_int;

/// The UUIDs of the devices, in small letters and without `GPU-`. `None` if the library cannot say which devices CUDA
/// would show: it is missing or does not start, or a device is divided (MIG).
pub(crate) fn uuids(path: Option<&str>) -> Option<Vec<String>> {
    let (library, _) = open_library("NVIDIA's management library (NVML)", path, &NAMES).ok()?;
    let init = library.symbol(c"nvmlInit_v2")?;
    // SAFETY: the prototype of this symbol in nvml.h.
    let init = unsafe { transmute::<NonNull<c_void>, Init>(init) };
    let count = library.symbol(c"nvmlDeviceGetCount_v2")?;
    // SAFETY: the prototype of this symbol in nvml.h.
    let count = unsafe { transmute::<NonNull<c_void>, DeviceCount>(count) };
    let by_index = library.symbol(c"nvmlDeviceGetHandleByIndex_v2")?;
    // SAFETY: the prototype of this symbol in nvml.h.
    let by_index = unsafe { transmute::<NonNull<c_void>, DeviceByIndex>(by_index) };
    let uuid = library.symbol(c"nvmlDeviceGetUUID")?;
    // SAFETY: the prototype of this symbol in nvml.h.
    let uuid = unsafe { transmute::<NonNull<c_void>, DeviceUuid>(uuid) };
    let mig = library.symbol(c"nvmlDeviceGetMigMode").map(|address| {
        // SAFETY: the prototype of this symbol in nvml.h.
        unsafe { transmute::<NonNull<c_void>, MigMode>(address) }
    });

    // SAFETY: takes nothing; may be called any number of times.
    succeeded(unsafe { init() })?;
    let mut devices = 0;
    // SAFETY: a place that outlives the call.
    succeeded(unsafe { count(&mut devices) })?;
    let uuid_of = |index| {
        let mut device = null_mut();
        // SAFETY: an index below the count, and a place that outlives the call.
        succeeded(unsafe { by_index(index, &mut device) })?;
        if let Some(mig) = mig {
            let (mut current, mut pending) = (0, 0);
            // SAFETY: the device's handle, and places that outlive the call.
            let code = unsafe { mig(device, &mut current, &mut pending) };
            // Devices that cannot be divided fail.
            if code == SUCCESS && current != 0 {
                return None;
            }
        }
        let mut text = [0 as c_char; UUID_BYTES];
        // SAFETY: the device's handle, and room for as many bytes.
        succeeded(unsafe { uuid(device, text.as_mut_ptr(), UUID_BYTES as c_uint) })?;
        text[UUID_BYTES - 1] = 0;
        // SAFETY: a text that ends with 0 at the latest there.
        let text = unsafe { CStr::from_ptr(text.as_ptr()) };
        text.to_str().ok()?.strip_prefix("GPU-").map(str::to_ascii_lowercase)
    };
    (0..devices).map(uuid_of).collect()
}

fn succeeded(code: c_int) -> Option<()> {
    (code == SUCCESS).then_some(())
}
