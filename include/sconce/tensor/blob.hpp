/// \file
/// Tensors over memory of other owners. `<sconce/tensor/tensor.hpp>` includes all headers of
/// tensors.
#ifndef SCONCE_TENSOR_BLOB_HPP
#define SCONCE_TENSOR_BLOB_HPP

#include <sconce/c/tensor.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <sconce/detail/tensor_calls.hpp>
#include <utility>
#include <vector>

namespace sconce {
inline namespace v0 {
namespace detail {

/// The C API's deleter of `from_blob`: the function to call, and its argument.
struct BlobDeleter {
  std::function<void(void*)> call;
  void* data;

  static void run(void* context) noexcept {
    const std::unique_ptr<BlobDeleter> deleter(static_cast<BlobDeleter*>(context));
    deleter->call(deleter->data);
  }
};

/// Bytes from the first element to the end of the last.
inline std::size_t blob_bytes(IntArrayRef sizes, IntArrayRef strides, ScalarType dtype) {
  std::int64_t last = 0;
  for (std::size_t dim = 0; dim < sizes.size(); ++dim) {
    if (sizes[dim] <= 0) {
      return 0;  // no elements, or a size that the library refuses
    }
    last += (sizes[dim] - 1) * strides[dim];
  }
  return static_cast<std::size_t>(last + 1) * cuda::elementSize(dtype);
}

}  // namespace detail

/// \name Memory of other owners
/// @{

/// A tensor over memory of another owner. Without a device in the options, the memory is the CPU's,
/// as in torch.
/// \param data the first element
/// \param sizes elements along each dimension
/// \param strides elements from one index of each dimension to the next
/// \param options type and device of the elements
/// \param deleter called once with `data` when no tensor uses the memory any more, on the thread
///   that releases the last one. It must not throw, and is not called if this function throws
[[nodiscard]] inline Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides,
                                      std::function<void(void*)> deleter,
                                      const TensorOptions& options = {}) {
  if (sizes.size() != strides.size()) {
    detail::throw_other_rank(sizes.size(), strides.size());
  }
  const ScalarType dtype = options.dtype_opt().value_or(ScalarType::Float);
  const Device device = options.device_opt().value_or(Device(DeviceType::CPU));
  auto context =
      deleter ? std::make_unique<detail::BlobDeleter>(detail::BlobDeleter{std::move(deleter), data})
              : nullptr;
  Tensor tensor = detail::tensor_of([&](sconce_tensor** out) {
    return ::sconce_tensor_from_memory(
        data, detail::blob_bytes(sizes, strides, dtype), sizes.data(), strides.data(), sizes.size(),
        static_cast<std::int32_t>(dtype), detail::number_of(device),
        context ? &detail::BlobDeleter::run : nullptr, context.get(), out);
  });
  static_cast<void>(context.release());  // the memory owns it now
  return tensor;
}
/// A tensor over memory of another owner, with a deleter, whose elements are contiguous.
[[nodiscard]] inline Tensor from_blob(void* data, IntArrayRef sizes,
                                      std::function<void(void*)> deleter,
                                      const TensorOptions& options = {}) {
  std::vector<std::int64_t> strides(sizes.size());
  std::int64_t next = 1;
  for (std::size_t dim = sizes.size(); dim-- > 0;) {
    strides[dim] = next;
    next *= std::max<std::int64_t>(sizes[dim], 1);
  }
  return from_blob(data, sizes, strides, std::move(deleter), options);
}
/// A tensor over memory that outlives it.
[[nodiscard]] inline Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides,
                                      const TensorOptions& options = {}) {
  return from_blob(data, sizes, strides, nullptr, options);
}
/// A tensor over memory that outlives it, whose elements are contiguous.
[[nodiscard]] inline Tensor from_blob(void* data, IntArrayRef sizes,
                                      const TensorOptions& options = {}) {
  return from_blob(data, sizes, std::function<void(void*)>(), options);
}

/// @}

}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_TENSOR_BLOB_HPP
