//! Which library this is.

use std::ffi::c_char;

/// The number of the binary interface, also in the library's soname.
pub const SCONCE_ABI_VERSION: u32 = 0;

/// Gives the library's version, e.g. `0.1.0` (semantic versioning).
///
/// # Parameters
/// None.
/// # Errors
/// None.
/// # Ownership
/// The string is static.
/// # Ordering
/// Does not block.
/// # Threads
/// Any.
/// # Safety
/// No requirements.
/// # Upstream
/// `torch.__version__`.
#[unsafe(no_mangle)]
pub extern "C" fn sconce_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// Gives the number of the binary interface, to compare with `SCONCE_ABI_VERSION` of the header.
///
/// # Parameters
/// None.
/// # Errors
/// None.
/// # Ownership
/// None.
/// # Ordering
/// Does not block.
/// # Threads
/// Any.
/// # Safety
/// No requirements.
/// # Upstream
/// None.
#[unsafe(no_mangle)]
pub extern "C" fn sconce_abi_version() -> u32 {
    SCONCE_ABI_VERSION
}
