// Random programs of streams, events, memory, fills, random numbers and graphs, beside a naive
// model: the model does every step at once, in the order of the program, on bytes of the host, and
// a launch of a graph does there what the captured calls would do. Memory dies while graphs may
// still be launched, graphs are launched in any order on any stream, and graphs share pools.
//
// SCONCE_TEST_SCRIPTS asks for more programs than usual.
#include "graph_model.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <sconce/sconce_all.hpp>
#include <string>
#include <utility>
#include <vector>

#include "fixture.hpp"

namespace {

using namespace sconce::cuda;
using model::Block;
using model::Clocks;
using model::kGeneratorClock;
using model::kGenerators;
using model::Kind;
using model::kStreams;
using model::Numbers;
using model::Operation;
using sconce::detail::check;
using Bytes = model::Bytes;

constexpr int kPrograms = 200;
constexpr int kSteps = 40;
/// Blocks that live as long as the program: graphs use these.
constexpr int kLasting = 4;
constexpr int kPools = 2;
constexpr std::size_t kMostGraphs = 4;

// What clocks know things by, besides blocks and generators.
constexpr int kPoolClock = 2'000'000;
constexpr int kGraphClock = 3'000'000;

/// A captured graph, and what its launch does.
struct Captured {
  CUDAGraph graph;
  int number = 0;
  int pool = -1;  // a shared one; -1 for its own
  std::vector<Operation> body;
  std::map<int, Block> memory;    // that the capture allocated, with what the model says it holds
  std::vector<int> live;          // of these, blocks that nobody has freed
  bool holds_its_output = false;  // of the last launch: no other graph has overwritten it
};

class Program : private model::Machine {
 public:
  explicit Program(std::uint64_t seed) : Machine(seed), clocks_(kStreams + 1) {
    for (int i = 0; i < kPools; ++i) pools_.push_back(graph_pool_handle());
    for (int i = 0; i < kLasting; ++i) allocate(1 + numbers_.below(kStreams));
  }

  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  ~Program() {
    device_synchronize();
    for (auto& [number, block] : blocks_) check(::sconce_memory_free(block.address));
    for (const auto& graph : graphs_) free_outputs(*graph);
    for (void* orphan : orphans_) check(::sconce_memory_free(orphan));
  }

  /// One step. Returns what it was, for messages.
  std::string step() {
    switch (numbers_.below(16)) {
      case 0:
      case 1:
        if (graphs_.size() < kMostGraphs) return capture();
        return launch();
      case 2:
      case 3:
      case 4:
      case 5:
      case 6:
        return launch();
      case 7:
        return drop_graph();
      case 8:
        return free_output();
      case 9:
        allocate(numbers_.below(streams_.size()));
        return "allocate";
      case 10:
        return free_block();
      case 11:
        if (numbers_.one_of(3)) {
          const int which = static_cast<int>(numbers_.below(kGenerators));
          seed_generator(which, numbers_.below(1'000'000));
          return "seed";
        }
        check(::sconce_memory_empty_cache());
        return "empty the cache";
      default:
        return eager();
    }
  }

  /// Compares all memory with the model's.
  void compare() {
    device_synchronize();
    for (const auto& [number, block] : blocks_) same(block, "block " + std::to_string(number));
    for (const auto& graph : graphs_) {
      if (!graph->holds_its_output) continue;
      for (const int number : graph->live) {
        same(graph->memory.at(number),
             "output " + std::to_string(number) + " of graph " + std::to_string(graph->number));
      }
    }
    for (int i = 0; i < kGenerators; ++i) {
      EXPECT_EQ(generators_[index(i)].get_state(), plain_[index(i)].get_state()) << i;
    }
    clocks_ = Clocks(kStreams + 1);
  }

  int launches = 0;
  int captures = 0;

 private:
  /// A random operation on some of the blocks.
  Operation some_operation(const std::vector<int>& choice, const std::map<int, Block>& own) {
    const auto bytes_of = [&](int number) {
      const auto found = own.find(number);
      return (found == own.end() ? blocks_.at(number) : found->second).bytes.size();
    };
    Operation operation;
    operation.target = choice[numbers_.below(choice.size())];
    operation.source = choice[numbers_.below(choice.size())];
    const std::size_t kind = numbers_.below(8);
    operation.kind = kind < 2    ? Kind::Set
                     : kind < 4  ? Kind::Add
                     : kind < 6  ? Kind::Copy
                     : kind == 6 ? Kind::Uniform
                                 : Kind::Normal;
    if (operation.kind == Kind::Copy && operation.source == operation.target) {
      operation.kind = Kind::Add;
    }
    const std::size_t words = bytes_of(operation.target) / 4;
    std::size_t most = words;
    if (operation.kind == Kind::Copy) most = std::min(words, bytes_of(operation.source) / 4);
    const std::size_t count = 1 + numbers_.below(most);
    operation.count = 4 * count;
    operation.at = 4 * numbers_.below(words - count + 1);
    if (operation.kind == Kind::Copy) {
      operation.from = 4 * numbers_.below(bytes_of(operation.source) / 4 - count + 1);
    }
    operation.value = static_cast<std::uint8_t>(1 + numbers_.below(255));
    operation.generator = static_cast<int>(numbers_.below(kGenerators));
    return operation;
  }

  void allocate(std::size_t home) {
    Block block;
    block.home = static_cast<int>(home);
    block.bytes.resize(4 * (1 + numbers_.below(600)));
    void* address = nullptr;
    check(::sconce_memory_alloc_on(block.bytes.size(), stream(block.home).get(), &address));
    block.address = static_cast<std::uint8_t*>(address);
    const int number = next_block_++;
    Operation whole;
    whole.target = number;
    whole.count = block.bytes.size();
    whole.value = static_cast<std::uint8_t>(numbers_.below(256));
    claim(clocks_, block.home, whole);
    queue(whole, block, nullptr, block.home);
    imitate(whole, block, nullptr);
    blocks_.emplace(number, std::move(block));
  }

  /// Frees a block while work may still use it.
  std::string free_block() {
    if (blocks_.size() <= kLasting) return "nothing";
    auto chosen = std::next(blocks_.begin(), kLasting);
    std::advance(chosen, numbers_.below(blocks_.size() - kLasting));
    const auto& [number, block] = *chosen;
    release(clocks_, number, block);
    blocks_.erase(chosen);
    return "free";
  }

  /// Orders a block's uses before its stream's later work, or notes them; then frees it.
  void release(Clocks& clocks, int number, const Block& block) {
    if (numbers_.one_of(2)) {
      order(clocks, block.home, number);
    } else {
      for (const int user : clocks.users(number)) {
        check(::sconce_memory_record_stream(block.address, stream(user).get()));
      }
    }
    check(::sconce_memory_free(block.address));
    clocks.forget(number);
  }

  std::string eager() {
    std::vector<int> choice;
    for (const auto& block : blocks_) choice.push_back(block.first);
    const int on = static_cast<int>(numbers_.below(streams_.size()));
    const Operation operation = some_operation(choice, {});
    claim(clocks_, on, operation);
    Block& target = blocks_.at(operation.target);
    const Block& source = blocks_.at(operation.source);
    queue(operation, target, &source, on);
    imitate(operation, target, &source);
    return "work";
  }

  std::string capture() {
    ++captures;
    auto captured = std::make_unique<Captured>();
    captured->number = next_graph_++;
    if (numbers_.one_of(2)) captured->pool = static_cast<int>(numbers_.below(kPools));
    const int origin = static_cast<int>(numbers_.below(kStreams));
    const CUDAStreamGuard guard(stream(origin));
    const CaptureMode mode = numbers_.one_of(2) ? CaptureMode::Global : CaptureMode::ThreadLocal;
    if (captured->pool < 0) {
      captured->graph.capture_begin(MempoolId{}, mode);
    } else {
      captured->graph.capture_begin(pools_[index(captured->pool)], mode);
    }
    Clocks clocks(kStreams + 1);
    std::vector<bool> joined(kStreams, false);
    joined[index(origin)] = true;
    const std::size_t steps = 4 + numbers_.below(25);
    for (std::size_t i = 0; i < steps; ++i) {
      const int on = static_cast<int>(numbers_.below(kStreams));
      if (!joined[index(on)]) {
        stream(on).wait_stream(stream(origin));
        clocks.follow(on, origin);
        joined[index(on)] = true;
      }
      capture_step(*captured, clocks, on);
    }
    // Most of the memory dies before the end.
    while (!captured->live.empty() && !numbers_.one_of(4)) free_inside(*captured, clocks);
    for (int other = 0; other < kStreams; ++other) {
      if (joined[index(other)] && other != origin) stream(origin).wait_stream(stream(other));
    }
    captured->graph.capture_end();
    graphs_.push_back(std::move(captured));
    return "capture";
  }

  void capture_step(Captured& captured, Clocks& clocks, int on) {
    const std::size_t what = numbers_.below(8);
    if (what == 0 || captured.memory.empty()) {
      Block block;
      block.home = on;
      block.bytes.resize(4 * (1 + numbers_.below(600)));
      void* address = nullptr;
      check(::sconce_memory_alloc_on(block.bytes.size(), stream(on).get(), &address));
      block.address = static_cast<std::uint8_t*>(address);
      Operation whole;
      whole.target = next_block_++;
      whole.count = block.bytes.size();
      whole.value = static_cast<std::uint8_t>(numbers_.below(256));
      claim(clocks, on, whole);
      queue(whole, block, nullptr, on);
      captured.body.push_back(whole);
      captured.live.push_back(whole.target);
      captured.memory.emplace(whole.target, std::move(block));
      return;
    }
    if (what == 1 && !captured.live.empty()) {
      free_inside(captured, clocks);
      return;
    }
    std::vector<int> choice = captured.live;
    for (int i = 0; i < kLasting; ++i) choice.push_back(i);
    const Operation operation = some_operation(choice, captured.memory);
    claim(clocks, on, operation);
    queue(operation, block_of(captured, operation.target), &block_of(captured, operation.source),
          on);
    captured.body.push_back(operation);
  }

  void free_inside(Captured& captured, Clocks& clocks) {
    const std::size_t at = numbers_.below(captured.live.size());
    const int number = captured.live[at];
    release(clocks, number, captured.memory.at(number));
    captured.live.erase(captured.live.begin() + static_cast<std::ptrdiff_t>(at));
  }

  Block& block_of(Captured& captured, int number) {
    const auto found = captured.memory.find(number);
    return found == captured.memory.end() ? blocks_.at(number) : found->second;
  }

  std::string launch() {
    if (graphs_.empty()) return "nothing";
    Captured& captured = *graphs_[numbers_.below(graphs_.size())];
    const int on = static_cast<int>(numbers_.below(streams_.size()));
    // Everything the graph uses, its pool among it: graphs that share one do not run together.
    std::vector<int> used{kGraphClock + captured.number};
    if (captured.pool >= 0) used.push_back(kPoolClock + captured.pool);
    for (const Operation& operation : captured.body) {
      if (operation.target < kLasting) used.push_back(operation.target);
      if (operation.kind == Kind::Copy && operation.source < kLasting) {
        used.push_back(operation.source);
      }
      if (operation.is_random()) used.push_back(kGeneratorClock + operation.generator);
    }
    for (const int what : used) order(clocks_, on, what);
    for (const int what : used) clocks_.use(on, what);
    if (captured.number % 3 == 0) captured.graph.upload(stream(on));
    captured.graph.replay(stream(on));
    for (const Operation& operation : captured.body) {
      imitate(operation, block_of(captured, operation.target),
              &block_of(captured, operation.source));
    }
    for (const auto& other : graphs_) {
      if (captured.pool >= 0 && other->pool == captured.pool) other->holds_its_output = false;
    }
    captured.holds_its_output = true;
    ++launches;
    return "launch";
  }

  /// Frees memory that a capture left: the graph can be launched all the same.
  std::string free_output() {
    for (const auto& graph : graphs_) {
      if (graph->live.empty()) continue;
      check(::sconce_memory_free(graph->memory.at(graph->live.back()).address));
      graph->live.pop_back();
      return "free an output";
    }
    return "nothing";
  }

  static void free_outputs(Captured& captured) {
    for (const int number : captured.live) {
      check(::sconce_memory_free(captured.memory.at(number).address));
    }
    captured.live.clear();
  }

  /// Drops a graph whose launches may still be queued, before its memory or after it.
  std::string drop_graph() {
    if (graphs_.empty() || !numbers_.one_of(2)) return "nothing";
    const auto chosen =
        graphs_.begin() + static_cast<std::ptrdiff_t>(numbers_.below(graphs_.size()));
    if (numbers_.one_of(2)) {
      free_outputs(**chosen);
    } else {
      for (const int number : (*chosen)->live) {
        orphans_.push_back((*chosen)->memory.at(number).address);
      }
    }
    if (numbers_.one_of(2)) (*chosen)->graph.reset();
    graphs_.erase(chosen);
    return "drop a graph";
  }

  Clocks clocks_;
  std::vector<MemPool> pools_;
  std::map<int, Block> blocks_;
  std::vector<void*> orphans_;
  std::vector<std::unique_ptr<Captured>> graphs_;
  int next_block_ = 0;
  int next_graph_ = 0;
};

int programs() {
  const char* const asked = std::getenv("SCONCE_TEST_SCRIPTS");
  return asked == nullptr ? kPrograms : std::max(kPrograms, std::atoi(asked));
}

class GraphModel : public support::WorkFixture {};

TEST_F(GraphModel, ReplaysEqualWhatTheModelDoes) {
  int launches = 0;
  int captures = 0;
  for (int seed = 0; seed < programs(); ++seed) {
    Program program(static_cast<std::uint64_t>(seed));
    for (int step = 0; step < kSteps; ++step) {
      const std::string what = program.step();
      SCOPED_TRACE("program " + std::to_string(seed) + ", step " + std::to_string(step) + ": " +
                   what);
      if (step % 8 == 7 || step + 1 == kSteps) program.compare();
      if (HasFailure()) return;
    }
    launches += program.launches;
    captures += program.captures;
  }
  EXPECT_GT(captures, programs());
  EXPECT_GT(launches, 4 * programs());
  // Nothing is lost: what the programs took goes back.
  device_synchronize();
  CUDACachingAllocator::emptyCache();
}

}  // namespace
