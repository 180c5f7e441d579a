/// \file
/// Tensors as text. `<sconce/tensor/tensor.hpp>` includes all headers of tensors.
#ifndef SCONCE_TENSOR_TEXT_HPP
#define SCONCE_TENSOR_TEXT_HPP

#include <sconce/c/tensor.h>

#include <ostream>
#include <sconce/tensor/class.hpp>
#include <string>

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

#endif  // SCONCE_TENSOR_TEXT_HPP
