//! How many threads a call may use.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use sconce_base::config::Config;
use sconce_base::error::{Error, Result};

/// What a program has set; 0 before.
static CHOSEN: AtomicUsize = AtomicUsize::new(0);
/// The processors that the process may use; 0 before they were counted.
static PROCESSORS: AtomicUsize = AtomicUsize::new(0);

/// More threads never work on a call, whatever is set.
const MOST_THREADS: usize = 1024;

/// The most threads that work on a call: what the program has set, else `OMP_NUM_THREADS` or `MKL_NUM_THREADS`, else
/// the processors that the process may use. `OMP_THREAD_LIMIT` bounds each of them.
pub fn count() -> usize {
    let config = Config::get();
    let wanted = match CHOSEN.load(Relaxed) {
        0 => config.threads.unwrap_or_else(processors),
        chosen => chosen,
    };
    config.thread_limit.map_or(wanted, |limit| wanted.min(limit)).min(MOST_THREADS)
}

/// Sets the most threads that work on a call.
pub fn set_count(threads: i32) -> Result<()> {
    match usize::try_from(threads) {
        Ok(threads) if threads > 0 => CHOSEN.store(threads, Relaxed),
        _ => {
            return Err(Error::invalid_argument(format!(
                "num_threads is {threads}; it must be at least 1, the calling thread"
            )));
        }
    }
    Ok(())
}

/// The affinity mask of the first thread that asks, bounded by the quota of its control group.
fn processors() -> usize {
    match PROCESSORS.load(Relaxed) {
        0 => {
            let found = std::thread::available_parallelism().map_or(1, usize::from);
            PROCESSORS.store(found, Relaxed);
            found
        }
        found => found,
    }
}
