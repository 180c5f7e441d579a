/*
 * Sconce: PyTorch's CUDA runtime layer without PyTorch. The C API.
 *
 * Generated from src by cbindgen; do not edit. SCONCE_BLESS=1 cargo test --test header_sync
 * writes it anew.
 */

/**
 * @file
 * Random numbers: generators, seeds, fills.
 *
 * What holds for every function is said in sconce/c/library.h.
 */

#ifndef SCONCE_C_RANDOM_H_
#define SCONCE_C_RANDOM_H_

#include <sconce/c/library.h>
#include <sconce/c/stream.h>
#include <sconce/c/dtype.h>

/**
 * Bytes of a generator's state: seed, then offset, little-endian.
 */
#define SCONCE_GENERATOR_STATE_BYTES 16

/**
 * Bytes of the state of a generator of the CPU.
 */
#define SCONCE_GENERATOR_CPU_STATE_BYTES 5056

/**
 * A generator of random numbers: a seed, and an offset in the sequence that belongs to the seed.
 * Opaque; created by `sconce_generator_create`, or the default generator of a device or of the
 * CPU. As in torch, a generator of the CPU (`SCONCE_DEVICE_CPU`) has the state of a Mersenne
 * Twister instead of an offset.
 */
typedef struct sconce_generator sconce_generator;

/**
 * The seed and offset of a kernel: two numbers, or the address in device memory that holds them.
 */
typedef struct sconce_philox_state {
  /**
   * The seed; 0 when `device_state` is not NULL.
   */
  uint64_t seed;
  /**
   * Where the reserved range begins, in 32-bit words; 0 when `device_state` is not NULL.
   */
  uint64_t offset;
  /**
   * NULL, or the device address of seed and offset, which the kernel reads when it runs.
   */
  const uint64_t *device_state;
} sconce_philox_state;

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Returns the default generator of a device, or of the CPU. The first request makes it, with a seed from the
 * operating system unless a seed was set before. Makes no context.
 *
 * - `device`: an index, -1 for the current device, or `SCONCE_DEVICE_CPU`.
 * - `out_generator`: receives the generator.
 * - Errors: IO: the operating system returns no seed.
 * - Ownership: borrowed; the library owns it until the process ends.
 * - torch: `torch.cuda.default_generators[device]`, `torch.default_generator`,
 *   `at::cuda::detail::getDefaultCUDAGenerator`.
 */
SCONCE_NODISCARD
sconce_status sconce_generator_get_default(int32_t device,
                                           struct sconce_generator **out_generator);

/**
 * Creates a generator with seed 67280421310721 and offset 0. Makes no context.
 *
 * - `device`: an index, -1 for the current device, or `SCONCE_DEVICE_CPU`.
 * - `out_generator`: receives the generator.
 * - Errors: OUT_OF_MEMORY: too many generators.
 * - Ownership: the caller destroys the generator with `sconce_generator_destroy`.
 * - torch: `torch.Generator(device)`, `at::cuda::detail::createCUDAGenerator`.
 */
SCONCE_NODISCARD
sconce_status sconce_generator_create(int32_t device,
                                      struct sconce_generator **out_generator);

/**
 * Creates a generator with the device and the state of another one. The two are independent
 * afterwards.
 *
 * - `out_generator`: receives the clone.
 * - Errors: OUT_OF_MEMORY: too many generators. INVALID_STATE: as `sconce_generator_get_offset`.
 * - Ownership: the caller destroys the clone with `sconce_generator_destroy`, also the clone of a
 *   default generator.
 * - Ordering: as `sconce_generator_get_offset`.
 * - torch: `torch.Generator.clone_state()`.
 */
SCONCE_NODISCARD
sconce_status sconce_generator_clone(struct sconce_generator *generator,
                                     struct sconce_generator **out_generator);

/**
 * Destroys a generator. Graphs that use it may still be replayed.
 *
 * - `generator`: from `sconce_generator_create` or `sconce_generator_clone`, else
 *   INVALID_ARGUMENT; NULL is a no-op.
 * - torch: the destructor of `at::Generator`.
 */
SCONCE_NODISCARD sconce_status sconce_generator_destroy(struct sconce_generator *generator);

/**
 * Reports the device of a generator. Makes no driver call.
 *
 * - `out_device`: receives the index, or `SCONCE_DEVICE_CPU`.
 * - torch: `torch.Generator.device`.
 */
SCONCE_NODISCARD
sconce_status sconce_generator_get_device(struct sconce_generator *generator,
                                          int32_t *out_device);

/**
 * Sets a generator's seed, and its offset to 0. For a generator of the CPU, sets the state that
 * belongs to the lower 32 bits of the seed.
 *
 * - `seed`: any number.
 * - Errors: INVALID_STATE: the generator is of a device whose current stream is being captured.
 * - Ordering: counts for all later calls, and does not wait; launches that are queued keep their
 *   numbers. If a capture that other code began has a fill with the generator, waits for the fills
 *   and launches of this library that use the generator.
 * - torch: `torch.Generator.manual_seed()`; for a negative seed of torch, pass the seed plus 2^64.
 */
SCONCE_NODISCARD
sconce_status sconce_generator_set_seed(struct sconce_generator *generator,
                                        uint64_t seed);

/**
 * Sets a generator's seed to one of 53 bits from the operating system, and its offset to 0.
 *
 * - `out_seed`: receives the seed.
 * - Errors: IO: the operating system returns no seed. INVALID_STATE: as
 *   `sconce_generator_set_seed`.
 * - Ordering: as `sconce_generator_set_seed`.
 * - torch: `torch.Generator.seed()`.
 */
SCONCE_NODISCARD
sconce_status sconce_generator_seed(struct sconce_generator *generator,
                                    uint64_t *out_seed);

/**
 * Reports the seed that was last set for a generator.
 *
 * - `out_seed`: receives the seed.
 * - torch: `torch.Generator.initial_seed()`, which torch refuses in a capture.
 */
SCONCE_NODISCARD
sconce_status sconce_generator_get_initial_seed(struct sconce_generator *generator,
                                                uint64_t *out_seed);

/**
 * Reports a generator's offset in its sequence, in 32-bit words of each thread.
 *
 * - `out_offset`: receives the offset, a multiple of 4.
 * - Errors: CROSS_DEVICE: a generator of the CPU, which has no offset. INVALID_STATE: as
 *   `sconce_generator_set_seed`.
 * - Ordering: includes all calls before, and does not wait, with two exceptions. While the launch of
 *   a graph is pending that draws in the body of a conditional node, only the device knows how much
 *   it draws: the call waits for that launch. If a capture that other code began has a fill with the
 *   generator, the call waits as `sconce_generator_set_seed` does, and launches of that graph count
 *   once they have run.
 * - torch: `torch.Generator.get_offset()`, `CUDAGeneratorImpl::philox_offset_per_thread`.
 */
SCONCE_NODISCARD
sconce_status sconce_generator_get_offset(struct sconce_generator *generator,
                                          uint64_t *out_offset);

/**
 * Sets a generator's offset in its sequence.
 *
 * - `offset`: in 32-bit words of each thread; a multiple of 4, else INVALID_ARGUMENT.
 * - Errors: CROSS_DEVICE: a generator of the CPU, which has no offset. INVALID_STATE: as `sconce_generator_set_seed`.
 * - Ordering: as `sconce_generator_set_seed`.
 * - torch: `torch.Generator.set_offset()`.
 */
SCONCE_NODISCARD
sconce_status sconce_generator_set_offset(struct sconce_generator *generator,
                                          uint64_t offset);

/**
 * Returns the state of a device's generator in torch's bytes.
 *
 * - `out_state`: receives `SCONCE_GENERATOR_STATE_BYTES` (16) bytes.
 * - Errors: CROSS_DEVICE: a generator of the CPU (`sconce_generator_get_cpu_state`). INVALID_STATE: as
 *   `sconce_generator_set_seed`.
 * - Ordering: as `sconce_generator_get_offset`.
 * - torch: `torch.cuda.get_rng_state()`, `torch.Generator.get_state()`.
 */
SCONCE_NODISCARD
sconce_status sconce_generator_get_state(struct sconce_generator *generator,
                                         uint8_t *out_state);

/**
 * Returns the state of a generator of the CPU in torch's bytes.
 *
 * - `out_state`: receives `SCONCE_GENERATOR_CPU_STATE_BYTES` (5056) bytes.
 * - Errors: CROSS_DEVICE: a generator of a device (`sconce_generator_get_state`).
 * - torch: `torch.get_rng_state()`, `torch.Generator.get_state()`.
 */
SCONCE_NODISCARD
sconce_status sconce_generator_get_cpu_state(struct sconce_generator *generator,
                                             uint8_t *out_state);

/**
 * Sets a generator's state from the bytes that `sconce_generator_get_state` or torch returned.
 *
 * - `state`: the bytes.
 * - `length`: the number of bytes: 16, or 8 for only the seed with offset 0; 5056 for a generator
 *   of the CPU.
 * - Errors: INVALID_ARGUMENT: `length` is another number, the offset is not a multiple of 4, or no
 *   Mersenne Twister has the state. INVALID_STATE: as `sconce_generator_set_seed`.
 * - Ordering: as `sconce_generator_set_seed`.
 * - torch: `torch.cuda.set_rng_state()`, `torch.set_rng_state()`; the 816 bytes of releases before 2.0 are refused.
 */
SCONCE_NODISCARD
sconce_status sconce_generator_set_state(struct sconce_generator *generator,
                                         const uint8_t *state,
                                         size_t length);

/**
 * Reserves a range of a generator's sequence for a kernel of the caller. The range overlaps no
 * other reservation, including those of other threads.
 *
 * - `increment`: the largest number of 32-bit words that a thread of the kernel draws, rounded up
 *   to a multiple of 4.
 * - `out_seed`: receives the seed.
 * - `out_offset`: receives the offset at which the range begins.
 * - Errors: INVALID_STATE: as `sconce_generator_set_seed`, where the call would wait; a captured
 *   kernel needs `sconce_generator_reserve_philox_state`.
 * - Ordering: as `sconce_generator_get_offset`.
 * - torch: `CUDAGeneratorImpl::philox_engine_inputs`; the caller needs no lock.
 */
SCONCE_NODISCARD
sconce_status sconce_generator_reserve_philox(struct sconce_generator *generator,
                                              uint64_t increment,
                                              uint64_t *out_seed,
                                              uint64_t *out_offset);

/**
 * Reserves a range of a generator's sequence for one kernel that the caller is about to launch on
 * its current stream of the generator's device. If that stream is being captured into a graph,
 * every replay receives its own range, which the kernel reads from device memory.
 *
 * - `increment`: the largest number of 32-bit words that a thread of the kernel draws, rounded up
 *   to a multiple of 4.
 * - `out_state`: receives the state; its `device_state` is valid as long as the graph.
 * - Errors: OUT_OF_MEMORY: the stream is being captured, and the device has not enough memory left
 *   for the generator state of graphs (`sconce_generator_prepare_capture`).
 * - Ordering: during a capture, queues a small kernel on the current stream; otherwise as
 *   `sconce_generator_reserve_philox`.
 * - torch: `CUDAGeneratorImpl::philox_cuda_state`, `at::cuda::philox::unpack`.
 */
SCONCE_NODISCARD
sconce_status sconce_generator_reserve_philox_state(struct sconce_generator *generator,
                                                    uint64_t increment,
                                                    struct sconce_philox_state *out_state);

/**
 * Reserves a range of a generator's sequence for one kernel that the caller is about to launch on a
 * stream, such as by `sconce_kernel_launch_on`. Otherwise as
 * `sconce_generator_reserve_philox_state`.
 *
 * - `stream`: a stream of the generator's device.
 * - torch: `CUDAGeneratorImpl::philox_cuda_state` inside `torch.cuda.stream()`.
 */
SCONCE_NODISCARD
sconce_status sconce_generator_reserve_philox_state_on(struct sconce_generator *generator,
                                                       uint64_t increment,
                                                       struct sconce_stream stream,
                                                       struct sconce_philox_state *out_state);

/**
 * Allocates the device memory (256 KiB) that random fills need in CUDA graphs, and keeps it until
 * the process ends. The first fill allocates it as well, captured or not; call this function if
 * memory may be exhausted by then.
 *
 * - Errors: OUT_OF_MEMORY.
 * - Ordering: the first call blocks briefly and makes the device's context.
 * - torch: `torch.cuda.CUDAGraph.register_generator_state()`, which torch needs for each graph.
 */
SCONCE_NODISCARD sconce_status sconce_generator_prepare_capture(struct sconce_generator *generator);

/**
 * Seeds the default generator of the current device. Needs no device and does not initialise the
 * library: the seed is kept until the generator is first used.
 *
 * - `seed`: any number.
 * - Errors: INVALID_STATE: as `sconce_generator_set_seed`.
 * - Ordering: as `sconce_generator_set_seed`.
 * - torch: `torch.cuda.manual_seed()`.
 */
SCONCE_NODISCARD sconce_status sconce_random_manual_seed(uint64_t seed);

/**
 * Seeds the default generators of all devices. Needs no device and does not initialise the
 * library: the seed is kept until a generator is first used.
 *
 * - `seed`: any number.
 * - Errors: INVALID_STATE: as `sconce_generator_set_seed`, for any of the generators; then none is
 *   seeded.
 * - Ordering: as `sconce_generator_set_seed`.
 * - torch: `torch.cuda.manual_seed_all()`.
 */
SCONCE_NODISCARD sconce_status sconce_random_manual_seed_all(uint64_t seed);

/**
 * Seeds the default generators of the CPU and of all devices. Needs no device and does not initialise the
 * library: the seed is kept until a generator is first used.
 *
 * - `seed`: any number; for a negative seed of torch, pass the seed plus 2^64.
 * - Errors: INVALID_STATE: as `sconce_generator_set_seed`, for any of the generators; then none is
 *   seeded, nor is that of the CPU.
 * - Ordering: as `sconce_generator_set_seed`.
 * - torch: `torch.manual_seed()`.
 */
SCONCE_NODISCARD
sconce_status sconce_random_manual_seed_everywhere(uint64_t seed);

/**
 * Seeds the default generator of the current device from the operating system. Needs no device, as
 * `sconce_random_manual_seed`.
 *
 * - `out_seed`: receives the seed, of 53 bits.
 * - Errors: IO: the operating system returns no seed. INVALID_STATE: as
 *   `sconce_generator_set_seed`.
 * - Ordering: as `sconce_generator_set_seed`.
 * - torch: `torch.cuda.seed()`.
 */
SCONCE_NODISCARD sconce_status sconce_random_seed(uint64_t *out_seed);

/**
 * Seeds the default generators of all devices with one seed from the operating system. Needs no
 * device, as `sconce_random_manual_seed`.
 *
 * - `out_seed`: receives the seed, of 53 bits.
 * - Errors: IO: the operating system returns no seed. INVALID_STATE: as
 *   `sconce_generator_set_seed`, for any of the generators; then none is seeded.
 * - Ordering: as `sconce_generator_set_seed`.
 * - torch: `torch.cuda.seed_all()`.
 */
SCONCE_NODISCARD sconce_status sconce_random_seed_all(uint64_t *out_seed);

/**
 * Reports the seed of the current device's default generator. Needs no device, as
 * `sconce_random_manual_seed`.
 *
 * - `out_seed`: receives the seed.
 * - torch: `torch.cuda.initial_seed()`, which torch refuses in a capture.
 */
SCONCE_NODISCARD sconce_status sconce_random_get_initial_seed(uint64_t *out_seed);

/**
 * Fills device memory with numbers from `low` to `high`, excluding `high`. The bits are torch's.
 *
 * - `ptr`: memory of the current device for `n` elements, aligned to one; may be NULL if `n` is 0.
 * - `n`: number of elements.
 * - `dtype`: `SCONCE_DTYPE_` F32, F64, F16, BF16, C64 or C128 (both parts are drawn).
 * - `low`, `high`: bounds.
 * - `generator`: a generator of the current device; NULL for its default generator.
 * - Errors: INVALID_ARGUMENT: `low > high`, a bound or their difference is out of the range of the
 *   type, `dtype` is unknown, `ptr` is not device memory, or `n` elements reach beyond its block.
 *   NOT_SUPPORTED: the distribution is not defined for `dtype`. CROSS_DEVICE: `generator` belongs
 *   to another device, or `ptr` to a device to which the current device has no peer access.
 *   OUT_OF_MEMORY: the stream is being captured, and the device has not enough memory left for the
 *   generator state of graphs (`sconce_generator_prepare_capture`).
 * - Ownership: the memory must stay allocated until the fill is done.
 * - Ordering: queued on the current stream. A device's first fill with a distribution takes
 *   longer, since it loads the kernels. In a graph every replay draws new numbers.
 * - torch: `torch.Tensor.uniform_()`.
 */
SCONCE_NODISCARD
sconce_status sconce_random_uniform(void *ptr,
                                    size_t n,
                                    int32_t dtype,
                                    double low,
                                    double high,
                                    struct sconce_generator *generator);

/**
 * Fills device memory with normally distributed numbers. The bits are torch's on a GPU. Otherwise
 * as `sconce_random_uniform`.
 *
 * - `dtype`: `SCONCE_DTYPE_` F32, F64, F16, BF16, C64 or C128.
 * - `mean`: mean value.
 * - `stddev`: standard deviation, of a complex number as a whole; not negative, else
 *   INVALID_ARGUMENT. torch and the messages call it `std`.
 * - torch: `torch.Tensor.normal_()`.
 */
SCONCE_NODISCARD
sconce_status sconce_random_normal(void *ptr,
                                   size_t n,
                                   int32_t dtype,
                                   double mean,
                                   double stddev,
                                   struct sconce_generator *generator);

/**
 * Fills device memory with numbers whose logarithms are normally distributed. The bits are torch's
 * on a GPU. Otherwise as `sconce_random_uniform`.
 *
 * - `dtype`: `SCONCE_DTYPE_` F32, F64, F16 or BF16.
 * - `mean`: mean value of the logarithm.
 * - `stddev`: standard deviation of the logarithm; positive, else INVALID_ARGUMENT. torch and the
 *   messages call it `std`.
 * - torch: `torch.Tensor.log_normal_()`.
 */
SCONCE_NODISCARD
sconce_status sconce_random_log_normal(void *ptr,
                                       size_t n,
                                       int32_t dtype,
                                       double mean,
                                       double stddev,
                                       struct sconce_generator *generator);

/**
 * Fills device memory with exponentially distributed numbers. The bits are torch's on a GPU.
 * Otherwise as `sconce_random_uniform`.
 *
 * - `dtype`: `SCONCE_DTYPE_` F32, F64, F16 or BF16.
 * - `rate`: positive, else INVALID_ARGUMENT. torch and the messages call it `lambda`.
 * - torch: `torch.Tensor.exponential_()`.
 */
SCONCE_NODISCARD
sconce_status sconce_random_exponential(void *ptr,
                                        size_t n,
                                        int32_t dtype,
                                        double rate,
                                        struct sconce_generator *generator);

/**
 * Fills device memory with Cauchy distributed numbers. The bits are torch's on a GPU. Otherwise as
 * `sconce_random_uniform`.
 *
 * - `dtype`: `SCONCE_DTYPE_` F32, F64, F16 or BF16.
 * - `median`: median.
 * - `sigma`: half the width of the density at half its height; positive, else INVALID_ARGUMENT.
 * - torch: `torch.Tensor.cauchy_()`.
 */
SCONCE_NODISCARD
sconce_status sconce_random_cauchy(void *ptr,
                                   size_t n,
                                   int32_t dtype,
                                   double median,
                                   double sigma,
                                   struct sconce_generator *generator);

/**
 * Fills device memory with geometrically distributed numbers: numbers of trials up to the first
 * success. The bits are torch's on a GPU. Otherwise as `sconce_random_uniform`.
 *
 * - `dtype`: `SCONCE_DTYPE_` of any real number.
 * - `p`: probability of success, between 0 and 1, else INVALID_ARGUMENT.
 * - torch: `torch.Tensor.geometric_()`.
 */
SCONCE_NODISCARD
sconce_status sconce_random_geometric(void *ptr,
                                      size_t n,
                                      int32_t dtype,
                                      double p,
                                      struct sconce_generator *generator);

/**
 * Fills device memory with ones and zeros. The bits are torch's. Otherwise as
 * `sconce_random_uniform`.
 *
 * - `dtype`: `SCONCE_DTYPE_` of any real number, or BOOL.
 * - `p`: probability of a one, from 0 to 1, else INVALID_ARGUMENT.
 * - torch: `torch.Tensor.bernoulli_()` with a number.
 */
SCONCE_NODISCARD
sconce_status sconce_random_bernoulli(void *ptr,
                                      size_t n,
                                      int32_t dtype,
                                      double p,
                                      struct sconce_generator *generator);

/**
 * Fills device memory with integers from `low` to `high`, excluding `high`. The bits are torch's.
 * Otherwise as `sconce_random_uniform`.
 *
 * - `dtype`: `SCONCE_DTYPE_` of any real number, or BOOL.
 * - `low`, `high`: bounds; INVALID_ARGUMENT if `low >= high`, or if a bound is beyond the type.
 * - torch: `torch.Tensor.random_(from, to)`, `torch.randint()`.
 */
SCONCE_NODISCARD
sconce_status sconce_random_integers(void *ptr,
                                     size_t n,
                                     int32_t dtype,
                                     int64_t low,
                                     int64_t high,
                                     struct sconce_generator *generator);

/**
 * Fills device memory with integers from 0 to the largest of an integer type, or to the largest up
 * to which a floating-point type represents every integer. The bits are torch's. Otherwise as
 * `sconce_random_uniform`.
 *
 * - `dtype`: `SCONCE_DTYPE_` of any real number, or BOOL.
 * - torch: `torch.Tensor.random_()`.
 */
SCONCE_NODISCARD
sconce_status sconce_random_full_range(void *ptr,
                                       size_t n,
                                       int32_t dtype,
                                       struct sconce_generator *generator);

/**
 * Fills device memory with numbers from `low` to `high` on a stream. The stream and its device are
 * used instead of the current ones. Otherwise as `sconce_random_uniform`.
 *
 * - `ptr`: memory of the stream's device for `n` elements, or of a peer of that device.
 * - `generator`: a generator of the stream's device; NULL for its default generator.
 * - `stream`: the stream on which the fill is queued.
 * - Threads: any; the calling thread's device and streams have no effect and do not change.
 * - torch: `torch.Tensor.uniform_()` inside `torch.cuda.stream()`.
 */
SCONCE_NODISCARD
sconce_status sconce_random_uniform_on(void *ptr,
                                       size_t n,
                                       int32_t dtype,
                                       double low,
                                       double high,
                                       struct sconce_generator *generator,
                                       struct sconce_stream stream);

/**
 * Fills device memory with normally distributed numbers on a stream, as `sconce_random_uniform_on`
 * does. Otherwise as `sconce_random_normal`.
 *
 * - `stream`: the stream on which the fill is queued.
 * - torch: `torch.Tensor.normal_()` inside `torch.cuda.stream()`.
 */
SCONCE_NODISCARD
sconce_status sconce_random_normal_on(void *ptr,
                                      size_t n,
                                      int32_t dtype,
                                      double mean,
                                      double stddev,
                                      struct sconce_generator *generator,
                                      struct sconce_stream stream);

/**
 * Fills device memory with log-normally distributed numbers on a stream, as
 * `sconce_random_uniform_on` does. Otherwise as `sconce_random_log_normal`.
 *
 * - `stream`: the stream on which the fill is queued.
 * - torch: `torch.Tensor.log_normal_()` inside `torch.cuda.stream()`.
 */
SCONCE_NODISCARD
sconce_status sconce_random_log_normal_on(void *ptr,
                                          size_t n,
                                          int32_t dtype,
                                          double mean,
                                          double stddev,
                                          struct sconce_generator *generator,
                                          struct sconce_stream stream);

/**
 * Fills device memory with exponentially distributed numbers on a stream, as
 * `sconce_random_uniform_on` does. Otherwise as `sconce_random_exponential`.
 *
 * - `stream`: the stream on which the fill is queued.
 * - torch: `torch.Tensor.exponential_()` inside `torch.cuda.stream()`.
 */
SCONCE_NODISCARD
sconce_status sconce_random_exponential_on(void *ptr,
                                           size_t n,
                                           int32_t dtype,
                                           double rate,
                                           struct sconce_generator *generator,
                                           struct sconce_stream stream);

/**
 * Fills device memory with Cauchy-distributed numbers on a stream, as `sconce_random_uniform_on`
 * does. Otherwise as `sconce_random_cauchy`.
 *
 * - `stream`: the stream on which the fill is queued.
 * - torch: `torch.Tensor.cauchy_()` inside `torch.cuda.stream()`.
 */
SCONCE_NODISCARD
sconce_status sconce_random_cauchy_on(void *ptr,
                                      size_t n,
                                      int32_t dtype,
                                      double median,
                                      double sigma,
                                      struct sconce_generator *generator,
                                      struct sconce_stream stream);

/**
 * Fills device memory with geometrically distributed numbers on a stream, as
 * `sconce_random_uniform_on` does. Otherwise as `sconce_random_geometric`.
 *
 * - `stream`: the stream on which the fill is queued.
 * - torch: `torch.Tensor.geometric_()` inside `torch.cuda.stream()`.
 */
SCONCE_NODISCARD
sconce_status sconce_random_geometric_on(void *ptr,
                                         size_t n,
                                         int32_t dtype,
                                         double p,
                                         struct sconce_generator *generator,
                                         struct sconce_stream stream);

/**
 * Fills device memory with ones and zeros on a stream, as `sconce_random_uniform_on` does.
 * Otherwise as `sconce_random_bernoulli`.
 *
 * - `stream`: the stream on which the fill is queued.
 * - torch: `torch.Tensor.bernoulli_()` inside `torch.cuda.stream()`.
 */
SCONCE_NODISCARD
sconce_status sconce_random_bernoulli_on(void *ptr,
                                         size_t n,
                                         int32_t dtype,
                                         double p,
                                         struct sconce_generator *generator,
                                         struct sconce_stream stream);

/**
 * Fills device memory with integers from `low` to `high`, excluding `high` on a stream, as
 * `sconce_random_uniform_on` does. Otherwise as `sconce_random_integers`.
 *
 * - `stream`: the stream on which the fill is queued.
 * - torch: `torch.Tensor.random_()` inside `torch.cuda.stream()`.
 */
SCONCE_NODISCARD
sconce_status sconce_random_integers_on(void *ptr,
                                        size_t n,
                                        int32_t dtype,
                                        int64_t low,
                                        int64_t high,
                                        struct sconce_generator *generator,
                                        struct sconce_stream stream);

/**
 * Fills device memory with integers from the type's whole range on a stream, as
 * `sconce_random_uniform_on` does. Otherwise as `sconce_random_full_range`.
 *
 * - `stream`: the stream on which the fill is queued.
 * - torch: `torch.Tensor.random_()` inside `torch.cuda.stream()`.
 */
SCONCE_NODISCARD
sconce_status sconce_random_full_range_on(void *ptr,
                                          size_t n,
                                          int32_t dtype,
                                          struct sconce_generator *generator,
                                          struct sconce_stream stream);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  /* SCONCE_C_RANDOM_H_ */
