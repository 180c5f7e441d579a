// Libraries that the build makes for these tests, and tensors of the CPU.
#ifndef SCONCE_TORCH_TEST_FILES_HPP
#define SCONCE_TORCH_TEST_FILES_HPP

#include <sconce/sconce_all.hpp>
#include <string>
#include <utility>
#include <vector>

#include "fixture.hpp"

namespace support {

/// What a failing action says.
template <class Action>
std::string words_of(Action&& action) {
  return error_of(std::forward<Action>(action)).what();
}

inline std::string file(const std::string& name) {
  return std::string(SCONCE_TEST_FILES) + "/" + name;
}

/// A tensor of the CPU.
inline sconce::Tensor floats(const std::vector<float>& values) {
  return sconce::tensor(values, sconce::TensorOptions().dtype(sconce::kFloat).device(sconce::kCPU));
}

inline std::vector<float> values(const sconce::Tensor& tensor) { return tensor.to_vector<float>(); }

}  // namespace support

#endif
