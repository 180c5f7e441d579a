//! Every driver call that the allocator makes, failed at every point of a script: the figures stay
//! those of the blocks that are there, later calls work, and in the end nothing is lost.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use sconce_base::error::{Error, Result, Status};
use sconce_compute::sleep_kernel;
use sconce_runtime::context::runtime;
use sconce_runtime::memory::{self, pool};
use sconce_runtime::stream::{self, Stream};
use testkit::fork::forked_result;
use testkit::memory::structure;

const MIB: usize = 1 << 20;

/// A failure of the driver that means no more than itself, and having no memory.
const CODES: [i32; 2] = [999, 2];

/// Driver calls that an allocator may make.
const CALLS: [&str; 14] = [
    "memory_alloc",
    "memory_free",
    "memory_info",
    "event_create",
    "event_record",
    "event_query",
    "event_synchronize",
    "event_destroy",
    "stream_is_capturing",
    "exchange_capture_mode",
    "stream_synchronize",
    "device_synchronize",
    "device_properties",
    "pointer_info",
];

/// What the script did so far.
struct Script {
    own: Stream,
    other: Stream,
    held: Vec<usize>,
    errors: Vec<Error>,
}

impl Script {
    fn note<T>(&mut self, result: Result<T>) -> Option<T> {
        result.map_err(|error| self.errors.push(error)).ok()
    }

    fn alloc(&mut self, bytes: usize, stream: Stream) {
        let block = self.note(memory::alloc_on(bytes, stream));
        self.held.extend(block);
    }

    /// A free that fails may have freed the block or not; asking again tells, and does no harm.
    fn free(&mut self, place: usize) {
        if place >= self.held.len() {
            return;
        }
        let block = self.held.swap_remove(place);
        if self.note(memory::free(block)).is_none()
            && let Err(again) = memory::free(block)
        {
            assert_eq!(again.status(), Status::InvalidArgument, "{again}");
            assert!(again.message().contains("freed already"), "{again}");
        }
    }

    fn record(&mut self, place: usize) {
        if let Some(&block) = self.held.get(place) {
            let result = memory::record_stream(block, self.other);
            self.note(result);
        }
    }

    /// The device has 64 MiB, so that the ladder is climbed to its end.
    fn run(&mut self) {
        let (own, other) = (self.own, self.other);
        self.alloc(1000, own);
        self.alloc(300 << 10, own);
        self.alloc(3 * MIB, own);
        self.alloc(5000, other);
        self.record(0);
        self.record(2);
        self.free(2);
        self.free(0);
        self.alloc(12 * MIB, own);
        let pool = self.note(pool::create());
        if let Some(pool) = pool {
            if self.note(pool::begin(pool, 0)).is_some() {
                self.alloc(2 * MIB, own);
                self.note(pool::end(pool, 0));
            }
            self.free(self.held.len().saturating_sub(1));
            self.note(pool::trim(pool));
            self.note(pool::destroy(pool));
        }
        self.record(1);
        self.free(1);
        // Does not fit before others are given back.
        self.alloc(30 * MIB, own);
        self.alloc(30 * MIB, own);
        self.free(0);
        self.note(memory::empty_cache());
        self.alloc(700, own);
        self.note(memory::snapshot());
        self.note(memory::stats(0));
    }

    /// Nothing fails any more: everything works, and all memory comes back.
    fn finish(mut self, free_at_start: usize) {
        self.errors.clear();
        self.alloc(4096, self.own);
        while !self.held.is_empty() {
            self.free(0);
        }
        self.alloc(2 * MIB, self.other);
        structure::assert_sound();
        while !self.held.is_empty() {
            self.free(0);
        }
        sconce_runtime::device::synchronize(0).unwrap();
        assert!(self.errors.is_empty(), "after the fault: {:?}", self.errors);
        structure::assert_all_given_back(&[free_at_start]);
    }
}

/// Runs the script in a process of its own with one fault; says what went wrong.
fn scenario(fault: Option<(&str, u64, i32)>) -> std::result::Result<(), String> {
    forked_result(|| {
        let free_at_start = sconce_runtime::device::memory_info(0).unwrap().free_bytes;
        let streams = [stream::from_pool(0, 0).unwrap(), stream::from_pool(0, 0).unwrap()];
        // Events are pending for a while, or nothing would ever be waited for.
        sleep_kernel::sleep(runtime().unwrap(), streams[1], 3_000_000).unwrap();
        let [own, other] = streams;
        let mut script = Script { own, other, held: Vec::new(), errors: Vec::new() };
        sconce::sim_controls::reset_call_counts().unwrap();
        if let Some((call, nth, code)) = fault {
            sconce::sim_controls::fail_call(call, nth, code).unwrap();
        }
        script.run();
        let struck = match fault {
            Some((call, nth, _)) => sconce::sim_controls::call_count(call).unwrap() >= nth,
            None => false,
        };
        sconce::sim_controls::clear_faults().unwrap();
        if fault.is_none() {
            assert!(script.errors.iter().all(|error| error.status() == Status::OutOfMemory));
            structure::assert_sound();
            script.finish(free_at_start);
            return Err(CALLS
                .iter()
                .map(|call| format!("{call} {}\n", sconce::sim_controls::call_count(call).unwrap()))
                .collect());
        }
        structure::assert_sound();
        for error in &script.errors {
            let expected = [Status::OutOfMemory, Status::Driver];
            assert!(expected.contains(&error.status()), "{error}");
        }
        script.finish(free_at_start);
        if struck { Ok(()) } else { Err("not struck".to_owned()) }
    })
}

#[test]
fn a_failure_of_the_driver_at_any_point_loses_nothing() {
    testkit::in_child(
        "a_failure_of_the_driver_at_any_point_loses_nothing",
        &[
            ("SCONCE_BACKEND", "sim"),
            ("SCONCE_LOG", "off"),
            ("SCONCE_SIM_MEMORY", "64M"),
            ("RUST_BACKTRACE", "0"),
        ],
        || {
            let counts = scenario(None).unwrap_err();
            let counts: Vec<(&str, u64)> = counts
                .lines()
                .map(|line| {
                    let (call, count) = line.split_once(' ').expect(line);
                    (call, count.parse().unwrap_or_else(|_| panic!("{counts}")))
                })
                .collect();
            let mut scenarios = 0;
            let mut wrong = Vec::new();
            for (call, count) in counts {
                println!("{call}: {count} calls");
                for (nth, code) in (1..=count).flat_map(|nth| CODES.map(|code| (nth, code))) {
                    match scenario(Some((call, nth, code))) {
                        Ok(()) => scenarios += 1,
                        // An earlier end, or a count that varies with time.
                        Err(text) if text == "not struck" => {}
                        Err(text) => wrong.push(format!("{call} {nth}, code {code}: {text}")),
                    }
                }
            }
            assert!(wrong.is_empty(), "{} of {scenarios}:\n{}", wrong.len(), wrong.join("\n"));
            assert!(scenarios > 40, "only {scenarios} faults struck");
        },
    );
}

/// Work that failed takes its device with it: calls fail until the device is mended, and nothing is
/// lost.
#[test]
fn a_failed_device_loses_no_memory() {
    testkit::in_child(
        "a_failed_device_loses_no_memory",
        &[("SCONCE_BACKEND", "sim"), ("SCONCE_LOG", "off")],
        || {
            let runtime = runtime().unwrap();
            let free_at_start = sconce_runtime::device::memory_info(0).unwrap().free_bytes;
            let own = stream::from_pool(0, 0).unwrap();
            let other = stream::from_pool(0, 0).unwrap();
            let blocks: Vec<usize> =
                (0..6).map(|n| memory::alloc_on(MIB << n, own).unwrap()).collect();
            sleep_kernel::sleep(runtime, other, 1).unwrap();
            for block in &blocks[..4] {
                memory::record_stream(*block, other).unwrap();
            }
            memory::free(blocks[0]).unwrap();
            sconce::sim_controls::fail_operation("kernel_launch", 1, 700).unwrap();
            sleep_kernel::sleep(runtime, other, 1).unwrap();
            assert!(stream::synchronize(runtime, other).is_err());
            // Whatever these say, they must not lose track.
            let freed: Vec<bool> =
                blocks[1..].iter().map(|block| memory::free(*block).is_ok()).collect();
            let _ = memory::empty_cache();
            assert!(memory::alloc_on(64 * MIB, own).is_err());
            structure::assert_sound();
            sconce::sim_controls::clear_device_error(0).unwrap();
            for (block, freed) in blocks[1..].iter().zip(freed) {
                if !freed && let Err(again) = memory::free(*block) {
                    assert!(again.message().contains("freed already"), "{again}");
                }
            }
            let block = memory::alloc_on(5 * MIB, own).unwrap();
            memory::free(block).unwrap();
            structure::assert_all_given_back(&[free_at_start]);
        },
    );
}
