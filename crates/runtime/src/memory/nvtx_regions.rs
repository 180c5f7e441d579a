//! The blocks of the allocator as regions of NVTX, for tools that check memory, such as memcheck of compute-sanitizer:
//! without them a tool knows whole segments, and a write from one block into the next is none of its business.
//!
//! A segment, or a run of pages, is a *heap* of the tool, and a live block a *region* of it, as long as what was asked
//! for. Bytes that are in no region must not be used: `docs/design/nvtx.md`.
//!
//! A freed block is a region until its stream is known to be idle, since queued work may still use it; or until its
//! memory is handed out again or goes back to the driver. One that was handed out in a capture is used by each launch
//! of the graph, so that its stream tells nothing.

use std::collections::BTreeMap;

use sconce_base::config::Config;
use sconce_base::lock::{Mutex, rank};
use sconce_base::nvtx::{MemoryHeap, MemoryTool, memory_tool};
use sconce_base::process;
use sconce_driver::{StreamHandle, StreamRef};

use super::snapshot::Action;
use crate::context::opened;
use crate::stream;

/// How many bytes lie between two blocks: nobody's, so that a write into them is found.
pub(super) const GAP: usize = 512;

/// A heap of the tool.
struct Heap {
    end: u64,
    /// `None` if the tool has refused it.
    handle: Option<MemoryHeap>,
}

/// A block, or what was one.
#[derive(Clone, Copy)]
struct Block {
    end: u64,
    is_captured: bool,
}

/// What the tool knows.
struct Regions {
    heaps: BTreeMap<u64, Heap>,
    blocks: BTreeMap<u64, Block>,
    /// Blocks that nothing but queued work of these streams uses any more.
    freed: Vec<(StreamRef, u64)>,
    /// The segment that was given back last: the driver may refuse it.
    last_removed: (u64, u64),
}

static REGIONS: Mutex<rank::NvtxRegions, Regions> = Mutex::new(Regions {
    heaps: BTreeMap::new(),
    blocks: BTreeMap::new(),
    freed: Vec::new(),
    last_removed: (0, 0),
});

/// Whether a tool is to learn of blocks.
pub(super) fn are_wanted() -> bool {
    Config::get().nvtx_memory
}

fn tool() -> Option<MemoryTool> {
    if are_wanted() && !process::in_child() { memory_tool() } else { None }
}

/// Tells the tool of an action on memory of a stream.
pub(super) fn note(stream: StreamRef, action: Action, address: u64, bytes: u64) {
    let Some(tool) = tool() else { return };
    forget_idle(tool);
    let is_captured = action == Action::Alloc && is_captured(stream);
    let mut regions = REGIONS.lock();
    match action {
        Action::Alloc => {
            regions.handed_out(tool, address, Block { end: address + bytes, is_captured });
        }
        Action::SegmentAlloc => regions.add(tool, address, address + bytes),
        Action::SegmentMap => regions.join(tool, address, address + bytes),
        Action::SegmentFree | Action::SegmentUnmap => {
            regions.remove(tool, address, address + bytes);
            if action == Action::SegmentFree {
                regions.last_removed = (address, address + bytes);
            }
        }
        _ => {}
    }
}

fn is_captured(stream: StreamRef) -> bool {
    let capturing = opened().map(|runtime| runtime.driver().stream_is_capturing(stream));
    capturing.is_some_and(|status| status.unwrap_or(true))
}

/// The driver has not taken a segment back after all.
pub(super) fn retract(address: u64) {
    let Some(tool) = tool() else { return };
    let mut regions = REGIONS.lock();
    if regions.last_removed.0 == address {
        let end = regions.last_removed.1;
        regions.add(tool, address, end);
    }
}

/// Nothing uses a freed block any more but queued work of its own stream.
pub(super) fn unused(stream: StreamRef, address: u64) {
    let Some(tool) = tool() else { return };
    let mut regions = REGIONS.lock();
    if regions.blocks.get(&address).is_some_and(|block| !block.is_captured) {
        regions.freed.push((stream, address));
    }
    drop(regions);
    forget_idle(tool);
}

/// Freed blocks of streams that are idle are no regions any more.
fn forget_idle(tool: MemoryTool) {
    let Some(runtime) = opened() else { return };
    let mut streams: Vec<StreamRef> = Vec::new();
    for (stream, _) in &REGIONS.lock().freed {
        // A stream of the program must not be queried by a call that does not name it.
        if stream.handle != StreamHandle::PER_THREAD && !streams.contains(stream) {
            streams.push(*stream);
        }
    }
    streams.retain(|stream| {
        !stream::name(runtime, *stream).is_foreign() && stream::is_stream_idle(runtime, *stream)
    });
    if streams.is_empty() {
        return;
    }
    let mut regions = REGIONS.lock();
    let gone: Vec<(StreamRef, u64)> =
        regions.freed.extract_if(.., |(stream, _)| streams.contains(stream)).collect();
    for (_, address) in gone {
        regions.forget(tool, address);
    }
}

impl Regions {
    fn heap_of(&self, address: u64) -> Option<MemoryHeap> {
        let (_, heap) = self.heaps.range(..=address).next_back()?;
        heap.handle.filter(|_| address < heap.end)
    }

    fn handed_out(&mut self, tool: MemoryTool, start: u64, block: Block) {
        let overlaps = |(_, old): &(&u64, &Block)| old.end > start;
        let before = self.blocks.range(..block.end).rev();
        let old: Vec<u64> = before.take_while(overlaps).map(|(at, _)| *at).collect();
        for address in old {
            self.freed.retain(|(_, freed)| *freed != address);
            self.forget(tool, address);
        }
        self.blocks.insert(start, block);
        if let Some(heap) = self.heap_of(start) {
            tool.register_region(heap, start, block.end - start);
        }
    }

    /// A block is no region any more.
    fn forget(&mut self, tool: MemoryTool, address: u64) {
        if self.blocks.remove(&address).is_some() && self.heap_of(address).is_some() {
            tool.unregister_region(address);
        }
    }

    /// Memory of the driver, with the blocks that are in it.
    fn add(&mut self, tool: MemoryTool, start: u64, end: u64) {
        if start >= end {
            return;
        }
        let handle = tool.register_heap(start, end - start);
        self.heaps.insert(start, Heap { end, handle });
        if let Some(heap) = handle {
            for (at, block) in self.blocks.range(start..end) {
                tool.register_region(heap, *at, block.end - at);
            }
        }
    }

    /// Takes out the heaps that have bytes of a range, and returns where they were.
    fn take_out(&mut self, tool: MemoryTool, start: u64, end: u64) -> Vec<(u64, u64)> {
        let overlaps = |(_, heap): &(&u64, &Heap)| heap.end > start;
        let found: Vec<u64> =
            self.heaps.range(..end).rev().take_while(overlaps).map(|(at, _)| *at).collect();
        let mut ranges = Vec::new();
        for at in found {
            if let Some(Heap { end, handle }) = self.heaps.remove(&at) {
                handle.into_iter().for_each(|heap| tool.unregister_heap(heap));
                ranges.push((at, end));
            }
        }
        ranges
    }

    /// Pages side by side are one heap: a block may lie in several.
    fn join(&mut self, tool: MemoryTool, start: u64, end: u64) {
        let beside = self.take_out(tool, start.saturating_sub(1), end + 1);
        let first = beside.iter().map(|(at, _)| *at).min().unwrap_or(start).min(start);
        let last = beside.iter().map(|(_, end)| *end).max().unwrap_or(end).max(end);
        self.add(tool, first, last);
    }

    /// Memory goes to another place or back to the driver, with what is left of blocks in it. Heaps beside it stay as
    /// they are: the driver may have taken them back as well, and a tool refuses to register those again.
    fn remove(&mut self, tool: MemoryTool, start: u64, end: u64) {
        let was = self.take_out(tool, start, end);
        self.freed.retain(|(_, address)| !(start..end).contains(address));
        self.blocks.retain(|address, _| !(start..end).contains(address));
        for (heap_start, heap_end) in was {
            self.add(tool, heap_start, heap_end.min(start));
            self.add(tool, heap_start.max(end), heap_end);
        }
    }
}
