//! The structs of a snapshot of device memory.

use std::mem::{offset_of, size_of};

use sconce_runtime::memory::size_class::PoolKind;
use sconce_runtime::memory::snapshot::{Action, BlockInfo, BlockState, SegmentInfo, TraceEntry};

use crate::CBool;

/// Kind of a segment.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum sconce_memory_kind {
    /// For blocks of up to 1 MiB.
    SCONCE_MEMORY_SMALL = 0,
    /// For larger blocks.
    SCONCE_MEMORY_LARGE = 1,
}

numbers_of!(sconce_memory_kind as i32: SCONCE_MEMORY_SMALL, SCONCE_MEMORY_LARGE);

/// State of a block.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum sconce_block_state {
    /// A caller holds the block.
    SCONCE_BLOCK_ACTIVE_ALLOCATED = 0,
    /// The block was freed, and work of other streams may still use it.
    SCONCE_BLOCK_ACTIVE_PENDING_FREE = 1,
    /// The block is free.
    SCONCE_BLOCK_INACTIVE = 2,
}

numbers_of!(sconce_block_state as i32: SCONCE_BLOCK_ACTIVE_ALLOCATED, SCONCE_BLOCK_ACTIVE_PENDING_FREE, SCONCE_BLOCK_INACTIVE);

/// The event that an entry of the history records.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum sconce_trace_action {
    /// A block was allocated.
    SCONCE_TRACE_ALLOC = 0,
    /// A caller freed a block.
    SCONCE_TRACE_FREE_REQUESTED = 1,
    /// A freed block can be reused.
    SCONCE_TRACE_FREE_COMPLETED = 2,
    /// A segment was taken from the driver.
    SCONCE_TRACE_SEGMENT_ALLOC = 3,
    /// A segment was returned to the driver.
    SCONCE_TRACE_SEGMENT_FREE = 4,
    /// A snapshot was taken.
    SCONCE_TRACE_SNAPSHOT = 5,
    /// An allocation failed for lack of memory.
    SCONCE_TRACE_OOM = 6,
    /// Pages joined a segment (`policy:pages`).
    SCONCE_TRACE_SEGMENT_MAP = 7,
    /// Pages left a segment.
    SCONCE_TRACE_SEGMENT_UNMAP = 8,
}

numbers_of!(sconce_trace_action as i32: SCONCE_TRACE_ALLOC, SCONCE_TRACE_FREE_REQUESTED, SCONCE_TRACE_FREE_COMPLETED, SCONCE_TRACE_SEGMENT_ALLOC, SCONCE_TRACE_SEGMENT_FREE, SCONCE_TRACE_SNAPSHOT, SCONCE_TRACE_OOM, SCONCE_TRACE_SEGMENT_MAP, SCONCE_TRACE_SEGMENT_UNMAP);

/// A segment: an allocation taken from the driver.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct sconce_memory_segment {
    /// Address at which it begins.
    pub address: u64,
    /// Its size.
    pub total_bytes: u64,
    /// Bytes of its blocks that callers hold.
    pub allocated_bytes: u64,
    /// Bytes of its blocks that callers hold, or that were freed while work of other streams may
    /// still use them.
    pub active_bytes: u64,
    /// Bytes of active blocks as they were requested.
    pub requested_bytes: u64,
    /// The `cudaStream_t` of the stream that it serves.
    pub stream: u64,
    /// The private pool to which it belongs, as torch's pair of numbers; 0, 0 means no private
    /// pool.
    pub pool_id: [u64; 2],
    /// Index of its first block in the snapshot's blocks; the others follow by address.
    pub first_block: u64,
    /// Number of its blocks.
    pub block_count: u64,
    /// Index of its device.
    pub device: i32,
    /// `SCONCE_MEMORY_SMALL` or `_LARGE`.
    pub kind: i32,
    /// Whether it is made of pages, so that it may grow and shrink.
    pub is_expandable: CBool,
    /// 0.
    pub reserved: [u8; 7],
}

/// A piece of a segment.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct sconce_memory_block {
    /// Address at which it begins.
    pub address: u64,
    /// Its size.
    pub bytes: u64,
    /// Its requested size; for a free block, that of its last owner.
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
    /// Address; for `SCONCE_TRACE_OOM` the number of bytes that the device had free.
    pub address: u64,
    /// Bytes: the requested size of a block, the whole size of a segment; for `SCONCE_TRACE_OOM`
    /// the requested size, rounded up.
    pub bytes: u64,
    /// The `cudaStream_t` of the stream.
    pub stream: u64,
    /// Microseconds since 1970.
    pub time_us: i64,
    /// The private pool, as torch's pair of numbers; 0, 0 means no private pool.
    pub pool_id: [u64; 2],
    /// `SCONCE_TRACE_…`.
    pub action: i32,
    /// 0.
    pub reserved: i32,
}

const _: () = {
    assert!(size_of::<sconce_memory_segment>() == 96);
    assert!(size_of::<sconce_memory_block>() == 32);
    assert!(size_of::<sconce_memory_trace_entry>() == 56);
    assert!(offset_of!(sconce_memory_segment, device) == 80);
    assert!(offset_of!(sconce_memory_segment, is_expandable) == 88);
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
            is_expandable: segment.is_expandable.into(),
            reserved: [0; 7],
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
                Action::SegmentMap => SCONCE_TRACE_SEGMENT_MAP,
                Action::SegmentUnmap => SCONCE_TRACE_SEGMENT_UNMAP,
            },
            reserved: 0,
        }
    }
}
