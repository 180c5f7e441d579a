//! The history under threads, on a driver that hands freed addresses out again at once: its order is that
//! of the events, and every snapshot shows what its own history leads to.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "reaches into the fake driver")]

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use testkit::memory::structure;
use testkit::threads::seconds;

use sconce_base::error::Status;
use sconce_runtime::memory::snapshot::{Action, BlockState, Snapshot, TraceEntry};
use sconce_runtime::{memory, stream};
use testkit::drivers::{self, Driver};

const THREADS: usize = 4;

/// Address and bytes of what there is at a point of the history.
#[derive(Default)]
struct Replay {
    segments: BTreeMap<u64, u64>,
    /// Live blocks, and those that were freed and cannot be used again yet.
    blocks: BTreeMap<u64, (u64, BlockState)>,
}

/// The range of a map that an address lies in, or that begins before `end`.
fn last_before<T>(map: &BTreeMap<u64, T>, end: u64) -> Option<(u64, &T)> {
    map.range(..end).next_back().map(|(start, value)| (*start, value))
}

impl Replay {
    fn apply(&mut self, entry: &TraceEntry) -> Result<(), String> {
        let (at, end) = (entry.address, entry.address + entry.bytes);
        let wrong = |what: &str| Err(format!("{what}: {entry:x?}"));
        match entry.action {
            Action::SegmentAlloc => {
                if last_before(&self.segments, end).is_some_and(|(start, bytes)| start + bytes > at)
                {
                    return wrong("a segment over another");
                }
                self.segments.insert(at, entry.bytes);
            }
            Action::SegmentFree => {
                if self.segments.remove(&at) != Some(entry.bytes) {
                    return wrong("no such segment is there to be freed");
                }
                if last_before(&self.blocks, end).is_some_and(|(start, _)| start >= at) {
                    return wrong("a segment with blocks was freed");
                }
            }
            Action::Alloc => {
                let segment = last_before(&self.segments, at + 1);
                if segment.is_none_or(|(start, bytes)| start + bytes < end) {
                    return wrong("a block outside of every segment");
                }
                if last_before(&self.blocks, end).is_some_and(|(start, block)| start + block.0 > at)
                {
                    return wrong("a block over another");
                }
                self.blocks.insert(at, (entry.bytes, BlockState::Allocated));
            }
            Action::FreeRequested => match self.blocks.get_mut(&at) {
                Some(block) if *block == (entry.bytes, BlockState::Allocated) => {
                    block.1 = BlockState::PendingFree;
                }
                _ => return wrong("no such block is there to be freed"),
            },
            Action::FreeCompleted => {
                if self.blocks.remove(&at) != Some((entry.bytes, BlockState::PendingFree)) {
                    return wrong("a free ends that did not begin");
                }
            }
            Action::SegmentMap | Action::SegmentUnmap => {
                return wrong("pages, though the policy is segments");
            }
            Action::Snapshot | Action::OutOfMemory => {}
        }
        Ok(())
    }
}

/// What is wrong with the history of a snapshot, or differs from its segments and blocks.
fn faults(snapshot: &Snapshot) -> Vec<String> {
    let mut replay = Replay::default();
    let mut wrong = structure::faults(snapshot);
    wrong.extend(snapshot.traces[0].iter().filter_map(|entry| replay.apply(entry).err()));
    let segments: BTreeMap<u64, u64> =
        snapshot.segments.iter().map(|segment| (segment.address, segment.bytes)).collect();
    let used = snapshot.blocks.iter().filter(|block| block.state != BlockState::Inactive);
    let blocks: BTreeMap<u64, (u64, BlockState)> =
        used.map(|block| (block.address, (block.requested_bytes, block.state))).collect();
    if segments != replay.segments {
        wrong.push(format!("segments {segments:x?}, the history has {:x?}", replay.segments));
    }
    if blocks != replay.blocks {
        let differs = blocks.iter().find(|(at, block)| replay.blocks.get(at) != Some(block));
        wrong.push(format!("the history differs in blocks, for example {differs:x?}"));
    }
    wrong.truncate(5);
    wrong
}

fn work(number: usize, held: &Mutex<Vec<usize>>, done: &AtomicBool) {
    let mut random = number as u64 * 7919 + 1;
    let mut below = |limit: usize| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        (random >> 16) as usize % limit
    };
    while !done.load(Ordering::Relaxed) {
        match below(100) {
            0..50 => {
                let on = stream::from_pool(0, 0).unwrap();
                let bytes = if below(3) == 0 { 1 + below(24 << 20) } else { 1 << below(20) };
                match memory::alloc_on(bytes, on) {
                    Ok(address) => {
                        if below(8) == 0 {
                            memory::record_stream(address, stream::default(0).unwrap()).unwrap();
                        }
                        held.lock().unwrap().push(address);
                    }
                    Err(error) => {
                        assert_eq!(error.status(), Status::OutOfMemory, "{error}");
                        let blocks = std::mem::take(&mut *held.lock().unwrap());
                        blocks.into_iter().for_each(|block| memory::free(block).unwrap());
                    }
                }
            }
            50..97 => {
                let mut held = held.lock().unwrap();
                if let Some(place) = below(1 << 20).checked_rem(held.len()) {
                    let block = held.swap_remove(place);
                    drop(held);
                    memory::free(block).unwrap();
                }
            }
            97 => memory::empty_cache().unwrap(),
            _ => {}
        }
    }
}

#[test]
fn the_history_has_the_order_of_events_and_leads_to_what_snapshots_show() {
    let test = "the_history_has_the_order_of_events_and_leads_to_what_snapshots_show";
    drivers::in_child(test, Driver::Fake { delay_us: 5 }, 128, &[], || {
        memory::record_history(true, 10_000_000).unwrap();
        let (held, done) = (Mutex::default(), AtomicBool::new(false));
        let start = Instant::now();
        let mut snapshots = 0;
        let mut found = Vec::new();
        std::thread::scope(|scope| {
            for number in 0..THREADS {
                let (held, done) = (&held, &done);
                scope.spawn(move || work(number, held, done));
            }
            let enough = || memory::stats(0).unwrap().num_device_free > 50;
            while start.elapsed() < seconds(1.5) || snapshots < 4 || !enough() {
                found = faults(&memory::snapshot().unwrap());
                if !found.is_empty() {
                    break;
                }
                snapshots += 1;
                std::thread::sleep(Duration::from_millis(20));
            }
            done.store(true, Ordering::Relaxed);
        });
        assert!(found.is_empty(), "snapshot {snapshots}: {found:#?}");
        for block in held.into_inner().unwrap() {
            memory::free(block).unwrap();
        }
        memory::empty_cache().unwrap();
        let snapshot = memory::snapshot().unwrap();
        assert_eq!((faults(&snapshot), snapshot.segments.len()), (Vec::new(), 0));
    });
}

#[test]
fn a_segment_that_the_driver_does_not_take_back_is_not_in_the_history() {
    let test = "a_segment_that_the_driver_does_not_take_back_is_not_in_the_history";
    drivers::in_child(test, Driver::Simulator, 128, &[], || {
        memory::record_history(true, 100).unwrap();
        memory::free(memory::alloc(3 << 20).unwrap()).unwrap();
        sconce::sim_controls::fail_call("memory_free", 1, 999).unwrap();
        memory::empty_cache().unwrap_err();
        let frees = || {
            let snapshot = memory::snapshot().unwrap();
            assert_eq!(faults(&snapshot), Vec::<String>::new());
            let freed = |entry: &&TraceEntry| entry.action == Action::SegmentFree;
            snapshot.traces[0].iter().filter(freed).count()
        };
        assert_eq!(frees(), 0);
        memory::empty_cache().unwrap();
        assert_eq!(frees(), 1);
    });
}

#[test]
fn a_block_is_handed_out_then_used_then_taken_back() {
    use sconce_base::types::{DeviceIndex, DevicePtr};
    use sconce_driver::StreamRef;
    use sconce_sim::BlockReport::{HandedOut, TakenBack, Used};

    const ZERO: DeviceIndex = DeviceIndex::ZERO;
    let simulator = {
        testkit::simulated::runtime();
        sconce_sim::Simulator::opened().unwrap()
    };
    simulator.observe_blocks(true);
    let own = StreamRef::default_of(ZERO);
    let other = sconce_runtime::stream::from_pool(0, 0).unwrap();
    // The stream's first memory starts the reports; the second block comes from the cache.
    for round in 0..3 {
        let address = sconce_runtime::memory::alloc(1000).unwrap();
        let block = DevicePtr(address as u64);
        sconce_runtime::memory::record_stream(address, sconce_runtime::stream::default(0).unwrap())
            .unwrap();
        sconce_runtime::memory::record_stream(address, other).unwrap();
        sconce_runtime::memory::free(address).unwrap();
        let expected =
            [HandedOut(own, block, 1000), Used(other.driver_ref(), block), TakenBack(own, block)];
        assert_eq!(simulator.take_block_reports(), expected, "round {round}");
        testkit::simulated::runtime().driver().device_synchronize(ZERO).unwrap();
    }
    // The history may be turned on and off meanwhile.
    sconce_runtime::memory::record_history(true, 10).unwrap();
    sconce_runtime::memory::record_history(false, 0).unwrap();
    let address = sconce_runtime::memory::alloc(1000).unwrap();
    sconce_runtime::memory::free(address).unwrap();
    let block = DevicePtr(address as u64);
    assert_eq!(
        simulator.take_block_reports(),
        [HandedOut(own, block, 1000), TakenBack(own, block)]
    );
    simulator.observe_blocks(false);
    sconce_runtime::memory::free(sconce_runtime::memory::alloc(1000).unwrap()).unwrap();
    assert_eq!(simulator.take_block_reports(), []);
}
