//! Step 8: reporting that memory has run out, to the observers, the history and the caller.
//!
//! `advice` is what the message advises.

mod advice;

use sconce_base::error::{Error, Status};

use self::advice::{Situation, Unused, advice, size};
use super::observers::{self, OutOfMemory};
use super::reclaim;
use super::request::Wanted;
use crate::caching::settings;
use crate::context::Runtime;
use crate::memory::snapshot::Action;
use crate::memory::source::uncached;
use crate::memory::streams::all_caches;
use crate::memory::streams::cache::StreamCache;
use crate::stream;

/// Notifies the observers, adds to the history, and returns the error for the caller.
pub(crate) fn report(
    runtime: &Runtime,
    cache: &StreamCache,
    segment: usize,
    wanted: Wanted,
    rounded: u64,
) -> Error {
    let device = cache.stream().device;
    let info = runtime.driver().memory_info(device).ok();
    let free = info.as_ref().map_or(0, |info| info.free_bytes);
    let total = cache.home.total_bytes.load(std::sync::atomic::Ordering::Acquire);
    let limit = cache.home.accounting.lock().limit.map(|limit| limit as usize);
    cache.note_memory(Action::OutOfMemory, free as u64, rounded, wanted.pool);
    observers::notify(&OutOfMemory {
        device: device.as_i32(),
        requested_bytes: segment,
        total_bytes: limit.unwrap_or(total),
        free_bytes: free,
    });
    let (allocated, reserved) = all_caches::bytes_in_use(device);
    let mut text = format!(
        "CUDA out of memory. Tried to allocate {}. GPU {device} has a total capacity of {} of which \
         {} is free. ",
        size(segment as u64),
        size(total as u64),
        size(free as u64),
    );
    text.push_str(&processes(runtime, cache));
    if let Some(limit) = limit {
        text.push_str(&format!("{} allowed; ", size(limit as u64)));
    }
    let own = private_pool_bytes(cache);
    text.push_str(&format!("Of the allocated memory {} is allocated by Sconce, ", size(allocated)));
    if own > 0 {
        text.push_str(&format!("with {} held by private pools (e.g., CUDA Graphs), ", size(own)));
    }
    text.push_str(&format!(
        "and {} is reserved by Sconce but unallocated. {} was asked for. ",
        size(reserved.saturating_sub(allocated)),
        size(wanted.bytes as u64),
    ));
    text.push_str(&reclaim::held_blocks(device));
    let wanted_in_all = reserved.saturating_add(segment as u64);
    let within_limit = limit.map(|limit| (limit as u64).saturating_sub(reserved));
    let is_limited = limit.is_some_and(|limit| wanted_in_all > limit as u64);
    if segment > total {
        text.push_str("The device has less memory than that.");
        return Error::new(Status::OutOfMemory, text);
    }
    text.push_str(if is_limited {
        "The request exceeds the limit of this process: raise the limit with sconce_memory_set_fraction or \
         per_process_memory_fraction, or free memory that is not needed."
    } else {
        "Free memory that is not needed."
    });
    let settings = settings::current();
    let is_cached = !uncached::is_on();
    text.push_str(&advice(&Situation {
        wanted: segment as u64,
        free: within_limit.unwrap_or(u64::MAX).min(free as u64),
        unused: Unused::of(device),
        is_capturing: stream::is_under_capture_beside(runtime, device, Some(cache.stream())),
        is_cached,
        splits_all: settings.max_split_bytes == usize::MAX,
        has_pages: settings.expandable_segments,
    }));
    if is_cached {
        text.push_str(" sconce_memory_get_summary shows where memory is.");
    }
    Error::new(Status::OutOfMemory, text)
}

/// Bytes of segments that private pools hold.
fn private_pool_bytes(cache: &StreamCache) -> u64 {
    let mut bytes = 0;
    for cache in StreamCache::all_of(cache.device()) {
        let inner = cache.visit();
        let private = inner.heap.segments.iter().filter(|(_, segment)| segment.pool != 0);
        bytes += private.map(|(_, segment)| segment.bytes).sum::<u64>();
    }
    bytes
}

/// A sentence for each process that has memory of the device, if the system reports them.
fn processes(runtime: &Runtime, cache: &StreamCache) -> String {
    let Ok(processes) = runtime.driver().device_processes(cache.stream().device) else {
        return String::new();
    };
    let own = std::process::id();
    let mut text = String::new();
    for process in processes {
        let Some(bytes) = process.used_bytes else { continue };
        if process.pid == own {
            text.push_str(&format!(
                "Including memory that is not Sconce's, this process has {} memory in use. ",
                size(bytes)
            ));
        } else {
            text.push_str(&format!("Process {} has {} memory in use. ", process.pid, size(bytes)));
        }
    }
    text
}
