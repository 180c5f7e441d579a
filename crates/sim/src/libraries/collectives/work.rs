//! The operation of a stream: a collective call, or a group of sends and receives.
//!
//! An operation is *entered* when its rank gives its elements to the others, and is over when it has its result. It
//! waits on its thread. In manual mode nothing waits: an operation at the head of its stream is entered when the
//! machine asks whether it may start, and starts once the others have been entered, too.
#![forbid(unsafe_code)]

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use sconce_base::error::{Error, Status};
use sconce_base::lock::{RwLock, rank};
use sconce_base::log;
use sconce_driver::CommCall;

use super::stop::WorkStop;
use super::{collective, exchange};
use crate::machine::operation::{Pace, QueuedWork};
use crate::memory::{Accesses, AddressSpace, DeviceMemoryView, MemoryAccess};
use crate::processes::board::Standing;
use crate::processes::rank::{EnteredOperation, Rank, RankProgress};

/// What an operation does.
pub(crate) enum Calls {
    Collective(CommCall),
    /// Sends and receives.
    Group(Vec<CommCall>),
}

impl Calls {
    /// The memory that they use on a rank of a number of ranks.
    pub(crate) fn accesses(&self, place: (usize, usize)) -> Vec<MemoryAccess> {
        match self {
            Calls::Collective(call) => collective::accesses(place, call),
            Calls::Group(calls) => exchange::accesses(calls),
        }
    }
}

/// A queued operation of a rank.
pub(super) struct CommWork {
    pub(super) space: Arc<RwLock<rank::SimSpace, AddressSpace>>,
    pub(super) rank: Arc<Rank>,
    pub(super) calls: Calls,
}

impl CommWork {
    /// Enters the operation unless that has been done; `None` while another one of the rank is under way.
    fn enter(
        &self,
        progress: &mut RankProgress,
        memory: &DeviceMemoryView<'_>,
    ) -> Result<Option<u64>, WorkStop> {
        let operation = std::ptr::from_ref(self).addr();
        match progress.entered {
            Some(entered) if entered.operation == operation => return Ok(Some(entered.number)),
            Some(_) => return Ok(None),
            None => {}
        }
        let number = match &self.calls {
            Calls::Collective(call) => collective::post(&self.rank, progress, call, memory)?,
            Calls::Group(calls) => exchange::post(&self.rank, progress, calls, memory)?,
        };
        progress.entered = Some(EnteredOperation { operation, number });
        Ok(Some(number))
    }

    fn perform(&self, memory: &DeviceMemoryView<'_>) -> Result<(), WorkStop> {
        let mut progress = self.rank.progress.lock();
        if self.rank.has_ended() {
            return Ok(());
        }
        let Some(number) = self.enter(&mut progress, memory)? else {
            let why = "operations of one rank on several streams in manual mode";
            return Err(WorkStop::Comm(Error::not_supported(why)));
        };
        let result = match &self.calls {
            Calls::Collective(call) => collective::complete(&self.rank, call, number, memory),
            Calls::Group(calls) => exchange::complete(&self.rank, &mut progress, calls, memory),
        };
        progress.entered = None;
        result
    }

    /// Ends the rank on account of a failure; returns what the machine learns of it.
    fn fail(&self, why: WorkStop) -> Result<(), i32> {
        match why {
            WorkStop::Device(code) => {
                let why = format!("queued work of rank {} failed with {code}", self.rank.rank);
                self.rank.end(Standing::Failed, Error::new(Status::Driver, why));
                Err(code)
            }
            WorkStop::Comm(why) => {
                self.rank.end(Standing::Failed, why);
                Ok(())
            }
        }
    }

    /// Enters the operation and looks how far the others are; whether it could go on without waiting.
    fn would_go_on(&self, memory: &DeviceMemoryView<'_>) -> Result<bool, WorkStop> {
        let Some(mut progress) = self.rank.progress.try_lock() else { return Ok(false) };
        if self.rank.has_ended() {
            return Ok(true);
        }
        let Some(number) = self.enter(&mut progress, memory)? else { return Ok(false) };
        match &self.calls {
            Calls::Collective(_) => Ok(collective::all_posted(&self.rank, number)),
            Calls::Group(calls) => exchange::advance(&self.rank, &mut progress, calls, memory),
        }
    }
}

impl QueuedWork for CommWork {
    fn pace(&self) -> Pace {
        Pace::Thread
    }

    fn accesses(&self) -> Accesses {
        Accesses::Known(self.calls.accesses(self.rank.place()))
    }

    fn run(&self) -> Result<(), i32> {
        let delay = self.rank.delay_ns.load(Ordering::Relaxed);
        if delay > 0 {
            std::thread::sleep(Duration::from_nanos(delay));
        }
        let accesses = Accesses::to_check(|| QueuedWork::accesses(self));
        let memory = DeviceMemoryView::new(&self.space, self.rank.device, &accesses);
        self.perform(&memory).or_else(|why| {
            if let WorkStop::Comm(why) = &why
                && why.status() != Status::Aborted
            {
                log::error(format_args!("rank {} of a communicator: {why}", self.rank.rank));
            }
            self.fail(why)
        })
    }

    fn may_start(&self) -> bool {
        let accesses = Accesses::to_check(|| QueuedWork::accesses(self));
        let memory = DeviceMemoryView::new(&self.space, self.rank.device, &accesses);
        // A failure ends the rank; the operation then starts and ends at once.
        self.would_go_on(&memory).unwrap_or_else(|why| {
            let _ = self.fail(why);
            true
        })
    }
}
