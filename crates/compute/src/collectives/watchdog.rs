//! The thread that ends communicators whose calls or work take too long. It begins with the first communicator that has
//! a limit and ends with the last.

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use sconce_base::error::{Error, Result, Status};
use sconce_base::lock::{Mutex, rank};
use sconce_base::log;
use sconce_driver::{CaptureMode, Driver};

use super::comm::Comm;

/// The pause between two looks, and how much of the shortest limit it may be.
const LONGEST_PAUSE: Duration = Duration::from_millis(100);
const SHARE_OF_LIMIT: u32 = 8;

/// The watched communicators.
struct WatchedComms {
    comms: Vec<Weak<Comm>>,
    has_thread: bool,
}

static WATCHED: Mutex<rank::CommsWatched, WatchedComms> =
    Mutex::new(WatchedComms { comms: Vec::new(), has_thread: false });

/// Watches a communicator from now on.
pub(super) fn watch(comm: &Arc<Comm>) {
    let mut watched = WATCHED.lock();
    watched.comms.push(Arc::downgrade(comm));
    if watched.has_thread {
        return;
    }
    let driver = comm.runtime.driver();
    let thread = std::thread::Builder::new().name("sconce-comm".to_owned());
    match thread.spawn(move || look_on(driver)) {
        Ok(_) => watched.has_thread = true,
        Err(why) => {
            drop(watched);
            log::error(format_args!(
                "no thread could be started to watch collective calls ({why}); their timeouts are not enforced"
            ));
        }
    }
}

fn look_on(driver: &'static dyn Driver) {
    // Captures of other threads must not be spoilt by the queries.
    let _ = driver.exchange_capture_mode(CaptureMode::Relaxed);
    loop {
        let comms: Vec<Arc<Comm>> = {
            let mut watched = WATCHED.lock();
            watched.comms.retain(|comm| comm.strong_count() > 0);
            if watched.comms.is_empty() {
                watched.has_thread = false;
                return;
            }
            watched.comms.iter().filter_map(Weak::upgrade).collect()
        };
        let mut pause = LONGEST_PAUSE;
        for comm in &comms {
            if let Some(limit) = comm.config.limit.of_calls() {
                pause = pause.min((limit / SHARE_OF_LIMIT).max(Duration::from_millis(1)));
            }
            if let Err(why) = look_at(comm) {
                log::error(format_args!("a communicator is aborted: {why}"));
                comm.break_off(&why);
                comm.watched.lock().clear();
            }
        }
        drop(comms);
        std::thread::sleep(pause);
    }
}

/// Drops work that has ended; fails if the communicator is broken or work is overdue.
fn look_at(comm: &Comm) -> Result<()> {
    if comm.failure.check().is_err() {
        // It has been broken already.
        comm.watched.lock().clear();
        return Ok(());
    }
    if let Some(limit) = comm.config.limit.of_calls()
        && comm.inside_for().is_some_and(|time| time > limit)
    {
        let why = format!("a call has waited for the other ranks for {limit:?}, and is not queued");
        return Err(Error::new(Status::Timeout, why));
    }
    let Some(limit) = comm.config.limit.of_work() else { return Ok(()) };
    comm.poll()?;
    let _asks = comm.runtime.driver().asks_for_itself();
    loop {
        let first =
            comm.watched.lock().front().map(|work| (Arc::clone(&work.event), work.deadline));
        let Some((event, deadline)) = first else { return Ok(()) };
        if comm.runtime.driver().event_query(event.handle())? {
            comm.watched.lock().pop_front();
            continue;
        }
        if Instant::now() < deadline {
            return Ok(());
        }
        let late = comm.watched.lock().pop_front();
        let (sequence, name) = late.map_or((0, ""), |work| (work.sequence, work.name));
        return Err(Error::new(
            Status::Timeout,
            format!("call {sequence} ({name}) was not done {limit:?} after it was queued"),
        ));
    }
}
