/// \file
/// Helpers with which methods and functions of tensors call the C API. Programs do not need them.
#ifndef SCONCE_DETAIL_TENSOR_CALLS_HPP
#define SCONCE_DETAIL_TENSOR_CALLS_HPP

#include <sconce/c/tensor.h>

#include <algorithm>
#include <cstddef>
#include <sconce/tensor/class.hpp>
#include <utility>
#include <vector>

namespace sconce {
inline namespace v0 {
namespace detail {

/// Returns the tensor that `call` returns through its `sconce_tensor**`.
template <class Call>
Tensor tensor_of(Call&& call) {
  sconce_tensor* tensor = nullptr;
  check(call(&tensor));
  return Tensor::adopt(tensor);
}

/// Returns the tensors that `call` writes to an array with the given capacity.
template <class Call>
std::vector<Tensor> tensors_of(std::size_t capacity, Call&& call) {
  // Objects first: nothing throws between the call and their ownership.
  std::vector<Tensor> tensors(capacity);
  std::vector<sconce_tensor*> handles(std::max<std::size_t>(capacity, 1));
  std::size_t count = 0;
  check(call(handles.data(), &count));
  for (std::size_t index = 0; index < count; ++index) {
    tensors[index] = Tensor::adopt(handles[index]);
  }
  tensors.resize(count);
  return tensors;
}

inline std::vector<sconce_tensor*> handles_of(const std::vector<Tensor>& tensors) {
  std::vector<sconce_tensor*> handles;
  handles.reserve(tensors.size());
  for (const Tensor& tensor : tensors) {
    handles.push_back(tensor.get());
  }
  return handles;
}

/// The handle of an output; creates one for an undefined tensor.
inline sconce_tensor* output_of(Tensor& out) {
  if (out.get() == nullptr) {
    out = tensor_of([](sconce_tensor** made) { return ::sconce_tensor_undefined(made); });
  }
  return out.get();
}

/// Calls a function with the handle of an output, and returns the output.
template <class Call>
Tensor& write_to(Tensor& out, Call&& call) {
  check(call(output_of(out)));
  return out;
}

}  // namespace detail
}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_DETAIL_TENSOR_CALLS_HPP
