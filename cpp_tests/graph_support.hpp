// What tests of graphs over tensors share.
#ifndef SCONCE_CPP_TESTS_GRAPH_SUPPORT_HPP
#define SCONCE_CPP_TESTS_GRAPH_SUPPORT_HPP

#include <cstdint>
#include <sconce/sconce_all.hpp>
#include <vector>

namespace support {

/// The elements of a tensor of floats, row by row.
inline std::vector<float> values(const sconce::Tensor& tensor) {
  const sconce::Tensor host = tensor.cpu().contiguous();
  const auto* const begin = static_cast<const float*>(host.data_ptr());
  return {begin, begin + host.numel()};
}

/// 0, 1, 2 and so on, on the current device.
inline sconce::Tensor numbers(std::int64_t count) {
  return sconce::arange(count, sconce::TensorOptions(sconce::kCUDA).dtype(sconce::kFloat));
}

}  // namespace support

#endif  // SCONCE_CPP_TESTS_GRAPH_SUPPORT_HPP
