//! The workspaces of cuBLAS: figures, and the limit. See `docs/design/blas.md`.

use std::mem::size_of;

use sconce_compute::blas;

use crate::{guard, sconce_status};

/// Statistics of one device's cuBLAS workspaces.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct sconce_blas_workspace_stats {
    /// `sizeof(sconce_blas_workspace_stats)`, set by the caller.
    pub struct_size: u32,
    /// Workspaces.
    pub count: u64,
    /// The sum of their bytes, which the allocator counts as allocated.
    pub bytes: u64,
    /// The largest value that `bytes` has had.
    pub peak_bytes: u64,
    /// Bytes of the workspaces that are not in use. The allocator frees them before a request
    /// fails.
    pub idle_bytes: u64,
    /// The limit of `bytes`; INT64_MAX is no limit.
    pub max_bytes: u64,
    /// Workspaces that were freed because memory was short, because the allocator's cache was
    /// emptied, or to keep the limit.
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

/// Reports the statistics of a device's cuBLAS workspaces, all at one moment.
///
/// - `out_stats`: receives the statistics; begin with `SCONCE_BLAS_WORKSPACE_STATS_INIT`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_blas_get_workspace_stats(
    device: i32,
    out_stats: *mut sconce_blas_workspace_stats,
) -> sconce_status {
    guard(|| {
        let place = out_struct!(out_stats);
        place.write(blas::workspace_figures(device)?.into());
        Ok(())
    })
}

/// Limits the total size of the cuBLAS workspaces of a device. The default is the environment
/// variable `SCONCE_BLAS_WORKSPACE_MAX` (bytes, with an optional K, M or G), or no limit.
///
/// A new workspace that would exceed the limit replaces idle ones, least recently used first. If
/// that does not suffice, the handle has no workspace: its products then use only algorithms that
/// need none, which can be slower and round differently. Idle workspaces beyond a new limit return
/// to the allocator's cache at once; workspaces in use are kept.
///
/// - `max_bytes`: not negative, else INVALID_ARGUMENT; INT64_MAX means no limit.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_blas_set_workspace_max_bytes(
    device: i32,
    max_bytes: i64,
) -> sconce_status {
    guard(|| blas::set_workspace_max_bytes(device, max_bytes))
}
