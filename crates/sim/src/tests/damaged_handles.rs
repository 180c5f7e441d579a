//! Handles between processes that are damaged, or whose descriptor is not what it was.

use std::fs::File;
use std::os::fd::AsRawFd;

use sconce_driver::IpcHandle;
use sconce_driver::prelude::*;

use super::processes::{Other, UNIT, from_hex, hex, listen, say, shared_event};
use super::support::*;

/// A handle that is well formed but differs from `handle` in some bits of a byte.
pub(super) fn changed(handle: &IpcHandle, at: usize, bits: u8) -> IpcHandle {
    let mut content = handle.content().unwrap();
    content[at] ^= bits;
    IpcHandle::sealed(&content)
}

/// A copy of a handle with another number in eight of its bytes.
pub(super) fn with_number(handle: &IpcHandle, at: usize, number: u64) -> IpcHandle {
    let mut content = handle.content().unwrap();
    content[at..at + 8].copy_from_slice(&number.to_le_bytes());
    IpcHandle::sealed(&content)
}

pub(super) fn open_damaged(given: &str) {
    let sim = automatic(1);
    let (memory, event) = given.split_once(' ').unwrap();
    let (memory, event) = (from_hex(memory), from_hex(event));
    let refused = |handle: &IpcHandle| {
        let of_memory = sim.ipc_memory_open(D0, handle).unwrap_err();
        (of_memory, sim.ipc_event_open(D0, handle).unwrap_err())
    };
    for handle in [memory, event] {
        for bit in 0..512 {
            let mut damaged = handle;
            damaged.0[bit / 8] ^= 1 << (bit % 8);
            let (of_memory, of_event) = refused(&damaged);
            for error in [of_memory, of_event] {
                assert_eq!(error.backend_code(), 1, "bit {bit}: {error}");
                assert!(error.message().contains("damaged"), "{error}");
            }
        }
    }
    let free = sim.memory_info(D0).unwrap().free_bytes;
    sim.ipc_memory_open(D0, &memory).unwrap();
    sim.ipc_event_open(D0, &event).unwrap();
    assert_eq!(sim.memory_info(D0).unwrap().free_bytes, free);
    say("refused");
    listen();
}

#[test]
fn a_handle_with_any_one_bit_flipped_is_refused() {
    let sim = automatic(1);
    let memory = sim.ipc_memory_export(sim.memory_alloc(D0, 4096).unwrap()).unwrap();
    let event = sim.ipc_event_export(shared_event(&sim)).unwrap();
    let mut other = Other::start("open damaged", &format!("{} {}", hex(&memory), hex(&event)));
    assert_eq!(other.hear(), "refused");
    other.end();
}

pub(super) fn open_others(given: &str) {
    let sim = automatic(1);
    for handle in given.split(' ').map(from_hex) {
        // Memory or event: the other kind is refused for its kind.
        let codes = [
            sim.ipc_memory_open(D0, &handle).unwrap_err().backend_code(),
            sim.ipc_event_open(D0, &handle).unwrap_err().backend_code(),
        ];
        assert!(codes == [400, 1] || codes == [1, 400], "{codes:?}");
    }
}

#[test]
fn a_handle_of_any_other_descriptor_is_refused_without_reading_it() {
    let sim = automatic(1);
    let memory = sim.ipc_memory_export(sim.memory_alloc(D0, 4096).unwrap()).unwrap();
    let event = sim.ipc_event_export(shared_event(&sim)).unwrap();
    let physical = sim.physical_create(D0, UNIT, true).unwrap();
    let physical = sim.physical_export(physical).unwrap();
    // An empty pipe blocks its reader; a terminal or a device would act on being opened.
    let (reader, writer) = std::io::pipe().unwrap();
    let (zero, folder) = (File::open("/dev/zero").unwrap(), File::open("/").unwrap());
    let (socket, _peer) = std::os::unix::net::UnixStream::pair().unwrap();
    let device_file = std::fs::read_dir("/proc/self/fd")
        .unwrap()
        .map(|entry| entry.unwrap())
        .find(|entry| {
            let name = std::fs::read_link(entry.path()).unwrap_or_default();
            name.to_string_lossy().contains("sconce-sim-device")
        })
        .unwrap();
    let device_file: i32 = device_file.file_name().to_str().unwrap().parse().unwrap();
    let fd_of = |handle: &IpcHandle| {
        let content = handle.content().unwrap();
        i32::from_le_bytes(content[24..28].try_into().unwrap())
    };
    let descriptors = [
        reader.as_raw_fd(),
        writer.as_raw_fd(),
        zero.as_raw_fd(),
        folder.as_raw_fd(),
        socket.as_raw_fd(),
        physical.as_raw_fd(),
        device_file,
        100_000,
    ];
    let mut others = Vec::new();
    for (handle, twin) in [(&memory, &event), (&event, &memory)] {
        for fd in descriptors.into_iter().chain([fd_of(twin)]) {
            others.push(hex(&with_number(handle, 24, fd as u64)));
        }
        // The right descriptor, but not the right file any more.
        others.push(hex(&changed(handle, 40, 1)));
    }
    Other::start("open others", &others.join(" ")).end();
}
