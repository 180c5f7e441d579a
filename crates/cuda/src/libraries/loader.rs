//! Finds `libcuda` and its entry points.
//!
//! The version suffixes of exported names (`cuMemAlloc_v2`) are an accident of history that
//! `cuGetProcAddress` hides: given the plain name and the CUDA version of a prototype it answers
//! with the function that has it. We ask for the *legacy* default stream explicitly, so that the
//! per-thread variants are never picked whatever the process was compiled with. A driver older than
//! 11.3 has no `cuGetProcAddress`; there, and for a function that it does not find, the exported
//! symbol is taken.

use std::ffi::{c_char, c_int, c_void};
use std::mem::transmute;
use std::ptr::{NonNull, null_mut};

use cudarc::driver::sys::CUdriverProcAddress_flags::CU_GET_PROC_ADDRESS_LEGACY_STREAM;
use sconce_base::dynlib::Library;
use sconce_base::error::Result;

use super::api::{Api, EntryPoint};

/// The default names of the driver: the runtime name first, since the other one
/// may be a toolkit's stub.
const NAMES: [&str; 2] = ["libcuda.so.1", "libcuda.so"];

type GetProcAddressV1 = unsafe extern "C" fn(*const c_char, *mut *mut c_void, c_int, u64) -> i32;
type GetProcAddressV2 =
    unsafe extern "C" fn(*const c_char, *mut *mut c_void, c_int, u64, *mut c_int) -> i32;

/// How the driver is asked for addresses.
#[derive(Clone, Copy)]
enum GetProcAddress {
    V2(GetProcAddressV2),
    V1(GetProcAddressV1),
    Absent,
}

/// Opens the driver library, `path` if given, and fills the table.
pub(crate) fn open(path: Option<&str>) -> Result<Api> {
    let (library, name) = open_library("the CUDA driver", path, &NAMES)?;
    let get_proc_address = GetProcAddress::of(&library);
    Api::load(&name, &|entry| get_proc_address.find(entry).or_else(|| library.symbol(entry.symbol)))
}

/// Opens the first of `names` that exists (only `path` if given); also returns its name.
pub(crate) fn open_library(
    what: &str,
    path: Option<&str>,
    names: &[&str],
) -> Result<(Library, String)> {
    let given = path.map(|path| [path]);
    let names = given.as_ref().map_or(names, |given| given.as_slice());
    for name in names {
        if let Ok(library) = Library::open(what, &[name]) {
            return Ok((library, (*name).to_owned()));
        }
    }
    // Every name failed: open again for the error that lists all of them.
    Library::open(what, names).map(|library| (library, names.join(", ")))
}

impl GetProcAddress {
    fn of(library: &Library) -> GetProcAddress {
        if let Some(address) = library.symbol(c"cuGetProcAddress_v2") {
            // SAFETY: the driver exports the 12.0 prototype under this name.
            return GetProcAddress::V2(unsafe {
                transmute::<NonNull<c_void>, GetProcAddressV2>(address)
            });
        }
        match library.symbol(c"cuGetProcAddress") {
            // SAFETY: the driver exports the 11.3 prototype under this name.
            Some(address) => GetProcAddress::V1(unsafe {
                transmute::<NonNull<c_void>, GetProcAddressV1>(address)
            }),
            None => GetProcAddress::Absent,
        }
    }

    fn find(self, entry: &EntryPoint<'_>) -> Option<NonNull<c_void>> {
        let mut address = null_mut();
        let flags = CU_GET_PROC_ADDRESS_LEGACY_STREAM as u64;
        let name = entry.name.as_ptr();
        let code = match self {
            GetProcAddress::V2(get) => {
                let mut status = 0;
                // SAFETY: a NUL-terminated name, and two places that outlive the call.
                unsafe { get(name, &mut address, entry.version, flags, &mut status) }
            }
            GetProcAddress::V1(get) => {
                // SAFETY: a NUL-terminated name, and a place that outlives the call.
                unsafe { get(name, &mut address, entry.version, flags) }
            }
            GetProcAddress::Absent => return None,
        };
        // "Not found" is success with a null address, or a code on old drivers.
        if code == 0 { NonNull::new(address) } else { None }
    }
}
