//! What peers do to a server.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;

use crate::support::*;

/// What a peer does. The connections that it returns stay open while the test looks at the process.
pub(crate) struct Attack {
    pub(crate) name: &'static str,
    pub(crate) run: fn(&Server) -> Vec<TcpStream>,
    /// The most bytes that the process may still hold more than before while the connections are open.
    pub(crate) most_held: usize,
}

const MIB: usize = 1 << 20;
/// Containers that are not full, and what the process itself takes for the connections.
const LITTLE: usize = 4 * MIB;
/// What all unfinished requests and replies, or the table, may hold, with what one turn adds before it is checked.
const LIMIT: usize = (256 + 52) * MIB + LITTLE;

pub(crate) const ATTACKS: &[Attack] = &[
    Attack { name: "connects and says nothing", run: silent, most_held: LITTLE },
    Attack { name: "greets and says nothing more", run: idle, most_held: LITTLE },
    Attack {
        name: "begins the next request after a large one",
        run: after_large,
        most_held: LITTLE,
    },
    Attack { name: "never ends large requests", run: unfinished, most_held: LIMIT },
    Attack { name: "sends a long list piece by piece", run: dripping, most_held: LITTLE },
    Attack { name: "reads no replies", run: deaf, most_held: LIMIT },
    Attack {
        name: "sends requests without an end and reads no replies",
        run: pipelined,
        most_held: LIMIT,
    },
    Attack { name: "fills queues and empties them", run: queues, most_held: LITTLE },
    Attack { name: "sets keys and deletes them", run: keys, most_held: LITTLE },
    Attack { name: "sets keys until the table is full", run: full, most_held: LIMIT },
    Attack { name: "waits for many keys and cancels", run: waits, most_held: LITTLE },
    Attack { name: "lets values grow byte by byte", run: appends, most_held: 64 * MIB },
    Attack { name: "breaks rules again and again", run: wrong, most_held: LITTLE },
    Attack { name: "asks for a large value as fast as it can", run: greedy, most_held: LITTLE },
];

fn silent(server: &Server) -> Vec<TcpStream> {
    (0..200).map(|_| server.connect()).collect()
}

fn idle(server: &Server) -> Vec<TcpStream> {
    (0..200).map(|_| server.greeted().unwrap()).collect()
}

/// Keys of 8,000 bytes, some 18 MiB of them.
fn large_check() -> Vec<u8> {
    let key = [b'k'; 8000];
    list(CHECK, (0..2300).map(|_| &key[..]))
}

fn after_large(server: &Server) -> Vec<TcpStream> {
    let request = large_check();
    let attack = |_| {
        let mut stream = server.greeted().unwrap();
        stream.write_all(&request).unwrap();
        skip(&mut stream, 1);
        stream.write_all(&[CHECK]).unwrap();
        stream
    };
    (0..8).map(attack).collect()
}

fn unfinished(server: &Server) -> Vec<TcpStream> {
    let request = large_check();
    let mut streams = Vec::new();
    for _ in 0..30 {
        let mut stream = server.greeted().unwrap();
        // The server closes the connections that hold the most.
        if stream.write_all(&request[..request.len() - 1]).is_ok() {
            streams.push(stream);
        }
    }
    streams
}

fn dripping(server: &Server) -> Vec<TcpStream> {
    let request = list(CHECK, (0..131_072).map(|_| &b"k"[..]));
    let mut stream = server.greeted().unwrap();
    let first = request.len() * 9 / 10;
    stream.write_all(&request[..first]).unwrap();
    for piece in request[first..first + 18_000].chunks(9) {
        stream.write_all(piece).unwrap();
        // The server has read the piece before the next one comes.
        server.add();
    }
    vec![stream]
}

fn set_large(server: &Server) -> TcpStream {
    let mut stream = server.greeted().unwrap();
    stream.write_all(&request(SET, &[b"/large", &vec![1; 4 * MIB]])).unwrap();
    stream.write_all(&[PING, 0, 0, 0, 0]).unwrap();
    skip(&mut stream, 4);
    stream
}

fn deaf(server: &Server) -> Vec<TcpStream> {
    let mut streams = vec![set_large(server)];
    let gets = list(MULTI_GET, (0..7).map(|_| &b"/large"[..]));
    for _ in 0..20 {
        let mut stream = server.greeted().unwrap();
        stream.write_all(&gets).unwrap();
        streams.push(stream);
    }
    streams
}

fn pipelined(server: &Server) -> Vec<TcpStream> {
    let mut streams = vec![set_large(server)];
    let gets = request(GET, &[b"/large"]).repeat(10_000);
    for _ in 0..20 {
        let mut stream = server.greeted().unwrap();
        stream.set_nonblocking(true).unwrap();
        // Until no more fits.
        while matches!(stream.write(&gets), Ok(1..)) {
            server.add();
        }
        streams.push(stream);
    }
    streams
}

fn queues(server: &Server) -> Vec<TcpStream> {
    let mut stream = server.greeted().unwrap();
    const LENGTH: usize = 100_000;
    for queue in 0..3_u8 {
        let key = [b'q', queue];
        let pushes = request(QUEUE_PUSH, &[&key, b""]).repeat(1000);
        (0..LENGTH / 1000).for_each(|_| stream.write_all(&pushes).unwrap());
        // One is left.
        let pops = request(QUEUE_POP, &[&key]).repeat(999);
        for _ in 0..LENGTH / 1000 {
            stream.write_all(&pops).unwrap();
            skip(&mut stream, 999 * 16);
        }
    }
    vec![stream]
}

fn keys(server: &Server) -> Vec<TcpStream> {
    let mut stream = server.greeted().unwrap();
    let all = |kind: u8, values: &[&[u8]]| {
        let one = |key: u32| {
            let key = key.to_le_bytes();
            request(kind, &[&[&key[..]], values].concat())
        };
        (0..100_000).flat_map(one).collect::<Vec<u8>>()
    };
    stream.write_all(&all(SET, &[b""])).unwrap();
    // Their replies are read in pieces, so that they do not wait for each other.
    for piece in all(DELETE_KEY, &[]).chunks(13 * 1000) {
        stream.write_all(piece).unwrap();
        skip(&mut stream, 8 * 1000);
    }
    vec![stream]
}

fn full(server: &Server) -> Vec<TcpStream> {
    let mut streams = Vec::new();
    for length in [1000, MIB] {
        let mut stream = server.greeted().unwrap();
        let value = vec![0; length];
        for key in 0..(300 * MIB / length) as u32 {
            // The server closes the connection when the table is full.
            if stream.write_all(&request(SET, &[&key.to_be_bytes(), &value])).is_err() {
                break;
            }
        }
        streams.push(stream);
    }
    streams
}

fn waits(server: &Server) -> Vec<TcpStream> {
    let keys: Vec<[u8; 4]> = (0..100_000_u32).map(u32::to_le_bytes).collect();
    let wait = list(WAIT, keys.iter().map(|key| &key[..]));
    let mut stream = server.greeted().unwrap();
    for _ in 0..3 {
        stream.write_all(&wait).unwrap();
        stream.write_all(&[CANCEL_WAIT]).unwrap();
        skip(&mut stream, 1);
    }
    vec![stream]
}

fn appends(server: &Server) -> Vec<TcpStream> {
    let mut stream = server.greeted().unwrap();
    for key in 0..4_u8 {
        stream.write_all(&request(APPEND, &[&[key], &vec![0; 4 * MIB]])).unwrap();
        let small = request(APPEND, &[&[key], b"1"]).repeat(1000);
        (0..50).for_each(|_| stream.write_all(&small).unwrap());
    }
    stream.write_all(&[PING, 0, 0, 0, 0]).unwrap();
    skip(&mut stream, 4);
    vec![stream]
}

fn wrong(server: &Server) -> Vec<TcpStream> {
    let rules = [
        vec![255],
        request(SET, &[&[b'k'; 9000]]),
        [&[SET][..], &[255; 8]].concat(),
        [request(SET, &[b"text", b"no number"]), request(ADD, &[b"text"]), vec![0; 8]].concat(),
        [&[VALIDATE][..], &VALIDATION].concat(),
        list(WAIT, std::iter::once(&b"never"[..])).repeat(2),
    ];
    for _ in 0..50 {
        for rule in &rules {
            let mut stream = server.greeted().unwrap();
            stream.write_all(rule).unwrap();
            // The end of a connection whose bytes were not all read is a reset.
            match stream.read_to_end(&mut Vec::new()) {
                Ok(count) => assert_eq!(count, 0),
                Err(why) => assert_eq!(why.kind(), ErrorKind::ConnectionReset, "{why}"),
            }
        }
    }
    Vec::new()
}

fn greedy(server: &Server) -> Vec<TcpStream> {
    let mut stream = server.greeted().unwrap();
    stream.write_all(&request(SET, &[b"some", &vec![1; 1 << 14]])).unwrap();
    let mut writer = stream.try_clone().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let gets = request(GET, &[b"some"]).repeat(100);
            (0..50).for_each(|_| writer.write_all(&gets).unwrap());
        });
        let reader = scope.spawn(|| skip(&mut stream, 5000 * (8 + (1 << 14))));
        while !reader.is_finished() {
            server.add();
        }
    });
    vec![stream]
}
