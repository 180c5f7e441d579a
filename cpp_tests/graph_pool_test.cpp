// Graphs that are captured without a stream of the caller: which stream they have, and the memory
// that they share.
#include <functional>
#include <sconce/sconce_all.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "fixture.hpp"
#include "graph_support.hpp"

namespace {

using namespace sconce::cuda;
using sconce::Tensor;
using support::numbers;
using support::values;

class GraphPoolTest : public support::WorkFixture {};

constexpr std::int64_t ELEMENTS = 1 << 20;
constexpr std::size_t TEMPORARY = ELEMENTS * sizeof(float);

/// The bytes that a pool holds.
std::size_t held_by(MempoolId pool) {
  std::uint64_t number = 0;
  EXPECT_EQ(::sconce_memory_pool_get_id(pool.pool, &number), SCONCE_OK);
  std::size_t bytes = 0;
  for (const auto& segment : CUDACachingAllocator::snapshot().segments) {
    if (segment.owner_private_pool_id.second == number) bytes += segment.total_size;
  }
  return bytes;
}

TEST_F(GraphPoolTest, BracesArePoolsAndPoolsAreTheirIds) {
  const MemPool pool;
  {
    const CUDAStreamGuard guard(getStreamFromPool());
    CUDAGraph graph;
    graph.capture_begin({}, CaptureMode::Relaxed);
    graph.capture_end();
    EXPECT_NE(graph.pool(), MempoolId());
    EXPECT_NE(graph.pool(), MempoolId(pool));
    graph.reset();
    graph.capture_begin(pool, CaptureMode::ThreadLocal);
    graph.capture_end();
    EXPECT_EQ(graph.pool(), pool);
    graph.reset();
    graph.capture_begin(graph_pool_handle());
    graph.capture_end();
    EXPECT_NE(graph.pool(), pool);
  }
  CUDAGraph graph;
  {
    GraphGuard capture(graph, {}, CaptureMode::Relaxed);
    capture.end();
  }
  graph.reset();
  {
    GraphGuard capture(graph, pool);
    capture.end();
  }
  EXPECT_EQ(graph.pool(), pool);
  CUDAGraph other;
  {
    GraphGuard capture(other, getStreamFromPool(), pool, CaptureMode::Global);
    capture.end();
  }
  EXPECT_EQ(other.pool(), pool);
}

/// A way to capture a graph with a temporary of `TEMPORARY` bytes.
struct Way {
  std::string name;
  std::function<CUDAGraph(const MemPool& pool, const Tensor& input)> capture;
};

std::vector<Way> ways() {
  const auto work = [](const Tensor& input) { (void)(input + 1); };
  std::vector<Way> ways = {
      {"a guard with an id",
       [work](const MemPool& pool, const Tensor& input) {
         CUDAGraph graph;
         GraphGuard capture(graph, MempoolId{pool.get()});
         work(input);
         capture.end();
         return graph;
       }},
      {"a guard with a pool",
       [work](const MemPool& pool, const Tensor& input) {
         CUDAGraph graph;
         GraphGuard capture(graph, pool, CaptureMode::ThreadLocal);
         work(input);
         capture.end();
         return graph;
       }},
      {"the C API",
       [work](const MemPool& pool, const Tensor& input) {
         CUDAGraph graph;
         sconce_stream stream{};
         EXPECT_EQ(::sconce_graph_capture_begin_own_stream(graph.get(), -1, pool.get(),
                                                           SCONCE_CAPTURE_RELAXED, &stream),
                   SCONCE_OK);
         {
           const CUDAStreamGuard guard{CUDAStream(stream)};
           work(input);
         }
         graph.capture_end();
         return graph;
       }},
      {"another thread",
       [work](const MemPool& pool, const Tensor& input) {
         CUDAGraph graph;
         std::thread([&] {
           GraphGuard capture(graph, pool);
           work(input);
           capture.end();
         }).join();
         return graph;
       }},
      {"a guard that throws first",
       [work](const MemPool& pool, const Tensor& input) {
         CUDAGraph graph;
         try {
           GraphGuard capture(graph, pool);
           work(input);
           throw std::runtime_error("on purpose");
         } catch (const std::runtime_error&) {
         }
         GraphGuard capture(graph, pool);
         work(input);
         capture.end();
         return graph;
       }},
  };
  return ways;
}

TEST_F(GraphPoolTest, GraphsOfOnePoolNeedTheMemoryOfTheLargest) {
  const Tensor input = numbers(ELEMENTS);
  for (const Way& way : ways()) {
    for (const Way& later : ways()) {
      const MemPool pool;
      std::vector<CUDAGraph> graphs;
      graphs.push_back(way.capture(pool, input));
      const std::size_t of_one = held_by(MempoolId{pool.get()});
      EXPECT_GE(of_one, TEMPORARY) << way.name;
      graphs.push_back(later.capture(pool, input));
      graphs.push_back(way.capture(pool, input));
      EXPECT_EQ(held_by(MempoolId{pool.get()}), of_one) << way.name << ", then " << later.name;
    }
  }
}

TEST_F(GraphPoolTest, BodiesOfConditionalNodesShareMemoryToo) {
  const Tensor input = numbers(ELEMENTS);
  const Tensor flag = sconce::ones({1}, sconce::TensorOptions(sconce::kCUDA).dtype(sconce::kInt));
  const MemPool pool;
  const auto capture = [&] {
    CUDAGraph graph;
    GraphGuard guard(graph, pool);
    const auto condition = graph.create_condition();
    graph.set_condition(condition, flag.data_ptr(), sizeof(int));
    graph.if_node(condition, [&] { (void)(input + 1); });
    guard.end();
    return graph;
  };
  std::vector<CUDAGraph> graphs;
  try {
    graphs.push_back(capture());
  } catch (const sconce::Error& error) {
    if (error.status() == SCONCE_ERROR_NOT_SUPPORTED) GTEST_SKIP() << error.what();
    throw;
  }
  const std::size_t of_one = held_by(MempoolId{pool.get()});
  EXPECT_GE(of_one, TEMPORARY);
  for (int i = 0; i < 3; ++i) graphs.push_back(capture());
  EXPECT_EQ(held_by(MempoolId{pool.get()}), of_one);
}

TEST_F(GraphPoolTest, FunctionsOfTensorsShareAPoolOfTheCaller) {
  const MemPool pool;
  const auto function = [](const std::vector<Tensor>& inputs) {
    return (inputs[0] + 1).narrow(0, 0, 4).clone();
  };
  std::vector<GraphedCallable<Tensor, Tensor>> callables;
  std::size_t of_one = 0;
  for (int i = 0; i < 4; ++i) {
    callables.push_back(
        make_graphed(function, std::vector<Tensor>{numbers(ELEMENTS)}, 1, MempoolId{pool.get()}));
    if (i == 0) of_one = held_by(MempoolId{pool.get()});
  }
  // Each has an output of its own, of 16 bytes.
  EXPECT_LT(held_by(MempoolId{pool.get()}), of_one + TEMPORARY);
  EXPECT_EQ(values(callables[2]({numbers(ELEMENTS)})), values(numbers(4) + 1));
}

TEST_F(GraphPoolTest, CapturesAtTheSameTimeHaveStreamsOfTheirOwn) {
  const Tensor input = numbers(64);
  CUDAGraph first;
  CUDAGraph second;
  CUDAStream of_first = getDefaultCUDAStream();
  CUDAStream of_second = getDefaultCUDAStream();
  Tensor result;
  {
    GraphGuard capture(first, MempoolId{}, CaptureMode::Relaxed);
    of_first = getCurrentCUDAStream();
    std::thread([&] {
      sconce_stream stream{};
      ASSERT_EQ(::sconce_graph_capture_begin_own_stream(second.get(), 0, nullptr,
                                                        SCONCE_CAPTURE_RELAXED, &stream),
                SCONCE_OK);
      of_second = CUDAStream(stream);
      const CUDAStreamGuard guard(of_second);
      result = input + 1;
      second.capture_end();
    }).join();
    (void)(input * 2);
    capture.end();
  }
  EXPECT_NE(of_first, of_second);
  second.replay();
  EXPECT_EQ(values(result), values(numbers(64) + 1));
  // Both are free again.
  CUDAGraph third;
  GraphGuard capture(third);
  EXPECT_EQ(getCurrentCUDAStream(), of_first);
  (void)(input * 2);
  capture.end();
}

TEST_F(GraphPoolTest, NoStreamOfAProgramIsOneForCaptures) {
  CUDAGraph graph;
  GraphGuard capture(graph);
  const CUDAStream captured = getCurrentCUDAStream();
  for (int priority = 0; priority >= -3; --priority) {
    for (int i = 0; i < 32; ++i) EXPECT_NE(getStreamFromPool(priority), captured);
  }
  EXPECT_EQ(captured.priority(), 0);
  (void)numbers(4);
  capture.end();
}

}  // namespace
