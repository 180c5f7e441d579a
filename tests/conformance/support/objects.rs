//! Objects of a driver that clean up after themselves.
//!
//! When a test panics its objects are leaked on purpose: destroying them might wait for work that
//! never ends, and hide the message behind a hang.

use std::time::{Duration, Instant};

use sconce_base::error::Result;
use sconce_base::types::{DeviceIndex, DevicePtr};
use sconce_driver::{
    Dim3, Driver, EventFlags, EventHandle, KernelArguments, KernelHandle, LaunchShape,
    ModuleHandle, StreamRef,
};

use crate::support::gate::Gate;
use crate::support::host;
use crate::support::stage::{A_WHILE, SOON};
use crate::support::subject::PROBE;

/// A stream.
pub(crate) struct Stream<'a> {
    driver: &'a dyn Driver,
    /// What the driver calls it.
    pub(crate) at: StreamRef,
    owned: bool,
}

impl<'a> Stream<'a> {
    /// One that goes when this goes.
    pub(crate) fn owned(driver: &'a dyn Driver, at: StreamRef) -> Stream<'a> {
        Stream { driver, at, owned: true }
    }

    /// One that stays.
    pub(crate) fn borrowed(driver: &'a dyn Driver, at: StreamRef) -> Stream<'a> {
        Stream { driver, at, owned: false }
    }

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
        let (gate, pass) = Gate::closed();
        self.run(pass)?;
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

impl<'a> Event<'a> {
    pub(crate) fn new(
        driver: &'a dyn Driver,
        device: DeviceIndex,
        flags: EventFlags,
    ) -> Result<Event<'a>> {
        Ok(Event { driver, handle: driver.event_create(device, flags)?, owned: true })
    }

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

impl<'a> Memory<'a> {
    pub(crate) fn new(
        driver: &'a dyn Driver,
        device: DeviceIndex,
        bytes: usize,
    ) -> Result<Memory<'a>> {
        let ptr = driver.memory_alloc(device, bytes)?;
        Ok(Memory { driver, device, ptr, bytes, owned: true })
    }

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
    sleep: KernelHandle,
    pub(crate) fill: KernelHandle,
    pub(crate) add: KernelHandle,
}

/// So many threads in blocks of 256.
pub(crate) fn threads(n: u64) -> LaunchShape {
    let blocks = n.div_ceil(256).max(1) as u32;
    LaunchShape { grid: Dim3::line(blocks), block: Dim3::line(256), shared_bytes: 0 }
}

impl<'a> Probe<'a> {
    pub(crate) fn load(driver: &'a dyn Driver, device: DeviceIndex) -> Result<Probe<'a>> {
        let module = driver.module_load(device, &PROBE)?;
        let find = |name| driver.kernel_find(device, module, name);
        let (sleep, fill) = (find("sconce_sleep_ns")?, find("sconce_fill_u32")?);
        Ok(Probe { driver, device, module, sleep, fill, add: find("sconce_add_u32")? })
    }

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
