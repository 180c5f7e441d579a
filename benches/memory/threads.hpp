// What several threads ask of an allocator: each on its own, all on one stream, and blocks that are
// allocated here and freed there.
#ifndef SCONCE_BENCHES_MEMORY_THREADS_HPP
#define SCONCE_BENCHES_MEMORY_THREADS_HPP

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <random>
#include <thread>
#include <vector>

#include "workloads.hpp"

namespace memory_bench {

/// Waits for another thread. On a machine with fewer cores than threads, spinning alone would wait
/// for the other to be scheduled.
class Patience {
 public:
  void wait() {
    if (++spins_ % 4096 == 0) {
      std::this_thread::yield();
    }
  }

 private:
  unsigned spins_ = 0;
};

/// What the threads of one run share.
struct Race {
  std::atomic<int> ready{0};
  std::atomic<bool> go{false};
  std::atomic<bool> stop{false};
  std::atomic<bool> out_of_memory{false};
  std::atomic<long> pairs{0};
};

/// A thread that keeps eight blocks of up to 4 MiB and replaces the oldest, until told to stop.
template <class Backend>
void replace_blocks(Backend& backend, int seed, int stream, Race& race) {
  backend.enter_thread();
  std::mt19937_64 engine(static_cast<std::uint64_t>(seed));
  std::array<std::size_t, 64> sizes{};
  for (auto& bytes : sizes) {
    bytes = log_uniform(engine, 9, 22);
  }
  Blocks<Backend> blocks(backend, stream);
  blocks.resize(8);
  long pairs = 0;
  try {
    for (const std::size_t bytes : sizes) {
      blocks.fill(0, bytes);
      blocks.clear(0);
    }
    for (std::size_t i = 0; i < 8; ++i) {
      blocks.fill(i, sizes[i * 13 % 64]);
    }
    race.ready.fetch_add(1);
    for (Patience patience; !race.go.load(std::memory_order_acquire);) {
      patience.wait();
    }
    for (std::size_t i = 8; !race.stop.load(std::memory_order_relaxed);) {
      for (const std::size_t end = i + 8; i < end; ++i) {
        blocks.clear(i % 8);
        blocks.fill(i % 8, sizes[i * 13 % 64]);
        ++pairs;
      }
    }
  } catch (const OutOfMemory&) {
    race.out_of_memory = true;
    race.ready.fetch_add(1);
  }
  race.pairs.fetch_add(pairs);
}

/// Millions of pairs a second, the sum of all threads, each on a separate stream or all on one.
template <class Backend>
double threads_mpairs(Backend& backend, int count, bool one_stream, const Effort& effort) {
  Effort few = effort;
  few.runs = std::min(effort.runs, 5);
  Runs runs(few);
  while (runs.more()) {
    Race race;
    std::vector<std::jthread> threads;
    for (int i = 0; i < count; ++i) {
      threads.emplace_back([&, i] { replace_blocks(backend, i, one_stream ? 1 : i + 1, race); });
    }
    while (race.ready.load() < count) {
      std::this_thread::yield();
    }
    const auto start = Clock::now();
    race.go = true;
    std::this_thread::sleep_for(std::chrono::duration<double>(effort.threads_s));
    race.stop = true;
    const double passed = ns_since(start);
    threads.clear();
    if (race.out_of_memory) {
      throw OutOfMemory();
    }
    runs.add(static_cast<double>(race.pairs.load()) / passed * 1e3);
  }
  return runs.median();
}

inline constexpr std::size_t ring_size = 1024;

/// A ring whose two counters both threads read at each step, sequentially consistent, as in simple
/// code. Most of the time is the ring's; the harness without an allocator measures that part.
class SharedRing {
 public:
  void push(void* pointer) {
    for (Patience patience; written_ - read_ >= ring_size;) {
      patience.wait();
    }
    places_[written_ % ring_size] = pointer;
    written_++;
  }

  void* pop() {
    for (Patience patience; read_ >= written_;) {
      patience.wait();
    }
    void* pointer = places_[read_ % ring_size];
    return pointer;
  }

  /// The place of the last `pop` may be used again.
  void popped() { read_++; }

 private:
  std::vector<void*> places_ = std::vector<void*>(ring_size);
  std::atomic<std::size_t> written_{0};
  std::atomic<std::size_t> read_{0};
};

/// A ring whose sides keep a copy of the other's counter and read it only when the ring
/// looks full or empty by that copy.
class CachingRing {
 public:
  void push(void* pointer) {
    const std::size_t at = writer_.own.load(std::memory_order_relaxed);
    for (Patience patience; at - writer_.other >= ring_size;) {
      writer_.other = reader_.own.load(std::memory_order_acquire);
      patience.wait();
    }
    places_[at % ring_size] = pointer;
    writer_.own.store(at + 1, std::memory_order_release);
  }

  void* pop() {
    const std::size_t at = reader_.own.load(std::memory_order_relaxed);
    for (Patience patience; at == reader_.other;) {
      reader_.other = writer_.own.load(std::memory_order_acquire);
      patience.wait();
    }
    return places_[at % ring_size];
  }

  void popped() {
    reader_.own.store(reader_.own.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

 private:
  struct alignas(128) Side {
    std::atomic<std::size_t> own{0};
    std::size_t other = 0;
  };
  std::vector<void*> places_ = std::vector<void*>(ring_size);
  Side writer_;
  Side reader_;
};

/// Blocks of 4 KiB, allocated on one thread and freed on another: nanoseconds a block.
template <class Ring, class Backend>
double handover_ns(Backend& backend, const Effort& effort) {
  constexpr std::size_t bytes = 4096;
  const int count = effort.handed_over;
  Effort few = effort;
  few.runs = std::min(effort.runs, 5);
  Runs runs(few);
  while (runs.more()) {
    Ring ring;
    const auto start = Clock::now();
    std::thread reader([&] {
      backend.enter_thread();
      for (int i = 0; i < count; ++i) {
        if (void* pointer = ring.pop(); pointer != nullptr) {
          backend.free(pointer, bytes, 1);
        }
        ring.popped();
      }
    });
    bool out_of_memory = false;
    for (int i = 0; i < count; ++i) {
      void* pointer = backend.allocate(bytes, 1);
      out_of_memory |= pointer == nullptr;
      ring.push(pointer);
    }
    reader.join();
    if (out_of_memory) {
      throw OutOfMemory();
    }
    runs.add(ns_since(start) / count);
  }
  return runs.median();
}

}  // namespace memory_bench

#endif  // SCONCE_BENCHES_MEMORY_THREADS_HPP
