/// \file
/// `torch::nn::functional::pad` and its options. Programs that call it link with libsconce_torch.
/// Part of `<sconce/compat/c10.hpp>`.
#ifndef SCONCE_COMPAT_TENSOR_FUNCTIONAL_HPP
#define SCONCE_COMPAT_TENSOR_FUNCTIONAL_HPP

#include <cstdint>
#include <sconce/compat/core/macros.hpp>
#include <sconce/compat/tensor/operations.hpp>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace sconce {
inline namespace v0 {
namespace compat {
namespace torch {

/// \cond
namespace enumtype {
struct kConstant {};
struct kReflect {};
struct kReplicate {};
struct kCircular {};
}  // namespace enumtype
/// \endcond

inline constexpr enumtype::kConstant kConstant;    ///< borders of one value
inline constexpr enumtype::kReflect kReflect;      ///< borders that mirror the elements
inline constexpr enumtype::kReplicate kReplicate;  ///< borders that repeat the outermost elements
inline constexpr enumtype::kCircular kCircular;    ///< borders of the elements of the other end

namespace nn {
namespace functional {

/// What `pad` does. Corresponds to `torch::nn::functional::PadFuncOptions`.
class PadFuncOptions {
 public:
  /// A kind of border.
  using mode_t = std::variant<enumtype::kConstant, enumtype::kReflect, enumtype::kReplicate,
                              enumtype::kCircular>;

  /// The sizes of the borders: before and behind the last dimension, then those of the one before.
  PadFuncOptions(std::vector<std::int64_t> pad) : pad_(std::move(pad)) {}  // NOLINT: as torch's

  /// Sets the kind of border.
  PadFuncOptions& mode(mode_t mode) {
    mode_ = mode;
    return *this;
  }
  /// Sets the value of a constant border.
  PadFuncOptions& value(double value) {
    value_ = value;
    return *this;
  }
  [[nodiscard]] const std::vector<std::int64_t>& pad() const noexcept { return pad_; }  ///< sizes
  [[nodiscard]] const mode_t& mode() const noexcept { return mode_; }  ///< the kind of border
  [[nodiscard]] double value() const noexcept { return value_; }       ///< the value

 private:
  std::vector<std::int64_t> pad_;
  mode_t mode_ = enumtype::kConstant{};
  double value_ = 0;
};

/// The elements with borders. Corresponds to `torch::nn::functional::pad`.
/// \throws NotSupportedError for borders that are not of one value
[[nodiscard]] inline Tensor pad(const Tensor& input, const PadFuncOptions& options) {
  TORCH_CHECK(options.pad().size() % 2 == 0, "Padding length must be divisible by 2");
  TORCH_CHECK(options.pad().size() / 2 <= static_cast<std::size_t>(input.dim()),
              "Padding length too large");
  TORCH_CHECK_NOT_IMPLEMENTED(std::holds_alternative<enumtype::kConstant>(options.mode()),
                              "nn::functional::pad: only borders of one value (kConstant)");
  return at::constant_pad_nd(input, options.pad(), options.value());
}

}  // namespace functional
}  // namespace nn

namespace utils {

/// The elements of tensors of one type, one tensor after the other, as a vector.
[[nodiscard]] inline Tensor flatten_dense_tensors(const std::vector<Tensor>& tensors) {
  if (tensors.size() == 1) {
    return tensors[0].reshape(-1);
  }
  std::vector<Tensor> flat;
  flat.reserve(tensors.size());
  for (const Tensor& tensor : tensors) {
    flat.push_back(tensor.reshape(-1));
  }
  return ::sconce::cat(flat);
}
/// Views of a vector with the sizes of tensors, one after the other: the inverse of
/// `flatten_dense_tensors`.
[[nodiscard]] inline std::vector<Tensor> unflatten_dense_tensors(
    const Tensor& flat, const std::vector<Tensor>& tensors) {
  std::vector<Tensor> views;
  views.reserve(tensors.size());
  std::int64_t at = 0;
  for (const Tensor& tensor : tensors) {
    views.push_back(flat.narrow(0, at, tensor.numel()).view_as(tensor));
    at += tensor.numel();
  }
  return views;
}

}  // namespace utils
}  // namespace torch
}  // namespace compat
}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_COMPAT_TENSOR_FUNCTIONAL_HPP
