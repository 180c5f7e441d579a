//! Parts that the caching allocators of device memory and of pinned memory share.
//!
//! | file | idea |
//! |---|---|
//! | `settings/` | the configuration text (`PYTORCH_CUDA_ALLOC_CONF`) and what it means |
//! | `size_class` | sizes of blocks and segments of device memory, which settings are checked against |
//! | `lock` | the lock of a cache |
//! | `contention` | how often threads had to wait for each other |

mod contention;
#[allow(unsafe_code, reason = "the lock of the caches")]
mod lock;
pub mod settings;
pub mod size_class;

pub(crate) use contention::count_settlement;
pub use contention::{Contention, contention};
pub(crate) use lock::{Guard, Lock};
