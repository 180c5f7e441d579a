//! What a snapshot of device memory holds, as C sees it.

use std::mem::{offset_of, size_of};

use crate::memory::size_class::PoolKind;
use crate::memory::snapshot::{Action, BlockInfo, BlockState, SegmentInfo, TraceEntry};

/// Kind of a segment: for blocks of up to 1 MiB.
pub const SCONCE_MEMORY_SMALL: i32 = 0;
/// Kind of a segment: for larger blocks.
pub const SCONCE_MEMORY_LARGE: i32 = 1;

/// State of a block: a caller holds it.
pub const SCONCE_BLOCK_ACTIVE_ALLOCATED: i32 = 0;
/// State of a block: freed, waiting for work of other streams.
pub const SCONCE_BLOCK_ACTIVE_PENDING_FREE: i32 = 1;
/// State of a block: free.
pub const SCONCE_BLOCK_INACTIVE: i32 = 2;

/// What happened: a block was handed out.
pub const SCONCE_TRACE_ALLOC: i32 = 0;
/// What happened: a caller freed a block.
pub const SCONCE_TRACE_FREE_REQUESTED: i32 = 1;
/// What happened: a freed block can be used again.
pub const SCONCE_TRACE_FREE_COMPLETED: i32 = 2;
/// What happened: a segment was got from the driver.
pub const SCONCE_TRACE_SEGMENT_ALLOC: i32 = 3;
/// What happened: a segment went back to the driver.
pub const SCONCE_TRACE_SEGMENT_FREE: i32 = 4;
/// What happened: a snapshot was taken.
pub const SCONCE_TRACE_SNAPSHOT: i32 = 5;
/// What happened: an allocation failed for want of memory.
pub const SCONCE_TRACE_OOM: i32 = 6;

/// An allocation got from the driver.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct sconce_memory_segment {
    /// Where it begins.
    pub address: u64,
    /// Its size.
    pub total_bytes: u64,
    /// Bytes of its blocks that callers hold.
    pub allocated_bytes: u64,
    /// The same, and of those that wait for work of other streams.
    pub active_bytes: u64,
    /// Bytes of active blocks as they were asked for.
    pub requested_bytes: u64,
    /// The `cudaStream_t` of the stream it serves.
    pub stream: u64,
    /// The private pool it belongs to, as torch's pair; 0, 0 is none.
    pub pool_id: [u64; 2],
    /// Place of its first block in the snapshot's blocks; the others follow by address.
    pub first_block: u64,
    /// How many blocks it has.
    pub block_count: u64,
    /// Index of its device.
    pub device: i32,
    /// `SCONCE_MEMORY_SMALL` or `_LARGE`.
    pub kind: i32,
}

/// A piece of a segment.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct sconce_memory_block {
    /// Where it begins.
    pub address: u64,
    /// Its size.
    pub bytes: u64,
    /// Its size as it was asked for; of a free block, by its last owner.
    pub requested_bytes: u64,
    /// `SCONCE_BLOCK_…`.
    pub state: i32,
    /// 0.
    pub reserved: i32,
}

/// An entry of the history.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct sconce_memory_trace_entry {
    /// Where; for `SCONCE_TRACE_OOM`, how many bytes the device had free.
    pub address: u64,
    /// Bytes: as asked for with `SCONCE_TRACE_ALLOC`, else of the block or segment.
    pub bytes: u64,
    /// The `cudaStream_t` of the stream.
    pub stream: u64,
    /// Microseconds since 1970.
    pub time_us: i64,
    /// The private pool, as torch's pair; 0, 0 is none.
    pub pool_id: [u64; 2],
    /// `SCONCE_TRACE_…`.
    pub action: i32,
    /// 0.
    pub reserved: i32,
}

const _: () = {
    assert!(size_of::<sconce_memory_segment>() == 88);
    assert!(size_of::<sconce_memory_block>() == 32);
    assert!(size_of::<sconce_memory_trace_entry>() == 56);
    assert!(offset_of!(sconce_memory_segment, device) == 80);
    assert!(offset_of!(sconce_memory_block, state) == 24);
    assert!(offset_of!(sconce_memory_trace_entry, action) == 48);
};

impl From<&SegmentInfo> for sconce_memory_segment {
    fn from(segment: &SegmentInfo) -> Self {
        sconce_memory_segment {
            address: segment.address,
            total_bytes: segment.bytes,
            allocated_bytes: segment.allocated_bytes,
            active_bytes: segment.active_bytes,
            requested_bytes: segment.requested_bytes,
            stream: segment.stream,
            pool_id: segment.pool_id.into(),
            first_block: segment.blocks.start as u64,
            block_count: segment.blocks.len() as u64,
            device: segment.device.as_i32(),
            kind: match segment.pool {
                PoolKind::Small => SCONCE_MEMORY_SMALL,
                PoolKind::Large => SCONCE_MEMORY_LARGE,
            },
        }
    }
}

impl From<&BlockInfo> for sconce_memory_block {
    fn from(block: &BlockInfo) -> Self {
        sconce_memory_block {
            address: block.address,
            bytes: block.bytes,
            requested_bytes: block.requested_bytes,
            state: match block.state {
                BlockState::Allocated => SCONCE_BLOCK_ACTIVE_ALLOCATED,
                BlockState::PendingFree => SCONCE_BLOCK_ACTIVE_PENDING_FREE,
                BlockState::Inactive => SCONCE_BLOCK_INACTIVE,
            },
            reserved: 0,
        }
    }
}

impl From<&TraceEntry> for sconce_memory_trace_entry {
    fn from(entry: &TraceEntry) -> Self {
        sconce_memory_trace_entry {
            address: entry.address,
            bytes: entry.bytes,
            stream: entry.stream,
            time_us: entry.time_us,
            pool_id: entry.pool_id.into(),
            action: match entry.action {
                Action::Alloc => SCONCE_TRACE_ALLOC,
                Action::FreeRequested => SCONCE_TRACE_FREE_REQUESTED,
                Action::FreeCompleted => SCONCE_TRACE_FREE_COMPLETED,
                Action::SegmentAlloc => SCONCE_TRACE_SEGMENT_ALLOC,
                Action::SegmentFree => SCONCE_TRACE_SEGMENT_FREE,
                Action::Snapshot => SCONCE_TRACE_SNAPSHOT,
                Action::OutOfMemory => SCONCE_TRACE_OOM,
            },
            reserved: 0,
        }
    }
}
