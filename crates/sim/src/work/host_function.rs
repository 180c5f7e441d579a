//! Users' functions that run in stream order.
#![forbid(unsafe_code)]

use std::sync::atomic::{AtomicBool, Ordering};

use sconce_driver::HostFunction;

use crate::host::place::{call_alternative, call_host_function};
use crate::machine::operation::{Pace, QueuedWork};
use crate::memory::Accesses;

/// A queued function of a user. A function that was captured is called at each launch of the graph.
pub(crate) struct HostFunctionWork {
    function: HostFunction,
    /// It has run.
    called: AtomicBool,
}

impl HostFunctionWork {
    pub(crate) fn new(function: HostFunction) -> HostFunctionWork {
        HostFunctionWork { function, called: AtomicBool::new(false) }
    }
}

impl QueuedWork for HostFunctionWork {
    fn pace(&self) -> Pace {
        Pace::Thread
    }

    fn accesses(&self) -> Accesses {
        Accesses::Unknown
    }

    fn run(&self) -> Result<(), i32> {
        self.called.store(true, Ordering::Relaxed);
        call_host_function(self.function);
        Ok(())
    }

    /// Work with an alternative is never captured, so it runs at most once.
    fn is_to_be_abandoned(&self) -> bool {
        self.function.has_alternative() && !self.called.load(Ordering::Relaxed)
    }

    fn abandon(&self) {
        call_alternative(self.function);
    }
}
