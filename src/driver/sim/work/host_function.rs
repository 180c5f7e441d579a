//! Users' functions that run in stream order.
#![forbid(unsafe_code)]

use std::cell::Cell;

use crate::driver::HostFunction;
use crate::driver::sim::host::place::call_host_function;
use crate::driver::sim::machine::operation::{Pace, QueuedWork};
use crate::driver::sim::memory::Accesses;

/// A queued function of a user, which is called at most once.
pub(crate) struct HostFunctionWork(Cell<Option<HostFunction>>);

impl HostFunctionWork {
    pub(crate) fn new(function: HostFunction) -> HostFunctionWork {
        HostFunctionWork(Cell::new(Some(function)))
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
        if let Some(function) = self.0.take() {
            call_host_function(function);
        }
        Ok(())
    }
}
