//! Processes that end, or stand still.

use crate::remote::Remote;
use crate::{alone, device, waiting_bytes};
use sconce_base::error::Status;
use sconce_runtime::{ipc, memory};

const MIB: usize = 1 << 20;

#[test]
fn what_a_killed_process_had_open_is_free_again() {
    let _alone = alone();
    let block = memory::alloc(2 * MIB).unwrap();
    let export = ipc::export(block).unwrap();
    let mut other = Remote::start();
    other.open(&export);
    memory::free(block).unwrap();
    ipc::collect().unwrap();
    assert_eq!(waiting_bytes(), 2 * MIB as i64);
    other.kill();
    ipc::collect().unwrap();
    assert_eq!(waiting_bytes(), 0, "known at once");
    assert_eq!(memory::alloc(2 * MIB).unwrap(), block);
    memory::free(block).unwrap();
}

#[test]
fn memory_of_a_process_that_has_ended_can_be_used_until_it_is_closed() {
    let _alone = alone();
    let mut other = Remote::start();
    let there = other.number(&format!("alloc {}", 2 * MIB));
    other.fill(there, 8, 2 * MIB);
    let export = other.export(there);
    let here = ipc::open(0, &export.0, export.1).unwrap();
    assert_eq!(device::read(here, 2), [8, 8]);
    other.kill();
    assert!(device::read(here, 2 * MIB).iter().all(|byte| *byte == 8));
    device::fill(here, 2, MIB);
    assert_eq!(device::read(here, 1), [2]);
    let again = ipc::open(0, &export.0, export.1).unwrap_err();
    assert_eq!(again.status(), Status::InvalidHandle, "{again}");
    assert!(again.message().contains("ended"), "{again}");
    ipc::close(here).unwrap();
    assert_eq!(ipc::close(here).unwrap_err().status(), Status::InvalidArgument);
    let dead = ipc::open(0, &export.0, export.1).unwrap_err();
    assert_eq!(dead.status(), Status::InvalidHandle, "{dead}");
}

#[test]
fn who_is_asked_by_a_process_that_dies_meanwhile_forgets_it() {
    let _alone = alone();
    let block = memory::alloc(MIB).unwrap();
    let export = ipc::export(block).unwrap();
    for _ in 0..5 {
        let mut other = Remote::start();
        other.tell_open(&export);
        other.kill();
    }
    memory::free(block).unwrap();
    ipc::collect().unwrap();
    assert_eq!(waiting_bytes(), 0);
}

#[test]
fn a_process_that_stands_still_does_not_hold_up_others_for_ever() {
    let _alone = alone();
    let mut other = Remote::start();
    // Two in one segment, of which one is open already, and one in another.
    let places = [4096, 4096, 4 * MIB].map(|bytes| other.number(&format!("alloc {bytes}")));
    let exports = places.map(|place| other.export(place));
    let open = |export: &(sconce_driver::IpcHandle, usize)| ipc::open(0, &export.0, export.1);
    let here = open(&exports[0]).unwrap();
    let pid = rustix::process::Pid::from_child(&other.process);
    rustix::process::kill_process(pid, rustix::process::Signal::STOP).unwrap();
    // Told once every thread of it stands.
    rustix::process::waitpid(Some(pid), rustix::process::WaitOptions::UNTRACED).unwrap().unwrap();
    let timeout = ipc::timeout_ms();
    ipc::set_timeout_ms(200).unwrap();
    assert_eq!(ipc::set_timeout_ms(0).unwrap_err().status(), Status::InvalidArgument);
    std::thread::scope(|scope| {
        for export in &exports[1..] {
            scope.spawn(|| {
                let stuck = open(export).unwrap_err();
                assert_eq!(stuck.status(), Status::InvalidState, "{stuck}");
                assert!(stuck.message().contains("not answered for 200 ms"), "{stuck}");
            });
        }
    });
    ipc::set_timeout_ms(timeout).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::CONT).unwrap();
    // What it answered late counts for nothing, and is let go of with the next thing said.
    ipc::close(open(&exports[0]).unwrap()).unwrap();
    for (place, bytes) in [(places[1], 4096), (places[2], 4 * MIB)] {
        other.ask(&format!("free {place}")).unwrap();
        other.ask("collect").unwrap();
        assert_eq!(other.number(&format!("alloc {bytes}")), place, "nobody holds it");
    }
    ipc::close(here).unwrap();
    other.ask(&format!("free {}", places[0])).unwrap();
    other.ask("collect").unwrap();
    assert_eq!(other.number("alloc 4096"), places[0]);
}

/// Ends when the test does.
struct Sleeper(rustix::process::Pid);

impl Sleeper {
    fn of(other: &mut Remote) -> Sleeper {
        Sleeper(rustix::process::Pid::from_raw(other.number("fork") as i32).unwrap())
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        let _ = rustix::process::kill_process(self.0, rustix::process::Signal::KILL);
    }
}

#[test]
fn a_forked_child_does_not_hold_what_its_parent_had_open() {
    let _alone = alone();
    let block = memory::alloc(2 * MIB).unwrap();
    let export = ipc::export(block).unwrap();
    let mut other = Remote::start();
    other.open(&export);
    let _child = Sleeper::of(&mut other);
    memory::free(block).unwrap();
    other.kill();
    ipc::collect().unwrap();
    assert_eq!(waiting_bytes(), 0);
}

#[test]
fn what_is_closed_is_let_go_of_though_a_forked_child_has_the_socket() {
    let _alone = alone();
    let block = memory::alloc(2 * MIB).unwrap();
    let export = ipc::export(block).unwrap();
    let mut other = Remote::start();
    let there = other.open(&export);
    let _child = Sleeper::of(&mut other);
    memory::free(block).unwrap();
    other.close(there);
    ipc::collect().unwrap();
    assert_eq!(waiting_bytes(), 0, "the child has the socket still");
}

#[test]
fn a_forked_child_does_not_answer_for_its_parent() {
    let _alone = alone();
    let mut other = Remote::start();
    let there = other.number("alloc 4096");
    let export = other.export(there);
    let _child = Sleeper::of(&mut other);
    other.kill();
    let begun = std::time::Instant::now();
    let dead = ipc::open(0, &export.0, export.1).unwrap_err();
    assert_eq!(dead.status(), Status::InvalidHandle, "{dead}");
    assert!(begun.elapsed().as_secs() < 5);
}
