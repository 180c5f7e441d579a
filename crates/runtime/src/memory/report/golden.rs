//! For tests: what torch 2.11 recorded on an H200, read back, and a snapshot with everything in it.

use sconce_base::types::DeviceIndex;
use testkit_json::Json;

use crate::caching::settings::Settings;
use crate::caching::size_class::PoolKind;
use crate::memory::snapshot::{Action, BlockInfo, BlockState, SegmentInfo, TraceEntry};
use crate::memory::{MemoryStats, PoolStats, Snapshot, Stat};

pub(super) const SNAPSHOT: &str = include_str!("../../../../../tests/golden/memory/snapshot.json");
pub(super) const STATS: &str = include_str!("../../../../../tests/golden/memory/stats.json");
pub(super) const SUMMARY: &str = include_str!("../../../../../tests/golden/memory/summary.txt");
pub(super) const ABBREVIATED: &str =
    include_str!("../../../../../tests/golden/memory/summary_abbreviated.txt");

pub(super) const ACTIONS: [Action; 9] = [
    Action::Alloc,
    Action::FreeRequested,
    Action::FreeCompleted,
    Action::SegmentAlloc,
    Action::SegmentFree,
    Action::Snapshot,
    Action::OutOfMemory,
    Action::SegmentMap,
    Action::SegmentUnmap,
];

/// The text of a recording without its blanks; none are in its strings.
pub(super) fn compact(text: &str) -> String {
    text.replace(": ", ":").replace(", ", ",")
}

/// The recorded figures.
pub(super) fn stats() -> MemoryStats {
    let read = Json::read(STATS);
    let scalar = |key: &str| read[key].number();
    let stat = |key: &str| Stat {
        current: scalar(&format!("{key}.current")),
        peak: scalar(&format!("{key}.peak")),
        allocated: scalar(&format!("{key}.allocated")),
        freed: scalar(&format!("{key}.freed")),
    };
    let pools = |key: &str| PoolStats {
        all: stat(&format!("{key}.all")),
        small_pool: stat(&format!("{key}.small_pool")),
        large_pool: stat(&format!("{key}.large_pool")),
    };
    MemoryStats {
        allocation: pools("allocation"),
        segment: pools("segment"),
        active: pools("active"),
        inactive_split: pools("inactive_split"),
        allocated_bytes: pools("allocated_bytes"),
        reserved_bytes: pools("reserved_bytes"),
        active_bytes: pools("active_bytes"),
        inactive_split_bytes: pools("inactive_split_bytes"),
        requested_bytes: pools("requested_bytes"),
        oversize_allocations: stat("oversize_allocations"),
        oversize_segments: stat("oversize_segments"),
        num_alloc_retries: scalar("num_alloc_retries"),
        num_ooms: scalar("num_ooms"),
        num_sync_all_streams: scalar("num_sync_all_streams"),
        num_device_alloc: scalar("num_device_alloc"),
        num_device_free: scalar("num_device_free"),
        max_split_size: scalar("max_split_size"),
        sleeping_bytes: 0,
    }
}

/// The recorded snapshot.
pub(super) fn snapshot() -> Snapshot {
    let read = Json::read(SNAPSHOT);
    let mut blocks = Vec::new();
    let mut segment = |segment: &Json| {
        let first = blocks.len();
        for block in segment["blocks"].items() {
            blocks.push(BlockInfo {
                address: block["address"].number(),
                bytes: block["size"].number(),
                requested_bytes: block["requested_size"].number(),
                state: [BlockState::Allocated, BlockState::PendingFree, BlockState::Inactive]
                    .into_iter()
                    .find(|state| block["state"].text() == state.name())
                    .unwrap(),
            });
        }
        SegmentInfo {
            device: DeviceIndex::new(segment["device"].number()).unwrap(),
            address: segment["address"].number(),
            bytes: segment["total_size"].number(),
            allocated_bytes: segment["allocated_size"].number(),
            active_bytes: segment["active_size"].number(),
            requested_bytes: segment["requested_size"].number(),
            stream: segment["stream"].number(),
            pool: if segment["segment_type"].text() == "small" {
                PoolKind::Small
            } else {
                PoolKind::Large
            },
            pool_id: (
                segment["segment_pool_id"][0].number(),
                segment["segment_pool_id"][1].number(),
            ),
            is_expandable: false,
            sleeping_bytes: 0,
            blocks: first..blocks.len(),
        }
    };
    let segments = read["segments"].items().iter().map(&mut segment).collect();
    let event = |event: &Json| TraceEntry {
        action: ACTIONS.into_iter().find(|action| event["action"].text() == action.name()).unwrap(),
        address: event["addr"].number(),
        bytes: event["size"].number(),
        stream: event["stream"].number(),
        time_us: event["time_us"].number(),
        pool_id: (0, 0),
    };
    let traces = read["device_traces"].items().iter();
    let traces = traces.map(|trace| trace.items().iter().map(event).collect());
    Snapshot { segments, blocks, traces: traces.collect(), settings: Settings::default() }
}

/// Three segments, on devices 0, 1 and 3, a history of every action, settings with hard values.
pub(super) fn everything() -> Snapshot {
    let states = [BlockState::Allocated, BlockState::PendingFree, BlockState::Inactive];
    let numbers = [0, u64::MAX, 1 << 63, (1 << 63) - 1, 255, 256, 65_535, 65_536, (1 << 31) - 1];
    let block = |index: usize| BlockInfo {
        address: numbers[index % numbers.len()],
        bytes: 1 << (index % 64),
        requested_bytes: numbers[(index + 3) % numbers.len()],
        state: states[index % 3],
    };
    let segment = |device: i32, pool_id, blocks| SegmentInfo {
        device: DeviceIndex::new(device).unwrap(),
        address: 1 << 47,
        bytes: 1 << 31,
        allocated_bytes: (1 << 32) + 5,
        active_bytes: 127,
        requested_bytes: 128,
        stream: 0x7fff_dead_beef,
        pool: if device == 0 { PoolKind::Large } else { PoolKind::Small },
        pool_id,
        is_expandable: device == 3,
        sleeping_bytes: 0,
        blocks,
    };
    let event = |index: usize| TraceEntry {
        action: ACTIONS[index % 9],
        address: index as u64 + 1,
        bytes: 300,
        stream: 0,
        time_us: if index == 6 { -1 } else { 1_795_217_128_480_235 },
        pool_id: if index == 1 { (9, 0) } else { (0, 0) },
    };
    let mut settings = Settings {
        text: "a\"b\\c\nd\u{1}é𝄞:True".to_owned(),
        max_split_bytes: 21 << 20,
        garbage_collection_threshold: 0.85,
        roundup_divisions: std::array::from_fn(|index| index as u32 + 1),
        release_lock_on_cudamalloc: true,
        ..Settings::default()
    };
    settings.pinned.num_register_threads = 8;
    Snapshot {
        segments: vec![
            segment(0, (0, 0), 0..2493),
            segment(1, (3, 4), 2493..2508),
            segment(3, (0, 1), 0..0),
        ],
        blocks: (0..2508).map(block).collect(),
        traces: vec![Vec::new(), (0..9).map(event).collect()],
        settings,
    }
}
