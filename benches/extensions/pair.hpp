/// \file
/// What the drivers of public kernels share. A driver is compiled twice, over PyTorch's headers and
/// over Sconce's `torch_headers`, and prints one line for each output: its name, a hash of its
/// bytes, and microseconds a call.
#pragma once
#include <cuda_runtime_api.h>
#include <torch/extension.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <initializer_list>
#include <vector>

namespace pair {

/// Numbers that do not depend on either library.
class Numbers {
 public:
  /// A number of [0, 1).
  double unit() {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<double>(state_ >> 40) / static_cast<double>(1ULL << 24);
  }
  /// A tensor of numbers from `low` to `high`, on the GPU.
  at::Tensor real(std::vector<std::int64_t> sizes, double low = 0, double high = 1) {
    at::Tensor x = torch::empty(sizes, torch::TensorOptions().dtype(torch::kFloat32));
    auto* const data = x.data_ptr<float>();
    for (std::int64_t i = 0; i < x.numel(); ++i)
      data[i] = static_cast<float>(low + (high - low) * unit());
    return x.to(torch::kCUDA);
  }
  /// A tensor of integers from 0 to `end`, excluding it, on the GPU.
  template <class Integer>
  at::Tensor whole(std::vector<std::int64_t> sizes, std::int64_t end, torch::Dtype type) {
    at::Tensor x = torch::empty(sizes, torch::TensorOptions().dtype(type));
    auto* const data = x.data_ptr<Integer>();
    for (std::int64_t i = 0; i < x.numel(); ++i)
      data[i] = static_cast<Integer>(unit() * static_cast<double>(end));
    return x.to(torch::kCUDA);
  }

 private:
  std::uint64_t state_ = 20261130;
};

/// A tensor of the given numbers, on the GPU.
template <class Number>
at::Tensor of(std::vector<Number> numbers, std::vector<std::int64_t> sizes, torch::Dtype type) {
  at::Tensor x = torch::empty(sizes, torch::TensorOptions().dtype(type));
  std::memcpy(x.data_ptr<Number>(), numbers.data(), numbers.size() * sizeof(Number));
  return x.to(torch::kCUDA);
}

inline std::uint64_t hash(const at::Tensor& given) {
  const at::Tensor x = given.contiguous().cpu();
  const auto* const bytes = static_cast<const unsigned char*>(x.data_ptr());
  std::uint64_t sum = 14695981039346656037ULL;
  for (std::int64_t i = 0; i < x.numel() * x.element_size(); ++i)
    sum = (sum ^ bytes[i]) * 1099511628211ULL;
  for (const std::int64_t size : x.sizes())
    sum = (sum ^ static_cast<std::uint64_t>(size)) * 1099511628211ULL;
  return sum;
}

inline void finish() { cudaDeviceSynchronize(); }

/// Calls the function, prints hashes of its outputs, and the median time that the host needs to
/// make the call.
template <class Function>
void check(const char* name, Function function) {
  const std::vector<at::Tensor> outputs = function();
  finish();
  std::vector<double> times;
  for (int round = 0; round < 50; ++round) {
    const auto start = std::chrono::steady_clock::now();
    const std::vector<at::Tensor> again = function();
    const auto end = std::chrono::steady_clock::now();
    times.push_back(std::chrono::duration<double, std::micro>(end - start).count());
    finish();
  }
  std::sort(times.begin(), times.end());
  int number = 0;
  for (const at::Tensor& output : outputs)
    std::printf("%s.%d %016llx %.2f\n", name, number++,
                static_cast<unsigned long long>(hash(output)), times[25]);
  std::fflush(stdout);
}

template <class Body>
int main(Body body) {
  try {
    body();
    return 0;
  } catch (const std::exception& error) {
    std::printf("error %s\n", error.what());
    return 1;
  }
}

}  // namespace pair
