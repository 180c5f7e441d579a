/// \file
/// Types of elements under ATen's older names, the memory of a tensor, and methods of `Tensor` that
/// only code for ATen calls. Part of `<sconce/compat/c10.hpp>`.
#ifndef SCONCE_COMPAT_TENSOR_TYPES_HPP
#define SCONCE_COMPAT_TENSOR_TYPES_HPP

#include <sconce/c/library.h>
#include <sconce/c/tensor.h>

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <sconce/compat/cuda/memory.hpp>
#include <sconce/cuda/error.hpp>
#include <sconce/cuda/scalar_type.hpp>
#include <sconce/tensor/class.hpp>
#include <sconce/tensor/options.hpp>
#include <string>
#include <utility>

namespace sconce {
inline namespace v0 {
namespace compat {
namespace c10 {

/// The type of elements, as `torch::Dtype`.
using Dtype = ::sconce::cuda::ScalarType;

/// The type itself. Corresponds to `c10::typeMetaToScalarType`, where the two differ.
[[nodiscard]] constexpr Dtype typeMetaToScalarType(Dtype type) noexcept { return type; }
/// The type itself. Corresponds to `c10::scalarTypeToTypeMeta`.
[[nodiscard]] constexpr Dtype scalarTypeToTypeMeta(Dtype type) noexcept { return type; }

/// Type of elements and kind of device of a tensor: what `x.type()` returns. It converts to a
/// `ScalarType`, so that `AT_DISPATCH_…` takes it. Corresponds to `at::DeprecatedTypeProperties`.
class DeprecatedTypeProperties {
 public:
  /// Of a type on a kind of device.
  constexpr DeprecatedTypeProperties(Dtype type, ::sconce::DeviceType device) noexcept
      : type_(type), device_(device) {}

  /// The type of the elements.
  [[nodiscard]] constexpr Dtype scalarType() const noexcept { return type_; }
  /// The type of the elements.
  [[nodiscard]] constexpr Dtype typeMeta() const noexcept { return type_; }
  /// The type of the elements.
  constexpr operator Dtype() const noexcept { return type_; }  // NOLINT: for AT_DISPATCH_…
  /// Options of a new tensor of this type on a device of this kind, where a function takes them.
  operator ::sconce::TensorOptions() const { return options(); }  // NOLINT: as ATen's
  /// The kind of device.
  [[nodiscard]] constexpr ::sconce::DeviceType device_type() const noexcept { return device_; }
  /// Whether it is a CUDA device.
  [[nodiscard]] constexpr bool is_cuda() const noexcept {
    return device_ == ::sconce::DeviceType::CUDA;
  }
  /// False: all tensors are strided.
  [[nodiscard]] constexpr bool is_sparse() const noexcept { return false; }
  /// How the elements are stored.
  [[nodiscard]] constexpr ::sconce::Layout layout() const noexcept {
    return ::sconce::Layout::Strided;
  }
  /// The name, such as `CUDAFloatType`.
  [[nodiscard]] std::string toString() const {
    return std::string(is_cuda() ? "CUDA" : "CPU") + ::sconce::cuda::toString(type_) + "Type";
  }
  /// Options of a new tensor of this type on a device of this kind.
  /// \param index the device; -1 is the current one
  [[nodiscard]] ::sconce::TensorOptions options(::sconce::DeviceIndex index = -1) const {
    return ::sconce::TensorOptions(type_).device(device_, is_cuda() ? index : std::int8_t{-1});
  }
  /// The same type on the CPU.
  [[nodiscard]] constexpr DeprecatedTypeProperties cpu() const noexcept {
    return {type_, ::sconce::DeviceType::CPU};
  }
  /// The same type on a CUDA device.
  [[nodiscard]] constexpr DeprecatedTypeProperties cuda() const noexcept {
    return {type_, ::sconce::DeviceType::CUDA};
  }
  /// Another type on the same kind of device.
  [[nodiscard]] constexpr DeprecatedTypeProperties toScalarType(Dtype type) const noexcept {
    return {type, device_};
  }

  /// Whether both the type and the kind of device are the same.
  friend constexpr bool operator==(DeprecatedTypeProperties a,
                                   DeprecatedTypeProperties b) noexcept {
    return a.type_ == b.type_ && a.device_ == b.device_;
  }
  /// Whether the two differ.
  friend constexpr bool operator!=(DeprecatedTypeProperties a,
                                   DeprecatedTypeProperties b) noexcept {
    return !(a == b);
  }
  /// Writes the name.
  friend std::ostream& operator<<(std::ostream& out, const DeprecatedTypeProperties& type) {
    return out << type.toString();
  }

 private:
  Dtype type_;
  ::sconce::DeviceType device_;
};

/// The memory of a tensor, which it keeps. Corresponds to `c10::Storage`.
class Storage {
 public:
  /// No memory.
  Storage() = default;
  /// The memory of a tensor.
  explicit Storage(::sconce::TensorBase tensor) : tensor_(std::move(tensor)) {
    ::sconce::detail::check(::sconce_tensor_get_storage(tensor_.get(), &address_, &bytes_));
  }

  /// The address at which the memory begins.
  [[nodiscard]] const void* data() const noexcept { return address_; }
  /// The address at which the memory begins.
  [[nodiscard]] void* mutable_data() const noexcept { return address_; }
  /// The address as the one of elements.
  template <class T>
  [[nodiscard]] T* data() const noexcept {
    return static_cast<T*>(address_);
  }
  /// The address and the device. The memory stays the tensor's.
  [[nodiscard]] DataPtr data_ptr() const { return {address_, device()}; }
  /// The bytes.
  [[nodiscard]] std::size_t nbytes() const noexcept { return bytes_; }
  /// Where the memory is.
  [[nodiscard]] ::sconce::Device device() const {
    return tensor_.defined() ? tensor_.device() : ::sconce::Device(::sconce::DeviceType::CPU);
  }
  /// Whether both are the same memory.
  [[nodiscard]] bool is_alias_of(const Storage& other) const {
    return tensor_.is_alias_of(other.tensor_);
  }
  /// Whether there is a memory.
  explicit operator bool() const { return tensor_.defined(); }

 private:
  ::sconce::TensorBase tensor_;
  void* address_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace c10

namespace at {

using c10::DeprecatedTypeProperties;
using c10::Dtype;
using c10::Storage;
/// `DeprecatedTypeProperties`, under a still older name.
using Type = c10::DeprecatedTypeProperties;

/// The type in which elements are added up. Corresponds to `at::toAccumulateType`.
[[nodiscard]] inline ScalarType toAccumulateType(ScalarType type, bool is_cuda) {
  switch (type) {
    case ScalarType::Half:
    case ScalarType::BFloat16:
      return ScalarType::Float;
    case ScalarType::Float:
      return is_cuda ? ScalarType::Float : ScalarType::Double;
    case ScalarType::ComplexFloat:
      return is_cuda ? ScalarType::ComplexFloat : ScalarType::ComplexDouble;
    default:
      return ::sconce::cuda::isIntegralType(type, false) ? ScalarType::Long : type;
  }
}

}  // namespace at
}  // namespace compat

inline compat::c10::DeprecatedTypeProperties Tensor::type() const {
  return {dtype(), is_cuda() ? DeviceType::CUDA : DeviceType::CPU};
}
inline std::string Tensor::toString() const {
  return defined() ? type().toString() : "UndefinedType";
}
inline compat::c10::Storage Tensor::storage() const { return compat::c10::Storage(*this); }
inline const Tensor& Tensor::set_requires_grad(bool requires_grad) const {
  static_cast<void>(TensorOptions().requires_grad(requires_grad));  // refuses gradients
  return *this;
}
inline const Tensor& Tensor::requires_grad_(bool requires_grad) const {
  return set_requires_grad(requires_grad);
}
inline Tensor Tensor::grad() const { return {}; }

}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_COMPAT_TENSOR_TYPES_HPP
