//! What every kind of store promises, and what bad peers cannot do.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

use sconce_base::error::Status;

use super::Store;
use super::request::{VALIDATION, kind, with_number};

const LONG: Duration = Duration::from_secs(30);

fn path() -> String {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let name = format!("sconce-store-{}-{number}", std::process::id());
    std::env::temp_dir().join(name).to_str().unwrap().to_owned()
}

/// Two users of one table, of each kind.
fn pairs() -> Vec<(Store, Store)> {
    let path = path();
    let file = || Store::file(&path, 2, LONG).unwrap();
    let server = Store::server("127.0.0.1", 0, LONG).unwrap();
    let client = Store::client("127.0.0.1", server.port().unwrap(), LONG).unwrap();
    vec![(file(), file()), (server, client)]
}

#[test]
fn values_are_seen_by_the_other_user() {
    for (one, two) in pairs() {
        one.set(b"key", b"value").unwrap();
        assert_eq!(two.get(b"key", None).unwrap(), b"value");
        two.set(b"key", &[0; 100_000]).unwrap();
        assert_eq!(one.get(b"key", None).unwrap(), [0; 100_000]);
        one.set(b"empty", b"").unwrap();
        assert_eq!(two.get(b"empty", None).unwrap(), b"");
        assert!(two.check(&[b"key", b"empty"]).unwrap());
        assert!(!two.check(&[b"key", b"none"]).unwrap());
        let keys = one.num_keys().unwrap();
        assert!(two.delete_key(b"key").unwrap());
        assert!(!one.delete_key(b"key").unwrap());
        assert!(!one.check(&[b"key"]).unwrap());
        assert_eq!(two.num_keys().unwrap(), keys - 1);
    }
}

#[test]
fn counters_and_exchanges_are_atomic() {
    for (one, two) in pairs() {
        scope(|scope| {
            for store in [&one, &two] {
                for _ in 0..2 {
                    scope.spawn(move || {
                        for _ in 0..50 {
                            store.add(b"n", 1).unwrap();
                        }
                    });
                }
            }
        });
        assert_eq!(one.add(b"n", 0).unwrap(), 200);
        assert_eq!(two.get(b"n", None).unwrap(), b"200");
        assert_eq!(one.compare_set(b"k", b"", b"a").unwrap(), b"a");
        assert_eq!(two.compare_set(b"k", b"x", b"b").unwrap(), b"a");
        assert_eq!(two.compare_set(b"k", b"a", b"b").unwrap(), b"b");
        assert_eq!(one.compare_set(b"missing", b"x", b"b").unwrap(), b"x");
        one.set(b"k", b"no number").unwrap();
        let error = two.add(b"k", 1).unwrap_err();
        assert!(matches!(error.status(), Status::Remote | Status::InvalidState), "{error}");
        assert_eq!(two.get(b"k", None).unwrap(), b"no number", "the store goes on");
    }
}

#[test]
fn waits_end_with_the_key_or_with_the_timeout() {
    for (one, two) in pairs() {
        let start = Instant::now();
        let error = one.get(b"late", Some(Duration::from_millis(60))).unwrap_err();
        assert_eq!(error.status(), Status::Timeout);
        assert!(error.message().contains("\"/late\""), "{error}");
        assert!(start.elapsed() < Duration::from_secs(5));
        assert_eq!(one.wait(&[b"a"], Some(Duration::ZERO)).unwrap_err().status(), Status::Timeout);
        scope(|scope| {
            let one = &one;
            // One thread waits in a store and another one sets in the same.
            let waiter = scope.spawn(move || one.wait(&[b"a", b"b"], None));
            sleep(Duration::from_millis(20));
            one.set(b"a", b"").unwrap();
            two.set(b"b", b"").unwrap();
            waiter.join().unwrap().unwrap();
        });
        // The connection of a wait that timed out serves again.
        one.set(b"late", b"now").unwrap();
        assert_eq!(two.get(b"late", Some(Duration::ZERO)).unwrap(), b"now");
    }
}

#[test]
fn prefixes_keep_keys_apart() {
    for (one, two) in pairs() {
        let inner = one.prefixed("a").unwrap().prefixed("b").unwrap();
        inner.set(b"k", b"inner").unwrap();
        assert!(!two.check(&[b"k"]).unwrap());
        assert_eq!(two.get(b"a/b/k", None).unwrap(), b"inner");
    }
}

#[test]
fn a_barrier_waits_for_all_again_and_again() {
    for (one, two) in pairs() {
        let before = one.num_keys().unwrap();
        let passed = AtomicU32::new(0);
        scope(|scope| {
            for store in [&one, &two, &one] {
                let passed = &passed;
                scope.spawn(move || {
                    for round in 0..10 {
                        store.barrier(b"b", 3, None).unwrap();
                        let seen = passed.fetch_add(1, Ordering::SeqCst);
                        assert!((3 * round..3 * round + 6).contains(&seen), "{round}: {seen}");
                    }
                });
            }
        });
        assert_eq!(two.num_keys().unwrap(), before + 2, "rounds do not pile up");
        let error = two.barrier(b"c", 2, Some(Duration::from_millis(50))).unwrap_err();
        assert_eq!(error.status(), Status::Timeout);
        assert!(error.message().contains("1 of 2 processes"), "{error}");
    }
}

#[test]
fn limits_are_named_before_anything_is_sent() {
    for (one, _two) in pairs() {
        let error = one.set(&[b'k'; 9000], b"").unwrap_err();
        assert!(error.message().contains("9001 bytes"), "{error}");
        let error = one.set(b"k", &vec![0; (8 << 20) + 1]).unwrap_err();
        assert!(error.message().contains("at most 8388608"), "{error}");
        one.set(b"k", &vec![1; 8 << 20]).unwrap();
        assert_eq!(one.get(b"k", None).unwrap().len(), 8 << 20);
    }
}

#[test]
fn destroying_a_store_ends_its_waits() {
    for (one, _two) in pairs() {
        let start = Instant::now();
        scope(|scope| {
            let waiter = scope.spawn(|| one.get(b"never", None).unwrap_err());
            sleep(Duration::from_millis(50));
            one.give_up();
            assert_eq!(waiter.join().unwrap().status(), Status::InvalidState);
        });
        assert!(start.elapsed() < Duration::from_secs(10));
    }
}

#[test]
fn the_last_process_removes_the_file() {
    let path = path();
    let one = Store::file(&path, 2, LONG).unwrap();
    let two = Store::file(&path, 2, LONG).unwrap();
    one.set(b"k", b"v").unwrap();
    drop(one);
    assert_eq!(two.get(b"k", None).unwrap(), b"v");
    drop(two);
    assert!(!std::path::Path::new(&path).exists());
}

#[test]
fn a_damaged_file_is_named() {
    let path = path();
    std::fs::write(&path, b"this is no store at all").unwrap();
    let error = Store::file(&path, 1, LONG).err().unwrap();
    assert_eq!(error.status(), Status::Io);
    assert!(error.message().contains("is damaged") && error.message().contains(&path), "{error}");
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn a_locked_file_is_waited_for_only_so_long() {
    let path = path();
    let store = Store::file(&path, 1, LONG).unwrap();
    store.set_timeout(Duration::from_millis(50));
    let file = std::fs::File::open(&path).unwrap();
    rustix::fs::flock(&file, rustix::fs::FlockOperation::LockExclusive).unwrap();
    let error = store.set(b"k", b"v").unwrap_err();
    assert_eq!(error.status(), Status::Timeout);
    assert!(error.message().contains("locked by another process"), "{error}");
    drop(file);
    store.set(b"k", b"v").unwrap();
}

#[test]
fn no_server_is_an_error_in_time() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let error = Store::client("127.0.0.1", free.port(), Duration::from_millis(80)).err().unwrap();
    assert_eq!(error.status(), Status::Timeout);
    assert!(error.message().contains("within 80 ms"), "{error}");
}

#[test]
fn something_else_at_the_port_is_an_error_in_time() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let is_over = AtomicBool::new(false);
    scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::SeqCst) {
                let (mut stream, _) = listener.accept().unwrap();
                let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
                let _ = stream.read_to_end(&mut Vec::new());
            }
        });
        let error = Store::client("127.0.0.1", port, LONG).err().unwrap();
        is_over.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(("127.0.0.1", port));
        assert!(error.message().contains("another number"), "{error}");
    });
}

#[test]
fn a_server_needs_no_time_of_its_callers() {
    let server = Store::server("127.0.0.1", 0, Duration::ZERO).unwrap();
    server.set(b"k", b"v").unwrap();
    assert_eq!(server.get(b"k", None).unwrap(), b"v");
}

/// A server that replies to the requests of each connection with the bytes of a list.
fn scripted(replies: Vec<Vec<u8>>) -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for connection in listener.incoming() {
            let mut stream = connection.unwrap();
            let mut request = [0; 64];
            // The greeting ends with a number, which comes back.
            stream.read_exact(&mut request[..10]).unwrap();
            stream.write_all(&request[6..10]).unwrap();
            for reply in &replies {
                if !matches!(stream.read(&mut request), Ok(1..)) {
                    break;
                }
                stream.write_all(reply).unwrap();
            }
        }
    });
    port
}

#[test]
fn a_connection_that_replied_something_else_is_not_used_again() {
    let port = scripted(vec![vec![1, 2, 3, 4], vec![0; 8]]);
    let store = Store::client("127.0.0.1", port, LONG).unwrap();
    for _ in 0..2 {
        let error = store.set(b"k", b"v").unwrap_err();
        assert_eq!(error.status(), Status::Remote);
        assert!(error.message().contains("another number"), "{error}");
    }
    let port = scripted(vec![vec![9], vec![0]]);
    let store = Store::client("127.0.0.1", port, LONG).unwrap();
    for _ in 0..2 {
        let error = store.check(&[b"k"]).unwrap_err();
        assert_eq!(error.status(), Status::Remote);
        assert!(error.message().contains("unknown byte 9"), "{error}");
    }
}

#[test]
fn bad_peers_disturb_nobody() {
    let server = Store::server("127.0.0.1", 0, LONG).unwrap();
    let port = server.port().unwrap();
    let connect = || TcpStream::connect(("127.0.0.1", port)).unwrap();
    let greeted = || {
        let mut stream = connect();
        stream.write_all(&with_number(kind::VALIDATE, VALIDATION)).unwrap();
        stream
    };
    let silent: Vec<TcpStream> = (0..50).map(|_| connect()).collect();
    let mut half = greeted();
    half.write_all(&[kind::SET, 5, 0, 0, 0, 0, 0, 0, 0, b'h']).unwrap();
    // A client that asks for a lot and reads nothing.
    server.set(b"large", &vec![1; 4 << 20]).unwrap();
    let mut deaf = greeted();
    let mut gets = vec![kind::GET, 6, 0, 0, 0, 0, 0, 0, 0];
    gets.extend(b"/large");
    deaf.write_all(&gets.repeat(100)).unwrap();
    for wrong in [&[255_u8][..], &[kind::SET, 255, 255, 255, 255, 255, 255, 255, 255]] {
        let mut stream = greeted();
        stream.write_all(wrong).unwrap();
        let mut rest = Vec::new();
        stream.set_read_timeout(Some(LONG)).unwrap();
        let _ = stream.read_to_end(&mut rest);
        assert!(rest.is_empty(), "the server closes the connection");
    }
    let start = Instant::now();
    for _ in 0..100 {
        server.add(b"n", 1).unwrap();
    }
    assert!(start.elapsed() < Duration::from_secs(10));
    drop((silent, half, deaf));
    assert_eq!(server.add(b"n", 1).unwrap(), 101);
}

#[test]
fn a_server_that_ends_is_named() {
    let server = Store::server("127.0.0.1", 0, LONG).unwrap();
    let client = Store::client("127.0.0.1", server.port().unwrap(), LONG).unwrap();
    client.set(b"k", b"v").unwrap();
    scope(|scope| {
        let waiter = scope.spawn(|| client.get(b"never", None).unwrap_err());
        sleep(Duration::from_millis(50));
        server.give_up();
        drop(server);
        let error = waiter.join().unwrap();
        assert_eq!(error.status(), Status::Remote, "{error}");
        assert!(error.message().contains("the get of the key"), "{error}");
    });
}
