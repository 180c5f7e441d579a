// Tensors on all devices of one process: microseconds until all devices are done. The keys are
// those of pytorch.py.
#ifndef SCONCE_BENCHES_COMM_TENSORS_HPP
#define SCONCE_BENCHES_COMM_TENSORS_HPP

#include <cstdint>
#include <sconce/comm/tensors.hpp>
#include <vector>

#include "calls.hpp"

namespace comm_bench {

/// The median of runs, each until all devices are done.
template <class Work>
double until_done(int devices, int rounds, Work&& work) {
  const auto wait = [&] {
    for (int device = 0; device < devices; ++device) {
      cc::device_synchronize(static_cast<cc::DeviceIndex>(device));
    }
  };
  std::vector<double> all;
  for (int round = -3; round < rounds; ++round) {
    wait();
    const double start = now_us();
    {
      const auto result = work();
      wait();
    }
    if (round >= 0) all.push_back(now_us() - start);
  }
  return median(all);
}

inline sconce::Tensor floats_on(int device, std::int64_t count, double value) {
  const auto options = sconce::TensorOptions(sconce::Device(static_cast<cc::DeviceIndex>(device)))
                           .dtype(sconce::kFloat);
  return sconce::full({count}, value, options);
}

inline void tensors_of_devices(bool is_quick) {
  const int count = std::min(static_cast<int>(cc::device_count()), 2);
  if (count < 2) return;
  const std::vector<std::int32_t> devices{0, 1};
  const std::int64_t large = is_quick ? 1 << 16 : 1 << 28;
  const int rounds = is_quick ? 2 : 25;
  const auto add = [](const char* key, double value) { Figures::add(key, value, "us"); };
  const auto first = floats_on(0, large, 1), second = floats_on(1, large, 2);
  auto there = floats_on(1, large, 0);
  add("comm_peer_copy", until_done(count, rounds, [&] { return there.copy_(first, true); }));
  namespace comm = cc::comm;
  add("comm_tensors_broadcast",
      until_done(count, rounds, [&] { return comm::broadcast(first, devices); }));
  add("comm_tensors_scatter",
      until_done(count, rounds, [&] { return comm::scatter(first, devices); }));
  const auto halves = comm::scatter(first, devices);
  add("comm_tensors_gather", until_done(count, rounds, [&] { return comm::gather(halves, 0, 0); }));
  add("comm_tensors_reduce_add", until_done(count, rounds, [&] {
        return comm::reduce_add({first, second}, 0);
      }));
  std::vector<sconce::Tensor> small, other;
  for (int index = 0; index < (is_quick ? 40 : 1000); ++index) {
    const std::int64_t size = 64 + index % 64;
    small.push_back(floats_on(0, size, index));
    other.push_back(floats_on(1, size, 1));
  }
  const int many = is_quick ? 2 : 100;
  add("comm_tensors_broadcast_many",
      until_done(count, many, [&] { return comm::broadcast_coalesced(small, devices); }));
  add("comm_tensors_reduce_add_many", until_done(count, many, [&] {
        return comm::reduce_add_coalesced({small, other}, 0);
      }));
}

}  // namespace comm_bench

#endif
