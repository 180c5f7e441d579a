/*
 * Sconce: PyTorch's CUDA runtime layer without PyTorch. The C API.
 *
 * Generated from src by cbindgen; do not edit. SCONCE_BLESS=1 cargo test --test header_sync
 * writes it anew.
 */

/**
 * @file
 * Exchange of tensors with other libraries by DLPack.
 *
 * What holds for every function is said in sconce/c/library.h.
 */

#ifndef SCONCE_C_DLPACK_H_
#define SCONCE_C_DLPACK_H_

#include <sconce/c/library.h>
#include <sconce/c/dtype.h>
#include <sconce/c/tensor.h>

/*
 * Structs of DLPack. Programs that use them include dlpack.h (version 1.0 or newer).
 */
struct DLManagedTensor;
struct DLManagedTensorVersioned;
struct DLPackExchangeAPI;

/**
 * Receives the error of `sconce_dlpack_allocator`: the name of a Python exception, and a message.
 */
typedef void (*sconce_dlpack_set_error)(void *error_ctx, const char *kind, const char *message);

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Exports a tensor to another library: a `DLManagedTensorVersioned` of DLPack 1.3 that shares its memory.
 *
 * `byte_offset` is 0, and `strides` is not NULL. Pinned memory is exported as `kDLCPU`, which
 * every consumer accepts.
 *
 * - `consumer_stream`: the stream on which the consumer will use the memory. NULL or -1 means
 *   none, 1 the legacy default stream, 2 the per-thread default stream; any other value is a
 *   `cudaStream_t` of the tensor's device.
 * - `out_managed`: receives the struct.
 * - Errors: INVALID_ARGUMENT: the tensor is undefined; a stream is named for a tensor of the CPU.
 * - Ownership: the caller, or the consumer, calls the struct's deleter once. The memory lives
 *   until then, even if the tensor is released earlier.
 * - Ordering: makes `consumer_stream` wait for the current stream of the tensor's device. The
 *   memory is not reused before the work that is queued on `consumer_stream` when the deleter is
 *   called has finished. Without a stream, the consumer must work on the current stream, or wait
 *   for it. Queued copies may still write to memory of the host.
 * - Threads: any thread may call the deleter.
 * - Safety: `consumer_stream` is a live stream, if it is a handle.
 * - torch: `torch.Tensor.__dlpack__(stream=...)`, `at::toDLPackVersioned`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_to_dlpack(struct sconce_tensor *tensor,
                                      void *consumer_stream,
                                      struct DLManagedTensorVersioned **out_managed);

/**
 * Exports a tensor as a `DLManagedTensor`, for libraries that support only DLPack before 1.0.
 * Otherwise as `sconce_tensor_to_dlpack`.
 *
 * - `consumer_stream`: as in `sconce_tensor_to_dlpack`.
 * - `out_managed`: receives the struct.
 * - Errors: INVALID_ARGUMENT: the tensor is read-only, which the struct cannot express. Otherwise
 *   as `sconce_tensor_to_dlpack`.
 * - Ownership: as `sconce_tensor_to_dlpack`.
 * - Ordering: as `sconce_tensor_to_dlpack`.
 * - Safety: as `sconce_tensor_to_dlpack`.
 * - torch: `torch.utils.dlpack.to_dlpack`, `at::toDLPack`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_to_dlpack_unversioned(struct sconce_tensor *tensor,
                                                  void *consumer_stream,
                                                  struct DLManagedTensor **out_managed);

/**
 * Imports a tensor of another library: a tensor over the same memory.
 *
 * - `managed`: a `DLManagedTensorVersioned` over host memory, GPU memory or managed memory.
 * - `producer_stream`: the stream on which the producer uses the memory, with the values of
 *   `consumer_stream` of `sconce_tensor_to_dlpack`. NULL or -1 means that the producer uses the
 *   current stream, or has made it wait.
 * - `out_tensor`: receives the tensor. If `managed` has the flag READ_ONLY, functions refuse to
 *   write to it.
 * - Errors: INVALID_ARGUMENT: a field contradicts another one or the memory. NOT_SUPPORTED: the
 *   major version is not 1, or this library does not support the kind of memory, the type, a flag
 *   or a negative stride. INVALID_DEVICE: there is no such device.
 * - Ownership: the caller releases the tensor with `sconce_tensor_release`. The tensor owns
 *   `managed`, and calls its deleter once no tensor uses the memory any more. If this call fails,
 *   the caller still owns `managed`. The exception is a major version other than 1: then the
 *   deleter has been called, as DLPack demands.
 * - Ordering: makes the current stream of the device wait for `producer_stream`. Before the
 *   deleter is called, the producer's stream (without one, the stream that was current at the
 *   import) waits for the other streams that used the memory: the stream that was current at the
 *   import, and those of `sconce_tensor_record_stream`. If the producer's stream can no longer be
 *   named, the last release waits for the device.
 * - Threads: the thread that releases the last tensor calls the deleter.
 * - Safety: `managed` and what it points to are as DLPack describes them, until the deleter is
 *   called. `producer_stream` is a live stream, if it is a handle.
 * - torch: `torch.from_dlpack`, `at::fromDLPackVersioned`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_from_dlpack(struct DLManagedTensorVersioned *managed,
                                        void *producer_stream,
                                        struct sconce_tensor **out_tensor);

/**
 * Imports a tensor of a library that supports only DLPack before 1.0. Otherwise as
 * `sconce_tensor_from_dlpack`.
 *
 * - `managed`: a `DLManagedTensor`. It has no version and no flags.
 * - `producer_stream`, `out_tensor`: as in `sconce_tensor_from_dlpack`.
 * - Errors: as `sconce_tensor_from_dlpack`.
 * - Ownership: as `sconce_tensor_from_dlpack`.
 * - Ordering: as `sconce_tensor_from_dlpack`.
 * - Threads: as `sconce_tensor_from_dlpack`.
 * - Safety: as `sconce_tensor_from_dlpack`.
 * - torch: `torch.utils.dlpack.from_dlpack`, `at::fromDLPack`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_from_dlpack_unversioned(struct DLManagedTensor *managed,
                                                    void *producer_stream,
                                                    struct sconce_tensor **out_tensor);

/**
 * Returns whether functions refuse to write to a tensor, because it was imported as read-only.
 *
 * - `out_read_only`: receives whether they do.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_is_read_only(struct sconce_tensor *tensor,
                                         bool *out_read_only);

/**
 * Allocates a tensor for another library: `DLPackManagedTensorAllocator` of the C exchange table.
 *
 * Returns 0, or -1 on failure, which `sconce_last_error_message()` describes as well.
 *
 * - `prototype`: a `DLTensor`, of which only type, dimensions, shape and device are read. The
 *   device is `kDLCPU`, `kDLCUDA` or `kDLCUDAHost` (pinned memory).
 * - `out_managed`: receives the struct, whose values are not set; NULL on failure.
 * - `error_ctx`: passed to `set_error`.
 * - `set_error`: called once on failure with `MemoryError`, `ValueError`, `BufferError` or `RuntimeError`; may
 *   be NULL.
 * - Ownership: the caller calls the struct's deleter once.
 * - Ordering: memory of a device is allocated for its current stream.
 * - Safety: `prototype` is as DLPack describes it. `set_error` does not unwind.
 */
int32_t sconce_dlpack_allocator(void *prototype,
                                struct DLManagedTensorVersioned **out_managed,
                                void *error_ctx,
                                sconce_dlpack_set_error set_error);

/**
 * Returns the native handle of the calling thread's current stream of a device: `DLPackCurrentWorkStream` of
 * the C exchange table.
 *
 * Returns 0, or -1 on failure, which `sconce_last_error_message()` describes.
 *
 * - `device_type`: `kDLCUDA`, `kDLCUDAManaged`, `kDLCPU` or `kDLCUDAHost`.
 * - `device_id`: the index of the device, at least 0.
 * - `out_stream`: receives the handle; NULL for a default stream (which is 1 in parameters such as
 *   `consumer_stream`), and for memory of the host.
 * - Ownership: borrowed; never destroy it.
 * - torch: `torch.cuda.current_stream(device_id).cuda_stream`.
 */
int32_t sconce_dlpack_current_stream(int32_t device_type,
                                     int32_t device_id,
                                     void **out_stream);

/**
 * Returns the C exchange table of DLPack 1.3 with the functions that need no Python objects:
 * `managed_tensor_allocator` and `current_work_stream`.
 *
 * `managed_tensor_from_py_object_no_sync`, `managed_tensor_to_py_object_no_sync` and
 * `dltensor_from_py_object_no_sync` are NULL. DLPack allows that for the last one only: a Python binding copies
 * the table, sets its own functions, and publishes the copy as `__dlpack_c_exchange_api__` of its type.
 *
 * - Ownership: the table is constant and lives as long as the process.
 */
const struct DLPackExchangeAPI *sconce_dlpack_exchange_api(void);

/**
 * Returns how DLPack describes a data type: the fields of its `DLDataType`.
 *
 * - `dtype`: `SCONCE_DTYPE_…`.
 * - `out_code`: receives the code, such as 2 for real numbers (`kDLFloat`).
 * - `out_bits`: receives the bits of one value.
 * - `out_lanes`: receives the number of values of an element: 1, or 2 for `SCONCE_DTYPE_F4_E2M1FN_X2`.
 * - torch: `at::getDLDataType`.
 */
SCONCE_NODISCARD
sconce_status sconce_dlpack_get_type(int32_t dtype,
                                     int32_t *out_code,
                                     int32_t *out_bits,
                                     int32_t *out_lanes);

/**
 * Returns the data type that DLPack describes by the fields of a `DLDataType`.
 *
 * - `code`: the code, such as 2 for real numbers (`kDLFloat`).
 * - `bits`: the bits of one value.
 * - `lanes`: the number of values of an element.
 * - `out_dtype`: receives `SCONCE_DTYPE_…`.
 * - Errors: NOT_SUPPORTED: the library has no such type.
 * - torch: `at::toScalarType`.
 */
SCONCE_NODISCARD
sconce_status sconce_dlpack_get_dtype(int32_t code,
                                      int32_t bits,
                                      int32_t lanes,
                                      int32_t *out_dtype);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  /* SCONCE_C_DLPACK_H_ */
