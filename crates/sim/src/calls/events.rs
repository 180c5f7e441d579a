//! Events, their records and their times.
#![forbid(unsafe_code)]

use std::sync::Arc;

use sconce_base::error::Result;
use sconce_base::lock::{MutexGuard, about_to_wait, rank};
use sconce_base::types::DeviceIndex;
use sconce_driver::{EventFlags, EventHandle, Events, StreamRef};

use crate::call::Call;
use crate::codes;
use crate::machine::engine::Engine;
use crate::machine::event::{Event, NewestRecord};
use crate::machine::operation::{QueuedWork, Submission};
use crate::processes::event_page::EventPage;
use crate::processes::handle::nonce;
use crate::state::{Simulator, State};
use crate::work::order::{OrderingWork, SharedRecordWork};

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
        let mut engine = inner.machine.engine.lock();
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
        let (Some(from), Some(to)) = (first.own_record(), second.own_record()) else {
            return refuse("both events must be recorded");
        };
        if !from.is_done() || !to.is_done() {
            return Err(codes::failure(call, codes::NOT_READY));
        }
        let nanoseconds = to.end_ns() as i128 - from.end_ns() as i128;
        Ok((nanoseconds as f64 / 1e6) as f32)
    }
}

impl State {
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
            let page = EventPage::new(self.visible.number_of(device).as_i32(), nonce()?);
            Some(page.map_err(|_| codes::failure(call, codes::OPERATING_SYSTEM))?)
        } else {
            None
        };
        let mut engine = self.machine.engine.lock();
        engine.check(call, device)?;
        Ok(engine.add_event(Event::new(device, flags, page)))
    }

    pub(crate) fn destroy_event(&self, call: Call, event: EventHandle) -> Result<()> {
        let mut engine = self.machine.engine.lock();
        engine.event(call, event)?;
        engine.events.remove(&event.native());
        engine.handles.give(event.native());
        Ok(())
    }

    pub(crate) fn record_event(
        &self,
        call: Call,
        handle: EventHandle,
        stream: StreamRef,
    ) -> Result<()> {
        let fault = self.faults.of_operation(call);
        let stuck = self.faults.of_record();
        let mut engine = self.machine.engine.lock();
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
            let record = engine.captures.record(id, key);
            if let Some(event) = engine.events.get_mut(&handle.native()) {
                event.captured = Some(record);
            }
            return Ok(());
        }
        let event = engine.event(call, handle)?;
        let ticket = event.shared.as_ref().map(|(page, _)| page.queue());
        let number = ticket.as_ref().map_or(0, |ticket| ticket.number());
        let work: Arc<dyn QueuedWork> = match ticket {
            None => Arc::new(OrderingWork),
            Some(ticket) => Arc::new(SharedRecordWork(ticket)),
        };
        let submission = Submission { call, work, duration_ns: 0, after: Vec::new(), fault, stuck };
        let token = engine.enqueue(key, submission);
        if let Some(event) = engine.events.get_mut(&handle.native()) {
            event.set_record(token, number);
        }
        self.machine.serve(&mut engine);
        Ok(())
    }

    pub(crate) fn query_event(&self, call: Call, handle: EventHandle) -> Result<bool> {
        let mut engine = self.machine.engine.lock();
        engine.check(call, engine.event(call, handle)?.device)?;
        engine.refuse_captured_event(call, handle)?;
        engine.refuse_held_back(call)?;
        let event = engine.event(call, handle)?;
        match event.newest() {
            NewestRecord::None => Ok(true),
            NewestRecord::Here(token) => Ok(token.is_done()),
            NewestRecord::Elsewhere(record) => {
                MutexGuard::unlock_fair(engine);
                Ok(record.is_done())
            }
        }
    }

    pub(crate) fn await_event(&self, call: Call, handle: EventHandle) -> Result<()> {
        about_to_wait::<rank::Device>();
        let mut engine = self.machine.engine.lock();
        let device = engine.event(call, handle)?.device;
        engine.check(call, device)?;
        engine.refuse_captured_event(call, handle)?;
        engine.refuse_held_back(call)?;
        match engine.event(call, handle)?.newest() {
            NewestRecord::None => Ok(()),
            NewestRecord::Here(token) => {
                Engine::wait(&mut engine, &token);
                engine.check(call, device)
            }
            NewestRecord::Elsewhere(record) => {
                MutexGuard::unlocked(&mut engine, || record.wait());
                engine.check(call, device)
            }
        }
    }
}
