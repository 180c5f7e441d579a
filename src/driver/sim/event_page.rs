//! What processes share of an event: how many records were queued and how many have ended.
//!
//! A record takes the next ticket when it is queued and announces that ticket when it has ended. The
//! process that queued the newest record is named in the page, so that waiting for a process that
//! has died ends too.
#![forbid(unsafe_code)]

use std::ffi::CStr;
use std::fs::{File, read_to_string};
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::host_mem::SharedPage;
use super::work::POLL;

const MAGIC: u64 = 0x746e_7665_2d63_6e73;

// The counters of the page.
const MAGIC_AT: usize = 0;
const DEVICE_AT: usize = 1;
const QUEUED_AT: usize = 2;
const ENDED_AT: usize = 3;
const PID_AT: usize = 4;
const PID_STARTED_AT: usize = 5;
const NONCE_AT: usize = 6;

/// A random number in the page and in the event's handle, in three counters.
pub(super) type Nonce = [u64; 3];

/// The name of the file that the page is.
pub(super) const EVENT_FILE: &CStr = c"sconce-sim-event";

/// The page of one interprocess event.
pub(super) struct EventPage(SharedPage);

/// One record made by this process.
pub(super) struct SharedTicket {
    page: Arc<EventPage>,
    ticket: u64,
}

/// One record made by another process.
#[derive(Clone)]
pub(super) struct RemoteRecord {
    page: Arc<EventPage>,
    ticket: u64,
    pid: u64,
    pid_started: u64,
}

impl EventPage {
    pub(super) fn new(device: i32, nonce: Nonce) -> io::Result<EventPage> {
        let page = SharedPage::new(EVENT_FILE)?;
        for (at, part) in nonce.into_iter().enumerate() {
            page.counter(NONCE_AT + at).store(part, Ordering::Relaxed);
        }
        page.counter(DEVICE_AT).store(device as u64, Ordering::Relaxed);
        page.counter(MAGIC_AT).store(MAGIC, Ordering::Release);
        Ok(EventPage(page))
    }

    /// The page of another process's event on this device, if it holds this random number.
    pub(super) fn open(file: File, device: i32, nonce: Nonce) -> io::Result<EventPage> {
        let page = EventPage(SharedPage::open(file)?);
        let holds = page.0.counter(MAGIC_AT).load(Ordering::Acquire) == MAGIC
            && page.0.counter(DEVICE_AT).load(Ordering::Relaxed) == device as u64
            && page.nonce() == nonce;
        if holds { Ok(page) } else { Err(io::Error::from(io::ErrorKind::InvalidData)) }
    }

    pub(super) fn nonce(&self) -> Nonce {
        std::array::from_fn(|at| self.0.counter(NONCE_AT + at).load(Ordering::Relaxed))
    }

    pub(super) fn fd(&self) -> i32 {
        self.0.fd()
    }

    /// The newest record's ticket; 0 before the first.
    pub(super) fn newest(&self) -> u64 {
        self.0.counter(QUEUED_AT).load(Ordering::Acquire)
    }

    fn ended(&self) -> u64 {
        self.0.counter(ENDED_AT).load(Ordering::Acquire)
    }

    /// Takes a ticket for a record that is being queued.
    pub(super) fn queue(self: &Arc<Self>) -> SharedTicket {
        let pid = std::process::id();
        self.0.counter(PID_AT).store(u64::from(pid), Ordering::Relaxed);
        self.0
            .counter(PID_STARTED_AT)
            .store(started(u64::from(pid)).unwrap_or(0), Ordering::Relaxed);
        let ticket = self.0.counter(QUEUED_AT).fetch_add(1, Ordering::AcqRel) + 1;
        SharedTicket { page: Arc::clone(self), ticket }
    }

    /// The record with this ticket, made by whoever recorded last.
    pub(super) fn remote(self: &Arc<Self>, ticket: u64) -> RemoteRecord {
        RemoteRecord {
            page: Arc::clone(self),
            ticket,
            pid: self.0.counter(PID_AT).load(Ordering::Relaxed),
            pid_started: self.0.counter(PID_STARTED_AT).load(Ordering::Relaxed),
        }
    }
}

impl SharedTicket {
    pub(super) fn number(&self) -> u64 {
        self.ticket
    }

    pub(super) fn complete(&self) {
        self.page.0.counter(ENDED_AT).fetch_max(self.ticket, Ordering::AcqRel);
    }
}

impl RemoteRecord {
    /// Whether the record has ended, by itself or with its process.
    pub(super) fn is_done(&self) -> bool {
        self.page.ended() >= self.ticket || started(self.pid) != Some(self.pid_started)
    }

    /// Blocks the calling thread until it has ended.
    pub(super) fn wait(&self) {
        const LOOKS_A_CHECK: u32 = 64;
        let mut looks = 0_u32;
        while self.page.ended() < self.ticket {
            looks += 1;
            if looks.is_multiple_of(LOOKS_A_CHECK) && self.is_done() {
                return;
            }
            std::thread::sleep(POLL);
        }
    }
}

/// When a process started, in the system's ticks; `None` when it is not alive. With the number it
/// tells a process from a later one of the same number.
pub(super) fn started(pid: u64) -> Option<u64> {
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
