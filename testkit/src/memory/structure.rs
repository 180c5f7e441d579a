//! What must hold of any snapshot: blocks tile their segments, free neighbours are one, and the
//! sums are the figures.

use std::collections::BTreeMap;

use sconce_runtime::memory::size_class::PoolKind;
use sconce_runtime::memory::snapshot::{BlockInfo, BlockState, SegmentInfo, Snapshot};
use sconce_runtime::memory::{self, MemoryStats, PoolStats};

/// Counts a snapshot once more: the current values of a device's figures, by their names.
fn recount(snapshot: &Snapshot, device: usize) -> BTreeMap<(&'static str, PoolKind), i64> {
    let mut sums = BTreeMap::new();
    let mut add = |name, kind, by: u64| {
        *sums.entry((name, kind)).or_insert(0_i64) += by as i64;
    };
    for segment in snapshot.segments.iter().filter(|s| s.device.as_usize() == device) {
        let kind = segment.pool;
        if !segment.is_expandable {
            add("segment", kind, 1);
        }
        add("reserved_bytes", kind, segment.bytes - segment.sleeping_bytes);
        let blocks = &snapshot.blocks[segment.blocks.clone()];
        for block in blocks {
            // Memory of pages has one pool for small and large blocks, which count by their size.
            let kind = if segment.is_expandable && block.state != BlockState::Inactive {
                PoolKind::of(block.bytes as usize)
            } else {
                kind
            };
            match block.state {
                BlockState::Allocated => {
                    add("allocation", kind, 1);
                    add("allocated_bytes", kind, block.bytes);
                }
                BlockState::Inactive if blocks.len() > 1 && !segment.is_expandable => {
                    add("inactive_split", kind, 1);
                    add("inactive_split_bytes", kind, block.bytes);
                }
                _ => {}
            }
            if block.state != BlockState::Inactive {
                add("active", kind, 1);
                add("active_bytes", kind, block.bytes);
                add("requested_bytes", kind, block.requested_bytes);
            }
        }
    }
    sums
}

/// What is wrong between a snapshot and the figures of a device, taken with nothing in between.
pub fn compare(snapshot: &Snapshot, stats: &MemoryStats, device: usize) -> Vec<String> {
    let sums = recount(snapshot, device);
    let figures: [(&str, &PoolStats); 9] = [
        ("allocation", &stats.allocation),
        ("segment", &stats.segment),
        ("active", &stats.active),
        ("inactive_split", &stats.inactive_split),
        ("allocated_bytes", &stats.allocated_bytes),
        ("reserved_bytes", &stats.reserved_bytes),
        ("active_bytes", &stats.active_bytes),
        ("inactive_split_bytes", &stats.inactive_split_bytes),
        ("requested_bytes", &stats.requested_bytes),
    ];
    let mut wrong = Vec::new();
    for (name, pools) in figures {
        let [small, large] = [PoolKind::Small, PoolKind::Large]
            .map(|kind| sums.get(&(name, kind)).copied().unwrap_or(0));
        for (pool, stat, sum) in [
            ("small_pool", pools.small_pool, small),
            ("large_pool", pools.large_pool, large),
            ("all", pools.all, small + large),
        ] {
            if stat.current != sum {
                wrong.push(format!("{name}.{pool} is {}, counted {sum}", stat.current));
            }
            if stat.peak < stat.current {
                wrong.push(format!("{name}.{pool}: peak {} < {}", stat.peak, stat.current));
            }
        }
    }
    wrong
}

fn segment_faults(segment: &SegmentInfo, blocks: &[BlockInfo]) -> Vec<String> {
    let mut wrong = Vec::new();
    let place = format!("segment {:#x}", segment.address);
    let (mut at, mut allocated, mut active, mut requested) = (segment.address, 0, 0, 0);
    for block in blocks {
        if block.address != at || block.bytes == 0 || block.bytes % 512 != 0 {
            wrong.push(format!("{place}: {block:?} at {at:#x}"));
        }
        at = block.address + block.bytes;
        if block.state != BlockState::Inactive {
            (active, requested) = (active + block.bytes, requested + block.requested_bytes);
            if block.requested_bytes > block.bytes || block.requested_bytes == 0 {
                wrong.push(format!("{place}: {block:?} holds less than was asked for"));
            }
        }
        if block.state == BlockState::Allocated {
            allocated += block.bytes;
        }
    }
    if at != segment.address + segment.bytes {
        wrong.push(format!("{place}: blocks end at {at:#x}"));
    }
    for pair in blocks.windows(2) {
        if pair.iter().all(|block| block.state == BlockState::Inactive) {
            wrong.push(format!("{place}: free neighbours {pair:?}"));
        }
    }
    let said = (segment.allocated_bytes, segment.active_bytes, segment.requested_bytes);
    if said != (allocated, active, requested) {
        wrong.push(format!("{place}: says {said:?}, counted {:?}", (allocated, active, requested)));
    }
    wrong
}

/// What is wrong with a snapshot in itself.
pub fn faults(snapshot: &Snapshot) -> Vec<String> {
    let mut wrong = Vec::new();
    for segment in &snapshot.segments {
        wrong.extend(segment_faults(segment, &snapshot.blocks[segment.blocks.clone()]));
    }
    for pair in snapshot.segments.windows(2) {
        if pair[0].address + pair[0].bytes > pair[1].address {
            wrong.push(format!("segments overlap or are not in order: {pair:x?}"));
        }
    }
    wrong
}

/// Fails unless the allocator is as it must be while nobody uses it.
#[track_caller]
pub fn assert_sound() {
    let snapshot = memory::snapshot().unwrap();
    let mut wrong = faults(&snapshot);
    for device in 0..sconce_runtime::device::count() {
        let stats = memory::stats(device).unwrap();
        wrong.extend(compare(&snapshot, &stats, device as usize));
    }
    wrong.extend(memory::check::walk().err());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Frees nothing, but checks that everything has been: no figure is above 0 once the cache is
/// empty, and the device has what it had.
#[track_caller]
pub fn assert_all_given_back(free_at_start: &[usize]) {
    memory::empty_cache().unwrap();
    assert_sound();
    assert_eq!(memory::snapshot().unwrap().segments, []);
    for (device, free) in free_at_start.iter().enumerate() {
        let now = sconce_runtime::device::memory_info(device as i32).unwrap();
        assert_eq!(now.free_bytes, *free, "device {device} did not get all of its memory back");
    }
}
