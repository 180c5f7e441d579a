//! Threads that wait, and the thread that looks whether their waits take too long. It begins with a wait and ends a
//! while after the last one.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use sconce_base::{log, process};

use crate::Sanitizer;
use crate::pending::{Awaited, Wait};

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
    began: Instant,
    is_reported: bool,
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
        let began = Instant::now();
        waits.all.insert(number, Watched { wait, began, is_reported: false });
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
            let is_late = |watched: &Watched| {
                !watched.is_reported && watched.began.elapsed() >= self.config.hang
            };
            let late = waits.all.iter_mut().filter(|(_, watched)| is_late(watched)).map(
                |(number, watched)| {
                    watched.is_reported = true;
                    (*number, watched.wait.clone())
                },
            );
            let late: Vec<(u64, Wait)> = late.collect();
            drop(waits);
            for (number, wait) in late {
                self.is_late(number, &wait);
            }
            std::thread::sleep(pause);
        }
    }

    fn is_late(&self, number: u64, wait: &Wait) {
        let mut suspects = self.checker.lock().suspects(wait);
        for suspect in &mut suspects {
            suspect.head = self.driver.stream_head(suspect.stream);
        }
        // It may have ended meanwhile.
        if !self.waits.lock().all.contains_key(&number) {
            return;
        }
        let limit = self.config.hang.as_secs_f64().to_string();
        self.tell(|checker| checker.hangs(wait, &suspects, &limit));
        // No call may end that would deliver it.
        log::flush();
    }
}
