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

/// Whether functions refuse to write to a tensor, because its producer exported it as read-only.
[[nodiscard]] inline bool is_read_only(const TensorBase& tensor) {
  bool read_only = false;
  detail::check(::sconce_tensor_is_read_only(tensor.get(), &read_only));
  return read_only;
}

}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_TENSOR_DLPACK_HPP
