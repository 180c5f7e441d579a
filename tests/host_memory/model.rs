//! Random scripts on pinned memory against a naive account: not which block is handed out, but what
//! must hold of any. Work of streams completes when the script says so.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "writes into pinned memory")]
#![allow(unreachable_pub, reason = "one word for what other modules of the test use")]

use proptest::prelude::*;
use proptest::test_runner::{Config, FileFailurePersistence, TestCaseError, TestRunner};
use sconce::sim_controls as sim;
use sconce_base::error::Status;
use sconce_compute::sleep_kernel;
use sconce_runtime::context::{Runtime, runtime};
use sconce_runtime::host_memory::{self, HostMemoryStats, check};
use sconce_runtime::memory;
use sconce_runtime::stream::{self, Stream};
use testkit::fork::forked_result;
use testkit::stepper::Stepper;

const STREAMS: usize = 3;
const MIB: usize = 1 << 20;

/// One step; what picks a block is taken modulo how many there are.
#[derive(Clone, Debug)]
enum Step {
    Alloc {
        bytes: usize,
    },
    Free {
        pick: usize,
    },
    /// Work is queued that uses the block, at some address inside, and noted.
    Use {
        pick: usize,
        inside: usize,
        stream: usize,
    },
    /// The oldest operation of a stream completes.
    Complete {
        stream: usize,
    },
    CompleteAll,
    EmptyCache,
    ResetPeaks,
    ResetAccumulated,
    Configure {
        text: &'static str,
    },
}

const CONFIGURATIONS: &[&str] = &[
    "pinned_use_cuda_host_register:False",
    "pinned_use_cuda_host_register:True,pinned_num_register_threads:4",
    "pinned_max_cached_size_mb:2",
    "pinned_max_cached_size_mb:0",
    "pinned_reserve_segment_size_mb:4",
    "pinned_max_round_threshold_mb:1",
];

fn step() -> impl Strategy<Value = Step> {
    let few = vec![64, 4096, 65536, 512 << 10, MIB, MIB + 1, 2 * MIB, 3 * MIB];
    let bytes = prop_oneof![
        5 => 1..5000_usize,
        5 => prop::sample::select(few),
        3 => 5000..MIB,
        4 => MIB..9 * MIB,
        1 => Just(0),
    ];
    let (pick, stream) = (0..1000_usize, 0..STREAMS);
    prop_oneof![
        10 => bytes.prop_map(|bytes| Step::Alloc { bytes }),
        7 => pick.clone().prop_map(|pick| Step::Free { pick }),
        5 => (pick, 0..10 * MIB, stream.clone())
            .prop_map(|(pick, inside, stream)| Step::Use { pick, inside, stream }),
        6 => stream.prop_map(|stream| Step::Complete { stream }),
        1 => Just(Step::CompleteAll),
        1 => Just(Step::EmptyCache),
        1 => Just(Step::ResetPeaks),
        1 => Just(Step::ResetAccumulated),
        1 => prop::sample::select(CONFIGURATIONS).prop_map(|text| Step::Configure { text }),
    ]
}

struct Block {
    address: usize,
    requested: usize,
    rounded: usize,
    mark: u64,
    /// Streams that were noted.
    used: Vec<usize>,
    /// Once freed: how many operations of each stream must complete.
    awaits: [usize; STREAMS],
}

impl Block {
    fn is_done(&self) -> bool {
        self.awaits == [0; STREAMS]
    }

    /// The first and the last bytes say whose they are.
    fn places(&self) -> [usize; 2] {
        let last = if self.requested < 16 { 0 } else { self.requested - 8 };
        [self.address, self.address + last]
    }

    fn write(&self) {
        for place in self.places() {
            for at in 0..self.requested.min(8) {
                let byte = (place + at) as *mut u8;
                // SAFETY: inside a block that this test holds.
                unsafe { byte.write_volatile(self.mark.to_le_bytes()[at]) };
            }
        }
    }

    fn is_untouched(&self) -> bool {
        self.places().into_iter().all(|place| {
            (0..self.requested.min(8)).all(|at| {
                // SAFETY: inside a block that this test holds, or that waits.
                let byte = unsafe { ((place + at) as *const u8).read_volatile() };
                byte == self.mark.to_le_bytes()[at]
            })
        })
    }
}

struct Play {
    runtime: &'static Runtime,
    streams: [Stream; STREAMS],
    stepper: Stepper,
    live: Vec<Block>,
    waiting: Vec<Block>,
    most_cached: usize,
    /// Sums since the last reset of sums, and what was in use then.
    allocated: [i64; 3],
    at_reset: [i64; 3],
    peaks: [i64; 3],
    /// Driver calls before the last reset of sums.
    calls_before: [u64; 2],
    marks: u64,
}

fn calls() -> [u64; 2] {
    let count = |name| sim::call_count(name).unwrap();
    [count("host_alloc") + count("host_register"), count("host_free") + count("host_unregister")]
}

impl Play {
    fn new() -> Play {
        let runtime = runtime().unwrap();
        let streams = [0; STREAMS].map(|device| stream::from_pool(device, 0).unwrap());
        sleep_kernel::sleep(runtime, streams[0], 1).unwrap();
        sim::run_until_idle().unwrap();
        sim::set_manual(true).unwrap();
        sim::reset_call_counts().unwrap();
        Play {
            runtime,
            streams,
            stepper: Stepper::start(),
            live: Vec::new(),
            waiting: Vec::new(),
            most_cached: usize::MAX,
            allocated: [0; 3],
            at_reset: [0; 3],
            peaks: [0; 3],
            calls_before: [0; 2],
            marks: 0,
        }
    }

    fn pending(&self, stream: usize) -> usize {
        sim::pending(self.runtime, self.streams[stream]).unwrap()
    }

    /// A call that may wait for the devices; if it does, everything completes.
    fn call<T>(&mut self, call: impl FnOnce() -> T) -> T {
        let before: Vec<usize> = (0..STREAMS).map(|stream| self.pending(stream)).collect();
        let result = self.stepper.during(before.iter().any(|count| *count != 0), call);
        for (stream, before) in before.into_iter().enumerate() {
            if self.pending(stream) < before {
                self.completed(stream, before);
            }
        }
        result
    }

    fn completed(&mut self, stream: usize, count: usize) {
        for block in &mut self.waiting {
            block.awaits[stream] = block.awaits[stream].saturating_sub(count);
        }
    }

    fn alloc(&mut self, bytes: usize) {
        if bytes == 0 {
            assert_eq!(host_memory::alloc(bytes), Ok(0));
            return;
        }
        // Whoever asks for memory sees what has become free by then.
        self.waiting.retain(|block| !block.is_done());
        let address = self.call(|| host_memory::alloc(bytes)).unwrap();
        assert!(address != 0 && address.is_multiple_of(64), "{address:#x}");
        for other in self.live.iter().chain(&self.waiting) {
            let apart =
                address + bytes <= other.address || other.address + other.rounded <= address;
            assert!(apart, "{address:#x}+{bytes} overlaps {:#x}+{}", other.address, other.rounded);
        }
        for place in [address, address + bytes - 1] {
            assert!(host_memory::is_pinned(place).unwrap(), "{place:#x}");
        }
        let unit = if bytes <= MIB && bytes <= self.most_cached { 64 } else { 4096 };
        self.marks += 1;
        let block = Block {
            address,
            requested: bytes,
            rounded: bytes.next_multiple_of(unit),
            mark: self.marks.wrapping_mul(0x9E37_79B9_7F4A_7C15),
            used: Vec::new(),
            awaits: [0; STREAMS],
        };
        block.write();
        for (sum, by) in self.allocated.iter_mut().zip([1, block.rounded, block.requested]) {
            *sum += by as i64;
        }
        self.live.push(block);
        let now = sums(self.live.iter().chain(&self.waiting));
        for (peak, now) in self.peaks.iter_mut().zip(now) {
            *peak = (*peak).max(now);
        }
        assert_eq!(currents(&host_memory::stats().unwrap()), now);
    }

    fn free(&mut self, pick: usize) {
        let pick = pick % self.live.len();
        let mut block = self.live.swap_remove(pick);
        assert!(block.is_untouched());
        self.call(|| host_memory::free(block.address)).unwrap();
        let refusal = host_memory::free(block.address).unwrap_err();
        assert_eq!(refusal.status(), Status::InvalidArgument, "{refusal}");
        for stream in block.used.clone() {
            block.awaits[stream] = self.pending(stream);
        }
        if !block.used.is_empty() {
            self.waiting.push(block);
        }
    }

    fn play(&mut self, step: &Step) {
        match *step {
            Step::Alloc { bytes } => self.alloc(bytes),
            Step::Free { .. } | Step::Use { .. } if self.live.is_empty() => {}
            Step::Free { pick } => self.free(pick),
            Step::Use { pick, inside, stream } => {
                let pick = pick % self.live.len();
                let block = &mut self.live[pick];
                let address = block.address + inside % block.requested;
                sleep_kernel::sleep(self.runtime, self.streams[stream], 1).unwrap();
                host_memory::record_stream(address, self.streams[stream]).unwrap();
                if !block.used.contains(&stream) {
                    block.used.push(stream);
                }
            }
            Step::Complete { stream } => {
                if sim::step(self.runtime, self.streams[stream]).unwrap() {
                    self.completed(stream, 1);
                }
            }
            Step::CompleteAll => {
                sim::run_until_idle().unwrap();
                (0..STREAMS).for_each(|stream| self.completed(stream, usize::MAX));
            }
            Step::EmptyCache => {
                self.waiting.retain(|block| !block.is_done());
                self.call(host_memory::empty_cache).unwrap();
                assert_eq!(
                    currents(&host_memory::stats().unwrap()),
                    sums(self.live.iter().chain(&self.waiting))
                );
            }
            Step::ResetPeaks => {
                host_memory::reset_peak_stats().unwrap();
                self.peaks = currents(&host_memory::stats().unwrap());
            }
            Step::ResetAccumulated => {
                host_memory::reset_accumulated_stats().unwrap();
                self.allocated = [0; 3];
                self.at_reset = currents(&host_memory::stats().unwrap());
                self.calls_before = calls();
            }
            Step::Configure { text } => {
                memory::configure(text).unwrap();
                let most = text.strip_prefix("pinned_max_cached_size_mb:");
                self.most_cached = most.map_or(usize::MAX, |n| n.parse::<usize>().unwrap() * MIB);
            }
        }
        self.check();
    }

    fn check(&self) {
        check::walk().unwrap();
        assert!(self.live.iter().all(Block::is_untouched));
        assert!(self.waiting.iter().filter(|block| !block.is_done()).all(Block::is_untouched));
        let stats = host_memory::stats().unwrap();
        let still = self.waiting.iter().filter(|block| !block.is_done());
        let (now, certain) = (currents(&stats), sums(self.live.iter().chain(still)));
        assert!(now[0] >= certain[0] && now[0] <= (self.live.len() + self.waiting.len()) as i64);
        assert!(now[1] >= now[2] && now[1] >= certain[1] && now[2] >= certain[2]);
        let stats_in_use = [stats.active_requests, stats.active_bytes, stats.requested_bytes];
        assert_eq!(stats_in_use.map(|stat| stat.peak), self.peaks);
        assert_eq!(stats_in_use.map(|stat| stat.allocated), self.allocated);
        for (stat, at_reset) in stats_in_use.iter().zip(self.at_reset) {
            assert_eq!(stat.current - at_reset, stat.allocated - stat.freed);
        }
        assert!(stats.allocated_bytes.current >= now[1]);
        assert!(
            stats.allocated_bytes.peak >= stats.active_bytes.peak || stats.active_bytes.peak == 0
        );
        let (pinned, unpinned) = (calls()[0], calls()[1]);
        assert_eq!(stats.allocations.current, pinned as i64 - unpinned as i64);
        let since = [pinned - self.calls_before[0], unpinned - self.calls_before[1]];
        assert_eq!([stats.num_host_alloc, stats.num_host_free], since.map(|n| n as i64));
        assert_eq!([stats.allocations.allocated, stats.allocations.freed], since.map(|n| n as i64));
        let times = [stats.host_alloc_time, stats.host_free_time];
        assert_eq!(times.map(|time| time.count), since.map(|n| n as i64));
        assert!(times.iter().all(|time| (time.count == 0) == (time.total == 0)));
        assert!(times.iter().all(|time| time.min <= time.max && time.total >= time.count));
    }

    /// Everything comes back.
    fn finish(&mut self) {
        while !self.live.is_empty() {
            self.free(0);
            self.check();
        }
        self.play(&Step::CompleteAll);
        self.play(&Step::EmptyCache);
        assert_eq!(currents(&host_memory::stats().unwrap()), [0; 3]);
    }
}

/// How many blocks, their bytes, and what was asked for.
fn sums<'a>(blocks: impl Iterator<Item = &'a Block>) -> [i64; 3] {
    let mut sums = [0; 3];
    for block in blocks {
        for (sum, by) in sums.iter_mut().zip([1, block.rounded, block.requested]) {
            *sum += by as i64;
        }
    }
    sums
}

fn currents(stats: &HostMemoryStats) -> [i64; 3] {
    [stats.active_requests, stats.active_bytes, stats.requested_bytes].map(|stat| stat.current)
}

#[test]
fn whatever_a_program_does_what_must_hold_does() {
    testkit::in_child(
        "whatever_a_program_does_what_must_hold_does",
        &[("SCONCE_BACKEND", "sim"), ("SCONCE_LOG", "off"), ("RUST_BACKTRACE", "0")],
        || {
            let asked = std::env::var("SCONCE_TEST_SCRIPTS");
            let file =
                concat!(env!("CARGO_MANIFEST_DIR"), "/tests/host_memory/model_regressions.txt");
            let config = Config {
                cases: asked.map_or(150, |text| text.parse().unwrap()),
                max_shrink_time: 20_000,
                failure_persistence: Some(Box::new(FileFailurePersistence::Direct(file))),
                ..Config::default()
            };
            let scripts = prop::collection::vec(step(), 1..120);
            let result = TestRunner::new(config).run(&scripts, |steps| {
                let play = || {
                    let mut play = Play::new();
                    for step in &steps {
                        play.play(step);
                    }
                    play.finish();
                    Ok(())
                };
                forked_result(play).map_err(TestCaseError::fail)
            });
            if let Err(failure) = result {
                panic!("{failure}");
            }
        },
    );
}
