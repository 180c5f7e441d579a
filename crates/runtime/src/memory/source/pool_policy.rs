//! Pools whose memory is made in another way than the settings say.

use sconce_base::lock::{Mutex, rank};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

/// What the memory of a pool is made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PoolPolicy {
    /// What the settings say when memory is obtained.
    #[default]
    OfSettings,
    /// Segments.
    Segments,
    /// Pages.
    Pages,
}

/// By the numbers of pools.
static POLICIES: Mutex<rank::PoolPolicies, BTreeMap<u64, PoolPolicy>> = Mutex::new(BTreeMap::new());

/// Whether there has been a pool with a policy of its own. Without one no request looks further.
static HAS_ANY: AtomicBool = AtomicBool::new(false);

/// Notes the policy of a new pool.
pub(in crate::memory) fn set(number: u64, policy: PoolPolicy) {
    if policy != PoolPolicy::OfSettings {
        POLICIES.lock().insert(number, policy);
        HAS_ANY.store(true, Ordering::Release);
    }
}

/// Forgets a pool that was destroyed.
pub(in crate::memory) fn forget(number: u64) {
    POLICIES.lock().remove(&number);
}

/// Whether the memory of a pool is made of pages; `None` if the settings decide.
#[inline]
pub(in crate::memory) fn is_paged(number: u64) -> Option<bool> {
    if number == 0 || !HAS_ANY.load(Ordering::Acquire) {
        return None;
    }
    POLICIES.lock().get(&number).map(|policy| *policy == PoolPolicy::Pages)
}
