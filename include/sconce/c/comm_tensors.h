/*
 * Sconce: PyTorch's CUDA runtime layer without PyTorch. The C API.
 *
 * Generated from src by cbindgen; do not edit. SCONCE_BLESS=1 cargo test --test header_sync
 * writes it anew.
 */

/**
 * @file
 * Collective calls on tensors.
 *
 * What holds for every function is said in sconce/c/library.h.
 */

#ifndef SCONCE_C_COMM_TENSORS_H_
#define SCONCE_C_COMM_TENSORS_H_

#include <sconce/c/library.h>
#include <sconce/c/stream.h>
#include <sconce/c/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Copies a tensor to devices. On the tensor's own device the result is the tensor itself, with one
 * more owner.
 *
 * - `tensor`: on a device or the CPU.
 * - `devices`: indices; -1 is not allowed.
 * - `count`: number of devices.
 * - `out_tensors`: receives `count` tensors, of the sizes, type and order in memory of `tensor`.
 * - Errors: INVALID_ARGUMENT: an index is negative. OUT_OF_MEMORY: nothing is queued then.
 * - Ownership: the caller releases each result with `sconce_tensor_release`.
 * - Ordering: each copy is ordered as by `sconce_copy` between devices: it runs on the current
 *   stream of the tensor's device, and the current stream of the other device waits for it. If
 *   NCCL is installed, copies of 1 MiB or more to three or more devices are one collective
 *   operation on the current streams of all of them. The first such operation makes a communicator
 *   of the devices, and the host waits for that.
 * - torch: `torch.cuda.comm.broadcast(tensor, devices)`.
 */
SCONCE_NODISCARD
sconce_status sconce_comm_tensors_broadcast(struct sconce_tensor *tensor,
                                            const int32_t *devices,
                                            size_t count,
                                            struct sconce_tensor **out_tensors);

/**
 * Copies a tensor to tensors of devices.
 *
 * - `tensor`: on a device or the CPU.
 * - `outputs`: tensors of devices, of the sizes of `tensor`.
 * - `count`: number of outputs.
 * - Errors: INVALID_ARGUMENT: an output is on the CPU or has another shape. After any failure the contents of the
 *   outputs are undefined.
 * - Ordering: as `sconce_comm_tensors_broadcast`.
 * - torch: `torch.cuda.comm.broadcast(tensor, out=outputs)`.
 */
SCONCE_NODISCARD
sconce_status sconce_comm_tensors_broadcast_out(struct sconce_tensor *tensor,
                                                struct sconce_tensor *const *outputs,
                                                size_t count);

/**
 * Copies many tensors to devices with few copies: tensors of one type are joined until they have
 * `buffer_bytes` or more.
 *
 * - `tensors`: on the first device.
 * - `count`: number of tensors.
 * - `devices`: indices; -1 is not allowed.
 * - `device_count`: number of devices, at least 1.
 * - `buffer_bytes`: 10,485,760 in torch.
 * - `out_tensors`: receives `device_count * count` tensors: those of the first device, which are the tensors
 *   themselves, then those of the second one, and so on.
 * - Errors: INVALID_ARGUMENT: a tensor is not on the first device, or an index is negative.
 * - Ownership: the caller releases each result with `sconce_tensor_release`. Results that were
 *   joined share a block, which is freed with the last of them.
 * - Ordering: as `sconce_comm_tensors_broadcast`.
 * - torch: `torch.cuda.comm.broadcast_coalesced(tensors, devices, buffer_size)`.
 */
SCONCE_NODISCARD
sconce_status sconce_comm_tensors_broadcast_coalesced(struct sconce_tensor *const *tensors,
                                                      size_t count,
                                                      const int32_t *devices,
                                                      size_t device_count,
                                                      size_t buffer_bytes,
                                                      struct sconce_tensor **out_tensors);

/**
 * Splits a tensor along a dimension, and copies each part to a device. A part that is on its
 * device already is a view.
 *
 * - `tensor`: on a device or the CPU, with at least one dimension.
 * - `devices`: indices; -1 is not allowed.
 * - `count`: number of devices, at least 1.
 * - `chunk_sizes`: the sizes of the `count` parts; NULL for parts of equal size, of which the last
 *   may be smaller. With NULL there may be fewer parts than devices.
 * - `streams`: `count` pointers, each NULL or to a stream of the device, which is used instead of
 *   the current one there; NULL to use the current streams.
 * - `out_tensors`: receives the parts; can hold `count` tensors.
 * - `out_count`: receives the number of parts.
 * - Errors: INVALID_ARGUMENT: the sum of the sizes is not the size of the dimension, a stream is
 *   of another device, or an index is negative.
 * - Ownership: the caller releases each result with `sconce_tensor_release`.
 * - Ordering: as `sconce_comm_tensors_broadcast`.
 * - torch: `torch.cuda.comm.scatter(tensor, devices, chunk_sizes, dim, streams)`.
 */
SCONCE_NODISCARD
sconce_status sconce_comm_tensors_scatter(struct sconce_tensor *tensor,
                                          const int32_t *devices,
                                          size_t count,
                                          const int64_t *chunk_sizes,
                                          int64_t dim,
                                          const struct sconce_stream *const *streams,
                                          struct sconce_tensor **out_tensors,
                                          size_t *out_count);

/**
 * Copies the parts of a tensor along a dimension to tensors of devices.
 *
 * - `tensor`: on a device or the CPU, with at least one dimension.
 * - `outputs`: tensors of devices. The sum of their sizes along `dim` is the tensor's size; their
 *   other sizes are the tensor's.
 * - `count`: number of outputs, at least 1.
 * - Errors: INVALID_ARGUMENT: an output is on the CPU or has another shape. After any failure the contents of the
 *   outputs are undefined.
 * - Ordering: as `sconce_comm_tensors_broadcast`.
 * - torch: `torch.cuda.comm.scatter(tensor, dim=dim, out=outputs)`.
 */
SCONCE_NODISCARD
sconce_status sconce_comm_tensors_scatter_out(struct sconce_tensor *tensor,
                                              struct sconce_tensor *const *outputs,
                                              size_t count,
                                              int64_t dim);

/**
 * Adds tensors of devices. If there is only one tensor, the result is that tensor, with one more
 * owner.
 *
 * - `tensors`: at least one tensor; all of the same shape, on devices. They are added in their
 *   order, beginning with the one on the destination. Integers, for which the order does not
 *   matter, are added with one collective operation under the conditions of
 *   `sconce_comm_tensors_broadcast`.
 * - `count`: number of tensors.
 * - `destination`: the device of the result; one of the tensors must be there. If several are, the
 *   addition begins with the last of them. -1 for the current device.
 * - `out_tensor`: receives the sum.
 * - Errors: INVALID_ARGUMENT: a tensor is on the CPU, has another shape, or none is on the destination.
 * - Ownership: the caller releases the result with `sconce_tensor_release`.
 * - Ordering: the sum is ready in the order of the destination's current stream. Tensors of other devices are read in
 *   the order of their devices' current streams.
 * - torch: `torch.cuda.comm.reduce_add(inputs, destination)`.
 */
SCONCE_NODISCARD
sconce_status sconce_comm_tensors_reduce_add(struct sconce_tensor *const *tensors,
                                             size_t count,
                                             int32_t destination,
                                             struct sconce_tensor **out_tensor);

/**
 * Adds many tensors of devices with few copies: tensors of one type are joined into buffers of up
 * to `buffer_bytes`.
 *
 * - `tensors`: `lists * count` tensors: those of the first device, then those of the second one, and so on; each list
 *   has the same types and shapes.
 * - `lists`: number of devices, at least 1.
 * - `count`: number of tensors of each device.
 * - `destination`: the device of the results; one of the lists must be there. -1 for the current
 *   device.
 * - `buffer_bytes`: 10,485,760 in torch.
 * - `out_tensors`: receives `count` sums.
 * - Errors: INVALID_ARGUMENT: as `sconce_comm_tensors_reduce_add`, or the lists differ.
 * - Ownership: the caller releases each result with `sconce_tensor_release`. Results that were
 *   joined share a block.
 * - Ordering: as `sconce_comm_tensors_reduce_add`.
 * - torch: `torch.cuda.comm.reduce_add_coalesced(inputs, destination, buffer_size)`.
 */
SCONCE_NODISCARD
sconce_status sconce_comm_tensors_reduce_add_coalesced(struct sconce_tensor *const *tensors,
                                                       size_t lists,
                                                       size_t count,
                                                       int32_t destination,
                                                       size_t buffer_bytes,
                                                       struct sconce_tensor **out_tensors);

/**
 * Joins tensors of devices along a dimension.
 *
 * - `tensors`: on devices, of shapes that differ only in `dim`; at least 1, with at least one dimension.
 * - `count`: number of tensors.
 * - `destination`: the device of the result, -1 for the current one, or `SCONCE_DEVICE_CPU`.
 * - `out_tensor`: receives the joined tensor, which has the type of the first one. It has the
 *   channels-last memory format if all tensors have it.
 * - Errors: INVALID_ARGUMENT: a tensor is on the CPU, or the shapes do not fit.
 * - Ownership: the caller releases the result with `sconce_tensor_release`.
 * - Ordering: the result is ready in the order of the destination's current stream. If the
 *   destination is the CPU, the call waits for the copies.
 * - torch: `torch.cuda.comm.gather(tensors, dim, destination)`.
 */
SCONCE_NODISCARD
sconce_status sconce_comm_tensors_gather(struct sconce_tensor *const *tensors,
                                         size_t count,
                                         int64_t dim,
                                         int32_t destination,
                                         struct sconce_tensor **out_tensor);

/**
 * Joins tensors of devices along a dimension, and writes the result to a tensor of the caller.
 *
 * - `tensors`: as for `sconce_comm_tensors_gather`.
 * - `count`: number of tensors.
 * - `output`: on a device or the CPU, of the shape of the joined tensors.
 * - Errors: INVALID_ARGUMENT: a tensor is on the CPU, or the shapes do not fit. After any failure the contents of the
 *   output are undefined.
 * - Ordering: as `sconce_comm_tensors_gather`.
 * - torch: `torch.cuda.comm.gather(tensors, dim, out=output)`.
 */
SCONCE_NODISCARD
sconce_status sconce_comm_tensors_gather_out(struct sconce_tensor *const *tensors,
                                             size_t count,
                                             int64_t dim,
                                             struct sconce_tensor *output);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  /* SCONCE_C_COMM_TENSORS_H_ */
