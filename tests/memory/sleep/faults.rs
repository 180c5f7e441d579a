//! Every driver call of sleeping and waking, failed at every point of a script, for each place of the bytes: the pool is
//! awake or asleep and says which, no byte is lost, later calls work, and in the end nothing is left.

use sconce_base::error::{Error, Status};
use sconce_runtime::memory::pool::{self, Key};
use sconce_runtime::memory::{self, MemoryStats};
use sconce_runtime::sleep::{self, SleepPlace, WakeMode};
use sconce_runtime::stream::Stream;
use testkit::fork::forked_result;
use testkit::memory::structure;

use super::{MIB, alloc, folder, free_bytes, holds, inside, pool_stream, state, with_pages};
use crate::paged::with_pages_on;
use crate::queued::{fill, read};

/// A failure of the driver that means no more than itself, and having no memory.
const CODES: [i32; 2] = [999, 2];

/// Calls that ask again and again whether work is done: how often depends on the machine. Of these the first
/// [`MOST_POLLS`] are failed, and as many in between up to the last; of all others every one.
const POLLS: [&str; 1] = ["event_query"];
const MOST_POLLS: u64 = 12;

/// Calls that may find no memory.
const OF_MEMORY: [&str; 4] = ["physical_create", "virtual_map", "virtual_set_access", "host_alloc"];

/// Calls that are made wherever the bytes go.
const CALLS: &[&str] = &[
    "physical_create",
    "physical_release",
    "virtual_map",
    "virtual_unmap",
    "virtual_set_access",
    "stream_query",
    "stream_is_capturing",
    "exchange_capture_mode",
    "device_synchronize",
];

/// Calls that keep bytes in pinned memory, or bring them through it.
const CALLS_OF_COPIES: &[&str] = &[
    "host_alloc",
    "stream_create",
    "copy_async",
    "event_create",
    "event_record",
    "event_synchronize",
];

/// Blocks of a pool, each with a value.
struct Script {
    own: Stream,
    pool: Key,
    blocks: Vec<(usize, usize, u8)>,
    place: SleepPlace,
    errors: Vec<Error>,
    /// A page was unmapped without its bytes being kept, or mapped without them.
    is_lost: bool,
}

impl Script {
    fn new(place: SleepPlace) -> Script {
        let (own, other) = (pool_stream(), pool_stream());
        if sconce_runtime::device::count() > 1 {
            sconce_runtime::device::enable_peer_access(1, 0).unwrap();
        }
        let pool = pool::create().unwrap();
        // Each page is written, kept and read in a process of its own for each fault: no more of them than places
        // in a block need, its first, a middle one and its last.
        let sizes =
            [(4 * MIB, own), (512, own), (3 * MIB, other), (5 * MIB, own), (3 * MIB, other)];
        let mut blocks: Vec<(usize, usize, u8)> = inside(pool, || {
            let each = sizes.iter().zip(1..);
            each.map(|((bytes, on), value)| (alloc(*bytes, *on), *bytes, value)).collect()
        });
        // One mapping more for some pages.
        let (first, ..) = blocks.remove(0);
        memory::free(first).unwrap();
        let outside = alloc(2 * MIB, own);
        memory::free(outside).unwrap();
        let is_lost = place == SleepPlace::Discard;
        let script = Script { own, pool, blocks, place, errors: Vec::new(), is_lost };
        script.write();
        script
    }

    fn write(&self) {
        for (address, bytes, value) in &self.blocks {
            fill(*address, *value, *bytes, self.own);
        }
        sconce_runtime::stream::synchronize(sconce_runtime::context::runtime().unwrap(), self.own)
            .unwrap();
    }

    /// Sleeps, frees a block, and wakes. A call that fails is made once more.
    fn run(&mut self) {
        for _ in 0..2 {
            match sleep::sleep(Some(self.pool), 0, &self.place) {
                Ok(()) => break,
                Err(error) => self.errors.push(error),
            }
        }
        if state(Some(self.pool)).is_none() {
            return;
        }
        let (freed, ..) = self.blocks.remove(0);
        memory::free(freed).unwrap();
        for _ in 0..2 {
            match sleep::wake(Some(self.pool), 0, WakeMode::Restore) {
                Ok(()) => break,
                Err(error) => self.errors.push(error),
            }
        }
    }

    /// Nothing fails any more.
    fn finish(self, free_at_start: usize) -> Result<(), String> {
        structure::assert_sound();
        if state(Some(self.pool)).is_some() {
            sleep::wake(Some(self.pool), 0, WakeMode::Restore)
                .map_err(|error| error.to_string())?;
        }
        structure::assert_sound();
        for (address, bytes, value) in &self.blocks {
            let data = read(*address, *bytes, self.own);
            if !self.is_lost && !holds(&data, *value) {
                return Err(format!("the block of {bytes} bytes has lost its bytes"));
            }
        }
        sleep::sleep(Some(self.pool), 0, &SleepPlace::Discard).map_err(|it| it.to_string())?;
        sleep::wake(Some(self.pool), 0, WakeMode::Restore).map_err(|it| it.to_string())?;
        for (address, bytes, value) in &self.blocks {
            fill(*address, *value, 512, self.own);
            assert!(holds(&read(*address, 512, self.own), *value) && *bytes >= 512);
            memory::free(*address).unwrap();
        }
        pool::destroy(self.pool).unwrap();
        structure::assert_all_given_back(&[free_at_start]);
        let pages = memory::page_figures(0).unwrap();
        assert_eq!((pages.pages, pages.mappings, pages.sleeping_bytes), (0, 0, 0), "{pages:?}");
        let pinned = sconce_runtime::host_memory::stats().unwrap();
        assert_eq!(pinned.active_bytes.current, 0, "pinned memory is left");
        Ok(())
    }
}

/// The figures that a failed call must not change.
fn held(stats: &MemoryStats) -> (i64, i64) {
    (stats.allocated_bytes.all.current, stats.active_bytes.all.current)
}

fn scenario(
    place: &SleepPlace,
    fault: Option<(&str, u64, i32)>,
) -> std::result::Result<(), String> {
    forked_result(|| {
        let free_at_start = free_bytes();
        let mut script = Script::new(place.clone());
        let before = held(&memory::stats(0).unwrap());
        sconce::sim_controls::reset_call_counts().unwrap();
        if let Some((call, nth, code)) = fault {
            sconce::sim_controls::fail_call(call, nth, code).unwrap();
        }
        let all = script.blocks.clone();
        script.run();
        let struck = match fault {
            Some((call, nth, _)) => sconce::sim_controls::call_count(call).unwrap() >= nth,
            None => true,
        };
        let counted: String = [CALLS, CALLS_OF_COPIES, &POLLS]
            .iter()
            .flat_map(|calls| calls.iter())
            .map(|call| format!("{call} {}\n", sconce::sim_controls::call_count(call).unwrap()))
            .collect();
        sconce::sim_controls::clear_faults().unwrap();
        let freed: usize = all
            .iter()
            .map(|(_, bytes, _)| bytes.next_multiple_of(512))
            .sum::<usize>()
            - script.blocks.iter().map(|(_, bytes, _)| bytes.next_multiple_of(512)).sum::<usize>();
        let after = held(&memory::stats(0).unwrap());
        assert_eq!(after.0, before.0 - freed as i64);
        for error in &script.errors {
            let expected = [Status::OutOfMemory, Status::Driver, Status::InvalidState];
            assert!(expected.contains(&error.status()), "{error}");
        }
        assert!(fault.is_some() || script.errors.is_empty(), "{:?}", script.errors);
        script.finish(free_at_start)?;
        match (fault, struck) {
            (None, _) => Err(counted),
            (_, true) => Ok(()),
            (_, false) => Err("not struck".to_owned()),
        }
    })
}

/// The calls to fail of those that were made so often.
fn points(call: &str, count: u64) -> Vec<u64> {
    let step = if POLLS.contains(&call) { (count / MOST_POLLS).max(1) } else { 1 };
    let mut points: Vec<u64> = (1..=count)
        .filter(|nth| *nth <= MOST_POLLS || *nth == count || nth.is_multiple_of(step))
        .collect();
    points.dedup();
    points
}

/// Fails each call of the kinds that the script makes, with each code. Each kind must be struck.
fn all_faults(place: &SleepPlace, calls: &[&str]) {
    let counts = scenario(place, None).unwrap_err();
    let mut scenarios = 0;
    let mut wrong = Vec::new();
    for &call in calls {
        let count = counts.lines().find_map(|line| line.strip_prefix(call)?.strip_prefix(' '));
        let count: u64 = count.and_then(|it| it.parse().ok()).unwrap_or_else(|| panic!("{counts}"));
        println!("{call}: {count} calls");
        let codes = if OF_MEMORY.contains(&call) { &CODES[..] } else { &CODES[..1] };
        let before = scenarios;
        let points = points(call, count).into_iter();
        for (nth, code) in points.flat_map(|nth| codes.iter().map(move |code| (nth, *code))) {
            match scenario(place, Some((call, nth, code))) {
                Ok(()) => scenarios += 1,
                // An earlier end.
                Err(text) if text == "not struck" => {}
                Err(text) => wrong.push(format!("{call} {nth}, code {code}: {text}")),
            }
        }
        if scenarios == before {
            wrong.push(format!("{call} was never struck"));
        }
    }
    assert!(wrong.is_empty(), "{} of {scenarios}:\n{}", wrong.len(), wrong.join("\n"));
}

#[track_caller]
fn check(test: &str, devices: &str, place: &SleepPlace, calls: &[&str]) {
    with_pages_on(devices, test, "24M", || all_faults(place, calls));
}

#[test]
fn no_failure_loses_bytes_in_pinned_memory() {
    check("no_failure_loses_bytes_in_pinned_memory", "1", &SleepPlace::HostPinned, CALLS);
}

#[test]
fn no_failure_of_copies_loses_bytes_in_pinned_memory() {
    check(
        "no_failure_of_copies_loses_bytes_in_pinned_memory",
        "1",
        &SleepPlace::HostPinned,
        CALLS_OF_COPIES,
    );
}

#[test]
fn no_failure_loses_bytes_behind_staging() {
    check("no_failure_loses_bytes_behind_staging", "1", &SleepPlace::HostPageable, CALLS);
}

#[test]
fn no_failure_of_copies_loses_bytes_behind_staging() {
    check(
        "no_failure_of_copies_loses_bytes_behind_staging",
        "1",
        &SleepPlace::HostPageable,
        CALLS_OF_COPIES,
    );
}

#[test]
fn no_failure_of_polls_loses_bytes_behind_staging() {
    check("no_failure_of_polls_loses_bytes_behind_staging", "1", &SleepPlace::HostPageable, &POLLS);
}

#[test]
fn no_failure_loses_bytes_in_a_file() {
    check("no_failure_loses_bytes_in_a_file", "1", &SleepPlace::File(folder()), CALLS);
}

#[test]
fn no_failure_of_copies_loses_bytes_in_a_file() {
    check(
        "no_failure_of_copies_loses_bytes_in_a_file",
        "1",
        &SleepPlace::File(folder()),
        CALLS_OF_COPIES,
    );
}

#[test]
fn no_failure_of_polls_loses_bytes_in_a_file() {
    check("no_failure_of_polls_loses_bytes_in_a_file", "1", &SleepPlace::File(folder()), &POLLS);
}

#[test]
fn no_failure_leaves_anything_of_discarded_memory() {
    check("no_failure_leaves_anything_of_discarded_memory", "1", &SleepPlace::Discard, CALLS);
}

/// A page that wakes is opened to its own device and to a peer.
#[test]
fn no_failure_loses_bytes_that_a_peer_may_use() {
    let calls = ["virtual_map", "virtual_set_access"];
    check("no_failure_loses_bytes_that_a_peer_may_use", "2", &SleepPlace::HostPinned, &calls);
}

#[test]
fn if_the_way_back_fails_too_the_pool_sleeps_with_all_its_bytes() {
    let test = "if_the_way_back_fails_too_the_pool_sleeps_with_all_its_bytes";
    with_pages(test, "64M", || {
        for place in [SleepPlace::HostPinned, SleepPlace::HostPageable, SleepPlace::File(folder())]
        {
            forked_result(|| {
                let free_at_start = free_bytes();
                let script = Script::new(place.clone());
                // Some pages are gone when one is not unmapped, and nothing comes back.
                sconce::sim_controls::reset_call_counts().unwrap();
                sconce::sim_controls::fail_call("virtual_unmap", 5, 999).unwrap();
                sconce::sim_controls::fail_call("physical_create", 1, 999).unwrap();
                let error = sleep::sleep(Some(script.pool), 0, &place).unwrap_err();
                assert!(error.message().contains("virtual_unmap failed"), "{error}");
                assert!(error.message().contains("is asleep all the same"), "{error}");
                let asleep = state(Some(script.pool)).unwrap();
                let pages = memory::page_figures(0).unwrap();
                assert!(asleep.sleeping_bytes > 0 && pages.pages > 0, "{asleep:?} {pages:?}");
                structure::assert_sound();
                script.finish(free_at_start)
            })
            .unwrap();
        }
    });
}

#[test]
fn a_page_that_keeps_its_memory_after_a_failed_wake_is_open_after_the_next() {
    let test = "a_page_that_keeps_its_memory_after_a_failed_wake_is_open_after_the_next";
    with_pages(test, "64M", || {
        // The page is mapped and not opened yet when the wake fails, and stays mapped.
        for (call, nth) in [("virtual_set_access", 1), ("virtual_map", 2)] {
            for mode in [WakeMode::Restore, WakeMode::Empty] {
                forked_result(|| {
                    let free_at_start = free_bytes();
                    let mut script = Script::new(SleepPlace::HostPinned);
                    sleep::sleep(Some(script.pool), 0, &script.place).unwrap();
                    sconce::sim_controls::reset_call_counts().unwrap();
                    sconce::sim_controls::fail_call(call, nth, 999).unwrap();
                    sconce::sim_controls::fail_call("virtual_unmap", 1, 999).unwrap();
                    sleep::wake(Some(script.pool), 0, WakeMode::Restore).unwrap_err();
                    assert!(sconce::sim_controls::call_count("virtual_unmap").unwrap() > 0);
                    sconce::sim_controls::clear_faults().unwrap();
                    sleep::wake(Some(script.pool), 0, mode).map_err(|it| it.to_string())?;
                    script.is_lost = mode == WakeMode::Empty;
                    script.finish(free_at_start)
                })
                .unwrap();
            }
        }
    });
}
