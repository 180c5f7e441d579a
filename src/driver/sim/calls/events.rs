//! Events: each holds the token of its newest record, and nothing else moves with it.
#![forbid(unsafe_code)]

use std::sync::Arc;

use parking_lot::MutexGuard;

use crate::driver::{EventFlags, EventHandle, Events, StreamRef};
use crate::error::Result;
use crate::types::DeviceIndex;

use crate::driver::sim::call::Call;
use crate::driver::sim::codes;
use crate::driver::sim::machine::capture::CapturedRecord;
use crate::driver::sim::machine::engine::{Engine, Submission};
use crate::driver::sim::machine::handles::end_process;
use crate::driver::sim::machine::token::Token;
use crate::driver::sim::machine::work::Work;
use crate::driver::sim::processes::event_page::{EventPage, RemoteRecord};
use crate::driver::sim::{Inner, Simulator};

pub(crate) struct Event {
    pub(crate) device: DeviceIndex,
    pub(crate) flags: EventFlags,
    newest: Option<Arc<Token>>,
    /// The newest record, if it went into a capture.
    pub(crate) captured: Option<CapturedRecord>,
    /// The shared page of an interprocess event, and the ticket of `newest`.
    pub(crate) shared: Option<(Arc<EventPage>, u64)>,
}

/// The record of an event that is newest now.
pub(super) enum Newest {
    None,
    Here(Arc<Token>),
    Elsewhere(RemoteRecord),
}

impl Event {
    pub(crate) fn new(device: DeviceIndex, flags: EventFlags, page: Option<EventPage>) -> Event {
        let shared = page.map(|page| (Arc::new(page), 0));
        Event { device, flags, newest: None, captured: None, shared }
    }

    pub(super) fn newest(&self) -> Newest {
        if let Some((page, own)) = &self.shared {
            let ticket = page.newest();
            if ticket != *own {
                return Newest::Elsewhere(page.remote(ticket));
            }
        }
        self.newest.clone().map_or(Newest::None, Newest::Here)
    }
}

impl Engine {
    /// A living event. Ends the process if the event has been destroyed.
    pub(crate) fn event(&self, call: Call, handle: EventHandle) -> Result<&Event> {
        match self.events.get(&handle.0) {
            Some(event) => Ok(event),
            None if self.handles.was_taken(handle.0) => end_process(call, "event", handle.0),
            None => Err(no_event(call, handle)),
        }
    }
}

fn no_event(call: Call, handle: EventHandle) -> crate::error::Error {
    codes::failure_because(
        call,
        codes::INVALID_HANDLE,
        format_args!("{:#x} is no living event", handle.0),
    )
}

impl Events for Simulator {
    fn event_create(&self, device: DeviceIndex, flags: EventFlags) -> Result<EventHandle> {
        self.inner.enter_context(Call::EventCreate, device)?;
        self.inner.make_event(Call::EventCreate, device, flags)
    }

    fn event_destroy(&self, event: EventHandle) -> Result<()> {
        self.inner.enter(Call::EventDestroy)?;
        self.inner.destroy_event(Call::EventDestroy, event)
    }

    fn event_record(&self, event: EventHandle, stream: StreamRef) -> Result<()> {
        self.inner.enter_context(Call::EventRecord, stream.device)?;
        self.inner.record_event(Call::EventRecord, event, stream)
    }

    fn event_query(&self, event: EventHandle) -> Result<bool> {
        self.inner.enter(Call::EventQuery)?;
        self.inner.query_event(Call::EventQuery, event)
    }

    fn event_synchronize(&self, event: EventHandle) -> Result<()> {
        self.inner.enter(Call::EventSynchronize)?;
        self.inner.await_event(Call::EventSynchronize, event)
    }

    fn event_elapsed_ms(&self, start: EventHandle, end: EventHandle) -> Result<f32> {
        let (inner, call) = (&self.inner, Call::EventElapsedMs);
        inner.enter(call)?;
        let mut engine = inner.engine.lock();
        for event in [start, end] {
            engine.refuse_captured_event(call, event)?;
        }
        let (first, second) = (engine.event(call, start)?, engine.event(call, end)?);
        let refuse =
            |why: &'static str| Err(codes::failure_because(call, codes::INVALID_HANDLE, why));
        if !first.flags.timing || !second.flags.timing {
            return refuse("both events must be made with timing");
        }
        if first.device != second.device {
            return refuse("both events must be of one device");
        }
        engine.check(call, first.device)?;
        let (Some(from), Some(to)) = (&first.newest, &second.newest) else {
            return refuse("both events must be recorded");
        };
        if !from.is_done() || !to.is_done() {
            return Err(codes::failure(call, codes::NOT_READY));
        }
        let nanoseconds = to.end_ns() as i128 - from.end_ns() as i128;
        Ok((nanoseconds as f64 / 1e6) as f32)
    }
}

impl Inner {
    pub(crate) fn make_event(
        &self,
        call: Call,
        device: DeviceIndex,
        flags: EventFlags,
    ) -> Result<EventHandle> {
        if flags.interprocess && flags.timing {
            return Err(codes::failure_because(
                call,
                codes::INVALID_VALUE,
                "an interprocess event cannot take times; leave out one of the two flags",
            ));
        }
        let page = if flags.interprocess {
            let page = EventPage::new(device.as_i32(), super::ipc::nonce()?);
            Some(page.map_err(|_| codes::failure(call, codes::OPERATING_SYSTEM))?)
        } else {
            None
        };
        let mut engine = self.engine.lock();
        engine.check(call, device)?;
        Ok(engine.add_event(Event::new(device, flags, page)))
    }

    pub(crate) fn destroy_event(&self, call: Call, event: EventHandle) -> Result<()> {
        let mut engine = self.engine.lock();
        engine.event(call, event)?;
        engine.events.remove(&event.0);
        engine.handles.give(event.0);
        Ok(())
    }

    pub(crate) fn record_event(
        self: &Arc<Self>,
        call: Call,
        handle: EventHandle,
        stream: StreamRef,
    ) -> Result<()> {
        let fault = self.faults.of_operation(call);
        let stuck = self.faults.of_record();
        let mut engine = self.engine.lock();
        let key = engine.find(call, stream)?;
        engine.check(call, stream.device)?;
        let event = engine.event(call, handle)?;
        if event.device != stream.device {
            return Err(codes::failure_because(
                call,
                codes::INVALID_HANDLE,
                format_args!(
                    "an event of device {} cannot be recorded on a stream of device {}",
                    event.device, stream.device
                ),
            ));
        }
        if let Some(id) = engine.capture_for(call, key)? {
            let record = engine.captured_record(id, key);
            if let Some(event) = engine.events.get_mut(&handle.0) {
                event.captured = Some(record);
            }
            return Ok(());
        }
        let event = engine.event(call, handle)?;
        let ticket = event.shared.as_ref().map(|(page, _)| page.queue());
        let number = ticket.as_ref().map_or(0, |ticket| ticket.number());
        let work = Work::Record(ticket);
        let submission = Submission { call, work, duration_ns: 0, after: None, fault, stuck };
        let token = engine.enqueue(key, submission);
        if let Some(event) = engine.events.get_mut(&handle.0) {
            event.newest = Some(token);
            event.captured = None;
            if let Some((_, own)) = &mut event.shared {
                *own = number;
            }
        }
        self.serve(&mut engine);
        Ok(())
    }

    pub(crate) fn query_event(&self, call: Call, handle: EventHandle) -> Result<bool> {
        let mut engine = self.engine.lock();
        engine.check(call, engine.event(call, handle)?.device)?;
        engine.refuse_captured_event(call, handle)?;
        engine.refuse_held_back(call)?;
        let event = engine.event(call, handle)?;
        match event.newest() {
            Newest::None => Ok(true),
            Newest::Here(token) => Ok(token.is_done()),
            Newest::Elsewhere(record) => {
                MutexGuard::unlock_fair(engine);
                Ok(record.is_done())
            }
        }
    }

    pub(crate) fn await_event(&self, call: Call, handle: EventHandle) -> Result<()> {
        let mut engine = self.engine.lock();
        let device = engine.event(call, handle)?.device;
        engine.check(call, device)?;
        engine.refuse_captured_event(call, handle)?;
        engine.refuse_held_back(call)?;
        match engine.event(call, handle)?.newest() {
            Newest::None => Ok(()),
            Newest::Here(token) => {
                token.wait(&mut engine);
                engine.check(call, device)
            }
            Newest::Elsewhere(record) => {
                MutexGuard::unlocked(&mut engine, || record.wait());
                engine.check(call, device)
            }
        }
    }
}

impl Engine {
    pub(crate) fn add_event(&mut self, event: Event) -> EventHandle {
        let handle = self.handles.take();
        self.events.insert(handle, event);
        EventHandle(handle)
    }
}
