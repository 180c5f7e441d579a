//! Settling: an account whose figures have risen further than was granted gets more from the ledger of its device.

use std::time::Instant;

use sconce_base::lock::{OnceCell, rank};

use super::account::Account;
use super::ledger_lock::LedgerLock;
use crate::caching::count_settlement;

/// Two threads that ask for room within this time of each other, in nanoseconds, get more than they need, so that they
/// do not take the same room from each other by turns.
const QUICK_SUCCESSION: u64 = 20_000;

/// Nanoseconds since the first call.
fn now() -> u64 {
    static FIRST: OnceCell<rank::FirstTime, Instant> = OnceCell::new();
    FIRST.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

/// The accounts of the other streams of a device.
pub(crate) trait OtherAccounts {
    /// Books the frees that other threads have left, except where a thread is in the cache.
    fn book_remote_frees(&self);

    /// Calls `act` with each account whose cache no thread is using at the moment.
    fn each_idle(&self, act: impl FnMut(&mut Account));
}

/// Gets room for an account from the ledger of its device: from what is unspent, else from the other
/// accounts, else by raising the peak. The lock of the account is held.
pub(crate) fn settle(ledger: &LedgerLock, account: &mut Account, others: &impl OtherAccounts) {
    count_settlement();
    if ledger.lock().credit.grant(account) {
        return;
    }
    // What was freed on other streams counts as freed, whichever thread freed it.
    others.book_remote_frees();
    let mut ledger = ledger.lock();
    if ledger.credit.grant(account) {
        return;
    }
    let (token, now) = (sconce_base::thread_state::token(), now());
    let hurried = ledger
        .last_settled
        .is_some_and(|(other, when)| other != token && now.saturating_sub(when) < QUICK_SUCCESSION);
    if !hurried {
        others.each_idle(|other| ledger.credit.take_back(other, account));
    }
    ledger.credit.raise(account, hurried);
    ledger.last_settled = Some((token, now));
}
