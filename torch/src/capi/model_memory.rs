//! Memory of compiled models in C.

#![allow(non_camel_case_types, reason = "the names of the C API")]
#![allow(unsafe_code, reason = "functions of C over pointers of the caller")]

use super::model::{model_of, sconce_model};
use crate::abi::structs::{OutStruct, has_struct_size};
use crate::error::guard;
use crate::sconce::api::sconce_status;

/// Memory of a model, in bytes. Begin with `SCONCE_MODEL_MEMORY_INIT`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct sconce_model_memory {
    /// `sizeof(sconce_model_memory)`, set by the caller.
    pub struct_size: u32,
    /// 0.
    pub reserved: u32,
    /// Constants in memory of the model's device: those of its library, and those that the package
    /// or the program passed, in the active and in the inactive set. 0 for a CPU model.
    pub constant_device_bytes: u64,
    /// Constants of a CPU model, in memory of the host. A CUDA model also has its constants in the
    /// library's file. The system can discard those pages at any time, so they are not counted.
    pub constant_host_bytes: u64,
    /// Number of graphs that the model keeps.
    pub graph_count: u64,
    /// The graphs' own inputs, to which runs copy the inputs of the caller.
    pub graph_input_bytes: u64,
    /// Memory that the graphs' pools took from the driver: for outputs, and for tensors between
    /// kernels.
    pub graph_pool_bytes: u64,
    /// The peak of the bytes of the tensors that a run makes, outputs included, over all runs so
    /// far; 0 before the first. It is measured in the first run with each set of shapes. Only
    /// tensors that the model makes and deletes count, so other threads have no influence. Inputs,
    /// temporary memory of an operation (such as workspaces), and bytes that the allocator adds by
    /// rounding up do not count.
    pub run_bytes: u64,
}

has_struct_size!(
    sconce_model_memory: reserved,
    constant_device_bytes,
    constant_host_bytes,
    graph_count,
    graph_input_bytes,
    graph_pool_bytes,
    run_bytes,
);

/// Returns how much memory a model uses now.
///
/// Inputs and results belong to the program and do not count. `sconce_memory_get_stats` reports the
/// figures of the whole device.
///
/// - `out_memory`: receives the figures; begin with `SCONCE_MODEL_MEMORY_INIT`.
/// - Ordering: with graphs, as `sconce_memory_snapshot_create`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_model_get_memory(
    model: *mut sconce_model,
    out_memory: OutStruct<'_, sconce_model_memory>,
) -> sconce_status {
    guard(|| {
        let model = model_of(model)?;
        let (mut described, place) = out_memory.described("out_memory")?;
        let memory = model.memory()?;
        let is_on_device = model.device >= 0;
        described.reserved = 0;
        described.constant_device_bytes = if is_on_device { memory.constants } else { 0 };
        described.constant_host_bytes = if is_on_device { 0 } else { memory.constants };
        described.graph_count = memory.graphs;
        described.graph_input_bytes = memory.graph_inputs;
        described.graph_pool_bytes = memory.graph_pools;
        described.run_bytes = memory.run;
        place.write("out_memory", described)
    })
}
