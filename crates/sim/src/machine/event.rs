//! Events: each holds the token of its newest record.
#![forbid(unsafe_code)]

use std::sync::Arc;

use sconce_base::types::DeviceIndex;
use sconce_driver::EventFlags;

use super::captures::CapturedRecord;
use super::token::Token;
use crate::processes::event_page::{EventPage, RemoteRecord};

/// An event of the simulator.
pub(crate) struct Event {
    pub(crate) device: DeviceIndex,
    pub(crate) flags: EventFlags,
    /// The newest record that this process made outside captures.
    own: Option<Arc<Token>>,
    /// The newest record, if it went into a capture.
    pub(crate) captured: Option<CapturedRecord>,
    /// The shared page of an interprocess event, and the ticket of `own`.
    pub(crate) shared: Option<(Arc<EventPage>, u64)>,
}

/// The newest record of an event, by any process.
pub(crate) enum NewestRecord {
    None,
    Here(Arc<Token>),
    Elsewhere(RemoteRecord),
}

impl Event {
    pub(crate) fn new(device: DeviceIndex, flags: EventFlags, page: Option<EventPage>) -> Event {
        let shared = page.map(|page| (Arc::new(page), 0));
        Event { device, flags, own: None, captured: None, shared }
    }

    pub(crate) fn newest(&self) -> NewestRecord {
        if let Some((page, own)) = &self.shared {
            let ticket = page.newest();
            if ticket != *own {
                return NewestRecord::Elsewhere(page.remote(ticket));
            }
        }
        self.own.clone().map_or(NewestRecord::None, NewestRecord::Here)
    }

    /// The newest record that this process made outside captures.
    pub(crate) fn own_record(&self) -> Option<&Token> {
        self.own.as_deref()
    }

    /// Notes a record that is queued, with its ticket if the event is shared with other processes.
    pub(crate) fn set_record(&mut self, record: Arc<Token>, ticket: u64) {
        self.own = Some(record);
        self.captured = None;
        if let Some((_, own)) = &mut self.shared {
            *own = ticket;
        }
    }
}
