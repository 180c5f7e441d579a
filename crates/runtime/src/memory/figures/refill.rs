//! Refilling: a stream whose figures have risen further than was granted gets more quota from its device.

use std::time::Instant;

use sconce_base::lock::{OnceCell, rank};

use super::device_accounting::DeviceAccountingLock;
use super::stream_stats::StreamStats;
use crate::caching::count_refill;

/// Two threads that ask for quota within this time of each other, in nanoseconds, get more than they need, so that they
/// do not take the same quota from each other by turns.
const QUICK_SUCCESSION: u64 = 20_000;

/// Nanoseconds since the first call.
fn now() -> u64 {
    static FIRST: OnceCell<rank::FirstTime, Instant> = OnceCell::new();
    FIRST.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

/// The statistics of the other streams of a device.
pub(crate) trait OtherStreams {
    /// Books the frees that other threads have left, except where a thread is in the cache.
    fn book_remote_frees(&self);

    /// Calls `act` with the statistics of each stream whose cache no thread is using at the moment.
    fn each_idle(&self, act: impl FnMut(&mut StreamStats));
}

/// Refills the quotas of a stream: from what is unspent, else from the other streams, else by raising the peaks. The
/// lock of the stream's cache is held.
pub(crate) fn refill(
    device: &DeviceAccountingLock,
    stats: &mut StreamStats,
    others: &impl OtherStreams,
) {
    count_refill();
    if device.lock().quotas.grant(stats) {
        return;
    }
    // What was freed on other streams counts as freed, whichever thread freed it.
    others.book_remote_frees();
    let mut device = device.lock();
    if device.quotas.grant(stats) {
        return;
    }
    let (token, now) = (sconce_base::thread_state::token(), now());
    let hurried = device
        .last_refill
        .is_some_and(|(other, when)| other != token && now.saturating_sub(when) < QUICK_SUCCESSION);
    if !hurried {
        others.each_idle(|other| device.quotas.take_back(other, stats));
    }
    device.quotas.raise(stats, hurried);
    device.last_refill = Some((token, now));
}
