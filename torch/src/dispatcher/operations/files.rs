//! Tensors over files.

#![allow(unsafe_code, reason = "maps files into memory")]

use std::ffi::c_void;
use std::fs::OpenOptions;
use std::os::fd::AsRawFd;

use crate::dispatcher::arguments::{Arguments, NEW};
use crate::dispatcher::results::{Function, Results, one};
use crate::error::{Error, Result};
use crate::sconce::{Tensor, api, check};

/// What this file offers.
pub const OPERATIONS: &[(&str, Function)] =
    &[("from_file(str filename, bool? shared=None, int? size=0, *, OPTIONS) -> Tensor", from_file)];

/// A file in memory, until it is dropped.
struct Mapping {
    address: *mut c_void,
    bytes: usize,
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping is this value's own, and goes once.
        unsafe { libc::munmap(self.address, self.bytes) };
    }
}

/// Ends a mapping when no tensor uses it any more.
unsafe extern "C" fn unmap(context: *mut c_void) {
    // SAFETY: the context is the box that `from_file` made, and is dropped once.
    drop(unsafe { Box::from_raw(context.cast::<Mapping>()) });
}

/// Maps the first bytes of a file. Writes reach it only if it is shared; it then grows to the bytes.
fn map(path: &str, bytes: usize, shared: bool) -> Result<Mapping> {
    let failed = |why| Error::io(format!("{path} could not be opened: {why}"));
    let file = OpenOptions::new()
        .read(true)
        .write(shared)
        .create(shared)
        .truncate(false)
        .open(path)
        .map_err(failed)?;
    let length = file.metadata().map_err(failed)?.len();
    if length < bytes as u64 {
        if !shared {
            return Err(Error::invalid_argument(format!(
                "{path} has {length} bytes, and {bytes} are asked for; only a shared file is made longer"
            )));
        }
        file.set_len(bytes as u64).map_err(failed)?;
    }
    let flags = if shared { libc::MAP_SHARED } else { libc::MAP_PRIVATE };
    // SAFETY: a new mapping of an open file; the kernel chooses the address.
    let address = unsafe {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        libc::mmap(std::ptr::null_mut(), bytes, protection, flags, file.as_raw_fd(), 0)
    };
    if address == libc::MAP_FAILED {
        let why = std::io::Error::last_os_error();
        return Err(Error::io(format!("{path} could not be mapped into memory: {why}")));
    }
    Ok(Mapping { address, bytes })
}

/// `from_file(filename, shared, size, …)`
fn from_file(arguments: &mut Arguments) -> Results {
    let (path, shared) = (arguments.text(0)?, arguments.flag(1)?);
    let size = arguments.optional_int(2)?.unwrap_or(0);
    let mut options = arguments.options(3, NEW)?;
    if options.device != api::SCONCE_DEVICE_CPU || options.pinned {
        return Err(Error::not_supported("a file is mapped into pageable memory of the CPU only"));
    }
    if options.dtype == api::SCONCE_DTYPE_DEFAULT {
        options.dtype = api::SCONCE_DTYPE_F32;
    }
    let mut element = 0;
    check(api::sconce_dtype_get_bytes(options.dtype, &mut element))?;
    let bytes = usize::try_from(size).ok().and_then(|size| size.checked_mul(element));
    let bytes = bytes.ok_or_else(|| Error::invalid_argument(format!("size is {size}")))?;
    if bytes == 0 {
        // The kernel maps no empty ranges; the file must be there nevertheless.
        std::fs::metadata(&path)
            .map_err(|why| Error::io(format!("{path} could not be opened: {why}")))?;
        return one(crate::sconce::operations::empty(&[0], &options));
    }
    let mapping = map(&path, bytes, shared)?;
    let address = mapping.address;
    let context: *mut c_void = Box::into_raw(Box::new(mapping)).cast();
    // SAFETY: the memory lives until the deleter drops the mapping; there is one size.
    let tensor = Tensor::made(|made| unsafe {
        api::sconce_tensor_from_memory(
            address,
            bytes,
            &size,
            std::ptr::null(),
            1,
            options.dtype,
            options.device,
            Some(unmap),
            context,
            made,
        )
    });
    if tensor.is_err() {
        // SAFETY: the call failed, so the deleter is not called.
        unsafe { unmap(context) };
    }
    one(tensor)
}
