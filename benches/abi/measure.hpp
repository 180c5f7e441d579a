// Nanoseconds a call, and the table they end in. Shared by the benchmarks of this library and of
// its peers, so that both measure alike.
//
// A figure is the least of many repetitions of a tight loop: whatever else the machine does only
// ever adds time. Two calls that are to be compared are measured in turns, so that a machine that
// slows down slows both.
#ifndef SCONCE_BENCHES_MEASURE_HPP
#define SCONCE_BENCHES_MEASURE_HPP

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace measure {

/// Makes the compiler believe that `value` is used.
template <class T>
inline void keep(const T& value) {
  asm volatile("" : : "r"(&value) : "memory");
}

struct Effort {
  int repetitions = 41;
  double repetition_ms = 1.0;
};

/// Nanoseconds a call over one loop of `calls`.
template <class Call>
double loop_ns(Call& call, long calls) {
  const auto start = std::chrono::steady_clock::now();
  for (long i = 0; i < calls; ++i) {
    call();
  }
  const std::chrono::duration<double, std::nano> passed = std::chrono::steady_clock::now() - start;
  return passed.count() / static_cast<double>(calls);
}

/// How many calls fill a repetition.
template <class Call>
long calls_for(Call& call, const Effort& effort) {
  long calls = 16;
  for (;;) {
    const double ms = loop_ns(call, calls) * static_cast<double>(calls) / 1e6;
    if (ms >= effort.repetition_ms || calls >= 1L << 26) {
      return calls;
    }
    calls *= 2;
  }
}

/// The least nanoseconds a call.
template <class Call>
double best_ns(Call call, const Effort& effort) {
  const long calls = calls_for(call, effort);
  double best = loop_ns(call, calls);
  for (int i = 1; i < effort.repetitions; ++i) {
    best = std::min(best, loop_ns(call, calls));
  }
  return best;
}

/// The least time of a call that queues work on a device. The loops are short, so that a full queue
/// never makes a call wait; `drain` between them is not timed.
template <class Call, class Drain>
double best_queued_ns(Call call, Drain drain, const Effort& effort) {
  double best = 1e300;
  for (int i = 0; i < effort.repetitions * 5; ++i) {
    drain();
    best = std::min(best, loop_ns(call, 256));
  }
  drain();
  return best;
}

/// `best_queued_ns` of two calls in turns.
template <class First, class Second, class Drain>
std::pair<double, double> best_queued_pair_ns(First first, Second second, Drain drain,
                                              const Effort& effort) {
  double best_first = 1e300;
  double best_second = 1e300;
  for (int i = 0; i < effort.repetitions * 5; ++i) {
    drain();
    best_first = std::min(best_first, loop_ns(first, 256));
    drain();
    best_second = std::min(best_second, loop_ns(second, 256));
  }
  drain();
  return {best_first, best_second};
}

/// The rows of a run. The other rows are also printed as multiples of the first one.
class Table {
 public:
  void add(std::string call, double ns, std::string note = "") {
    rows_.push_back({std::move(call), ns, std::move(note)});
  }

  /// A figure that could not be had, and why.
  void leave_out(std::string call, std::string why) {
    left_out_.push_back({std::move(call), 0, std::move(why)});
  }

  void print(const std::string& title) const {
    std::printf("# %s\n", title.c_str());
    std::printf("%-32s %10s %10s  %s\n", "call", "ns", "x empty", "note");
    for (const Row& row : rows_) {
      std::printf("%-32s %10.2f %10.2f  %s\n", row.call.c_str(), row.ns, ratio(row),
                  row.note.c_str());
    }
    for (const Row& row : left_out_) {
      std::printf("# left out: %s: %s\n", row.call.c_str(), row.note.c_str());
    }
  }

  /// Writes the same as JSON; false when the file cannot be written.
  [[nodiscard]] bool write_json(const std::string& path, const std::string& title) const {
    std::FILE* file = std::fopen(path.c_str(), "w");
    if (file == nullptr) {
      return false;
    }
    std::fprintf(file, "{\n  \"title\": \"%s\",\n  \"calls\": {", escaped(title).c_str());
    const char* separator = "";
    for (const Row& row : rows_) {
      std::fprintf(file, "%s\n    \"%s\": {\"ns\": %.3f, \"times_empty\": %.3f, \"note\": \"%s\"}",
                   separator, row.call.c_str(), row.ns, ratio(row), escaped(row.note).c_str());
      separator = ",";
    }
    std::fprintf(file, "\n  },\n  \"left_out\": {");
    separator = "";
    for (const Row& row : left_out_) {
      std::fprintf(file, "%s\n    \"%s\": \"%s\"", separator, row.call.c_str(),
                   escaped(row.note).c_str());
      separator = ",";
    }
    std::fprintf(file, "\n  }\n}\n");
    return std::fclose(file) == 0;
  }

 private:
  struct Row {
    std::string call;
    double ns;
    std::string note;
  };

  double ratio(const Row& row) const { return row.ns / rows_.front().ns; }

  static std::string escaped(const std::string& text) {
    std::string result;
    for (const char c : text) {
      if (c == '"' || c == '\\') {
        result += '\\';
      }
      result += c;
    }
    return result;
  }

  std::vector<Row> rows_;
  std::vector<Row> left_out_;
};

/// What every benchmark program takes: `--json FILE` and `--quick` (shows that it runs; the figures
/// mean little).
struct Options {
  std::string json;
  Effort effort;
  bool valid = true;

  Options(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
      const std::string argument = argv[i];
      if (argument == "--json" && i + 1 < argc) {
        json = argv[++i];
      } else if (argument == "--quick") {
        effort = {3, 0.05};
      } else {
        std::fprintf(stderr, "usage: %s [--json FILE] [--quick]\n", argv[0]);
        valid = false;
        return;
      }
    }
  }
};

/// Prints the table, writes the JSON if asked, and returns the program's exit status.
inline int finish(const Table& table, const Options& options, const std::string& title) {
  table.print(title);
  if (!options.json.empty() && !table.write_json(options.json, title)) {
    std::fprintf(stderr, "%s cannot be written\n", options.json.c_str());
    return 1;
  }
  return 0;
}

}  // namespace measure

#endif  // SCONCE_BENCHES_MEASURE_HPP
