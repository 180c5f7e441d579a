//! Threads that wait, and the thread that looks whether their waits take too long. It begins with a wait and ends a
//! while after the last one.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use sconce_base::{log, process};

use crate::Sanitizer;
use crate::clock::Lane;
use crate::pending::{Awaited, Suspect, Wait};

/// The pause between two looks, and how much of the limit it may be.
const LONGEST_PAUSE: Duration = Duration::from_millis(100);
const SHARE_OF_LIMIT: u32 = 8;
/// How long the thread stays when nobody waits.
const STAYS: Duration = Duration::from_secs(1);

/// The waits of all threads.
#[derive(Default)]
pub(crate) struct Waits {
    all: BTreeMap<u64, Watched>,
    begun: u64,
    has_thread: bool,
}

struct Watched {
    wait: Wait,
    is_reported: bool,
    progress: Progress,
}

/// Where the streams stand that a wait waits for: the number of the operation that each is at, if the driver tells.
type Stand = Vec<(Lane, Option<u64>)>;

/// Since when nothing has moved that a wait waits for.
struct Progress {
    since: Instant,
    last: Option<Stand>,
}

impl Progress {
    fn begins(now: Instant) -> Progress {
        Progress { since: now, last: None }
    }

    /// The streams stand so now. Whether they have stood still for `limit`.
    fn stands_still(&mut self, stand: Stand, now: Instant, limit: Duration) -> bool {
        let has_moved = self.last.as_ref().is_some_and(|last| *last != stand);
        if has_moved {
            self.since = now;
        }
        self.last = Some(stand);
        now.duration_since(self.since) >= limit
    }
}

/// A wait, until it is dropped.
pub(crate) struct Watch {
    sanitizer: Arc<Sanitizer>,
    number: u64,
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.sanitizer.waits.lock().all.remove(&self.number);
    }
}

impl Sanitizer {
    /// The calling thread begins to wait.
    pub(crate) fn awaits(self: &Arc<Self>, awaited: Awaited) -> Option<Watch> {
        if self.config.hang.is_zero() || !self.is_enabled() || process::in_child() {
            return None;
        }
        let wait = self.checker.lock().wait_begins(awaited)?;
        let mut waits = self.waits.lock();
        waits.begun += 1;
        let number = waits.begun;
        let progress = Progress::begins(Instant::now());
        waits.all.insert(number, Watched { wait, is_reported: false, progress });
        let starts = !std::mem::replace(&mut waits.has_thread, true);
        drop(waits);
        if starts {
            let sanitizer = Arc::clone(self);
            let thread = std::thread::Builder::new().name("sconce-sanitizer".to_owned());
            if let Err(why) = thread.spawn(move || sanitizer.look_on()) {
                self.waits.lock().has_thread = false;
                log::error(format_args!(
                    "no thread could be started to watch waits ({why}); waits that do not end are not reported"
                ));
            }
        }
        Some(Watch { sanitizer: Arc::clone(self), number })
    }

    fn look_on(&self) {
        let pause =
            (self.config.hang / SHARE_OF_LIMIT).clamp(Duration::from_millis(1), LONGEST_PAUSE);
        let mut busy = Instant::now();
        while !process::is_exiting() {
            let mut waits = self.waits.lock();
            if !waits.all.is_empty() {
                busy = Instant::now();
            } else if busy.elapsed() > STAYS {
                waits.has_thread = false;
                return;
            }
            let all = waits.all.iter().filter(|(_, watched)| !watched.is_reported);
            let all: Vec<(u64, Wait)> =
                all.map(|(number, watched)| (*number, watched.wait.clone())).collect();
            drop(waits);
            for (number, wait) in all {
                self.look_at(number, &wait);
            }
            std::thread::sleep(pause);
        }
    }

    /// Reports a wait if nothing has moved for too long that it waits for.
    fn look_at(&self, number: u64, wait: &Wait) {
        let mut suspects = self.checker.lock().suspects(wait);
        for suspect in &mut suspects {
            suspect.head = self.driver.stream_head(suspect.stream);
        }
        let at = |it: &Suspect| (it.lane, it.head.map(|head| head.announced));
        let stand = suspects.iter().map(at).collect();
        let mut waits = self.waits.lock();
        // It may have ended meanwhile.
        let Some(watched) = waits.all.get_mut(&number) else { return };
        if !watched.progress.stands_still(stand, Instant::now(), self.config.hang) {
            return;
        }
        watched.is_reported = true;
        drop(waits);
        let limit = self.config.hang.as_secs_f64().to_string();
        self.tell(|checker| checker.hangs(wait, &suspects, &limit));
        // No call may end that would deliver it.
        log::flush();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_counts_from_the_last_move() {
        let limit = Duration::from_secs(5);
        let begin = Instant::now();
        let at = |seconds| begin + Duration::from_secs(seconds);
        let mut progress = Progress::begins(begin);
        assert!(!progress.stands_still(vec![(1, Some(7))], at(1), limit));
        assert!(!progress.stands_still(vec![(1, Some(7))], at(4), limit));
        assert!(!progress.stands_still(vec![(1, Some(8))], at(5), limit));
        assert!(!progress.stands_still(vec![(1, Some(8))], at(9), limit));
        assert!(progress.stands_still(vec![(1, Some(8))], at(10), limit));
        // One of two streams has come to its end.
        let mut progress = Progress::begins(begin);
        assert!(!progress.stands_still(vec![(1, None), (2, None)], at(4), limit));
        assert!(!progress.stands_still(vec![(2, None)], at(6), limit));
        assert!(progress.stands_still(vec![(2, None)], at(11), limit));
        // The driver tells nothing.
        let mut progress = Progress::begins(begin);
        assert!(!progress.stands_still(vec![(1, None)], at(4), limit));
        assert!(progress.stands_still(vec![(1, None)], at(5), limit));
    }
}
