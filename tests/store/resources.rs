//! Each resource under each attack.

use std::io::Write as _;

use crate::attacks::{ATTACKS, Attack};
use crate::support::*;

/// What a process keeps of an attack that is over: the table's entries aside, buffers of the test.
const LEFT: usize = 2 << 20;

fn each(check: impl Fn(&Attack, &Server)) {
    for attack in ATTACKS {
        let server = Server::start();
        server.add();
        check(attack, &server);
    }
}

#[test]
fn memory_follows_what_connections_hold() {
    each(|attack, server| {
        let before = held();
        take_peak();
        let connections = (attack.run)(server);
        server.add();
        let (now, peak) = (held().saturating_sub(before), take_peak() - before);
        assert!(
            now <= attack.most_held,
            "a peer that {}: {now} bytes are held, at most {} are right",
            attack.name,
            attack.most_held
        );
        // The limit of requests, that of the table, one turn, and the attacker's own buffers.
        assert!(peak <= 640 << 20, "a peer that {}: {peak} bytes at the peak", attack.name);
        drop(connections);
    });
}

#[test]
fn nothing_is_left_when_the_server_has_ended() {
    for attack in ATTACKS {
        let before = held();
        let server = Server::start();
        drop((attack.run)(&server));
        drop(server);
        take_log();
        let left = held().saturating_sub(before);
        assert!(left <= LEFT, "a peer that {}: {left} bytes are left", attack.name);
    }
}

#[test]
fn the_time_of_the_server_follows_the_bytes_that_arrive() {
    each(|attack, server| {
        let clock = Clock::new();
        let before = clock.seconds();
        let connections = (attack.run)(server);
        server.add();
        let busy = clock.seconds() - before;
        // Without optimisation a linear server takes up to some seconds for the largest of the attacks.
        assert!(busy < 20.0, "a peer that {}: {busy} s of the server's thread", attack.name);
        let resting = clock.seconds();
        std::thread::sleep(std::time::Duration::from_millis(300));
        let rest = clock.seconds() - resting;
        assert!(rest < 0.2, "a peer that {}: {rest} s while nothing arrives", attack.name);
        drop(connections);
    });
}

#[test]
fn small_entries_take_no_more_than_they_are_counted_as() {
    const COUNT: usize = 100_000;
    let server = Server::start();
    let mut stream = server.greeted().unwrap();
    let mut fill = |what: &str, counted: usize, one: &dyn Fn([u8; 4]) -> Vec<u8>| {
        server.add();
        let before = held();
        for thousand in 0..COUNT as u32 / 1000 {
            let all = (0..1000).flat_map(|key| one((thousand * 1000 + key).to_le_bytes()));
            stream.write_all(&all.collect::<Vec<u8>>()).unwrap();
        }
        stream.write_all(&[PING, 0, 0, 0, 0]).unwrap();
        skip(&mut stream, 4);
        let taken = held() - before;
        assert!(taken <= COUNT * counted, "{what}: {} bytes each", taken / COUNT);
    };
    // The figures of crates/compute/src/store/holdings.rs, less what the system's allocator adds to each allocation.
    fill("keys", 256 + 4 - 64, &|key| request(SET, &[&key, b""]));
    fill("queues", 384 + 128 + 4 - 96, &|key| request(QUEUE_PUSH, &[&key, b""]));
    fill("values of a queue", 128 - 32, &|_| request(QUEUE_PUSH, &[b"queue", b""]));
    let keys: Vec<[u8; 4]> = (0..COUNT as u32).map(u32::to_be_bytes).collect();
    let before = held();
    stream.write_all(&list(WAIT, keys[1..].iter().map(|key| &key[..]))).unwrap();
    stream.write_all(&[PING, 0, 0, 0, 0]).unwrap();
    skip(&mut stream, 4);
    assert!(held() - before <= COUNT * (512 + 8 - 96), "waits");
}

/// The bytes of memory that the process has from the system, files aside.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() << 10
}

#[cfg(target_env = "gnu")]
#[test]
fn memory_of_small_pieces_goes_back_to_the_system() {
    let server = Server::start();
    server.add();
    let before = resident();
    let streams: Vec<_> = (0..4_u32)
        .map(|peer| {
            let keys: Vec<[u8; 4]> =
                (0..100_000).map(|key| (peer << 20 | key).to_be_bytes()).collect();
            let mut stream = server.greeted().unwrap();
            stream.write_all(&list(WAIT, keys.iter().map(|key| &key[..]))).unwrap();
            stream.write_all(&[PING, 0, 0, 0, 0]).unwrap();
            skip(&mut stream, 4);
            stream
        })
        .collect();
    let full = resident().saturating_sub(before);
    assert!(full > 64 << 20, "{full} bytes for the waits");
    drop(streams);
    let begin = std::time::Instant::now();
    while resident().saturating_sub(before) > 16 << 20 {
        let left = resident().saturating_sub(before);
        assert!(begin.elapsed().as_secs() < 60, "{left} of {full} bytes are left");
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
}

#[test]
fn the_log_has_one_line_for_each_cause() {
    // The address, and numbers that differ from time to time, belong to no cause.
    let cause = |line: &String| {
        let why = line.split_once(": ").map_or("", |(_, why)| why);
        why.chars().filter(|letter| !letter.is_ascii_digit()).collect::<String>()
    };
    each(|attack, server| {
        (attack.run)(server);
        server.add();
        let lines = take_log();
        for (place, line) in lines.iter().enumerate() {
            let same = |other: &&String| cause(other) == cause(line);
            assert_eq!(lines[place + 1..].iter().find(same), None, "twice: {line}");
        }
        if attack.name.starts_with("breaks rules") {
            for wanted in ["unknown kind 255", "bytes of a key", "no 64-bit", "a second greeting"] {
                assert_eq!(
                    lines.iter().filter(|line| line.contains(wanted)).count(),
                    1,
                    "{wanted}"
                );
            }
        }
    });
}
