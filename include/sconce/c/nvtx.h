/*
 * Sconce: PyTorch's CUDA runtime layer without PyTorch. The C API.
 *
 * Generated from src by cbindgen; do not edit. SCONCE_BLESS=1 cargo test --test header_sync
 * writes it anew.
 */

/**
 * @file
 * NVTX: marks and ranges for profilers.
 *
 * What holds for every function is said in sconce/c/library.h.
 */

#ifndef SCONCE_C_NVTX_H_
#define SCONCE_C_NVTX_H_

#include <sconce/c/library.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Marks a moment for a profiling tool.
 *
 * This function and the other `sconce_nvtx_…` functions need no device, and take hardly any time
 * if no tool is attached.
 *
 * - `message`: the text that the tool shows.
 * - torch: `torch.cuda.nvtx.mark()`.
 */
SCONCE_NODISCARD sconce_status sconce_nvtx_mark(const char *message);

/**
 * Opens a range, nested in the ranges that the calling thread has open.
 *
 * - `message`: the text that the tool shows.
 * - `out_depth`: receives the depth of the range, 0 for the outermost; if a tool is attached, the
 *   number that the tool returns.
 * - torch: `torch.cuda.nvtx.range_push()`.
 */
SCONCE_NODISCARD sconce_status sconce_nvtx_range_push(const char *message, int32_t *out_depth);

/**
 * Closes the innermost range that the calling thread has open.
 *
 * - `out_depth`: receives the depth of the closed range, 0 for the outermost; negative if none was
 *   open.
 * - torch: `torch.cuda.nvtx.range_pop()`.
 */
SCONCE_NODISCARD sconce_status sconce_nvtx_range_pop(int32_t *out_depth);

/**
 * Opens a range that any thread may end, and that need not nest.
 *
 * - `message`: the text that the tool shows.
 * - `out_id`: receives a number for `sconce_nvtx_range_end`; 0 if no tool is attached.
 * - torch: `torch.cuda.nvtx.range_start()`.
 */
SCONCE_NODISCARD sconce_status sconce_nvtx_range_start(const char *message, uint64_t *out_id);

/**
 * Ends a range that `sconce_nvtx_range_start` opened.
 *
 * - `id`: the number of the range; the tool ignores other numbers.
 * - torch: `torch.cuda.nvtx.range_end()`.
 */
SCONCE_NODISCARD sconce_status sconce_nvtx_range_end(uint64_t id);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  /* SCONCE_C_NVTX_H_ */
