//! Connections leave descriptors to the process.

use std::fs::File;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::support::*;

fn limit_descriptors(current: u64) {
    let limit = Rlimit { current: Some(current), ..getrlimit(Resource::Nofile) };
    setrlimit(Resource::Nofile, limit).unwrap();
}

/// The process opens files, its own client and another peer are served, and one line says what is refused.
fn check(server: &Server, refused: &str) {
    let files: Vec<File> = (0..12).map(|_| File::open("/proc/self/stat").unwrap()).collect();
    server.add();
    drop(files);
    let lines = take_log();
    assert_eq!(lines.iter().filter(|line| line.contains(refused)).count(), 1, "{lines:?}");
}

#[test]
fn peers_that_stay_leave_descriptors_to_the_process() {
    for has_greeted in [true, false] {
        limit_descriptors(256);
        let server = Server::start();
        server.add();
        let mut peers = Vec::new();
        // The peers are in this process too, so each takes two of its descriptors.
        for _ in 0..110 {
            if has_greeted {
                peers.extend(server.greeted());
            } else {
                peers.push(server.connect());
            }
        }
        assert!(peers.len() > 80, "{} peers were served", peers.len());
        server.add();
        check(&server, "refused the connection of 127.0.0.1");
        drop(peers);
        // What has been closed makes room.
        while server.greeted().is_none() {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        limit_descriptors(20_000.min(getrlimit(Resource::Nofile).maximum.unwrap_or(20_000)));
    }
}

#[test]
fn a_process_that_has_few_descriptors_left_keeps_some_of_them() {
    limit_descriptors(256);
    let server = Server::start();
    server.add();
    let files: Vec<File> = (0..200).map(|_| File::open("/proc/self/stat").unwrap()).collect();
    let mut peers = Vec::new();
    while let Some(peer) = server.greeted() {
        peers.push(peer);
        assert!(peers.len() < 30, "the server takes all descriptors");
    }
    assert!(!peers.is_empty());
    let more: Vec<File> = (0..4).map(|_| File::open("/proc/self/stat").unwrap()).collect();
    server.add();
    drop((files, more));
}

#[test]
fn a_limit_that_is_lowered_keeps_the_server_quiet() {
    let server = Server::start();
    let peers: Vec<_> = (0..60).map(|_| server.greeted().unwrap()).collect();
    let clock = Clock::new();
    limit_descriptors(40);
    server.add();
    let before = clock.seconds();
    std::thread::sleep(std::time::Duration::from_millis(500));
    assert!(clock.seconds() - before < 0.2, "the server does not wait");
    drop(peers);
    server.add();
}
