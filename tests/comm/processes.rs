//! Ranks in processes of their own: this program again, one rank each.
#![allow(unsafe_code, reason = "calls the C API")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Stdio};
use std::ptr::null_mut;
use std::time::{Duration, Instant};

use sconce::sconce_status::*;
use sconce::*;
use testkit::last_message;

use crate::support::*;

const ROLE: &str = "SCONCE_TEST_COMM_RANK";

/// Starts ranks 1 to `ranks - 1`; each gets the id, the number of ranks and its rank, and what it should do.
fn start(id: &sconce_comm_id, ranks: i32, what: &str) -> Vec<Child> {
    let hex: String = id.bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let one = |rank: i32| {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["processes::a_rank", "--exact", "--nocapture"])
            .env(ROLE, format!("{hex} {ranks} {rank} {what}"))
            .env_remove("SCONCE_TEST_SCENARIO")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.as_mut().unwrap().flush().unwrap();
        child
    };
    (1..ranks).map(one).collect()
}

fn init(id: &sconce_comm_id, ranks: i32, rank: i32) -> Comm {
    let mut comm = null_mut();
    // SAFETY: readable bytes and a writable place.
    ok(unsafe { sconce_comm_init_rank(id, ranks, rank, rank, &unwatched(), &mut comm) });
    Comm(comm.expose_provenance())
}

/// What a rank of another process does; in the process of the tests nothing.
#[test]
fn a_rank() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let words: Vec<&str> = role.split(' ').collect();
    let byte = |at: usize| u8::from_str_radix(&words[0][2 * at..2 * at + 2], 16).unwrap();
    let id = sconce_comm_id { bytes: std::array::from_fn(byte) };
    let (ranks, rank): (i32, i32) = (words[1].parse().unwrap(), words[2].parse().unwrap());
    devices(ranks);
    let comm = init(&id, ranks, rank);
    match words[3] {
        "sum" => sum(comm, ranks, rank),
        "wait" => {
            println!("> ready");
            std::thread::sleep(Duration::from_secs(60));
        }
        other => panic!("{other}"),
    }
}

fn sum(comm: Comm, ranks: i32, rank: i32) {
    let address = memory_of(rank, &floats(&[rank as f32, 1.0]));
    for _ in 0..10 {
        ok(all_reduce(comm, address, 2, stream(rank)));
    }
    ok(broadcast(comm, address, 2, stream(rank)));
    // A ring: each sends its result to the next one.
    let received = allocate(rank, 8);
    ok(grouped(|| {
        let (next, before) = ((rank + 1) % ranks, (rank + ranks - 1) % ranks);
        let (comm, on, f32) = (comm.get(), stream(rank), SCONCE_DTYPE_F32);
        // SAFETY: memory of the communicator's device.
        ok(unsafe { sconce_comm_send(comm, at(address), 2, f32, next, on, null_mut()) });
        // SAFETY: `received` has two numbers on the communicator's device.
        ok(unsafe { sconce_comm_recv(comm, at(received), 2, f32, before, on, null_mut()) });
    }));
    synchronize(rank);
    let total = (0..ranks).sum::<i32>() as f32;
    let scale = (ranks as f32).powi(9);
    assert_eq!(peek(received, 8), floats(&[total * scale, ranks as f32 * scale]));
    let mut part = null_mut();
    // SAFETY: a writable place.
    ok(unsafe { sconce_comm_split(comm.get(), rank % 2, 0, std::ptr::null(), &mut part) });
    let part = Comm(part.expose_provenance());
    write(address, &floats(&[1.0, 1.0]));
    ok(all_reduce(part, address, 2, stream(rank)));
    synchronize(rank);
    let members = (0..ranks).filter(|other| other % 2 == rank % 2).count() as f32;
    assert_eq!(peek(address, 8), floats(&[members, members]));
    destroy_all(&[part, comm]);
}

#[test]
fn ranks_in_processes_compute_together() {
    const RANKS: i32 = 4;
    devices(RANKS);
    let id = unique_id();
    let children = start(&id, RANKS, "sum");
    let comm = init(&id, RANKS, 0);
    sum(comm, RANKS, 0);
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
}

#[test]
fn a_process_that_is_killed_does_not_leave_the_others_hanging() {
    devices(2);
    let id = unique_id();
    let mut child = start(&id, 2, "wait").remove(0);
    let comm = init(&id, 2, 0);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("> ready")));
    let memory = memory_of(0, &floats(&[1.0]));
    ok(all_reduce(comm, memory, 1, stream(0)));
    child.kill().unwrap();
    child.wait().unwrap();
    let began = Instant::now();
    synchronize(0);
    assert!(began.elapsed() < Duration::from_secs(10));
    await_failure(|| async_error(comm));
    let status = async_error(comm);
    assert_eq!(status, SCONCE_ERROR_REMOTE, "{}", last_message());
    assert!(last_message().contains("rank 1 has died"), "{}", last_message());
    destroy_all(&[comm]);
}
