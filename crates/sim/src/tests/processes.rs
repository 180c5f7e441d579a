//! Memory and events between processes, and leaving a process with work in flight.
//!
//! The other process is this test binary again, running [`other_process`] alone.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufRead, BufReader, Write as _};
use std::os::fd::AsRawFd;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use sconce_base::config::SimConfig;
use sconce_base::error::Status;
use sconce_driver::prelude::*;
use sconce_driver::{Access, EventFlags, EventHandle, IpcHandle};

use super::damaged_handles::{self, changed, with_number};
use super::support::*;
use crate::{Call, SimOptions, Simulator};

const ROLE: &str = "SCONCE_SIM_TEST_ROLE";
const GIVEN: &str = "SCONCE_SIM_TEST_GIVEN";
/// What the tests' lines begin with, among those of the test harness.
const MARK: &str = "@@ ";

/// The other process, and lines to and from it.
pub(super) struct Other {
    child: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
}

impl Other {
    pub(super) fn start(role: &str, given: &str) -> Other {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "tests::processes::other_process"])
            .args(["--ignored", "--nocapture", "--test-threads=1"])
            .env(ROLE, role)
            .env(GIVEN, given)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let to = child.stdin.take();
        let from = BufReader::new(child.stdout.take().unwrap());
        Other { child, to, from }
    }

    /// The next line it says.
    pub(super) fn hear(&mut self) -> String {
        let mut line = String::new();
        while self.from.read_line(&mut line).unwrap() > 0 {
            // The harness may have begun the line with the test's name.
            if let Some((_, said)) = line.split_once(MARK) {
                return said.trim_end().to_owned();
            }
            line.clear();
        }
        panic!("the other process said nothing more");
    }

    fn tell(&mut self) {
        self.to.as_mut().unwrap().write_all(b"go\n").unwrap();
    }

    /// Waits for its end, which must be a good one and soon.
    pub(super) fn end(mut self) {
        self.to = None;
        let mut status = None;
        eventually("the other process ends", || {
            status = self.child.try_wait().unwrap();
            status.is_some()
        });
        assert!(status.unwrap().success());
    }
}

pub(super) fn say(what: impl std::fmt::Display) {
    println!("{MARK}{what}");
}

pub(super) fn listen() {
    std::io::stdin().read_line(&mut String::new()).unwrap();
}

pub(super) fn hex(handle: &IpcHandle) -> String {
    handle.0.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}

pub(super) fn from_hex(text: &str) -> IpcHandle {
    let mut handle = [0; 64];
    for (index, byte) in handle.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[2 * index..2 * index + 2], 16).unwrap();
    }
    IpcHandle(handle)
}

pub(super) fn shared_event(sim: &Simulator) -> EventHandle {
    let flags = EventFlags { interprocess: true, ..EventFlags::default() };
    sim.event_create(D0, flags).unwrap()
}

#[test]
#[ignore = "the other process of the tests beside it"]
fn other_process() {
    let given = std::env::var(GIVEN).unwrap();
    match std::env::var(ROLE).unwrap().as_str() {
        "open memory" => open_memory(&given),
        "open damaged" => damaged_handles::open_damaged(&given),
        "open others" => damaged_handles::open_others(&given),
        "import memory" => import_memory(&given),
        "wait for event" => wait_for_event(&given),
        "record and die" => record_and_die(),
        "leave" => leave(),
        "follow" => follow(),
        role => panic!("no role {role}"),
    }
}

const BYTES: usize = 5 * 4096;

fn open_memory(given: &str) {
    let sim = automatic(2);
    let handle = from_hex(given);
    let wrong = sim.ipc_memory_open(device(1), &handle).unwrap_err();
    assert_eq!(wrong.status(), Status::InvalidArgument);
    let forged = changed(&handle, 40, 1);
    assert_eq!(sim.ipc_memory_open(D0, &forged).unwrap_err().backend_code(), 400);
    let ptr = sim.ipc_memory_open(D0, &handle).unwrap();
    assert_eq!(sim.ipc_memory_open(D0, &handle).unwrap(), ptr);
    let pattern: Vec<u8> = (0..BYTES).map(|i| (i / 4096) as u8 + 1).collect();
    assert!(read_back(&sim, ptr, BYTES - 4096) == pattern[..BYTES - 4096]);
    assert_eq!(read_back(&sim, ptr.offset(BYTES as u64 - 4096), 4096), [0xFF; 4096]);
    sim.fill_async(ptr, 77, BYTES, stream(&sim)).unwrap();
    sim.ipc_memory_close(ptr).unwrap();
    assert_eq!(read_back(&sim, ptr, 1), [77]);
    assert!(sim.memory_free(D0, ptr).is_err());
    sim.ipc_memory_close(ptr).unwrap();
    assert!(sim.ipc_memory_close(ptr).is_err());
    assert_eq!(sim.memory_info(D0).unwrap().free_bytes, 64 * MIB);
}

#[test]
fn an_allocation_opens_in_another_process() {
    let config = SimConfig { devices: 1, memory_bytes: MIB as u64, ..SimConfig::default() };
    let sim = Simulator::new(&config, SimOptions::default()).unwrap();
    // Only every other page is free, so the allocation is in pieces.
    let pages: Vec<_> = (0..MIB / 4096).map(|_| sim.memory_alloc(D0, 4096).unwrap()).collect();
    for page in pages.iter().step_by(2).take(5) {
        sim.memory_free(D0, *page).unwrap();
    }
    let ptr = sim.memory_alloc(D0, BYTES).unwrap();
    let stream = stream(&sim);
    for index in 0..4 {
        let page = ptr.offset(index * 4096);
        sim.fill_async(page, index as u8 + 1, 4096, stream).unwrap();
    }
    sim.stream_synchronize(stream).unwrap();
    let handle = sim.ipc_memory_export(ptr.offset(5000)).unwrap();
    let own = sim.ipc_memory_open(D0, &handle).unwrap_err();
    assert_eq!(own.backend_code(), 201);
    Other::start("open memory", &hex(&handle)).end();
    assert!(read_back(&sim, ptr, BYTES) == [77; BYTES]);
    sim.memory_free(D0, ptr).unwrap();
    let gone = with_number(&handle, 8, u64::from(u32::MAX));
    assert_eq!(sim.ipc_memory_open(D0, &gone).unwrap_err().backend_code(), 400);
    assert_eq!(sim.ipc_memory_open(D0, &IpcHandle([0; 64])).unwrap_err().backend_code(), 1);
}

pub(super) const UNIT: usize = 2 * MIB;

fn import_memory(given: &str) {
    let sim = automatic(1);
    let fd = File::options().read(true).write(true).open(given).unwrap();
    let memory = sim.physical_import(D0, fd.into()).unwrap();
    let range = sim.virtual_reserve(UNIT).unwrap();
    sim.virtual_map(range, UNIT, memory, 0).unwrap();
    sim.virtual_set_access(range, UNIT, D0, Access::ReadWrite).unwrap();
    assert_eq!(read_back(&sim, range, 10), [5; 10]);
    sim.fill_async(range, 6, 10, stream(&sim)).unwrap();
    sim.device_synchronize(D0).unwrap();
}

#[test]
fn physical_memory_is_imported_by_another_process() {
    let sim = automatic(1);
    let memory = sim.physical_create(D0, UNIT, true).unwrap();
    let range = sim.virtual_reserve(UNIT).unwrap();
    sim.virtual_map(range, UNIT, memory, 0).unwrap();
    sim.virtual_set_access(range, UNIT, D0, Access::ReadWrite).unwrap();
    sim.fill_async(range, 5, 10, stream(&sim)).unwrap();
    sim.device_synchronize(D0).unwrap();
    let fd = sim.physical_export(memory).unwrap();
    let path = format!("/proc/{}/fd/{}", std::process::id(), fd.as_raw_fd());
    Other::start("import memory", &path).end();
    assert_eq!(read_back(&sim, range, 11), [6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 0xFF]);
}

fn wait_for_event(given: &str) {
    let sim = automatic(1);
    let (stream, journal) = (stream(&sim), Journal::default());
    let event = sim.ipc_event_open(D0, &from_hex(given)).unwrap();
    assert!(!sim.event_query(event).unwrap());
    sim.stream_wait_event(stream, event).unwrap();
    sim.launch_host_function(stream, journal.note("after")).unwrap();
    std::thread::sleep(Duration::from_millis(20));
    assert!(!sim.stream_query(stream).unwrap());
    assert_eq!(journal.read(), [""; 0]);
    say("waiting");
    sim.event_synchronize(event).unwrap();
    assert!(sim.event_query(event).unwrap());
    sim.stream_synchronize(stream).unwrap();
    assert_eq!(journal.read(), ["after"]);
    say("woken");
    // And the other way: this process records, that one waits.
    sim.stick_record(1);
    sim.event_record(event, stream).unwrap();
    assert!(!sim.event_query(event).unwrap());
    say("recorded");
    listen();
    sim.clear_faults();
    sim.stream_synchronize(stream).unwrap();
    say("completed");
    listen();
}

#[test]
fn an_event_is_waited_for_in_another_process_and_back() {
    let sim = manual(1);
    let (stream, event) = (stream(&sim), shared_event(&sim));
    let handle = sim.ipc_event_export(event).unwrap();
    assert_eq!(sim.ipc_event_open(D0, &handle).unwrap_err().backend_code(), 201);
    assert!(sim.ipc_event_export(timed_event(&sim, D0)).is_err());
    assert!(sim.event_query(event).unwrap());
    sim.event_record(event, stream).unwrap();
    let mut other = Other::start("wait for event", &hex(&handle));
    assert_eq!(other.hear(), "waiting");
    assert!(sim.step(stream).unwrap());
    assert_eq!(other.hear(), "woken");
    assert_eq!(other.hear(), "recorded");
    assert!(!sim.event_query(event).unwrap());
    sim.stream_wait_event(stream, event).unwrap();
    assert!(!sim.step(stream).unwrap());
    other.tell();
    assert_eq!(other.hear(), "completed");
    assert!(sim.event_query(event).unwrap());
    assert!(sim.step(stream).unwrap());
    sim.event_synchronize(event).unwrap();
    other.tell();
    other.end();
}

fn record_and_die() {
    let sim = manual(1);
    let event = shared_event(&sim);
    sim.event_record(event, stream(&sim)).unwrap();
    say(hex(&sim.ipc_event_export(event).unwrap()));
    listen();
}

#[test]
fn the_death_of_the_recorder_ends_every_wait() {
    let sim = automatic(1);
    let mut other = Other::start("record and die", "");
    let event = sim.ipc_event_open(D0, &from_hex(&other.hear())).unwrap();
    let (stream, journal) = (stream(&sim), Journal::default());
    sim.stream_wait_event(stream, event).unwrap();
    sim.launch_host_function(stream, journal.note("after")).unwrap();
    std::thread::sleep(Duration::from_millis(20));
    assert!(!sim.event_query(event).unwrap());
    assert!(!sim.stream_query(stream).unwrap());
    other.child.kill().unwrap();
    sim.stream_synchronize(stream).unwrap();
    assert_eq!(journal.read(), ["after"]);
    assert!(sim.event_query(event).unwrap());
    other.child.wait().unwrap();
}

/// Leaves the process with everything that might hold it back.
fn leave() {
    let sim: &'static Simulator = Box::leak(Box::new(automatic(2)));
    sleep(sim, stream(sim), Duration::from_secs(3600));
    sim.launch_host_function(
        stream(sim),
        host_function(|| {
            loop {
                std::thread::park()
            }
        }),
    )
    .unwrap();
    sim.stick_record(1);
    let stuck = event(sim);
    let stuck_stream = stream(sim);
    sim.event_record(stuck, stuck_stream).unwrap();
    sim.launch_host_function(stuck_stream, host_function(|| ())).unwrap();
    std::thread::spawn(move || sim.event_synchronize(stuck));
    std::thread::spawn(move || sim.device_synchronize(D0));
    let busy = stream(sim);
    let ptr = sim.memory_alloc(D0, 32 * MIB).unwrap();
    for _ in 0..1000 {
        sim.fill_async(ptr, 1, 32 * MIB, busy).unwrap();
    }
    assert_eq!(sim.call_count(Call::FillAsync), 1000);
}

/// Reads device memory from the host, which is forbidden.
fn follow() {
    let sim = automatic(1);
    let ptr = sim.memory_alloc(D0, 4096).unwrap();
    sim.fill_async(ptr, 1, 4096, stream(&sim)).unwrap();
    sim.device_synchronize(D0).unwrap();
    say("allocated");
    say(peek(ptr.0 as usize));
}

#[test]
fn a_host_that_follows_a_device_address_is_stopped() {
    let mut other = Other::start("follow", "");
    assert_eq!(other.hear(), "allocated");
    assert_eq!(other.child.wait().unwrap().signal(), Some(11));
}

#[test]
fn a_process_ends_with_work_in_flight_and_stuck() {
    Other::start("leave", "").end();
}
