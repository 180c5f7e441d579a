// What one thread asks of an allocator: pairs that hit, many live blocks, random sizes and ages.
#ifndef SCONCE_BENCHES_MEMORY_WORKLOADS_HPP
#define SCONCE_BENCHES_MEMORY_WORKLOADS_HPP

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <random>
#include <vector>

#include "blocks.hpp"

namespace memory_bench {

/// A size whose logarithm is uniform between those of 2^low and 2^high.
template <class Engine>
std::size_t log_uniform(Engine& engine, double low, double high) {
  return static_cast<std::size_t>(std::exp2(std::uniform_real_distribution<>(low, high)(engine)));
}

/// Nanoseconds of one call of `pair`, which is made as often as fills a run.
template <class Pair>
double pair_ns(Pair pair, const Effort& effort) {
  const auto loop_ns = [&](long count) {
    const auto start = Clock::now();
    for (long i = 0; i < count; ++i) {
      pair();
    }
    return ns_since(start);
  };
  long count = 8;
  while (loop_ns(count) < effort.loop_ms * 1e6 && count < 1L << 26) {
    count *= 2;
  }
  Runs runs(effort);
  while (runs.more()) {
    runs.add(loop_ns(count) / static_cast<double>(count));
  }
  return runs.median();
}

/// One block, allocated and freed over and over. The cache has it, as a piece of a larger free
/// block that is cut and made whole again each time.
template <class Backend>
double hit_ns(Backend& backend, std::size_t bytes, const Effort& effort) {
  return pair_ns([&] { backend.free(take(backend, bytes, 1), bytes, 1); }, effort);
}

/// The same between two blocks that stay: nothing is cut or merged.
template <class Backend>
double hit_whole_ns(Backend& backend, std::size_t bytes, const Effort& effort) {
  Blocks<Backend> neighbours(backend, 1);
  for (int i = 0; i < 3; ++i) {
    neighbours.push(bytes);
  }
  neighbours.clear(1);
  return hit_ns(backend, bytes, effort);
}

/// One piece on the thread's current stream, which the allocator looks up itself.
template <class Backend>
double hit_here_ns(Backend& backend, std::size_t bytes, const Effort& effort) {
  return pair_ns(
      [&] {
        void* pointer = backend.allocate_here(bytes);
        if (pointer == nullptr) {
          throw OutOfMemory();
        }
        backend.free(pointer, bytes, 0);
      },
      effort);
}

/// `live` blocks of 512 bytes to 16 MiB, then all freed in random order; nanoseconds a pair.
template <class Backend>
double live_blocks_ns(Backend& backend, std::size_t live, const Effort& effort) {
  std::mt19937_64 engine(7);
  std::vector<std::size_t> sizes(live);
  for (auto& bytes : sizes) {
    bytes = log_uniform(engine, 9, 24);
  }
  std::vector<std::size_t> order(live);
  std::iota(order.begin(), order.end(), std::size_t{0});
  Blocks<Backend> blocks(backend, 1);
  blocks.resize(live);
  const auto run = [&] {
    std::shuffle(order.begin(), order.end(), engine);
    const auto start = Clock::now();
    for (std::size_t i = 0; i < live; ++i) {
      blocks.fill(i, sizes[i]);
    }
    for (const std::size_t i : order) {
      blocks.clear(i);
    }
    return ns_since(start) / static_cast<double>(live);
  };
  run();
  Effort many = effort;
  many.runs *= 3;
  Runs runs(many);
  while (runs.more()) {
    runs.add(run());
  }
  return runs.median();
}

/// RMM's random workload: `count` allocations of 1 byte to `most_mib` MiB; each step allocates with
/// 73 % while 16,000 MiB suffice, else frees any block. Nanoseconds a step, the drawing of numbers
/// included, as there.
template <class Backend>
double random_ns(Backend& backend, std::size_t count, std::size_t most_mib, const Effort& effort) {
  const auto run = [&] {
    std::default_random_engine engine;
    std::uniform_int_distribution<std::size_t> any_size(1, most_mib << 20);
    std::uniform_int_distribution<std::size_t> any_index(0, count - 1);
    std::uniform_int_distribution<int> percent(0, 99);
    constexpr std::size_t most_in_use = std::size_t{16000} << 20;
    Blocks<Backend> blocks(backend, 0);
    std::size_t allocated = 0;
    std::size_t in_use = 0;
    const auto start = Clock::now();
    for (std::size_t step = 0; step < count * 2; ++step) {
      const std::size_t bytes = any_size(engine);
      const bool allocates = blocks.empty() || (percent(engine) < 73 && allocated < count &&
                                                in_use + bytes < most_in_use);
      if (allocates) {
        blocks.push(bytes);
        ++allocated;
        in_use += bytes;
      } else {
        in_use -= blocks.swap_remove(any_index(engine) % blocks.size());
      }
    }
    return ns_since(start) / static_cast<double>(count * 2);
  };
  run();
  Runs runs(effort);
  while (runs.more()) {
    runs.add(run());
  }
  return runs.median();
}

}  // namespace memory_bench

#endif  // SCONCE_BENCHES_MEMORY_WORKLOADS_HPP
