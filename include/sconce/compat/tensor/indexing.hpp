/// \file
/// Indices of several kinds as in Python, `x.index({Slice(0, 2), None, "..."})`, and the operations
/// of libsconce_torch on indices. Programs that call a method of this header link with
/// libsconce_torch. Part of `<sconce/compat/c10.hpp>`.
#ifndef SCONCE_COMPAT_TENSOR_INDEXING_HPP
#define SCONCE_COMPAT_TENSOR_INDEXING_HPP

#include <sconce/c/library.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <optional>
#include <ostream>
#include <sconce/compat/core/macros.hpp>
#include <sconce/tensor/body.hpp>
#include <sconce/tensor/factories.hpp>
#include <sconce/torch/op.hpp>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace sconce {
inline namespace v0 {

namespace compat {
namespace at {
/// Indices of several kinds. Corresponds to `torch::indexing`.
namespace indexing {

/// What an index is. Before the constants of two of the names: GCC warns otherwise.
enum class TensorIndexType : std::uint8_t {
  None,      ///< a new dimension
  Ellipsis,  ///< all dimensions that the others do not name
  SymInt,    ///< one index, whose dimension goes
  Boolean,   ///< a new dimension with one index or none
  Slice,     ///< several indices
  Tensor     ///< the indices that a tensor lists, or those for which a mask is true
};

/// A new dimension as an index, or a bound of a slice that is left out.
inline constexpr std::nullopt_t None = std::nullopt;

/// The type of `Ellipsis`.
struct EllipsisIndexType {};
/// All dimensions that the other indices do not name.
inline constexpr EllipsisIndexType Ellipsis{};

/// Every `step`-th index from `start` up to, excluding, `stop`; negative ones count from the end.
/// Corresponds to `torch::indexing::Slice`.
class Slice {
 public:
  /// A slice; bounds that are left out are the ends.
  /// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` if `step` is not positive
  explicit Slice(std::optional<std::int64_t> start = std::nullopt,
                 std::optional<std::int64_t> stop = std::nullopt,
                 std::optional<std::int64_t> step = std::nullopt)
      : start_(start), stop_(stop), step_(step.value_or(1)) {
    TORCH_CHECK_VALUE(step_ != 0, "slice step cannot be zero");
    TORCH_CHECK_VALUE(step_ > 0, "step must be greater than zero");
  }

  /// The first index.
  [[nodiscard]] std::int64_t start() const noexcept { return start_.value_or(0); }
  /// The end, after the last.
  [[nodiscard]] std::int64_t stop() const noexcept {
    return stop_.value_or(std::numeric_limits<std::int64_t>::max());
  }
  /// The distance between two indices.
  [[nodiscard]] std::int64_t step() const noexcept { return step_; }

 private:
  std::optional<std::int64_t> start_;
  std::optional<std::int64_t> stop_;
  std::int64_t step_;
};

/// An index of any kind. Corresponds to `at::indexing::TensorIndex`.
class TensorIndex {
 public:
  /// A new dimension.
  TensorIndex(std::nullopt_t) noexcept : type_(TensorIndexType::None) {}  // NOLINT: as torch's
  /// All dimensions that the others do not name.
  TensorIndex(EllipsisIndexType) noexcept  // NOLINT: as torch's
      : type_(TensorIndexType::Ellipsis) {}
  /// `"..."`, as `Ellipsis`.
  /// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` for any other text
  TensorIndex(const char* text) : type_(TensorIndexType::Ellipsis) {  // NOLINT: as torch's
    TORCH_CHECK_VALUE(std::strcmp(text, "...") == 0,
                      "Expected \"...\" to represent an ellipsis index, but got \"", text, "\"");
  }
  /// One index, or with a truth value all or none.
  template <class Integer, std::enable_if_t<std::is_integral_v<Integer>, int> = 0>
  TensorIndex(Integer number) noexcept  // NOLINT: as torch's
      : type_(std::is_same_v<Integer, bool> ? TensorIndexType::Boolean : TensorIndexType::SymInt),
        integer_(static_cast<std::int64_t>(number)) {}
  /// Several indices.
  TensorIndex(const Slice& slice) noexcept  // NOLINT: as torch's
      : type_(TensorIndexType::Slice), slice_(slice) {}
  /// The indices that a tensor lists, or a mask.
  TensorIndex(const ::sconce::Tensor& tensor)  // NOLINT: as torch's
      : type_(TensorIndexType::Tensor), tensor_(tensor) {}

  /// What it is.
  [[nodiscard]] TensorIndexType type() const noexcept { return type_; }
  [[nodiscard]] bool is_none() const noexcept {  ///< whether it is a new dimension
    return type_ == TensorIndexType::None;
  }
  [[nodiscard]] bool is_ellipsis() const noexcept {  ///< whether it is an ellipsis
    return type_ == TensorIndexType::Ellipsis;
  }
  [[nodiscard]] bool is_integer() const noexcept {  ///< whether it is one index
    return type_ == TensorIndexType::SymInt;
  }
  [[nodiscard]] bool is_boolean() const noexcept {  ///< whether it is a truth value
    return type_ == TensorIndexType::Boolean;
  }
  [[nodiscard]] bool is_slice() const noexcept {  ///< whether it is a slice
    return type_ == TensorIndexType::Slice;
  }
  [[nodiscard]] bool is_tensor() const noexcept {  ///< whether it is a tensor
    return type_ == TensorIndexType::Tensor;
  }
  [[nodiscard]] std::int64_t integer() const noexcept { return integer_; }  ///< the index
  [[nodiscard]] bool boolean() const noexcept { return integer_ != 0; }     ///< the truth value
  [[nodiscard]] const Slice& slice() const noexcept { return slice_; }      ///< the slice
  [[nodiscard]] const ::sconce::Tensor& tensor() const noexcept { return tensor_; }  ///< the tensor

 private:
  TensorIndexType type_;
  std::int64_t integer_ = 0;
  Slice slice_;
  ::sconce::Tensor tensor_;
};

}  // namespace indexing
}  // namespace at
}  // namespace compat

namespace detail {

namespace indexing = compat::at::indexing;

/// A view of a tensor, and the indices of tensors that remain, one for each dimension of the view.
struct IndexedView {
  Tensor view;
  std::vector<std::optional<Tensor>> indices;
};

/// A tensor for a truth value as an index: the index 0, or none.
inline Tensor index_of_truth(bool truth, Device device) {
  const TensorOptions options = TensorOptions(ScalarType::Long).device(device);
  return sconce::zeros(truth ? IntArrayRef(1) : IntArrayRef(0), options);
}

/// The dimensions that an index takes.
inline std::int64_t taken_dims(const indexing::TensorIndex& index) {
  if (index.is_none() || index.is_ellipsis() || index.is_boolean()) {
    return 0;
  }
  if (index.is_tensor()) {
    const ScalarType type = index.tensor().dtype();
    return type == ScalarType::Bool || type == ScalarType::Byte ? index.tensor().dim() : 1;
  }
  return 1;
}

/// Applies the indices that need no tensor of indices, as torch does.
inline IndexedView indexed_view(const Tensor& self,
                                const std::vector<indexing::TensorIndex>& indices) {
  TORCH_CHECK_INDEX(!indices.empty(),
                    "Passing an empty index list to Tensor::index() is not valid syntax");
  std::int64_t taken = 0;
  for (const indexing::TensorIndex& index : indices) {
    taken += taken_dims(index);
  }
  const std::int64_t rank = self.dim();
  if (taken > rank) {
    throw compat::c10::IndexError(
        SCONCE_ERROR_INVALID_ARGUMENT,
        "too many indices for tensor of dimension " + std::to_string(rank));
  }
  IndexedView result{self, {}};
  std::int64_t dim = 0;
  const auto record = [&](Tensor index) {
    result.indices.resize(static_cast<std::size_t>(dim) + 1);
    result.indices[static_cast<std::size_t>(dim)] = std::move(index);
    ++dim;
  };
  for (const indexing::TensorIndex& index : indices) {
    switch (index.type()) {
      case indexing::TensorIndexType::None:
        result.view = result.view.unsqueeze(dim++);
        break;
      case indexing::TensorIndexType::Ellipsis:
        dim += rank - taken;
        break;
      case indexing::TensorIndexType::SymInt:
        if (rank == 0) {
          throw compat::c10::IndexError(
              SCONCE_ERROR_INVALID_ARGUMENT,
              "invalid index of a 0-dim tensor: use item<T>() to read its number");
        }
        result.view = result.view.select(dim, index.integer());
        break;
      case indexing::TensorIndexType::Boolean:
        result.view = result.view.unsqueeze(dim);
        record(index_of_truth(index.boolean(), self.device()));
        break;
      case indexing::TensorIndexType::Slice:
        result.view = result.view.slice(dim, index.slice().start(), index.slice().stop(),
                                        index.slice().step());
        ++dim;
        break;
      case indexing::TensorIndexType::Tensor: {
        const Tensor& tensor = index.tensor();
        const ScalarType type = tensor.dtype();
        const bool mask = type == ScalarType::Bool || type == ScalarType::Byte;
        if (tensor.dim() != 0) {
          record(tensor);
        } else if (mask) {
          result.view = result.view.unsqueeze(dim);
          record(index_of_truth(tensor.item().toBool(), self.device()));
        } else {
          result.view = result.view.select(dim, tensor.item().toLong());
        }
        break;
      }
    }
  }
  return result;
}

/// An owner of the tensor of an operand.
inline Tensor tensor_of_operand(const TensorOrScalar& operand) {
  check(::sconce_tensor_retain(operand.tensor()));
  return Tensor::adopt(operand.tensor());
}

/// An operand as a tensor: a number becomes one of the type and device of another tensor.
inline Tensor operand_like(const Tensor& self, const TensorOrScalar& operand) {
  return operand.number() != nullptr ? sconce::full({}, Scalar(*operand.number()), self.options())
                                     : tensor_of_operand(operand);
}

/// A list of indices without the tensors that are undefined.
inline std::vector<std::optional<Tensor>> defined_indices(
    std::vector<std::optional<Tensor>> indices) {
  for (std::optional<Tensor>& index : indices) {
    if (index && !index->defined()) {
      index.reset();
    }
  }
  return indices;
}

inline void put_at_indices(const Tensor& self, const std::vector<std::optional<Tensor>>& indices,
                           const Tensor& values, bool accumulate) {
  static const torch::Operator put("aten::index_put_");
  put(self, indices, values, accumulate);
}

}  // namespace detail

inline Tensor Tensor::index(
    std::initializer_list<compat::at::indexing::TensorIndex> indices) const {
  return index(std::vector<compat::at::indexing::TensorIndex>(indices));
}
inline Tensor Tensor::index(const std::vector<compat::at::indexing::TensorIndex>& indices) const {
  const detail::IndexedView part = detail::indexed_view(*this, indices);
  if (part.indices.empty()) {
    // Never the tensor itself: assigning to the result must not change which tensor this is.
    return part.view.is_same(*this) ? part.view.detach() : part.view;
  }
  static const torch::Operator index("aten::index.Tensor");
  return index(part.view, part.indices).tensor();
}
inline const Tensor& Tensor::index_put_(
    std::initializer_list<compat::at::indexing::TensorIndex> indices, const Tensor& values) const {
  return index_put_(std::vector<compat::at::indexing::TensorIndex>(indices), values);
}
inline const Tensor& Tensor::index_put_(
    std::initializer_list<compat::at::indexing::TensorIndex> indices, const Scalar& value) const {
  return index_put_(std::vector<compat::at::indexing::TensorIndex>(indices), value);
}
inline const Tensor& Tensor::index_put_(
    const std::vector<compat::at::indexing::TensorIndex>& indices, const Tensor& values) const {
  const detail::IndexedView part = detail::indexed_view(*this, indices);
  // Leading dimensions of one element may be more than those of what is selected.
  Tensor source = values;
  const std::int64_t most = part.indices.empty() ? part.view.dim() : 1;
  while (source.dim() > most && source.size(0) == 1) {
    source = source.select(0, 0);
  }
  if (part.indices.empty()) {
    part.view.copy_(source);
  } else {
    detail::put_at_indices(part.view, part.indices, source, false);
  }
  return *this;
}
inline const Tensor& Tensor::index_put_(
    const std::vector<compat::at::indexing::TensorIndex>& indices, const Scalar& value) const {
  const detail::IndexedView part = detail::indexed_view(*this, indices);
  if (part.indices.empty()) {
    part.view.fill_(value);
  } else {
    detail::put_at_indices(part.view, part.indices, sconce::full({}, value, options()), false);
  }
  return *this;
}
inline const Tensor& Tensor::index_put_(const std::vector<std::optional<Tensor>>& indices,
                                        const Tensor& values, bool accumulate) const {
  detail::put_at_indices(*this, detail::defined_indices(indices), values, accumulate);
  return *this;
}
inline const Tensor& Tensor::index_fill_(std::int64_t dim, const TensorBase& index,
                                         const TensorOrScalar& value) const {
  static const torch::Operator fill("aten::index_fill_.int_Tensor");
  fill(*this, dim, index, detail::operand_like(*this, value));
  return *this;
}
inline const Tensor& Tensor::index_add_(std::int64_t dim, const TensorBase& index,
                                        const Tensor& source) const {
  const std::int64_t rank = this->dim();
  if (dim < -rank || dim >= rank) {
    detail::throw_no_such_dim(dim, static_cast<std::size_t>(rank));
  }
  std::vector<std::optional<Tensor>> indices(static_cast<std::size_t>(dim < 0 ? dim + rank : dim));
  indices.emplace_back(Tensor(index));
  detail::put_at_indices(*this, indices, source, true);
  return *this;
}
inline Tensor Tensor::gather(std::int64_t dim, const TensorBase& index, bool sparse_grad) const {
  static const torch::Operator operation("aten::gather");
  return operation(*this, dim, index, sparse_grad).tensor();
}
inline Tensor Tensor::scatter(std::int64_t dim, const TensorBase& index,
                              const TensorOrScalar& value) const {
  return clone(MemoryFormat::Contiguous).scatter_(dim, index, value);
}
inline const Tensor& Tensor::scatter_(std::int64_t dim, const TensorBase& index,
                                      const TensorOrScalar& value) const {
  if (value.number() != nullptr) {
    static const torch::Operator operation("aten::scatter_.value");
    operation(*this, dim, index, Scalar(*value.number()));
  } else {
    static const torch::Operator operation("aten::scatter_.src");
    operation(*this, dim, index, detail::tensor_of_operand(value));
  }
  return *this;
}
inline Tensor Tensor::scatter_add(std::int64_t dim, const TensorBase& index,
                                  const TensorBase& source) const {
  return clone(MemoryFormat::Contiguous).scatter_add_(dim, index, source);
}
inline const Tensor& Tensor::scatter_add_(std::int64_t dim, const TensorBase& index,
                                          const TensorBase& source) const {
  static const torch::Operator operation("aten::scatter_add_");
  operation(*this, dim, index, source);
  return *this;
}
inline Tensor Tensor::scatter_reduce(std::int64_t dim, const TensorBase& index,
                                     const TensorBase& source, std::string_view reduce,
                                     bool include_self) const {
  return clone(MemoryFormat::Contiguous).scatter_reduce_(dim, index, source, reduce, include_self);
}
inline const Tensor& Tensor::scatter_reduce_(std::int64_t dim, const TensorBase& index,
                                             const TensorBase& source, std::string_view reduce,
                                             bool include_self) const {
  static const torch::Operator operation("aten::scatter_reduce_.two");
  operation(*this, dim, index, source, std::string(reduce), include_self);
  return *this;
}

namespace compat {
namespace at {

/// \name Elements at indices
/// As the methods of `Tensor`.
/// @{

/// `tensor.index(indices)`.
[[nodiscard]] inline Tensor index(const Tensor& tensor,
                                  const std::vector<std::optional<Tensor>>& indices) {
  static const ::sconce::torch::Operator operation("aten::index.Tensor");
  return operation(tensor, ::sconce::detail::defined_indices(indices)).tensor();
}
/// `tensor.index_put_(indices, values, accumulate)`.
inline Tensor index_put_(const Tensor& tensor, const std::vector<std::optional<Tensor>>& indices,
                         const Tensor& values, bool accumulate = false) {
  return tensor.index_put_(indices, values, accumulate);
}
/// `tensor.gather(dim, index)`.
[[nodiscard]] inline Tensor gather(const Tensor& tensor, std::int64_t dim, const Tensor& index,
                                   bool sparse_grad = false) {
  return tensor.gather(dim, index, sparse_grad);
}
/// `tensor.scatter(dim, index, value)`.
[[nodiscard]] inline Tensor scatter(const Tensor& tensor, std::int64_t dim, const Tensor& index,
                                    const TensorOrScalar& value) {
  return tensor.scatter(dim, index, value);
}
/// `tensor.scatter_add(dim, index, source)`.
[[nodiscard]] inline Tensor scatter_add(const Tensor& tensor, std::int64_t dim, const Tensor& index,
                                        const Tensor& source) {
  return tensor.scatter_add(dim, index, source);
}
/// `tensor.scatter_reduce(dim, index, source, reduce)`.
[[nodiscard]] inline Tensor scatter_reduce(const Tensor& tensor, std::int64_t dim,
                                           const Tensor& index, const Tensor& source,
                                           std::string_view reduce, bool include_self = true) {
  return tensor.scatter_reduce(dim, index, source, reduce, include_self);
}

/// @}

}  // namespace at
}  // namespace compat
}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_COMPAT_TENSOR_INDEXING_HPP
