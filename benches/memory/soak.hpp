// A recorded program for a long time, pass after pass with what the passes before have left: what
// it reserves for each byte that was asked for at most, and at how many addresses a page is mapped.
#ifndef SCONCE_BENCHES_MEMORY_SOAK_HPP
#define SCONCE_BENCHES_MEMORY_SOAK_HPP

#include <algorithm>
#include <string>

#include "replay.hpp"

namespace memory_bench {

/// At least three passes; as many more as there is time for.
template <class Backend>
void soak(Backend& backend, const Trace& trace, double seconds) {
  const std::string key = "soak_" + trace.name;
  try {
    backend.start_over();
    const auto start = Clock::now();
    int passes = 0;
    double mappings = 0;
    double last = 0;
    while (passes < 3 || ns_since(start) < seconds * 1e9) {
      last = replay_once_ns(backend, trace);
      mappings = std::max(mappings, backend.mappings_per_page());
      ++passes;
    }
    Figures::add(key + "_passes", passes, "passes");
    Figures::add(key + "_last", last, "ns/event");
    Figures::add(
        key + "_overhead",
        static_cast<double>(backend.peak_reserved()) / static_cast<double>(trace.peak_requested),
        "ratio");
    Figures::add(key + "_mappings", mappings, "a page");
  } catch (const OutOfMemory&) {
    Figures::leave_out(key + "_overhead", "OOM");
  }
}

}  // namespace memory_bench

#endif  // SCONCE_BENCHES_MEMORY_SOAK_HPP
