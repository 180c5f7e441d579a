// The program that both backends run, this library and PyTorch: graphs of 100 additions and of a
// decode step of 40 small operations. Of each: to capture and instantiate, to queue, and to run. It
// prints a line for each measurement, and all measurements a second time, under keys that end in
// `_again`. With `--only graph_adds_first` it prints only what the first graph of a process takes.
//
// A backend is a struct of static functions, and two types:
//   std::string title(), void enter(), void wait()      wait: for the current stream
//   Tensor full(sizes, value)
//   void on_new_stream(work)                             with another stream of the pool, idle
//   Graph: capture(work), replay()
//   launch_of(graph)                                     the driver's own launch of a graph, or
//   null
#ifndef SCONCE_BENCHES_GRAPHS_PROGRAM_HPP
#define SCONCE_BENCHES_GRAPHS_PROGRAM_HPP

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "../../examples/decode_step.hpp"
#include "../memory/figures.hpp"

namespace graph_bench {

using memory_bench::Effort;
using memory_bench::Figures;
using Work = std::function<void()>;

inline double now_us() {
  const auto now = memory_bench::Clock::now().time_since_epoch();
  return std::chrono::duration<double, std::micro>(now).count();
}

inline double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

/// Microseconds to queue work, and until the device has done it, of batches that fit the queue.
struct Queued {
  std::vector<double> queue, device;

  void run(const Work& work, const Work& wait, int batch) {
    wait();
    const double start = now_us();
    for (int i = 0; i < batch; ++i) work();
    queue.push_back((now_us() - start) / batch);
    wait();
    device.push_back((now_us() - start) / batch);
  }

  void print(const std::string& key, const std::string& suffix) const {
    Figures::add((key + suffix).c_str(), median(queue), "us");
    Figures::add((key + "_least" + suffix).c_str(), *std::min_element(queue.begin(), queue.end()),
                 "us");
    Figures::add((key + "_device" + suffix).c_str(), median(device), "us");
  }
};

/// A graph of `work`: made, queued call by call, and replayed. Replays and the driver's launches of
/// the same graph take turns.
template <class Backend>
void graph_of(const Effort& effort, const std::string& key, const std::string& suffix,
              const Work& work) {
  const bool is_quick = effort.runs == 1;
  work();
  std::vector<double> made;
  for (int round = 0; round < (is_quick ? 2 : 60); ++round) {
    Backend::on_new_stream([&] {
      typename Backend::Graph graph;
      const double start = now_us();
      graph.capture(work);
      made.push_back(now_us() - start);
    });
  }
  Figures::add((key + "_make" + suffix).c_str(), median(made), "us");

  Queued eager, replayed, launched;
  for (int round = 0; round < (is_quick ? 2 : 60); ++round) eager.run(work, Backend::wait, 5);
  typename Backend::Graph graph;
  graph.capture(work);
  const Work launch = Backend::launch_of(graph);
  for (int round = 0; round < (is_quick ? 2 : 600); ++round) {
    const auto replay = [&] { graph.replay(); };
    const bool is_first = round % 2 == 0;
    if (launch && is_first) launched.run(launch, Backend::wait, 20);
    replayed.run(replay, Backend::wait, 20);
    if (launch && !is_first) launched.run(launch, Backend::wait, 20);
  }
  eager.print(key + "_eager", suffix);
  replayed.print(key + "_replay", suffix);
  if (launch) launched.print(key + "_driver", suffix);
}

/// The first graph of a process: what a program pays that captures once. The work has run before.
template <class Backend>
void first_graph(const std::string& key, const Work& work) {
  work();
  Backend::on_new_stream([&] {
    typename Backend::Graph graph;
    const double start = now_us();
    graph.capture(work);
    Figures::add(key, now_us() - start, "us");
  });
}

template <class Backend>
int run(const memory_bench::Options& options) {
  using Tensor = typename Backend::Tensor;
  try {
    Backend::enter();
    std::printf("# %s\n", Backend::title().c_str());
    const Tensor a = Backend::full({256}, 0.0), b = Backend::full({256}, 1.0);
    const std::vector<Tensor> gates(decode::kLayers, Backend::full({decode::kWidth}, 0.25));
    const Tensor input = Backend::full({decode::kBatch, decode::kWidth}, 1.5);
    const auto additions = [&] {
      for (int i = 0; i < 100; ++i) a.add_(b);
    };
    std::optional<Tensor> output;
    const auto step = [&] { output = decode::step(input, gates); };
    first_graph<Backend>("graph_adds_first", additions);
    for (const char* suffix : {"", "_again"}) {
      if (!Figures::wanted("graph_adds_make")) continue;
      graph_of<Backend>(options.effort, "graph_adds", suffix, additions);
      graph_of<Backend>(options.effort, "graph_decode", suffix, step);
    }
    Backend::wait();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}

}  // namespace graph_bench

#endif  // SCONCE_BENCHES_GRAPHS_PROGRAM_HPP
