//! Declaring what work uses that the library does not see.

use std::ffi::{c_char, c_void};

use sconce_base::error::{Error, Result};
use sconce_runtime::context::runtime;
use sconce_sanitizer::{DeclaredRange, sanitizer};

use crate::{guard, sconce_status, sconce_stream};

/// How memory is used.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum sconce_sanitizer_use {
    /// The memory is read.
    SCONCE_SANITIZER_READ = 1,
    /// The memory is written; it may be read, too.
    SCONCE_SANITIZER_WRITE = 2,
}

numbers_of!(sconce_sanitizer_use as i32: SCONCE_SANITIZER_READ, SCONCE_SANITIZER_WRITE);

/// Memory that work of the program uses.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct sconce_sanitizer_range {
    /// The first byte.
    pub address: *const c_void,
    /// How many bytes; 0: to the end of the block.
    pub bytes: usize,
    /// `SCONCE_SANITIZER_READ` or `SCONCE_SANITIZER_WRITE`.
    pub mode: i32,
    /// 0.
    pub reserved: i32,
}

any_bits!(sconce_sanitizer_range: address, bytes, mode, reserved);

fn declared(ranges: &[sconce_sanitizer_range]) -> Result<Vec<DeclaredRange>> {
    let of = |(index, range): (usize, &sconce_sanitizer_range)| {
        let writes = match range.mode {
            SCONCE_SANITIZER_READ => false,
            SCONCE_SANITIZER_WRITE => true,
            mode => {
                return Err(Error::invalid_argument(format!(
                    "ranges[{index}].mode is {mode}; pass SCONCE_SANITIZER_READ or SCONCE_SANITIZER_WRITE"
                )));
            }
        };
        let bytes = Some(range.bytes).filter(|bytes| *bytes > 0).map(|bytes| bytes as u64);
        Ok(DeclaredRange { address: range.address.addr() as u64, bytes, writes })
    };
    ranges.iter().enumerate().map(of).collect()
}

/// Declares an operation of a stream that this library does not see: work that the program queues through CUDA itself.
/// Call it where the work is queued. Does nothing while the sanitizer is off.
///
/// - `stream`: where the work runs.
/// - `ranges`, `count`: the memory that it reads and writes.
/// - `name`: what reports call it; NULL for `declared work`.
/// - Errors: `SCONCE_ERROR_INVALID_ARGUMENT` for an unknown mode.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_sanitizer_access(
    stream: sconce_stream,
    ranges: *const sconce_sanitizer_range,
    count: usize,
    name: *const c_char,
) -> sconce_status {
    guard(|| {
        let ranges = declared(entries!(ranges, count))?;
        let name = if name.is_null() { c"declared work" } else { text!(name) };
        let Some(sanitizer) = sanitizer() else { return Ok(()) };
        let stream = stream.resolve(runtime()?)?;
        sanitizer.access(stream.driver_ref(), &name.to_string_lossy(), &ranges);
        Ok(())
    })
}

/// Declares the memory that the next kernel uses which the calling thread launches. Without this call nothing is known
/// of it. Does nothing while the sanitizer is off.
///
/// - `ranges`, `count`: the memory that the kernel reads and writes. 0 takes back what was declared, after a launch
///   that failed.
/// - Errors: `SCONCE_ERROR_INVALID_ARGUMENT` for an unknown mode.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_sanitizer_declare_launch(
    ranges: *const sconce_sanitizer_range,
    count: usize,
) -> sconce_status {
    guard(|| {
        let ranges = declared(entries!(ranges, count))?;
        if let Some(sanitizer) = sanitizer() {
            sanitizer.declare_launch(&ranges);
        }
        Ok(())
    })
}

/// Declares that the host reads or writes memory by itself, such as pinned memory that copies use. Does nothing while
/// the sanitizer is off, or for memory that is not pinned.
///
/// - `ranges`, `count`: the memory.
/// - `name`: what reports call it; NULL for `the host`.
/// - Errors: `SCONCE_ERROR_INVALID_ARGUMENT` for an unknown mode.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_sanitizer_host_access(
    ranges: *const sconce_sanitizer_range,
    count: usize,
    name: *const c_char,
) -> sconce_status {
    guard(|| {
        let ranges = declared(entries!(ranges, count))?;
        let name = if name.is_null() { c"the host" } else { text!(name) };
        if let Some(sanitizer) = sanitizer() {
            for range in ranges {
                sanitizer.host_access(&name.to_string_lossy(), range);
            }
        }
        Ok(())
    })
}

/// Declares that other processes have waited for all that they did so far to memory that is open here, as a message
/// from one of them says. Call it behind the opening of the memory, and again for each such message. Without it, memory
/// of another process counts as being written until an event of that process has been waited for. Does nothing while
/// the sanitizer is off.
#[unsafe(no_mangle)]
pub extern "C" fn sconce_sanitizer_heard_from_processes() -> sconce_status {
    guard(|| {
        if let Some(sanitizer) = sanitizer() {
            sanitizer.heard_from_processes();
        }
        Ok(())
    })
}
