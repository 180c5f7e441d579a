/// \file
/// Exchange of tensors with other libraries over DLPack, without a copy. The structs are those of
/// `dlpack.h` 1.0 or newer, which a program includes itself, before or after this header.
#ifndef SCONCE_TENSOR_DLPACK_HPP
#define SCONCE_TENSOR_DLPACK_HPP

#include <sconce/c/dlpack.h>
#include <sconce/c/tensor.h>

#include <cstdint>
#include <optional>
#include <sconce/cuda/stream.hpp>
#include <sconce/tensor/base.hpp>
#include <sconce/tensor/body.hpp>

namespace sconce {
inline namespace v0 {
namespace detail {

/// DLPack's number of a stream: 1 is the default stream, null is none.
inline void* dlpack_stream(const std::optional<cuda::CUDAStream>& stream) {
  if (!stream) {
    return nullptr;
  }
  void* native = stream->stream();
  return native != nullptr ? native : reinterpret_cast<void*>(std::uintptr_t{1});
}

}  // namespace detail

/// Exports a tensor: a struct that shares its memory, whose deleter the consumer calls once.
///
/// \param tensor Its memory lives until the deleter is called.
/// \param consumer Waits for the current stream of the tensor's device. Without it, nothing waits.
///
/// Corresponds to `at::toDLPackVersioned`, `torch.Tensor.__dlpack__`.
[[nodiscard]] inline ::DLManagedTensorVersioned* to_dlpack(
    const TensorBase& tensor, std::optional<cuda::CUDAStream> consumer = std::nullopt) {
  ::DLManagedTensorVersioned* managed = nullptr;
  detail::check(::sconce_tensor_to_dlpack(tensor.get(), detail::dlpack_stream(consumer), &managed));
  return managed;
}

/// Exports a tensor for a library that supports only DLPack before 1.0. Otherwise as `to_dlpack`.
/// Corresponds to `at::toDLPack`.
[[nodiscard]] inline ::DLManagedTensor* to_dlpack_unversioned(
    const TensorBase& tensor, std::optional<cuda::CUDAStream> consumer = std::nullopt) {
  ::DLManagedTensor* managed = nullptr;
  detail::check(::sconce_tensor_to_dlpack_unversioned(tensor.get(), detail::dlpack_stream(consumer),
                                                      &managed));
  return managed;
}

/// Imports a tensor: the result uses the producer's memory, and its last view calls the deleter.
///
/// \param managed If this function throws, the caller still owns the struct, unless its major
///   version is not 1: then its deleter has been called.
/// \param producer The current stream of the tensor's device waits for it. Without it, the producer
///   must have ordered its work already.
///
/// Corresponds to `at::fromDLPackVersioned`, `torch.from_dlpack`.
[[nodiscard]] inline Tensor from_dlpack(::DLManagedTensorVersioned* managed,
                                        std::optional<cuda::CUDAStream> producer = std::nullopt) {
  sconce_tensor* tensor = nullptr;
  detail::check(::sconce_tensor_from_dlpack(managed, detail::dlpack_stream(producer), &tensor));
  return Tensor::adopt(tensor);
}

/// Imports a tensor of a library that supports only DLPack before 1.0. Otherwise as above.
/// Corresponds to `at::fromDLPack`.
[[nodiscard]] inline Tensor from_dlpack(::DLManagedTensor* managed,
                                        std::optional<cuda::CUDAStream> producer = std::nullopt) {
  sconce_tensor* tensor = nullptr;
  detail::check(
      ::sconce_tensor_from_dlpack_unversioned(managed, detail::dlpack_stream(producer), &tensor));
  return Tensor::adopt(tensor);
}

/// A type as DLPack describes it, with the fields of its `DLDataType`, to which it converts.
struct DlpackType {
  std::uint8_t code;    ///< the code, such as `kDLFloat`
  std::uint8_t bits;    ///< the bits of one value
  std::uint16_t lanes;  ///< the number of values of an element

  /// The struct of `dlpack.h`, which this header does not include.
  template <class Type, class = decltype(Type{}.code, Type{}.bits, Type{}.lanes)>
  operator Type() const noexcept {  // NOLINT: where a function takes a DLDataType
    Type type{};
    type.code = code;
    type.bits = bits;
    type.lanes = lanes;
    return type;
  }
};

/// How DLPack describes a data type. Corresponds to `at::getDLDataType`.
[[nodiscard]] inline DlpackType getDLDataType(ScalarType type) {
  std::int32_t code = 0;
  std::int32_t bits = 0;
  std::int32_t lanes = 0;
  detail::check(::sconce_dlpack_get_type(static_cast<std::int32_t>(type), &code, &bits, &lanes));
  return {static_cast<std::uint8_t>(code), static_cast<std::uint8_t>(bits),
          static_cast<std::uint16_t>(lanes)};
}
/// How DLPack describes the type of a tensor's elements. Corresponds to `at::getDLDataType`.
[[nodiscard]] inline DlpackType getDLDataType(const TensorBase& tensor) {
  return getDLDataType(tensor.dtype());
}
/// The data type that a `DLDataType` describes. Corresponds to `at::toScalarType`.
/// \throws NotSupportedError if the library has no such type
template <class DLDataType>
[[nodiscard]] ScalarType toScalarType(const DLDataType& type) {
  std::int32_t dtype = 0;
  detail::check(::sconce_dlpack_get_dtype(type.code, type.bits, type.lanes, &dtype));
  return static_cast<ScalarType>(dtype);
}

/// Whether functions refuse to write to a tensor, because its producer exported it as read-only.
[[nodiscard]] inline bool is_read_only(const TensorBase& tensor) {
  bool read_only = false;
  detail::check(::sconce_tensor_is_read_only(tensor.get(), &read_only));
  return read_only;
}

}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_TENSOR_DLPACK_HPP
