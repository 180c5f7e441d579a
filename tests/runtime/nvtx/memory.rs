//! Blocks of the allocator that a tool learns of.

use std::collections::BTreeMap;

use sconce_base::nvtx;
use sconce_compute::sleep_kernel;
use sconce_runtime::memory::pool::PoolPolicy;
use sconce_runtime::memory::{self, pool};
use sconce_runtime::sleep::{self, SleepPlace, WakeMode};
use sconce_runtime::stream::{self, Stream};
use testkit::simulated::{captured, runtime};

use super::{Child, Seen};

fn pooled_stream() -> Stream {
    stream::from_pool(0, 0).unwrap()
}

/// Blocks that are freed while their stream is idle, and while it is busy. Marks show where the tool is.
pub(super) fn blocks() {
    let runtime = runtime();
    let stream = pooled_stream();
    let one = memory::alloc_on(1000, stream).unwrap();
    let two = memory::alloc_on(1024, stream).unwrap();
    println!("got {one} {two}");
    memory::free(one).unwrap();
    sleep_kernel::sleep(runtime, stream, 200_000_000).unwrap();
    nvtx::mark(c"busy");
    memory::free(two).unwrap();
    nvtx::mark(c"freed");
    stream::synchronize(runtime, stream).unwrap();
    let three = memory::alloc_on(3000, stream).unwrap();
    println!("got {three}");
    memory::free(three).unwrap();
    nvtx::mark(c"empty");
    memory::empty_cache().unwrap();
}

/// A block of a capture, which launches of the graph use whatever its stream does.
pub(super) fn captured_blocks() {
    let runtime = runtime();
    let stream = pooled_stream();
    let captured = captured(runtime, stream, || {
        let captured = memory::alloc_on(1000, stream).unwrap();
        memory::free(captured).unwrap();
        captured
    });
    stream::synchronize(runtime, stream).unwrap();
    let other = memory::alloc_on(1 << 19, pooled_stream()).unwrap();
    memory::free(other).unwrap();
    nvtx::mark(c"idle");
    println!("got {captured} {other}");
}

/// Four segments go back to the driver at once.
pub(super) fn segments() {
    runtime();
    let all = [(); 4].map(|()| memory::alloc(24 << 20).unwrap());
    all.into_iter().for_each(|block| memory::free(block).unwrap());
    memory::empty_cache().unwrap();
}

/// A pool sleeps and wakes with a live block; what was free beside it has gone meanwhile.
pub(super) fn sleeping_pool() {
    runtime();
    let pool = pool::create_with(PoolPolicy::Pages).unwrap();
    pool::begin(pool, 0).unwrap();
    let [live, free] = [(); 2].map(|()| memory::alloc(6 << 20).unwrap());
    pool::end(pool, 0).unwrap();
    memory::free(free).unwrap();
    sleep::sleep(Some(pool), 0, &SleepPlace::HostPageable).unwrap();
    nvtx::mark(c"asleep");
    sleep::wake(Some(pool), 0, WakeMode::Restore).unwrap();
    pool::begin(pool, 0).unwrap();
    let later = memory::alloc(6 << 20).unwrap();
    pool::end(pool, 0).unwrap();
    println!("got {live}");
    println!("got {later}");
}

/// The driver does not take a segment back, which serves a request again.
pub(super) fn refused_release() {
    let runtime = runtime();
    let stream = pooled_stream();
    let block = memory::alloc_on(3 << 20, stream).unwrap();
    memory::free(block).unwrap();
    sconce::sim_controls::fail_call("memory_free", 1, 1).unwrap();
    assert!(memory::empty_cache().is_err());
    nvtx::mark(c"refused");
    println!("got {}", memory::alloc_on(3 << 20, stream).unwrap());
    stream::synchronize(runtime, stream).unwrap();
}

/// Many blocks on two streams, of sizes that move segments and pages; some stay.
pub(super) fn many_blocks() {
    runtime();
    let streams = [pooled_stream(), pooled_stream()];
    let mut live: Vec<usize> = Vec::new();
    let mut random = 12345_u64;
    for step in 0..600 {
        random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let number = (random >> 33) as usize;
        if live.len() > 20 || (number.is_multiple_of(3) && !live.is_empty()) {
            memory::free(live.swap_remove(number % live.len())).unwrap();
        } else {
            let bytes = 1 + number % (1 << (8 + number % 17));
            live.push(memory::alloc_on(bytes, streams[number % 2]).unwrap());
        }
        if step % 100 == 99 {
            memory::empty_cache().unwrap();
        }
    }
    // Both streams are idle, so whatever is free is no region any more.
    let last = memory::alloc_on(64, streams[0]).unwrap();
    live.push(last);
    for block in live {
        println!("got {block}");
    }
}

/// What a tool knows: the ends of heaps and regions by their beginnings. Fails on what a tool would refuse.
#[derive(Default)]
struct Known {
    heaps: BTreeMap<u64, u64>,
    regions: BTreeMap<u64, u64>,
}

impl Known {
    fn apply(&mut self, line: &str) {
        let mut words = line.split(' ');
        let (what, at) = (words.next().unwrap(), words.next().unwrap());
        let bytes: u64 = words.next().unwrap().parse().unwrap();
        let overlaps = |ranges: &BTreeMap<u64, u64>, start: u64, end: u64| {
            ranges.range(..end).next_back().is_some_and(|(_, last)| *last > start)
        };
        let at = || at.parse::<u64>().unwrap();
        match what {
            "heap" => {
                assert!(!overlaps(&self.heaps, at(), at() + bytes), "{line}");
                self.heaps.insert(at(), at() + bytes);
            }
            "heap-gone" => {
                let end = self.heaps.remove(&at()).expect(line);
                self.regions.retain(|start, _| !(at()..end).contains(start));
            }
            "region" => {
                let (_, end) = self.heaps.range(..=at()).next_back().expect(line);
                assert!(at() + bytes <= *end, "{line} leaves its heap");
                // A zone lies behind each block.
                assert!(!overlaps(&self.regions, at(), at() + bytes + 512), "{line}");
                self.regions.insert(at(), at() + bytes);
            }
            "region-gone" => assert!(self.regions.remove(&at()).is_some(), "{line}"),
            _ => assert_eq!(what, "mark", "{line}"),
        }
    }

    fn of(seen: &Seen) -> Known {
        let mut known = Known::default();
        seen.events().iter().for_each(|line| known.apply(line));
        known
    }
}

fn child(case: &str, name: &str) -> Child {
    Child::new(case, name).env("SCONCE_NVTX_MEMORY", "1").env("SCONCE_BACKEND", "sim")
}

#[test]
fn a_block_is_a_region_until_its_stream_is_idle() {
    let seen = child("memory", "memory").run();
    let [blocks, three] = seen.got.as_slice() else { panic!("{:?}", seen.got) };
    let (one, two) = blocks.split_once(' ').unwrap();
    let heap = seen.events()[0].split(' ').nth(1).unwrap().to_owned();
    let expected = [
        format!("heap {heap} {}", 2 << 20),
        format!("region {one} 1000"),
        format!("region {two} 1024"),
        format!("region-gone {one} 0"),
        "mark busy 0".to_owned(),
        "mark freed 0".to_owned(),
        format!("region-gone {two} 0"),
        format!("region {three} 3000"),
        format!("region-gone {three} 0"),
        "mark empty 0".to_owned(),
        format!("heap-gone {heap} 0"),
    ];
    assert_eq!(seen.events(), expected);
    assert_eq!(seen.warnings(), 0, "{}", seen.stderr);
    let known = Known::of(&seen);
    assert!(known.heaps.is_empty() && known.regions.is_empty());
}

#[test]
fn a_block_of_a_capture_stays_a_region() {
    let seen = child("captured blocks", "captured").run();
    let (captured, other) = seen.got[0].split_once(' ').unwrap();
    let events = seen.events();
    assert!(events.contains(&format!("region {captured} 1000").as_str()), "{events:?}");
    assert!(events.contains(&format!("region-gone {other} 0").as_str()), "{events:?}");
    assert!(!events.contains(&format!("region-gone {captured} 0").as_str()), "{events:?}");
}

#[test]
fn a_segment_that_the_driver_does_not_take_back_is_a_heap_again() {
    let seen = child("refused release", "refused-release").run();
    let known = Known::of(&seen);
    let block: u64 = seen.got[0].parse().unwrap();
    assert_eq!(known.regions, BTreeMap::from([(block, block + (3 << 20))]));
    assert_eq!(seen.events().iter().filter(|line| line.starts_with("heap ")).count(), 2);
}

#[test]
fn segments_beside_one_that_goes_back_are_not_registered_again() {
    let seen = child("segments", "segments").env("SCONCE_ALLOC_CONF", "policy:segments").run();
    let count = |word: &str| seen.events().iter().filter(|line| line.starts_with(word)).count();
    assert_eq!((count("heap "), count("heap-gone ")), (4, 4), "{:?}", seen.events());
}

#[test]
fn blocks_of_a_pool_that_has_slept_are_regions() {
    let seen = child("sleeping pool", "sleep").run();
    let mut live: Vec<u64> = seen.got.iter().map(|at| at.parse().unwrap()).collect();
    live.sort_unstable();
    let regions: Vec<u64> = Known::of(&seen).regions.into_keys().collect();
    assert_eq!(regions, live, "{:?}", seen.events());
    // The pages of the free block are gone, those of the live one keep their addresses.
    let mut asleep = Known::default();
    let before = seen.events().into_iter().take_while(|line| *line != "mark asleep 0");
    before.for_each(|line| asleep.apply(line));
    let bytes: u64 = asleep.heaps.iter().map(|(start, end)| end - start).sum();
    assert!((6 << 20..10 << 20).contains(&bytes), "{bytes}: {:?}", seen.events());
    assert_eq!(asleep.regions.len(), 1);
    assert_eq!(seen.warnings(), 0, "{}", seen.stderr);
}

#[test]
fn live_blocks_are_regions_whatever_segments_and_pages_do() {
    for (name, policy) in [("segments", "policy:segments"), ("pages", "policy:pages")] {
        let seen = child("many blocks", name).env("SCONCE_ALLOC_CONF", policy).run();
        let mut live: Vec<u64> = seen.got.iter().map(|at| at.parse().unwrap()).collect();
        live.sort_unstable();
        let regions: Vec<u64> = Known::of(&seen).regions.into_keys().collect();
        assert_eq!(regions, live, "{name}");
        let gone = seen.events().iter().filter(|line| line.starts_with("heap-gone")).count();
        assert!(gone > 3, "{name}: no memory went back to the driver");
        assert_eq!(seen.warnings(), 0, "{}", seen.stderr);
    }
}

#[test]
fn a_tool_that_does_not_follow_memory_is_said_once() {
    let seen = child("memory", "refused").env("FAKE_NVTX_MODE", "refuse-memory").run();
    assert_eq!(seen.events(), ["mark busy 0", "mark freed 0", "mark empty 0"]);
    assert_eq!(seen.warnings(), 1, "{}", seen.stderr);
    assert!(seen.stderr.contains("SCONCE_NVTX_MEMORY: ") && seen.stderr.contains("returned 0"));
}

#[test]
fn without_the_setting_nothing_is_registered_and_without_a_tool_that_is_said() {
    let seen = child("memory", "off").env("SCONCE_NVTX_MEMORY", "0").run();
    assert_eq!(seen.events(), ["mark busy 0", "mark freed 0", "mark empty 0"]);
    assert_eq!(seen.warnings(), 0, "{}", seen.stderr);
    let seen = child("memory", "no-tool").env("NVTX_INJECTION64_PATH", "").run();
    assert!(seen.events().is_empty() && seen.warnings() == 1, "{}", seen.stderr);
    assert!(seen.stderr.contains("NVTX_INJECTION64_PATH names no tool"), "{}", seen.stderr);
}
