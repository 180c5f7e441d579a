// What the allocator benchmarks print, and how a figure is taken: the median of several runs,
// within a budget of time.
#ifndef SCONCE_BENCHES_MEMORY_FIGURES_HPP
#define SCONCE_BENCHES_MEMORY_FIGURES_HPP

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace memory_bench {

using Clock = std::chrono::steady_clock;

inline double ns_since(Clock::time_point start) {
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

/// How much work a program does: `--quick` shows that it runs, and its figures mean little.
struct Effort {
  int runs = 7;
  double budget_s = 1.0;     // of one workload
  double loop_ms = 5.0;      // of one run of a loop of pairs
  double threads_s = 0.1;    // of one run with threads
  int handed_over = 200000;  // blocks of one run from thread to thread
  std::size_t most_random = 100000;
  std::size_t queried_blocks = 50000;
  bool replays = true;

  static Effort quick() { return {1, 0.05, 0.05, 0.005, 2000, 1000, 1000, true}; }

  /// The effort for an allocator that calls the driver each time: about 100 microseconds a call.
  [[nodiscard]] Effort slow() const {
    Effort less = *this;
    less.runs = std::min(runs, 3);
    less.handed_over = std::min(handed_over, 2000);
    less.most_random = std::min<std::size_t>(most_random, 1000);
    less.queried_blocks = 0;
    less.replays = false;
    return less;
  }
};

/// The runs of one measurement, of which the median counts.
class Runs {
 public:
  explicit Runs(const Effort& effort) : effort_(effort) {}

  /// True while another run is due; always for the first three runs of a measurement.
  [[nodiscard]] bool more() const {
    const auto done = static_cast<int>(values_.size());
    return done < std::min(effort_.runs, 3) ||
           (done < effort_.runs && ns_since(start_) < effort_.budget_s * 1e9);
  }

  void add(double value) { values_.push_back(value); }

  [[nodiscard]] double median() const {
    std::vector<double> sorted = values_;
    std::sort(sorted.begin(), sorted.end());
    return sorted[sorted.size() / 2];
  }

 private:
  Effort effort_;
  Clock::time_point start_ = Clock::now();
  std::vector<double> values_;
};

/// The backend has no memory left. The workload frees its blocks and is left out.
struct OutOfMemory : std::bad_alloc {
  [[nodiscard]] const char* what() const noexcept override { return "out of memory"; }
};

/// One line a measurement, `KEY VALUE UNIT`, which scripts/gpu-check merges by keys.
class Figures {
 public:
  static void add(const std::string& key, double value, const char* unit) {
    std::printf("%-32s %12.3f %s\n", key.c_str(), value, unit);
    std::fflush(stdout);
  }

  static void leave_out(const std::string& key, const std::string& why) {
    std::printf("%-32s %12s %s\n", key.c_str(), "-", why.c_str());
    std::fflush(stdout);
  }

  /// Measures only keys that begin so; everything else is passed over in silence.
  static void only(std::string prefix) { prefix_ = std::move(prefix); }
  static bool wanted(std::string_view key) { return key.starts_with(prefix_); }

  /// Runs one measurement and prints it; one that runs out of memory prints that.
  template <class Measure>
  static void measure(const std::string& key, const char* unit, Measure measure) {
    if (!wanted(key)) {
      return;
    }
    try {
      add(key, measure(), unit);
    } catch (const OutOfMemory&) {
      leave_out(key, "OOM");
    }
  }

 private:
  inline static std::string prefix_;
};

/// `512`, `4K`, `1M`: a size in a key.
inline std::string size_text(std::size_t bytes) {
  if (bytes >= std::size_t{1} << 20) {
    return std::to_string(bytes >> 20) + "M";
  }
  return bytes >= 1024 ? std::to_string(bytes >> 10) + "K" : std::to_string(bytes);
}

/// What every program here takes.
struct Options {
  Effort effort;
  std::string backend;  // which of several, where a program has several
  std::vector<std::string> traces;
  /// How long the traces are played in place of everything else; 0: not at all.
  double soak_seconds = 0;
  bool valid = true;

  Options(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
      const std::string_view argument = argv[i];
      if (argument == "--quick") {
        effort = Effort::quick();
      } else if (argument == "--backend" && i + 1 < argc) {
        backend = argv[++i];
      } else if (argument == "--only" && i + 1 < argc) {
        Figures::only(argv[++i]);
      } else if (argument == "--soak" && i + 1 < argc) {
        soak_seconds = std::strtod(argv[++i], nullptr);
      } else if (!argument.starts_with('-')) {
        traces.emplace_back(argument);
      } else {
        std::fprintf(
            stderr,
            "usage: %s [--quick] [--backend NAME] [--only PREFIX] [--soak SECONDS] [TRACE.csv…]\n",
            argv[0]);
        valid = false;
        return;
      }
    }
  }
};

}  // namespace memory_bench

#endif  // SCONCE_BENCHES_MEMORY_FIGURES_HPP
