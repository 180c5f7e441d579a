/// \file
/// Arguments that are checked together, with ATen's messages. Part of `<sconce/compat/c10.hpp>`.
#ifndef SCONCE_COMPAT_TENSOR_ARGUMENTS_HPP
#define SCONCE_COMPAT_TENSOR_ARGUMENTS_HPP

#include <sconce/c/library.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <sconce/compat/core/macros.hpp>
#include <sconce/compat/tensor/lists.hpp>
#include <sconce/compat/tensor/types.hpp>
#include <sconce/tensor/class.hpp>

namespace sconce {
inline namespace v0 {
namespace compat {
namespace at {

/// A tensor with the name and the place of the argument that it is. The tensor must outlive it.
/// Corresponds to `at::TensorArg`.
struct TensorArg {
  const Tensor& tensor;  ///< the tensor
  const char* name;      ///< the name of the argument
  int pos;               ///< its place, from 1

  /// An argument.
  TensorArg(const Tensor& tensor_, const char* name_, int pos_)
      : tensor(tensor_), name(name_), pos(pos_) {}
  TensorArg(Tensor&&, const char*, int) = delete;  // the tensor would be gone
  /// The tensor.
  const Tensor* operator->() const noexcept { return &tensor; }
  /// The tensor.
  const Tensor& operator*() const noexcept { return tensor; }
};
/// The name of the function that checks. Corresponds to `at::CheckedFrom`.
using CheckedFrom = const char*;

/// \cond
inline std::ostream& operator<<(std::ostream& out, const TensorArg& argument) {
  if (argument.pos == 0) {
    return out << "'" << argument.name << "'";
  }
  return out << "argument #" << argument.pos << " '" << argument.name << "'";
}
// Compares each defined argument with the first one.
template <class Same>
void check_all_same(ArrayRef<TensorArg> arguments, Same&& same) {
  const TensorArg* first = nullptr;
  for (const TensorArg& argument : arguments) {
    if (!argument->defined()) {
      continue;
    }
    if (first != nullptr) {
      same(*first, argument);
    }
    first = first != nullptr ? first : &argument;
  }
}
/// \endcond

/// Refuses arguments that are not on one CUDA device. Corresponds to `at::checkSameGPU`.
inline void checkSameGPU(CheckedFrom from, const TensorArg& a, const TensorArg& b) {
  const bool first = a->is_cpu();
  const bool second = b->is_cpu();
  TORCH_CHECK(!first && !second,
              first ? compat::detail::joined("Tensor for ", a, " is on CPU, ") : std::string(),
              second ? compat::detail::joined("Tensor for ", b, " is on CPU, ") : std::string(),
              "but expected ", first && second ? "them" : "it",
              " to be on GPU (while checking arguments for ", from, ")");
  TORCH_CHECK(a->get_device() == b->get_device(), "Expected tensor for ", a,
              " to have the same device as tensor for ", b, "; but device ", a->get_device(),
              " does not equal ", b->get_device(), " (while checking arguments for ", from, ")");
}
/// `checkSameGPU` of several arguments. Corresponds to `at::checkAllSameGPU`.
inline void checkAllSameGPU(CheckedFrom from, ArrayRef<TensorArg> arguments) {
  for (const TensorArg& argument : arguments) {
    TORCH_CHECK(!argument->defined() || argument->is_cuda(), "Expected tensor for ", argument,
                " to be on GPU, but it is on CPU (while checking arguments for ", from, ")");
  }
  check_all_same(arguments,
                 [&](const TensorArg& a, const TensorArg& b) { checkSameGPU(from, a, b); });
}
/// Refuses arguments of two types. Corresponds to `at::checkSameType`.
inline void checkSameType(CheckedFrom from, const TensorArg& a, const TensorArg& b) {
  TORCH_CHECK(a->type() == b->type(), "Expected tensor for ", a,
              " to have the same type as tensor for ", b, "; but type ", a->toString(),
              " does not equal ", b->toString(), " (while checking arguments for ", from, ")");
}
/// `checkSameType` of several arguments. Corresponds to `at::checkAllSameType`.
inline void checkAllSameType(CheckedFrom from, ArrayRef<TensorArg> arguments) {
  check_all_same(arguments,
                 [&](const TensorArg& a, const TensorArg& b) { checkSameType(from, a, b); });
}
/// Refuses an argument of another type of elements. Corresponds to `at::checkScalarType`.
inline void checkScalarType(CheckedFrom from, const TensorArg& argument, ScalarType type) {
  TORCH_CHECK(argument->scalar_type() == type, "Expected tensor for ", argument,
              " to have scalar type ", ::sconce::cuda::toString(type), "; but got ",
              argument->toString(), " instead (while checking arguments for ", from, ")");
}
/// Refuses an argument whose type of elements is none of the listed ones. Corresponds to
/// `at::checkScalarTypes`.
inline void checkScalarTypes(CheckedFrom from, const TensorArg& argument,
                             ArrayRef<ScalarType> types) {
  if (std::find(types.begin(), types.end(), argument->scalar_type()) != types.end()) {
    return;
  }
  std::string names;
  for (const ScalarType type : types) {
    names += std::string(names.empty() ? "" : ", ") + ::sconce::cuda::toString(type);
  }
  TORCH_CHECK(false, "Expected tensor for ", argument,
              " to have one of the following scalar types: ", names, "; but got ",
              argument->toString(), " instead (while checking arguments for ", from, ")");
}
/// Refuses arguments of two shapes. Corresponds to `at::checkSameSize`.
inline void checkSameSize(CheckedFrom from, const TensorArg& a, const TensorArg& b) {
  TORCH_CHECK(a->sizes() == b->sizes(), "Expected tensor for ", a,
              " to have same size as tensor for ", b, "; but ", a->sizes(), " does not equal ",
              b->sizes(), " (while checking arguments for ", from, ")");
}
/// `checkSameSize` of several arguments. Corresponds to `at::checkAllSameSize`.
inline void checkAllSameSize(CheckedFrom from, ArrayRef<TensorArg> arguments) {
  check_all_same(arguments,
                 [&](const TensorArg& a, const TensorArg& b) { checkSameSize(from, a, b); });
}
/// Refuses an undefined argument. Corresponds to `at::checkDefined`.
inline void checkDefined(CheckedFrom from, const TensorArg& argument) {
  TORCH_CHECK(argument->defined(), "Expected tensor for ", argument,
              " to be non-null, but it was undefined  (while checking arguments for ", from, ")");
}
/// `checkDefined` of several arguments. Corresponds to `at::checkAllDefined`.
inline void checkAllDefined(CheckedFrom from, ArrayRef<TensorArg> arguments) {
  for (const TensorArg& argument : arguments) {
    checkDefined(from, argument);
  }
}
/// Refuses an argument that is not contiguous. Corresponds to `at::checkContiguous`.
inline void checkContiguous(CheckedFrom from, const TensorArg& argument) {
  TORCH_CHECK(argument->is_contiguous(),
              "Expected contiguous tensor, but got non-contiguous tensor for ", argument,
              " (while checking arguments for ", from, ")");
}
/// `checkContiguous` of the arguments that are defined. Corresponds to `at::checkAllContiguous`.
inline void checkAllContiguous(CheckedFrom from, ArrayRef<TensorArg> arguments) {
  for (const TensorArg& argument : arguments) {
    if (argument->defined()) {
      checkContiguous(from, argument);
    }
  }
}
/// Refuses an argument with another number of dimensions. Corresponds to `at::checkDim`.
inline void checkDim(CheckedFrom from, const TensorArg& argument, std::int64_t dim) {
  TORCH_CHECK(argument->dim() == dim, "Expected ", dim, "-dimensional tensor, but got ",
              argument->dim(), "-dimensional tensor for ", argument,
              " (while checking arguments for ", from, ")");
}
/// Refuses an argument unless it has from `begin` to `end - 1` dimensions. Corresponds to
/// `at::checkDimRange`.
inline void checkDimRange(CheckedFrom from, const TensorArg& argument, std::int64_t begin,
                          std::int64_t end) {
  TORCH_CHECK(argument->dim() >= begin && argument->dim() < end, "Expected ", begin, " to ",
              end - 1, " dimensions, but got ", argument->dim(), "-dimensional tensor for ",
              argument, " (while checking arguments for ", from, ")");
}
/// Refuses arguments of different numbers of dimensions. Corresponds to `at::checkSameDim`.
inline void checkSameDim(CheckedFrom from, const TensorArg& a, const TensorArg& b) {
  TORCH_CHECK(a->dim() == b->dim(), "Expected tensor for ", a,
              " to have the same dimension as tensor for ", b, "; but ", a->dim(),
              " does not equal ", b->dim(), " (while checking arguments for ", from, ")");
}
/// Refuses an argument of another shape. Corresponds to `at::checkSize`.
inline void checkSize(CheckedFrom from, const TensorArg& argument, IntArrayRef sizes) {
  checkDim(from, argument, static_cast<std::int64_t>(sizes.size()));
  TORCH_CHECK(argument->sizes() == sizes, "Expected tensor of size ", sizes,
              ", but got tensor of size ", argument->sizes(), " for ", argument,
              " (while checking arguments for ", from, ")");
}
/// Refuses an argument of another size along a dimension. Corresponds to `at::checkSize`.
inline void checkSize(CheckedFrom from, const TensorArg& argument, std::int64_t dim,
                      std::int64_t size) {
  TORCH_CHECK(argument->size(dim) == size, "Expected tensor to have size ", size, " at dimension ",
              dim, ", but got size ", argument->size(dim), " for ", argument,
              " (while checking arguments for ", from, ")");
}
/// Refuses an argument of another number of elements. Corresponds to `at::checkNumel`.
inline void checkNumel(CheckedFrom from, const TensorArg& argument, std::int64_t numel) {
  TORCH_CHECK(argument->numel() == numel, "Expected tensor for ", argument, " to have ", numel,
              " elements; but it actually has ", argument->numel(),
              " elements (while checking arguments for ", from, ")");
}
/// Refuses arguments of different numbers of elements. Corresponds to `at::checkSameNumel`.
inline void checkSameNumel(CheckedFrom from, const TensorArg& a, const TensorArg& b) {
  TORCH_CHECK(a->numel() == b->numel(), "Expected tensor for ", a,
              " to have same number of elements as tensor for ", b, "; but ", a->numel(),
              " does not equal ", b->numel(), " (while checking arguments for ", from, ")");
}
/// `checkSameNumel` of several arguments. Corresponds to `at::checkAllSameNumel`.
inline void checkAllSameNumel(CheckedFrom from, ArrayRef<TensorArg> arguments) {
  check_all_same(arguments,
                 [&](const TensorArg& a, const TensorArg& b) { checkSameNumel(from, a, b); });
}
/// Refuses tensors on another kind of device; undefined ones pass. Corresponds to
/// `at::checkDeviceType`.
inline void checkDeviceType(CheckedFrom from, ArrayRef<Tensor> tensors, DeviceType type) {
  for (const Tensor& tensor : tensors) {
    TORCH_CHECK(!tensor.defined() || tensor.device().type() == type, "Expected tensor to have ",
                c10::DeviceTypeName(type, true), " DeviceType, but got tensor with ",
                c10::DeviceTypeName(tensor.device().type(), true),
                " DeviceType (while checking arguments for ", from, ")");
  }
}
namespace cuda {

/// Whether all tensors are on the current device. Corresponds to `at::cuda::check_device`.
[[nodiscard]] inline bool check_device(ArrayRef<Tensor> tensors) {
  const Device current(DeviceType::CUDA, ::sconce::cuda::current_device());
  return std::all_of(tensors.begin(), tensors.end(),
                     [&](const Tensor& tensor) { return tensor.device() == current; });
}

}  // namespace cuda

/// Refuses a tensor of another number of dimensions, or of another size along one. Corresponds to
/// `at::check_dim_size`.
inline void check_dim_size(const Tensor& tensor, std::int64_t dims, std::int64_t dim,
                           std::int64_t size) {
  TORCH_CHECK(tensor.dim() == dims && tensor.size(dim) == size, "Expected a tensor of dimension ",
              dims, " and tensor.size[", dim, "] == ", size, " but got : dimension ", tensor.dim(),
              " and tensor.size[", dim, "] = ", tensor.dim() == dims ? tensor.size(dim) : -1);
}

}  // namespace at
}  // namespace compat
}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_COMPAT_TENSOR_ARGUMENTS_HPP
