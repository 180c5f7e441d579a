/// \file
/// Methods that copy a tensor's elements: to other types, devices and memory formats, and to values
/// of C++. `<sconce/tensor/tensor.hpp>` includes all headers of tensors.
#ifndef SCONCE_TENSOR_COPIES_HPP
#define SCONCE_TENSOR_COPIES_HPP

#include <sconce/c/library.h>
#include <sconce/c/tensor.h>

#include <cstddef>
#include <cstdint>
#include <sconce/detail/tensor_calls.hpp>
#include <sconce/tensor/views.hpp>
#include <string>
#include <type_traits>
#include <vector>

namespace sconce {
inline namespace v0 {

inline Tensor Tensor::to(const TensorOptions& options, bool non_blocking, bool copy) const {
  const sconce_tensor_options asked = options.get();
  return detail::tensor_of([&](sconce_tensor** out) {
    return ::sconce_tensor_to(get(), &asked, non_blocking, copy, out);
  });
}
inline Tensor Tensor::to(Device device, ScalarType dtype, bool non_blocking, bool copy) const {
  return to(TensorOptions(device).dtype(dtype), non_blocking, copy);
}
inline Tensor Tensor::to(const TensorBase& other, bool non_blocking, bool copy) const {
  return to(other.options(), non_blocking, copy);
}
inline Tensor Tensor::cuda(DeviceIndex index, bool non_blocking) const {
  return to(Device(DeviceType::CUDA, index), non_blocking);
}
inline Tensor Tensor::toType(ScalarType dtype) const { return to(dtype); }
inline Tensor Tensor::type_as(const TensorBase& other) const { return to(other); }
inline Tensor Tensor::cpu() const { return to(Device(DeviceType::CPU)); }
inline Tensor Tensor::pin_memory() const {
  return detail::tensor_of(
      [&](sconce_tensor** out) { return ::sconce_tensor_pin_memory(get(), out); });
}
inline Tensor Tensor::clone(MemoryFormat format) const {
  return detail::tensor_of([&](sconce_tensor** out) {
    return ::sconce_tensor_clone(get(), detail::number_of(format), out);
  });
}
inline Tensor Tensor::contiguous(MemoryFormat format) const {
  return detail::tensor_of([&](sconce_tensor** out) {
    return ::sconce_tensor_contiguous(get(), detail::number_of(format), out);
  });
}
inline const Tensor& Tensor::copy_(const TensorBase& source, bool non_blocking) const {
  detail::check(::sconce_tensor_copy(get(), source.get(), non_blocking));
  return *this;
}
inline Scalar Tensor::item() const {
  sconce_scalar value{};
  detail::check(::sconce_tensor_item(get(), &value));
  return Scalar(value);
}
inline Tensor Tensor::repeat(IntArrayRef repeats) const {
  const Tensor& self = *this;
  const IntArrayRef sizes = self.sizes();
  if (repeats.size() < sizes.size()) {
    throw Error(SCONCE_ERROR_INVALID_ARGUMENT,
                "Number of dimensions of repeat dims can not be smaller than number of dimensions "
                "of tensor");
  }
  // Each dimension becomes two: the copies, and the elements of one.
  const std::size_t added = repeats.size() - sizes.size();
  std::vector<std::int64_t> single;
  std::vector<std::int64_t> spread;
  std::vector<std::int64_t> result;
  for (std::size_t dim = 0; dim < repeats.size(); ++dim) {
    const std::int64_t size = dim < added ? 1 : sizes[dim - added];
    if (repeats[dim] < 0) {
      throw Error(
          SCONCE_ERROR_INVALID_ARGUMENT,
          "Trying to create tensor with negative dimension " + std::to_string(repeats[dim] * size));
    }
    single.insert(single.end(), {1, size});
    spread.insert(spread.end(), {repeats[dim], size});
    result.push_back(repeats[dim] * size);
  }
  return reshape(single).expand(spread).clone(MemoryFormat::Contiguous).view(result);
}
template <class T>
T Tensor::item() const {
  return item().to<T>();
}
template <class T>
std::vector<T> Tensor::to_vector() const {
  const Tensor typed = to(cuda::CppTypeToScalarType<T>::value);
  std::vector<std::conditional_t<std::is_same_v<T, bool>, unsigned char, T>> values(
      static_cast<std::size_t>(typed.numel()));
  detail::check(::sconce_tensor_to_values(typed.get(), values.data(), values.size() * sizeof(T)));
  return {values.begin(), values.end()};
}

}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_TENSOR_COPIES_HPP
