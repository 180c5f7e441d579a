//! Memory for cuBLAS's intermediate results: how much, and for which work.
//!
//! Work of one stream runs in order, so products of one handle on it share a workspace. Not so the
//! graphs that a capture makes, which run whenever they are launched: they share theirs only with
//! graphs of the same pool, of which one runs at a time.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use once_cell::sync::Lazy;

use crate::config::Config;
use crate::error::Result;
use crate::stream::Stream;
use crate::types::DevicePtr;
use crate::{log, memory};

/// `:4096:2:16:8`.
const DEFAULT_BYTES: usize = 8_519_680;
const HOPPER_BYTES: usize = 32 << 20;

/// What `CUBLAS_WORKSPACE_CONFIG` says.
struct Configured {
    bytes: Option<usize>,
    /// The text, if nothing can be made of it.
    unreadable: Option<String>,
    are_deterministic: bool,
}

fn configured() -> &'static Configured {
    static CONFIGURED: Lazy<Configured> = Lazy::new(|| {
        let text = Config::get().cublas_workspace_config.as_deref();
        let bytes = text.and_then(parsed);
        Configured {
            bytes,
            unreadable: text.filter(|_| bytes.is_none()).map(str::to_owned),
            are_deterministic: matches!(text, Some(":4096:8" | ":16:8")),
        }
    });
    static WARNED: AtomicBool = AtomicBool::new(false);
    // Not from within: whoever gets the message may call what asks for the configuration.
    if let Some(text) = &CONFIGURED.unreadable
        && !WARNED.swap(true, Ordering::Relaxed)
    {
        log::warn(format_args!(
            "CUBLAS_WORKSPACE_CONFIG={text} is not :KiB:COUNT, once or repeated; the default holds"
        ));
    }
    &CONFIGURED
}

/// How many times all workspaces have been asked back.
static CLEARED: AtomicU64 = AtomicU64::new(0);

/// The sum of `:KiB:COUNT`, repeated.
fn parsed(text: &str) -> Option<usize> {
    let mut numbers = text.strip_prefix(':')?.split(':');
    let mut bytes = 0_usize;
    while let Some(size) = numbers.next() {
        let number = |text: &str| {
            let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            text.parse::<usize>().ok().filter(|_| digits)
        };
        let all = number(size)?.checked_mul(number(numbers.next()?)?)?.checked_mul(1024)?;
        bytes = bytes.checked_add(all).filter(|bytes| isize::try_from(*bytes).is_ok())?;
    }
    Some(bytes)
}

/// How large a workspace is on a device of this compute capability.
pub(super) fn bytes_for(major: i32) -> usize {
    let default = if (9..=12).contains(&major) { HOPPER_BYTES } else { DEFAULT_BYTES };
    configured().bytes.unwrap_or(default)
}

/// Whether the environment's workspaces are ones with which products are always the same.
pub(super) fn are_deterministic() -> bool {
    configured().are_deterministic
}

/// How many times all workspaces have been asked back.
#[inline]
pub(super) fn cleared() -> u64 {
    CLEARED.load(Ordering::Relaxed)
}

/// Asks all workspaces back; see [`Workspaces::are_outdated`].
pub(super) fn ask_back() {
    CLEARED.fetch_add(1, Ordering::Relaxed);
}

/// What a workspace is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Purpose {
    /// The id of the stream.
    pub(super) stream: i64,
    /// Where the thread's allocations go; 0 is the default pool.
    pub(super) pool: u64,
    /// Whether the stream is being captured.
    pub(super) captured: bool,
}

/// A workspace; goes back to the allocator when it is dropped.
struct Workspace {
    purpose: Purpose,
    address: usize,
}

impl Drop for Workspace {
    fn drop(&mut self) {
        // What is queued on the stream still finds it: nobody else gets it but work behind.
        if let Err(error) = memory::free(self.address) {
            log::warn(format_args!("a workspace of cuBLAS was not freed: {error}"));
        }
    }
}

/// Workspaces that were taken out of a handle.
#[must_use = "they go back when this is dropped, which must not happen under a lock"]
pub(super) struct Outdated {
    _workspaces: Vec<Workspace>,
}

/// The workspaces of a handle.
pub(super) struct Workspaces {
    bytes: usize,
    kept: Vec<Workspace>,
    /// What [`cleared`] was when they were last taken out.
    since: u64,
}

impl Workspaces {
    pub(super) fn new(bytes: usize) -> Workspaces {
        Workspaces { bytes, kept: Vec::new(), since: cleared() }
    }

    /// Whether they have been asked back.
    #[inline]
    pub(super) fn are_outdated(&self) -> bool {
        self.since != cleared()
    }

    /// Takes all of them out.
    pub(super) fn take_all(&mut self) -> Outdated {
        self.since = cleared();
        Outdated { _workspaces: std::mem::take(&mut self.kept) }
    }

    /// Takes those of private pools out.
    pub(super) fn take_pools(&mut self) -> Outdated {
        let pooled = self.kept.extract_if(.., |kept| kept.purpose.pool != 0);
        Outdated { _workspaces: pooled.collect() }
    }

    /// The workspace for a purpose, whose stream is `stream`, and its bytes.
    pub(super) fn find_or_make(
        &mut self,
        purpose: Purpose,
        stream: Stream,
    ) -> Result<(DevicePtr, usize)> {
        if self.bytes == 0 {
            return Ok((DevicePtr(0), 0));
        }
        let address = match self.kept.iter().find(|kept| kept.purpose == purpose) {
            Some(kept) => kept.address,
            None => {
                let address = memory::alloc_on(self.bytes, stream)?;
                self.kept.push(Workspace { purpose, address });
                address
            }
        };
        Ok((DevicePtr(address as u64), self.bytes))
    }

    /// Gives private pools their memory back, but for what is used now: a program may capture any
    /// number of graphs, each with a pool of its own.
    pub(super) fn leave_pools(&mut self, now: Purpose) {
        self.kept.retain(|kept| kept.purpose.pool == 0 || kept.purpose == now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configurations_are_sums_of_sizes_and_counts() {
        assert_eq!(parsed(":4096:2:16:8"), Some(DEFAULT_BYTES));
        assert_eq!(parsed(":4096:8"), Some(32 << 20));
        assert_eq!(parsed(":16:8"), Some(128 << 10));
        assert_eq!(parsed(":0:0"), Some(0));
        let bad = ["", ":", ":16", ":16:", "16:8", ":16:8:", ":16:8:4", ":a:1", ":+1:1", ": 1:1"];
        for bad in bad.into_iter().chain([":9007199254740992:1024", ":9999999999999999999999:1"]) {
            assert_eq!(parsed(bad), None, "{bad}");
        }
    }
}
