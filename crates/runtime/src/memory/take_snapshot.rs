//! Taking a snapshot: every segment and block of each device at one moment.

use sconce_base::error::Result;

use super::heap::block::RecordState;
use super::history;
use super::snapshot::{Action, BlockInfo, BlockState, SegmentInfo, Snapshot};
use super::source::pages::{self, DevicePages};
use super::streams::all_caches;
use super::streams::cache::{StreamCache, StreamMemory};
use super::streams::device::DeviceMemory;
use super::streams::sleepers;
use crate::caching::settings;
use crate::context::{Runtime, runtime_if_any};

/// Every segment and block of every device, and the history. All streams of a device, and its history,
/// are seen at one moment; different devices at different ones. The entry that a snapshot was taken is
/// in the history of the next, as in torch.
pub fn snapshot() -> Result<Snapshot> {
    let runtime = runtime_if_any()?;
    let (mut segments, mut blocks, mut traces) = (Vec::new(), Vec::new(), Vec::new());
    for device in runtime.into_iter().flat_map(Runtime::devices) {
        let home = DeviceMemory::of(device);
        // With the gate, no segment is between a cache and the driver.
        let exclusive = home.gate.exclusive();
        let pages = sleepers::any().then(|| pages::lock(device));
        let caches = all_caches::lock_all(device, &exclusive);
        for (cache, inner) in &caches {
            stream(cache, inner, pages.as_deref(), &mut segments, &mut blocks);
        }
        traces.push(history::trace(device));
        if history::is_on() {
            history::record(device, Action::Snapshot, 0, 0, 0, (0, 0));
        }
    }
    segments.sort_unstable_by_key(|segment: &SegmentInfo| segment.address);
    Ok(Snapshot { segments, blocks, traces, settings: (*settings::current()).clone() })
}

fn stream(
    cache: &StreamCache,
    inner: &StreamMemory,
    pages: Option<&DevicePages>,
    segments: &mut Vec<SegmentInfo>,
    blocks: &mut Vec<BlockInfo>,
) {
    let heap = &inner.heap;
    blocks.reserve(heap.blocks.len());
    for (_, segment) in heap.segments.iter() {
        let first = blocks.len();
        let (mut allocated, mut active, mut requested) = (0, 0, 0);
        for (_, block) in heap.blocks_of(segment) {
            let state = match block.state {
                RecordState::Allocated => BlockState::Allocated,
                RecordState::Pending => BlockState::PendingFree,
                RecordState::Free | RecordState::Unused => BlockState::Inactive,
            };
            if state == BlockState::Allocated {
                allocated += block.bytes;
            }
            if state != BlockState::Inactive {
                active += block.bytes;
                requested += block.requested;
            }
            blocks.push(BlockInfo {
                address: block.address,
                bytes: block.bytes,
                requested_bytes: block.requested,
                state,
            });
        }
        segments.push(SegmentInfo {
            device: cache.stream().device,
            address: segment.address,
            bytes: segment.bytes,
            allocated_bytes: allocated,
            active_bytes: active,
            requested_bytes: requested,
            stream: cache.stream().handle.native() as u64,
            pool: segment.kind,
            pool_id: (0, heap.pools[usize::from(segment.pool)].number),
            is_expandable: segment.paged,
            sleeping_bytes: pages.map_or(0, |pages| {
                let end = segment.address + segment.bytes;
                pages.without_memory(segment.address, end).iter().map(|(_, bytes)| bytes).sum()
            }),
            blocks: first..blocks.len(),
        });
    }
}
