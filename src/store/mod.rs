//! Stores. See `docs/design/store.md`.
//!
//! | file | idea |
//! |---|---|
//! | `create` | where stores come from, and their end |
//! | `values` | what they hold |

mod create;
mod values;

pub use create::*;
pub use values::*;

use std::sync::Arc;
use std::time::Duration;

use sconce_base::error::{Error, Result};
use sconce_compute::store::{self, Store};

use super::handle::OpaqueHandle;

/// The store of a handle.
fn store_of(store: *mut sconce_store) -> Result<Arc<Store>> {
    store::get(sconce_store::key(store, "store")?)
}

/// A caller's timeout; `None` for -1, the store's own.
fn timeout_of(timeout_ms: i64) -> Result<Option<Duration>> {
    match timeout_ms {
        -1 => Ok(None),
        _ => u64::try_from(timeout_ms).map(|ms| Some(Duration::from_millis(ms))).map_err(|_| {
            Error::invalid_argument(format!(
                "timeout_ms is {timeout_ms}; pass 0 or more, or -1 for the default"
            ))
        }),
    }
}

/// A caller's number of processes, which may not be less than `least`.
fn world_size_of(world_size: i32, least: i32) -> Result<u32> {
    u32::try_from(world_size).ok().filter(|_| world_size >= least).ok_or_else(|| {
        Error::invalid_argument(format!("world_size is {world_size}; it is at least {least}"))
    })
}
