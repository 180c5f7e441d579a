//! A simulator that tests use one at a time, and memory on it.

use parking_lot::{Mutex, MutexGuard};

use sconce_base::config::{BackendChoice, SimConfig};
use sconce_base::error::Result;
use sconce_base::types::{DeviceIndex, DevicePtr};
use sconce_driver::RawAddress;
use sconce_runtime::context::{
    Backend, Backends, Opened, Options, Runtime, initialize_with, set_backends,
};
use sconce_runtime::stream::{self, Stream};
pub(super) use sconce_sim::Call;
use sconce_sim::Simulator;

static TURN: Mutex<()> = Mutex::new(());

/// The simulator is one for the process; so are its faults.
pub(super) fn turn() -> MutexGuard<'static, ()> {
    TURN.lock()
}

pub(super) fn runtime() -> &'static Runtime {
    set_backends(Backends {
        open: |options| {
            let driver = Simulator::open(&options.sim, options.visible)?;
            Ok(Opened { backend: Backend::Sim, driver })
        },
        count: |_| None,
    });
    let sim = SimConfig::default();
    initialize_with(Options { backend: BackendChoice::Sim, sim, visible: None }).unwrap()
}

pub(super) fn simulator() -> &'static Simulator {
    runtime();
    Simulator::opened().unwrap()
}

pub(super) fn default_stream() -> Stream {
    runtime();
    Stream::from_parts(runtime(), 0, 0).unwrap()
}

pub(super) fn pool_stream() -> Stream {
    runtime();
    stream::from_pool(0, 0).unwrap()
}

/// Bytes that differ from place to place and from seed to seed.
pub(super) fn pattern(seed: u64, bytes: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(2).wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mut data = Vec::with_capacity(bytes + 8);
    while data.len() < bytes {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        data.extend_from_slice(&state.to_le_bytes());
    }
    data.truncate(bytes);
    data
}

/// The tests' vectors outlive their copies.
fn address(of: *const u8) -> RawAddress {
    crate::copy::host_copy::of_test(of as usize, isize::MAX as usize).raw()
}

pub(super) struct Memory {
    pub(super) ptr: DevicePtr,
}

impl Memory {
    pub(super) fn new(bytes: usize) -> Memory {
        Memory { ptr: runtime().driver().memory_alloc(DeviceIndex::ZERO, bytes).unwrap() }
    }

    /// By the driver's own path, once the stream is done.
    pub(super) fn read(&self, stream: &Stream, bytes: usize) -> Vec<u8> {
        let mut data = vec![0; bytes];
        let driver = runtime().driver();
        let to = address(data.as_mut_ptr());
        driver.copy_async(to, self.ptr.into(), bytes, stream.driver_ref()).unwrap();
        driver.stream_synchronize(stream.driver_ref()).unwrap();
        data
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        let _ = runtime().driver().memory_free(DeviceIndex::ZERO, self.ptr);
    }
}

pub(super) fn to_device(stream: &Stream, to: &Memory, offset: usize, from: &[u8]) -> Result<()> {
    let dst = to.ptr.offset(offset as u64).into();
    crate::copy::staged::to_device(runtime(), *stream, dst, address(from.as_ptr()), from.len())
}

pub(super) fn to_host(stream: &Stream, to: &mut [u8], from: &Memory, offset: usize) -> Result<()> {
    let src = from.ptr.offset(offset as u64).into();
    let dst = address(to.as_mut_ptr());
    crate::copy::staged::to_host(runtime(), *stream, dst, src, to.len())
}

/// There and back; the margins on both sides stay as they are.
pub(super) fn round_trip(stream: &Stream, bytes: usize, host: usize, device: usize) {
    let all = device + bytes + 64;
    let memory = Memory::new(all);
    let driver = runtime().driver();
    driver.fill_async(memory.ptr, 0x5A, all, stream.driver_ref()).unwrap();
    let source = pattern((bytes + host) as u64, host + bytes);
    to_device(stream, &memory, device, &source[host..]).unwrap();
    let there = memory.read(stream, all);
    assert!(there[device..device + bytes] == source[host..], "{bytes} bytes to the device");
    assert!(there[..device].iter().chain(&there[device + bytes..]).all(|byte| *byte == 0x5A));

    let mut back = vec![0xA5; host + bytes + 64];
    to_host(stream, &mut back[host..host + bytes], &memory, device).unwrap();
    assert!(back[host..host + bytes] == source[host..], "{bytes} bytes to the host");
    assert!(back[..host].iter().chain(&back[host + bytes..]).all(|byte| *byte == 0xA5));
}
