//! Every driver call that pages take, failed at every point of a script, with and without peers: the live blocks keep
//! their addresses and figures, later calls work, and in the end nothing is lost.

use sconce_base::error::{Error, Result, Status};
use sconce_compute::sleep_kernel;
use sconce_runtime::memory::{self, pool};
use sconce_runtime::stream::{self, Stream};
use testkit::fork::forked_result;
use testkit::memory::structure;
use testkit::stepper::Stepper;

use super::fault_cases::Case;
use super::{MIB, Random, figures, pool_stream};
use crate::paged::with_pages_on;
use crate::queued::{fill, foreign_stream};

/// A failure of the driver that means no more than itself, and having no memory.
const CODES: [i32; 2] = [999, 2];

impl Case {
    /// What is there before the first call that may fail.
    fn prepare(self, script: &mut Script) {
        match self {
            Case::Moving => {}
            Case::Working => {
                sconce::sim_controls::set_manual(true).unwrap();
                script.stepper = Some(Stepper::start());
            }
            Case::Peers => {
                sconce_runtime::device::enable_peer_access(PEERS[0], 0).unwrap();
                script.users.push(PEERS[0]);
            }
            Case::Evicting => {
                let mut random = Random(7);
                while script.held.is_empty() || figures().mappings <= 3 * figures().pages {
                    script.churn(&mut random);
                }
                assert!(script.errors.is_empty(), "{:?}", script.errors);
            }
        }
    }

    fn run(self, script: &mut Script) {
        match self {
            Case::Moving | Case::Peers => script.move_pages(self == Case::Peers),
            Case::Working => script.work(),
            Case::Evicting => script.evict(),
        }
    }
}

/// Devices that may use the memory of device 0: one from the start, and one that gets access when pages have moved.
const PEERS: [i32; 2] = [1, 2];

struct Script {
    first: Stream,
    second: Stream,
    /// One of the program.
    foreign: Stream,
    held: Vec<usize>,
    errors: Vec<Error>,
    /// Devices that have got access to the memory of device 0.
    users: Vec<i32>,
    /// In manual mode, lets calls go on that wait.
    stepper: Option<Stepper>,
}

impl Script {
    fn note<T>(&mut self, result: Result<T>) -> Option<T> {
        result.map_err(|error| self.errors.push(error)).ok()
    }

    /// Makes a call that may wait for work.
    fn call<T>(&mut self, call: impl FnOnce() -> Result<T>) -> Option<T> {
        let result = match &self.stepper {
            Some(stepper) => stepper.during(true, call),
            None => call(),
        };
        self.note(result)
    }

    fn alloc(&mut self, mib: usize, on: Stream) {
        let block = self.call(|| memory::alloc_on(mib * MIB - 1000, on));
        self.held.extend(block);
    }

    fn free(&mut self, place: usize) {
        if place < self.held.len() {
            let block = self.held.swap_remove(place);
            if self.call(|| memory::free(block)).is_none() {
                let _ = memory::free(block);
            }
        }
    }

    fn move_pages(&mut self, has_peers: bool) {
        let (first, second) = (self.first, self.second);
        for _ in 0..6 {
            self.alloc(4, first);
        }
        for place in [0, 2, 3] {
            self.free(place);
        }
        self.alloc(12, first);
        if has_peers {
            let enabled = self.note(sconce_runtime::device::enable_peer_access(PEERS[1], 0));
            self.users.extend(enabled.map(|()| PEERS[1]));
        }
        self.alloc(1, first);
        let last = self.held.len().saturating_sub(2);
        self.free(last);
        let _ = stream::synchronize(sconce_runtime::context::runtime().unwrap(), first);
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
        self.check_users();
        // The last pages go, and their addresses with them.
        while !self.held.is_empty() {
            self.free(0);
        }
        self.note(memory::empty_cache());
        self.alloc(5, first);
        self.alloc(8, second);
    }

    /// Queues work, which is done when a call waits for it.
    fn queue(&mut self, on: Stream) {
        let slept = sleep_kernel::sleep(sconce_runtime::context::runtime().unwrap(), on, 1000);
        self.note(slept);
    }

    fn work(&mut self) {
        let (first, second) = (self.first, self.second);
        for on in [first, second] {
            self.alloc(6, on);
            self.alloc(4, on);
        }
        // A block of one stream that another uses waits for an event, and is found again when that is complete.
        let shared = self.held.pop();
        if let Some(block) = shared {
            self.note(memory::record_stream(block, first));
            self.queue(first);
            self.held.push(block);
            self.free(self.held.len() - 1);
        }
        self.alloc(3, second);
        sconce::sim_controls::run_until_idle().unwrap();
        self.alloc(4, second);
        // Both streams have work when their pages go back.
        self.free(0);
        self.free(0);
        self.queue(first);
        self.queue(second);
        self.alloc(12, second);
        self.call(memory::empty_cache);
        // Pages that a stream of the program used.
        self.alloc(6, self.foreign);
        self.free(self.held.len().saturating_sub(1));
        self.call(memory::empty_cache);
        // Segments, until memory runs out.
        self.note(memory::configure("policy:segments"));
        self.alloc(14, first);
        self.alloc(12, second);
        self.free(self.held.len().saturating_sub(1));
        self.note(memory::configure("policy:pages"));
        self.queue(first);
        self.alloc(40, second);
        while !self.held.is_empty() {
            self.free(0);
        }
        self.call(memory::empty_cache);
        self.alloc(5, first);
    }

    /// Gets a block or frees one.
    fn churn(&mut self, random: &mut Random) {
        if self.held.len() < 12 && random.place(2) == 0 || self.held.is_empty() {
            self.alloc(1 + random.place(24), self.first);
        } else {
            self.free(random.place(self.held.len()));
        }
    }

    fn evict(&mut self) {
        let (runtime, mut random) = (sconce_runtime::context::runtime().unwrap(), Random(11));
        for _ in 0..20 {
            self.churn(&mut random);
            let _ = stream::synchronize(runtime, self.first);
        }
    }

    /// Every device that has got access may use every block that is held.
    fn check_users(&self) {
        let runtime = sconce_runtime::context::runtime().unwrap();
        for user in &self.users {
            let theirs = stream::from_pool(*user, 0).unwrap();
            for block in &self.held {
                // What may be used is decided page by page, so a part of each is enough.
                let bytes = memory::usable_bytes(*block).unwrap();
                for page in (0..bytes).step_by(2 * MIB) {
                    fill(*block + page, 1, 512, theirs);
                }
                fill(*block + bytes - 512, 1, 512, theirs);
            }
            stream::synchronize(runtime, theirs).unwrap();
        }
    }

    /// Nothing fails any more: everything works, and all memory comes back.
    fn finish(mut self, case: Case, free_at_start: usize) {
        self.errors.clear();
        self.alloc(1, self.first);
        if case == Case::Peers {
            // Access that failed can be asked for again.
            self.users = PEERS.to_vec();
            PEERS
                .iter()
                .for_each(|peer| sconce_runtime::device::enable_peer_access(*peer, 0).unwrap());
            self.check_users();
        }
        while !self.held.is_empty() {
            self.free(0);
        }
        self.alloc(40, self.second);
        self.free(0);
        structure::assert_sound();
        sconce_runtime::device::synchronize(0).unwrap();
        assert!(self.errors.is_empty(), "after the fault: {:?}", self.errors);
        structure::assert_all_given_back(&[free_at_start]);
        let pages = memory::page_figures(0).unwrap();
        assert_eq!((pages.pages, pages.mappings), (0, 0), "{pages:?}");
    }
}

fn scenario(case: Case, fault: Option<(&str, u64, i32)>) -> std::result::Result<(), String> {
    forked_result(|| {
        let free_at_start = sconce_runtime::device::memory_info(0).unwrap().free_bytes;
        let (first, second) = (pool_stream(), pool_stream());
        let foreign = foreign_stream();
        let mut script = Script {
            first,
            second,
            foreign,
            held: Vec::new(),
            errors: Vec::new(),
            users: Vec::new(),
            stepper: None,
        };
        case.prepare(&mut script);
        sconce::sim_controls::reset_call_counts().unwrap();
        if let Some((call, nth, code)) = fault {
            sconce::sim_controls::fail_call(call, nth, code).unwrap();
        }
        case.run(&mut script);
        let struck = match fault {
            Some((call, nth, _)) => sconce::sim_controls::call_count(call).unwrap() >= nth,
            None => false,
        };
        let count = |call| format!("{call} {}\n", sconce::sim_controls::call_count(call).unwrap());
        let counts: String = case.calls().iter().copied().map(count).collect();
        sconce::sim_controls::clear_faults().unwrap();
        if script.stepper.take().is_some() {
            sconce::sim_controls::run_until_idle().unwrap();
            sconce::sim_controls::set_manual(false).unwrap();
        }
        structure::assert_sound();
        for error in &script.errors {
            let expected = [Status::OutOfMemory, Status::Driver];
            assert!(expected.contains(&error.status()), "{error}");
            assert!(fault.is_some() || error.status() == Status::OutOfMemory, "{error}");
        }
        script.finish(case, free_at_start);
        match (fault, struck) {
            (None, _) => Err(counts),
            (_, true) => Ok(()),
            (_, false) => Err("not struck".to_owned()),
        }
    })
}

/// Which of so many calls are failed: all, but of the mappings that are undone in one loop, as an eviction does, the
/// first, the last and some between.
fn points(case: Case, count: u64) -> Vec<u64> {
    let step = if case == Case::Evicting { 1 + count / 12 } else { 1 };
    (1..=count).filter(|nth| nth % step == 1 % step || *nth == count).collect()
}

/// Fails each call at each of its points, with each code. Every listed call must be struck.
fn all_faults(case: Case, devices: &str, test: &str, of: impl Fn(&str) -> bool) {
    // Most scripts run out of memory.
    let memory = if case == Case::Evicting { "1G" } else { "64M" };
    with_pages_on(devices, test, memory, || {
        let counts = scenario(case, None).unwrap_err();
        let mut scenarios = 0;
        let mut wrong = Vec::new();
        for line in counts.lines() {
            let (call, count) = line.split_once(' ').unwrap_or_else(|| panic!("{counts}"));
            let count: u64 = count.parse().unwrap_or_else(|_| panic!("{counts}"));
            if !of(call) {
                continue;
            }
            println!("{call}: {count} calls");
            let before = scenarios;
            let points = points(case, count).into_iter();
            for (nth, code) in points.flat_map(|nth| CODES.map(|code| (nth, code))) {
                match scenario(case, Some((call, nth, code))) {
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
    });
}

/// Whether a call makes or releases physical memory, or mappings of it.
fn is_of_memory(call: &str) -> bool {
    call.starts_with("physical") || call.starts_with("virtual")
}

#[test]
fn a_failure_of_physical_memory_at_any_point_undoes_everything() {
    let test = "a_failure_of_physical_memory_at_any_point_undoes_everything";
    all_faults(Case::Moving, "1", test, |call| call.starts_with("physical"));
}

#[test]
fn a_failure_of_a_mapping_at_any_point_undoes_everything() {
    let test = "a_failure_of_a_mapping_at_any_point_undoes_everything";
    all_faults(Case::Moving, "1", test, |call| call.starts_with("virtual"));
}

#[test]
fn a_failure_of_a_question_at_any_point_undoes_everything() {
    let test = "a_failure_of_a_question_at_any_point_undoes_everything";
    all_faults(Case::Moving, "1", test, |call| !is_of_memory(call));
}

/// A page that one device may use and another not is not left behind.
#[test]
fn a_failure_undoes_what_was_opened_to_peers() {
    all_faults(Case::Peers, "3", "a_failure_undoes_what_was_opened_to_peers", |_| true);
}

#[test]
fn a_failure_while_streams_work_undoes_everything() {
    all_faults(Case::Working, "1", "a_failure_while_streams_work_undoes_everything", |_| true);
}

#[test]
fn a_failure_of_an_eviction_undoes_everything() {
    all_faults(Case::Evicting, "1", "a_failure_of_an_eviction_undoes_everything", |_| true);
}
