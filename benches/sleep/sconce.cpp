// What it costs to put a pool to sleep and to wake it, beside plain copies between the device and
// one pinned buffer, which are the speed of the link. Every byte is checked afterwards. Prints a
// line for each figure: name, value, unit.
//
//   sconce_sleep_bench [--gib N] [--folder PATH]
//
// 16 GiB unless told otherwise, and less than one on the simulator. The file lies in the folder, or
// in the one for temporary files; how fast it is depends on what is mounted there.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sconce/sconce_all.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

namespace cc = sconce::cuda;

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr std::size_t kGiB = std::size_t{1} << 30;

/// Seconds that a call takes.
template <class Call>
double seconds(const Call& call) {
  const auto start = std::chrono::steady_clock::now();
  call();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void print(const std::string& name, double value, const char* unit) {
  std::printf("%-32s %10.2f %s\n", name.c_str(), value, unit);
  std::fflush(stdout);
}

/// Blocks of a model's sizes: large weights, and small ones between them. Each byte of a block is
/// its number's.
class Blocks {
 public:
  Blocks(const cc::MemPool& pool, std::size_t bytes) {
    const cc::MemPoolGuard guard(pool);
    constexpr std::size_t sizes[] = {112 * kMiB, 32 * kMiB, 8 * kMiB, 16384, 512 * 1024, 64 * kMiB};
    for (std::size_t held = 0, i = 0; held < bytes; ++i) {
      const std::size_t size = std::min(sizes[i % std::size(sizes)], bytes - held);
      blocks_.emplace_back(size);
      held += blocks_.back().bytes();
      total_ += blocks_.back().bytes();
      ::sconce::detail::check(::sconce_memory_set(blocks_.back().get(), number(i), size));
    }
    cc::device_synchronize();
  }

  [[nodiscard]] std::size_t bytes() const { return total_; }
  [[nodiscard]] std::size_t count() const { return blocks_.size(); }

  /// \throws std::runtime_error if a byte has changed
  void check() const {
    std::vector<unsigned char> found;
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      found.assign(blocks_[i].bytes(), 0);
      cc::copy_(static_cast<void*>(found.data()), static_cast<const void*>(blocks_[i].get()),
                found.size());
      const auto wrong = std::find_if(found.begin(), found.end(),
                                      [&](unsigned char byte) { return byte != number(i); });
      if (wrong != found.end())
        throw std::runtime_error("block " + std::to_string(i) + " has other bytes");
    }
  }

 private:
  static unsigned char number(std::size_t block) {
    return static_cast<unsigned char>(block * 37 + 11);
  }

  std::vector<cc::DeviceBuffer> blocks_;
  std::size_t total_ = 0;
};

/// GB/s of copies of `bytes` bytes through one pinned buffer, queued one behind the other.
double link(std::size_t bytes, bool to_host) {
  const std::size_t step = std::min(bytes, kGiB / 4);
  cc::PinnedBuffer host(step);
  cc::DeviceBuffer device(step);
  double best = 0;
  for (int round = 0; round < 3; ++round) {
    const double took = seconds([&] {
      for (std::size_t copied = 0; copied < bytes; copied += step) {
        cc::copy_(to_host ? host.get() : device.get(), to_host ? device.get() : host.get(), step,
                  true);
      }
      cc::device_synchronize();
    });
    best = std::max(best, static_cast<double>((bytes + step - 1) / step * step) / took / 1e9);
  }
  return best;
}

void run(std::size_t bytes, const std::string& folder) {
  const double out = link(bytes, true);
  const double in = link(bytes, false);
  print("sleep_link_to_host", out, "GB/s");
  print("sleep_link_to_device", in, "GB/s");
  cc::empty_cache();
  cc::MemPool pool(cc::MemPolicy::Pages);
  const Blocks blocks(pool, bytes);
  const double gigabytes = static_cast<double>(blocks.bytes()) / 1e9;
  print("sleep_bytes", gigabytes, "GB");
  print("sleep_blocks", static_cast<double>(blocks.count()), "blocks");
  const auto round = [&](const std::string& name, const cc::SleepPlace& place) {
    const double fell = seconds([&] { pool.sleep(place); });
    if (pool.sleep_state().sleeping_bytes < blocks.bytes())
      throw std::runtime_error("the pool kept memory");
    const double woke = seconds([&] { pool.wake(); });
    print(name + "_sleep", gigabytes / fell, "GB/s");
    print(name + "_sleep_of_link", gigabytes / fell / out, "x");
    print(name + "_wake", gigabytes / woke, "GB/s");
    print(name + "_wake_of_link", gigabytes / woke / in, "x");
    if (place.mode() != cc::SleepMode::Discard) blocks.check();
  };
  // The first use of each place gets its memory from the system.
  round("sleep_pinned_first", cc::SleepPlace::host_pinned());
  round("sleep_pinned", cc::SleepPlace::host_pinned());
  ::sconce::detail::check(::sconce_host_memory_empty_cache());
  round("sleep_pageable_first", cc::SleepPlace::host_pageable());
  round("sleep_pageable", cc::SleepPlace::host_pageable());
  // A folder without room is no failure of the library: the figures are left out, and the reason is
  // said.
  const auto space = std::filesystem::space(folder);
  if (space.available > blocks.bytes() + kGiB) {
    round("sleep_file_first", cc::SleepPlace::file(folder));
    round("sleep_file", cc::SleepPlace::file(folder));
  } else {
    std::fprintf(stderr, "no file: %s has only %llu MiB; name another with --folder\n",
                 folder.c_str(), static_cast<unsigned long long>(space.available >> 20));
  }
  round("sleep_discard", cc::SleepPlace::discard());
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const bool simulated = sconce::active_backend() == sconce::Backend::Sim;
    std::size_t bytes = simulated ? 256 * kMiB : 16 * kGiB;
    std::string folder = std::filesystem::temp_directory_path().string();
    for (int i = 1; i < argc; ++i) {
      if (std::strcmp(argv[i], "--gib") == 0 && i + 1 < argc) {
        bytes = std::strtoull(argv[++i], nullptr, 10) * kGiB;
      } else if (std::strcmp(argv[i], "--folder") == 0 && i + 1 < argc) {
        folder = argv[++i];
      } else if (std::strcmp(argv[i], "--quick") != 0) {
        bytes = 0;
      }
    }
    if (bytes == 0) {
      std::fprintf(stderr, "usage: sconce_sleep_bench [--gib N] [--folder PATH]\n");
      return 2;
    }
    run(bytes, folder);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
