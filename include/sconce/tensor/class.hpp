/// \file
/// The class `Tensor`. Its methods are defined by subject: `tensor/copies.hpp`, `tensor/fills.hpp`,
/// `tensor/views.hpp`, `tensor/unary.hpp` and so on; `<sconce/tensor/tensor.hpp>` has all of them,
/// and is what programs include.
///
/// Results of operations are on the device of their operands, whatever the current device is. The
/// operations are queued on the current stream of that device; on the CPU, results are ready when
/// the call returns. Methods whose names end with `_` change the tensor and return it. Failures are
/// thrown as `Error`, with torch's messages.
#ifndef SCONCE_TENSOR_CLASS_HPP
#define SCONCE_TENSOR_CLASS_HPP

#include <sconce/c/tensor.h>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <sconce/cuda/generator.hpp>
#include <sconce/tensor/base.hpp>
#include <sconce/tensor/int_array_ref.hpp>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace sconce {
inline namespace v0 {

namespace compat {
namespace at {
namespace indexing {
class TensorIndex;
}  // namespace indexing
}  // namespace at
namespace c10 {
class DeprecatedTypeProperties;
class Storage;
}  // namespace c10
}  // namespace compat

/// A tensor: elements of one type in memory of a device or of the CPU, with a shape. Copies are the
/// same tensor; `clone` copies elements. Corresponds to `at::Tensor`.
///
/// `a == b` compares elements, so a tensor cannot be used as a condition: write `equal(a, b)`, or
/// `item<bool>()`.
class Tensor : public TensorBase {
 public:
  /// The undefined tensor.
  constexpr Tensor() noexcept = default;
  /// The same tensor as another object's.
  explicit Tensor(const TensorBase& other) : TensorBase(other) {}
  /// Becomes another owner of the same tensor.
  Tensor(const Tensor& other) = default;
  /// Takes the tensor of `other`, which is undefined then.
  Tensor(Tensor&& other) noexcept = default;
  ~Tensor() = default;
  /// Takes ownership of a handle of the C API.
  [[nodiscard]] static Tensor adopt(sconce_tensor* tensor) noexcept { return Tensor(tensor); }

  /// Becomes the same tensor as `other`.
  Tensor& operator=(const Tensor& other) & = default;
  /// Becomes the tensor of `other`, which is undefined afterwards.
  Tensor& operator=(Tensor&& other) & noexcept = default;
  /// Copies elements to a temporary tensor, as in `a[0] = b`.
  const Tensor& operator=(const Tensor& other) && { return copy_(other); }
  /// Copies elements to a temporary tensor, as in `a[0] = b + c`.
  const Tensor& operator=(Tensor&& other) && { return copy_(other); }
  /// Sets the elements of a temporary tensor, as in `a[0] = 1`.
  const Tensor& operator=(const Scalar& value) && { return fill_(value); }

  /// Conditions do not compile: `a == b` is a tensor of truth values. Write `equal(a, b)`, or
  /// `item<bool>()` of a tensor of one element.
  explicit operator bool() const = delete;  // write equal(a, b), or item<bool>()

  /// \name Other types, devices and memory formats
  /// @{

  /// This tensor with the type, device and memory format that are set in `options`; the tensor
  /// itself if nothing changes.
  /// \param options what changes
  /// \param non_blocking whether a copy between page-locked memory and a device may still run when
  ///        the call returns
  /// \param copy whether to copy even if nothing changes
  [[nodiscard]] Tensor to(const TensorOptions& options, bool non_blocking = false,
                          bool copy = false) const;
  /// This tensor on another device and of another type.
  [[nodiscard]] Tensor to(Device device, ScalarType dtype, bool non_blocking = false,
                          bool copy = false) const;
  /// This tensor with the type and device of another.
  [[nodiscard]] Tensor to(const TensorBase& other, bool non_blocking = false,
                          bool copy = false) const;
  /// This tensor on a CUDA device; -1 is the current one.
  [[nodiscard]] Tensor cuda(DeviceIndex index = -1, bool non_blocking = false) const;
  /// This tensor on the CPU.
  [[nodiscard]] Tensor cpu() const;
  /// Elements of another type, or the tensor itself. Another name of `to(dtype)`.
  [[nodiscard]] Tensor toType(ScalarType dtype) const;
  /// Elements of the type of another tensor, on its device. Another name of `to(other)`.
  [[nodiscard]] Tensor type_as(const TensorBase& other) const;
  /// This tensor in page-locked memory of the host: a copy, or itself.
  [[nodiscard]] Tensor pin_memory() const;
  /// A copy in new memory.
  [[nodiscard]] Tensor clone(MemoryFormat format = MemoryFormat::Preserve) const;
  /// A tensor whose elements are contiguous: the tensor itself, or a copy.
  [[nodiscard]] Tensor contiguous(MemoryFormat format = MemoryFormat::Contiguous) const;
  /// Copies the elements of `source`, converted and broadcast to the shape of this tensor.
  const Tensor& copy_(const TensorBase& source, bool non_blocking = false) const;
  /// The value of a tensor of one element. Waits for the current stream of its device.
  [[nodiscard]] Scalar item() const;
  /// The value of a tensor of one element, as a type of C++. Waits for the current stream of its
  /// device.
  template <class T>
  [[nodiscard]] T item() const;
  /// The elements repeated along each dimension, in new memory. Additional counts in front add
  /// dimensions.
  /// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` if there are fewer counts than dimensions
  [[nodiscard]] Tensor repeat(IntArrayRef repeats) const;
  /// All elements in row-major order, converted to a type of C++. Waits for the current stream of
  /// its device. Corresponds to `tensor.flatten().tolist()` of Python.
  template <class T>
  [[nodiscard]] std::vector<T> to_vector() const;

  /// @}
  /// \name New tensors like this one: of its type and on its device unless `options` say otherwise
  /// @{

  /// A tensor whose values are not set.
  [[nodiscard]] Tensor new_empty(IntArrayRef size, const TensorOptions& options = {}) const;
  /// A tensor with the given strides, whose values are not set.
  [[nodiscard]] Tensor new_empty_strided(IntArrayRef size, IntArrayRef stride,
                                         const TensorOptions& options = {}) const;
  /// A tensor of one value.
  [[nodiscard]] Tensor new_full(IntArrayRef size, const Scalar& fill_value,
                                const TensorOptions& options = {}) const;
  /// A tensor of zeros.
  [[nodiscard]] Tensor new_zeros(IntArrayRef size, const TensorOptions& options = {}) const;
  /// A tensor of ones.
  [[nodiscard]] Tensor new_ones(IntArrayRef size, const TensorOptions& options = {}) const;
  /// A tensor of the listed values.
  template <class T>
  [[nodiscard]] Tensor new_tensor(std::initializer_list<T> values,
                                  const TensorOptions& options = {}) const;
  /// A matrix of the listed values.
  template <class T>
  [[nodiscard]] Tensor new_tensor(std::initializer_list<std::initializer_list<T>> values,
                                  const TensorOptions& options = {}) const;
  /// A tensor of one value or of the values of a vector.
  template <class Values>
  [[nodiscard]] Tensor new_tensor(const Values& values, const TensorOptions& options = {}) const;

  /// @}
  /// \name Fills
  /// @{

  /// Sets every element to a value.
  const Tensor& fill_(const Scalar& value) const;
  /// Changes the sizes. Elements keep their places in memory, and additional elements are not set.
  /// Memory that is too small is replaced; views keep the old memory.
  /// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` if memory of another owner is too small
  const Tensor& resize_(IntArrayRef size) const;
  /// `resize_` to the sizes of another tensor.
  const Tensor& resize_as_(const TensorBase& other) const;
  /// Becomes a tensor over the memory of another one, with its type and shape.
  const Tensor& set_(const TensorBase& source) const;
  /// Sets every element to 0.
  const Tensor& zero_() const;
  /// Sets the elements for which a mask of truth values is true, to a value or to that of a tensor
  /// without dimensions. The mask is broadcast.
  const Tensor& masked_fill_(const TensorBase& mask, const TensorOrScalar& value) const;
  /// `masked_fill_` of a copy, whose sizes are those of both broadcast.
  [[nodiscard]] Tensor masked_fill(const TensorBase& mask, const TensorOrScalar& value) const;
  /// Fills with numbers from `from` to `to`, excluding `to`. All random fills have torch's bits.
  const Tensor& uniform_(double from = 0.0, double to = 1.0,
                         const cuda::OptionalGenerator& generator = std::nullopt) const;
  /// Fills with normally distributed numbers.
  const Tensor& normal_(double mean = 0.0, double std = 1.0,
                        const cuda::OptionalGenerator& generator = std::nullopt) const;
  /// Fills with numbers whose logarithm is normally distributed.
  const Tensor& log_normal_(double mean = 1.0, double std = 2.0,
                            const cuda::OptionalGenerator& generator = std::nullopt) const;
  /// Fills with exponentially distributed numbers.
  const Tensor& exponential_(double lambd = 1.0,
                             const cuda::OptionalGenerator& generator = std::nullopt) const;
  /// Fills with numbers of a Cauchy distribution.
  const Tensor& cauchy_(double median = 0.0, double sigma = 1.0,
                        const cuda::OptionalGenerator& generator = std::nullopt) const;
  /// Fills with numbers of a geometric distribution.
  const Tensor& geometric_(double p, const cuda::OptionalGenerator& generator = std::nullopt) const;
  /// Fills with 1, with a probability of `p`, or 0.
  const Tensor& bernoulli_(double p = 0.5,
                           const cuda::OptionalGenerator& generator = std::nullopt) const;
  /// Fills with integers from `from` to `to`, excluding `to`.
  const Tensor& random_(std::int64_t from, std::int64_t to,
                        const cuda::OptionalGenerator& generator = std::nullopt) const;
  /// Fills with integers from 0 to the largest of the type.
  const Tensor& random_(const cuda::OptionalGenerator& generator = std::nullopt) const;

  /// @}
  /// \name Views, which share the memory
  /// @{

  /// One index of the first dimension; negative ones count from the end.
  [[nodiscard]] Tensor operator[](std::int64_t index) const;
  /// One index of the first dimension, a whole number.
  [[nodiscard]] Tensor operator[](const Scalar& index) const;
  /// One index of the first dimension: the value of a tensor of integers without dimensions. Waits
  /// for the current stream of its device.
  [[nodiscard]] Tensor operator[](const TensorBase& index) const;
  /// The elements with other sizes, of which one may be -1.
  [[nodiscard]] Tensor view(IntArrayRef size) const;
  /// The elements with the sizes of another tensor.
  [[nodiscard]] Tensor view_as(const TensorBase& other) const;
  /// The elements with other sizes: a view where possible, else a copy.
  [[nodiscard]] Tensor reshape(IntArrayRef shape) const;
  /// The memory with the given sizes, strides and offset.
  [[nodiscard]] Tensor as_strided(IntArrayRef size, IntArrayRef stride,
                                  std::optional<std::int64_t> storage_offset = std::nullopt) const;
  /// `length` indices of a dimension from `start` on.
  [[nodiscard]] Tensor narrow(std::int64_t dim, std::int64_t start, std::int64_t length) const;
  /// Every `step`-th index of a dimension from `start` up to, excluding, `end`.
  [[nodiscard]] Tensor slice(std::int64_t dim = 0, std::optional<std::int64_t> start = std::nullopt,
                             std::optional<std::int64_t> end = std::nullopt,
                             std::int64_t step = 1) const;
  /// One index of a dimension, without that dimension.
  [[nodiscard]] Tensor select(std::int64_t dim, std::int64_t index) const;
  /// Two dimensions exchanged.
  [[nodiscard]] Tensor transpose(std::int64_t dim0, std::int64_t dim1) const;
  /// A matrix transposed; a vector is returned unchanged.
  [[nodiscard]] Tensor t() const;
  /// The dimensions in another order.
  [[nodiscard]] Tensor permute(IntArrayRef dims) const;
  /// Dimensions of one element repeated; -1 keeps a size.
  [[nodiscard]] Tensor expand(IntArrayRef size) const;
  /// Dimensions of one element repeated to the sizes of another tensor.
  [[nodiscard]] Tensor expand_as(const TensorBase& other) const;
  /// Without the dimensions of one element.
  [[nodiscard]] Tensor squeeze() const;
  /// Without those of the given dimensions that have one element.
  [[nodiscard]] Tensor squeeze(IntArrayRef dims) const;
  /// With one more dimension, of one element.
  [[nodiscard]] Tensor unsqueeze(std::int64_t dim) const;
  /// `unsqueeze`, of which this tensor becomes the result: no elements move.
  const Tensor& unsqueeze_(std::int64_t dim) const;
  /// `squeeze`, of which this tensor becomes the result.
  const Tensor& squeeze_() const;
  /// `transpose`, of which this tensor becomes the result.
  const Tensor& transpose_(std::int64_t dim0, std::int64_t dim1) const;
  /// `t`, of which this tensor becomes the result.
  const Tensor& t_() const;
  /// Another tensor of the same elements. In torch, this method discards gradients.
  [[nodiscard]] Tensor detach() const;
  /// The dimensions from `start_dim` to `end_dim`, both included, as one: a view where possible,
  /// else a copy.
  [[nodiscard]] Tensor flatten(std::int64_t start_dim = 0, std::int64_t end_dim = -1) const;
  /// One dimension as several.
  [[nodiscard]] Tensor unflatten(std::int64_t dim, IntArrayRef sizes) const;
  /// The diagonal of two dimensions, as the last dimension.
  [[nodiscard]] Tensor diagonal(std::int64_t offset = 0, std::int64_t dim1 = 0,
                                std::int64_t dim2 = 1) const;
  /// At most `chunks` parts of a dimension, of equal size.
  [[nodiscard]] std::vector<Tensor> chunk(std::int64_t chunks, std::int64_t dim = 0) const;
  /// Parts of a dimension of `split_size` indices each.
  [[nodiscard]] std::vector<Tensor> split(std::int64_t split_size, std::int64_t dim = 0) const;
  /// Parts of a dimension of the given sizes.
  [[nodiscard]] std::vector<Tensor> split_with_sizes(IntArrayRef split_sizes,
                                                     std::int64_t dim = 0) const;
  /// Parts of a dimension of the given sizes.
  [[nodiscard]] std::vector<Tensor> split(IntArrayRef split_sizes, std::int64_t dim = 0) const;
  /// A view for each index of a dimension, without that dimension.
  [[nodiscard]] std::vector<Tensor> unbind(std::int64_t dim = 0) const;

  /// @}
  /// \name Operations on each element
  /// @{

  [[nodiscard]] Tensor neg() const;          ///< `-x`
  const Tensor& neg_() const;                ///< in place
  [[nodiscard]] Tensor abs() const;          ///< the absolute value or magnitude
  const Tensor& abs_() const;                ///< in place
  [[nodiscard]] Tensor sign() const;         ///< -1, 0 or 1
  const Tensor& sign_() const;               ///< in place
  [[nodiscard]] Tensor exp() const;          ///< the exponential function
  const Tensor& exp_() const;                ///< in place
  [[nodiscard]] Tensor log() const;          ///< the natural logarithm
  const Tensor& log_() const;                ///< in place
  [[nodiscard]] Tensor sqrt() const;         ///< the square root
  const Tensor& sqrt_() const;               ///< in place
  [[nodiscard]] Tensor rsqrt() const;        ///< the reciprocal of the square root
  const Tensor& rsqrt_() const;              ///< in place
  [[nodiscard]] Tensor reciprocal() const;   ///< `1 / x`
  const Tensor& reciprocal_() const;         ///< in place
  [[nodiscard]] Tensor sin() const;          ///< the sine
  const Tensor& sin_() const;                ///< in place
  [[nodiscard]] Tensor cos() const;          ///< the cosine
  const Tensor& cos_() const;                ///< in place
  [[nodiscard]] Tensor tanh() const;         ///< the hyperbolic tangent
  const Tensor& tanh_() const;               ///< in place
  [[nodiscard]] Tensor sigmoid() const;      ///< `1 / (1 + exp(-x))`
  const Tensor& sigmoid_() const;            ///< in place
  [[nodiscard]] Tensor relu() const;         ///< `max(x, 0)`
  const Tensor& relu_() const;               ///< in place
  [[nodiscard]] Tensor silu() const;         ///< `x * sigmoid(x)`
  const Tensor& silu_() const;               ///< in place
  [[nodiscard]] Tensor erf() const;          ///< the error function
  const Tensor& erf_() const;                ///< in place
  [[nodiscard]] Tensor floor() const;        ///< rounded down
  const Tensor& floor_() const;              ///< in place
  [[nodiscard]] Tensor ceil() const;         ///< rounded up
  const Tensor& ceil_() const;               ///< in place
  [[nodiscard]] Tensor round() const;        ///< rounded to the nearest integer, ties to even
  const Tensor& round_() const;              ///< in place
  [[nodiscard]] Tensor trunc() const;        ///< `x` without its fraction
  const Tensor& trunc_() const;              ///< in place
  [[nodiscard]] Tensor logical_not() const;  ///< whether `x` is 0
  const Tensor& logical_not_() const;        ///< in place
  [[nodiscard]] Tensor bitwise_not() const;  ///< the complement of the bits
  const Tensor& bitwise_not_() const;        ///< in place
  [[nodiscard]] Tensor isnan() const;        ///< whether `x` is not a number
  [[nodiscard]] Tensor isfinite() const;     ///< whether `x` is neither infinite nor NaN
  /// Gaussian error linear units of each element.
  /// \param approximate `none`, or `tanh` for the approximation
  /// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` for any other text
  [[nodiscard]] Tensor gelu(std::string_view approximate = "none") const;
  /// Each element clamped to bounds, which are numbers or tensors.
  [[nodiscard]] Tensor clamp(const std::optional<TensorOrScalar>& min = std::nullopt,
                             const std::optional<TensorOrScalar>& max = std::nullopt) const;
  /// `clamp` in place.
  const Tensor& clamp_(const std::optional<TensorOrScalar>& min = std::nullopt,
                       const std::optional<TensorOrScalar>& max = std::nullopt) const;
  /// Each element clamped to a lower bound.
  [[nodiscard]] Tensor clamp_min(const TensorOrScalar& min) const;
  const Tensor& clamp_min_(const TensorOrScalar& min) const;  ///< in place
  /// Each element clamped to an upper bound.
  [[nodiscard]] Tensor clamp_max(const TensorOrScalar& max) const;
  const Tensor& clamp_max_(const TensorOrScalar& max) const;  ///< in place
  [[nodiscard]] Tensor square() const;                        ///< `x * x`

  /// @}
  /// \name Operations on pairs of elements: with a tensor, or with a number
  /// @{

  /// `x + alpha * y` of each pair of elements.
  [[nodiscard]] Tensor add(const TensorOrScalar& other, const Scalar& alpha = 1) const;
  const Tensor& add_(const TensorOrScalar& other, const Scalar& alpha = 1) const;  ///< in place
  /// `x - alpha * y` of each pair of elements.
  [[nodiscard]] Tensor sub(const TensorOrScalar& other, const Scalar& alpha = 1) const;
  const Tensor& sub_(const TensorOrScalar& other, const Scalar& alpha = 1) const;  ///< in place
  /// `x * y` of each pair of elements.
  [[nodiscard]] Tensor mul(const TensorOrScalar& other) const;
  const Tensor& mul_(const TensorOrScalar& other) const;  ///< in place
  /// `x / y` of each pair of elements; a real number, also for integers.
  [[nodiscard]] Tensor div(const TensorOrScalar& other) const;
  const Tensor& div_(const TensorOrScalar& other) const;  ///< in place
  /// Another name of `div`.
  [[nodiscard]] Tensor true_divide(const TensorOrScalar& other) const;
  const Tensor& true_divide_(const TensorOrScalar& other) const;  ///< in place
  /// `floor(x / y)` of each pair of elements.
  [[nodiscard]] Tensor floor_divide(const TensorOrScalar& other) const;
  const Tensor& floor_divide_(const TensorOrScalar& other) const;  ///< in place
  /// `x - y * floor(x / y)` of each pair of elements.
  [[nodiscard]] Tensor remainder(const TensorOrScalar& other) const;
  const Tensor& remainder_(const TensorOrScalar& other) const;  ///< in place
  /// `x` to the power of `y` of each pair of elements.
  [[nodiscard]] Tensor pow(const TensorOrScalar& other) const;
  const Tensor& pow_(const TensorOrScalar& other) const;  ///< in place
  /// Whether `x == y`, of each pair of elements.
  [[nodiscard]] Tensor eq(const TensorOrScalar& other) const;
  const Tensor& eq_(const TensorOrScalar& other) const;  ///< in place
  /// Whether `x != y`, of each pair of elements.
  [[nodiscard]] Tensor ne(const TensorOrScalar& other) const;
  const Tensor& ne_(const TensorOrScalar& other) const;  ///< in place
  /// Whether `x < y`, of each pair of elements.
  [[nodiscard]] Tensor lt(const TensorOrScalar& other) const;
  const Tensor& lt_(const TensorOrScalar& other) const;  ///< in place
  /// Whether `x <= y`, of each pair of elements.
  [[nodiscard]] Tensor le(const TensorOrScalar& other) const;
  const Tensor& le_(const TensorOrScalar& other) const;  ///< in place
  /// Whether `x > y`, of each pair of elements.
  [[nodiscard]] Tensor gt(const TensorOrScalar& other) const;
  const Tensor& gt_(const TensorOrScalar& other) const;  ///< in place
  /// Whether `x >= y`, of each pair of elements.
  [[nodiscard]] Tensor ge(const TensorOrScalar& other) const;
  const Tensor& ge_(const TensorOrScalar& other) const;  ///< in place
  /// `x & y` of each pair of elements.
  [[nodiscard]] Tensor bitwise_and(const TensorOrScalar& other) const;
  const Tensor& bitwise_and_(const TensorOrScalar& other) const;  ///< in place
  /// `x | y` of each pair of elements.
  [[nodiscard]] Tensor bitwise_or(const TensorOrScalar& other) const;
  const Tensor& bitwise_or_(const TensorOrScalar& other) const;  ///< in place
  /// `x ^ y` of each pair of elements.
  [[nodiscard]] Tensor bitwise_xor(const TensorOrScalar& other) const;
  const Tensor& bitwise_xor_(const TensorOrScalar& other) const;  ///< in place
  /// Whether both are nonzero, of each pair of elements.
  [[nodiscard]] Tensor logical_and(const TensorOrScalar& other) const;
  const Tensor& logical_and_(const TensorOrScalar& other) const;  ///< in place
  /// Whether at least one is nonzero, of each pair of elements.
  [[nodiscard]] Tensor logical_or(const TensorOrScalar& other) const;
  const Tensor& logical_or_(const TensorOrScalar& other) const;  ///< in place
  /// Whether exactly one is nonzero, of each pair of elements.
  [[nodiscard]] Tensor logical_xor(const TensorOrScalar& other) const;
  const Tensor& logical_xor_(const TensorOrScalar& other) const;  ///< in place
  /// The smaller of each pair of elements; NaN if either is NaN.
  [[nodiscard]] Tensor minimum(const TensorOrScalar& other) const;
  /// The larger of each pair of elements; NaN if either is NaN.
  [[nodiscard]] Tensor maximum(const TensorOrScalar& other) const;
  /// `x / y` of each pair of elements, rounded.
  /// \param other the divisor
  /// \param rounding_mode `trunc` towards 0, or `floor` downwards
  /// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` for any other text
  [[nodiscard]] Tensor div(const TensorOrScalar& other, std::string_view rounding_mode) const;
  /// `div` with a rounding, in place.
  /// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` for any other text
  const Tensor& div_(const TensorOrScalar& other, std::string_view rounding_mode) const;

  /// @}
  /// \name Reductions, softmax and running sums
  /// @{

  /// The sum of all elements.
  [[nodiscard]] Tensor sum(std::optional<ScalarType> dtype = std::nullopt) const;
  /// Sums over dimensions.
  [[nodiscard]] Tensor sum(IntArrayRef dim, bool keepdim = false,
                           std::optional<ScalarType> dtype = std::nullopt) const;
  /// The mean of all elements.
  [[nodiscard]] Tensor mean(std::optional<ScalarType> dtype = std::nullopt) const;
  /// Means over dimensions.
  [[nodiscard]] Tensor mean(IntArrayRef dim, bool keepdim = false,
                            std::optional<ScalarType> dtype = std::nullopt) const;
  /// The product of all elements.
  [[nodiscard]] Tensor prod(std::optional<ScalarType> dtype = std::nullopt) const;
  /// Products over a dimension.
  [[nodiscard]] Tensor prod(std::int64_t dim, bool keepdim = false,
                            std::optional<ScalarType> dtype = std::nullopt) const;
  /// The largest elements over dimensions, or over all without any. NaN if an element is NaN.
  [[nodiscard]] Tensor amax(IntArrayRef dim = {}, bool keepdim = false) const;
  /// The smallest elements over dimensions, or over all without any. NaN if an element is NaN.
  [[nodiscard]] Tensor amin(IntArrayRef dim = {}, bool keepdim = false) const;
  [[nodiscard]] Tensor max() const;  ///< the largest element
  [[nodiscard]] Tensor min() const;  ///< the smallest element
  /// The index of the largest element of a dimension, or of all elements.
  [[nodiscard]] Tensor argmax(std::optional<std::int64_t> dim = std::nullopt,
                              bool keepdim = false) const;
  /// The index of the smallest element of a dimension, or of all elements.
  [[nodiscard]] Tensor argmin(std::optional<std::int64_t> dim = std::nullopt,
                              bool keepdim = false) const;
  [[nodiscard]] Tensor all() const;  ///< whether all elements are nonzero
  /// Whether all elements are nonzero, over dimensions.
  [[nodiscard]] Tensor all(IntArrayRef dim, bool keepdim = false) const;
  [[nodiscard]] Tensor any() const;  ///< whether any element is nonzero
  /// Whether any element is nonzero, over dimensions.
  [[nodiscard]] Tensor any(IntArrayRef dim, bool keepdim = false) const;
  /// `exp(x) / sum(exp(x))` along a dimension.
  [[nodiscard]] Tensor softmax(std::int64_t dim,
                               std::optional<ScalarType> dtype = std::nullopt) const;
  /// The logarithm of `softmax`.
  [[nodiscard]] Tensor log_softmax(std::int64_t dim,
                                   std::optional<ScalarType> dtype = std::nullopt) const;
  /// Running sums along a dimension.
  [[nodiscard]] Tensor cumsum(std::int64_t dim,
                              std::optional<ScalarType> dtype = std::nullopt) const;
  /// Running products along a dimension.
  [[nodiscard]] Tensor cumprod(std::int64_t dim,
                               std::optional<ScalarType> dtype = std::nullopt) const;
  /// The elements sorted along a dimension, and the original index of each. Equal elements keep
  /// their order.
  [[nodiscard]] std::tuple<Tensor, Tensor> sort(std::int64_t dim = -1,
                                                bool descending = false) const;
  /// `sort`, which keeps the order of equal elements whether that is requested or not.
  [[nodiscard]] std::tuple<Tensor, Tensor> sort(std::optional<bool> stable, std::int64_t dim,
                                                bool descending) const;
  /// The elements at the indices that a vector of integers lists.
  [[nodiscard]] Tensor index_select(std::int64_t dim, const TensorBase& index) const;
  /// A row of indices for each element that is not 0. Waits for the current stream.
  [[nodiscard]] Tensor nonzero() const;
  /// The elements for which a mask of truth values is true, as a vector. Both are broadcast. Waits
  /// for the current stream.
  [[nodiscard]] Tensor masked_select(const TensorBase& mask) const;

  /// @}
  /// \name Products
  /// @{

  /// The product of vectors, matrices or batches of matrices.
  [[nodiscard]] Tensor matmul(const TensorBase& other) const;
  /// The product of two matrices.
  [[nodiscard]] Tensor mm(const TensorBase& mat2) const;
  /// The products of two batches of matrices.
  [[nodiscard]] Tensor bmm(const TensorBase& mat2) const;
  /// `beta * self + alpha * (mat1 @ mat2)`.
  [[nodiscard]] Tensor addmm(const TensorBase& mat1, const TensorBase& mat2, const Scalar& beta = 1,
                             const Scalar& alpha = 1) const;
  /// `addmm`, of which this tensor's elements become the result.
  const Tensor& addmm_(const TensorBase& mat1, const TensorBase& mat2, const Scalar& beta = 1,
                       const Scalar& alpha = 1) const;

  /// @}
  /// \name Comparisons of whole tensors, which wait for the current stream
  /// @{

  /// Whether both have the same shape and equal elements.
  [[nodiscard]] bool equal(const TensorBase& other) const;
  /// Whether elements differ by at most `atol + rtol * |other|`.
  [[nodiscard]] bool allclose(const TensorBase& other, double rtol = 1e-5, double atol = 1e-8,
                              bool equal_nan = false) const;

  /// @}

  /// \name Operations of libsconce_torch
  /// `<sconce/compat/tensor/operations.hpp>` defines them. Programs that call one link with
  /// libsconce_torch.
  /// @{

  /// The part that indices select, one for each dimension from the first on:
  /// `x.index({Slice(0, 2), None, "...", mask})`. A view unless a tensor is among them.
  [[nodiscard]] Tensor index(
      std::initializer_list<compat::at::indexing::TensorIndex> indices) const;
  /// The part that indices select.
  [[nodiscard]] Tensor index(const std::vector<compat::at::indexing::TensorIndex>& indices) const;
  /// Sets the part that indices select to the elements of a tensor, which are broadcast.
  const Tensor& index_put_(std::initializer_list<compat::at::indexing::TensorIndex> indices,
                           const Tensor& values) const;
  /// Sets the part that indices select to a number.
  const Tensor& index_put_(std::initializer_list<compat::at::indexing::TensorIndex> indices,
                           const Scalar& value) const;
  /// Sets the part that indices select to the elements of a tensor.
  const Tensor& index_put_(const std::vector<compat::at::indexing::TensorIndex>& indices,
                           const Tensor& values) const;
  /// Sets the part that indices select to a number.
  const Tensor& index_put_(const std::vector<compat::at::indexing::TensorIndex>& indices,
                           const Scalar& value) const;
  /// Sets the elements at the indices that tensors list, or adds to them. A dimension whose tensor
  /// is undefined or left out is not indexed.
  const Tensor& index_put_(const std::vector<std::optional<Tensor>>& indices, const Tensor& values,
                           bool accumulate = false) const;
  /// Sets parts of a dimension to a value or to that of a tensor without dimensions.
  const Tensor& index_fill_(std::int64_t dim, const TensorBase& index,
                            const TensorOrScalar& value) const;
  /// Adds the parts of a tensor to those of a dimension that a vector of integers lists.
  const Tensor& index_add_(std::int64_t dim, const TensorBase& index, const Tensor& source) const;
  /// The elements at the indices of a dimension: `result[i][j] = x[index[i][j]][j]` for the first.
  [[nodiscard]] Tensor gather(std::int64_t dim, const TensorBase& index,
                              bool sparse_grad = false) const;
  /// A copy with elements of a tensor, or a number, at the indices of a dimension.
  [[nodiscard]] Tensor scatter(std::int64_t dim, const TensorBase& index,
                               const TensorOrScalar& value) const;
  /// `scatter` in place.
  const Tensor& scatter_(std::int64_t dim, const TensorBase& index,
                         const TensorOrScalar& value) const;
  /// A copy with elements of a tensor added at the indices of a dimension.
  [[nodiscard]] Tensor scatter_add(std::int64_t dim, const TensorBase& index,
                                   const TensorBase& source) const;
  /// `scatter_add` in place.
  const Tensor& scatter_add_(std::int64_t dim, const TensorBase& index,
                             const TensorBase& source) const;
  /// A copy with elements of a tensor combined at the indices of a dimension. `reduce` is `sum`,
  /// `prod`, `mean`, `amax` or `amin`.
  [[nodiscard]] Tensor scatter_reduce(std::int64_t dim, const TensorBase& index,
                                      const TensorBase& source, std::string_view reduce,
                                      bool include_self = true) const;
  /// `scatter_reduce` in place.
  const Tensor& scatter_reduce_(std::int64_t dim, const TensorBase& index, const TensorBase& source,
                                std::string_view reduce, bool include_self = true) const;
  /// The largest elements along a dimension, and the index of each.
  [[nodiscard]] std::tuple<Tensor, Tensor> max(std::int64_t dim, bool keepdim = false) const;
  /// The smallest elements along a dimension, and the index of each.
  [[nodiscard]] std::tuple<Tensor, Tensor> min(std::int64_t dim, bool keepdim = false) const;
  /// The `k` largest or smallest elements along a dimension, and the index of each.
  [[nodiscard]] std::tuple<Tensor, Tensor> topk(std::int64_t k, std::int64_t dim = -1,
                                                bool largest = true, bool sorted = true) const;
  /// The indices that sort the elements along a dimension.
  [[nodiscard]] Tensor argsort(std::int64_t dim = -1, bool descending = false) const;
  /// The elements in reverse order along dimensions, in new memory.
  [[nodiscard]] Tensor flip(IntArrayRef dims) const;
  /// The elements moved along dimensions; those moved past the end go to the front.
  [[nodiscard]] Tensor roll(IntArrayRef shifts, IntArrayRef dims = {}) const;
  /// Parts of `size` indices of a dimension, each `step` after the one before: a view with one more
  /// dimension, the last.
  [[nodiscard]] Tensor unfold(std::int64_t dimension, std::int64_t size, std::int64_t step) const;
  /// Each index of a dimension repeated; without a dimension, each element.
  [[nodiscard]] Tensor repeat_interleave(std::int64_t repeats,
                                         std::optional<std::int64_t> dim = std::nullopt) const;
  /// Each index of a dimension as often as a vector of integers says. Waits for the current stream.
  [[nodiscard]] Tensor repeat_interleave(const TensorBase& repeats,
                                         std::optional<std::int64_t> dim = std::nullopt) const;
  /// `x << y` of each pair of integers.
  [[nodiscard]] Tensor bitwise_left_shift(const TensorOrScalar& other) const;
  /// `x >> y` of each pair of integers.
  [[nodiscard]] Tensor bitwise_right_shift(const TensorOrScalar& other) const;
  /// The sum of the products of the elements of two vectors.
  [[nodiscard]] Tensor dot(const Tensor& other) const;

  /// @}
  /// \name Older names of ATen, and names of its gradients
  /// `<sconce/compat/tensor/types.hpp>` defines them.
  /// @{

  /// Type and device. `AT_DISPATCH_…` takes it in the place of a `ScalarType`.
  [[nodiscard]] compat::c10::DeprecatedTypeProperties type() const;
  /// The name of type and device, such as `CUDAFloatType`.
  [[nodiscard]] std::string toString() const;
  /// The memory.
  [[nodiscard]] compat::c10::Storage storage() const;
  /// This tensor.
  /// \throws NotSupportedError if gradients are asked for: there are none here
  const Tensor& set_requires_grad(bool requires_grad) const;
  /// `set_requires_grad`.
  const Tensor& requires_grad_(bool requires_grad = true) const;
  /// The undefined tensor: there are no gradients.
  [[nodiscard]] Tensor grad() const;

  /// @}

 private:
  explicit constexpr Tensor(sconce_tensor* tensor) noexcept : TensorBase(tensor) {}
};

}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_TENSOR_CLASS_HPP
