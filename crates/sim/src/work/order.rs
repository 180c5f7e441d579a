//! Records of events and waits for them.
#![forbid(unsafe_code)]

use crate::machine::operation::{Pace, QueuedWork};
use crate::memory::Accesses;
use crate::processes::event_page::{RemoteRecord, SharedTicket};

/// A record of an event, or a wait for a record by this process. It does nothing in its turn: other operations
/// wait for its token, and the record that a wait is for is among its operation's dependencies.
pub(crate) struct OrderingWork;

impl QueuedWork for OrderingWork {
    fn pace(&self) -> Pace {
        Pace::Instant
    }

    fn accesses(&self) -> Accesses {
        Accesses::NONE
    }

    fn run(&self) -> Result<(), i32> {
        Ok(())
    }
}

/// A record of an event that is shared with other processes, which see the ticket.
pub(crate) struct SharedRecordWork(pub(crate) SharedTicket);

impl QueuedWork for SharedRecordWork {
    fn pace(&self) -> Pace {
        Pace::Instant
    }

    fn accesses(&self) -> Accesses {
        Accesses::NONE
    }

    fn run(&self) -> Result<(), i32> {
        Ok(())
    }

    fn announce_end(&self) {
        self.0.complete();
    }
}

/// A wait for a record by another process.
pub(crate) struct RemoteWaitWork(pub(crate) RemoteRecord);

impl QueuedWork for RemoteWaitWork {
    fn pace(&self) -> Pace {
        Pace::Thread
    }

    fn accesses(&self) -> Accesses {
        Accesses::NONE
    }

    fn run(&self) -> Result<(), i32> {
        self.0.wait();
        Ok(())
    }

    fn may_start(&self) -> bool {
        self.0.is_done()
    }
}
