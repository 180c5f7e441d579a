//! What may not be called while another thread captures, and what it returns. docs/design/captures.md has the reasons.

use sconce::sconce_status;
use sconce::sconce_status::*;

use crate::beside::{Captured, Setting};

/// A call that fails beside captures, by contract.
pub(crate) struct Refused {
    pub(crate) name: &'static str,
    pub(crate) status: sconce_status,
    /// The captures beside which it fails.
    pub(crate) beside: fn(Setting) -> bool,
    /// It invalidates the capture, too.
    pub(crate) is_fatal: bool,
}

const fn refused(name: &'static str, beside: fn(Setting) -> bool) -> Refused {
    Refused { name, status: SCONCE_ERROR_INVALID_STATE, beside, is_fatal: false }
}

/// A call that stands for one which the program makes by itself. CUDA has no mercy with that, nor has the simulator.
const fn fatal(name: &'static str, beside: fn(Setting) -> bool) -> Refused {
    Refused { name, status: SCONCE_ERROR_INVALID_STATE, beside, is_fatal: true }
}

pub(crate) const REFUSED: &[Refused] = &[
    // They wait for devices on behalf of the caller.
    refused("sconce_device_synchronize", |setting| setting.is_here()),
    refused("sconce_memory_empty_cache", |_| true),
    refused("sconce_host_memory_empty_cache", |_| true),
    refused("sconce_memory_pool_trim", |setting| setting.is_here()),
    refused("sconce_memory_pool_sleep", |setting| setting.is_here()),
    refused("sconce_memory_sleep", |setting| setting.is_here()),
    // Calls of the driver.
    fatal("sconce_sim_event_query", |setting| setting.is_global()),
    fatal("sconce_sim_event_synchronize", |setting| setting.is_global()),
    fatal("sconce_sim_memory_alloc", |setting| setting.is_global()),
    fatal("sconce_sim_memory_free", |setting| setting.is_global() || setting.is_here()),
    fatal("sconce_sim_memory_read", uses_the_default_stream),
    fatal("sconce_sim_memory_write", uses_the_default_stream),
];

/// A copy on the default stream that waits.
fn uses_the_default_stream(setting: Setting) -> bool {
    setting.is_global() || setting.captured == Captured::Blocking
}

/// Calls that this test cannot make as programs do, and what they return whether something is captured or not.
pub(crate) const ANYWAY: &[(&str, sconce_status)] = &[
    // What another process has exported.
    ("sconce_event_from_ipc_handle", SCONCE_ERROR_INVALID_ARGUMENT),
    ("sconce_ipc_open_memory", SCONCE_ERROR_INVALID_ARGUMENT),
    ("sconce_ipc_close_memory", SCONCE_ERROR_INVALID_ARGUMENT),
    // The environment of a job.
    ("sconce_store_create_from_environment", SCONCE_ERROR_INVALID_STATE),
    // The library is opened without the sanitizer.
    ("sconce_sanitizer_enable", SCONCE_ERROR_INVALID_STATE),
    ("sconce_sanitizer_get_report", SCONCE_ERROR_INVALID_STATE),
    ("sconce_sanitizer_set_callback", SCONCE_ERROR_INVALID_STATE),
    ("sconce_sanitizer_record_history", SCONCE_ERROR_INVALID_STATE),
    ("sconce_sanitizer_save_page", SCONCE_ERROR_INVALID_STATE),
    // The function of a kernel calls these.
    ("sconce_sim_kernel_read", SCONCE_ERROR_INVALID_STATE),
    ("sconce_sim_kernel_write", SCONCE_ERROR_INVALID_STATE),
    ("sconce_sim_kernel_fail", SCONCE_ERROR_INVALID_STATE),
];
