//! Injected faults: the calls, operations, allocations and records that a test lets fail.
//!
//! Every request counts down from now: 1 is the next call, operation, allocation or record of its
//! kind. A request is used up when it strikes; several may be pending at once.
#![forbid(unsafe_code)]

use std::sync::atomic::{AtomicBool, Ordering};

use sconce_base::lock::{Mutex, rank};

use crate::call::Call;

#[derive(Default)]
struct FaultRequests {
    calls: Vec<FaultRequest<(Call, i32)>>,
    operations: Vec<FaultRequest<(Call, i32)>>,
    allocations: Vec<FaultRequest<()>>,
    stuck_records: Vec<FaultRequest<()>>,
}

struct FaultRequest<T> {
    left: u64,
    what: T,
}

impl FaultRequests {
    fn is_empty(&self) -> bool {
        self.calls.is_empty()
            && self.operations.is_empty()
            && self.allocations.is_empty()
            && self.stuck_records.is_empty()
    }
}

/// The pending requests of one simulator.
#[derive(Default)]
pub(crate) struct Faults {
    /// Whether any request is pending. Calls take the lock only then.
    armed: AtomicBool,
    requests: Mutex<rank::SimFaults, FaultRequests>,
}

impl Faults {
    pub(crate) fn fail_call(&self, call: Call, nth: u64, code: i32) {
        self.arm(|requests| requests.calls.push(FaultRequest { left: nth, what: (call, code) }));
    }

    pub(crate) fn fail_operation(&self, call: Call, nth: u64, code: i32) {
        self.arm(|requests| {
            requests.operations.push(FaultRequest { left: nth, what: (call, code) })
        });
    }

    pub(crate) fn fail_allocation(&self, nth: u64) {
        self.arm(|requests| requests.allocations.push(FaultRequest { left: nth, what: () }));
    }

    pub(crate) fn stick_record(&self, nth: u64) {
        self.arm(|requests| requests.stuck_records.push(FaultRequest { left: nth, what: () }));
    }

    pub(crate) fn clear(&self) {
        let mut requests = self.requests.lock();
        *requests = FaultRequests::default();
        self.armed.store(false, Ordering::Release);
    }

    /// The code with which this call is to fail at once.
    pub(crate) fn of_call(&self, call: Call) -> Option<i32> {
        self.strike(|r| strike(&mut r.calls, |(kind, _)| *kind == call)).map(|(_, code)| code)
    }

    /// The code with which this operation is to fail when it runs.
    pub(crate) fn of_operation(&self, call: Call) -> Option<i32> {
        self.strike(|r| strike(&mut r.operations, |(kind, _)| *kind == call)).map(|(_, code)| code)
    }

    /// Whether this allocation is to find no memory.
    pub(crate) fn of_allocation(&self) -> bool {
        self.strike(|r| strike(&mut r.allocations, |()| true)).is_some()
    }

    /// Whether this record is never to complete.
    pub(crate) fn of_record(&self) -> bool {
        self.strike(|r| strike(&mut r.stuck_records, |()| true)).is_some()
    }

    fn arm(&self, add: impl FnOnce(&mut FaultRequests)) {
        let mut requests = self.requests.lock();
        add(&mut requests);
        self.armed.store(true, Ordering::Release);
    }

    fn strike<T>(&self, find: impl FnOnce(&mut FaultRequests) -> Option<T>) -> Option<T> {
        if !self.armed.load(Ordering::Acquire) {
            return None;
        }
        let mut requests = self.requests.lock();
        let found = find(&mut requests);
        if requests.is_empty() {
            self.armed.store(false, Ordering::Release);
        }
        found
    }
}

/// Counts every matching request down by one and takes out the first that reaches its turn.
fn strike<T>(requests: &mut Vec<FaultRequest<T>>, matches: impl Fn(&T) -> bool) -> Option<T> {
    for request in requests.iter_mut().filter(|request| matches(&request.what)) {
        request.left = request.left.saturating_sub(1);
    }
    let due = requests.iter().position(|request| request.left == 0 && matches(&request.what))?;
    Some(requests.remove(due).what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_strikes_once_at_its_turn_and_only_its_kind() {
        let faults = Faults::default();
        faults.fail_call(Call::EventCreate, 2, 719);
        assert_eq!(faults.of_call(Call::StreamCreate), None);
        assert_eq!(faults.of_call(Call::EventCreate), None);
        assert_eq!(faults.of_call(Call::EventCreate), Some(719));
        assert_eq!(faults.of_call(Call::EventCreate), None);
        assert!(!faults.armed.load(Ordering::Relaxed));
    }

    #[test]
    fn requests_count_side_by_side_and_clear_forgets_all() {
        let faults = Faults::default();
        faults.fail_allocation(1);
        faults.fail_allocation(3);
        assert_eq!([(); 4].map(|()| faults.of_allocation()), [true, false, true, false]);
        faults.stick_record(1);
        faults.fail_operation(Call::FillAsync, 1, 700);
        faults.clear();
        assert!(!faults.of_record());
        assert_eq!(faults.of_operation(Call::FillAsync), None);
    }
}
