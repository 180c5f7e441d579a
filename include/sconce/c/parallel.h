/*
 * Sconce: PyTorch's CUDA runtime layer without PyTorch. The C API.
 *
 * Generated from src by cbindgen; do not edit. SCONCE_BLESS=1 cargo test --test header_sync
 * writes it anew.
 */

/**
 * @file
 * Threads of the CPU for the calculations of the library.
 *
 * What holds for every function is said in sconce/c/library.h.
 */

#ifndef SCONCE_C_PARALLEL_H_
#define SCONCE_C_PARALLEL_H_

#include <sconce/c/library.h>

/**
 * The work of `sconce_parallel_for`: the numbers from `begin` to `end`, without `end`. No exception may leave it.
 */
typedef void (*sconce_range_function)(int64_t begin, int64_t end, void *context);

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Sets the most threads that work on one call of the CPU, the calling one included: products, convolutions, attention
 * of compiled models, and `sconce_parallel_for`.
 *
 * It holds for the whole process, for calls that start later. Before, it is `OMP_NUM_THREADS`, else `MKL_NUM_THREADS`,
 * else the number of processors that the process may use; `OMP_THREAD_LIMIT` bounds each of them. Results do not
 * depend on it.
 *
 * - `num_threads`: at least 1, with which calls stay on their threads; else INVALID_ARGUMENT. More
 *   than 1,024 count as 1,024.
 * - torch: `at::set_num_threads`.
 */
SCONCE_NODISCARD
sconce_status sconce_parallel_set_num_threads(int32_t num_threads);

/**
 * Returns the most threads that work on one call of the CPU.
 *
 * - torch: `at::get_num_threads`.
 */
int32_t sconce_parallel_get_num_threads(void);

/**
 * Returns which part of a `sconce_parallel_for` the calling thread works on, from 0 and below the number of threads; 0
 * outside of one.
 *
 * - torch: `at::get_thread_num`.
 */
int32_t sconce_parallel_get_thread_num(void);

/**
 * Returns whether the calling thread works on a part of a call on several threads. Calls within a part stay on its
 * thread.
 *
 * - torch: `at::in_parallel_region`.
 */
bool sconce_parallel_in_region(void);

/**
 * Calls a function for parts of a range that together are the range, on several threads at the same time if it has
 * more than `grain_size` numbers. Returns when all calls have.
 *
 * There are at most as many parts as threads. A call within a part, and one of a process that was forked from a user
 * of devices, has one part, on the calling thread. Nothing is called for an empty range.
 *
 * - `begin`, `end`: the range, without `end`.
 * - `grain_size`: the least numbers of a part but the last; 0 is the same as 1.
 * - `function`: is called with the range of a part, by several threads at the same time. It may call the library.
 * - `context`: passed to `function`.
 * - torch: `at::parallel_for`.
 */
SCONCE_NODISCARD
sconce_status sconce_parallel_for(int64_t begin,
                                  int64_t end,
                                  int64_t grain_size,
                                  sconce_range_function function,
                                  void *context);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  /* SCONCE_C_PARALLEL_H_ */
