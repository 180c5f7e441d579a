//! The library's version.

use std::ffi::c_char;

/// The number of the binary interface, also in the library's soname.
pub const SCONCE_ABI_VERSION: u32 = 0;

/// Returns the library's version, e.g. `0.1.0` (semantic versioning), as a static string.
///
/// - torch: `torch.__version__`.
#[unsafe(no_mangle)]
pub extern "C" fn sconce_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// Returns the number of the binary interface, to be compared with `SCONCE_ABI_VERSION` of the
/// header.
#[unsafe(no_mangle)]
pub extern "C" fn sconce_abi_version() -> u32 {
    SCONCE_ABI_VERSION
}
