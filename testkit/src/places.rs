//! Memory of every kind that copies go between, and what several tests of copies do.

use std::ffi::{CString, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Mutex, MutexGuard};

use crate::last_message;
use crate::simulated::runtime;
use sconce::sconce_status::*;
use sconce::*;
use sconce_base::types::{DeviceIndex, DevicePtr};
use sconce_driver::{RawAddress, StreamRef};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Ordinary,
    Pinned,
    Device(i32),
}

pub const KINDS: [Kind; 4] = [Kind::Ordinary, Kind::Pinned, Kind::Device(0), Kind::Device(1)];

/// Memory of a kind; its parts are given by their distance from the beginning.
pub struct Place {
    kind: Kind,
    address: usize,
    bytes: usize,
}

impl Place {
    pub fn new(kind: Kind, bytes: usize) -> Place {
        let driver = runtime().driver();
        let address = match kind {
            Kind::Ordinary => Box::leak(vec![0_u8; bytes].into_boxed_slice()).as_mut_ptr() as usize,
            Kind::Pinned => driver.host_alloc(DeviceIndex::ZERO, bytes).unwrap(),
            Kind::Device(index) => {
                driver.memory_alloc(DeviceIndex::new(index).unwrap(), bytes).unwrap().0 as usize
            }
        };
        Place { kind, address, bytes }
    }

    /// Memory of a kind that holds `data`.
    pub fn holding(kind: Kind, data: &[u8]) -> Place {
        let place = Place::new(kind, data.len());
        place.write(data);
        place
    }

    pub fn at(&self, distance: usize) -> *mut c_void {
        std::ptr::with_exposed_provenance_mut(self.address + distance)
    }

    pub fn start(&self) -> *mut c_void {
        self.at(0)
    }

    /// Writes at once, with no stream's order; on devices after the default stream's work.
    pub fn write(&self, data: &[u8]) {
        assert!(data.len() <= self.bytes);
        match self.kind {
            Kind::Device(index) => self.transfer(index, data.as_ptr() as usize, data.len(), true),
            // SAFETY: the place is as long, and nobody's but this test's.
            _ => unsafe { self.start().cast::<u8>().copy_from(data.as_ptr(), data.len()) },
        }
    }

    /// Sets all of it, in the same way.
    pub fn fill(&self, value: u8) {
        self.write(&vec![value; self.bytes]);
    }

    /// What it holds now.
    pub fn read(&self) -> Vec<u8> {
        let mut data = vec![0; self.bytes];
        match self.kind {
            Kind::Device(index) => {
                self.transfer(index, data.as_mut_ptr() as usize, data.len(), false);
            }
            // SAFETY: as long as the place.
            _ => unsafe { self.start().cast::<u8>().copy_to(data.as_mut_ptr(), self.bytes) },
        }
        data
    }

    fn transfer(&self, index: i32, host: usize, bytes: usize, write: bool) {
        let driver = runtime().driver();
        let stream = StreamRef::default_of(DeviceIndex::new(index).unwrap());
        // SAFETY: the copy is waited for, and the host's memory outlives this.
        let host = unsafe { RawAddress::from_caller(host) };
        let device = RawAddress::from(DevicePtr(self.address as u64));
        let (dst, src) = if write { (device, host) } else { (host, device) };
        driver.copy_async(dst, src, bytes, stream).unwrap();
        driver.stream_synchronize(stream).unwrap();
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let driver = runtime().driver();
        if std::thread::panicking() {
            // A test has failed; freeing must not wait for steps that nobody takes any more.
            assert_eq!(sconce_sim_set_manual(false.into()), SCONCE_OK);
        }
        match self.kind {
            // SAFETY: what `new` leaked.
            Kind::Ordinary => drop(unsafe {
                Box::from_raw(std::ptr::slice_from_raw_parts_mut(
                    self.start().cast::<u8>(),
                    self.bytes,
                ))
            }),
            Kind::Pinned => driver.host_free(self.address).unwrap(),
            Kind::Device(index) => {
                let device = DeviceIndex::new(index).unwrap();
                driver.memory_free(device, DevicePtr(self.address as u64)).unwrap();
            }
        }
    }
}

/// Starts the simulator, as it is at first, for one test at a time.
pub fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    let one = ONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    runtime();
    assert_eq!(sconce_sim_clear_faults(), SCONCE_OK);
    assert_eq!(sconce_sim_set_manual(false.into()), SCONCE_OK);
    assert_eq!(sconce_sim_set_latency_ns(0), SCONCE_OK);
    for (device, peer) in [(0, 1), (1, 0)] {
        assert_eq!(sconce_sim_set_peer_access(device, peer, true.into()), SCONCE_OK);
        assert_eq!(sconce_device_synchronize(device), SCONCE_OK);
    }
    assert_eq!(sconce_sim_reset_call_counts(), SCONCE_OK);
    one
}

/// Bytes that differ from their neighbours, and by `seed`.
pub fn pattern(seed: u8, bytes: usize) -> Vec<u8> {
    let period: Vec<u8> = (0..251).map(|i: u8| i.wrapping_mul(3).wrapping_add(seed)).collect();
    let mut data = period.repeat(bytes / 251 + 1);
    data.truncate(bytes);
    data
}

pub fn copy(dst: *mut c_void, src: *mut c_void, bytes: usize, non_blocking: bool) -> sconce_status {
    // SAFETY: the tests keep host memory alive until the copy is done.
    unsafe { sconce_copy(dst, src, bytes, non_blocking.into()) }
}

pub fn set(ptr: *mut c_void, value: u8, bytes: usize) -> sconce_status {
    // SAFETY: host memory of the tests is valid.
    unsafe { sconce_memory_set(ptr, value, bytes) }
}

/// Bytes that the caching allocator has given out on a device.
pub fn allocated(device: i32) -> i64 {
    sconce_runtime::memory::stats(device).unwrap().allocated_bytes.all.current
}

pub fn calls(call: &str) -> u64 {
    let (name, mut count) = (CString::new(call).unwrap(), 0);
    // SAFETY: a NUL-terminated name and a writable place.
    assert_eq!(unsafe { sconce_sim_get_call_count(name.as_ptr(), &raw mut count) }, SCONCE_OK);
    count
}

pub fn inject(call: &str, nth: u64, code: i32) {
    let name = CString::new(call).unwrap();
    // SAFETY: a NUL-terminated name.
    assert_eq!(unsafe { sconce_sim_inject_fault(name.as_ptr(), nth, code) }, SCONCE_OK);
}

/// A pooled stream, which is not made current.
pub fn pooled(device: i32) -> sconce_stream {
    let mut stream = sconce_stream { id: -1, device: -1, reserved: -1 };
    // SAFETY: a good place.
    assert_eq!(unsafe { sconce_stream_get_from_pool(device, 0, &raw mut stream) }, SCONCE_OK);
    stream
}

/// A pooled stream that is the thread's current one on its device from now on.
pub fn own_stream(device: i32) -> sconce_stream {
    let stream = pooled(device);
    assert_eq!(sconce_stream_set_current(stream), SCONCE_OK);
    stream
}

pub fn default_stream(device: i32) -> sconce_stream {
    let mut stream = sconce_stream { id: -1, device: -1, reserved: -1 };
    // SAFETY: a good place.
    assert_eq!(unsafe { sconce_stream_get_default(device, &raw mut stream) }, SCONCE_OK);
    stream
}

pub fn pending(stream: sconce_stream) -> usize {
    let mut count = 0;
    // SAFETY: a good place.
    assert_eq!(unsafe { sconce_sim_get_pending(stream, &raw mut count) }, SCONCE_OK);
    count
}

/// Steps a stream until it has nothing that can go on; says how often.
pub fn step_all(stream: sconce_stream) -> usize {
    let mut steps = 0;
    loop {
        let mut stepped = false;
        // SAFETY: a good place.
        assert_eq!(unsafe { sconce_sim_step(stream, &raw mut stepped) }, SCONCE_OK);
        if !stepped {
            return steps;
        }
        steps += 1;
    }
}

/// Completes everything, and waits for it: nothing is left to wait for, but the call says that the host knows.
pub fn run_until_idle() -> usize {
    let mut steps = 0;
    // SAFETY: a good place.
    assert_eq!(unsafe { sconce_sim_run_until_idle(&raw mut steps) }, SCONCE_OK);
    if sconce_sanitizer_is_enabled() {
        (0..sconce_device_count()).for_each(|device| _ = sconce_device_synchronize(device));
    }
    steps
}

/// Captures on a new current stream of device 0, in global mode, what `work` does; the capture must
/// survive it.
#[track_caller]
pub fn captured(work: impl FnOnce(sconce_stream)) {
    let stream = own_stream(0);
    assert_eq!(sconce_sim_begin_capture(stream, 0), SCONCE_OK);
    let result = catch_unwind(AssertUnwindSafe(|| work(stream)));
    let ended = sconce_sim_end_capture(stream);
    if let Err(panic) = result {
        resume_unwind(panic);
    }
    assert_eq!(ended, SCONCE_OK, "spoilt: {}", last_message());
    assert_eq!(sconce_stream_set_current(default_stream(0)), SCONCE_OK);
}

/// Makes a call while a stream and its device are current, and restores what was current before.
#[track_caller]
pub fn under(stream: sconce_stream, call: impl FnOnce() -> sconce_status) -> sconce_status {
    let (mut previous, mut device) = (sconce_stream { id: -1, device: -1, reserved: 0 }, -1);
    // SAFETY: good places.
    let made = unsafe { sconce_stream_exchange(stream, &raw mut previous, &raw mut device) };
    if made != SCONCE_OK {
        return made;
    }
    let status = call();
    assert_eq!(sconce_stream_restore(previous, device), SCONCE_OK, "{}", last_message());
    status
}
