//! What a test stands on: a driver and ways to make its objects, and ways to look at failures.

use std::panic::Location;
use std::time::Duration;

use sconce_base::error::{Error, Result, Status};
use sconce_base::types::{DeviceIndex, DevicePtr};
use sconce_driver::{Driver, EventFlags, StreamFlags, StreamRef};

use crate::support::host::{Pageable, Pinned};
pub(crate) use crate::support::objects::{Event, Memory, Probe, Stream, threads};
use crate::support::subject::{Machine, Subject};

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
        Ok(Stream::owned(self.driver, StreamRef { device, handle }))
    }

    /// The legacy default stream.
    pub(crate) fn default_stream(&self, device: DeviceIndex) -> Stream<'a> {
        Stream::borrowed(self.driver, StreamRef::default_of(device))
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
        Event::new(self.driver, device, flags)
    }

    /// Device memory.
    pub(crate) fn memory(&self, device: DeviceIndex, bytes: usize) -> Result<Memory<'a>> {
        Memory::new(self.driver, device, bytes)
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
        let probe = Probe::load(self.driver, device)?;
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
