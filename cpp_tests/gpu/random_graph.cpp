// Fills in CUDA graphs: every replay draws new numbers, and replays and ordinary fills continue one
// sequence, which is that of ordinary fills alone.
#include <iostream>
#include <memory>
#include <sconce/sconce.hpp>
#include <set>
#include <string>
#include <thread>
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

/// No fill has run in this process: kernels, the generator's place on the device and the memory for
/// both are loaded and allocated during a capture in global mode.
void the_first_fill_may_be_captured(const CUDAStream& stream) {
  const Target target;
  CUDAGenerator captured = createCUDAGenerator();
  captured.set_current_seed(1234);
  CUDAGenerator plain = captured.clone();
  const gpu::Graph graph(stream.stream(), [&] { target.fill(captured); });
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

void replays_continue_the_sequence(const CUDAStream& stream) {
  const Target target;
  CUDAGenerator captured = createCUDAGenerator();
  captured.set_current_seed(42);
  CUDAGenerator plain = captured.clone();
  captured.prepare_capture();
  const gpu::Graph graph(stream.stream(), [&] { target.fill(captured); });
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
  const gpu::Graph other(stream.stream(), [&] {
    target.fill(captured);
    try {
      (void)captured.get_state();
    } catch (const sconce::Error& error) {
      refused = error.status() == SCONCE_ERROR_INVALID_STATE;
    }
  });
  expect(refused, "the state is not told during a capture, which survives the question");
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
    the_first_fill_may_be_captured(stream);
    others_fill_during_a_capture(stream);
    replays_continue_the_sequence(stream);
    graphs_on_several_streams_share_no_numbers();
    return gpu::verdict("random graph");
  });
}
