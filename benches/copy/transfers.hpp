// The bandwidth between two places and the cost of a call: the host's clock around the calls and
// the wait for the device.
//
// A backend has `Memory` (a place) and returns callables that repeat one piece of work: `copier`,
// `setter` and `strided`.
#ifndef SCONCE_BENCHES_COPY_TRANSFERS_HPP
#define SCONCE_BENCHES_COPY_TRANSFERS_HPP

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "pinned.hpp"

namespace copy_bench {

inline constexpr std::size_t gib = kib * mib;

/// `16M`, `1G`: a size in a key.
inline std::string size_key(std::size_t bytes) {
  return bytes >= gib ? std::to_string(bytes / gib) + "G" : memory_bench::size_text(bytes);
}

/// Ordinary host memory that has never been touched.
class HostMemory {
 public:
  explicit HostMemory(std::size_t bytes) : bytes_(bytes) {
    void* address =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (address == MAP_FAILED) {
      throw memory_bench::OutOfMemory();
    }
    address_ = address;
  }
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;
  ~HostMemory() { munmap(address_, bytes_); }

  [[nodiscard]] void* get() const { return address_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  void touch() const { std::memset(address_, 1, bytes_); }

 private:
  void* address_ = nullptr;
  std::size_t bytes_;
};

/// GiB/s of runs of `count` calls that each move `bytes`: the median under the key, and the best.
/// `before` is called ahead of each run, outside the time.
template <class Call, class Before, class Wait>
void bandwidth_of(const std::string& key, std::size_t bytes, int count, const Effort& effort,
                  Call call, Before before, Wait wait) {
  const auto run = [&] {
    before();
    wait();
    const auto start = Clock::now();
    for (int i = 0; i < count; ++i) {
      call();
    }
    wait();
    const double moved = static_cast<double>(bytes) * count;
    return moved / static_cast<double>(gib) / (ns_since(start) / 1e9);
  };
  run();
  Effort few = effort;
  few.budget_s = std::min(effort.budget_s, 0.4);
  Runs runs(few);
  double best = 0;
  while (runs.more()) {
    const double value = run();
    best = std::max(best, value);
    runs.add(value);
  }
  Figures::add(key, runs.median(), "GiB/s");
  Figures::add(key + "_best", best, "GiB/s");
}

template <class Backend, class Call>
void bandwidth(const std::string& key, std::size_t bytes, const Effort& effort, Call call) {
  // Small ones several at a time, so that the wait weighs little.
  const std::size_t most = effort.runs == 1 ? 2 : 32;
  const int count = static_cast<int>(std::clamp<std::size_t>(64 * mib / bytes, 1, most));
  bandwidth_of(
      key, bytes, count, effort, call, [] {}, [] { Backend::drain(); });
}

/// Measures where the key is wanted and memory suffices.
template <class Measure>
void attempt(const std::string& key, Measure measure) {
  if (!Figures::wanted(key)) {
    return;
  }
  try {
    measure();
  } catch (const memory_bench::OutOfMemory&) {
    Figures::leave_out(key, "OOM");
  }
}

/// Nanoseconds of a call that queues work: few at a time, so that a full queue never makes one
/// wait.
template <class Backend, class Call>
double queued_ns(Call call, const Effort& effort) {
  constexpr int calls = 256;
  double best = 1e300;
  for (int i = 0; i < effort.runs * 20; ++i) {
    Backend::drain();
    const auto start = Clock::now();
    for (int j = 0; j < calls; ++j) {
      call();
    }
    best = std::min(best, ns_since(start) / calls);
  }
  Backend::drain();
  return best;
}

template <class Backend>
void host_and_device(const Effort& effort, const std::vector<std::size_t>& sizes) {
  const std::size_t most = sizes.back();
  auto pinned = Backend::pinned(most);
  auto device = Backend::on_device(most, 0);
  const HostMemory touched(most);
  touched.touch();
  auto ordinary = Backend::ordinary(touched.get(), most);
  Backend::setter(device, most)();
  for (const std::size_t bytes : sizes) {
    const std::string size = size_key(bytes);
    const auto each = [&](const std::string& name, auto& dst, auto& src, bool non_blocking) {
      attempt(name + size, [&] {
        bandwidth<Backend>(name + size, bytes, effort,
                           Backend::copier(dst, src, bytes, non_blocking));
      });
    };
    each("h2d_pinned_", device, pinned, false);
    each("h2d_queued_", device, pinned, true);
    each("h2d_ordinary_", device, ordinary, false);
    each("d2h_pinned_", pinned, device, false);
    each("d2h_queued_", pinned, device, true);
    each("d2h_ordinary_", ordinary, device, false);
    if (bytes >= 16 * mib) {
      const std::string key = "d2h_fresh_" + size;
      attempt(key, [&] {
        // Each run into memory that has no pages yet.
        const HostMemory fresh(bytes);
        auto place = Backend::ordinary(fresh.get(), bytes);
        bandwidth_of(
            key, bytes, 1, effort, Backend::copier(place, device, bytes, false),
            [&] { madvise(fresh.get(), bytes, MADV_DONTNEED); }, [] { Backend::drain(); });
      });
    }
  }
}

template <class Backend>
void on_one_device(const Effort& effort, const std::vector<std::size_t>& sizes) {
  const std::size_t most = sizes.back();
  auto from = Backend::on_device(most, 0);
  auto to = Backend::on_device(most, 0);
  Backend::setter(from, most)();
  for (const std::size_t bytes : sizes) {
    const std::string size = size_key(bytes);
    attempt("d2d_" + size, [&] {
      bandwidth<Backend>("d2d_" + size, bytes, effort, Backend::copier(to, from, bytes, false));
    });
    attempt("set_" + size,
            [&] { bandwidth<Backend>("set_" + size, bytes, effort, Backend::setter(to, bytes)); });
  }
}

template <class Backend>
void call_costs(const Effort& effort) {
  auto host = Backend::pinned(4096);
  auto device = Backend::on_device(4096, 0);
  auto other = Backend::on_device(4096, 0);
  const auto each = [&](const std::string& key, auto call) {
    Figures::measure(key, "ns/call", [&] { return queued_ns<Backend>(call, effort); });
  };
  each("call_h2d_4", Backend::copier(device, host, 4, true));
  each("call_d2h_4", Backend::copier(host, device, 4, true));
  each("call_d2d_4", Backend::copier(other, device, 4, true));
  each("call_set_4", Backend::setter(device, 4));
  // What is waited for: the time of a whole round.
  Figures::measure("call_h2d_4_blocking", "ns/call", [&] {
    return queued_ns<Backend>(Backend::copier(device, host, 4, false), effort);
  });
}

/// Sizes and strides, in floats, of a copy of up to three axes.
struct Shape {
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> dst_strides;
  std::vector<std::int64_t> src_strides;

  [[nodiscard]] std::size_t bytes() const {
    std::int64_t count = 1;
    for (const std::int64_t size : sizes) {
      count *= size;
    }
    return static_cast<std::size_t>(count) * sizeof(float);
  }
};

template <class Backend>
void shapes(const Effort& effort) {
  // The simulator's kernels take their time.
  const bool quick = effort.runs == 1;
  const std::int64_t side = quick ? 64 : 8192;
  const Shape transposed{{side, side}, {side, 1}, {1, side}};
  // Pictures, channels last to channels first: 32 of 64 channels and `places` places.
  const std::int64_t pictures = quick ? 2 : 32;
  const std::int64_t places = 2 * side;
  const Shape channels{{pictures, 64, places}, {64 * places, places, 1}, {64 * places, 1, 64}};
  // The left half of each row.
  const Shape halves{{side, side / 2}, {side, 1}, {side, 1}};
  const Shape packed{{side, side / 2}, {side / 2, 1}, {side, 1}};
  const Shape unpacked{{side, side / 2}, {side, 1}, {side / 2, 1}};
  const std::size_t whole = std::max(transposed.bytes(), channels.bytes());
  auto from = Backend::on_device(whole, 0);
  auto to = Backend::on_device(whole, 0);
  auto pinned = Backend::pinned(whole);
  Backend::setter(from, whole)();
  const auto each = [&](const std::string& key, const Shape& shape, auto& dst, auto& src) {
    attempt(key, [&] {
      bandwidth<Backend>(key, shape.bytes(), effort, Backend::strided(dst, src, shape));
    });
  };
  each("strided_transpose", transposed, to, from);
  each("strided_channels", channels, to, from);
  each("rows_d2d", halves, to, from);
  each("rows_h2d_pinned", unpacked, to, pinned);
  each("rows_h2d_both_pitched", halves, to, pinned);
  each("rows_d2h_pinned", packed, pinned, from);
  each("transpose_h2d_pinned", transposed, to, pinned);
}

template <class Backend>
void between_devices(const Effort& effort, const std::vector<std::size_t>& sizes) {
  if (Backend::devices() < 2) {
    return;
  }
  const std::size_t most = sizes.back();
  auto here = Backend::on_device(most, 0);
  auto there = Backend::on_device(most, 1);
  auto here_too = Backend::on_device(most, 0);
  auto there_too = Backend::on_device(most, 1);
  Backend::setter(here, most)();
  const std::string largest = size_key(most);
  // Before the first copy lets the two use each other's memory.
  if constexpr (requires { Backend::staged(there, here, most); }) {
    attempt("bare_staged_" + largest, [&] {
      bandwidth<Backend>("bare_staged_" + largest, most, effort,
                         Backend::staged(there, here, most));
    });
  }
  for (const std::size_t bytes : sizes) {
    const std::string size = size_key(bytes);
    attempt("peer_01_" + size, [&] {
      bandwidth<Backend>("peer_01_" + size, bytes, effort,
                         Backend::copier(there, here, bytes, true));
    });
    attempt("peer_10_" + size, [&] {
      bandwidth<Backend>("peer_10_" + size, bytes, effort,
                         Backend::copier(here, there, bytes, true));
    });
  }
  attempt("peer_both_" + largest, [&] {
    auto forth = Backend::copier(there, here, most, true);
    auto back = Backend::copier(here_too, there_too, most, true);
    bandwidth<Backend>("peer_both_" + largest, 2 * most, effort, [&] {
      forth();
      back();
    });
  });
  Figures::measure("call_peer_4", "ns/call", [&] {
    return queued_ns<Backend>(Backend::copier(there, here, 4, true), effort);
  });
}

}  // namespace copy_bench

#endif  // SCONCE_BENCHES_COPY_TRANSFERS_HPP
