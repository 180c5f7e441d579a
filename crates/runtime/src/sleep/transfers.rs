//! The copies of a pool that falls asleep or wakes: the stream that they run on, and which of them are done.

use std::collections::VecDeque;

use sconce_base::collections::per_device::PerDevice;
use sconce_base::error::Result;
use sconce_base::sync::shared_static;
use sconce_base::types::{DeviceIndex, DevicePtr};
use sconce_driver::{EventFlags, HostRange, StreamFlags, StreamHandle, StreamRef};

use crate::context::Runtime;
use crate::event::NativeEvent;
use crate::lazy_handle::LazyHandle;

shared_static! {
    /// A stream of each device that nobody captures, and that waits for nothing else.
    static STREAMS: PerDevice<LazyHandle<StreamHandle>> = sconce_base::collections::per_device::per_device!(LazyHandle::new());
}

/// Which way bytes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Save,
    Restore,
}

/// Copies on their way.
pub(super) struct Transfers<'a> {
    runtime: &'a Runtime,
    stream: StreamRef,
    way: Way,
    /// Of each group that is not known to be done.
    events: VecDeque<NativeEvent>,
    /// Copies were queued after the last group, or a call has failed.
    open: bool,
}

impl<'a> Transfers<'a> {
    pub(super) fn new(
        runtime: &'a Runtime,
        device: DeviceIndex,
        way: Way,
    ) -> Result<Transfers<'a>> {
        let handle = STREAMS[device].get_or_make(|| {
            runtime.driver().stream_create(device, StreamFlags { non_blocking: true }, 0)
        })?;
        let stream = StreamRef { device, handle };
        Ok(Transfers { runtime, stream, way, events: VecDeque::new(), open: false })
    }

    /// Queues a copy of all of `host`, from or to an address of the device.
    pub(super) fn queue(&mut self, address: u64, host: HostRange) -> Result<()> {
        let (device, bytes) = (DevicePtr(address).into(), host.bytes());
        let driver = self.runtime.driver();
        self.open = true;
        // What lies between blocks goes along, and what nobody has written.
        let _moves = driver.moves_memory();
        match self.way {
            Way::Save => driver.copy_direct_async(host.raw(), device, bytes, self.stream),
            Way::Restore => driver.copy_direct_async(device, host.raw(), bytes, self.stream),
        }
    }

    /// Marks the end of a group of copies.
    pub(super) fn end_group(&mut self) -> Result<()> {
        let event = NativeEvent::obtain(self.runtime, self.stream.device, EventFlags::default())?;
        self.runtime.driver().event_record(event.handle(), self.stream)?;
        self.events.push_back(event);
        self.open = false;
        Ok(())
    }

    /// How many groups are not known to be done.
    pub(super) fn depth(&self) -> usize {
        self.events.len()
    }

    /// Whether the oldest group is done; it is forgotten then.
    pub(super) fn take_done(&mut self) -> Result<bool> {
        let Some(event) = self.events.front() else { return Ok(false) };
        let done = self.runtime.driver().event_query(event.handle())?;
        if done {
            self.events.pop_front();
        }
        Ok(done)
    }

    /// Waits for the oldest group, which is forgotten then.
    pub(super) fn wait(&mut self) -> Result<()> {
        if let Some(event) = self.events.front() {
            self.runtime.driver().event_synchronize(event.handle())?;
            self.events.pop_front();
        }
        Ok(())
    }

    /// Waits for everything; `false` if the driver does not say when it is done.
    pub(super) fn wait_for_all(&self) -> bool {
        if self.open || !self.events.is_empty() {
            return self.runtime.driver().stream_synchronize(self.stream).is_ok();
        }
        true
    }
}
