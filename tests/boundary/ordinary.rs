//! The numbers, arrays and texts of ordinary calls, by the names of functions and parameters.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use sconce::*;

use crate::world::{array, leaked};

pub(crate) fn small(name: &str) -> i64 {
    i64::from(name == "end") * 4 + i64::from(name == "step")
}

/// Numbers that stand for a tensor, which is given instead.
pub(crate) fn is_tensor_instead(name: &str) -> bool {
    name.ends_with("_number")
}

/// The argument for an integer.
pub(crate) fn number(function: &str, name: &str) -> u64 {
    match name {
        "rank" | "dims" | "n" | "steps" | "rows" | "columns" | "height" => 2,
        "count" if function.contains("comm_tensors") => 1,
        "end" if function.contains("flatten") => 1,
        "length" if function.contains("generator") => 16,
        "length" if function.contains("name") => 64,
        "count" | "chunks" | "end" | "high" | "length" => 2,
        "second" => 1,
        "bytes" if function.contains("from_memory") => 64,
        "gradient_count" | "nth" | "milliseconds" => 1,
        "bytes" if function.contains("from_values") || function.contains("to_values") => 16,
        "bytes" if function.contains("graph_condition_set") => 4,
        "bytes" | "capacity" | "max_entries" | "width_bytes" => 8,
        "dst_pitch_bytes" | "src_pitch_bytes" | "pitch_bytes" => 16,
        "image_bytes" => 27,
        "buffer_bytes" => 64,
        "bodies" | "spatial" | "lists" | "groups" | "device_count" | "step" | "size" => 1,
        "recv_count" | "send_count" | "count_per_rank" | "grain_size" => 1,
        "read_count" | "write_count" | "result_count" => 2,
        _ => 0,
    }
}

/// The argument for an array of integers.
pub(crate) fn entries(function: &str, name: &str) -> u64 {
    match name {
        "sizes" if function.contains("split_with_sizes") => array(&[1]),
        "sizes" if function.contains("unflatten") => array(&[2, 1]),
        "chunk_sizes" | "sizes" => array(&[2]),
        "strides" => array(&[2, 1]),
        "dims" => array(&[0, 1]),
        "padding" | "send_offsets" | "recv_offsets" => array(&[0]),
        _ => array(&[1]),
    }
}

/// A configuration of communicators that do not wait long for ranks that never come.
pub(crate) fn patience() -> u64 {
    leaked(sconce_comm_config {
        struct_size: size_of::<sconce_comm_config>() as u32,
        min_ctas: 0,
        max_ctas: 0,
        cga_cluster_size: 0,
        timeout_ms: 50,
        split_share: false.into(),
        high_priority: false.into(),
        reserved: [0; 6],
    })
}

pub(crate) fn text(name: &str) -> u64 {
    let text = match name {
        "call" => c"memory_alloc",
        "key" => c"key",
        "name" => c"nothing",
        _ => c"text",
    };
    text.as_ptr() as u64
}
