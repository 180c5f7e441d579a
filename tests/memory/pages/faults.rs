//! Every driver call that pages take, failed at every point of a script: the live blocks keep their addresses and
//! figures, later calls work, and in the end nothing is lost.

use sconce::error::{Error, Result, Status};
use sconce::memory::{self, pool};
use sconce::stream::{self, Stream};
use testkit::fork::forked_result;
use testkit::memory::structure;

use super::{MIB, pool_stream, with_pages};

/// A failure of the driver that means no more than itself, and having no memory.
const CODES: [i32; 2] = [999, 2];

const CALLS: [&str; 18] = [
    "virtual_granularity",
    "virtual_reserve",
    "virtual_release",
    "physical_create",
    "physical_release",
    "virtual_map",
    "virtual_unmap",
    "virtual_set_access",
    "memory_alloc",
    "memory_free",
    "event_create",
    "event_record",
    "event_query",
    "event_synchronize",
    "stream_query",
    "stream_is_capturing",
    "exchange_capture_mode",
    "device_synchronize",
];

struct Script {
    first: Stream,
    second: Stream,
    held: Vec<usize>,
    errors: Vec<Error>,
}

impl Script {
    fn note<T>(&mut self, result: Result<T>) -> Option<T> {
        result.map_err(|error| self.errors.push(error)).ok()
    }

    fn alloc(&mut self, mib: usize, on: Stream) {
        let block = self.note(memory::alloc_on(mib * MIB - 1000, on));
        self.held.extend(block);
    }

    fn free(&mut self, place: usize) {
        if place < self.held.len() {
            let block = self.held.swap_remove(place);
            if self.note(memory::free(block)).is_none() {
                let _ = memory::free(block);
            }
        }
    }

    /// The device has 64 MiB. Pages are put together, move between streams, are evicted and given back.
    fn run(&mut self) {
        let (first, second) = (self.first, self.second);
        for _ in 0..6 {
            self.alloc(4, first);
        }
        for place in [0, 2, 3] {
            self.free(place);
        }
        self.alloc(12, first);
        self.alloc(1, first);
        let last = self.held.len().saturating_sub(2);
        self.free(last);
        let _ = stream::synchronize(sconce::context::runtime().unwrap(), first);
        self.alloc(10, second);
        self.alloc(3, second);
        self.free(0);
        self.alloc(7, first);
        self.note(memory::empty_cache());
        if let Some(pool) = self.note(pool::create()) {
            if self.note(pool::begin(pool, 0)).is_some() {
                self.alloc(5, first);
                self.note(pool::end(pool, 0));
            }
            self.free(self.held.len().saturating_sub(1));
            self.note(pool::trim(pool));
            self.note(pool::destroy(pool));
        }
        // Does not fit before others are given back; then not at all.
        self.free(1);
        self.alloc(30, second);
        self.alloc(50, first);
        for _ in 0..12 {
            self.free(0);
            self.alloc(6, first);
            self.alloc(9, first);
            self.free(0);
        }
        self.note(memory::empty_cache());
        self.note(memory::snapshot());
    }

    /// Nothing fails any more: everything works, and all memory comes back.
    fn finish(mut self, free_at_start: usize) {
        self.errors.clear();
        self.alloc(1, self.first);
        while !self.held.is_empty() {
            self.free(0);
        }
        self.alloc(40, self.second);
        self.free(0);
        structure::assert_sound();
        sconce::device::synchronize(0).unwrap();
        assert!(self.errors.is_empty(), "after the fault: {:?}", self.errors);
        structure::assert_all_given_back(&[free_at_start]);
        let pages = memory::page_figures(0).unwrap();
        assert_eq!((pages.pages, pages.mappings), (0, 0), "{pages:?}");
    }
}

fn scenario(fault: Option<(&str, u64, i32)>) -> std::result::Result<(), String> {
    forked_result(|| {
        let free_at_start = sconce::device::memory_info(0).unwrap().free_bytes;
        let (first, second) = (pool_stream(), pool_stream());
        let mut script = Script { first, second, held: Vec::new(), errors: Vec::new() };
        sconce::sim::reset_call_counts().unwrap();
        if let Some((call, nth, code)) = fault {
            sconce::sim::fail_call(call, nth, code).unwrap();
        }
        script.run();
        let struck = match fault {
            Some((call, nth, _)) => sconce::sim::call_count(call).unwrap() >= nth,
            None => false,
        };
        sconce::sim::clear_faults().unwrap();
        structure::assert_sound();
        for error in &script.errors {
            let expected = [Status::OutOfMemory, Status::Driver];
            assert!(expected.contains(&error.status()), "{error}");
        }
        if fault.is_none() {
            assert!(script.errors.iter().all(|error| error.status() == Status::OutOfMemory));
            let counts = CALLS
                .iter()
                .map(|call| format!("{call} {}\n", sconce::sim::call_count(call).unwrap()));
            let counts: String = counts.collect();
            script.finish(free_at_start);
            return Err(counts);
        }
        script.finish(free_at_start);
        if struck { Ok(()) } else { Err("not struck".to_owned()) }
    })
}

#[test]
fn a_failure_of_the_driver_at_any_point_undoes_everything() {
    with_pages("a_failure_of_the_driver_at_any_point_undoes_everything", "64M", || {
        let counts = scenario(None).unwrap_err();
        let mut scenarios = 0;
        let mut wrong = Vec::new();
        for line in counts.lines() {
            let (call, count) = line.split_once(' ').unwrap_or_else(|| panic!("{counts}"));
            let count: u64 = count.parse().unwrap_or_else(|_| panic!("{counts}"));
            println!("{call}: {count} calls");
            for (nth, code) in (1..=count.min(120)).flat_map(|nth| CODES.map(|code| (nth, code))) {
                match scenario(Some((call, nth, code))) {
                    Ok(()) => scenarios += 1,
                    // An earlier end.
                    Err(text) if text == "not struck" => {}
                    Err(text) => wrong.push(format!("{call} {nth}, code {code}: {text}")),
                }
            }
        }
        assert!(wrong.is_empty(), "{} of {scenarios}:\n{}", wrong.len(), wrong.join("\n"));
        assert!(scenarios > 200, "only {scenarios} faults struck");
    });
}
