//! Parts that the caching allocators of device memory and of pinned memory share.
//!
//! | file | idea |
//! |---|---|
//! | `settings/` | the configuration text (`PYTORCH_CUDA_ALLOC_CONF`) and what it means |
//! | `size_class` | sizes of blocks and segments of device memory, which settings are checked against |
//! | `lock` | the lock of the cache of pinned memory |
//! | `biased_lock/` | the lock of a stream's cache, biased to the thread that takes it all the time |
//! | `counted_lock` | the same, which counts how often it was taken by calls that may change something |
//! | `contention` | how often threads had to wait for each other |
//! | `event_queues` | the events that freed blocks wait for, a queue for each stream |
//! | `delay_counters` | how many freed blocks wait, read without a lock |
//! | `deferred_frees` | blocks that were freed while streams use them |

#[allow(unsafe_code, reason = "the lock of the streams' caches")]
mod biased_lock;
mod contention;
mod counted_lock;
mod deferred_frees;
mod delay_counters;
mod event_queues;
#[allow(unsafe_code, reason = "the lock of the caches")]
mod lock;
pub mod settings;
pub mod size_class;

pub use biased_lock::{BiasedGuard, BiasedLock};
pub(crate) use contention::count_refill;
pub use contention::{Contention, contention};
pub(crate) use counted_lock::CountedLock;
pub(crate) use deferred_frees::wait_for_devices;
pub use deferred_frees::{CompleteFree, DeferredFrees};
pub use delay_counters::DelayCounters;
pub use event_queues::BlockId;
pub(crate) use lock::{Guard, Lock};
