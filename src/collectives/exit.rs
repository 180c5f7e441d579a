//! The end of the process. Communicators that live then are aborted, as their kernels would wait for ranks that never
//! come, and the driver would wait for the kernels. Ends are not finalized any more.
//!
//! An object in static storage destroys its communicator while the process ends. Its destructor may run before
//! handlers that were installed while it was made, and after the driver's own. So there are two marks: a value of the
//! main thread, which `exit` destroys first of all, and a handler of `exit`, for other threads that call it.
#![forbid(unsafe_code)]

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Once, Weak, mpsc};
use std::time::Duration;

use super::comm::Comm;
use super::failure::aborted;
use crate::lock::Mutex;
use crate::{log, process};

/// When the end of the process says that it waits for aborts, and when it waits no longer. NCCL is unloaded afterwards,
/// and an abort that still runs then crashes the process. On a host where many processes start and end, an abort frees
/// its memory behind the driver calls of the others, so that it may take seconds.
const WARN_AFTER: Duration = Duration::from_secs(5);
const GIVE_UP_AFTER: Duration = Duration::from_secs(60);

/// The communicators that may live.
static LIVE: Mutex<Vec<Weak<Comm>>> = Mutex::new(Vec::new());

static IS_EXITING: AtomicBool = AtomicBool::new(false);

/// A value of a thread that has made a communicator.
struct Mark;

impl Drop for Mark {
    fn drop(&mut self) {
        if rustix::thread::gettid() == rustix::process::getpid() {
            begins();
        }
    }
}

thread_local! {
    static MARK: Mark = const { Mark };
}

/// The process begins to end. A forked child has no communicators.
extern "C" fn begins() {
    if IS_EXITING.swap(true, Ordering::AcqRel) || process::in_child() {
        return;
    }
    let live: Vec<Arc<Comm>> =
        std::mem::take(&mut *LIVE.lock()).iter().filter_map(Weak::upgrade).collect();
    let live: Vec<Arc<Comm>> = live.into_iter().filter(|comm| comm.may_have_work()).collect();
    if live.is_empty() {
        return;
    }
    // On a thread of its own: values of this one may be gone, and a driver's abort may wait.
    let (done, all_done) = mpsc::channel();
    let abort = move || {
        for comm in &live {
            comm.break_off(&aborted());
        }
        let _ = done.send(());
    };
    let thread = std::thread::Builder::new().name("sconce-exit".to_owned());
    if thread.spawn(abort).is_ok() {
        wait_for_aborts(&all_done, WARN_AFTER, GIVE_UP_AFTER);
    }
}

/// Waits until the aborts are done, and says so if it takes long. Returns whether they are done.
fn wait_for_aborts(
    done: &mpsc::Receiver<()>,
    warn_after: Duration,
    give_up_after: Duration,
) -> bool {
    if done.recv_timeout(warn_after).is_ok() {
        return true;
    }
    log::warn(format_args!(
        "the process is ending and has waited {warn_after:?} for its communicators to be aborted; it waits up to \
         {give_up_after:?}. Finalize communicators before main returns to avoid the abort"
    ));
    let is_done = done.recv_timeout(give_up_after.saturating_sub(warn_after)).is_ok();
    if !is_done {
        log::error(format_args!(
            "the communicators were not aborted in {give_up_after:?}; the process ends without it and may crash"
        ));
    }
    is_done
}

/// Learns of the end of the process from now on, for these communicators too. Every thread that makes some calls it.
pub(super) fn watch(comms: &[Arc<Comm>]) {
    static HANDLER: Once = Once::new();
    HANDLER.call_once(|| {
        if let Err(why) = process::at_exit(begins) {
            log::warn(format_args!("{why}; communicators may be finalized at exit"));
        }
    });
    // A thread that is ending has no value to destroy any more.
    let _ = MARK.try_with(|_| ());
    let mut live = LIVE.lock();
    live.retain(|comm| comm.strong_count() > 0);
    live.extend(comms.iter().map(Arc::downgrade));
}

/// Whether the process is ending.
pub(super) fn is_exiting() -> bool {
    IS_EXITING.load(Ordering::Acquire)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const SHORT: Duration = Duration::from_millis(20);

    #[test]
    fn the_end_waits_longer_than_until_its_warning() {
        let (done, all_done) = mpsc::channel();
        let slow = std::thread::spawn(move || {
            std::thread::sleep(3 * SHORT);
            done.send(())
        });
        assert!(wait_for_aborts(&all_done, SHORT, Duration::from_secs(60)));
        slow.join().unwrap().unwrap();
    }

    #[test]
    fn the_end_gives_up_in_the_end() {
        let (_never_done, all_done) = mpsc::channel();
        assert!(!wait_for_aborts(&all_done, SHORT, 2 * SHORT));
    }
}
