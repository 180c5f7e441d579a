/*
 * Sconce: PyTorch's CUDA runtime layer without PyTorch. The C API.
 *
 * Generated from src by cbindgen; do not edit. SCONCE_BLESS=1 cargo test --test header_sync
 * writes it anew.
 */

/**
 * @file
 * Memory and events that processes share.
 *
 * What holds for every function is said in sconce/c/library.h.
 */

#ifndef SCONCE_C_IPC_H_
#define SCONCE_C_IPC_H_

#include <sconce/c/library.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Returns a handle with which another process can open the driver allocation that contains device
 * memory, and the offset of the memory in it. For a block of pages (`policy:pages`,
 * `expandable_segments:True`) the handle stands for all pages that hold a part of the block.
 *
 * - `ptr`: device memory, of this library or of other code of the process. Virtual memory must
 *   have been made shareable by file descriptor.
 * - `out_handle`: receives `SCONCE_IPC_HANDLE_BYTES` (64) bytes, equal for all memory of one
 *   driver allocation, or of one block of pages.
 * - `out_offset_bytes`: receives the distance of `ptr` from the beginning of the driver
 *   allocation, or of the first page.
 * - Errors: INVALID_ARGUMENT: `ptr` is not device memory, was freed, is memory of another process,
 *   or cannot be shared. INVALID_STATE: `ptr` is memory of a pool that is asleep. NOT_SUPPORTED:
 *   the driver cannot share such memory, or the pages of the block. IO: the socket on which other
 *   processes send their requests cannot be opened.
 * - Ownership: the memory stays the caller's. If it is freed while another process has it open, it
 *   is not reused before that process has closed it or ended. Memory that other code took from the
 *   driver must not be freed before then. Freed memory cannot be opened.
 * - Ordering: the other process must not use the memory before the work queued here has finished:
 *   share an event, too.
 * - torch: `torch.UntypedStorage._share_cuda_()`, `cudaIpcGetMemHandle`.
 */
SCONCE_NODISCARD
sconce_status sconce_ipc_get_memory_handle(void *ptr,
                                           uint8_t *out_handle,
                                           size_t *out_offset_bytes);

/**
 * Opens device memory of another process.
 *
 * - `device`: the device of the memory, on which this process uses it; index, -1 for the current
 *   device.
 * - `handle`, `offset_bytes`: the results of `sconce_ipc_get_memory_handle` in the other process.
 * - `out_ptr`: receives the memory's address in this process.
 * - Errors: INVALID_ARGUMENT: `handle` is not such a handle, is of this process or of another device,
 *   or `offset_bytes` is not below the allocation's size. INVALID_HANDLE: the other process has
 *   ended, has freed the memory, or belongs to another user. INVALID_STATE: the other process has
 *   not answered for 10 seconds (`sconce_ipc_set_timeout_ms`), or the memory is asleep there. IO:
 *   the connection to the other process failed. DRIVER: also for failures in the other process.
 * - Ownership: the caller closes the memory with `sconce_ipc_close_memory`, once for each call.
 * - Ordering: waits for the answer of the other process, not for its device work.
 * - torch: `torch.UntypedStorage._new_shared_cuda`, `cudaIpcOpenMemHandle`.
 */
SCONCE_NODISCARD
sconce_status sconce_ipc_open_memory(int32_t device,
                                     const uint8_t *handle,
                                     size_t offset_bytes,
                                     void **out_ptr);

/**
 * Closes memory of another process. Once an allocation has been closed as often as opened, its
 * addresses are invalid.
 *
 * - `ptr`: the address that `sconce_ipc_open_memory` returned; NULL is a no-op.
 * - Errors: INVALID_ARGUMENT: `ptr` was not opened, or was closed as often as opened.
 *   INVALID_STATE: a stream of the device is being captured; the wait would invalidate the
 *   capture. After INVALID_STATE and DRIVER the memory is still open.
 * - Ordering: the last close of an address waits for the device; afterwards the other process may
 *   use the memory.
 * - torch: the end of a shared storage, `cudaIpcCloseMemHandle`.
 */
SCONCE_NODISCARD sconce_status sconce_ipc_close_memory(void *ptr);

/**
 * Makes freed memory reusable if all processes that had it open have closed it or have ended. The
 * library also does this by itself a little later; the call does it now.
 *
 * - Errors: DRIVER, and INVALID_STATE while a stream of the device is being captured: without
 *   caching, memory cannot be returned to the driver now; the next call tries again.
 * - Ordering: does not block. Without caching, returning memory waits for its device.
 * - torch: `torch.cuda.ipc_collect()`.
 */
SCONCE_NODISCARD sconce_status sconce_ipc_collect(void);

/**
 * Sets how long later calls of `sconce_ipc_open_memory` wait for the answer of the other process.
 * 10,000 ms by default. Needs no device.
 *
 * - `milliseconds`: more than 0, else INVALID_ARGUMENT.
 */
SCONCE_NODISCARD sconce_status sconce_ipc_set_timeout_ms(uint32_t milliseconds);

/**
 * Reports how long `sconce_ipc_open_memory` waits for the answer of the other process. Needs no
 * device.
 *
 * - `out_milliseconds`: receives the figure.
 */
SCONCE_NODISCARD sconce_status sconce_ipc_get_timeout_ms(uint32_t *out_milliseconds);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  /* SCONCE_C_IPC_H_ */
