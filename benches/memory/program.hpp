// The program that every backend runs.
#ifndef SCONCE_BENCHES_MEMORY_PROGRAM_HPP
#define SCONCE_BENCHES_MEMORY_PROGRAM_HPP

#include <concepts>
#include <cstdio>
#include <exception>
#include <string>

#include "replay.hpp"
#include "soak.hpp"
#include "threads.hpp"
#include "workloads.hpp"

namespace memory_bench {

template <class Backend>
void one_thread(Backend& backend, const Effort& effort) {
  constexpr std::size_t sizes[] = {512, 4096, 65536, 1 << 20, 2 << 20, 32 << 20};
  for (const std::size_t bytes : sizes) {
    Figures::measure("hit_" + size_text(bytes), "ns/pair",
                     [&] { return hit_ns(backend, bytes, effort); });
  }
  for (const std::size_t bytes : {512, 2 << 20}) {
    Figures::measure("hit_two_" + size_text(bytes), "ns/pair",
                     [&] { return hit_two_ns(backend, bytes, effort); });
  }
  if constexpr (requires { backend.allocate_here(std::size_t{512}); }) {
    Figures::measure("hit_here_512", "ns/pair", [&] { return hit_here_ns(backend, 512, effort); });
  }
  Figures::measure("live_1000", "ns/pair", [&] { return live_blocks_ns(backend, 1000, effort); });
  for (const std::size_t count : {1000, 10000, 100000}) {
    for (const std::size_t most_mib : {1, 4, 64}) {
      const std::string key =
          "random_" + std::to_string(count / 1000) + "k_" + std::to_string(most_mib) + "M";
      if (count > effort.most_random && Figures::wanted(key)) {
        Figures::leave_out(key, "not-run");
      } else {
        Figures::measure(key, "ns/op", [&] { return random_ns(backend, count, most_mib, effort); });
      }
    }
  }
}

template <class Backend>
void several_threads(Backend& backend, const Effort& effort) {
  for (const bool one_stream : {false, true}) {
    for (const int count : {1, 2, 4, 8, 16}) {
      Figures::measure((one_stream ? "one_stream_" : "own_streams_") + std::to_string(count),
                       "Mpairs/s",
                       [&] { return threads_mpairs(backend, count, one_stream, effort); });
    }
  }
  Figures::measure("handover_shared_ring", "ns/block",
                   [&] { return handover_ns<SharedRing>(backend, effort); });
  Figures::measure("handover_caching_ring", "ns/block",
                   [&] { return handover_ns<CachingRing>(backend, effort); });
}

/// What reading the figures costs while 50,000 blocks of up to 400 KB lie there, every other one
/// freed.
template <class Backend>
void queries(Backend& backend, const Effort& effort) {
  if constexpr (requires { backend.query_stats(); }) {
    if (!Figures::wanted("stats") && !Figures::wanted("snapshot_50k")) {
      return;
    }
    Blocks<Backend> blocks(backend, 0);
    try {
      for (std::size_t i = 0; i < effort.queried_blocks; ++i) {
        blocks.push(((i * 7919) % 100000 + 1) * 4);
      }
    } catch (const OutOfMemory&) {
      Figures::leave_out("stats", "OOM");
      return;
    }
    for (std::size_t i = 0; i < blocks.size(); i += 2) {
      blocks.clear(i);
    }
    Figures::measure("stats", "ns/call",
                     [&] { return pair_ns([&] { backend.query_stats(); }, effort); });
    const auto milliseconds = [&](auto call) {
      Runs runs(effort);
      while (runs.more()) {
        const auto start = Clock::now();
        call();
        runs.add(ns_since(start) / 1e6);
      }
      return runs.median();
    };
    if constexpr (requires { backend.snapshot(); }) {
      Figures::measure("snapshot_50k", "ms",
                       [&] { return milliseconds([&] { backend.snapshot(); }); });
    }
    if constexpr (requires { backend.snapshot_json(); }) {
      Figures::measure("snapshot_50k_json", "ms",
                       [&] { return milliseconds([&] { backend.snapshot_json(); }); });
    }
  }
}

template <class Backend>
void replays(Backend& backend, const Options& options, const Effort& effort) {
  if constexpr (requires { backend.start_over(); }) {
    for (const std::string& path : options.traces) {
      const Trace trace(path);
      if (!Figures::wanted("replay_" + trace.name)) {
        continue;
      }
      if (effort.replays) {
        replay(backend, trace);
      } else {
        Figures::leave_out("replay_" + trace.name + "_first", "not-run");
      }
    }
  }
}

template <class Backend>
int run(Backend& backend, const Options& options) {
  const Effort effort = Backend::slow ? options.effort.slow() : options.effort;
  std::printf("# %s\n", backend.title().c_str());
  try {
    if constexpr (requires { backend.mappings_per_page(); }) {
      for (const std::string& path : options.traces) {
        if (options.soak_seconds > 0) {
          soak(backend, Trace(path),
               options.soak_seconds / static_cast<double>(options.traces.size()));
        }
      }
    }
    if (options.soak_seconds > 0) return 0;
    // Replays first: what they reserve is compared, so nothing may lie in the cache before them.
    replays(backend, options, effort);
    one_thread(backend, effort);
    several_threads(backend, effort);
    queries(backend, effort);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}

}  // namespace memory_bench

#endif  // SCONCE_BENCHES_MEMORY_PROGRAM_HPP
