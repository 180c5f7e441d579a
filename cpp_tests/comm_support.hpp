// Ranks of a communicator as threads of a test, and the values that they exchange.
#ifndef SCONCE_CPP_TESTS_COMM_SUPPORT_HPP
#define SCONCE_CPP_TESTS_COMM_SUPPORT_HPP

#include <algorithm>
#include <chrono>
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <mutex>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include "fixture.hpp"

namespace support {

namespace dist = sconce::distributed;

/// As many simulated devices as the largest machine has; on GPUs those that are there.
class CommFixture : public WorkFixture {
 protected:
  void SetUp() override {
    simulated_devices = 8;
    WorkFixture::SetUp();
    if (!IsSkipped()) {
      SCONCE_NEED_DEVICES(2);
    }
  }
};

/// A tensor of ones on a device.
inline sconce::Tensor ones(std::int32_t device, sconce::IntArrayRef sizes = {4}) {
  return sconce::ones(sizes, sconce::device(device));
}

/// A test that waits for another rank in vain ends soon.
inline dist::CommOptions quick() {
  dist::CommOptions options;
  options.timeout = std::chrono::seconds(30);
  return options;
}

/// Runs `body(rank, note_failure)` on a thread for each rank; throws what failed first when all
/// have returned. The others often fail because one has.
template <class Body>
void on_threads(std::int32_t ranks, Body&& body) {
  std::mutex lock;
  std::exception_ptr first;
  const auto note_failure = [&] {
    const std::lock_guard<std::mutex> guard(lock);
    first = first == nullptr ? std::current_exception() : first;
  };
  std::vector<std::thread> threads;
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        body(rank, note_failure);
      } catch (...) {
        note_failure();
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  if (first != nullptr) {
    std::rethrow_exception(first);
  }
}

/// Runs `body(comm)` on a thread for each rank, with its device current.
template <class Body>
void on_ranks(std::int32_t ranks, Body&& body, const dist::CommOptions& options = quick()) {
  const dist::UniqueId id = dist::get_unique_id();
  on_threads(ranks, [&](std::int32_t rank, auto&& note_failure) {
    sconce::cuda::set_device(rank);
    const auto comm = dist::Communicator::init_rank(id, ranks, rank, rank, options);
    try {
      body(comm);
    } catch (...) {
      // Before the communicator is aborted, which makes the others fail.
      note_failure();
      throw;
    }
    sconce::cuda::device_synchronize();
  });
}

/// The numbers that a rank draws; each rank can draw those of all others.
inline std::vector<std::int64_t> drawn(std::uint64_t seed, std::int32_t rank, std::int64_t count,
                                       std::int64_t least, std::int64_t most) {
  std::mt19937_64 engine(seed * 64 + static_cast<std::uint64_t>(rank));
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(count));
  for (std::int64_t& number : numbers) {
    number = std::uniform_int_distribution<std::int64_t>(least, most)(engine);
  }
  return numbers;
}

/// Numbers as elements of a type, on the CPU; complex ones get an imaginary part.
inline sconce::Tensor elements(const std::vector<std::int64_t>& numbers, sconce::ScalarType type) {
  const auto on_cpu = sconce::device(sconce::kCPU);
  const sconce::Tensor tensor = sconce::tensor(numbers, on_cpu.dtype(sconce::kLong));
  if (type == sconce::kComplexHalf || type == sconce::kComplexFloat ||
      type == sconce::kComplexDouble) {
    const std::complex<double> unit(1.0, -2.0);
    return tensor.to(sconce::kComplexDouble).mul(unit).to(type);
  }
  return tensor.to(type);
}

/// Whether two tensors have the same bytes, whatever their types.
inline bool same_bytes(const sconce::Tensor& seen, const sconce::Tensor& wanted) {
  const sconce::Tensor here = seen.to(sconce::Device(sconce::kCPU)).contiguous();
  const auto bytes = static_cast<std::size_t>(wanted.nbytes());
  return here.nbytes() == wanted.nbytes() && here.dtype() == wanted.dtype() &&
         (bytes == 0 || std::memcmp(here.data_ptr(), wanted.data_ptr(), bytes) == 0);
}

}  // namespace support

#endif  // SCONCE_CPP_TESTS_COMM_SUPPORT_HPP
