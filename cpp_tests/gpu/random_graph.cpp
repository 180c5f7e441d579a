// Fills in CUDA graphs, captured by this library and by other code: every replay draws new numbers,
// and replays and ordinary fills continue one sequence, which is that of ordinary fills alone.
// Calls that read or set states leave the captures of other threads alone.
#include <chrono>
#include <functional>
#include <iostream>
#include <memory>
#include <sconce/sconce_all.hpp>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "program.hpp"

namespace {

using namespace sconce::cuda;
using gpu::expect;

constexpr std::size_t kNormal = 2'000'003;
constexpr std::size_t kUniform = 1'000;
constexpr int kReplays = 3;

/// The memory that the graphs of these tests fill: two results, one after the other.
struct Target {
  gpu::Memory memory{(kNormal + kUniform) * sizeof(float)};

  void fill(const CUDAGenerator& generator) const {
    auto* const begin = static_cast<float*>(memory.get());
    normal_(begin, kNormal, ScalarType::Float, 0, 1, generator);
    uniform_(begin + kNormal, kUniform, ScalarType::Float, 0, 1, generator);
  }

  [[nodiscard]] std::vector<float> read() const {
    std::vector<float> values(kNormal + kUniform);
    memory.read(values.data(), values.size() * sizeof(float));
    return values;
  }
};

std::vector<float> eager(const Target& target, const CUDAGenerator& generator) {
  target.fill(generator);
  return target.read();
}

/// A graph of this library, as `gpu::Graph` is one of other code.
class OwnGraph {
 public:
  template <class Work>
  OwnGraph(void* /*stream*/, Work&& work, CaptureMode mode = CaptureMode::Global) {
    graph_.capture_begin(MempoolId{}, mode);
    work();
    graph_.capture_end();
  }

  void launch(void* stream) const { graph_.replay(getStreamFromExternal(stream, 0)); }

 private:
  CUDAGraph graph_;
};

/// No fill has run in this process: kernels, the generator's place on the device and the memory for
/// both are loaded and allocated during a capture in global mode.
template <class Graph>
void the_first_fill_may_be_captured(const CUDAStream& stream) {
  const Target target;
  CUDAGenerator captured = createCUDAGenerator();
  captured.set_current_seed(1234);
  CUDAGenerator plain = captured.clone();
  const Graph graph(stream.stream(), [&] { target.fill(captured); });
  for (int replay = 0; replay < kReplays; ++replay) {
    graph.launch(stream.stream());
    const auto replayed = target.read();
    expect(replayed == eager(target, plain), "a graph of the first fill draws the right numbers");
  }
  expect(captured.get_state() == plain.get_state(), "and its state is the right one");
}

/// Another thread fills on its own stream while this one captures.
void others_fill_during_a_capture(const CUDAStream& stream) {
  const Target target;
  const Target theirs;
  const CUDAGenerator generator = createCUDAGenerator();
  const CUDAStream own = getStreamFromPool();
  std::string words;
  const gpu::Graph graph(stream.stream(), [&] {
    target.fill(generator);
    std::thread([&] {
      const CUDAStreamGuard guard(own);
      try {
        theirs.fill(createCUDAGenerator());
      } catch (const sconce::Error& error) {
        words = error.what();
      }
    }).join();
  });
  expect(words.empty(), "another thread fills during a capture in global mode " + words);
  gpu::synchronize();
}

template <class Graph>
void replays_continue_the_sequence(const CUDAStream& stream) {
  const Target target;
  CUDAGenerator captured = createCUDAGenerator();
  captured.set_current_seed(42);
  CUDAGenerator plain = captured.clone();
  captured.prepare_capture();
  const Graph graph(stream.stream(), [&] { target.fill(captured); });
  std::vector<std::vector<float>> results;
  for (int replay = 0; replay < kReplays; ++replay) {
    graph.launch(stream.stream());
    results.push_back(target.read());
  }
  bool same = true;
  for (const auto& result : results) {
    same = same && result == eager(target, plain);
  }
  expect(same, "three replays give what three ordinary rounds of fills give");
  expect(results[0] != results[1] && results[1] != results[2] && results[0] != results[2],
         "and each gives other numbers");
  expect(captured.get_state() == plain.get_state(), "the states agree afterwards");
  expect(eager(target, captured) == eager(target, plain), "an ordinary fill goes on from there");
  graph.launch(stream.stream());
  const auto after = target.read();
  expect(after == eager(target, plain), "and so does the next replay");

  captured.set_current_seed(7);
  plain.set_current_seed(7);
  graph.launch(stream.stream());
  const auto seeded = target.read();
  expect(seeded == eager(target, plain), "a new seed reaches a graph that is there already");
  captured.set_state(plain.get_state());
  expect(captured.philox_engine_inputs(8) == plain.philox_engine_inputs(8),
         "reserving goes on from there too");
  expect(captured.get_state() == plain.get_state(), "and leaves equal states");
  bool refused = false;
  const Graph other(stream.stream(), [&] {
    target.fill(captured);
    try {
      (void)captured.get_state();
    } catch (const sconce::Error& error) {
      refused = error.status() == SCONCE_ERROR_INVALID_STATE;
    }
  });
  expect(refused, "the state is not told during a capture, which survives the question");
}

/// The order of the sequence is that of the host's calls, though a stream is busy at first.
void streams_draw_in_the_order_of_the_calls() {
  constexpr std::size_t kEach = 1000;
  constexpr auto kBusy = std::chrono::milliseconds(100);
  const gpu::Memory memory(4 * kEach * sizeof(float));
  const auto at = [&](std::size_t place) {
    return static_cast<float*>(memory.get()) + place * kEach;
  };
  const auto fill = [&](const CUDAGenerator& generator, std::size_t place) {
    uniform_(at(place), kEach, ScalarType::Float, 0, 1, generator);
  };
  const CUDAGenerator captured = createCUDAGenerator();
  const CUDAGenerator plain = captured.clone();
  const CUDAStream busy = getStreamFromPool();
  const CUDAStream idle = getStreamFromPool();
  CUDAGraph graph;
  {
    GraphGuard capture(graph, busy);
    fill(captured, 0);
    capture.end();
  }
  const auto read = [&] {
    std::vector<float> values(4 * kEach);
    memory.read(values.data(), values.size() * sizeof(float));
    return values;
  };
  std::vector<float> drawn;
  for (const bool is_gone : {false, true}) {
    sleep(kBusy, busy);
    {
      const CUDAStreamGuard guard(busy);
      if (is_gone) {
        graph.reset();
        fill(captured, 0);
      } else {
        graph.replay(busy);
      }
      fill(captured, 1);
    }
    {
      const CUDAStreamGuard guard(idle);
      fill(captured, 2);
    }
    expect(!busy.query(), "the first stream is busy meanwhile");
    fill(captured, 3);
    drawn = read();
    for (std::size_t place = 0; place < 4; ++place) fill(plain, place);
    expect(drawn == read(), is_gone ? "likewise when the graph is gone"
                                    : "a replay and fills on three streams draw in their order");
    expect(captured.get_offset() == plain.get_offset(), "and the offsets agree");
  }
}

/// The body of a conditional node: the device alone knows what is drawn.
void bodies_draw_what_ordinary_fills_would_draw() {
  constexpr std::size_t kEach = 1000;
  const gpu::Memory memory(kEach * sizeof(float));
  auto* const out = static_cast<float*>(memory.get());
  const auto fill = [&](const CUDAGenerator& generator) {
    uniform_(out, kEach, ScalarType::Float, 0, 1, generator);
  };
  const auto read = [&] {
    std::vector<float> values(kEach);
    memory.read(values.data(), values.size() * sizeof(float));
    return values;
  };
  const auto options = sconce::TensorOptions(sconce::kCUDA).dtype(sconce::kInt);
  const sconce::Tensor left = sconce::full({1}, 1, options);
  const CUDAGenerator captured = createCUDAGenerator();
  const CUDAGenerator plain = captured.clone();
  CUDAGraph graph;
  try {
    GraphGuard capture(graph);
    const auto more = graph.create_condition();
    graph.set_condition(more, left.data_ptr(), sizeof(int));
    graph.while_node(more, [&] {
      fill(captured);
      left.sub_(1);
      graph.set_condition(more, left.data_ptr(), sizeof(int));
    });
    capture.end();
  } catch (const sconce::Error& error) {
    if (error.status() != SCONCE_ERROR_NOT_SUPPORTED) throw;
    std::cout << "skipped  conditional nodes: " << error.what() << std::endl;
    return;
  }
  const CUDAStream other = getStreamFromPool();
  for (const int times : {3, 1, 5}) {
    left.fill_(times);
    graph.replay();
    {
      const CUDAStreamGuard guard(other);
      fill(captured);
    }
    const auto drawn = read();
    for (int i = 0; i <= times; ++i) fill(plain);
    expect(drawn == read(),
           std::to_string(times) + " runs of a body, and a fill on another stream");
    expect(captured.get_state() == plain.get_state(), "the state is known when they are done");
  }
}

/// Reads and sets states on another thread while this one captures.
void states_leave_captures_of_other_threads_alone(const CUDAStream& stream) {
  const Target target;
  CUDAGenerator used = getDefaultCUDAGenerator();
  {
    CUDAGraph gone;
    GraphGuard capture(gone);
    target.fill(used);
    capture.end();
    gone.replay();
  }
  const std::vector<std::pair<std::string, std::function<void()>>> calls = {
      {"initial_seed", [] { (void)initial_seed(); }},
      {"get_state", [&] { (void)used.get_state(); }},
      {"get_offset", [&] { (void)used.get_offset(); }},
      {"set_offset", [&] { used.set_offset(8); }},
      {"manual_seed of all", [] { sconce::manual_seed(42); }},
      {"philox_engine_inputs", [&] { (void)used.philox_engine_inputs(4); }},
      {"a graph of its own",
       [] {
         CUDAGraph graph;
         GraphGuard capture(graph, MempoolId{}, CaptureMode::ThreadLocal);
         capture.end();
       }},
  };
  for (const CaptureMode mode :
       {CaptureMode::Global, CaptureMode::ThreadLocal, CaptureMode::Relaxed}) {
    for (const auto& [name, call] : calls) {
      std::string words;
      try {
        const OwnGraph graph(
            stream.stream(),
            [&] {
              target.fill(createCUDAGenerator());
              std::thread([&, &call = call] {
                try {
                  call();
                } catch (const sconce::Error& error) {
                  words = error.what();
                }
              }).join();
              target.fill(createCUDAGenerator());
            },
            mode);
        graph.launch(stream.stream());
        gpu::synchronize();
      } catch (const sconce::Error& error) {
        words += std::string("; the capture: ") + error.what();
      }
      expect(words.empty(), name + " beside a capture, mode " +
                                std::to_string(static_cast<int>(mode)) + " " + words);
    }
  }
}

void graphs_on_several_streams_share_no_numbers() {
  constexpr std::size_t kEach = 64;
  constexpr int kRounds = 100;
  const CUDAGenerator generator = createCUDAGenerator();
  const CUDAStream first = getStreamFromPool();
  const CUDAStream second = getStreamFromPool();
  const gpu::Memory memory(3 * kRounds * kEach * sizeof(double));
  auto* const out = static_cast<double*>(memory.get());
  // One graph for each round, so that each writes to its own place.
  std::vector<std::unique_ptr<gpu::Graph>> graphs;
  for (int round = 0; round < 2 * kRounds; ++round) {
    const CUDAStream& stream = round % 2 == 0 ? first : second;
    const CUDAStreamGuard guard(stream);
    graphs.push_back(std::make_unique<gpu::Graph>(stream.stream(), [&] {
      uniform_(out + static_cast<std::size_t>(round) * kEach, kEach, ScalarType::Double, 0, 1,
               generator);
    }));
  }
  for (int round = 0; round < kRounds; ++round) {
    graphs[static_cast<std::size_t>(2 * round)]->launch(first.stream());
    graphs[static_cast<std::size_t>(2 * round + 1)]->launch(second.stream());
    const CUDAStreamGuard guard(getStreamFromPool());
    uniform_(out + static_cast<std::size_t>(2 * kRounds + round) * kEach, kEach, ScalarType::Double,
             0, 1, generator);
  }
  std::vector<double> values(3 * kRounds * kEach);
  memory.read(values.data(), values.size() * sizeof(double));
  const std::set<double> distinct(values.begin(), values.end());
  expect(distinct.size() == values.size(),
         "graphs and fills on many streams at once: " + std::to_string(distinct.size()) + " of " +
             std::to_string(values.size()) + " numbers are distinct");
}

}  // namespace

int main() {
  return gpu::program("random_graph", [] {
    const CUDAStream stream = getStreamFromPool();
    const CUDAStreamGuard guard(stream);
    the_first_fill_may_be_captured<gpu::Graph>(stream);
    the_first_fill_may_be_captured<OwnGraph>(stream);
    others_fill_during_a_capture(stream);
    replays_continue_the_sequence<gpu::Graph>(stream);
    replays_continue_the_sequence<OwnGraph>(stream);
    streams_draw_in_the_order_of_the_calls();
    bodies_draw_what_ordinary_fills_would_draw();
    states_leave_captures_of_other_threads_alone(stream);
    graphs_on_several_streams_share_no_numbers();
    return gpu::verdict("random graph");
  });
}
