/// \file
/// The class `Tensor` with its methods. `<sconce/tensor.hpp>` has all of tensors.
///
/// Results of operations live on the device of their operands, whatever the current device is, and
/// are queued on the current stream of that device; on the CPU they are ready when the call
/// returns. Methods whose name ends with `_` change the tensor and return it. Failures are thrown
/// as `Error`, with torch's words.
#ifndef SCONCE_TENSOR_BODY_HPP
#define SCONCE_TENSOR_BODY_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <sconce/generator.hpp>
#include <sconce/int_array_ref.hpp>
#include <sconce/tensor_base.hpp>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace sconce {
inline namespace v0 {
namespace detail {

/// Returns the tensor that `call` returns through its `sconce_tensor**`.
template <class Call>
Tensor tensor_of(Call&& call);
/// Returns the tensors that `call` writes to an array with the given room.
template <class Call>
std::vector<Tensor> tensors_of(std::size_t room, Call&& call);
/// An operation on pairs of elements, of which `a` or `b` is a tensor.
Tensor binary_of(std::int32_t operation, const TensorOrScalar& a, const TensorOrScalar& b,
                 const Scalar* alpha = nullptr);

/// The operation of GELU with torch's name of an approximation.
inline std::int32_t gelu_of(std::string_view approximate) {
  if (approximate != "none" && approximate != "tanh") {
    throw Error(SCONCE_ERROR_INVALID_ARGUMENT, "approximate argument must be either none or tanh.");
  }
  return approximate == "none" ? SCONCE_UNARY_GELU : SCONCE_UNARY_GELU_TANH;
}

/// The division with torch's name of a rounding.
inline std::int32_t rounded_division_of(std::string_view rounding_mode) {
  if (rounding_mode != "trunc" && rounding_mode != "floor") {
    throw Error(SCONCE_ERROR_INVALID_ARGUMENT,
                "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '" +
                    std::string(rounding_mode) + "'");
  }
  return rounding_mode == "floor" ? SCONCE_BINARY_FLOOR_DIVIDE : SCONCE_BINARY_TRUNC_DIVIDE;
}

/// Refuses factors that are no matrices.
inline void check_matrices(const TensorBase& self, const TensorBase& mat2) {
  if (self.dim() != 2 || mat2.dim() != 2) {
    throw Error(SCONCE_ERROR_INVALID_ARGUMENT,
                self.dim() != 2 ? "self must be a matrix" : "mat2 must be a matrix");
  }
}

}  // namespace detail
}  // namespace v0
}  // namespace sconce

namespace sconce {
inline namespace v0 {

/// A tensor: elements of one type in memory of a device or of the CPU, with a shape. Copies are the
/// same tensor; `clone` copies elements. Corresponds to `at::Tensor`.
///
/// `a == b` compares elements, so a tensor is no condition: write `equal(a, b)`, or
/// `item<bool>()`.
class Tensor : public TensorBase {
 public:
  /// The undefined tensor.
  constexpr Tensor() noexcept = default;
  /// The same tensor as another object's.
  explicit Tensor(const TensorBase& other) : TensorBase(other) {}
  /// Owns the same tensor once more.
  Tensor(const Tensor& other) = default;
  /// Takes the tensor of `other`, which is undefined then.
  Tensor(Tensor&& other) noexcept = default;
  ~Tensor() = default;
  /// Takes ownership of a handle of the C API.
  [[nodiscard]] static Tensor adopt(sconce_tensor* tensor) noexcept { return Tensor(tensor); }

  /// Becomes the same tensor as `other`.
  Tensor& operator=(const Tensor& other) & = default;
  /// Becomes the tensor of `other`, which is undefined then.
  Tensor& operator=(Tensor&& other) & noexcept = default;
  /// Copies elements to a tensor without a name, as in `a[0] = b`.
  const Tensor& operator=(const Tensor& other) && { return copy_(other); }
  /// Copies elements to a tensor without a name, as in `a[0] = b + c`.
  const Tensor& operator=(Tensor&& other) && { return copy_(other); }
  /// Sets the elements of a tensor without a name, as in `a[0] = 1`.
  const Tensor& operator=(const Scalar& value) && { return fill_(value); }

  /// Conditions do not compile: `a == b` is a tensor of truth values. Write `equal(a, b)`, or
  /// `item<bool>()` of a tensor of one element.
  explicit operator bool() const = delete;  // write equal(a, b), or item<bool>()

  /// \name Other types, places and orders in memory
  /// @{

  /// This tensor with the type, device and order in memory that are set in `options`; itself if
  /// nothing changes.
  /// \param options what changes
  /// \param non_blocking whether a copy between page-locked memory and a device may still run when
  ///        the call returns
  /// \param copy whether to copy even if nothing changes
  [[nodiscard]] Tensor to(const TensorOptions& options, bool non_blocking = false,
                          bool copy = false) const {
    const sconce_tensor_options asked = options.get();
    return detail::tensor_of([&](sconce_tensor** out) {
      return ::sconce_tensor_to(get(), &asked, non_blocking, copy, out);
    });
  }
  /// This tensor on another device and of another type.
  [[nodiscard]] Tensor to(Device device, ScalarType dtype, bool non_blocking = false,
                          bool copy = false) const {
    return to(TensorOptions(device).dtype(dtype), non_blocking, copy);
  }
  /// This tensor with the type and device of another.
  [[nodiscard]] Tensor to(const TensorBase& other, bool non_blocking = false,
                          bool copy = false) const {
    return to(other.options(), non_blocking, copy);
  }
  /// This tensor on a CUDA device; -1 is the current one.
  [[nodiscard]] Tensor cuda(DeviceIndex index = -1, bool non_blocking = false) const {
    return to(Device(DeviceType::CUDA, index), non_blocking);
  }
  /// This tensor on the CPU.
  [[nodiscard]] Tensor cpu() const { return to(Device(DeviceType::CPU)); }
  /// This tensor in page-locked memory of the host: a copy, or itself.
  [[nodiscard]] Tensor pin_memory() const {
    return detail::tensor_of(
        [&](sconce_tensor** out) { return ::sconce_tensor_pin_memory(get(), out); });
  }
  /// A copy in memory of its own.
  [[nodiscard]] Tensor clone(MemoryFormat format = MemoryFormat::Preserve) const {
    return detail::tensor_of([&](sconce_tensor** out) {
      return ::sconce_tensor_clone(get(), detail::number_of(format), out);
    });
  }
  /// A tensor whose elements lie one after another: itself, or a copy.
  [[nodiscard]] Tensor contiguous(MemoryFormat format = MemoryFormat::Contiguous) const {
    return detail::tensor_of([&](sconce_tensor** out) {
      return ::sconce_tensor_contiguous(get(), detail::number_of(format), out);
    });
  }
  /// Copies the elements of `source`, converted and repeated to the shape of this tensor.
  const Tensor& copy_(const TensorBase& source, bool non_blocking = false) const {
    detail::check(::sconce_tensor_copy(get(), source.get(), non_blocking));
    return *this;
  }
  /// The value of a tensor of one element. Waits for its device.
  [[nodiscard]] Scalar item() const {
    sconce_scalar value{};
    detail::check(::sconce_tensor_item(get(), &value));
    return Scalar(value);
  }
  /// The value of a tensor of one element, as a type of C++. Waits for its device.
  template <class T>
  [[nodiscard]] T item() const {
    return item().to<T>();
  }
  /// All elements in row-major order, converted to a type of C++. Waits for the device.
  /// Corresponds to `tensor.flatten().tolist()` of Python.
  template <class T>
  [[nodiscard]] std::vector<T> to_vector() const {
    const Tensor typed = to(cuda::CppTypeToScalarType<T>::value);
    std::vector<std::conditional_t<std::is_same_v<T, bool>, unsigned char, T>> values(
        static_cast<std::size_t>(typed.numel()));
    detail::check(::sconce_tensor_to_values(typed.get(), values.data(), values.size() * sizeof(T)));
    return {values.begin(), values.end()};
  }

  /// @}
  /// \name New tensors like this one: of its type and on its device unless `options` say otherwise
  /// @{

  /// A tensor whose values are not set.
  [[nodiscard]] Tensor new_empty(IntArrayRef size, const TensorOptions& options = {}) const {
    const sconce_tensor_options asked = like(options).get();
    return detail::tensor_of([&](sconce_tensor** out) {
      return ::sconce_tensor_empty(size.data(), size.size(), &asked, out);
    });
  }
  /// A tensor with strides of the caller's choice, whose values are not set.
  [[nodiscard]] Tensor new_empty_strided(IntArrayRef size, IntArrayRef stride,
                                         const TensorOptions& options = {}) const {
    if (size.size() != stride.size()) {
      detail::throw_other_rank(size.size(), stride.size());
    }
    const sconce_tensor_options asked = like(options).get();
    return detail::tensor_of([&](sconce_tensor** out) {
      return ::sconce_tensor_empty_strided(size.data(), stride.data(), size.size(), &asked, out);
    });
  }
  /// A tensor of one value.
  [[nodiscard]] Tensor new_full(IntArrayRef size, const Scalar& fill_value,
                                const TensorOptions& options = {}) const {
    const sconce_tensor_options asked = like(options).get();
    return detail::tensor_of([&](sconce_tensor** out) {
      return ::sconce_tensor_full(size.data(), size.size(), fill_value.get(), &asked, out);
    });
  }
  /// A tensor of zeros.
  [[nodiscard]] Tensor new_zeros(IntArrayRef size, const TensorOptions& options = {}) const {
    return new_full(size, 0, options);
  }
  /// A tensor of ones.
  [[nodiscard]] Tensor new_ones(IntArrayRef size, const TensorOptions& options = {}) const {
    return new_full(size, 1, options);
  }
  /// A tensor of the listed values. Defined in `<sconce/tensor_factories.hpp>`.
  template <class T>
  [[nodiscard]] Tensor new_tensor(std::initializer_list<T> values,
                                  const TensorOptions& options = {}) const;
  /// A matrix of the listed values. Defined in `<sconce/tensor_factories.hpp>`.
  template <class T>
  [[nodiscard]] Tensor new_tensor(std::initializer_list<std::initializer_list<T>> values,
                                  const TensorOptions& options = {}) const;
  /// A tensor of one value or of the values of a vector. Defined in
  /// `<sconce/tensor_factories.hpp>`.
  template <class Values>
  [[nodiscard]] Tensor new_tensor(const Values& values, const TensorOptions& options = {}) const;

  /// @}
  /// \name Fills
  /// @{

  /// Sets every element to a value.
  const Tensor& fill_(const Scalar& value) const {
    detail::check(::sconce_tensor_fill(get(), value.get()));
    return *this;
  }
  /// Other sizes, with the elements where they are in memory; what comes to them is not set. Memory
  /// that is too small is replaced; views of it keep it.
  /// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` if memory of others is too small
  const Tensor& resize_(IntArrayRef size) const {
    detail::check(::sconce_tensor_resize(get(), size.data(), size.size()));
    return *this;
  }
  /// Sets every element to 0.
  const Tensor& zero_() const { return fill_(0); }
  /// Fills with numbers from `from` to `to`, excluding `to`; torch's bits, as all random fills.
  const Tensor& uniform_(double from = 0.0, double to = 1.0,
                         const cuda::OptionalGenerator& generator = std::nullopt) const {
    detail::check(::sconce_tensor_uniform(get(), from, to, detail::handle(generator)));
    return *this;
  }
  /// Fills with normally distributed numbers.
  const Tensor& normal_(double mean = 0.0, double std = 1.0,
                        const cuda::OptionalGenerator& generator = std::nullopt) const {
    detail::check(::sconce_tensor_normal(get(), mean, std, detail::handle(generator)));
    return *this;
  }
  /// Fills with numbers whose logarithm is normally distributed.
  const Tensor& log_normal_(double mean = 1.0, double std = 2.0,
                            const cuda::OptionalGenerator& generator = std::nullopt) const {
    detail::check(::sconce_tensor_log_normal(get(), mean, std, detail::handle(generator)));
    return *this;
  }
  /// Fills with exponentially distributed numbers.
  const Tensor& exponential_(double lambd = 1.0,
                             const cuda::OptionalGenerator& generator = std::nullopt) const {
    detail::check(::sconce_tensor_exponential(get(), lambd, detail::handle(generator)));
    return *this;
  }
  /// Fills with numbers of a Cauchy distribution.
  const Tensor& cauchy_(double median = 0.0, double sigma = 1.0,
                        const cuda::OptionalGenerator& generator = std::nullopt) const {
    detail::check(::sconce_tensor_cauchy(get(), median, sigma, detail::handle(generator)));
    return *this;
  }
  /// Fills with numbers of a geometric distribution.
  const Tensor& geometric_(double p,
                           const cuda::OptionalGenerator& generator = std::nullopt) const {
    detail::check(::sconce_tensor_geometric(get(), p, detail::handle(generator)));
    return *this;
  }
  /// Fills with 1, with a probability of `p`, or 0.
  const Tensor& bernoulli_(double p = 0.5,
                           const cuda::OptionalGenerator& generator = std::nullopt) const {
    detail::check(::sconce_tensor_bernoulli(get(), p, detail::handle(generator)));
    return *this;
  }
  /// Fills with whole numbers from `from` to `to`, excluding `to`.
  const Tensor& random_(std::int64_t from, std::int64_t to,
                        const cuda::OptionalGenerator& generator = std::nullopt) const {
    detail::check(::sconce_tensor_random_integers(get(), from, to, detail::handle(generator)));
    return *this;
  }
  /// Fills with whole numbers of the range of the type.
  const Tensor& random_(const cuda::OptionalGenerator& generator = std::nullopt) const {
    detail::check(::sconce_tensor_random(get(), detail::handle(generator)));
    return *this;
  }

  /// @}
  /// \name Views, which share the memory
  /// @{

  /// One index of the first dimension; negative ones count from the end.
  [[nodiscard]] Tensor operator[](std::int64_t index) const { return select(0, index); }
  /// The elements with other sizes, of which one may be -1.
  [[nodiscard]] Tensor view(IntArrayRef size) const {
    return detail::tensor_of([&](sconce_tensor** out) {
      return ::sconce_tensor_view(get(), size.data(), size.size(), out);
    });
  }
  /// The elements with the sizes of another tensor.
  [[nodiscard]] Tensor view_as(const TensorBase& other) const { return view(other.sizes()); }
  /// The elements with other sizes: a view where possible, else a copy.
  [[nodiscard]] Tensor reshape(IntArrayRef shape) const {
    return detail::tensor_of([&](sconce_tensor** out) {
      return ::sconce_tensor_reshape(get(), shape.data(), shape.size(), out);
    });
  }
  /// The memory with sizes, strides and offset of the caller's choice.
  [[nodiscard]] Tensor as_strided(IntArrayRef size, IntArrayRef stride,
                                  std::optional<std::int64_t> storage_offset = std::nullopt) const {
    if (size.size() != stride.size()) {
      detail::throw_other_rank(size.size(), stride.size());
    }
    return detail::tensor_of([&](sconce_tensor** out) {
      return ::sconce_tensor_as_strided(get(), size.data(), stride.data(), size.size(),
                                        storage_offset.value_or(-1), out);
    });
  }
  /// `length` indices of a dimension from `start` on.
  [[nodiscard]] Tensor narrow(std::int64_t dim, std::int64_t start, std::int64_t length) const {
    return detail::tensor_of([&](sconce_tensor** out) {
      return ::sconce_tensor_narrow(get(), dim, start, length, out);
    });
  }
  /// Every `step`-th index of a dimension from `start` up to, excluding, `end`.
  [[nodiscard]] Tensor slice(std::int64_t dim = 0, std::optional<std::int64_t> start = std::nullopt,
                             std::optional<std::int64_t> end = std::nullopt,
                             std::int64_t step = 1) const {
    const std::int64_t all = std::numeric_limits<std::int64_t>::max();
    return detail::tensor_of([&](sconce_tensor** out) {
      return ::sconce_tensor_slice(get(), dim, start.value_or(0), end.value_or(all), step, out);
    });
  }
  /// One index of a dimension, which goes.
  [[nodiscard]] Tensor select(std::int64_t dim, std::int64_t index) const {
    return detail::tensor_of(
        [&](sconce_tensor** out) { return ::sconce_tensor_select(get(), dim, index, out); });
  }
  /// Two dimensions exchanged.
  [[nodiscard]] Tensor transpose(std::int64_t dim0, std::int64_t dim1) const {
    return detail::tensor_of(
        [&](sconce_tensor** out) { return ::sconce_tensor_transpose(get(), dim0, dim1, out); });
  }
  /// A matrix transposed; a vector stays as it is.
  [[nodiscard]] Tensor t() const {
    const std::int64_t rank = dim();
    if (rank > 2) {
      throw Error(
          SCONCE_ERROR_INVALID_ARGUMENT,
          "t() expects a tensor with <= 2 dimensions, but self is " + std::to_string(rank) + "D");
    }
    return transpose(0, rank < 2 ? 0 : 1);
  }
  /// The dimensions in another order.
  [[nodiscard]] Tensor permute(IntArrayRef dims) const {
    return detail::tensor_of([&](sconce_tensor** out) {
      return ::sconce_tensor_permute(get(), dims.data(), dims.size(), out);
    });
  }
  /// Dimensions of one element repeated; -1 keeps a size.
  [[nodiscard]] Tensor expand(IntArrayRef size) const {
    return detail::tensor_of([&](sconce_tensor** out) {
      return ::sconce_tensor_expand(get(), size.data(), size.size(), out);
    });
  }
  /// Dimensions of one element repeated to the sizes of another tensor.
  [[nodiscard]] Tensor expand_as(const TensorBase& other) const { return expand(other.sizes()); }
  /// Without the dimensions of one element.
  [[nodiscard]] Tensor squeeze() const {
    return detail::tensor_of(
        [&](sconce_tensor** out) { return ::sconce_tensor_squeeze(get(), nullptr, 0, out); });
  }
  /// Without those of the given dimensions that have one element.
  [[nodiscard]] Tensor squeeze(IntArrayRef dims) const {
    const std::int64_t none = 0;
    return detail::tensor_of([&](sconce_tensor** out) {
      return ::sconce_tensor_squeeze(get(), dims.empty() ? &none : dims.data(), dims.size(), out);
    });
  }
  /// With one more dimension, of one element.
  [[nodiscard]] Tensor unsqueeze(std::int64_t dim) const {
    return detail::tensor_of(
        [&](sconce_tensor** out) { return ::sconce_tensor_unsqueeze(get(), dim, out); });
  }
  /// The dimensions from `start_dim` to `end_dim`, both included, as one: a view where possible,
  /// else a copy.
  [[nodiscard]] Tensor flatten(std::int64_t start_dim = 0, std::int64_t end_dim = -1) const {
    return detail::tensor_of([&](sconce_tensor** out) {
      return ::sconce_tensor_flatten(get(), start_dim, end_dim, out);
    });
  }
  /// One dimension as several.
  [[nodiscard]] Tensor unflatten(std::int64_t dim, IntArrayRef sizes) const {
    return detail::tensor_of([&](sconce_tensor** out) {
      return ::sconce_tensor_unflatten(get(), dim, sizes.data(), sizes.size(), out);
    });
  }
  /// The diagonal of two dimensions, as the last dimension.
  [[nodiscard]] Tensor diagonal(std::int64_t offset = 0, std::int64_t dim1 = 0,
                                std::int64_t dim2 = 1) const {
    return detail::tensor_of([&](sconce_tensor** out) {
      return ::sconce_tensor_diagonal(get(), offset, dim1, dim2, out);
    });
  }
  /// At most `chunks` parts of a dimension, of equal size.
  [[nodiscard]] std::vector<Tensor> chunk(std::int64_t chunks, std::int64_t dim = 0) const {
    // A dimension of no elements gives as many empty parts as were asked for.
    const std::int64_t all = size(dim);
    const std::int64_t most = all == 0 ? std::max<std::int64_t>(chunks, 1) : all;
    const auto room = static_cast<std::size_t>(std::clamp<std::int64_t>(chunks, 1, most));
    return detail::tensors_of(room, [&](sconce_tensor** out, std::size_t* count) {
      return ::sconce_tensor_chunk(get(), chunks, dim, out, room, count);
    });
  }
  /// Parts of a dimension of `split_size` indices each.
  [[nodiscard]] std::vector<Tensor> split(std::int64_t split_size, std::int64_t dim = 0) const {
    const std::int64_t all = size(dim);
    const std::int64_t parts = split_size > 0 ? all / split_size + (all % split_size != 0) : 1;
    const auto room = static_cast<std::size_t>(std::max<std::int64_t>(parts, 1));
    return detail::tensors_of(room, [&](sconce_tensor** out, std::size_t* count) {
      return ::sconce_tensor_split(get(), split_size, dim, out, room, count);
    });
  }
  /// Parts of a dimension of the given sizes.
  [[nodiscard]] std::vector<Tensor> split_with_sizes(IntArrayRef split_sizes,
                                                     std::int64_t dim = 0) const {
    const std::size_t room = split_sizes.size();
    return detail::tensors_of(room, [&](sconce_tensor** out, std::size_t* count) {
      return ::sconce_tensor_split_with_sizes(get(), split_sizes.data(), split_sizes.size(), dim,
                                              out, room, count);
    });
  }
  /// Parts of a dimension of the given sizes.
  [[nodiscard]] std::vector<Tensor> split(IntArrayRef split_sizes, std::int64_t dim = 0) const {
    return split_with_sizes(split_sizes, dim);
  }
  /// A view for each index of a dimension, which goes.
  [[nodiscard]] std::vector<Tensor> unbind(std::int64_t dim = 0) const {
    const auto room = static_cast<std::size_t>(size(dim));
    return detail::tensors_of(room, [&](sconce_tensor** out, std::size_t* count) {
      return ::sconce_tensor_unbind(get(), dim, out, room, count);
    });
  }

  /// @}
  /// \name Operations on each element
  /// @{

  /// `-x` of each element.
  [[nodiscard]] Tensor neg() const { return unary(SCONCE_UNARY_NEG); }
  /// `neg` in place.
  const Tensor& neg_() const { return unary_(SCONCE_UNARY_NEG); }
  /// The absolute value of each element; of complex numbers the real magnitude.
  [[nodiscard]] Tensor abs() const { return unary(SCONCE_UNARY_ABS); }
  /// `abs` in place.
  const Tensor& abs_() const { return unary_(SCONCE_UNARY_ABS); }
  /// -1, 0 or 1 of each element.
  [[nodiscard]] Tensor sign() const { return unary(SCONCE_UNARY_SIGN); }
  /// `sign` in place.
  const Tensor& sign_() const { return unary_(SCONCE_UNARY_SIGN); }
  /// The exponential function of each element.
  [[nodiscard]] Tensor exp() const { return unary(SCONCE_UNARY_EXP); }
  /// `exp` in place.
  const Tensor& exp_() const { return unary_(SCONCE_UNARY_EXP); }
  /// The natural logarithm of each element.
  [[nodiscard]] Tensor log() const { return unary(SCONCE_UNARY_LOG); }
  /// `log` in place.
  const Tensor& log_() const { return unary_(SCONCE_UNARY_LOG); }
  /// The square root of each element.
  [[nodiscard]] Tensor sqrt() const { return unary(SCONCE_UNARY_SQRT); }
  /// `sqrt` in place.
  const Tensor& sqrt_() const { return unary_(SCONCE_UNARY_SQRT); }
  /// The reciprocal of the square root of each element.
  [[nodiscard]] Tensor rsqrt() const { return unary(SCONCE_UNARY_RSQRT); }
  /// `rsqrt` in place.
  const Tensor& rsqrt_() const { return unary_(SCONCE_UNARY_RSQRT); }
  /// `1 / x` of each element.
  [[nodiscard]] Tensor reciprocal() const { return unary(SCONCE_UNARY_RECIPROCAL); }
  /// `reciprocal` in place.
  const Tensor& reciprocal_() const { return unary_(SCONCE_UNARY_RECIPROCAL); }
  /// The sine of each element.
  [[nodiscard]] Tensor sin() const { return unary(SCONCE_UNARY_SIN); }
  /// `sin` in place.
  const Tensor& sin_() const { return unary_(SCONCE_UNARY_SIN); }
  /// The cosine of each element.
  [[nodiscard]] Tensor cos() const { return unary(SCONCE_UNARY_COS); }
  /// `cos` in place.
  const Tensor& cos_() const { return unary_(SCONCE_UNARY_COS); }
  /// The hyperbolic tangent of each element.
  [[nodiscard]] Tensor tanh() const { return unary(SCONCE_UNARY_TANH); }
  /// `tanh` in place.
  const Tensor& tanh_() const { return unary_(SCONCE_UNARY_TANH); }
  /// `1 / (1 + exp(-x))` of each element.
  [[nodiscard]] Tensor sigmoid() const { return unary(SCONCE_UNARY_SIGMOID); }
  /// `sigmoid` in place.
  const Tensor& sigmoid_() const { return unary_(SCONCE_UNARY_SIGMOID); }
  /// `max(x, 0)` of each element.
  [[nodiscard]] Tensor relu() const { return unary(SCONCE_UNARY_RELU); }
  /// `relu` in place.
  const Tensor& relu_() const { return unary_(SCONCE_UNARY_RELU); }
  /// `x * sigmoid(x)` of each element.
  [[nodiscard]] Tensor silu() const { return unary(SCONCE_UNARY_SILU); }
  /// `silu` in place.
  const Tensor& silu_() const { return unary_(SCONCE_UNARY_SILU); }
  /// The error function of each element.
  [[nodiscard]] Tensor erf() const { return unary(SCONCE_UNARY_ERF); }
  /// `erf` in place.
  const Tensor& erf_() const { return unary_(SCONCE_UNARY_ERF); }
  /// The greatest integer not above each element.
  [[nodiscard]] Tensor floor() const { return unary(SCONCE_UNARY_FLOOR); }
  /// `floor` in place.
  const Tensor& floor_() const { return unary_(SCONCE_UNARY_FLOOR); }
  /// The least integer not below each element.
  [[nodiscard]] Tensor ceil() const { return unary(SCONCE_UNARY_CEIL); }
  /// `ceil` in place.
  const Tensor& ceil_() const { return unary_(SCONCE_UNARY_CEIL); }
  /// The nearest integer of each element, of two the even one.
  [[nodiscard]] Tensor round() const { return unary(SCONCE_UNARY_ROUND); }
  /// `round` in place.
  const Tensor& round_() const { return unary_(SCONCE_UNARY_ROUND); }
  /// Each element without its fraction.
  [[nodiscard]] Tensor trunc() const { return unary(SCONCE_UNARY_TRUNC); }
  /// `trunc` in place.
  const Tensor& trunc_() const { return unary_(SCONCE_UNARY_TRUNC); }
  /// Whether each element is 0.
  [[nodiscard]] Tensor logical_not() const { return unary(SCONCE_UNARY_LOGICAL_NOT); }
  /// `logical_not` in place.
  const Tensor& logical_not_() const { return unary_(SCONCE_UNARY_LOGICAL_NOT); }
  /// The complement of each element's bits.
  [[nodiscard]] Tensor bitwise_not() const { return unary(SCONCE_UNARY_BITWISE_NOT); }
  /// `bitwise_not` in place.
  const Tensor& bitwise_not_() const { return unary_(SCONCE_UNARY_BITWISE_NOT); }
  /// Whether each element is not a number.
  [[nodiscard]] Tensor isnan() const { return unary(SCONCE_UNARY_IS_NAN); }
  /// Whether each element is neither infinite nor NaN.
  [[nodiscard]] Tensor isfinite() const { return unary(SCONCE_UNARY_IS_FINITE); }
  /// Gaussian error linear units of each element.
  /// \param approximate `none`, or `tanh` for the approximation
  /// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` for any other text
  [[nodiscard]] Tensor gelu(std::string_view approximate = "none") const {
    return unary(detail::gelu_of(approximate));
  }
  /// Each element moved into bounds, which are numbers or tensors.
  [[nodiscard]] Tensor clamp(const std::optional<TensorOrScalar>& min = std::nullopt,
                             const std::optional<TensorOrScalar>& max = std::nullopt) const {
    return detail::tensor_of([&](sconce_tensor** out) {
      return ::sconce_tensor_clamp(get(), min ? min->tensor() : nullptr,
                                   min ? min->number() : nullptr, max ? max->tensor() : nullptr,
                                   max ? max->number() : nullptr, out);
    });
  }
  /// `clamp` in place.
  const Tensor& clamp_(const std::optional<TensorOrScalar>& min = std::nullopt,
                       const std::optional<TensorOrScalar>& max = std::nullopt) const {
    detail::check(::sconce_tensor_clamp_out(
        get(), min ? min->tensor() : nullptr, min ? min->number() : nullptr,
        max ? max->tensor() : nullptr, max ? max->number() : nullptr, get()));
    return *this;
  }

  /// @}
  /// \name Operations on pairs of elements: with a tensor, or with a number
  /// @{

  /// `x + alpha * y` of each pair of elements.
  [[nodiscard]] Tensor add(const TensorOrScalar& other, const Scalar& alpha = 1) const {
    return binary(SCONCE_BINARY_ADD, other, &alpha);
  }
  /// `add` in place.
  const Tensor& add_(const TensorOrScalar& other, const Scalar& alpha = 1) const {
    return binary_(SCONCE_BINARY_ADD, other, &alpha);
  }
  /// `x - alpha * y` of each pair of elements.
  [[nodiscard]] Tensor sub(const TensorOrScalar& other, const Scalar& alpha = 1) const {
    return binary(SCONCE_BINARY_SUB, other, &alpha);
  }
  /// `sub` in place.
  const Tensor& sub_(const TensorOrScalar& other, const Scalar& alpha = 1) const {
    return binary_(SCONCE_BINARY_SUB, other, &alpha);
  }
  /// `x * y` of each pair of elements.
  [[nodiscard]] Tensor mul(const TensorOrScalar& other) const {
    return binary(SCONCE_BINARY_MUL, other);
  }
  /// `mul` in place.
  const Tensor& mul_(const TensorOrScalar& other) const {
    return binary_(SCONCE_BINARY_MUL, other);
  }
  /// `x / y` of each pair of elements; of integers a real number.
  [[nodiscard]] Tensor div(const TensorOrScalar& other) const {
    return binary(SCONCE_BINARY_DIV, other);
  }
  /// `div` in place.
  const Tensor& div_(const TensorOrScalar& other) const {
    return binary_(SCONCE_BINARY_DIV, other);
  }
  /// `floor(x / y)` of each pair of elements.
  [[nodiscard]] Tensor floor_divide(const TensorOrScalar& other) const {
    return binary(SCONCE_BINARY_FLOOR_DIVIDE, other);
  }
  /// `floor_divide` in place.
  const Tensor& floor_divide_(const TensorOrScalar& other) const {
    return binary_(SCONCE_BINARY_FLOOR_DIVIDE, other);
  }
  /// `x - y * floor(x / y)` of each pair of elements.
  [[nodiscard]] Tensor remainder(const TensorOrScalar& other) const {
    return binary(SCONCE_BINARY_REMAINDER, other);
  }
  /// `remainder` in place.
  const Tensor& remainder_(const TensorOrScalar& other) const {
    return binary_(SCONCE_BINARY_REMAINDER, other);
  }
  /// `x` to the power of `y` of each pair of elements.
  [[nodiscard]] Tensor pow(const TensorOrScalar& other) const {
    return binary(SCONCE_BINARY_POW, other);
  }
  /// `pow` in place.
  const Tensor& pow_(const TensorOrScalar& other) const {
    return binary_(SCONCE_BINARY_POW, other);
  }
  /// Whether `x == y`, of each pair of elements.
  [[nodiscard]] Tensor eq(const TensorOrScalar& other) const {
    return binary(SCONCE_BINARY_EQ, other);
  }
  /// `eq` in place.
  const Tensor& eq_(const TensorOrScalar& other) const { return binary_(SCONCE_BINARY_EQ, other); }
  /// Whether `x != y`, of each pair of elements.
  [[nodiscard]] Tensor ne(const TensorOrScalar& other) const {
    return binary(SCONCE_BINARY_NE, other);
  }
  /// `ne` in place.
  const Tensor& ne_(const TensorOrScalar& other) const { return binary_(SCONCE_BINARY_NE, other); }
  /// Whether `x < y`, of each pair of elements.
  [[nodiscard]] Tensor lt(const TensorOrScalar& other) const {
    return binary(SCONCE_BINARY_LT, other);
  }
  /// `lt` in place.
  const Tensor& lt_(const TensorOrScalar& other) const { return binary_(SCONCE_BINARY_LT, other); }
  /// Whether `x <= y`, of each pair of elements.
  [[nodiscard]] Tensor le(const TensorOrScalar& other) const {
    return binary(SCONCE_BINARY_LE, other);
  }
  /// `le` in place.
  const Tensor& le_(const TensorOrScalar& other) const { return binary_(SCONCE_BINARY_LE, other); }
  /// Whether `x > y`, of each pair of elements.
  [[nodiscard]] Tensor gt(const TensorOrScalar& other) const {
    return binary(SCONCE_BINARY_GT, other);
  }
  /// `gt` in place.
  const Tensor& gt_(const TensorOrScalar& other) const { return binary_(SCONCE_BINARY_GT, other); }
  /// Whether `x >= y`, of each pair of elements.
  [[nodiscard]] Tensor ge(const TensorOrScalar& other) const {
    return binary(SCONCE_BINARY_GE, other);
  }
  /// `ge` in place.
  const Tensor& ge_(const TensorOrScalar& other) const { return binary_(SCONCE_BINARY_GE, other); }
  /// The bits that are set in both, of each pair of elements.
  [[nodiscard]] Tensor bitwise_and(const TensorOrScalar& other) const {
    return binary(SCONCE_BINARY_BITWISE_AND, other);
  }
  /// `bitwise_and` in place.
  const Tensor& bitwise_and_(const TensorOrScalar& other) const {
    return binary_(SCONCE_BINARY_BITWISE_AND, other);
  }
  /// The bits that are set in one or both, of each pair of elements.
  [[nodiscard]] Tensor bitwise_or(const TensorOrScalar& other) const {
    return binary(SCONCE_BINARY_BITWISE_OR, other);
  }
  /// `bitwise_or` in place.
  const Tensor& bitwise_or_(const TensorOrScalar& other) const {
    return binary_(SCONCE_BINARY_BITWISE_OR, other);
  }
  /// The bits that are set in one only, of each pair of elements.
  [[nodiscard]] Tensor bitwise_xor(const TensorOrScalar& other) const {
    return binary(SCONCE_BINARY_BITWISE_XOR, other);
  }
  /// `bitwise_xor` in place.
  const Tensor& bitwise_xor_(const TensorOrScalar& other) const {
    return binary_(SCONCE_BINARY_BITWISE_XOR, other);
  }
  /// Whether neither is 0, of each pair of elements.
  [[nodiscard]] Tensor logical_and(const TensorOrScalar& other) const {
    return binary(SCONCE_BINARY_LOGICAL_AND, other);
  }
  /// `logical_and` in place.
  const Tensor& logical_and_(const TensorOrScalar& other) const {
    return binary_(SCONCE_BINARY_LOGICAL_AND, other);
  }
  /// Whether one or both are not 0, of each pair of elements.
  [[nodiscard]] Tensor logical_or(const TensorOrScalar& other) const {
    return binary(SCONCE_BINARY_LOGICAL_OR, other);
  }
  /// `logical_or` in place.
  const Tensor& logical_or_(const TensorOrScalar& other) const {
    return binary_(SCONCE_BINARY_LOGICAL_OR, other);
  }
  /// Whether one alone is not 0, of each pair of elements.
  [[nodiscard]] Tensor logical_xor(const TensorOrScalar& other) const {
    return binary(SCONCE_BINARY_LOGICAL_XOR, other);
  }
  /// `logical_xor` in place.
  const Tensor& logical_xor_(const TensorOrScalar& other) const {
    return binary_(SCONCE_BINARY_LOGICAL_XOR, other);
  }
  /// The lesser of each pair of elements; NaN if one is.
  [[nodiscard]] Tensor minimum(const TensorOrScalar& other) const {
    return binary(SCONCE_BINARY_MINIMUM, other);
  }
  /// The greater of each pair of elements; NaN if one is.
  [[nodiscard]] Tensor maximum(const TensorOrScalar& other) const {
    return binary(SCONCE_BINARY_MAXIMUM, other);
  }
  /// `x / y` of each pair of elements, rounded.
  /// \param other the divisor
  /// \param rounding_mode `trunc` towards 0, or `floor` downwards
  /// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` for any other text
  [[nodiscard]] Tensor div(const TensorOrScalar& other, std::string_view rounding_mode) const {
    return binary(detail::rounded_division_of(rounding_mode), other);
  }

  /// @}
  /// \name Reductions, and what runs along a dimension
  /// @{

  /// The sum of all elements.
  [[nodiscard]] Tensor sum(std::optional<ScalarType> dtype = std::nullopt) const {
    return reduce(SCONCE_REDUCE_SUM, {}, false, dtype);
  }
  /// Sums over dimensions.
  [[nodiscard]] Tensor sum(IntArrayRef dim, bool keepdim = false,
                           std::optional<ScalarType> dtype = std::nullopt) const {
    return reduce(SCONCE_REDUCE_SUM, dim, keepdim, dtype);
  }
  /// The mean of all elements.
  [[nodiscard]] Tensor mean(std::optional<ScalarType> dtype = std::nullopt) const {
    return reduce(SCONCE_REDUCE_MEAN, {}, false, dtype);
  }
  /// Means over dimensions.
  [[nodiscard]] Tensor mean(IntArrayRef dim, bool keepdim = false,
                            std::optional<ScalarType> dtype = std::nullopt) const {
    return reduce(SCONCE_REDUCE_MEAN, dim, keepdim, dtype);
  }
  /// The product of all elements.
  [[nodiscard]] Tensor prod(std::optional<ScalarType> dtype = std::nullopt) const {
    return reduce(SCONCE_REDUCE_PROD, {}, false, dtype);
  }
  /// Products over a dimension.
  [[nodiscard]] Tensor prod(std::int64_t dim, bool keepdim = false,
                            std::optional<ScalarType> dtype = std::nullopt) const {
    return reduce(SCONCE_REDUCE_PROD, dim, keepdim, dtype);
  }
  /// The greatest elements over dimensions; without any, over all. NaN if one is.
  [[nodiscard]] Tensor amax(IntArrayRef dim = {}, bool keepdim = false) const {
    return reduce(SCONCE_REDUCE_AMAX, dim, keepdim);
  }
  /// The least elements over dimensions; without any, over all. NaN if one is.
  [[nodiscard]] Tensor amin(IntArrayRef dim = {}, bool keepdim = false) const {
    return reduce(SCONCE_REDUCE_AMIN, dim, keepdim);
  }
  /// The greatest element.
  [[nodiscard]] Tensor max() const { return amax(); }
  /// The least element.
  [[nodiscard]] Tensor min() const { return amin(); }
  /// The index of the greatest element of a dimension, or of all elements.
  [[nodiscard]] Tensor argmax(std::optional<std::int64_t> dim = std::nullopt,
                              bool keepdim = false) const {
    return reduce(SCONCE_REDUCE_ARGMAX, dim ? IntArrayRef(*dim) : IntArrayRef(), keepdim);
  }
  /// The index of the least element of a dimension, or of all elements.
  [[nodiscard]] Tensor argmin(std::optional<std::int64_t> dim = std::nullopt,
                              bool keepdim = false) const {
    return reduce(SCONCE_REDUCE_ARGMIN, dim ? IntArrayRef(*dim) : IntArrayRef(), keepdim);
  }
  /// Whether no element is 0.
  [[nodiscard]] Tensor all() const { return reduce(SCONCE_REDUCE_ALL, {}, false); }
  /// Whether no element is 0, over dimensions.
  [[nodiscard]] Tensor all(IntArrayRef dim, bool keepdim = false) const {
    return reduce(SCONCE_REDUCE_ALL, dim, keepdim);
  }
  /// Whether an element is not 0.
  [[nodiscard]] Tensor any() const { return reduce(SCONCE_REDUCE_ANY, {}, false); }
  /// Whether an element is not 0, over dimensions.
  [[nodiscard]] Tensor any(IntArrayRef dim, bool keepdim = false) const {
    return reduce(SCONCE_REDUCE_ANY, dim, keepdim);
  }
  /// `exp(x) / sum(exp(x))` along a dimension.
  [[nodiscard]] Tensor softmax(std::int64_t dim,
                               std::optional<ScalarType> dtype = std::nullopt) const {
    return along(SCONCE_LINE_SOFTMAX, dim, dtype);
  }
  /// The logarithm of `softmax`.
  [[nodiscard]] Tensor log_softmax(std::int64_t dim,
                                   std::optional<ScalarType> dtype = std::nullopt) const {
    return along(SCONCE_LINE_LOG_SOFTMAX, dim, dtype);
  }
  /// Running sums along a dimension.
  [[nodiscard]] Tensor cumsum(std::int64_t dim,
                              std::optional<ScalarType> dtype = std::nullopt) const {
    return along(SCONCE_LINE_CUMSUM, dim, dtype);
  }
  /// Running products along a dimension.
  [[nodiscard]] Tensor cumprod(std::int64_t dim,
                               std::optional<ScalarType> dtype = std::nullopt) const {
    return along(SCONCE_LINE_CUMPROD, dim, dtype);
  }
  /// The elements sorted along a dimension, and where each was. Equal elements keep their order.
  [[nodiscard]] std::tuple<Tensor, Tensor> sort(std::int64_t dim = -1,
                                                bool descending = false) const {
    sconce_tensor* values = nullptr;
    sconce_tensor* indices = nullptr;
    detail::check(::sconce_tensor_sort(get(), dim, descending, &values, &indices));
    return {adopt(values), adopt(indices)};
  }
  /// The elements at the indices that a vector of integers lists.
  [[nodiscard]] Tensor index_select(std::int64_t dim, const TensorBase& index) const {
    return detail::tensor_of([&](sconce_tensor** out) {
      return ::sconce_tensor_index_select(get(), dim, index.get(), out);
    });
  }

  /// @}
  /// \name Products
  /// @{

  /// The product of vectors, matrices or batches of matrices.
  [[nodiscard]] Tensor matmul(const TensorBase& other) const {
    return detail::tensor_of(
        [&](sconce_tensor** out) { return ::sconce_tensor_matmul(get(), other.get(), out); });
  }
  /// The product of two matrices.
  [[nodiscard]] Tensor mm(const TensorBase& mat2) const {
    detail::check_matrices(*this, mat2);
    return matmul(mat2);
  }
  /// The products of two batches of matrices.
  [[nodiscard]] Tensor bmm(const TensorBase& mat2) const {
    return detail::tensor_of(
        [&](sconce_tensor** out) { return ::sconce_tensor_bmm(get(), mat2.get(), out); });
  }
  /// `beta * self + alpha * (mat1 @ mat2)`.
  [[nodiscard]] Tensor addmm(const TensorBase& mat1, const TensorBase& mat2, const Scalar& beta = 1,
                             const Scalar& alpha = 1) const {
    const double first = beta.toDouble();
    const double second = alpha.toDouble();
    return detail::tensor_of([&](sconce_tensor** out) {
      return ::sconce_tensor_addmm(get(), mat1.get(), mat2.get(), first, second, out);
    });
  }

  /// @}
  /// \name Comparisons of whole tensors, which wait for the device
  /// @{

  /// Whether both have the same shape and equal elements.
  [[nodiscard]] bool equal(const TensorBase& other) const {
    bool equal = false;
    detail::check(::sconce_tensor_equal(get(), other.get(), &equal));
    return equal;
  }
  /// Whether elements differ by at most `atol + rtol * |other|`.
  [[nodiscard]] bool allclose(const TensorBase& other, double rtol = 1e-5, double atol = 1e-8,
                              bool equal_nan = false) const {
    bool close = false;
    detail::check(::sconce_tensor_allclose(get(), other.get(), rtol, atol, equal_nan, &close));
    return close;
  }

  /// @}

 private:
  explicit constexpr Tensor(sconce_tensor* tensor) noexcept : TensorBase(tensor) {}

  /// Options with this tensor's type and device where they set none.
  [[nodiscard]] TensorOptions like(const TensorOptions& options) const {
    TensorOptions result = options;
    if (!options.dtype_opt()) {
      result = result.dtype(dtype());
    }
    if (!options.device_opt()) {
      result = result.device(device());
    }
    return result;
  }

  [[nodiscard]] Tensor unary(std::int32_t operation) const {
    return detail::tensor_of(
        [&](sconce_tensor** out) { return ::sconce_tensor_unary(operation, get(), nullptr, out); });
  }
  const Tensor& unary_(std::int32_t operation) const {
    detail::check(::sconce_tensor_unary(operation, get(), get(), nullptr));
    return *this;
  }
  [[nodiscard]] Tensor binary(std::int32_t operation, const TensorOrScalar& other,
                              const Scalar* alpha = nullptr) const {
    return detail::binary_of(operation, *this, other, alpha);
  }
  const Tensor& binary_(std::int32_t operation, const TensorOrScalar& other,
                        const Scalar* alpha = nullptr) const {
    const TensorOrScalar self(*this);
    detail::check(::sconce_tensor_binary(operation, self.tensor(), nullptr, other.tensor(),
                                         other.number(), alpha != nullptr ? alpha->get() : nullptr,
                                         self.tensor(), nullptr));
    return *this;
  }
  [[nodiscard]] Tensor reduce(std::int32_t operation, IntArrayRef dims, bool keepdim,
                              std::optional<ScalarType> dtype = std::nullopt) const {
    return detail::tensor_of([&](sconce_tensor** out) {
      return ::sconce_tensor_reduce(operation, get(), dims.empty() ? nullptr : dims.data(),
                                    dims.size(), keepdim, detail::number_of(dtype), out);
    });
  }
  [[nodiscard]] Tensor along(std::int32_t operation, std::int64_t dim,
                             std::optional<ScalarType> dtype) const {
    return detail::tensor_of([&](sconce_tensor** out) {
      return ::sconce_tensor_along(operation, get(), dim, detail::number_of(dtype), out);
    });
  }
};

}  // namespace v0
}  // namespace sconce

namespace sconce {
inline namespace v0 {
namespace detail {

template <class Call>
Tensor tensor_of(Call&& call) {
  sconce_tensor* tensor = nullptr;
  check(call(&tensor));
  return Tensor::adopt(tensor);
}

template <class Call>
std::vector<Tensor> tensors_of(std::size_t room, Call&& call) {
  // Objects first: nothing throws between the call and their ownership.
  std::vector<Tensor> tensors(room);
  std::vector<sconce_tensor*> handles(std::max<std::size_t>(room, 1));
  std::size_t count = 0;
  check(call(handles.data(), &count));
  for (std::size_t index = 0; index < count; ++index) {
    tensors[index] = Tensor::adopt(handles[index]);
  }
  tensors.resize(count);
  return tensors;
}

inline Tensor binary_of(std::int32_t operation, const TensorOrScalar& a, const TensorOrScalar& b,
                        const Scalar* alpha) {
  return tensor_of([&](sconce_tensor** out) {
    return ::sconce_tensor_binary(operation, a.tensor(), a.number(), b.tensor(), b.number(),
                                  alpha != nullptr ? alpha->get() : nullptr, nullptr, out);
  });
}

}  // namespace detail
}  // namespace v0
}  // namespace sconce

namespace sconce {
inline namespace v0 {

/// Returns a tensor as torch prints it in Python, such as `tensor([1., 2.], device='cuda:0')`.
/// Waits for its device.
[[nodiscard]] inline std::string to_string(const TensorBase& tensor) {
  if (tensor.get() == nullptr) {
    return "[ Tensor (undefined) ]";
  }
  return detail::text_of(
      [&](char** text) { return ::sconce_tensor_to_string(tensor.get(), text); });
}

/// Writes a tensor as torch prints it in Python. Waits for its device.
template <class Char, class Traits>
std::basic_ostream<Char, Traits>& operator<<(std::basic_ostream<Char, Traits>& out,
                                             const TensorBase& tensor) {
  return out << to_string(tensor).c_str();
}

}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_TENSOR_BODY_HPP
