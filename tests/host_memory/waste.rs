//! How much is pinned for what programs use, and how often the driver is asked: the promise of
//! `docs/design/host_memory.md`, whose table these programs fill. Beside it a model of torch's cache,
//! which rounds to powers of two and cuts nothing.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;

use sconce_runtime::context::runtime;
use sconce_runtime::host_memory::{self, check};

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;

trait Allocator {
    fn alloc(&mut self, bytes: usize) -> usize;
    fn free(&mut self, block: usize);
    fn pinned(&self) -> usize;
    fn times_pinned(&self) -> usize;
}

struct Sconce;

impl Allocator for Sconce {
    fn alloc(&mut self, bytes: usize) -> usize {
        host_memory::alloc(bytes).unwrap()
    }

    fn free(&mut self, block: usize) {
        host_memory::free(block).unwrap();
    }

    fn pinned(&self) -> usize {
        host_memory::stats().unwrap().allocated_bytes.current as usize
    }

    fn times_pinned(&self) -> usize {
        host_memory::stats().unwrap().num_host_alloc as usize
    }
}

#[derive(Default)]
struct Torch {
    free: BTreeMap<usize, Vec<usize>>,
    sizes: Vec<usize>,
}

impl Allocator for Torch {
    fn alloc(&mut self, bytes: usize) -> usize {
        let rounded = bytes.next_power_of_two();
        self.free.entry(rounded).or_default().pop().unwrap_or_else(|| {
            self.sizes.push(rounded);
            self.sizes.len() - 1
        })
    }

    fn free(&mut self, block: usize) {
        self.free.entry(self.sizes[block]).or_default().push(block);
    }

    fn pinned(&self) -> usize {
        self.sizes.iter().sum()
    }

    fn times_pinned(&self) -> usize {
        self.sizes.len()
    }
}

/// A program at work on an allocator.
struct Run<'a> {
    allocator: &'a mut dyn Allocator,
    random: u64,
    /// Block and size, oldest first.
    live: Vec<(usize, usize)>,
    in_use: usize,
    most_used: usize,
    most_pinned: usize,
    /// The most that was pinned as a multiple of the most that had been used by then, above 64 MiB.
    worst: f64,
    requests: usize,
}

impl Run<'_> {
    /// Evenly between 0 and 1.
    fn even(&mut self) -> f64 {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.random >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn between(&mut self, low: usize, high: usize) -> usize {
        low + (self.even() * (high - low) as f64) as usize
    }

    /// Each doubling as likely as the next.
    fn spread(&mut self, low: usize, high: usize) -> usize {
        (low as f64 * (high as f64 / low as f64).powf(self.even())) as usize
    }

    fn alloc(&mut self, bytes: usize) {
        let block = self.allocator.alloc(bytes);
        self.live.push((block, bytes));
        self.requests += 1;
        self.in_use += bytes;
        self.most_used = self.most_used.max(self.in_use);
        let pinned = self.allocator.pinned();
        self.most_pinned = self.most_pinned.max(pinned);
        if self.most_used > 64 * MIB {
            self.worst = self.worst.max(pinned as f64 / self.most_used as f64);
        }
    }

    fn free(&mut self, place: usize) {
        let (block, bytes) = self.live.remove(place);
        self.allocator.free(block);
        self.in_use -= bytes;
    }
}

#[derive(Debug)]
struct Outcome {
    /// The most that was pinned as a multiple of the most that was used.
    waste: f64,
    worst: f64,
    times_pinned: usize,
    requests: usize,
}

fn run(allocator: &mut dyn Allocator, program: fn(&mut Run), seed: u64) -> Outcome {
    let mut run = Run {
        allocator,
        random: seed,
        live: Vec::new(),
        in_use: 0,
        most_used: 0,
        most_pinned: 0,
        worst: 0.0,
        requests: 0,
    };
    for _ in 0..10 {
        run.even();
    }
    program(&mut run);
    Outcome {
        waste: run.most_pinned as f64 / run.most_used as f64,
        worst: run.worst,
        times_pinned: run.allocator.times_pinned(),
        requests: run.requests,
    }
}

/// What was promised of a program.
struct Promise {
    waste: f64,
    worst: f64,
    /// Of the requests, how many may go to the driver.
    misses: f64,
    /// How often the driver may be asked, as a multiple of torch's.
    of_torch: f64,
}

fn hold(test: &str, program: fn(&mut Run), promise: &Promise) {
    testkit::in_child(test, &[("SCONCE_BACKEND", "sim"), ("SCONCE_LOG", "off")], || {
        runtime().unwrap();
        for seed in 1..=5 {
            let ours = run(&mut Sconce, program, seed);
            let torch = run(&mut Torch::default(), program, seed);
            eprintln!("{test} {seed}: {ours:.2?}\n    torch {torch:.2?}");
            check::walk().unwrap();
            assert!(ours.waste <= promise.waste, "{ours:?}");
            assert!(ours.worst <= promise.worst, "{ours:?}");
            let misses = ours.times_pinned as f64;
            assert!(misses <= promise.misses * ours.requests as f64, "{ours:?}");
            assert!(misses <= promise.of_torch * torch.times_pinned as f64, "{ours:?}, {torch:?}");
            let snapshot = host_memory::stats().unwrap();
            assert_eq!(snapshot.num_host_alloc as usize, ours.times_pinned);
            // The next seed begins with nothing.
            host_memory::empty_cache().unwrap();
            host_memory::reset_accumulated_stats().unwrap();
            assert_eq!(host_memory::stats().unwrap().allocated_bytes.current, 0);
        }
    });
}

fn free_all(run: &mut Run) {
    while !run.live.is_empty() {
        run.free(0);
    }
}

#[test]
fn three_hundred_sizes_all_live() {
    let program = |run: &mut Run| {
        for _ in 0..300 {
            let bytes = run.spread(4 * KIB, 64 * MIB);
            run.alloc(bytes);
        }
        free_all(run);
    };
    let promise = Promise { waste: 1.125, worst: 1.125, misses: 0.3, of_torch: 0.3 };
    hold("three_hundred_sizes_all_live", program, &promise);
}

/// What users complained of: a little more than a power of two takes twice as much.
#[test]
fn sizes_just_above_powers_of_two() {
    let program = |run: &mut Run| {
        for _ in 0..300 {
            let power = run.between(12, 26);
            let more = run.between(1, (1 << power) / 32);
            run.alloc((1 << power) + more);
        }
        free_all(run);
    };
    let promise = Promise { waste: 1.125, worst: 1.125, misses: 0.3, of_torch: 0.3 };
    hold("sizes_just_above_powers_of_two", program, &promise);
}

#[test]
fn a_cache_of_keys_and_values() {
    let program = |run: &mut Run| {
        for _ in 0..60 {
            run.alloc(72 * MIB);
        }
        // Blocks come and go.
        for _ in 0..1000 {
            let place = run.between(0, run.live.len());
            run.free(place);
            run.alloc(72 * MIB);
        }
        free_all(run);
    };
    let promise = Promise { waste: 1.0, worst: 1.0, misses: 0.06, of_torch: 1.0 };
    hold("a_cache_of_keys_and_values", program, &promise);
}

/// The oldest of eight batches goes when the next comes.
fn loader(run: &mut Run, mut size: impl FnMut(&mut Run) -> usize) {
    for _ in 0..4000 {
        if run.live.len() == 8 {
            run.free(0);
        }
        let bytes = size(run);
        run.alloc(bytes);
    }
    free_all(run);
}

#[test]
fn a_loader_whose_sizes_come_again() {
    let program = |run: &mut Run| {
        let sizes: Vec<usize> = (0..12).map(|_| run.between(MIB, 48 * MIB)).collect();
        loader(run, |run| sizes[run.between(0, 12)]);
    };
    let promise = Promise { waste: 1.4, worst: 1.7, misses: 0.012, of_torch: 1.5 };
    hold("a_loader_whose_sizes_come_again", program, &promise);
}

#[test]
fn a_loader_whose_sizes_never_come_again() {
    let program = |run: &mut Run| loader(run, |run| run.between(MIB, 48 * MIB));
    let promise = Promise { waste: 1.35, worst: 1.6, misses: 0.02, of_torch: 2.6 };
    hold("a_loader_whose_sizes_never_come_again", program, &promise);
}

#[test]
fn frees_at_random() {
    let program = |run: &mut Run| {
        for _ in 0..20_000 {
            if run.live.len() == 200 {
                let place = run.between(0, 200);
                run.free(place);
            }
            let bytes = run.spread(4 * KIB, 32 * MIB);
            run.alloc(bytes);
        }
        free_all(run);
    };
    let promise = Promise { waste: 1.35, worst: 1.45, misses: 0.012, of_torch: 0.5 };
    hold("frees_at_random", program, &promise);
}
