//! What the tests share: simulators, streams, host functions, memory read back.

use std::ffi::c_void;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use sconce_base::config::SimConfig;
use sconce_base::types::{DeviceIndex, DevicePtr};
use sconce_driver::prelude::*;
use sconce_driver::{
    Dim3, EventFlags, EventHandle, HostFunction, KernelArguments, KernelHandle, KernelImage,
    LaunchShape, RawAddress, StreamFlags, StreamHandle, StreamRef,
};

use crate::{SimOptions, Simulator};

pub(super) const D0: DeviceIndex = DeviceIndex::ZERO;
pub(super) const MIB: usize = 1 << 20;

pub(super) fn device(index: i32) -> DeviceIndex {
    DeviceIndex::new(index).unwrap()
}

/// `devices` devices of 64 MiB.
pub(super) fn simulator(devices: i32, options: SimOptions) -> Simulator {
    let config = SimConfig { devices, memory_bytes: 64 << 20, ..SimConfig::default() };
    Simulator::new(&config, options).unwrap()
}

pub(super) fn manual(devices: i32) -> Simulator {
    simulator(devices, SimOptions { manual: true, ..SimOptions::default() })
}

pub(super) fn automatic(devices: i32) -> Simulator {
    simulator(devices, SimOptions::default())
}

pub(super) fn stream_on(sim: &Simulator, device: DeviceIndex, non_blocking: bool) -> StreamRef {
    stream_with(sim, device, non_blocking, 0)
}

pub(super) fn stream_with(
    sim: &Simulator,
    device: DeviceIndex,
    non_blocking: bool,
    priority: i32,
) -> StreamRef {
    let handle = sim.stream_create(device, StreamFlags { non_blocking }, priority).unwrap();
    StreamRef { device, handle }
}

/// A non-blocking stream of device 0.
pub(super) fn stream(sim: &Simulator) -> StreamRef {
    stream_on(sim, D0, true)
}

/// A stream of device 0 that was never made.
pub(super) fn no_stream() -> StreamRef {
    StreamRef { device: D0, handle: StreamHandle::from_driver(crate::HANDLES, 0x70_0000_0000) }
}

pub(super) fn event(sim: &Simulator) -> EventHandle {
    sim.event_create(D0, EventFlags::default()).unwrap()
}

pub(super) fn timed_event(sim: &Simulator, device: DeviceIndex) -> EventHandle {
    sim.event_create(device, EventFlags { timing: true, ..EventFlags::default() }).unwrap()
}

pub(super) fn legacy_alias(device: DeviceIndex) -> StreamRef {
    StreamRef { device, handle: StreamHandle::from_driver(crate::HANDLES, 1) }
}

type Closure = Box<dyn FnOnce() + Send>;

unsafe extern "C" fn trampoline(user: *mut c_void) {
    // SAFETY: made by `host_function` with `into_raw`, and run once.
    let closure = unsafe { Box::from_raw(user.cast::<Closure>()) };
    closure();
}

pub(super) fn host_function(closure: impl FnOnce() + Send + 'static) -> HostFunction {
    let closure: Closure = Box::new(closure);
    let user = Box::into_raw(Box::new(closure)).cast::<c_void>();
    // SAFETY: the trampoline may run on any thread, once; it does not unwind in passing tests.
    unsafe { HostFunction::new(trampoline, user) }
}

/// Host memory of a test, which outlives its use.
pub(super) fn host(address: usize) -> RawAddress {
    // SAFETY: the tests wait for the work before they let the memory go.
    unsafe { RawAddress::from_caller(address) }
}

pub(super) fn host_of<T>(slice: &[T]) -> RawAddress {
    host(slice.as_ptr() as usize)
}

pub(super) fn host_of_mut<T>(slice: &mut [T]) -> RawAddress {
    host(slice.as_mut_ptr() as usize)
}

/// Writes to memory of the test through its number, as a program does with pinned memory.
pub(super) fn poke(address: usize, value: u8) {
    // SAFETY: pinned memory that the test has allocated.
    unsafe { (address as *mut u8).write_volatile(value) }
}

pub(super) fn peek(address: usize) -> u8 {
    // SAFETY: tests pass addresses of memory of theirs that lives, one byte of which is read.
    unsafe { (address as *const u8).read_volatile() }
}

/// A list that host functions write to.
#[derive(Clone, Default)]
pub(super) struct Journal(Arc<Mutex<Vec<&'static str>>>);

impl Journal {
    pub(super) fn note(&self, what: &'static str) -> HostFunction {
        let list = self.clone();
        host_function(move || list.write(what))
    }

    pub(super) fn write(&self, what: &'static str) {
        self.0.lock().push(what);
    }

    pub(super) fn read(&self) -> Vec<&'static str> {
        self.0.lock().clone()
    }
}

pub(super) fn kernel(sim: &Simulator, device: DeviceIndex, name: &str) -> KernelHandle {
    let image = KernelImage { name: "test", codes: &[] };
    let module = sim.module_load(device, &image).unwrap();
    sim.kernel_find(device, module, name).unwrap()
}

pub(super) const ONE: LaunchShape =
    LaunchShape { grid: Dim3::line(1), block: Dim3::line(1), shared_bytes: 0 };

pub(super) fn sleep(sim: &Simulator, stream: StreamRef, duration: Duration) {
    let kernel = kernel(sim, stream.device, "sconce_sleep_ns");
    let arguments = KernelArguments::new().u64(duration.as_nanos() as u64);
    sim.kernel_launch(kernel, ONE, &arguments, stream).unwrap();
}

/// Bytes of device memory, copied back on a stream of the memory's own device. Automatic mode only.
pub(super) fn read_back(sim: &Simulator, ptr: DevicePtr, bytes: usize) -> Vec<u8> {
    let mut got = vec![0; bytes];
    let stream = stream(sim);
    sim.copy_async(host_of_mut(&mut got), ptr.into(), bytes, stream).unwrap();
    got
}

/// Waits for something that other threads bring about; fails the test after a while.
pub(super) fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let give_up = Instant::now() + Duration::from_secs(10);
    while !holds() {
        assert!(Instant::now() < give_up, "in vain: {what}");
        std::thread::sleep(Duration::from_micros(200));
    }
}
