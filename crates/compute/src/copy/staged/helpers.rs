//! The threads that help with copies: started when first needed, idle between copies, never
//! ended.
//!
//! A copy never depends on them: its caller works too, and alone when no thread could be started.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;
use std::time::{Duration, Instant};

use sconce_base::lock::{OnceCell, park, rank};
use sconce_base::sync::shared_static;

use super::jobs::JobQueue;
use super::work::StagedWork;

/// The most threads that work on copies at a time, the caller among them.
const MOST: usize = 8;

/// How long a thread that has just helped looks for more before it sleeps: copies come in rows, and
/// waking a thread takes as long as a megabyte's copy.
const LINGER: Duration = Duration::from_micros(50);

shared_static! {
    static JOBS: JobQueue<StagedWork> = JobQueue::new();
}

static HELPERS: OnceCell<rank::CopyHelpers, usize> = OnceCell::new();

/// Where copies ask for help.
pub(super) fn jobs() -> &'static JobQueue<StagedWork> {
    &JOBS
}

/// How many threads can help; starts them when this is the first call.
pub(super) fn most_helpers() -> usize {
    *HELPERS.get_or_init(|| {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        // Tests run with all helpers on any machine.
        let cores = if cfg!(test) { MOST } else { cores };
        let wanted = cores.min(MOST) - 1;
        let start = |_: &usize| {
            let builder = thread::Builder::new().name(String::from("sconce-copy"));
            match builder.spawn(move || help(if cores > 2 { LINGER } else { Duration::ZERO })) {
                Ok(_detached) => true,
                Err(error) => {
                    sconce_base::log::info(format_args!("copies have fewer threads: {error}"));
                    false
                }
            }
        };
        (0..wanted).take_while(start).count()
    })
}

fn help(linger: Duration) {
    loop {
        while let Some(helper) = jobs().take_or_idle() {
            // The calling thread must not wait for ever for a piece that is lost.
            if catch_unwind(AssertUnwindSafe(|| helper.work().help())).is_err() {
                helper.work().stop();
            }
            drop(helper);
            let begun = Instant::now();
            while !jobs().wants_help() && begun.elapsed() < linger {
                std::hint::spin_loop();
            }
        }
        park::<rank::Idle>();
    }
}
