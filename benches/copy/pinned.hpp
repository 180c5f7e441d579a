// The workloads of a cache of pinned memory: pairs that hit, live blocks of mixed sizes, threads,
// and three mixes of sizes for which each peer reports the bytes that it pins.
//
// `Backend::pin(bytes)` returns a movable `Backend::Pinned`, which frees its memory when it is
// destroyed, and throws OutOfMemory if there is none.
#ifndef SCONCE_BENCHES_COPY_PINNED_HPP
#define SCONCE_BENCHES_COPY_PINNED_HPP

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "../memory/threads.hpp"

namespace copy_bench {

using memory_bench::Clock;
using memory_bench::Effort;
using memory_bench::Figures;
using memory_bench::ns_since;
using memory_bench::Runs;

inline constexpr std::size_t kib = 1024;
inline constexpr std::size_t mib = kib * kib;

/// The figures that a cache of pinned memory reports.
struct PinnedFigures {
  std::size_t bytes = 0;       // pinned now
  std::size_t peak_bytes = 0;  // since `start_over`
  long pinnings = 0;           // calls of the driver
};

/// One block, allocated and freed over and over.
template <class Backend>
double pin_hit_ns(std::size_t bytes, const Effort& effort) {
  return memory_bench::pair_ns([&] { (void)Backend::pin(bytes); }, effort);
}

/// Blocks of two sizes in turn; one of the two pairs.
template <class Backend>
double pin_two_sizes_ns(const Effort& effort) {
  return memory_bench::pair_ns(
             [] {
               (void)Backend::pin(mib);
               (void)Backend::pin(96 * kib);
             },
             effort) /
         2;
}

/// 64 live blocks of 4 KiB to 1 MiB: each step frees one at random and allocates another; an
/// operation is either.
template <class Backend>
double pin_live_ns(const Effort& effort) {
  constexpr std::size_t live = 64;
  constexpr std::size_t steps = 4096;
  std::mt19937_64 engine(1);
  std::array<std::size_t, live> sizes{};
  for (auto& bytes : sizes) {
    bytes = memory_bench::log_uniform(engine, 12, 20);
  }
  // Drawn before the timed loop: the block that is freed, and the block with the next size.
  std::vector<std::array<std::size_t, 2>> draws(steps);
  for (auto& draw : draws) {
    draw = {engine() % live, engine() % live};
  }
  std::vector<typename Backend::Pinned> blocks(live);
  for (std::size_t i = 0; i < live; ++i) {
    blocks[i] = Backend::pin(sizes[i]);
  }
  const auto run = [&] {
    const auto start = Clock::now();
    for (const auto& [place, size] : draws) {
      blocks[place] = {};
      blocks[place] = Backend::pin(sizes[size]);
    }
    return ns_since(start) / static_cast<double>(2 * steps);
  };
  run();
  Runs runs(effort);
  while (runs.more()) {
    runs.add(run());
  }
  return runs.median();
}

/// Millions of pairs of 1 MiB a second, the sum of all threads.
template <class Backend>
double pin_threads_mpairs(int count, const Effort& effort) {
  Runs runs(effort);
  while (runs.more()) {
    memory_bench::Race race;
    std::vector<std::jthread> threads;
    for (int i = 0; i < count; ++i) {
      threads.emplace_back([&race] {
        long pairs = 0;
        try {
          Backend::enter_thread();
          (void)Backend::pin(mib);
          race.ready.fetch_add(1);
          for (memory_bench::Patience patience; !race.go.load(std::memory_order_acquire);) {
            patience.wait();
          }
          for (; !race.stop.load(std::memory_order_relaxed); ++pairs) {
            (void)Backend::pin(mib);
          }
        } catch (const memory_bench::OutOfMemory&) {
          race.out_of_memory = true;
          race.ready.fetch_add(1);
        }
        race.pairs.fetch_add(pairs);
      });
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
      throw memory_bench::OutOfMemory();
    }
    runs.add(static_cast<double>(race.pairs.load()) / passed * 1e3);
  }
  return runs.median();
}

/// How sizes come: all live at once, or the newest few.
struct Mix {
  std::string name;
  std::vector<std::size_t> first;   // in the order in which they are asked for
  std::vector<std::size_t> second;  // once all of the first are freed
  std::size_t live = 0;             // the greatest number of live blocks; 0: all
};

/// Nothing that is pinned at a time exceeds 4 GiB, of which a cache may make twice as much.
inline std::vector<Mix> mixes(bool quick) {
  std::mt19937_64 engine(7);
  Mix logarithmic{"log", {}, {}, 0};
  for (auto* sizes : {&logarithmic.first, &logarithmic.second}) {
    for (int i = 0; i < (quick ? 40 : 400); ++i) {
      sizes->push_back(memory_bench::log_uniform(engine, 12, 26));
    }
  }
  // Batches of a loader, eight of them under way.
  Mix loader{"loader", {}, {}, 8};
  std::uniform_int_distribution<std::size_t> batch(mib, 48 * mib);
  for (auto* sizes : {&loader.first, &loader.second}) {
    for (int i = 0; i < (quick ? 100 : 2000); ++i) {
      sizes->push_back(batch(engine));
    }
  }
  // Users' tensors: a little more than a power of two.
  Mix users{"users", {}, {}, 0};
  for (int i = 0; i < (quick ? 2 : 12); ++i) {
    for (int power = 12; power <= 26; ++power) {
      users.first.push_back((std::size_t{11} << power) / 10);
    }
  }
  std::shuffle(users.first.begin(), users.first.end(), engine);
  users.second = users.first;
  std::shuffle(users.second.begin(), users.second.end(), engine);
  return {logarithmic, loader, users};
}

/// Allocates the sizes; returns the peak of requested bytes.
template <class Backend>
std::size_t ask(const std::vector<std::size_t>& sizes, std::size_t live) {
  const std::size_t places = live == 0 ? sizes.size() : live;
  std::vector<typename Backend::Pinned> blocks(places);
  std::vector<std::size_t> asked(places);
  std::size_t now = 0;
  std::size_t most = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::size_t place = i % places;
    blocks[place] = {};
    now += sizes[i] - asked[place];
    asked[place] = sizes[i];
    blocks[place] = Backend::pin(sizes[i]);
    most = std::max(most, now);
  }
  return most;
}

/// What is pinned at most over what is asked for at most, and how often the driver is asked: at
/// first, and when other sizes of the kind come once all is free.
template <class Backend>
void pin_mixes(const Effort& effort) {
  for (const Mix& mix : mixes(effort.runs == 1)) {
    if (!Figures::wanted("pin_waste_" + mix.name)) {
      continue;
    }
    try {
      Backend::start_over();
      const PinnedFigures before = Backend::pinned_figures();
      const auto start = Clock::now();
      std::size_t asked = ask<Backend>(mix.first, mix.live);
      const double first_ms = ns_since(start) / 1e6;
      const PinnedFigures once = Backend::pinned_figures();
      Figures::add("pin_waste_" + mix.name,
                   static_cast<double>(once.peak_bytes - before.bytes) / static_cast<double>(asked),
                   "x");
      Figures::add("pin_calls_" + mix.name, static_cast<double>(once.pinnings - before.pinnings),
                   "calls");
      Figures::add("pin_first_" + mix.name, first_ms, "ms");
      asked = std::max(asked, ask<Backend>(mix.second, mix.live));
      const PinnedFigures twice = Backend::pinned_figures();
      Figures::add(
          "pin_waste_again_" + mix.name,
          static_cast<double>(twice.peak_bytes - before.bytes) / static_cast<double>(asked), "x");
      Figures::add("pin_calls_again_" + mix.name,
                   static_cast<double>(twice.pinnings - once.pinnings), "calls");
    } catch (const memory_bench::OutOfMemory&) {
      Figures::leave_out("pin_waste_" + mix.name, "OOM");
    }
  }
  Backend::start_over();
}

template <class Backend>
void pinned_allocator(const Effort& effort) {
  pin_mixes<Backend>(effort);
  Figures::measure("pin_hit_512", "ns/pair", [&] { return pin_hit_ns<Backend>(512, effort); });
  Figures::measure("pin_hit_1M", "ns/pair", [&] { return pin_hit_ns<Backend>(mib, effort); });
  Figures::measure("pin_two_sizes", "ns/pair", [&] { return pin_two_sizes_ns<Backend>(effort); });
  Figures::measure("pin_live_64", "ns/op", [&] { return pin_live_ns<Backend>(effort); });
  for (const int count : {1, 2, 8}) {
    Figures::measure("pin_threads_" + std::to_string(count), "Mpairs/s",
                     [&] { return pin_threads_mpairs<Backend>(count, effort); });
  }
  Backend::start_over();
}

}  // namespace copy_bench

#endif  // SCONCE_BENCHES_COPY_PINNED_HPP
