//! What a snapshot holds: every segment and block of every device at one time, and the recorded
//! history. Plain data; `report/` writes it down.

use sconce_base::types::DeviceIndex;

use crate::caching::settings::Settings;
use crate::caching::size_class::PoolKind;

/// What a block is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockState {
    /// A caller holds it.
    Allocated,
    /// Freed, waiting for events of other streams.
    PendingFree,
    /// Free.
    Inactive,
}

impl BlockState {
    /// As torch's snapshots spell it.
    pub fn name(self) -> &'static str {
        match self {
            BlockState::Allocated => "active_allocated",
            BlockState::PendingFree => "active_pending_free",
            BlockState::Inactive => "inactive",
        }
    }
}

/// A block of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockInfo {
    /// Its address.
    pub address: u64,
    /// Its bytes.
    pub bytes: u64,
    /// The bytes asked for; of a free block, what its last owner asked for.
    pub requested_bytes: u64,
    /// What it is doing.
    pub state: BlockState,
}

/// A segment and where its blocks are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentInfo {
    /// Its device.
    pub device: DeviceIndex,
    /// Its address.
    pub address: u64,
    /// Its bytes.
    pub bytes: u64,
    /// Bytes of the blocks that callers hold.
    pub allocated_bytes: u64,
    /// Bytes of blocks that callers hold or that wait for events.
    pub active_bytes: u64,
    /// Bytes asked for in active blocks.
    pub requested_bytes: u64,
    /// The driver's handle of the stream it serves.
    pub stream: u64,
    /// Its pool.
    pub pool: PoolKind,
    /// Which private pool, as torch's pair; (0, 0) is none.
    pub pool_id: (u64, u64),
    /// Whether it is a run of pages, which grows and shrinks.
    pub is_expandable: bool,
    /// How many of its bytes are asleep: their memory is the driver's.
    pub sleeping_bytes: u64,
    /// Its blocks, in the order of addresses: a range of [`Snapshot::blocks`].
    pub blocks: std::ops::Range<usize>,
}

/// What happened to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// A block was handed out.
    Alloc,
    /// A caller freed a block.
    FreeRequested,
    /// The block can be used again.
    FreeCompleted,
    /// A segment was got from the driver.
    SegmentAlloc,
    /// A segment went back.
    SegmentFree,
    /// Pages joined a run.
    SegmentMap,
    /// Pages left a run.
    SegmentUnmap,
    /// A snapshot was taken.
    Snapshot,
    /// An allocation failed; the address is the device's free memory.
    OutOfMemory,
}

impl Action {
    /// As torch's snapshots spell it.
    pub fn name(self) -> &'static str {
        match self {
            Action::Alloc => "alloc",
            Action::FreeRequested => "free_requested",
            Action::FreeCompleted => "free_completed",
            Action::SegmentAlloc => "segment_alloc",
            Action::SegmentFree => "segment_free",
            Action::SegmentMap => "segment_map",
            Action::SegmentUnmap => "segment_unmap",
            Action::Snapshot => "snapshot",
            Action::OutOfMemory => "oom",
        }
    }
}

/// An entry of a device's history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceEntry {
    /// What happened.
    pub action: Action,
    /// Where; for [`Action::OutOfMemory`], how much memory the device had free.
    pub address: u64,
    /// Bytes: of a block, as they were asked for, also when it is freed; of a segment, all.
    pub bytes: u64,
    /// The driver's handle of the stream.
    pub stream: u64,
    /// Microseconds since 1970.
    pub time_us: i64,
    /// Which private pool; (0, 0) is none.
    pub pool_id: (u64, u64),
}

/// Everything at one time.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// Segments in the order of addresses.
    pub segments: Vec<SegmentInfo>,
    /// The blocks of all segments.
    pub blocks: Vec<BlockInfo>,
    /// The history of each device, oldest first.
    pub traces: Vec<Vec<TraceEntry>>,
    /// The settings in force.
    pub settings: Settings,
}
