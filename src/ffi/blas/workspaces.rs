//! The workspaces of cuBLAS: figures, and the limit. See `docs/design/blas.md`.

use std::mem::size_of;

use crate::blas;
use crate::ffi::structs::OutStruct;
use crate::ffi::{guard, sconce_status};

/// Figures of one device's cuBLAS workspaces.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct sconce_blas_workspace_stats {
    /// `sizeof(sconce_blas_workspace_stats)`, set by the caller.
    pub struct_size: u32,
    /// Workspaces.
    pub count: u64,
    /// The sum of their bytes, which the allocator counts as allocated.
    pub bytes: u64,
    /// The greatest `bytes` there was.
    pub peak_bytes: u64,
    /// Bytes of the workspaces that are not in use. The allocator takes them back before a request
    /// fails.
    pub idle_bytes: u64,
    /// The most `bytes` there may be; INT64_MAX is no limit.
    pub max_bytes: u64,
    /// Workspaces that went back because memory was short, because the allocator's cache was emptied,
    /// or to keep the limit.
    pub num_given_back: u64,
    /// How often a handle was set to no workspace because of the limit.
    pub num_without: u64,
}

grows!(
    sconce_blas_workspace_stats, "SCONCE_BLAS_WORKSPACE_STATS_INIT", first version: 64 bytes,
    count, bytes, peak_bytes, idle_bytes, max_bytes, num_given_back, num_without,
);

impl From<blas::WorkspaceFigures> for sconce_blas_workspace_stats {
    fn from(figures: blas::WorkspaceFigures) -> Self {
        sconce_blas_workspace_stats {
            struct_size: size_of::<Self>() as u32,
            count: figures.count,
            bytes: figures.bytes,
            peak_bytes: figures.peak_bytes,
            idle_bytes: figures.idle_bytes,
            max_bytes: figures.max_bytes,
            num_given_back: figures.num_given_back,
            num_without: figures.num_without,
        }
    }
}

/// Gives the figures of a device's cuBLAS workspaces.
///
/// # Parameters
/// `device`: index, -1 for the current device. `out_stats` [out]: its `struct_size` is set by
/// the caller (`SCONCE_BLAS_WORKSPACE_STATS_INIT`); as much as fits is written.
/// # Errors
/// INVALID_DEVICE. INVALID_ARGUMENT: `out_stats` is NULL, or its `struct_size` is no version's.
/// NO_DEVICE, FORKED as `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// Does not block. All figures are of one moment.
/// # Threads
/// Any.
/// # Safety
/// `out_stats` is NULL or points to as many writable bytes as its `struct_size` says.
/// # Upstream
/// None; torch has no such figures.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_blas_get_workspace_stats(
    device: i32,
    out_stats: *mut sconce_blas_workspace_stats,
) -> sconce_status {
    guard(|| {
        // SAFETY: the caller's promise is the one asked for.
        let place = unsafe { OutStruct::new(out_stats, "out_stats") }?;
        place.write(blas::workspace_figures(device)?.into());
        Ok(())
    })
}

/// Sets the most bytes that the cuBLAS workspaces of a device may have together. At first that is
/// what the environment variable `SCONCE_BLAS_WORKSPACE_MAX` says (bytes, with an optional K, M or
/// G), or no limit.
///
/// A new workspace that would exceed the limit replaces idle ones, those unused for longest first. If
/// they do not suffice, the handle is set to no workspace: its products then use only algorithms that
/// need none, which can be slower and round differently.
///
/// # Parameters
/// `device`: index, -1 for the current device. `max_bytes`: bytes; INT64_MAX is no limit.
/// # Errors
/// INVALID_DEVICE. INVALID_ARGUMENT: `max_bytes` is negative. NO_DEVICE, FORKED as `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// Does not block. Idle workspaces beyond the limit go back to the allocator's cache at once; those in
/// use stay.
/// # Threads
/// Any.
/// # Safety
/// No requirements.
/// # Upstream
/// None; torch has no such limit.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_blas_set_workspace_max_bytes(
    device: i32,
    max_bytes: i64,
) -> sconce_status {
    guard(|| blas::set_workspace_max_bytes(device, max_bytes))
}
