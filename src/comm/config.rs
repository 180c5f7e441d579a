//! How communicators are made.

use std::time::Duration;

use sconce_base::error::{Error, Result};
use sconce_compute::collectives::{CommConfig, CommOptions, Limit};

use crate::CBool;

/// Configuration of a communicator. All ranks must pass the same. Begin with
/// `SCONCE_COMM_CONFIG_INIT`; a field that is 0 has its default.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct sconce_comm_config {
    /// `sizeof(sconce_comm_config)`, set by the caller.
    pub struct_size: u32,
    /// The fewest thread blocks of a call; 0: NCCL chooses.
    pub min_ctas: i32,
    /// The most thread blocks of a call; 0: NCCL chooses.
    pub max_ctas: i32,
    /// Thread blocks of a cluster; 0: NCCL chooses.
    pub cga_cluster_size: i32,
    /// Timeout of calls that wait for other ranks, and of queued calls, in milliseconds. When it
    /// expires, the communicator is aborted. 0: calls that wait fail after 10 minutes, and queued
    /// calls have no timeout. -1: no timeout.
    pub timeout_ms: i64,
    /// Whether communicators that are split from this one share its resources.
    pub split_share: CBool,
    /// Whether the stream of asynchronous calls has the highest priority.
    pub high_priority: CBool,
    /// 0.
    pub reserved: [u8; 6],
}

grows!(
    sconce_comm_config, "SCONCE_COMM_CONFIG_INIT", first version: 32 bytes,
    min_ctas, max_ctas, cga_cluster_size, timeout_ms, split_share, high_priority, reserved,
);

/// The chosen number, or `None` for 0.
fn chosen(number: i32, name: &str) -> Result<Option<i32>> {
    match number {
        0 => Ok(None),
        1.. => Ok(Some(number)),
        _ => Err(Error::invalid_argument(format!(
            "config.{name} is {number}; it must not be negative"
        ))),
    }
}

/// Reads a configuration, which may be NULL.
///
/// # Safety
/// As `structs::read`.
pub(super) unsafe fn config_of(config: *const sconce_comm_config) -> Result<CommConfig> {
    if config.is_null() {
        return Ok(CommConfig::default());
    }
    let config = read!(config);
    let limit = match config.timeout_ms {
        0 => Limit::Usual,
        -1 => Limit::Never,
        1.. => Limit::After(Duration::from_millis(config.timeout_ms as u64)),
        other => {
            return Err(Error::invalid_argument(format!(
                "config.timeout_ms is {other}; it must be -1 (no limit), 0 or milliseconds"
            )));
        }
    };
    Ok(CommConfig {
        options: CommOptions {
            min_ctas: chosen(config.min_ctas, "min_ctas")?,
            max_ctas: chosen(config.max_ctas, "max_ctas")?,
            cga_cluster_size: chosen(config.cga_cluster_size, "cga_cluster_size")?,
            split_share: config.split_share.field("config.split_share")?,
        },
        high_priority: config.high_priority.field("config.high_priority")?,
        limit,
    })
}
