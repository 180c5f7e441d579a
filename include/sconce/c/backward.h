/*
 * Sconce: PyTorch's CUDA runtime layer without PyTorch. The C API.
 *
 * Generated from src by cbindgen; do not edit. SCONCE_BLESS=1 cargo test --test header_sync
 * writes it anew.
 */

/**
 * @file
 * Backward passes: functions, their graph and its streams.
 *
 * What holds for every function is said in sconce/c/library.h.
 */

#ifndef SCONCE_C_BACKWARD_H_
#define SCONCE_C_BACKWARD_H_

#include <sconce/c/library.h>
#include <sconce/c/tensor.h>

/**
 * Recorded operations and leaves, over which backward passes run. Opaque; created by
 * `sconce_backward_graph_create`.
 */
typedef struct sconce_backward_graph sconce_backward_graph;

/**
 * Where a gradient goes.
 */
typedef struct sconce_backward_edge {
  /**
   * The number of a node; 0: the gradient is not used.
   */
  uint64_t node;
  /**
   * Which input of the node: 0 for a leaf, else the index of the forward operation's result to
   * which the gradient belongs.
   */
  uint64_t input;
} sconce_backward_edge;

/**
 * Computes the gradients of an operation's inputs from those of its results.
 *
 * `gradients` has an entry for each result of the operation; an entry is NULL if the result has no
 * gradient. The function borrows these tensors. `out_gradients` has an entry for each edge. The
 * function sets an entry to a tensor whose ownership it transfers, or leaves it NULL. To return a
 * tensor of `gradients`, it first retains that tensor with `sconce_tensor_retain`. It returns
 * `SCONCE_OK` or another status, and does not throw. The node's device and stream are current
 * during the call.
 */
typedef int32_t (*sconce_backward_function)(void *context,
                                            struct sconce_tensor *const *gradients,
                                            size_t gradient_count,
                                            struct sconce_tensor **out_gradients,
                                            size_t out_count);

/**
 * Where a backward pass begins.
 */
typedef struct sconce_backward_root {
  /**
   * The number of a node.
   */
  uint64_t node;
  /**
   * Which input of the node.
   */
  uint64_t input;
  /**
   * The initial gradient.
   */
  struct sconce_tensor *gradient;
} sconce_backward_root;

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Creates an empty graph for backward passes.
 *
 * - `out_graph`: receives the graph.
 * - Errors: OUT_OF_MEMORY: too many graphs.
 * - Ownership: the caller destroys the graph with `sconce_backward_graph_destroy`.
 * - torch: the graph that `grad_fn` of a tensor leads to.
 */
SCONCE_NODISCARD
sconce_status sconce_backward_graph_create(struct sconce_backward_graph **out_graph);

/**
 * Destroys a graph with its nodes and gradients. Passes that are running may still use them until
 * they end.
 *
 * - `graph`: NULL is a no-op.
 * - Threads: deleters of contexts are called by this thread, or by the thread of the last pass.
 * - torch: the destruction of the last tensor with a `grad_fn`.
 */
SCONCE_NODISCARD sconce_status sconce_backward_graph_destroy(struct sconce_backward_graph *graph);

/**
 * Removes all operations from a graph, and keeps the leaves and their gradients. For the next
 * training step.
 *
 * - `graph`: the graph.
 * - Threads: as `sconce_backward_graph_destroy`.
 */
SCONCE_NODISCARD sconce_status sconce_backward_graph_clear(struct sconce_backward_graph *graph);

/**
 * Adds a leaf: a node to whose gradient backward passes add, on the stream that is current on its
 * device now.
 *
 * - `graph`: the graph.
 * - `device`: the device of its gradients; -1 for the current device, or `SCONCE_DEVICE_CPU`.
 * - `name`: for messages.
 * - `out_node`: receives the number of the node, at least 1.
 * - torch: `AccumulateGrad`, which torch creates for a tensor with `requires_grad` at its first
 *   use.
 */
SCONCE_NODISCARD
sconce_status sconce_backward_add_leaf(struct sconce_backward_graph *graph,
                                       int32_t device,
                                       const char *name,
                                       uint64_t *out_node);

/**
 * Records a forward operation as a node, with the stream that is current on its device now.
 *
 * - `graph`: the graph.
 * - `device`: the device of the operation; -1 for the current device, or `SCONCE_DEVICE_CPU`.
 * - `name`: for messages.
 * - `gradient_count`: number of results of the operation, at least 1. The function receives a
 *   gradient for each.
 * - `edges`: the destination of each gradient that the function returns: nodes that were added
 *   before.
 * - `edge_count`: number of entries of `edges`.
 * - `function`: computes the gradients.
 * - `deleter`: called with `context` when the function is not called any more; may be NULL. It is not called if this
 *   call fails.
 * - `context`: passed to `function` and `deleter`.
 * - `out_node`: receives the number of the node, which is larger than those of all earlier nodes.
 * - Errors: INVALID_ARGUMENT: an edge leads to no node of this graph, or to an input that the node
 *   does not have.
 * - Threads: the function runs on the worker thread of its device, or for nodes of the CPU on the
 *   thread that calls `sconce_backward_run`. The deleter runs on any thread.
 * - torch: a `torch::autograd::Node` with its `next_edges`.
 */
SCONCE_NODISCARD
sconce_status sconce_backward_add_node(struct sconce_backward_graph *graph,
                                       int32_t device,
                                       const char *name,
                                       size_t gradient_count,
                                       const struct sconce_backward_edge *edges,
                                       size_t edge_count,
                                       sconce_backward_function function,
                                       sconce_deleter deleter,
                                       void *context,
                                       uint64_t *out_node);

/**
 * Returns the gradient of a leaf.
 *
 * - `graph`: the graph.
 * - `leaf`: the number that `sconce_backward_add_leaf` returned.
 * - `out_gradient`: receives the gradient; an undefined tensor if there is none.
 * - Ownership: the caller releases the tensor with `sconce_tensor_release`. It shares the memory
 *   to which later passes add.
 * - torch: `torch.Tensor.grad`.
 */
SCONCE_NODISCARD
sconce_status sconce_backward_get_gradient(struct sconce_backward_graph *graph,
                                           uint64_t leaf,
                                           struct sconce_tensor **out_gradient);

/**
 * Replaces the gradient of a leaf.
 *
 * - `graph`: the graph.
 * - `leaf`: the number that `sconce_backward_add_leaf` returned.
 * - `gradient`: the tensor to which later passes add; NULL for none.
 * - Errors: CROSS_DEVICE: the gradient is not on the leaf's device.
 * - torch: `x.grad = gradient`, `torch.optim.Optimizer.zero_grad`.
 */
SCONCE_NODISCARD
sconce_status sconce_backward_set_gradient(struct sconce_backward_graph *graph,
                                           uint64_t leaf,
                                           struct sconce_tensor *gradient);

/**
 * Runs a backward pass: calls the functions of all nodes that are reachable from the roots, each
 * on the stream of its forward operation, and adds to the gradients of leaves.
 *
 * Blocks until all functions have returned, but does not wait for the devices.
 *
 * - `graph`: the graph.
 * - `roots`: the nodes that receive initial gradients.
 * - `count`: number of entries of `roots`.
 * - `keep_graph`: whether the nodes can run again; if not, the deleter of each context is called
 *   as soon as its node has run.
 * - Errors: INVALID_STATE: a pass without `keep_graph` has run a node before. NOT_SUPPORTED: 16
 *   passes are nested already. Otherwise the first failure of a function or of the engine, with
 *   the node's name; leaves may have received some gradients then.
 * - Ordering: initial gradients are taken to be computed on the calling thread's current streams.
 *   Later work of these streams runs after the work on the gradients of leaves. A node's stream
 *   waits for the streams of the gradients that it receives.
 * - Threads: see `sconce_backward_add_node`. A node's function may call this function. With
 *   `keep_graph`, several threads may run passes over one graph at the same time.
 * - torch: `torch.autograd.backward(tensors, grad_tensors, retain_graph)`.
 */
SCONCE_NODISCARD
sconce_status sconce_backward_run(struct sconce_backward_graph *graph,
                                  const struct sconce_backward_root *roots,
                                  size_t count,
                                  bool keep_graph);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  /* SCONCE_C_BACKWARD_H_ */
