// Replays what a program asked of its allocator: a CSV file with `a,ID,BYTES,STREAM` and
// `f,ID,BYTES,STREAM` a line.
#ifndef SCONCE_BENCHES_MEMORY_REPLAY_HPP
#define SCONCE_BENCHES_MEMORY_REPLAY_HPP

#include <algorithm>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "blocks.hpp"

namespace memory_bench {

struct Event {
  std::size_t bytes;
  std::uint32_t block;
  std::uint16_t stream;
  bool allocates;
};

struct Trace {
  std::string name;
  std::vector<Event> events;
  std::size_t blocks = 0;
  /// The most bytes that the program held at a time.
  std::size_t peak_requested = 0;

  explicit Trace(const std::string& path) {
    const std::size_t begin = path.rfind('/') + 1;
    name = path.substr(begin, path.find('.', begin) - begin);
    std::ifstream file(path);
    std::size_t requested = 0;
    for (std::string line; std::getline(file, line);) {
      if (line.empty() || line.front() == '#') {
        continue;
      }
      char kind = 0;
      Event event{};
      if (std::sscanf(line.c_str(), "%c,%" SCNu32 ",%zu,%" SCNu16, &kind, &event.block,
                      &event.bytes, &event.stream) != 4 ||
          (kind != 'a' && kind != 'f') || event.stream > most_streams) {
        throw std::runtime_error(path + ": cannot read the line " + line);
      }
      event.allocates = kind == 'a';
      requested += event.allocates ? event.bytes : -event.bytes;
      peak_requested = std::max(peak_requested, requested);
      blocks = std::max<std::size_t>(blocks, event.block + std::size_t{1});
      events.push_back(event);
    }
    if (events.empty()) {
      throw std::runtime_error(path + " holds no events");
    }
  }
};

/// One pass; the blocks that the program never freed go back after it, outside the time.
template <class Backend>
double replay_once_ns(Backend& backend, const Trace& trace) {
  std::vector<void*> pointers(trace.blocks, nullptr);
  std::size_t done = 0;
  bool out_of_memory = false;
  const auto start = Clock::now();
  for (const Event& event : trace.events) {
    void*& pointer = pointers[event.block];
    if (!event.allocates) {
      if (pointer != nullptr) {
        backend.free(pointer, event.bytes, event.stream);
        pointer = nullptr;
      }
    } else if (event.bytes != 0) {
      pointer = backend.allocate(event.bytes, event.stream);
      if (pointer == nullptr) {
        out_of_memory = true;
        break;
      }
    }
    ++done;
  }
  const double passed = ns_since(start);
  for (std::size_t i = 0; i < done; ++i) {
    const Event& event = trace.events[i];
    void*& pointer = pointers[event.block];
    if (event.allocates && pointer != nullptr) {
      backend.free(pointer, event.bytes, event.stream);
      pointer = nullptr;
    }
  }
  if (out_of_memory) {
    throw OutOfMemory();
  }
  return passed / static_cast<double>(trace.events.size());
}

/// The first pass begins with nothing cached; the others find what it left.
template <class Backend>
void replay(Backend& backend, const Trace& trace) {
  const std::string key = "replay_" + trace.name;
  try {
    backend.start_over();
    const double first = replay_once_ns(backend, trace);
    const std::size_t reserved = backend.peak_reserved();
    double best = first;
    for (int i = 0; i < 4; ++i) {
      best = std::min(best, replay_once_ns(backend, trace));
    }
    Figures::add(key + "_first", first, "ns/event");
    Figures::add(key + "_best", best, "ns/event");
    Figures::add(key + "_reserved", static_cast<double>(reserved) / 0x1p20, "MiB");
    Figures::add(key + "_overhead",
                 static_cast<double>(reserved) / static_cast<double>(trace.peak_requested),
                 "ratio");
  } catch (const OutOfMemory&) {
    Figures::leave_out(key + "_first", "OOM");
  }
}

}  // namespace memory_bench

#endif  // SCONCE_BENCHES_MEMORY_REPLAY_HPP
