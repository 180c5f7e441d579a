//! What happens to communicators when the process exits. Those that still have work are aborted: their kernels would
//! wait for ranks that never come, and the driver waits for the kernels before it unloads. Calls that were given up,
//! such as the making of a communicator that took too long, may still run on threads of the backend; the exit waits a
//! while for them. Nothing is finalized any more from then on.
//!
//! The exit must be noticed before static objects are destroyed, since one of them may own a communicator, and before
//! the driver's own exit handlers. An exit handler of this library alone could run too late: handlers and destructors
//! run in the reverse order of their registration. So the exit is noticed in two ways. `exit` destroys the thread-local
//! values of the main thread before anything else, and one of them is ours; a handler covers `exit` on other threads.
#![forbid(unsafe_code)]

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak, mpsc};
use std::time::{Duration, Instant};

use sconce_base::lock::{Mutex, Once, rank, receive};
use sconce_base::process::ExitMark;
use sconce_base::{log, process};

use super::comm::Comm;
use super::failure::aborted;

/// When the end of the process says that it waits for aborts, and when it waits no longer. NCCL is unloaded afterwards,
/// and an abort that still runs then crashes the process. On a host where many processes start and end, an abort frees
/// its memory behind the driver calls of the others, so that it may take seconds.
const WARN_AFTER: Duration = Duration::from_secs(5);
const GIVE_UP_AFTER: Duration = Duration::from_secs(60);

/// The same for calls that were given up and still run. They cannot be aborted, and some never end.
const WARN_OF_CALLS_AFTER: Duration = Duration::from_secs(1);
const GIVE_UP_CALLS_AFTER: Duration = Duration::from_secs(10);

/// The time between two looks at the calls that still run.
const BETWEEN_LOOKS: Duration = Duration::from_millis(2);

/// The communicators that may live.
static LIVE: Mutex<rank::CommsLive, Vec<Weak<Comm>>> = Mutex::new(Vec::new());

static IS_EXITING: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// Of each thread that has made a communicator.
    static MARK: ExitMark = const { ExitMark(begins) };
}

/// Aborts all communicators that have work, at the first sign of an exit. A forked child has none.
extern "C" fn begins() {
    if IS_EXITING.swap(true, Ordering::AcqRel) || process::in_child() {
        return;
    }
    let live: Vec<Arc<Comm>> =
        std::mem::take(&mut *LIVE.lock()).iter().filter_map(Weak::upgrade).collect();
    let live: Vec<Arc<Comm>> = live.into_iter().filter(|comm| comm.may_have_work()).collect();
    if !live.is_empty() {
        abort_all(live);
    }
    if let Some(runtime) = sconce_runtime::context::opened() {
        let pending = || runtime.driver().comm_pending();
        wait_for_calls(pending, WARN_OF_CALLS_AFTER, GIVE_UP_CALLS_AFTER);
    }
}

/// Aborts communicators, and waits for that within limits.
fn abort_all(live: Vec<Arc<Comm>>) {
    // On another thread: thread-local values of this one may be destroyed already, and the driver's abort may block.
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
    if receive::<rank::Idle, _>(done, warn_after).is_ok() {
        return true;
    }
    log::warn(format_args!(
        "the process is ending and has waited {warn_after:?} for its communicators to be aborted; it waits up to \
         {give_up_after:?}. Finalize communicators before main returns to avoid the abort"
    ));
    let left = give_up_after.saturating_sub(warn_after);
    let is_done = receive::<rank::Idle, _>(done, left).is_ok();
    if !is_done {
        log::error(format_args!(
            "the communicators were not aborted in {give_up_after:?}; the process ends without it and may crash"
        ));
    }
    is_done
}

/// Waits until no call of the library runs any more, and says so if it takes long. Returns whether none runs.
fn wait_for_calls(
    pending: impl Fn() -> usize,
    warn_after: Duration,
    give_up_after: Duration,
) -> bool {
    let began = Instant::now();
    let mut has_warned = false;
    loop {
        let calls = pending();
        if calls == 0 {
            return true;
        }
        let waited = began.elapsed();
        if waited >= give_up_after {
            log::error(format_args!(
                "{calls} calls of NCCL that were given up have not ended in {give_up_after:?}; the process ends while \
                 they run and may crash"
            ));
            return false;
        }
        if waited >= warn_after && !has_warned {
            has_warned = true;
            log::warn(format_args!(
                "the process is ending, and {calls} calls of NCCL that were given up still run, such as the making of a \
                 communicator whose other ranks did not come; the process waits up to {give_up_after:?} for them"
            ));
        }
        std::thread::sleep(BETWEEN_LOOKS);
    }
}

/// Makes the exit of the process wait for calls of the library. Every thread that makes a communicator calls this.
pub(super) fn notice() {
    static HANDLER: Once<rank::CommHandler> = Once::new();
    HANDLER.call_once(|| {
        if let Err(why) = process::at_exit(begins) {
            log::warn(format_args!("{why}; communicators may be finalized at exit"));
        }
    });
    // A thread that is ending has no value to destroy any more.
    let _ = MARK.try_with(|_| ());
}

/// Makes the exit of the process abort these communicators.
pub(super) fn watch(comms: &[Arc<Comm>]) {
    notice();
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
    use std::sync::atomic::AtomicUsize;

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
    fn the_end_waits_for_calls_that_were_given_up() {
        let pending = AtomicUsize::new(2);
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| {
                wait_for_calls(|| pending.load(Ordering::Acquire), SHORT, Duration::from_secs(60))
            });
            for _ in 0..2 {
                std::thread::sleep(2 * SHORT);
                assert!(!waits.is_finished());
                pending.fetch_sub(1, Ordering::AcqRel);
            }
            assert!(waits.join().unwrap());
        });
        assert!(!wait_for_calls(|| 1, SHORT, 2 * SHORT));
    }

    #[test]
    fn the_end_gives_up_in_the_end() {
        let (_never_done, all_done) = mpsc::channel();
        assert!(!wait_for_aborts(&all_done, SHORT, 2 * SHORT));
    }
}
