//! The walk over a snapshot: which keys there are, in which order. As torch 2.11's, with two
//! differences that its viewers welcome: every device that has segments has a history, be it empty,
//! and an event in a private pool names the pool.

use super::sink::{self, Sink, Word};
use crate::caching::settings::Settings;
use crate::caching::size_class::PoolKind;
use crate::memory::Snapshot;
use crate::memory::snapshot::{Action, BlockInfo, BlockState, SegmentInfo, TraceEntry};

/// Passes everything in `snapshot` to `sink`.
pub(super) fn walk(snapshot: &Snapshot, sink: &mut impl Sink) {
    sink.open_map();
    sink.key(&sink::SEGMENTS);
    list(sink, &snapshot.segments, |sink, part| segment(sink, part, snapshot));
    sink.key(&sink::DEVICE_TRACES);
    sink.open_list();
    let devices =
        snapshot.segments.iter().map(|segment| segment.device.as_usize() + 1).max().unwrap_or(0);
    for device in 0..devices.max(snapshot.traces.len()) {
        sink.item(device);
        let events: &[TraceEntry] = snapshot.traces.get(device).map_or(&[], Vec::as_slice);
        list(sink, events, trace_entry);
    }
    sink.close_list();
    sink.key(&sink::ALLOCATOR_SETTINGS);
    settings(sink, &snapshot.settings);
    sink.key(&sink::EXTERNAL_ANNOTATIONS);
    sink.empty_list();
    sink.close_map();
}

#[inline]
fn list<S: Sink, T>(sink: &mut S, items: &[T], mut write: impl FnMut(&mut S, &T)) {
    if items.is_empty() {
        return sink.empty_list();
    }
    sink.open_list();
    for (index, item) in items.iter().enumerate() {
        sink.item(index);
        write(sink, item);
    }
    sink.close_list();
}

#[inline]
fn number(sink: &mut impl Sink, key: &Word, value: u64) {
    sink.key(key);
    sink.unsigned(value);
}

#[inline]
fn flag(sink: &mut impl Sink, key: &Word, value: bool) {
    sink.key(key);
    sink.boolean(value);
}

/// No stack traces are taken.
#[inline]
fn no_frames(sink: &mut impl Sink) {
    sink.key(&sink::FRAMES);
    sink.empty_list();
}

fn segment<S: Sink>(sink: &mut S, segment: &SegmentInfo, snapshot: &Snapshot) {
    sink.open_map();
    number(sink, &sink::DEVICE, segment.device.as_usize() as u64);
    number(sink, &sink::ADDRESS, segment.address);
    number(sink, &sink::TOTAL_SIZE, segment.bytes);
    number(sink, &sink::ALLOCATED_SIZE, segment.allocated_bytes);
    number(sink, &sink::ACTIVE_SIZE, segment.active_bytes);
    number(sink, &sink::REQUESTED_SIZE, segment.requested_bytes);
    number(sink, &sink::STREAM, segment.stream);
    sink.key(&sink::SEGMENT_TYPE);
    sink.word(match segment.pool {
        PoolKind::Small => &sink::SMALL,
        PoolKind::Large => &sink::LARGE,
    });
    sink.key(&sink::SEGMENT_POOL_ID);
    sink.pair(segment.pool_id);
    flag(sink, &sink::IS_EXPANDABLE, segment.is_expandable);
    no_frames(sink);
    sink.key(&sink::BLOCKS);
    let blocks = snapshot.blocks.get(segment.blocks.clone()).unwrap_or_default();
    list(sink, blocks, block);
    sink.close_map();
}

#[inline]
fn block<S: Sink>(sink: &mut S, block: &BlockInfo) {
    sink.open_map();
    number(sink, &sink::ADDRESS, block.address);
    number(sink, &sink::SIZE, block.bytes);
    number(sink, &sink::REQUESTED_SIZE, block.requested_bytes);
    sink.key(&sink::STATE);
    sink.word(match block.state {
        BlockState::Allocated => &sink::ACTIVE_ALLOCATED,
        BlockState::PendingFree => &sink::ACTIVE_PENDING_FREE,
        BlockState::Inactive => &sink::INACTIVE,
    });
    no_frames(sink);
    sink.close_map();
}

fn trace_entry<S: Sink>(sink: &mut S, entry: &TraceEntry) {
    let (action, place) = match entry.action {
        Action::Alloc => (&sink::ALLOC, &sink::ADDR),
        Action::FreeRequested => (&sink::FREE_REQUESTED, &sink::ADDR),
        Action::FreeCompleted => (&sink::FREE_COMPLETED, &sink::ADDR),
        Action::SegmentAlloc => (&sink::SEGMENT_ALLOC, &sink::ADDR),
        Action::SegmentFree => (&sink::SEGMENT_FREE, &sink::ADDR),
        Action::SegmentMap => (&sink::SEGMENT_MAP, &sink::ADDR),
        Action::SegmentUnmap => (&sink::SEGMENT_UNMAP, &sink::ADDR),
        Action::Snapshot => (&sink::SNAPSHOT, &sink::ADDR),
        Action::OutOfMemory => (&sink::OOM, &sink::DEVICE_FREE),
    };
    sink.open_map();
    sink.key(&sink::ACTION);
    sink.word(action);
    number(sink, place, entry.address);
    number(sink, &sink::SIZE, entry.bytes);
    number(sink, &sink::STREAM, entry.stream);
    sink.key(&sink::TIME_US);
    sink.signed(entry.time_us);
    if entry.pool_id != (0, 0) {
        sink.key(&sink::POOL_ID);
        sink.pair(entry.pool_id);
    }
    sink.key(&sink::COMPILE_CONTEXT);
    sink.word(&sink::NOT_AVAILABLE);
    sink.key(&sink::USER_METADATA);
    sink.word(&sink::NOTHING);
    sink.close_map();
}

fn settings(sink: &mut impl Sink, settings: &Settings) {
    sink.open_map();
    sink.key(&sink::CONF);
    sink.text(&settings.text);
    sink.key(&sink::MAX_SPLIT_SIZE);
    sink.signed(match settings.max_split_bytes {
        usize::MAX => -1,
        bytes => bytes as i64,
    });
    sink.key(&sink::GARBAGE_COLLECTION_THRESHOLD);
    sink.float(settings.garbage_collection_threshold);
    flag(sink, &sink::EXPANDABLE_SEGMENTS, settings.expandable_segments);
    let threads = settings.pinned.num_register_threads;
    number(sink, &sink::PINNED_NUM_REGISTER_THREADS, threads as u64);
    flag(sink, &sink::RELEASE_LOCK_ON_CUDAMALLOC, settings.release_lock_on_cudamalloc);
    let register = settings.pinned.use_cuda_host_register;
    flag(sink, &sink::PINNED_USE_CUDA_HOST_REGISTER, register);
    let reuse = settings.graph_capture_record_stream_reuse;
    flag(sink, &sink::GRAPH_CAPTURE_RECORD_STREAM_REUSE, reuse);
    sink.key(&sink::ROUNDUP_POWER2_DIVISIONS);
    sink.open_map();
    for (power, divisions) in settings.roundup_divisions.iter().enumerate() {
        sink.number_key(1 << power);
        sink.unsigned(u64::from(*divisions));
    }
    sink.close_map();
    sink.close_map();
}
