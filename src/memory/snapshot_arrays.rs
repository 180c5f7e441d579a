//! Device memory: snapshots as arrays of structs.

use std::sync::Arc;

use sconce_base::collections::handle_kind::HandleKind;
use sconce_base::collections::slab::{Key, Slab};
use sconce_base::error::{Error, Result, Status};
use sconce_base::lock::{Mutex, rank};
use sconce_runtime::context::runtime;
use sconce_runtime::device;
use sconce_runtime::memory::{self, Snapshot};

use crate::handle::OpaqueHandle;
use crate::{Out, guard, sconce_status};
use crate::{sconce_memory_block, sconce_memory_segment, sconce_memory_trace_entry};

/// A snapshot: every segment and block of every device at one moment, and the recorded history.
/// Opaque; created by `sconce_memory_snapshot_create`.
pub struct sconce_memory_snapshot {
    _private: [u8; 0],
}

impl OpaqueHandle for sconce_memory_snapshot {
    const SOURCE: &'static str = "take snapshots with sconce_memory_snapshot_create";
}

/// A snapshot in C's structs. The arrays stay where they are until the snapshot is destroyed.
struct SnapshotArrays {
    segments: Vec<sconce_memory_segment>,
    blocks: Vec<sconce_memory_block>,
    traces: Vec<Vec<sconce_memory_trace_entry>>,
}

static SNAPSHOTS: Slab<Mutex<rank::Snapshot, Option<Arc<SnapshotArrays>>>> =
    Slab::new(HandleKind::MemorySnapshot);

impl SnapshotArrays {
    fn of(snapshot: &Snapshot) -> SnapshotArrays {
        SnapshotArrays {
            segments: snapshot.segments.iter().map(Into::into).collect(),
            blocks: snapshot.blocks.iter().map(Into::into).collect(),
            traces: snapshot.traces.iter().map(|t| t.iter().map(Into::into).collect()).collect(),
        }
    }

    /// The arrays of a live snapshot.
    fn find(snapshot: *mut sconce_memory_snapshot) -> Result<Arc<SnapshotArrays>> {
        let key = sconce_memory_snapshot::key(snapshot, "snapshot")?;
        let found = SNAPSHOTS.get(key).ok_or_else(|| dead(key))?;
        // Another thread may have destroyed it since, and created another in its slot.
        let arrays = found.lock().clone().filter(|_| found.still());
        arrays.ok_or_else(|| dead(key))
    }
}

#[cold]
fn dead(key: Key) -> Error {
    let otherwise = "is not a live snapshot: never taken, or destroyed";
    Error::invalid_handle(HandleKind::MemorySnapshot.refusal(key.bits(), "snapshot", otherwise))
}

/// Writes an array as a pointer, NULL when it is empty, and a length.
fn lend<T>(
    out_items: Out<*const T>,
    out_count: Out<usize>,
    items: impl FnOnce() -> Result<(*const T, usize)>,
) -> Result<()> {
    let (first, count) = items()?;
    out_items.write(first);
    out_count.write(count);
    Ok(())
}

fn parts<T>(items: &[T]) -> (*const T, usize) {
    let first = if items.is_empty() { std::ptr::null() } else { items.as_ptr() };
    (first, items.len())
}

/// Takes a snapshot: every segment and block of every device, and the history recorded so far.
///
/// - `out_snapshot`: receives the snapshot.
/// - Errors: OUT_OF_MEMORY: too many snapshots.
/// - Ownership: the caller destroys the snapshot with `sconce_memory_snapshot_destroy`.
/// - Ordering: as `sconce_memory_get_snapshot_json`.
/// - torch: `torch.cuda.memory_snapshot()`, `CUDACachingAllocator::snapshot`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_memory_snapshot_create(
    out_snapshot: *mut *mut sconce_memory_snapshot,
) -> sconce_status {
    guard(|| {
        let out_snapshot = out!(out_snapshot);
        let arrays = SnapshotArrays::of(&memory::snapshot()?);
        let (key, place) = SNAPSHOTS
            .insert()
            .ok_or_else(|| Error::new(Status::OutOfMemory, "too many snapshots are alive"))?;
        *place.lock() = Some(Arc::new(arrays));
        out_snapshot.write(sconce_memory_snapshot::from_key(key));
        Ok(())
    })
}

/// Destroys a snapshot and its arrays.
///
/// - `snapshot`: NULL is a no-op.
/// - Safety: the arrays of the snapshot must not be used any more.
/// - torch: the destructor of `CUDACachingAllocator::SnapshotInfo`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_memory_snapshot_destroy(
    snapshot: *mut sconce_memory_snapshot,
) -> sconce_status {
    guard(|| match sconce_memory_snapshot::optional(snapshot) {
        None => Ok(()),
        Some(key) => destroy(key),
    })
}

fn destroy(key: Key) -> Result<()> {
    let mut arrays = None;
    let alive = SNAPSHOTS.remove(key, |place| arrays = place.lock().take());
    if alive { Ok(()) } else { Err(dead(key)) }
}

/// Returns the segments of a snapshot, in the order of their addresses.
///
/// - `out_segments`: receives a pointer to the first; NULL if there is none.
/// - `out_count`: receives their number.
/// - Ownership: borrowed until the snapshot is destroyed.
/// - torch: `torch.cuda.memory_snapshot()`, `SnapshotInfo::segments`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_memory_snapshot_get_segments(
    snapshot: *mut sconce_memory_snapshot,
    out_segments: *mut *const sconce_memory_segment,
    out_count: *mut usize,
) -> sconce_status {
    guard(|| {
        let items = || Ok(parts(&SnapshotArrays::find(snapshot)?.segments));
        lend(out!(out_segments), out!(out_count), items)
    })
}

/// Returns the blocks of all segments of a snapshot.
///
/// - `out_blocks`: receives a pointer to the first; NULL if there is none.
/// - `out_count`: receives their number.
/// - Ownership: borrowed until the snapshot is destroyed.
/// - torch: the `blocks` of `torch.cuda.memory_snapshot()`, `SegmentInfo::blocks`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_memory_snapshot_get_blocks(
    snapshot: *mut sconce_memory_snapshot,
    out_blocks: *mut *const sconce_memory_block,
    out_count: *mut usize,
) -> sconce_status {
    guard(|| {
        let items = || Ok(parts(&SnapshotArrays::find(snapshot)?.blocks));
        lend(out!(out_blocks), out!(out_count), items)
    })
}

/// Returns a device's history in a snapshot, oldest entry first.
///
/// - `out_entries`: receives a pointer to the first; NULL if there is none.
/// - `out_count`: receives their number.
/// - Ownership: borrowed until the snapshot is destroyed.
/// - torch: the `device_traces` of `torch.cuda.memory._snapshot()`, `SnapshotInfo::device_traces`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_memory_snapshot_get_trace(
    snapshot: *mut sconce_memory_snapshot,
    device: i32,
    out_entries: *mut *const sconce_memory_trace_entry,
    out_count: *mut usize,
) -> sconce_status {
    guard(|| {
        let items = || {
            let arrays = SnapshotArrays::find(snapshot)?;
            let device = device::resolve(runtime()?, device)?.as_usize();
            Ok(parts(arrays.traces.get(device).map_or(&[], Vec::as_slice)))
        };
        lend(out!(out_entries), out!(out_count), items)
    })
}
