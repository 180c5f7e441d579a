//! What a test stands on: a driver, and objects of it that clean up after themselves.
//!
//! When a test panics its objects are leaked on purpose: destroying them might wait for work that
//! never ends, and hide the message behind a hang.

use std::panic::Location;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use sconce::driver::{
    Dim3, Driver, EventFlags, EventHandle, KernelArguments, KernelHandle, LaunchShape,
    ModuleHandle, StreamFlags, StreamRef,
};
use sconce::error::{Error, Result, Status};
use sconce::types::{DeviceIndex, DevicePtr};

use crate::host::{self, Pageable, Pinned};
use crate::subject::{Machine, Subject};

/// Why a test ended early.
#[derive(Debug)]
pub(crate) enum Stop {
    /// It cannot run here, for this reason.
    Skip(String),
    /// A driver call failed that must not.
    Failed(String),
}

impl From<Error> for Stop {
    #[track_caller]
    fn from(error: Error) -> Stop {
        let place = Location::caller();
        Stop::Failed(format!("{error}\n    at {}:{}", place.file(), place.line()))
    }
}

/// What a test gives.
pub(crate) type Outcome<T = ()> = std::result::Result<T, Stop>;

/// How long anything may take that should happen soon.
pub(crate) const SOON: Duration = Duration::from_secs(15);
/// How long a test looks on to see that something does not happen.
pub(crate) const A_WHILE: Duration = Duration::from_millis(60);
/// How long a closed gate stays closed at most, so that a failing test ends.
const GATE_LIMIT: Duration = Duration::from_secs(20);

/// A driver under test.
#[derive(Clone, Copy)]
pub(crate) struct Stage<'a> {
    /// The driver.
    pub(crate) driver: &'a dyn Driver,
    /// Where it comes from.
    pub(crate) subject: &'a dyn Subject,
}

impl<'a> Stage<'a> {
    /// All devices.
    pub(crate) fn devices(&self) -> Vec<DeviceIndex> {
        (0..self.driver.device_count()).filter_map(DeviceIndex::new).collect()
    }

    /// The first two devices; a machine with one skips the test.
    pub(crate) fn two_devices(&self) -> Outcome<(DeviceIndex, DeviceIndex)> {
        match self.devices()[..] {
            [first, second, ..] => Ok((first, second)),
            _ => Err(Stop::Skip("needs 2 devices, this machine has 1".to_owned())),
        }
    }

    /// Two devices of which the first can use the second's memory.
    pub(crate) fn two_peers(&self) -> Outcome<(DeviceIndex, DeviceIndex)> {
        let (first, second) = self.two_devices()?;
        if !self.driver.can_access_peer(first, second)? {
            return Err(Stop::Skip("the first two devices are not peers".to_owned()));
        }
        Ok((first, second))
    }

    /// Another machine, with so many devices at least.
    pub(crate) fn machine(&self, devices: i32) -> Outcome<Machine> {
        let machine = self.subject.open(devices)?;
        match machine.driver().device_count() {
            count if count < devices => {
                Err(Stop::Skip(format!("needs {devices} devices, this machine has {count}")))
            }
            _ => Ok(machine),
        }
    }

    /// A stream that ignores the default stream.
    pub(crate) fn stream(&self, device: DeviceIndex) -> Result<Stream<'a>> {
        self.stream_with(device, StreamFlags { non_blocking: true }, 0)
    }

    /// A stream that is ordered with the default stream.
    pub(crate) fn blocking_stream(&self, device: DeviceIndex) -> Result<Stream<'a>> {
        self.stream_with(device, StreamFlags { non_blocking: false }, 0)
    }

    /// A stream made in this way.
    pub(crate) fn stream_with(
        &self,
        device: DeviceIndex,
        flags: StreamFlags,
        priority: i32,
    ) -> Result<Stream<'a>> {
        let handle = self.driver.stream_create(device, flags, priority)?;
        Ok(Stream { driver: self.driver, at: StreamRef { device, handle }, owned: true })
    }

    /// The legacy default stream.
    pub(crate) fn default_stream(&self, device: DeviceIndex) -> Stream<'a> {
        Stream { driver: self.driver, at: StreamRef::default_of(device), owned: false }
    }

    /// An event without timing.
    pub(crate) fn event(&self, device: DeviceIndex) -> Result<Event<'a>> {
        self.event_with(device, EventFlags::default())
    }

    /// An event with timing.
    pub(crate) fn timed_event(&self, device: DeviceIndex) -> Result<Event<'a>> {
        self.event_with(device, EventFlags { timing: true, ..EventFlags::default() })
    }

    /// An event made in this way.
    pub(crate) fn event_with(&self, device: DeviceIndex, flags: EventFlags) -> Result<Event<'a>> {
        let handle = self.driver.event_create(device, flags)?;
        Ok(Event { driver: self.driver, handle, owned: true })
    }

    /// Device memory.
    pub(crate) fn memory(&self, device: DeviceIndex, bytes: usize) -> Result<Memory<'a>> {
        let ptr = self.driver.memory_alloc(device, bytes)?;
        Ok(Memory { driver: self.driver, device, ptr, bytes, owned: true })
    }

    /// Page-locked memory filled with `value`.
    pub(crate) fn pinned(
        &self,
        device: DeviceIndex,
        bytes: usize,
        value: u8,
    ) -> Result<Pinned<'a>> {
        Pinned::new(self.driver, device, bytes, value)
    }

    /// The bytes at a device address, after all work of the device.
    pub(crate) fn read(
        &self,
        device: DeviceIndex,
        ptr: DevicePtr,
        bytes: usize,
    ) -> Result<Vec<u8>> {
        self.driver.device_synchronize(device)?;
        let host = Pageable::new(bytes, 0x5a);
        let stream = StreamRef::default_of(device);
        self.driver.copy_async(host.raw(), ptr.into(), bytes, stream)?;
        self.driver.stream_synchronize(stream)?;
        Ok(host.read())
    }

    /// The 32-bit words at a device address, after all work of the device.
    pub(crate) fn words(&self, device: DeviceIndex, ptr: DevicePtr, n: usize) -> Result<Vec<u32>> {
        let bytes = self.read(device, ptr, n * 4)?;
        Ok(bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect())
    }

    /// The test kernels on a device, each of them run once so that nothing is loaded later.
    pub(crate) fn probe(&self, device: DeviceIndex) -> Result<Probe<'a>> {
        let module = self.driver.module_load(device, &crate::subject::PROBE)?;
        let find = |name| self.driver.kernel_find(device, module, name);
        let probe = Probe {
            driver: self.driver,
            device,
            module,
            sleep: find("sconce_sleep_ns")?,
            fill: find("sconce_fill_u32")?,
            add: find("sconce_add_u32")?,
        };
        let memory = self.memory(device, 4096)?;
        let stream = self.stream(device)?;
        probe.sleep_ms(&stream, 0)?;
        probe.fill(&stream, memory.ptr, 16, 1)?;
        probe.add(&stream, memory.ptr, 16, 1)?;
        self.driver.fill_async(memory.ptr, 0, 4096, stream.at)?;
        stream.synchronize()?;
        Ok(probe)
    }
}

/// A stream.
pub(crate) struct Stream<'a> {
    driver: &'a dyn Driver,
    /// What the driver calls it.
    pub(crate) at: StreamRef,
    owned: bool,
}

impl Stream<'_> {
    pub(crate) fn query(&self) -> Result<bool> {
        self.driver.stream_query(self.at)
    }

    pub(crate) fn synchronize(&self) -> Result<()> {
        self.driver.stream_synchronize(self.at)
    }

    pub(crate) fn record(&self, event: &Event<'_>) -> Result<()> {
        self.driver.event_record(event.handle, self.at)
    }

    pub(crate) fn wait(&self, event: &Event<'_>) -> Result<()> {
        self.driver.stream_wait_event(self.at, event.handle)
    }

    /// Runs a closure in stream order.
    pub(crate) fn run(&self, function: impl FnOnce() + Send + 'static) -> Result<()> {
        self.driver.launch_host_function(self.at, host::closure(function))
    }

    /// Holds the stream at this point until the gate opens.
    pub(crate) fn gate(&self) -> Result<Gate> {
        let gate = Gate { state: Arc::default() };
        let state = Arc::clone(&gate.state);
        self.run(move || state.pass())?;
        Ok(gate)
    }

    pub(crate) fn destroy(mut self) -> Result<()> {
        self.owned = false;
        self.driver.stream_destroy(self.at)
    }
}

impl Drop for Stream<'_> {
    fn drop(&mut self) {
        if self.owned && !std::thread::panicking() {
            let _ = self.driver.stream_destroy(self.at);
        }
    }
}

/// An event.
pub(crate) struct Event<'a> {
    driver: &'a dyn Driver,
    /// What the driver calls it.
    pub(crate) handle: EventHandle,
    owned: bool,
}

impl Event<'_> {
    pub(crate) fn query(&self) -> Result<bool> {
        self.driver.event_query(self.handle)
    }

    pub(crate) fn synchronize(&self) -> Result<()> {
        self.driver.event_synchronize(self.handle)
    }

    pub(crate) fn ms_until(&self, end: &Event<'_>) -> Result<f32> {
        self.driver.event_elapsed_ms(self.handle, end.handle)
    }

    pub(crate) fn destroy(mut self) -> Result<()> {
        self.owned = false;
        self.driver.event_destroy(self.handle)
    }

    /// Sees the event complete soon, without waiting in the driver.
    #[track_caller]
    pub(crate) fn assert_completes(&self, why: &str) -> Result<()> {
        let start = Instant::now();
        while !self.query()? {
            assert!(start.elapsed() < SOON, "the event does not complete: {why}");
            std::thread::sleep(Duration::from_micros(200));
        }
        Ok(())
    }

    /// Sees the event stay pending for a while.
    #[track_caller]
    pub(crate) fn assert_stays_pending(&self, why: &str) -> Result<()> {
        let start = Instant::now();
        while start.elapsed() < A_WHILE {
            assert!(!self.query()?, "the event completed too early: {why}");
            std::thread::sleep(Duration::from_millis(2));
        }
        Ok(())
    }
}

impl Drop for Event<'_> {
    fn drop(&mut self) {
        if self.owned && !std::thread::panicking() {
            let _ = self.driver.event_destroy(self.handle);
        }
    }
}

/// Device memory.
pub(crate) struct Memory<'a> {
    driver: &'a dyn Driver,
    pub(crate) device: DeviceIndex,
    pub(crate) ptr: DevicePtr,
    pub(crate) bytes: usize,
    owned: bool,
}

impl Memory<'_> {
    pub(crate) fn free(mut self) -> Result<()> {
        self.owned = false;
        self.driver.memory_free(self.device, self.ptr)
    }
}

impl Drop for Memory<'_> {
    fn drop(&mut self) {
        if self.owned && !std::thread::panicking() {
            let _ = self.driver.memory_free(self.device, self.ptr);
        }
    }
}

/// The test kernels on one device.
pub(crate) struct Probe<'a> {
    driver: &'a dyn Driver,
    device: DeviceIndex,
    module: ModuleHandle,
    pub(crate) sleep: KernelHandle,
    pub(crate) fill: KernelHandle,
    pub(crate) add: KernelHandle,
}

/// So many threads in blocks of 256.
pub(crate) fn threads(n: u64) -> LaunchShape {
    let blocks = n.div_ceil(256).max(1) as u32;
    LaunchShape { grid: Dim3::line(blocks), block: Dim3::line(256), shared_bytes: 0 }
}

impl Probe<'_> {
    /// Keeps the stream busy for so long.
    pub(crate) fn sleep_ms(&self, stream: &Stream<'_>, ms: u64) -> Result<()> {
        let one = LaunchShape { grid: Dim3::line(1), block: Dim3::line(1), shared_bytes: 0 };
        let arguments = KernelArguments::new().u64(ms * 1_000_000);
        self.driver.kernel_launch(self.sleep, one, &arguments, stream.at)
    }

    /// Sets `n` words.
    pub(crate) fn fill(
        &self,
        stream: &Stream<'_>,
        at: DevicePtr,
        n: u64,
        value: u32,
    ) -> Result<()> {
        let arguments = KernelArguments::new().u64(at.0).u64(n).u32(value);
        self.driver.kernel_launch(self.fill, threads(n), &arguments, stream.at)
    }

    /// Adds to `n` words.
    pub(crate) fn add(&self, stream: &Stream<'_>, at: DevicePtr, n: u64, value: u32) -> Result<()> {
        let arguments = KernelArguments::new().u64(at.0).u64(n).u32(value);
        self.driver.kernel_launch(self.add, threads(n), &arguments, stream.at)
    }
}

impl Drop for Probe<'_> {
    fn drop(&mut self) {
        // None of its kernels may be queued; after a failure that cannot be known.
        if !std::thread::panicking() && self.driver.device_synchronize(self.device).is_ok() {
            let _ = self.driver.module_unload(self.device, self.module);
        }
    }
}

#[derive(Default)]
struct GateState {
    /// Open, expired.
    state: Mutex<(bool, bool)>,
    changed: Condvar,
}

impl GateState {
    fn pass(&self) {
        let state = self.state.lock().unwrap();
        let (mut state, wait) =
            self.changed.wait_timeout_while(state, GATE_LIMIT, |(open, _)| !*open).unwrap();
        state.1 = wait.timed_out();
    }

    fn open(&self) -> bool {
        let mut state = self.state.lock().unwrap();
        state.0 = true;
        self.changed.notify_all();
        state.1
    }
}

/// A point that a stream does not pass before the test says so: a host function that waits.
///
/// While one is closed a test calls only what the contract says does not block.
pub(crate) struct Gate {
    state: Arc<GateState>,
}

impl Gate {
    /// Lets the stream go on. Fails if the gate had to open by itself, since then some call blocked.
    #[track_caller]
    pub(crate) fn open(self) {
        assert!(!self.state.open(), "a call that must not block waited for the stream");
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        self.state.open();
    }
}

/// Sees that a call fails with this status, and gives the error.
#[track_caller]
pub(crate) fn fails_with<T: std::fmt::Debug>(result: Result<T>, status: Status) -> Error {
    match result {
        Err(error) if error.status() == status => error,
        Err(error) => panic!("failed with {error}, expected {}", status.name()),
        Ok(value) => panic!("gave {value:?}, expected {}", status.name()),
    }
}

/// Sees that a call fails, in whatever way, and gives the error.
#[track_caller]
pub(crate) fn fails<T: std::fmt::Debug>(result: Result<T>) -> Error {
    match result {
        Err(error) => error,
        Ok(value) => panic!("gave {value:?}, expected a failure"),
    }
}

/// Sees that an error carries the driver's number and words.
#[track_caller]
pub(crate) fn carries_number(error: &Error) {
    assert_ne!(error.backend_code(), 0, "no driver's number in: {error}");
    let number = format!("({})", error.backend_code());
    assert!(error.message().contains(&number), "the words lack the number: {error}");
}

/// Bytes that differ from place to place and from seed to seed.
pub(crate) fn pattern(bytes: usize, seed: u8) -> Vec<u8> {
    (0..bytes).map(|i| (i.wrapping_mul(31) ^ (i >> 8)) as u8 ^ seed).collect()
}
