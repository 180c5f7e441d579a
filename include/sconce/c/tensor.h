/*
 * Sconce: PyTorch's CUDA runtime layer without PyTorch. The C API.
 *
 * Generated from src by cbindgen; do not edit. SCONCE_BLESS=1 cargo test --test header_sync
 * writes it anew.
 */

/**
 * @file
 * Tensors: creation, views, conversions, calculations.
 *
 * What holds for every function is said in sconce/c/library.h.
 */

#ifndef SCONCE_C_TENSOR_H_
#define SCONCE_C_TENSOR_H_

#include <sconce/c/library.h>
#include <sconce/c/stream.h>
#include <sconce/c/dtype.h>
#include <sconce/c/random.h>
#include <sconce/c/graph.h>

/**
 * What a `sconce_scalar` is.
 */
#ifdef __cplusplus
enum sconce_scalar_kind : int32_t {
#else
typedef int32_t sconce_scalar_kind;
enum {
#endif
  /**
   * An integer, in `integer`.
   */
  SCONCE_SCALAR_INTEGER = 0,
  /**
   * A real number, in `real`.
   */
  SCONCE_SCALAR_REAL = 1,
  /**
   * A truth value: whether `integer` is not 0.
   */
  SCONCE_SCALAR_BOOL = 2,
  /**
   * A complex number, in `real` and `imaginary`.
   */
  SCONCE_SCALAR_COMPLEX = 3,
};

/**
 * The order of a tensor's dimensions in memory.
 */
#ifdef __cplusplus
enum sconce_memory_format : int32_t {
#else
typedef int32_t sconce_memory_format;
enum {
#endif
  /**
   * As in the tensor that the new one is like; without one, the last dimension is innermost.
   */
  SCONCE_MEMORY_FORMAT_PRESERVE = 0,
  /**
   * The last dimension first.
   */
  SCONCE_MEMORY_FORMAT_CONTIGUOUS = 1,
  /**
   * Of four dimensions, the second one first.
   */
  SCONCE_MEMORY_FORMAT_CHANNELS_LAST = 2,
  /**
   * Of five dimensions, the second one first.
   */
  SCONCE_MEMORY_FORMAT_CHANNELS_LAST_3D = 3,
};

/**
 * An elementwise operation of one operand, with torch's name.
 */
#ifdef __cplusplus
enum sconce_unary_operation : int32_t {
#else
typedef int32_t sconce_unary_operation;
enum {
#endif
  /**
   * `-x`.
   */
  SCONCE_UNARY_NEG = 0,
  /**
   * The absolute value; a real number, also for complex `x`.
   */
  SCONCE_UNARY_ABS = 1,
  /**
   * -1, 0 or 1.
   */
  SCONCE_UNARY_SIGN = 2,
  /**
   * The exponential.
   */
  SCONCE_UNARY_EXP = 3,
  /**
   * The natural logarithm.
   */
  SCONCE_UNARY_LOG = 4,
  /**
   * The square root.
   */
  SCONCE_UNARY_SQRT = 5,
  /**
   * `1 / sqrt(x)`.
   */
  SCONCE_UNARY_RSQRT = 6,
  /**
   * `1 / x`.
   */
  SCONCE_UNARY_RECIPROCAL = 7,
  /**
   * The sine.
   */
  SCONCE_UNARY_SIN = 8,
  /**
   * The cosine.
   */
  SCONCE_UNARY_COS = 9,
  /**
   * The hyperbolic tangent.
   */
  SCONCE_UNARY_TANH = 10,
  /**
   * `1 / (1 + exp(-x))`.
   */
  SCONCE_UNARY_SIGMOID = 11,
  /**
   * `max(x, 0)`.
   */
  SCONCE_UNARY_RELU = 12,
  /**
   * `x` times the normal distribution function of `x`.
   */
  SCONCE_UNARY_GELU = 13,
  /**
   * The approximation of GELU by `tanh`.
   */
  SCONCE_UNARY_GELU_TANH = 14,
  /**
   * `x * sigmoid(x)`.
   */
  SCONCE_UNARY_SILU = 15,
  /**
   * The error function.
   */
  SCONCE_UNARY_ERF = 16,
  /**
   * Rounded down.
   */
  SCONCE_UNARY_FLOOR = 17,
  /**
   * Rounded up.
   */
  SCONCE_UNARY_CEIL = 18,
  /**
   * To the nearest integer, ties to even.
   */
  SCONCE_UNARY_ROUND = 19,
  /**
   * Toward 0.
   */
  SCONCE_UNARY_TRUNC = 20,
  /**
   * Whether x is 0.
   */
  SCONCE_UNARY_LOGICAL_NOT = 21,
  /**
   * Inverts all bits; for BOOL, the logical negation.
   */
  SCONCE_UNARY_BITWISE_NOT = 22,
  /**
   * Whether x is NaN.
   */
  SCONCE_UNARY_IS_NAN = 23,
  /**
   * Whether x is neither infinite nor NaN.
   */
  SCONCE_UNARY_IS_FINITE = 24,
};

/**
 * An elementwise operation of two operands, with torch's name.
 */
#ifdef __cplusplus
enum sconce_binary_operation : int32_t {
#else
typedef int32_t sconce_binary_operation;
enum {
#endif
  /**
   * `a + alpha * b`.
   */
  SCONCE_BINARY_ADD = 0,
  /**
   * `a - alpha * b`.
   */
  SCONCE_BINARY_SUB = 1,
  /**
   * `a * b`.
   */
  SCONCE_BINARY_MUL = 2,
  /**
   * `a / b`; a floating-point number, also for integers.
   */
  SCONCE_BINARY_DIV = 3,
  /**
   * The quotient rounded down.
   */
  SCONCE_BINARY_FLOOR_DIVIDE = 4,
  /**
   * The quotient rounded toward 0.
   */
  SCONCE_BINARY_TRUNC_DIVIDE = 5,
  /**
   * The remainder, with the sign of `b`, as in Python.
   */
  SCONCE_BINARY_REMAINDER = 6,
  /**
   * `a` to the power of `b`.
   */
  SCONCE_BINARY_POW = 7,
  /**
   * The smaller of the two; NaN if either is NaN.
   */
  SCONCE_BINARY_MINIMUM = 8,
  /**
   * The larger of the two; NaN if either is NaN.
   */
  SCONCE_BINARY_MAXIMUM = 9,
  /**
   * Whether `a == b`.
   */
  SCONCE_BINARY_EQ = 10,
  /**
   * Whether `a != b`.
   */
  SCONCE_BINARY_NE = 11,
  /**
   * Whether `a < b`.
   */
  SCONCE_BINARY_LT = 12,
  /**
   * Whether `a <= b`.
   */
  SCONCE_BINARY_LE = 13,
  /**
   * Whether `a > b`.
   */
  SCONCE_BINARY_GT = 14,
  /**
   * Whether `a >= b`.
   */
  SCONCE_BINARY_GE = 15,
  /**
   * `a & b`.
   */
  SCONCE_BINARY_BITWISE_AND = 16,
  /**
   * `a | b`.
   */
  SCONCE_BINARY_BITWISE_OR = 17,
  /**
   * `a ^ b`.
   */
  SCONCE_BINARY_BITWISE_XOR = 18,
  /**
   * Whether both are nonzero.
   */
  SCONCE_BINARY_LOGICAL_AND = 19,
  /**
   * Whether at least one is nonzero.
   */
  SCONCE_BINARY_LOGICAL_OR = 20,
  /**
   * Whether exactly one is nonzero.
   */
  SCONCE_BINARY_LOGICAL_XOR = 21,
};

/**
 * A reduction, with torch's name.
 */
#ifdef __cplusplus
enum sconce_reduction : int32_t {
#else
typedef int32_t sconce_reduction;
enum {
#endif
  /**
   * The sum; 0 if there are no elements. Integers are added as I64.
   */
  SCONCE_REDUCE_SUM = 0,
  /**
   * The mean of floating-point or complex numbers; NaN if there are no elements.
   */
  SCONCE_REDUCE_MEAN = 1,
  /**
   * The product; 1 if there are no elements.
   */
  SCONCE_REDUCE_PROD = 2,
  /**
   * The largest element; NaN if any element is NaN.
   */
  SCONCE_REDUCE_AMAX = 3,
  /**
   * The smallest element; NaN if any element is NaN.
   */
  SCONCE_REDUCE_AMIN = 4,
  /**
   * The index of the first largest element, as I64.
   */
  SCONCE_REDUCE_ARGMAX = 5,
  /**
   * The index of the first smallest element, as I64.
   */
  SCONCE_REDUCE_ARGMIN = 6,
  /**
   * Whether all elements are nonzero.
   */
  SCONCE_REDUCE_ALL = 7,
  /**
   * Whether any element is nonzero.
   */
  SCONCE_REDUCE_ANY = 8,
};

/**
 * A calculation along a dimension, with torch's name.
 */
#ifdef __cplusplus
enum sconce_line_operation : int32_t {
#else
typedef int32_t sconce_line_operation;
enum {
#endif
  /**
   * The softmax: `exp(x)` divided by the sum of `exp(x)`.
   */
  SCONCE_LINE_SOFTMAX = 0,
  /**
   * The logarithm of the softmax.
   */
  SCONCE_LINE_LOG_SOFTMAX = 1,
  /**
   * The running sum: for each element, the sum of the elements up to it.
   */
  SCONCE_LINE_CUMSUM = 2,
  /**
   * The running product: for each element, the product of the elements up to it.
   */
  SCONCE_LINE_CUMPROD = 3,
};

/**
 * A tensor: memory, seen through a data type, sizes, strides and an offset. Opaque. The caller
 * releases every handle that a function returns with `sconce_tensor_release`. A view keeps its
 * memory alive.
 */
typedef struct sconce_tensor sconce_tensor;

/**
 * Type, device and memory format of a new tensor. Begin with `SCONCE_TENSOR_OPTIONS_INIT`, with
 * which the call uses its defaults.
 */
typedef struct sconce_tensor_options {
  /**
   * `sizeof(sconce_tensor_options)`, set by the caller.
   */
  uint32_t struct_size;
  /**
   * `SCONCE_DTYPE_…`, or `SCONCE_DTYPE_DEFAULT`.
   */
  int32_t dtype;
  /**
   * An index, `SCONCE_DEVICE_CPU`, or -1 for the default of the call: the current device, or for
   * a `…_like` function the device of the other tensor. If `pinned` is true, -1 is the CPU.
   */
  int32_t device;
  /**
   * `SCONCE_MEMORY_FORMAT_…`.
   */
  int32_t memory_format;
  /**
   * Whether memory of the CPU is page-locked.
   */
  bool pinned;
  /**
   * 0, else INVALID_ARGUMENT.
   */
  uint8_t reserved[7];
} sconce_tensor_options;

/** A `sconce_tensor_options`: the call uses its defaults. */
#ifdef __cplusplus
#define SCONCE_TENSOR_OPTIONS_INIT \
  {sizeof(sconce_tensor_options), SCONCE_DTYPE_DEFAULT, -1, 0, false, {}}
#else
#define SCONCE_TENSOR_OPTIONS_INIT \
  {.struct_size = sizeof(sconce_tensor_options), .dtype = SCONCE_DTYPE_DEFAULT, .device = -1}
#endif

/**
 * A number. Its kind affects the type of results, as the kind of a Python number does in torch.
 */
typedef struct sconce_scalar {
  /**
   * `SCONCE_SCALAR_…`.
   */
  int32_t kind;
  /**
   * 0.
   */
  int32_t reserved;
  /**
   * The value of an integer or a truth value.
   */
  int64_t integer;
  /**
   * The value of a real number, or the real part of a complex number.
   */
  double real;
  /**
   * The imaginary part of a complex number.
   */
  double imaginary;
} sconce_scalar;

/**
 * Returns memory to its owner. Called once, with the `context` that was passed with the function,
 * on any thread, possibly at exit.
 */
typedef void (*sconce_deleter)(void *context);

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Adds an owner to a tensor handle: the handle must be released once more.
 *
 * - torch: a second reference to the same `at::Tensor`.
 */
SCONCE_NODISCARD sconce_status sconce_tensor_retain(struct sconce_tensor *tensor);

/**
 * Removes an owner from a tensor handle. The last release makes the handle invalid. The memory is
 * freed when no tensor uses it any more.
 *
 * - `tensor`: NULL does nothing.
 * - Ordering: device memory goes back to the allocator in the order of the stream for which it was
 *   allocated for; see `sconce_tensor_record_stream`.
 * - Threads: the thread that releases the last tensor calls the deleter of imported memory.
 * - torch: the end of an `at::Tensor`.
 */
SCONCE_NODISCARD sconce_status sconce_tensor_release(struct sconce_tensor *tensor);

/**
 * Replaces the tensor of a handle by another one: the memory, type and shape of `source`. All
 * owners of the handle see the new tensor.
 *
 * - `tensor`: its previous tensor is released.
 * - `source`: may be undefined.
 * - torch: `a = b` of an `at::Tensor` that is passed by reference.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_assign(struct sconce_tensor *tensor,
                                   struct sconce_tensor *source);

/**
 * Returns an undefined tensor, which has no memory, type or shape. Functions refuse it, except
 * those of handles.
 *
 * - `out_tensor`: receives the tensor.
 * - torch: `at::Tensor()`.
 */
SCONCE_NODISCARD sconce_status sconce_tensor_undefined(struct sconce_tensor **out_tensor);

/**
 * Returns the number of live tensor handles in the process, including undefined tensors. For tests
 * that look for leaks.
 */
size_t sconce_tensor_live_count(void);

/**
 * Returns whether a tensor has memory, type and shape.
 *
 * - `out_defined`: receives whether it does.
 * - torch: `at::Tensor::defined`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_is_defined(struct sconce_tensor *tensor,
                                       bool *out_defined);

/**
 * Returns the data type.
 *
 * - `out_dtype`: receives `SCONCE_DTYPE_…`.
 * - torch: `torch.Tensor.dtype`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_get_dtype(struct sconce_tensor *tensor,
                                      int32_t *out_dtype);

/**
 * Returns where the memory is.
 *
 * - `out_device`: receives the device's index, or `SCONCE_DEVICE_CPU`.
 * - torch: `torch.Tensor.device`, `torch.Tensor.get_device`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_get_device(struct sconce_tensor *tensor,
                                       int32_t *out_device);

/**
 * Returns the number of dimensions.
 *
 * - `out_rank`: receives the number.
 * - torch: `torch.Tensor.dim()`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_get_rank(struct sconce_tensor *tensor,
                                     size_t *out_rank);

/**
 * Returns the sizes.
 *
 * - `out_sizes`: receives an entry for each dimension; may be NULL without dimensions.
 * - `capacity`: entries that `out_sizes` can hold.
 * - Errors: INVALID_ARGUMENT: `capacity` is less than the number of dimensions.
 * - torch: `torch.Tensor.size()`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_get_sizes(struct sconce_tensor *tensor,
                                      int64_t *out_sizes,
                                      size_t capacity);

/**
 * Returns the strides, in elements.
 *
 * - `out_strides`: receives an entry for each dimension; may be NULL without dimensions.
 * - `capacity`: entries that `out_strides` can hold.
 * - Errors: INVALID_ARGUMENT: `capacity` is less than the number of dimensions.
 * - torch: `torch.Tensor.stride()`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_get_strides(struct sconce_tensor *tensor,
                                        int64_t *out_strides,
                                        size_t capacity);

/**
 * Returns the address of the sizes: `sconce_tensor_get_rank` numbers.
 *
 * - `out_sizes`: receives their address.
 * - Ownership: borrowed; valid until the handle's last owner has released it, or another tensor is assigned to it.
 * - torch: `at::Tensor::sizes().data()`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_borrow_sizes(struct sconce_tensor *tensor,
                                         const int64_t **out_sizes);

/**
 * Returns the address of the strides: `sconce_tensor_get_rank` numbers, in elements.
 *
 * - `out_strides`: receives their address.
 * - Ownership: as `sconce_tensor_borrow_sizes`.
 * - torch: `at::Tensor::strides().data()`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_borrow_strides(struct sconce_tensor *tensor,
                                           const int64_t **out_strides);

/**
 * Returns the number of elements between the beginning of the memory and the first element of the
 * tensor.
 *
 * - `out_offset`: receives the number.
 * - torch: `torch.Tensor.storage_offset()`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_get_storage_offset(struct sconce_tensor *tensor,
                                               int64_t *out_offset);

/**
 * Returns the number of elements.
 *
 * - `out_numel`: receives the number.
 * - torch: `torch.Tensor.numel()`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_get_numel(struct sconce_tensor *tensor,
                                      int64_t *out_numel);

/**
 * Returns the bytes of an element of a data type.
 *
 * - `dtype`: `SCONCE_DTYPE_…`.
 * - `out_bytes`: receives the number.
 * - torch: `torch.dtype.itemsize`.
 */
SCONCE_NODISCARD sconce_status sconce_dtype_get_bytes(int32_t dtype, size_t *out_bytes);

/**
 * Returns the address of the first element.
 *
 * - `out_address`: receives the address, of a device or of the host; NULL if the memory has no bytes.
 * - Ownership: borrowed; valid while a tensor uses the memory.
 * - torch: `torch.Tensor.data_ptr()`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_get_data(struct sconce_tensor *tensor,
                                     void **out_address);

/**
 * Returns the memory of a tensor: its address and its size.
 *
 * - `out_address`: receives the address at which the memory begins; NULL if it has no bytes.
 * - `out_bytes`: receives the size.
 * - Ownership: as `sconce_tensor_get_data`.
 * - torch: `torch.Tensor.untyped_storage()`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_get_storage(struct sconce_tensor *tensor,
                                        void **out_address,
                                        size_t *out_bytes);

/**
 * Returns whether the elements are contiguous in memory, in a given order of the dimensions.
 *
 * - `memory_format`: `SCONCE_MEMORY_FORMAT_…`; with PRESERVE, whether the elements are dense in
 *   any order.
 * - `out_contiguous`: receives whether they are.
 * - torch: `torch.Tensor.is_contiguous(memory_format)`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_is_contiguous(struct sconce_tensor *tensor,
                                          int32_t memory_format,
                                          bool *out_contiguous);

/**
 * Returns whether the memory is page-locked memory of the host.
 *
 * - `out_pinned`: receives whether it is.
 * - torch: `torch.Tensor.is_pinned()`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_is_pinned(struct sconce_tensor *tensor,
                                      bool *out_pinned);

/**
 * Returns whether two tensors are parts of the same memory, even if the parts do not overlap.
 *
 * - `other`: the other tensor.
 * - `out_shares`: receives whether they do.
 * - torch: `a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr()`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_shares_storage(struct sconce_tensor *tensor,
                                           struct sconce_tensor *other,
                                           bool *out_shares);

/**
 * Notes that a stream uses the memory of a tensor. After its release, the memory is not reused
 * before the work that is queued on that stream at that time has finished.
 *
 * - `stream`: ignored if the memory was allocated for this stream, and for ordinary host memory
 *   and memory of other owners.
 * - torch: `torch.Tensor.record_stream(stream)`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_record_stream(struct sconce_tensor *tensor,
                                          struct sconce_stream stream);

/**
 * Creates a tensor whose values are not set.
 *
 * - `sizes`: elements along each dimension, at least 0.
 * - `rank`: number of dimensions; 0 makes a tensor of one element.
 * - `options`: NULL or fields left at their defaults: F32, on the current device, for its current stream.
 * - `out_tensor`: receives the tensor.
 * - Errors: INVALID_ARGUMENT: a size is negative, the sizes are too large to be counted, or a tensor of a
 *   device is to be pinned. OUT_OF_MEMORY: as `sconce_memory_alloc`.
 * - Ownership: the caller releases the tensor with `sconce_tensor_release`.
 * - torch: `torch.empty`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_empty(const int64_t *sizes,
                                  size_t rank,
                                  const struct sconce_tensor_options *options,
                                  struct sconce_tensor **out_tensor);

/**
 * Creates a tensor with the given strides, whose values are not set. Otherwise as
 * `sconce_tensor_empty`.
 *
 * - `strides`: elements from one index to the next, at least 0; 0 repeats elements.
 * - `options`: the memory format is not used.
 * - `out_tensor`: receives the tensor.
 * - torch: `torch.empty_strided`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_empty_strided(const int64_t *sizes,
                                          const int64_t *strides,
                                          size_t rank,
                                          const struct sconce_tensor_options *options,
                                          struct sconce_tensor **out_tensor);

/**
 * Creates a tensor with the sizes of another, whose values are not set.
 *
 * - `options`: fields at their defaults are taken from `tensor`: type, device and memory format.
 * - `out_tensor`: receives the tensor.
 * - Errors: as `sconce_tensor_empty`.
 * - Ownership: as `sconce_tensor_empty`.
 * - torch: `torch.empty_like`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_empty_like(struct sconce_tensor *tensor,
                                       const struct sconce_tensor_options *options,
                                       struct sconce_tensor **out_tensor);

/**
 * Creates a tensor whose elements all have one value.
 *
 * - `sizes`, `rank`, `options`: as in `sconce_tensor_empty`; the default type is that of the value: I64, F32,
 *   BOOL or C64.
 * - `value`: the value of every element.
 * - `out_tensor`: receives the tensor.
 * - Errors: as `sconce_tensor_empty`.
 * - Ownership: as `sconce_tensor_empty`.
 * - Ordering: queued on the current stream of the tensor's device; done at once on the CPU.
 * - torch: `torch.full`, `torch.zeros`, `torch.ones`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_full(const int64_t *sizes,
                                 size_t rank,
                                 const struct sconce_scalar *value,
                                 const struct sconce_tensor_options *options,
                                 struct sconce_tensor **out_tensor);

/**
 * Creates a tensor of zeros.
 *
 * - `sizes`, `rank`, `options`: as in `sconce_tensor_empty`.
 * - `out_tensor`: receives the tensor.
 * - Errors: as `sconce_tensor_empty`.
 * - Ownership: as `sconce_tensor_empty`.
 * - Ordering: as `sconce_tensor_full`.
 * - torch: `torch.zeros`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_zeros(const int64_t *sizes,
                                  size_t rank,
                                  const struct sconce_tensor_options *options,
                                  struct sconce_tensor **out_tensor);

/**
 * Creates a tensor of ones.
 *
 * - `sizes`, `rank`, `options`: as in `sconce_tensor_empty`.
 * - `out_tensor`: receives the tensor.
 * - Errors: as `sconce_tensor_empty`.
 * - Ownership: as `sconce_tensor_empty`.
 * - Ordering: as `sconce_tensor_full`.
 * - torch: `torch.ones`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_ones(const int64_t *sizes,
                                 size_t rank,
                                 const struct sconce_tensor_options *options,
                                 struct sconce_tensor **out_tensor);

/**
 * Creates a tensor with the sizes of another, whose elements all have one value. Otherwise as
 * `sconce_tensor_empty_like`.
 *
 * - `value`: the value of every element.
 * - `out_tensor`: receives the tensor.
 * - Ordering: as `sconce_tensor_full`.
 * - torch: `torch.full_like`, `torch.zeros_like`, `torch.ones_like`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_full_like(struct sconce_tensor *tensor,
                                      const struct sconce_scalar *value,
                                      const struct sconce_tensor_options *options,
                                      struct sconce_tensor **out_tensor);

/**
 * Creates a tensor with values from the caller's memory.
 *
 * - `values`: the elements in row-major order, of the type that `options` names.
 * - `bytes`: the size of all elements.
 * - `sizes`, `rank`, `options`: as in `sconce_tensor_empty`.
 * - `out_tensor`: receives the tensor.
 * - Errors: INVALID_ARGUMENT: `bytes` is not the size of the elements. Otherwise as
 *   `sconce_tensor_empty`.
 * - Ownership: as `sconce_tensor_empty`.
 * - Ordering: as `sconce_copy` from ordinary memory: `values` may be changed once the call returns.
 * - torch: `torch.tensor`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_from_values(const void *values,
                                        size_t bytes,
                                        const int64_t *sizes,
                                        size_t rank,
                                        const struct sconce_tensor_options *options,
                                        struct sconce_tensor **out_tensor);

/**
 * Creates a vector of evenly spaced numbers: `start`, `start + step`, and so on, up to but
 * excluding `end`.
 *
 * - `start`, `end`, `step`: the first number, the bound and the distance.
 * - `options`: the default type is I64 if all three are integers, else F32.
 * - `out_tensor`: receives the tensor.
 * - Errors: INVALID_ARGUMENT: `step` is 0 or leads away from `end`, or a bound is not finite. Otherwise as
 *   `sconce_tensor_empty`.
 * - Ownership: as `sconce_tensor_empty`.
 * - Ordering: as `sconce_tensor_full`.
 * - torch: `torch.arange`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_arange(const struct sconce_scalar *start,
                                   const struct sconce_scalar *end,
                                   const struct sconce_scalar *step,
                                   const struct sconce_tensor_options *options,
                                   struct sconce_tensor **out_tensor);

/**
 * Creates a vector of numbers at equal distances from `start` to `end`, both included.
 *
 * - `steps`: how many numbers, at least 0.
 * - `start`, `end`: the first and the last number.
 * - `options`: as in `sconce_tensor_empty`.
 * - `out_tensor`: receives the tensor.
 * - Errors: INVALID_ARGUMENT: `steps` is negative. Otherwise as `sconce_tensor_empty`.
 * - Ownership: as `sconce_tensor_empty`.
 * - Ordering: as `sconce_tensor_full`.
 * - torch: `torch.linspace`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_linspace(const struct sconce_scalar *start,
                                     const struct sconce_scalar *end,
                                     int64_t steps,
                                     const struct sconce_tensor_options *options,
                                     struct sconce_tensor **out_tensor);

/**
 * Creates a matrix with ones on its main diagonal, and zeros elsewhere.
 *
 * - `rows`, `columns`: at least 0.
 * - `options`: as in `sconce_tensor_empty`.
 * - `out_tensor`: receives the tensor.
 * - Errors: as `sconce_tensor_empty`.
 * - Ownership: as `sconce_tensor_empty`.
 * - Ordering: as `sconce_tensor_full`.
 * - torch: `torch.eye`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_eye(int64_t rows,
                                int64_t columns,
                                const struct sconce_tensor_options *options,
                                struct sconce_tensor **out_tensor);

/**
 * Sets every element of a tensor to a value, converted to the tensor's type.
 *
 * - `value`: the value of every element.
 * - Errors: INVALID_ARGUMENT: several elements of the tensor share a place in memory.
 * - Ordering: as `sconce_tensor_full`.
 * - torch: `torch.Tensor.fill_`, `torch.Tensor.zero_`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_fill(struct sconce_tensor *tensor,
                                 const struct sconce_scalar *value);

/**
 * Creates a tensor over memory of another owner.
 *
 * - `address`: the first element, in memory of a device or of the host; may be NULL if there are
 *   no elements.
 * - `bytes`: the size of the memory that begins there.
 * - `sizes`, `rank`: as in `sconce_tensor_empty`.
 * - `strides`: in elements; NULL if the elements are contiguous.
 * - `dtype`: `SCONCE_DTYPE_…`.
 * - `device`: the device of the memory, or `SCONCE_DEVICE_CPU`.
 * - `deleter`: called with `context` when no tensor uses the memory any more; NULL if the memory outlives all
 *   of them. It is not called if this call fails.
 * - `context`: the deleter's argument.
 * - `out_tensor`: receives the tensor.
 * - Errors: INVALID_ARGUMENT: an element lies outside of the memory, the memory is not on that
 *   device, memory of a device is declared as the CPU's, or device memory is not aligned to the elements.
 * - Ownership: the caller releases the tensor with `sconce_tensor_release`. The memory is valid until the
 *   deleter is called.
 * - Ordering: the caller must order earlier work on the memory before the device's current stream.
 *   A deleter that frees the memory out of stream order must wait for later work on it.
 * - Threads: the deleter is called once, on the thread that releases the last tensor.
 * - torch: `torch::from_blob`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_from_memory(void *address,
                                        size_t bytes,
                                        const int64_t *sizes,
                                        const int64_t *strides,
                                        size_t rank,
                                        int32_t dtype,
                                        int32_t device,
                                        sconce_deleter deleter,
                                        void *context,
                                        struct sconce_tensor **out_tensor);

/**
 * Creates a tensor over memory of another owner, whose size follows from the sizes and strides. Otherwise as
 * `sconce_tensor_from_memory`.
 *
 * - `data`: the first element, in memory of a device or of the host; may be NULL if there are no
 *   elements.
 * - `sizes`: as in `sconce_tensor_empty`.
 * - `strides`: in elements; NULL if the elements are contiguous.
 * - `dims`: number of dimensions.
 * - `options`: type and device of the elements; NULL or fields at their defaults: F32, on the device that the memory
 *   belongs to, or on the CPU.
 * - `deleter`: called with `user` when no tensor uses the memory any more; NULL if the memory outlives all of
 *   them. It is not called if this call fails.
 * - `user`: the deleter's argument.
 * - `out_tensor`: receives the tensor.
 * - Errors: INVALID_ARGUMENT: a size or a stride is negative, the memory is not on that device, device
 *   memory is not aligned to the elements, or `options` request pinned memory or a memory format.
 * - torch: `torch::from_blob`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_from_blob(void *data,
                                      const int64_t *sizes,
                                      const int64_t *strides,
                                      size_t dims,
                                      const struct sconce_tensor_options *options,
                                      sconce_deleter deleter,
                                      void *user,
                                      struct sconce_tensor **out_tensor);

/**
 * Fills a tensor with numbers from `low` to `high`, excluding `high`. The bits are
 * torch's: elements are drawn in the order in which they lie in memory.
 *
 * - `low`, `high`: bounds.
 * - `generator`: a generator of the tensor's device, or of the CPU for a tensor there; NULL for its default
 *   generator.
 * - Errors: INVALID_ARGUMENT: the parameters, as in `sconce_random_uniform`; or several elements
 *   of the tensor share a place in memory. NOT_SUPPORTED: the distribution is not defined for the
 *   tensor's type. CROSS_DEVICE: `generator` belongs to another device.
 * - Ordering: queued on the current stream of the tensor's device; a tensor of the CPU is filled on return.
 * - torch: `torch.Tensor.uniform_`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_uniform(struct sconce_tensor *tensor,
                                    double low,
                                    double high,
                                    struct sconce_generator *generator);

/**
 * Fills a tensor with normally distributed numbers. Otherwise as
 * `sconce_tensor_uniform`.
 *
 * - `mean`, `stddev`: as in `sconce_random_normal`.
 * - torch: `torch.Tensor.normal_`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_normal(struct sconce_tensor *tensor,
                                   double mean,
                                   double stddev,
                                   struct sconce_generator *generator);

/**
 * Fills a tensor with numbers whose logarithm is normally distributed. Otherwise as
 * `sconce_tensor_uniform`.
 *
 * - `mean`, `stddev`: of the logarithm.
 * - torch: `torch.Tensor.log_normal_`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_log_normal(struct sconce_tensor *tensor,
                                       double mean,
                                       double stddev,
                                       struct sconce_generator *generator);

/**
 * Fills a tensor with exponentially distributed numbers. Otherwise as
 * `sconce_tensor_uniform`.
 *
 * - `lambda`: the rate, above 0.
 * - torch: `torch.Tensor.exponential_`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_exponential(struct sconce_tensor *tensor,
                                        double lambda,
                                        struct sconce_generator *generator);

/**
 * Fills a tensor with numbers of a Cauchy distribution. Otherwise as
 * `sconce_tensor_uniform`.
 *
 * - `median`, `sigma`: median and scale.
 * - torch: `torch.Tensor.cauchy_`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_cauchy(struct sconce_tensor *tensor,
                                   double median,
                                   double sigma,
                                   struct sconce_generator *generator);

/**
 * Fills a tensor with numbers of a geometric distribution. Otherwise as
 * `sconce_tensor_uniform`.
 *
 * - `p`: the probability of success, between 0 and 1.
 * - torch: `torch.Tensor.geometric_`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_geometric(struct sconce_tensor *tensor,
                                      double p,
                                      struct sconce_generator *generator);

/**
 * Fills a tensor with 1 or 0. Otherwise as
 * `sconce_tensor_uniform`.
 *
 * - `p`: the probability of 1.
 * - torch: `torch.Tensor.bernoulli_`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_bernoulli(struct sconce_tensor *tensor,
                                      double p,
                                      struct sconce_generator *generator);

/**
 * Fills a tensor with integers from `low` to `high`, excluding `high`. Otherwise as
 * `sconce_tensor_uniform`.
 *
 * - `low`, `high`: bounds.
 * - torch: `torch.Tensor.random_`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_random_integers(struct sconce_tensor *tensor,
                                            int64_t low,
                                            int64_t high,
                                            struct sconce_generator *generator);

/**
 * Fills a tensor with integers from 0 to the largest of its type, as `sconce_random_full_range`
 * does. Otherwise as `sconce_tensor_uniform`.
 *
 * - torch: `torch.Tensor.random_`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_random(struct sconce_tensor *tensor,
                                   struct sconce_generator *generator);

/**
 * Creates a vector of the numbers 0 to `n - 1` in a random order, with torch's bits.
 *
 * - `n`: how many numbers, at least 0.
 * - `generator`: a generator of the tensor's device, or of the CPU for a tensor there; NULL for its default
 *   generator.
 * - `options`: NULL or fields left at their defaults: I64, on the current device.
 * - `out_tensor`: receives the tensor.
 * - Errors: INVALID_ARGUMENT: `n` is negative, or the type cannot hold the numbers. NOT_SUPPORTED:
 *   the type is neither an integer nor a real floating-point number. CROSS_DEVICE: `generator`
 *   belongs to another device. OUT_OF_MEMORY: for the result or for work memory.
 * - Ownership: the caller releases the tensor with `sconce_tensor_release`.
 * - Ordering: queued on the current stream of the tensor's device; a tensor of the CPU is filled on return.
 * - torch: `torch.randperm`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_randperm(int64_t n,
                                     struct sconce_generator *generator,
                                     const struct sconce_tensor_options *options,
                                     struct sconce_tensor **out_tensor);

/**
 * Copies the elements of `source` to `tensor`, between any devices. The elements are converted to
 * the type of `tensor` and broadcast to its shape.
 *
 * - `source`: the tensor to copy.
 * - `non_blocking`: as in `sconce_copy`.
 * - Errors: INVALID_ARGUMENT: the shape of `source` cannot be broadcast to that of `tensor`, or
 *   the two partly overlap in memory. Otherwise as `sconce_copy_strided`.
 * - Ordering: as `sconce_copy_strided`. Elements are converted on the device of `source`; from the CPU to a device
 *   they are converted on the device if `non_blocking` is true. A blocking copy that converts elements of page-locked
 *   memory waits for the current stream first, because earlier work may still write to them.
 * - torch: `torch.Tensor.copy_(source, non_blocking)`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_copy(struct sconce_tensor *tensor,
                                 struct sconce_tensor *source,
                                 bool non_blocking);

/**
 * Returns a tensor with another type, device or memory format. If nothing changes, returns the
 * tensor itself, with one more owner.
 *
 * - `options`: fields at their defaults change nothing. `pinned` is not used.
 * - `non_blocking`: as in `sconce_copy`; a result on the CPU is then page-locked.
 * - `copy`: copies even if nothing changes.
 * - `out_tensor`: receives the tensor.
 * - Errors: as `sconce_tensor_empty` and `sconce_tensor_copy`.
 * - Ownership: the caller releases the result with `sconce_tensor_release`, even if it is the same
 *   handle.
 * - Ordering: as `sconce_tensor_copy`.
 * - torch: `torch.Tensor.to`, `.cuda()`, `.cpu()`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_to(struct sconce_tensor *tensor,
                               const struct sconce_tensor_options *options,
                               bool non_blocking,
                               bool copy,
                               struct sconce_tensor **out_tensor);

/**
 * Returns a copy of a tensor in new memory.
 *
 * - `memory_format`: `SCONCE_MEMORY_FORMAT_…`.
 * - `out_tensor`: receives the copy.
 * - Ownership: the caller releases the copy with `sconce_tensor_release`.
 * - Ordering: queued on the current stream of the tensor's device; done at once on the CPU.
 * - torch: `torch.Tensor.clone`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_clone(struct sconce_tensor *tensor,
                                  int32_t memory_format,
                                  struct sconce_tensor **out_tensor);

/**
 * Returns a tensor whose elements are contiguous in memory: the tensor itself, with one more
 * owner, or a copy.
 *
 * - `memory_format`: `SCONCE_MEMORY_FORMAT_…` other than PRESERVE.
 * - `out_tensor`: receives the tensor.
 * - Ownership: as `sconce_tensor_to`.
 * - Ordering: as `sconce_tensor_clone`.
 * - torch: `torch.Tensor.contiguous`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_contiguous(struct sconce_tensor *tensor,
                                       int32_t memory_format,
                                       struct sconce_tensor **out_tensor);

/**
 * Returns a tensor in page-locked host memory: the tensor itself, with one more owner, or a copy.
 *
 * - `out_tensor`: receives the tensor.
 * - Errors: INVALID_ARGUMENT: the tensor is on a device.
 * - Ownership: as `sconce_tensor_to`.
 * - Ordering: done when the call returns.
 * - torch: `torch.Tensor.pin_memory`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_pin_memory(struct sconce_tensor *tensor,
                                       struct sconce_tensor **out_tensor);

/**
 * Writes all elements to the caller's memory, in row-major order.
 *
 * - `out_values`: receives the elements; may be NULL if there are none.
 * - `bytes`: the size of all elements.
 * - Errors: INVALID_ARGUMENT: `bytes` is not the size of the elements.
 * - Ordering: after earlier work of the current stream of the tensor's device; done when the call returns.
 * - torch: `torch.Tensor.tolist()`, `.cpu().numpy()`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_to_values(struct sconce_tensor *tensor,
                                      void *out_values,
                                      size_t bytes);

/**
 * Returns the value of a tensor of one element.
 *
 * - `out_value`: receives the value: an integer, a real number, a truth value or a complex number.
 * - Errors: INVALID_ARGUMENT: the tensor has another number of elements.
 * - Ordering: as `sconce_tensor_to_values`.
 * - torch: `torch.Tensor.item`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_item(struct sconce_tensor *tensor,
                                 struct sconce_scalar *out_value);

/**
 * Returns a tensor as text, as torch prints it in Python, such as
 * `tensor([1., 2.], device='cuda:0')`. If there are more than 1000 elements, only the first and
 * last three of each dimension are printed.
 *
 * - `tensor`: may be undefined.
 * - `out_text`: receives the text.
 * - Ordering: as `sconce_tensor_to_values`.
 * - torch: `str(tensor)`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_to_string(struct sconce_tensor *tensor,
                                      char **out_text);

/**
 * Returns the elements of a tensor with other sizes, without a copy.
 *
 * - `sizes`: one may be -1, and is then computed from the others.
 * - `rank`: number of sizes.
 * - `out_tensor`: receives the view, which shares the memory.
 * - Errors: INVALID_ARGUMENT: the sizes have another number of elements, or the elements cannot be
 *   addressed with strides in that shape (`sconce_tensor_reshape` then makes a copy).
 * - Ownership: the caller releases the view with `sconce_tensor_release`; it keeps the memory alive.
 * - torch: `torch.Tensor.view(sizes)`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_view(struct sconce_tensor *tensor,
                                 const int64_t *sizes,
                                 size_t rank,
                                 struct sconce_tensor **out_tensor);

/**
 * Returns the elements of a tensor with other sizes: a view where possible, else a copy. Otherwise as
 * `sconce_tensor_view`.
 *
 * - `out_tensor`: receives the view or the copy.
 * - Ordering: a copy is queued on the current stream of the tensor's device.
 * - torch: `torch.Tensor.reshape`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_reshape(struct sconce_tensor *tensor,
                                    const int64_t *sizes,
                                    size_t rank,
                                    struct sconce_tensor **out_tensor);

/**
 * Returns a view of the memory of a tensor with the given sizes, strides and offset.
 *
 * - `sizes`: elements along each dimension.
 * - `strides`: in elements, at least 0.
 * - `rank`: number of sizes and of strides.
 * - `storage_offset`: elements from the beginning of the memory to the first element; -1 for the
 *   tensor's own.
 * - `out_tensor`: receives the view.
 * - Errors: INVALID_ARGUMENT: an element lies outside of the memory.
 * - Ownership: as `sconce_tensor_view`.
 * - torch: `torch.Tensor.as_strided`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_as_strided(struct sconce_tensor *tensor,
                                       const int64_t *sizes,
                                       const int64_t *strides,
                                       size_t rank,
                                       int64_t storage_offset,
                                       struct sconce_tensor **out_tensor);

/**
 * Returns a part of a dimension.
 *
 * - `start`: the first index; counts from the end if it is negative.
 * - `length`: the number of indices.
 * - `out_tensor`: receives the view.
 * - Errors: INVALID_ARGUMENT: the part reaches beyond the dimension.
 * - Ownership: as `sconce_tensor_view`.
 * - torch: `torch.Tensor.narrow`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_narrow(struct sconce_tensor *tensor,
                                   int64_t dim,
                                   int64_t start,
                                   int64_t length,
                                   struct sconce_tensor **out_tensor);

/**
 * Returns every `step`-th index of a dimension from `start` up to, but excluding, `end`.
 *
 * - `start`, `end`: count from the end if they are negative, and are clamped to the dimension.
 *   INT64_MAX as `end` means the end of the dimension.
 * - `step`: at least 1.
 * - `out_tensor`: receives the view.
 * - Errors: INVALID_ARGUMENT: `step` is less than 1.
 * - Ownership: as `sconce_tensor_view`.
 * - torch: `tensor[start:end:step]`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_slice(struct sconce_tensor *tensor,
                                  int64_t dim,
                                  int64_t start,
                                  int64_t end,
                                  int64_t step,
                                  struct sconce_tensor **out_tensor);

/**
 * Returns one index of a dimension, without that dimension.
 *
 * - `index`: counts from the end if it is negative.
 * - `out_tensor`: receives the view.
 * - Errors: INVALID_ARGUMENT: the dimension has no such index.
 * - Ownership: as `sconce_tensor_view`.
 * - torch: `torch.Tensor.select`, `tensor[index]`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_select(struct sconce_tensor *tensor,
                                   int64_t dim,
                                   int64_t index,
                                   struct sconce_tensor **out_tensor);

/**
 * Returns a tensor with two dimensions exchanged.
 *
 * - `first`, `second`: the two dimensions.
 * - `out_tensor`: receives the view.
 * - Ownership: as `sconce_tensor_view`.
 * - torch: `torch.Tensor.transpose`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_transpose(struct sconce_tensor *tensor,
                                      int64_t first,
                                      int64_t second,
                                      struct sconce_tensor **out_tensor);

/**
 * Returns a tensor with its dimensions in another order.
 *
 * - `dims`: the dimensions in their new order, each once.
 * - `count`: number of entries of `dims`.
 * - `out_tensor`: receives the view.
 * - Ownership: as `sconce_tensor_view`.
 * - torch: `torch.Tensor.permute`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_permute(struct sconce_tensor *tensor,
                                    const int64_t *dims,
                                    size_t count,
                                    struct sconce_tensor **out_tensor);

/**
 * Returns a tensor with dimensions of one element repeated, without memory for the repetitions.
 *
 * - `sizes`: -1 keeps a size; dimensions that the tensor does not have come first.
 * - `rank`: number of sizes.
 * - `out_tensor`: receives the view.
 * - Errors: INVALID_ARGUMENT: a dimension of more than one element would have another size.
 * - Ownership: as `sconce_tensor_view`.
 * - torch: `torch.Tensor.expand`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_expand(struct sconce_tensor *tensor,
                                   const int64_t *sizes,
                                   size_t rank,
                                   struct sconce_tensor **out_tensor);

/**
 * Returns a tensor without the given dimensions, as far as they have one element.
 *
 * - `dims`: NULL for all dimensions.
 * - `count`: number of entries of `dims`.
 * - `out_tensor`: receives the view.
 * - Ownership: as `sconce_tensor_view`.
 * - torch: `torch.Tensor.squeeze`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_squeeze(struct sconce_tensor *tensor,
                                    const int64_t *dims,
                                    size_t count,
                                    struct sconce_tensor **out_tensor);

/**
 * Returns a tensor with one more dimension, of one element, before dimension `dim`.
 *
 * - `out_tensor`: receives the view.
 * - Ownership: as `sconce_tensor_view`.
 * - torch: `torch.Tensor.unsqueeze`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_unsqueeze(struct sconce_tensor *tensor,
                                      int64_t dim,
                                      struct sconce_tensor **out_tensor);

/**
 * Returns a tensor with the dimensions from `start` to `end`, both included, joined into one: a
 * view where possible, else a copy.
 *
 * - `out_tensor`: receives the view or the copy.
 * - Ownership: as `sconce_tensor_view`.
 * - Ordering: as `sconce_tensor_reshape`.
 * - torch: `torch.Tensor.flatten`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_flatten(struct sconce_tensor *tensor,
                                    int64_t start,
                                    int64_t end,
                                    struct sconce_tensor **out_tensor);

/**
 * Returns a tensor with one dimension replaced by several.
 *
 * - `sizes`: their product is the size of the dimension; one may be -1.
 * - `count`: number of sizes.
 * - `out_tensor`: receives the view.
 * - Errors: INVALID_ARGUMENT: the sizes have another product.
 * - Ownership: as `sconce_tensor_view`.
 * - torch: `torch.Tensor.unflatten`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_unflatten(struct sconce_tensor *tensor,
                                      int64_t dim,
                                      const int64_t *sizes,
                                      size_t count,
                                      struct sconce_tensor **out_tensor);

/**
 * Returns the diagonal of two dimensions, as the last dimension.
 *
 * - `offset`: how far above the main diagonal; negative: below.
 * - `first`, `second`: the two dimensions.
 * - `out_tensor`: receives the view.
 * - Errors: INVALID_ARGUMENT: the two dimensions are the same.
 * - Ownership: as `sconce_tensor_view`.
 * - torch: `torch.Tensor.diagonal`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_diagonal(struct sconce_tensor *tensor,
                                     int64_t offset,
                                     int64_t first,
                                     int64_t second,
                                     struct sconce_tensor **out_tensor);

/**
 * Splits a dimension into at most `chunks` pieces of equal size; the last piece may be smaller.
 *
 * - `chunks`: at least 1.
 * - `out_tensors`: receives the views.
 * - `capacity`: entries that `out_tensors` can hold.
 * - `out_count`: receives the number of views.
 * - Errors: INVALID_ARGUMENT: `chunks` is less than 1, or `capacity` is less than the number of pieces.
 * - Ownership: the caller releases each view with `sconce_tensor_release`; it keeps the memory alive.
 * - torch: `torch.chunk`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_chunk(struct sconce_tensor *tensor,
                                  int64_t chunks,
                                  int64_t dim,
                                  struct sconce_tensor **out_tensors,
                                  size_t capacity,
                                  size_t *out_count);

/**
 * Splits a dimension into pieces of `size` indices; the last piece may be smaller. Otherwise as
 * `sconce_tensor_chunk`.
 *
 * - `out_tensors`: receives the views.
 * - `out_count`: receives the number of views.
 * - torch: `torch.split`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_split(struct sconce_tensor *tensor,
                                  int64_t size,
                                  int64_t dim,
                                  struct sconce_tensor **out_tensors,
                                  size_t capacity,
                                  size_t *out_count);

/**
 * Splits a dimension into pieces of the given sizes, whose sum is the size of the dimension.
 * Otherwise as `sconce_tensor_chunk`.
 *
 * - `sizes`: indices of each piece.
 * - `count`: number of sizes.
 * - `out_tensors`: receives the views.
 * - `out_count`: receives the number of views.
 * - torch: `torch.split`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_split_with_sizes(struct sconce_tensor *tensor,
                                             const int64_t *sizes,
                                             size_t count,
                                             int64_t dim,
                                             struct sconce_tensor **out_tensors,
                                             size_t capacity,
                                             size_t *out_count);

/**
 * Returns a view for each index of a dimension, without that dimension. Otherwise as `sconce_tensor_chunk`.
 *
 * - `out_tensors`: receives the views.
 * - `out_count`: receives the number of views.
 * - torch: `torch.unbind`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_unbind(struct sconce_tensor *tensor,
                                   int64_t dim,
                                   struct sconce_tensor **out_tensors,
                                   size_t capacity,
                                   size_t *out_count);

/**
 * Applies an operation to every element.
 *
 * - `operation`: `SCONCE_UNARY_…`.
 * - `into`: receives the result, as in `sconce_tensor_reduce_out`. It may have any type to which the type of the
 *   result can be cast. It may be the tensor itself; then it is not resized. NULL makes a new tensor.
 * - `out_tensor`: receives the new tensor; may be NULL if `into` is not.
 * - Errors: NOT_SUPPORTED: the operation is not defined for the tensor's type; the message is torch's.
 *   INVALID_ARGUMENT: `into` has a type that cannot hold the result, partly overlaps the tensor in memory, is
 *   read-only, has several elements in one place, or is memory of another owner that is too small. CROSS_DEVICE:
 *   `into` is on another device. OUT_OF_MEMORY: for the result.
 * - Ownership: the caller releases the new tensor with `sconce_tensor_release`.
 * - Ordering: queued on the current stream of the tensor's device; done at once on the CPU.
 * - torch: the functions of the same names, such as `torch.exp`; with `into` `torch.exp(…, out=into)` and
 *   `torch.Tensor.exp_`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_unary(int32_t operation,
                                  struct sconce_tensor *tensor,
                                  struct sconce_tensor *into,
                                  struct sconce_tensor **out_tensor);

/**
 * Applies an operation to every pair of elements of two operands, which are broadcast to a common shape. An operand
 * is a tensor or a number. The type of the result follows torch's promotion rules: numbers and tensors without
 * dimensions affect it only by their kind.
 *
 * - `operation`: `SCONCE_BINARY_…`.
 * - `first`, `second`: tensors; NULL for an operand that is a number.
 * - `first_number`, `second_number`: numbers; NULL for an operand that is a tensor.
 * - `alpha`: for sums and differences, the factor of the second operand; NULL means 1.
 * - `into`: receives the result, as in `sconce_tensor_unary`; it may be an operand, and then is
 *   not resized. NULL makes a new tensor.
 * - `out_tensor`: receives the new tensor; may be NULL if `into` is not.
 * - Errors: INVALID_ARGUMENT: the shapes cannot be broadcast, an operand has both or neither of a tensor and a
 *   number, `into` cannot hold the result, or integers of the CPU are divided by 0. CROSS_DEVICE: the tensors are on
 *   different devices; tensors of the CPU without dimensions may be combined with those of a device. NOT_SUPPORTED:
 *   the operation is not defined for the type.
 * - Ownership: as `sconce_tensor_unary`.
 * - Ordering: as `sconce_tensor_unary`. The value of a tensor of the CPU is read during the call.
 * - torch: the functions of the same names, such as `torch.add`; with `into` `torch.add(…, out=into)` and
 *   `torch.Tensor.add_`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_binary(int32_t operation,
                                   struct sconce_tensor *first,
                                   const struct sconce_scalar *first_number,
                                   struct sconce_tensor *second,
                                   const struct sconce_scalar *second_number,
                                   const struct sconce_scalar *alpha,
                                   struct sconce_tensor *into,
                                   struct sconce_tensor **out_tensor);

/**
 * Clamps every element to bounds.
 *
 * - `least`, `most`: the bounds as tensors; NULL for a bound that is a number or absent.
 * - `least_number`, `most_number`: the bounds as numbers; NULL for a bound that is a tensor or
 *   absent.
 * - `out_tensor`: receives the new tensor.
 * - Errors: INVALID_ARGUMENT: both bounds are absent. Otherwise as `sconce_tensor_binary`.
 * - Ownership: as `sconce_tensor_unary`.
 * - Ordering: as `sconce_tensor_binary`.
 * - torch: `torch.clamp`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_clamp(struct sconce_tensor *tensor,
                                  struct sconce_tensor *least,
                                  const struct sconce_scalar *least_number,
                                  struct sconce_tensor *most,
                                  const struct sconce_scalar *most_number,
                                  struct sconce_tensor **out_tensor);

/**
 * Selects elements of one operand where a condition is true, else those of another.
 *
 * - `condition`: a tensor of BOOL.
 * - `if_true`, `if_false`: tensors; NULL for an operand that is a number.
 * - `true_number`, `false_number`: numbers; NULL for an operand that is a tensor.
 * - `out_tensor`: receives the new tensor.
 * - Errors: as `sconce_tensor_binary`.
 * - Ownership: as `sconce_tensor_unary`.
 * - Ordering: as `sconce_tensor_binary`.
 * - torch: `torch.where`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_where(struct sconce_tensor *condition,
                                  struct sconce_tensor *if_true,
                                  const struct sconce_scalar *true_number,
                                  struct sconce_tensor *if_false,
                                  const struct sconce_scalar *false_number,
                                  struct sconce_tensor **out_tensor);

/**
 * Reduces dimensions of a tensor.
 *
 * - `operation`: `SCONCE_REDUCE_…`.
 * - `dims`: the dimensions to reduce; NULL for all. ARGMAX and ARGMIN accept one or all.
 * - `count`: number of entries of `dims`.
 * - `keep_dims`: whether the result keeps these dimensions, with one element.
 * - `dtype`: for sums, means and products, the type to which elements are converted first, and the
 *   type of the result; else `SCONCE_DTYPE_DEFAULT`.
 * - `out_tensor`: receives the new tensor.
 * - Errors: INVALID_ARGUMENT: a dimension is named twice, or there are no elements of which to
 *   find the largest or smallest. NOT_SUPPORTED: the operation is not defined for the type; the
 *   message is torch's. OUT_OF_MEMORY: for the result.
 * - Ownership: as `sconce_tensor_unary`.
 * - Ordering: as `sconce_tensor_unary`. Results are reproducible: the same sizes and strides on
 *   the same device produce the same bits.
 * - torch: the functions of the same names, such as `torch.sum`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_reduce(int32_t operation,
                                   struct sconce_tensor *tensor,
                                   const int64_t *dims,
                                   size_t count,
                                   bool keep_dims,
                                   int32_t dtype,
                                   struct sconce_tensor **out_tensor);

/**
 * Computes softmax or a running sum or product along a dimension. The result has the tensor's
 * sizes.
 *
 * - `operation`: `SCONCE_LINE_…`.
 * - `dtype`: the type to which elements are converted first, and the type of the result.
 *   `SCONCE_DTYPE_DEFAULT`: the tensor's type, or I64 for running sums and products of integers.
 * - `out_tensor`: receives the new tensor.
 * - Errors: NOT_SUPPORTED: softmax of a type that is not a real floating-point type.
 *   OUT_OF_MEMORY: for the result.
 * - Ownership: as `sconce_tensor_unary`.
 * - Ordering: as `sconce_tensor_unary`.
 * - torch: `torch.softmax`, `torch.log_softmax`, `torch.cumsum`, `torch.cumprod`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_along(int32_t operation,
                                  struct sconce_tensor *tensor,
                                  int64_t dim,
                                  int32_t dtype,
                                  struct sconce_tensor **out_tensor);

/**
 * Joins tensors along an existing dimension. The result has the tensors' common type.
 *
 * - `tensors`: at least one; tensors of shape [0] are skipped.
 * - `count`: number of tensors.
 * - `out_tensor`: receives the new tensor.
 * - Errors: INVALID_ARGUMENT: the shapes differ in another dimension. CROSS_DEVICE: the tensors are on several
 *   devices. OUT_OF_MEMORY: for the result.
 * - Ownership: as `sconce_tensor_unary`.
 * - Ordering: as `sconce_tensor_unary`.
 * - torch: `torch.cat`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_cat(struct sconce_tensor *const *tensors,
                                size_t count,
                                int64_t dim,
                                struct sconce_tensor **out_tensor);

/**
 * Joins tensors of one shape along a new dimension. Otherwise as `sconce_tensor_cat`.
 *
 * - `out_tensor`: receives the new tensor.
 * - torch: `torch.stack`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_stack(struct sconce_tensor *const *tensors,
                                  size_t count,
                                  int64_t dim,
                                  struct sconce_tensor **out_tensor);

/**
 * Returns the elements at the given indices of a dimension.
 *
 * - `index`: a vector of I32 or I64 on the same device.
 * - `out_tensor`: receives the new tensor.
 * - Errors: INVALID_ARGUMENT: `index` is not such a vector, or on the CPU an index is out of
 *   range. CROSS_DEVICE: the tensors are on different devices. On a device, an index out of range
 *   makes the device fail, as in torch.
 * - Ownership: as `sconce_tensor_unary`.
 * - Ordering: as `sconce_tensor_unary`.
 * - torch: `torch.index_select`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_index_select(struct sconce_tensor *tensor,
                                         int64_t dim,
                                         struct sconce_tensor *index,
                                         struct sconce_tensor **out_tensor);

/**
 * Returns the indices of all elements that are not 0: an I64 tensor with a row for each of them, in
 * row-major order, and a column for each dimension.
 *
 * - `out_tensor`: receives the new tensor.
 * - Errors: INVALID_STATE: the current stream of the tensor's device is being captured. OUT_OF_MEMORY: for the result
 *   or for work memory.
 * - Ownership: as `sconce_tensor_unary`.
 * - Ordering: waits for the current stream of the tensor's device, since the size of the result depends on the
 *   elements.
 * - torch: `torch.nonzero`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_nonzero(struct sconce_tensor *tensor,
                                    struct sconce_tensor **out_tensor);

/**
 * Sorts along a dimension. Equal elements keep their order; NaN counts as the largest.
 *
 * - `descending`: whether the largest element comes first.
 * - `out_values`: receives the sorted elements.
 * - `out_indices`: receives the original index of each element along the dimension, as I64.
 * - Errors: NOT_SUPPORTED: the type is complex. OUT_OF_MEMORY: for the results or for work memory.
 * - Ownership: the caller releases both with `sconce_tensor_release`.
 * - Ordering: as `sconce_tensor_unary`.
 * - torch: `torch.sort(stable=True)`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_sort(struct sconce_tensor *tensor,
                                 int64_t dim,
                                 bool descending,
                                 struct sconce_tensor **out_values,
                                 struct sconce_tensor **out_indices);

/**
 * Returns whether two tensors have the same shape and equal elements.
 *
 * - `first`, `second`: the tensors.
 * - `out_equal`: receives whether they do.
 * - Errors: CROSS_DEVICE: the tensors are on several devices.
 * - Ordering: as `sconce_tensor_to_values`.
 * - torch: `torch.equal`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_equal(struct sconce_tensor *first,
                                  struct sconce_tensor *second,
                                  bool *out_equal);

/**
 * Returns whether every element of `first` is equal to that of `second`, or differs from it by at most
 * `atol + rtol * |second|`.
 *
 * - `first`, `second`: the tensors.
 * - `rtol`, `atol`: the relative and the absolute tolerance, at least 0.
 * - `equal_nan`: whether NaN counts as equal to NaN.
 * - `out_close`: receives whether they are close.
 * - Errors: INVALID_ARGUMENT: the types differ, the shapes do not fit, or a tolerance is negative. CROSS_DEVICE:
 *   the tensors are on several devices.
 * - Ordering: as `sconce_tensor_to_values`.
 * - torch: `torch.allclose`, whose tolerances are 1e-5 and 1e-8 unless named.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_allclose(struct sconce_tensor *first,
                                     struct sconce_tensor *second,
                                     double rtol,
                                     double atol,
                                     bool equal_nan,
                                     bool *out_close);

/**
 * Multiplies vectors, matrices or batches of matrices, as torch does. Small products are added up
 * in the order of the inner dimension and without TF32; large ones are computed as by
 * `sconce_matmul`.
 *
 * - `first`, `second`: the factors, of the same type: F16, BF16, F32, F64, C64 or C128.
 * - `out_tensor`: receives the new tensor.
 * - Errors: INVALID_ARGUMENT: the shapes do not fit, or the types differ. NOT_SUPPORTED: another
 *   type. CROSS_DEVICE: the tensors are on different devices. Otherwise as `sconce_matmul`.
 * - Ownership: as `sconce_tensor_unary`.
 * - Ordering: as `sconce_tensor_unary`.
 * - torch: `torch.matmul`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_matmul(struct sconce_tensor *first,
                                   struct sconce_tensor *second,
                                   struct sconce_tensor **out_tensor);

/**
 * Multiplies two batches of matrices. Otherwise as `sconce_tensor_matmul`.
 *
 * - `first`, `second`: tensors of three dimensions.
 * - `out_tensor`: receives the new tensor.
 * - torch: `torch.bmm`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_bmm(struct sconce_tensor *first,
                                struct sconce_tensor *second,
                                struct sconce_tensor **out_tensor);

/**
 * Returns `beta * tensor + alpha * (first @ second)`. Otherwise as `sconce_tensor_matmul`.
 *
 * - `tensor`: broadcast to the product's shape; if `beta` is 0, it is not read.
 * - `first`, `second`: matrices.
 * - `out_tensor`: receives the new tensor.
 * - torch: `torch.addmm`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_addmm(struct sconce_tensor *tensor,
                                  struct sconce_tensor *first,
                                  struct sconce_tensor *second,
                                  double beta,
                                  double alpha,
                                  struct sconce_tensor **out_tensor);

/**
 * Convolves images with a filter, and adds a bias.
 *
 * - `tensor`: batch, channels, and one to three spatial dimensions; of F16, BF16, F32 or F64.
 * - `filter`: output channels, input channels of a group, spatial dimensions.
 * - `bias`: a number for each output channel; NULL for none.
 * - `stride`, `padding`, `dilation`: an entry for each spatial dimension.
 * - `spatial`: number of spatial dimensions.
 * - `groups`: number of groups into which the channels are divided.
 * - `out_tensor`: receives the new tensor.
 * - Errors: INVALID_ARGUMENT: the shapes do not fit. CROSS_DEVICE: the tensors are on several devices.
 *   NOT_SUPPORTED: the type. OUT_OF_MEMORY: on the CPU for the unfolded input. Otherwise as
 *   `sconce_convolution`.
 * - Ownership: as `sconce_tensor_unary`.
 * - Ordering: as `sconce_tensor_unary`.
 * - torch: `torch.nn.functional.conv1d`, `conv2d`, `conv3d`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_convolution(struct sconce_tensor *tensor,
                                        struct sconce_tensor *filter,
                                        struct sconce_tensor *bias,
                                        const int64_t *stride,
                                        const int64_t *padding,
                                        const int64_t *dilation,
                                        size_t spatial,
                                        int64_t groups,
                                        struct sconce_tensor **out_tensor);

/**
 * Computes Fourier transforms over one to three dimensions of a tensor.
 *
 * - `kind`: `SCONCE_FFT_C2C`, `_R2C` or `_C2R`. Real elements are converted to complex ones for
 *   C2C and C2R.
 * - `direction`: `SCONCE_FFT_FORWARD` or `_INVERSE`.
 * - `normalization`: `SCONCE_FFT_NORM_…`; torch's default is NONE forward and BY_N inverse.
 * - `dims`: the dimensions. R2C returns only the first half of the last one.
 * - `count`: number of dimensions, 1 to 3.
 * - `length`: for C2R, the size of the result along the last dimension; -1 for 2 * (n - 1), where
 *   n is the tensor's size.
 * - `out_tensor`: receives the new tensor.
 * - Errors: INVALID_ARGUMENT: a dimension is named twice, is empty, or `length` does not fit.
 *   NOT_SUPPORTED: the type, which on the CPU includes F16. Otherwise as `sconce_fft`.
 * - Ownership: as `sconce_tensor_unary`.
 * - Ordering: as `sconce_tensor_unary`.
 * - torch: `torch.fft.fft`, `rfft`, `irfft` and their forms of two and n dimensions.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_fft(struct sconce_tensor *tensor,
                                int32_t kind,
                                int32_t direction,
                                int32_t normalization,
                                const int64_t *dims,
                                size_t count,
                                int64_t length,
                                struct sconce_tensor **out_tensor);

/**
 * Reduces dimensions of a tensor, and writes the result to a tensor of the caller. Otherwise as
 * `sconce_tensor_reduce`.
 *
 * - `into`: receives the result. A tensor of the result's shape keeps its memory and strides. A
 *   tensor of another shape is resized and becomes contiguous. It keeps its memory if that is
 *   large enough and is not the memory of `tensor`; otherwise it gets new memory. If it had
 *   elements, a warning is logged, once in the process. An undefined tensor becomes a new one.
 * - `dtype`: with `SCONCE_DTYPE_DEFAULT`, sums, means and products are computed in the type of
 *   `into`, and ALL and ANY write BOOL or U8. Any other value must be the type of `into`.
 * - Errors: INVALID_ARGUMENT: `into` has another type than the result, is read-only, has several
 *   elements in one place, partly overlaps `tensor` in memory, or is memory of another owner that
 *   is too small. CROSS_DEVICE: `into` is on another device. Otherwise as `sconce_tensor_reduce`.
 * - Ownership: `into` stays the caller's; all owners of the handle see the result. If its memory
 *   is replaced, views keep the old memory.
 * - Ordering: as `sconce_tensor_unary`. If `into` uses the memory of `tensor`, the result is
 *   computed in new memory and then copied.
 * - torch: `torch.sum(…, out=into)` and the other functions of the same names; `at::sum_out`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_reduce_out(int32_t operation,
                                       struct sconce_tensor *tensor,
                                       const int64_t *dims,
                                       size_t count,
                                       bool keep_dims,
                                       int32_t dtype,
                                       struct sconce_tensor *into);

/**
 * Computes softmax or a running sum or product along a dimension, and writes the result to a
 * tensor of the caller. Otherwise as `sconce_tensor_along`.
 *
 * - `dtype`: with `SCONCE_DTYPE_DEFAULT`, running sums and products are computed in the type of
 *   `into`, and softmax in the type of `tensor`. Any other value must be the type of `into`.
 * - `into`: receives the result, as in `sconce_tensor_reduce_out`; it may be `tensor`.
 * - Errors: as `sconce_tensor_reduce_out`, and as `sconce_tensor_along`.
 * - Ownership: as `sconce_tensor_reduce_out`.
 * - Ordering: as `sconce_tensor_reduce_out`.
 * - torch: `torch.cumsum(…, out=into)` and the other functions of the same names; `at::cumsum_out`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_along_out(int32_t operation,
                                      struct sconce_tensor *tensor,
                                      int64_t dim,
                                      int32_t dtype,
                                      struct sconce_tensor *into);

/**
 * Clamps every element to bounds, and writes the result to a tensor of the caller. Otherwise as
 * `sconce_tensor_clamp`.
 *
 * - `into`: receives the result, as in `sconce_tensor_unary`; it may be an operand.
 * - Errors: as `sconce_tensor_clamp`; for `into`, as `sconce_tensor_unary`.
 * - Ownership: as `sconce_tensor_reduce_out`.
 * - Ordering: as `sconce_tensor_binary`.
 * - torch: `torch.clamp(…, out=into)`, `torch.Tensor.clamp_`; `at::clamp_out`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_clamp_out(struct sconce_tensor *tensor,
                                      struct sconce_tensor *least,
                                      const struct sconce_scalar *least_number,
                                      struct sconce_tensor *most,
                                      const struct sconce_scalar *most_number,
                                      struct sconce_tensor *into);

/**
 * Selects elements of one operand where a condition is true, else those of another, and writes
 * them to a tensor of the caller. Otherwise as `sconce_tensor_where`.
 *
 * - `into`: receives the result, as in `sconce_tensor_unary`; it may be an operand.
 * - Errors: as `sconce_tensor_where`; for `into`, as `sconce_tensor_unary`.
 * - Ownership: as `sconce_tensor_reduce_out`.
 * - Ordering: as `sconce_tensor_binary`.
 * - torch: `torch.where(…, out=into)`; `at::where_out`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_where_out(struct sconce_tensor *condition,
                                      struct sconce_tensor *if_true,
                                      const struct sconce_scalar *true_number,
                                      struct sconce_tensor *if_false,
                                      const struct sconce_scalar *false_number,
                                      struct sconce_tensor *into);

/**
 * Joins tensors along an existing dimension, and writes the result to a tensor of the caller.
 * Otherwise as `sconce_tensor_cat`.
 *
 * - `into`: receives the result, as in `sconce_tensor_reduce_out`. It may have any type to which
 *   the tensors' common type can be cast.
 * - Errors: INVALID_ARGUMENT: `into` shares memory with one of the tensors. Otherwise as
 *   `sconce_tensor_cat`; for `into`, as `sconce_tensor_unary`.
 * - Ownership: as `sconce_tensor_reduce_out`.
 * - Ordering: as `sconce_tensor_unary`.
 * - torch: `torch.cat(…, out=into)`; `at::cat_out`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_cat_out(struct sconce_tensor *const *tensors,
                                    size_t count,
                                    int64_t dim,
                                    struct sconce_tensor *into);

/**
 * Joins tensors of one shape along a new dimension, and writes the result to a tensor of the
 * caller. Otherwise as `sconce_tensor_cat_out`.
 *
 * - `into`: receives the result, as in `sconce_tensor_cat_out`.
 * - torch: `torch.stack(…, out=into)`; `at::stack_out`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_stack_out(struct sconce_tensor *const *tensors,
                                      size_t count,
                                      int64_t dim,
                                      struct sconce_tensor *into);

/**
 * Writes the elements at the given indices of a dimension to a tensor of the caller. Otherwise as
 * `sconce_tensor_index_select`.
 *
 * - `into`: receives the result, as in `sconce_tensor_reduce_out`; has the type of `tensor`.
 * - Errors: INVALID_ARGUMENT: `into` shares memory with `tensor` or `index`. Otherwise as
 *   `sconce_tensor_index_select`, and as `sconce_tensor_reduce_out`.
 * - Ownership: as `sconce_tensor_reduce_out`.
 * - Ordering: as `sconce_tensor_unary`.
 * - torch: `torch.index_select(…, out=into)`; `at::index_select_out`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_index_select_out(struct sconce_tensor *tensor,
                                             int64_t dim,
                                             struct sconce_tensor *index,
                                             struct sconce_tensor *into);

/**
 * Sorts along a dimension, and writes the results to tensors of the caller. Otherwise as
 * `sconce_tensor_sort`.
 *
 * - `into_values`: receives the sorted elements, as in `sconce_tensor_reduce_out`; has the type of
 *   `tensor`, and may be `tensor`.
 * - `into_indices`: receives the original index of each element along the dimension, as in
 *   `sconce_tensor_reduce_out`; has the type I64.
 * - Errors: INVALID_ARGUMENT: the two share memory. Otherwise as `sconce_tensor_sort`, and as
 *   `sconce_tensor_reduce_out`.
 * - Ownership: as `sconce_tensor_reduce_out`.
 * - Ordering: as `sconce_tensor_reduce_out`.
 * - torch: `torch.sort(stable=True, out=(into_values, into_indices))`; `at::sort_out`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_sort_out(struct sconce_tensor *tensor,
                                     int64_t dim,
                                     bool descending,
                                     struct sconce_tensor *into_values,
                                     struct sconce_tensor *into_indices);

/**
 * Multiplies vectors, matrices or batches of matrices, and writes the result to a tensor of the
 * caller. Otherwise as `sconce_tensor_matmul`.
 *
 * - `into`: receives the result, as in `sconce_tensor_reduce_out`; has the type of the factors. If
 *   it is not contiguous, or uses the memory of a factor, the product is computed in new memory
 *   and then copied.
 * - Errors: as `sconce_tensor_matmul`, and as `sconce_tensor_reduce_out`.
 * - Ownership: as `sconce_tensor_reduce_out`.
 * - Ordering: as `sconce_tensor_unary`.
 * - torch: `torch.matmul(…, out=into)`; `at::matmul_out`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_matmul_out(struct sconce_tensor *first,
                                       struct sconce_tensor *second,
                                       struct sconce_tensor *into);

/**
 * Multiplies two batches of matrices, and writes the result to a tensor of the caller. Otherwise
 * as `sconce_tensor_bmm`.
 *
 * - `into`: receives the result, as in `sconce_tensor_matmul_out`.
 * - Errors: as `sconce_tensor_bmm`, and as `sconce_tensor_reduce_out`.
 * - Ownership: as `sconce_tensor_reduce_out`.
 * - Ordering: as `sconce_tensor_unary`.
 * - torch: `torch.bmm(…, out=into)`; `at::bmm_out`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_bmm_out(struct sconce_tensor *first,
                                    struct sconce_tensor *second,
                                    struct sconce_tensor *into);

/**
 * Writes `beta * tensor + alpha * (first @ second)` to a tensor of the caller. Otherwise as
 * `sconce_tensor_addmm`.
 *
 * - `into`: receives the result, as in `sconce_tensor_matmul_out`; it may be `tensor`.
 * - Errors: as `sconce_tensor_addmm`, and as `sconce_tensor_reduce_out`.
 * - Ownership: as `sconce_tensor_reduce_out`.
 * - Ordering: as `sconce_tensor_unary`.
 * - torch: `torch.addmm(…, out=into)`, `torch.Tensor.addmm_`; `at::addmm_out`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_addmm_out(struct sconce_tensor *tensor,
                                      struct sconce_tensor *first,
                                      struct sconce_tensor *second,
                                      double beta,
                                      double alpha,
                                      struct sconce_tensor *into);

/**
 * Computes Fourier transforms over one to three dimensions of a tensor, and writes the result to a
 * tensor of the caller. Otherwise as `sconce_tensor_fft`.
 *
 * - `into`: receives the result, as in `sconce_tensor_reduce_out`: complex numbers, or real ones
 *   for C2R. They are converted from the type of the transform to that of `into`. It may use the
 *   memory of `tensor`.
 * - Errors: INVALID_ARGUMENT: `into` is not complex, or for C2R not floating-point. Otherwise as
 *   `sconce_tensor_fft`, and as `sconce_tensor_reduce_out`.
 * - Ownership: as `sconce_tensor_reduce_out`.
 * - Ordering: as `sconce_tensor_unary`.
 * - torch: `torch.fft.fft(…, out=into)` and the other functions of `sconce_tensor_fft`; `at::fft_fft_out`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_fft_out(struct sconce_tensor *tensor,
                                    int32_t kind,
                                    int32_t direction,
                                    int32_t normalization,
                                    const int64_t *dims,
                                    size_t count,
                                    int64_t length,
                                    struct sconce_tensor *into);

/**
 * Changes the sizes of a tensor, and makes it contiguous. Elements keep their places in memory,
 * and additional elements are not set. Does nothing if the tensor has the given sizes.
 *
 * - `tensor`: keeps its memory if that is large enough; else it gets new memory, which begins with
 *   the old elements.
 * - `sizes`: elements along each dimension, at least 0.
 * - `rank`: number of dimensions.
 * - Errors: INVALID_ARGUMENT: a size is negative, or the memory belongs to another owner and is
 *   too small. OUT_OF_MEMORY: for new memory.
 * - Ownership: if the memory is replaced, views keep the old memory.
 * - Ordering: a copy to new memory is queued on the current stream of the tensor's device.
 * - torch: `torch.Tensor.resize_`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_resize(struct sconce_tensor *tensor,
                                   const int64_t *sizes,
                                   size_t rank);

/**
 * Writes evenly spaced numbers to a tensor of the caller, in its type. Otherwise as
 * `sconce_tensor_arange`.
 *
 * - `into`: receives the numbers. It keeps its shape if it has the right number of elements;
 *   otherwise it becomes a vector, as in `sconce_tensor_reduce_out`.
 * - Errors: as `sconce_tensor_arange`, and as `sconce_tensor_reduce_out`.
 * - Ownership: as `sconce_tensor_reduce_out`.
 * - Ordering: as `sconce_tensor_full`.
 * - torch: `torch.arange(…, out=into)`; `at::arange_out`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_arange_out(const struct sconce_scalar *start,
                                       const struct sconce_scalar *end,
                                       const struct sconce_scalar *step,
                                       struct sconce_tensor *into);

/**
 * Writes numbers at equal distances to a tensor of the caller, in its type. Otherwise as
 * `sconce_tensor_linspace`.
 *
 * - `into`: receives the numbers, as in `sconce_tensor_arange_out`.
 * - Errors: as `sconce_tensor_linspace`, and as `sconce_tensor_reduce_out`.
 * - Ownership: as `sconce_tensor_reduce_out`.
 * - Ordering: as `sconce_tensor_full`.
 * - torch: `torch.linspace(…, out=into)`; `at::linspace_out`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_linspace_out(const struct sconce_scalar *start,
                                         const struct sconce_scalar *end,
                                         int64_t steps,
                                         struct sconce_tensor *into);

/**
 * Writes ones on the main diagonal, and zeros elsewhere, to a tensor of the caller, in its type.
 * Otherwise as `sconce_tensor_eye`.
 *
 * - `into`: receives the matrix, as in `sconce_tensor_reduce_out`.
 * - Errors: as `sconce_tensor_eye`, and as `sconce_tensor_reduce_out`.
 * - Ownership: as `sconce_tensor_reduce_out`.
 * - Ordering: as `sconce_tensor_full`.
 * - torch: `torch.eye(…, out=into)`; `at::eye_out`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_eye_out(int64_t rows,
                                    int64_t columns,
                                    struct sconce_tensor *into);

/**
 * Writes the numbers 0 to `n - 1` in a random order to a tensor of the caller, in its type, with
 * torch's bits. Otherwise as `sconce_tensor_randperm`.
 *
 * - `into`: receives the numbers, as in `sconce_tensor_arange_out`.
 * - Errors: as `sconce_tensor_randperm`, and as `sconce_tensor_reduce_out`.
 * - Ownership: as `sconce_tensor_reduce_out`.
 * - Ordering: as `sconce_tensor_randperm`.
 * - torch: `torch.randperm(…, out=into)`; `at::randperm_out`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_randperm_out(int64_t n,
                                         struct sconce_generator *generator,
                                         struct sconce_tensor *into);

/**
 * Makes a graph keep the memory of a tensor that its work uses, such as a static input. The graph
 * keeps it as its own memory: until it is reset or destroyed and its queued launches are done, and
 * for graphs that were updated from it. The caller may release the tensor at once.
 *
 * - `graph`: one that is captured or is being captured.
 * - `tensor`: its memory is kept, even if another tensor is assigned to the handle later.
 * - Errors: INVALID_STATE: the graph is empty.
 */
SCONCE_NODISCARD
sconce_status sconce_graph_keep_tensor(struct sconce_graph *graph,
                                       struct sconce_tensor *tensor);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  /* SCONCE_C_TENSOR_H_ */
