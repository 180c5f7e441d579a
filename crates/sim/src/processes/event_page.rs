//! The page of an interprocess event that processes share: its newest record and its pending records.
//!
//! A record takes the next ticket when it is queued, and a slot of the page until it has ended. The slot
//! names the ticket and the process that recorded, so that the end of one process's record does not
//! affect another's, and a wait for a process that has died ends too.
#![forbid(unsafe_code)]

use std::ffi::CStr;
use std::fs::{File, read_to_string};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::host::pages::SharedPage;

/// The pause between two checks of another process's record.
const POLL: Duration = Duration::from_micros(100);

const MAGIC: u64 = 0x746e_7665_2d63_6e73;

// The counters of the page.
const MAGIC_AT: usize = 0;
const DEVICE_AT: usize = 1;
/// The newest ticket that was taken, and the newest whose record is queued.
const TAKEN_AT: usize = 2;
const NEWEST_AT: usize = 3;
const NONCE_AT: usize = 4;
const SLOTS_AT: usize = 16;

/// A slot's counters: its ticket, or 0 if it is free; the process, by number (0: none) and start.
const TICKET: usize = 0;
const PID: usize = 1;
const PID_STARTED: usize = 2;
const SLOT_COUNTERS: usize = 3;
/// How many records of an event can be pending. Other processes consider further ones completed.
const SLOTS: usize = (SharedPage::COUNTERS - SLOTS_AT) / SLOT_COUNTERS;

/// A random number in the page and in the event's handle, in three counters.
pub(crate) type Nonce = [u64; 3];

/// The name of the page's file.
pub(crate) const EVENT_FILE: &CStr = c"sconce-sim-event";

/// The page of one interprocess event.
pub(crate) struct EventPage(SharedPage);

/// One record made by this process.
pub(crate) struct SharedTicket {
    page: Arc<EventPage>,
    ticket: u64,
    slot: Option<usize>,
}

/// One record made by another process.
#[derive(Clone)]
pub(crate) struct RemoteRecord {
    page: Arc<EventPage>,
    ticket: u64,
    /// `None` if it had completed when it was looked up.
    slot: Option<usize>,
    pid: u64,
    pid_started: u64,
}

impl EventPage {
    pub(crate) fn new(device: i32, nonce: Nonce) -> io::Result<EventPage> {
        let page = SharedPage::new(EVENT_FILE)?;
        for (at, part) in nonce.into_iter().enumerate() {
            page.counter(NONCE_AT + at).store(part, Ordering::Relaxed);
        }
        page.counter(DEVICE_AT).store(device as u64, Ordering::Relaxed);
        page.counter(MAGIC_AT).store(MAGIC, Ordering::Release);
        Ok(EventPage(page))
    }

    /// The page of another process's event on this device, if it holds this random number.
    pub(crate) fn open(file: File, device: i32, nonce: Nonce) -> io::Result<EventPage> {
        let page = EventPage(SharedPage::open(file)?);
        let holds = page.0.counter(MAGIC_AT).load(Ordering::Acquire) == MAGIC
            && page.0.counter(DEVICE_AT).load(Ordering::Relaxed) == device as u64
            && page.nonce() == nonce;
        if holds { Ok(page) } else { Err(io::Error::from(io::ErrorKind::InvalidData)) }
    }

    pub(crate) fn nonce(&self) -> Nonce {
        std::array::from_fn(|at| self.0.counter(NONCE_AT + at).load(Ordering::Relaxed))
    }

    pub(crate) fn fd(&self) -> i32 {
        self.0.fd()
    }

    /// The newest record's ticket; 0 before the first.
    pub(crate) fn newest(&self) -> u64 {
        self.0.counter(NEWEST_AT).load(Ordering::Acquire)
    }

    fn of_slot(&self, slot: usize, which: usize) -> &AtomicU64 {
        self.0.counter(SLOTS_AT + slot * SLOT_COUNTERS + which)
    }

    /// Takes a free slot for a ticket; `None` when all are taken by records of living processes.
    fn take_slot(&self, ticket: u64) -> Option<usize> {
        let free = || {
            (0..SLOTS).find(|slot| {
                let place = self.of_slot(*slot, TICKET);
                place.compare_exchange(0, ticket, Ordering::AcqRel, Ordering::Relaxed).is_ok()
            })
        };
        free().or_else(|| {
            self.free_slots_of_the_dead();
            free()
        })
    }

    fn free_slots_of_the_dead(&self) {
        for slot in 0..SLOTS {
            let ticket = self.of_slot(slot, TICKET).load(Ordering::Acquire);
            let (pid, start) = (self.of_slot(slot, PID), self.of_slot(slot, PID_STARTED));
            let number = pid.load(Ordering::Acquire);
            // Without a process a slot has just been taken. Only one caller may free it.
            let dead = ticket != 0
                && number != 0
                && started(number) != Some(start.load(Ordering::Relaxed))
                && pid.compare_exchange(number, 0, Ordering::AcqRel, Ordering::Relaxed).is_ok();
            if dead {
                let place = self.of_slot(slot, TICKET);
                let _ = place.compare_exchange(ticket, 0, Ordering::AcqRel, Ordering::Relaxed);
            }
        }
    }

    /// Takes a ticket for a record that is being queued.
    pub(crate) fn queue(self: &Arc<Self>) -> SharedTicket {
        let ticket = self.0.counter(TAKEN_AT).fetch_add(1, Ordering::AcqRel) + 1;
        let slot = self.take_slot(ticket);
        if let Some(slot) = slot {
            let pid = u64::from(std::process::id());
            let start = started(pid).unwrap_or(0);
            self.of_slot(slot, PID_STARTED).store(start, Ordering::Relaxed);
            self.of_slot(slot, PID).store(pid, Ordering::Release);
        }
        // Other processes read the ticket from now on, and find its slot complete.
        self.0.counter(NEWEST_AT).fetch_max(ticket, Ordering::AcqRel);
        SharedTicket { page: Arc::clone(self), ticket, slot }
    }

    /// The record with this ticket.
    pub(crate) fn remote(self: &Arc<Self>, ticket: u64) -> RemoteRecord {
        let slot =
            (0..SLOTS).find(|slot| self.of_slot(*slot, TICKET).load(Ordering::Acquire) == ticket);
        let of_slot =
            |which| slot.map_or(0, |slot| self.of_slot(slot, which).load(Ordering::Acquire));
        let (pid, pid_started) = (of_slot(PID), of_slot(PID_STARTED));
        RemoteRecord { page: Arc::clone(self), ticket, slot, pid, pid_started }
    }
}

impl SharedTicket {
    pub(crate) fn number(&self) -> u64 {
        self.ticket
    }

    pub(crate) fn complete(&self) {
        if let Some(slot) = self.slot {
            self.page.of_slot(slot, PID).store(0, Ordering::Release);
            self.page.of_slot(slot, TICKET).store(0, Ordering::Release);
        }
    }
}

impl RemoteRecord {
    fn has_ended(&self) -> bool {
        let Some(slot) = self.slot else { return true };
        self.page.of_slot(slot, TICKET).load(Ordering::Acquire) != self.ticket
    }

    /// Whether the record has ended, by itself or with its process.
    pub(crate) fn is_done(&self) -> bool {
        self.has_ended() || started(self.pid) != Some(self.pid_started)
    }

    /// Blocks the calling thread until it has ended.
    pub(crate) fn wait(&self) {
        const LOOKS_A_CHECK: u32 = 64;
        let mut looks = 0_u32;
        while !self.has_ended() {
            looks += 1;
            if looks.is_multiple_of(LOOKS_A_CHECK) && self.is_done() {
                return;
            }
            std::thread::sleep(POLL);
        }
    }
}

/// The time at which a process started, in the system's ticks; `None` when it is not alive. Number and time
/// together distinguish a process from a later one of the same number.
pub(crate) fn started(pid: u64) -> Option<u64> {
    let stat = read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name, in parentheses, may hold anything; fields are counted after it.
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
    let state = fields.next()?;
    if matches!(state, "Z" | "X" | "x") {
        return None;
    }
    fields.nth(18)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_seen_through_another_mapping_of_the_page() {
        let nonce = [1, 2, 3];
        let page = Arc::new(EventPage::new(3, nonce).unwrap());
        let path = format!("/proc/self/fd/{}", page.fd());
        let open = || File::options().read(true).write(true).open(&path).unwrap();
        assert!(EventPage::open(open(), 2, nonce).is_err());
        assert!(EventPage::open(open(), 3, [1, 2, 4]).is_err());
        let other = Arc::new(EventPage::open(open(), 3, nonce).unwrap());
        assert_eq!(other.newest(), 0);
        let ticket = page.queue();
        let remote = other.remote(other.newest());
        assert!(!remote.is_done());
        ticket.complete();
        assert!(remote.is_done());
        remote.wait();
    }

    #[test]
    fn a_second_recorders_end_is_not_the_firsts() {
        let page = Arc::new(EventPage::new(0, [0; 3]).unwrap());
        let first = page.queue();
        let of_first = page.remote(page.newest());
        let second = page.queue();
        let of_second = page.remote(page.newest());
        assert!(first.number() < second.number());
        second.complete();
        assert!(of_second.is_done() && !of_first.is_done());
        first.complete();
        assert!(of_first.is_done());
        // Completed before it was looked up.
        assert!(page.remote(second.number()).is_done());
    }

    #[test]
    fn slots_of_completed_records_and_of_dead_processes_are_used_again() {
        let page = Arc::new(EventPage::new(0, [0; 3]).unwrap());
        for _ in 0..3 * SLOTS {
            page.queue().complete();
        }
        let tickets: Vec<_> = (0..SLOTS).map(|_| page.queue()).collect();
        assert!(tickets.iter().all(|ticket| ticket.slot.is_some()));
        assert!(page.queue().slot.is_none());
        // As if it were of a process that has died.
        page.of_slot(7, PID).store(u64::from(u32::MAX), Ordering::Relaxed);
        assert!(page.remote(tickets[7].number()).is_done());
        assert_eq!(page.queue().slot, Some(7));
    }

    #[test]
    fn a_dead_process_ends_the_wait() {
        let page = Arc::new(EventPage::new(0, [0; 3]).unwrap());
        let _ticket = page.queue();
        let mut remote = page.remote(1);
        assert!(!remote.is_done());
        remote.pid_started += 1;
        remote.wait();
        assert!(remote.is_done());
    }

    #[test]
    fn the_own_process_has_a_start_and_no_process_has_none() {
        assert!(started(u64::from(std::process::id())).is_some());
        assert_eq!(started(u64::from(u32::MAX)), None);
    }
}
