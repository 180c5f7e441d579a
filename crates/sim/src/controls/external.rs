//! Streams, events and current contexts made by other code of the process, not by the library.
//!
//! Other libraries make streams and events through CUDA itself. A test makes simulated ones with these
//! functions. They are not counted as driver calls, and injected faults of driver calls do not
//! affect them, since a test counts and faults the library's calls.
#![forbid(unsafe_code)]

use std::sync::atomic::Ordering;

use sconce_base::error::Result;
use sconce_base::types::DeviceIndex;
use sconce_driver::{EventFlags, EventHandle, StreamFlags, StreamHandle, StreamRef};

use crate::call::Call;
use crate::calls::contexts;
use crate::codes;
use crate::state::Simulator;

impl Simulator {
    /// Makes a stream, as `cuStreamCreateWithPriority` does.
    pub fn external_stream_create(
        &self,
        device: DeviceIndex,
        flags: StreamFlags,
        priority: i32,
    ) -> Result<StreamHandle> {
        self.use_context(Call::StreamCreate, device)?;
        self.inner.make_stream(Call::StreamCreate, device, flags, priority)
    }

    /// The stream that a program names by its number. Each use checks that it lives.
    pub fn external_stream(&self, native: usize) -> StreamHandle {
        StreamHandle::from_driver(crate::HANDLES, native)
    }

    /// Destroys a stream, as `cuStreamDestroy` does: work already queued still runs.
    pub fn external_stream_destroy(&self, stream: StreamHandle) -> Result<()> {
        let call = Call::StreamDestroy;
        let stream = self.stream_by_handle(call, stream)?;
        self.inner.destroy_stream(call, stream)
    }

    /// Makes a device's context current on this thread, or none, as `cudaSetDevice` and
    /// `cuCtxSetCurrent(NULL)` do.
    pub fn external_set_current_device(&self, device: Option<DeviceIndex>) -> Result<()> {
        if let Some(device) = device {
            self.use_context(Call::BindDevice, device)?;
        }
        contexts::set_device_of_thread(device);
        Ok(())
    }

    /// The device whose context is current on this thread, as `cuCtxGetDevice` reports it.
    pub fn external_current_device(&self) -> Option<DeviceIndex> {
        contexts::device_of_thread().filter(|device| device.as_i32() < self.inner.config.devices)
    }

    /// Makes an event, as `cuEventCreate` does.
    pub fn external_event_create(
        &self,
        device: DeviceIndex,
        flags: EventFlags,
    ) -> Result<EventHandle> {
        self.use_context(Call::EventCreate, device)?;
        self.inner.make_event(Call::EventCreate, device, flags)
    }

    /// The event that a program names by its number. Each use checks that it lives.
    pub fn external_event(&self, native: usize) -> EventHandle {
        EventHandle::from_driver(crate::HANDLES, native)
    }

    /// Destroys an event, as `cuEventDestroy` does.
    pub fn external_event_destroy(&self, event: EventHandle) -> Result<()> {
        self.inner.destroy_event(Call::EventDestroy, event)
    }

    /// Records an event, as `cuEventRecord` does. Handles 0 and 1 are the legacy default stream of
    /// the event's device, 2 is the calling thread's.
    pub fn external_event_record(&self, event: EventHandle, stream: StreamHandle) -> Result<()> {
        let call = Call::EventRecord;
        let stream = match stream.native() {
            0..=2 => {
                let device = self.inner.machine.engine.lock().event(call, event)?.device;
                StreamRef { device, handle: stream }
            }
            _ => self.stream_by_handle(call, stream)?,
        };
        self.inner.record_event(call, event, stream)
    }

    /// Whether the newest record of an event has completed, as `cuEventQuery` reports.
    pub fn external_event_query(&self, event: EventHandle) -> Result<bool> {
        self.inner.query_event(Call::EventQuery, event)
    }

    /// Waits for the newest record of an event, as `cuEventSynchronize` does.
    pub fn external_event_synchronize(&self, event: EventHandle) -> Result<()> {
        self.inner.await_event(Call::EventSynchronize, event)
    }

    /// Turns the reuse of addresses and handles on or off (see [`SimOptions::reuse_addresses`]).
    ///
    /// [`SimOptions::reuse_addresses`]: crate::SimOptions::reuse_addresses
    pub fn set_address_reuse(&self, reuse: bool) {
        let mut engine = self.inner.machine.engine.lock();
        engine.handles.set_reuse(reuse);
        self.inner.space.write().set_reuse(reuse);
    }

    /// Whether a handle names a living event; a dead one is no error here.
    pub fn has_event(&self, event: EventHandle) -> bool {
        self.inner.machine.engine.lock().events.contains_key(&event.native())
    }

    fn use_context(&self, call: Call, device: DeviceIndex) -> Result<()> {
        self.inner.check_device(call, device)?;
        self.inner.contexts[device.as_usize()].store(true, Ordering::Release);
        Ok(())
    }

    /// The stream that a handle names, on whichever device it is.
    fn stream_by_handle(&self, call: Call, handle: StreamHandle) -> Result<StreamRef> {
        if handle.native() <= StreamHandle::PER_THREAD.native() {
            let why = "the default stream cannot be destroyed";
            return Err(codes::failure_because(call, codes::INVALID_HANDLE, why));
        }
        let device = self.inner.machine.engine.lock().device_of(call, handle)?;
        Ok(StreamRef { device, handle })
    }
}
