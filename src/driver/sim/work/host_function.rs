//! Users' functions that run in stream order.
#![forbid(unsafe_code)]

use crate::driver::HostFunction;
use crate::driver::sim::host::place::call_host_function;
use crate::driver::sim::host::program_code::ProgramCode;
use crate::driver::sim::machine::operation::{Pace, QueuedWork};
use crate::driver::sim::memory::Accesses;

/// A queued function of a user. A function that was captured is called at each launch of the graph.
pub(crate) struct HostFunctionWork(HostFunction);

impl HostFunctionWork {
    pub(crate) fn new(function: HostFunction) -> HostFunctionWork {
        HostFunctionWork(function)
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
        let _code = ProgramCode::enter("a host function");
        call_host_function(self.0);
        Ok(())
    }
}
