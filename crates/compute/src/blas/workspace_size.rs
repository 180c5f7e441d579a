//! The size of cuBLAS workspaces, and what the environment says about it.

use std::sync::atomic::{AtomicBool, Ordering};

use sconce_base::config::Config;
use sconce_base::lock::{Lazy, rank};
use sconce_base::log;

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
    static CONFIGURED: Lazy<rank::BlasSettings, Configured> = Lazy::new(|| {
        let text = Config::get().cublas_workspace_config.as_deref();
        let bytes = text.and_then(parsed);
        Configured {
            bytes,
            unreadable: text.filter(|_| bytes.is_none()).map(str::to_owned),
            are_deterministic: matches!(text, Some(":4096:8" | ":16:8")),
        }
    });
    static WARNED: AtomicBool = AtomicBool::new(false);
    // Outside of the initialiser, because a log callback may call functions that read the configuration.
    if let Some(text) = &CONFIGURED.unreadable
        && !WARNED.swap(true, Ordering::Relaxed)
    {
        log::warn(format_args!(
            "CUBLAS_WORKSPACE_CONFIG={text} is not :KiB:COUNT, once or repeated; the default is used"
        ));
    }
    &CONFIGURED
}

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
