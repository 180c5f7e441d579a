//! Tensors whose memory a graph keeps.

use std::sync::Arc;

use sconce_compute::graph;

use super::handle::tensor_of;
use crate::handle::OpaqueHandle;
use crate::{guard, sconce_graph, sconce_status, sconce_tensor};

/// Makes a graph keep the memory of a tensor that its work uses, such as a static input. The graph
/// keeps it as its own memory: until it is reset or destroyed and its queued launches are done, and
/// for graphs that were updated from it. The caller may release the tensor at once.
///
/// - `graph`: one that is captured or is being captured.
/// - `tensor`: its memory is kept, even if another tensor is assigned to the handle later.
/// - Errors: INVALID_STATE: the graph is empty.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_graph_keep_tensor(
    graph: *mut sconce_graph,
    tensor: *mut sconce_tensor,
) -> sconce_status {
    guard(|| {
        let key = sconce_graph::key(graph, "graph")?;
        graph::keep(key, Arc::new(tensor_of(tensor, "tensor")?))
    })
}
