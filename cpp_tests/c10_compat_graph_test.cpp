// Lines that code for ATen has of graphs; see c10_compat_test.cpp.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <thread>

#include "c10_compat_support.hpp"

using namespace c10_lines;  // NOLINT

namespace {

/// Captures `x.add_(1)` as ATen's tests do: on a stream of the pool.
void capture_an_addition(at::cuda::CUDAGraph& graph, const torch::Tensor& x,
                         c10::MempoolId_t pool = {0, 0}) {
  const c10::cuda::CUDAStreamGuard guard(at::cuda::getStreamFromPool());
  graph.capture_begin(pool);
  x.add_(1);
  graph.capture_end();
}

float first(const torch::Tensor& x) { return x.cpu().data_ptr<float>()[0]; }

LINE(81, CaptureInAMode) {
  const auto x = ones({4});
  const auto other = at::cuda::getStreamFromPool();
  at::cuda::CUDAGraph graph;
  {
    const c10::cuda::CUDAStreamGuard guard(at::cuda::getStreamFromPool());
    graph.capture_begin({0, 0}, cudaStreamCaptureModeThreadLocal);
    x.add_(1);
    // Other threads may do what a global capture would forbid them.
    sconce::Status status = SCONCE_ERROR_INTERNAL;
    std::thread([&] { status = status_or_ok([&] { (void)other.query(); }); }).join();
    EXPECT_EQ(status, SCONCE_OK);
    graph.capture_end();
  }
  EXPECT_EQ(first(x), 1) << "a capture runs nothing";
  graph.replay();
  graph.replay();
  EXPECT_EQ(first(x), 3);
}
LINE(82, PoolOfAnotherGraph) {
  const auto x = ones({4});
  auto one = std::make_unique<at::cuda::CUDAGraph>();
  capture_an_addition(*one, x);
  at::cuda::MempoolId_t id = one->pool();
  EXPECT_NE(id, (at::cuda::MempoolId_t{0, 0}));
  at::cuda::CUDAGraph two;
  capture_an_addition(two, x, id);
  one.reset();
  // The pool lives as long as a graph that uses it.
  at::cuda::CUDAGraph three;
  capture_an_addition(three, x, two.pool());
  EXPECT_EQ(three.pool(), id);
  EXPECT_EQ(static_cast<sconce::cuda::CUDAGraph&>(two).pool(),
            static_cast<sconce::cuda::CUDAGraph&>(three).pool());
  three.replay();
  EXPECT_EQ(first(x), 2);
  two.reset();
  three.reset();
  EXPECT_EQ(status_of([&] { capture_an_addition(three, x, id); }), SCONCE_ERROR_INVALID_ARGUMENT)
      << "no graph uses it any longer";
}
LINE(83, PoolHandle) {
  const auto x = ones({4});
  c10::MempoolId_t pool = at::cuda::graph_pool_handle();
  EXPECT_NE(pool, at::cuda::graph_pool_handle()) << "each is a pool of its own";
  EXPECT_TRUE(pool.first == 0 && pool.second != 0) << "as torch's";
  const c10::cuda::MemPool of_the_program;
  EXPECT_NE(pool, of_the_program.id());
  at::cuda::CUDAGraph graph;
  {
    const c10::cuda::CUDAStreamGuard guard(at::cuda::getStreamFromPool());
    graph.capture_begin(/*pool=*/pool, cudaStreamCaptureModeGlobal);
    auto y = x + 1;
    x.copy_(y);
    graph.capture_end();
  }
  EXPECT_EQ(graph.pool(), pool);
  graph.replay();
  EXPECT_EQ(first(x), 2);
  const auto snapshot = c10::cuda::CUDACachingAllocator::snapshot();
  EXPECT_TRUE(std::any_of(snapshot.segments.begin(), snapshot.segments.end(),
                          [&](const auto& each) { return each.owner_private_pool_id == pool; }));
  // The pool is the graphs': without one its memory is the cache's to give back.
  const auto reserved = sconce::cuda::memory_reserved();
  graph.reset();
  c10::cuda::CUDACachingAllocator::emptyCache();
  EXPECT_LT(sconce::cuda::memory_reserved(), reserved);
  at::cuda::CUDAGraph next;
  capture_an_addition(next, x, pool);
  EXPECT_EQ(next.pool(), pool) << "the handle can be used again";
}
LINE(84, NativeHandles) {
  const auto x = ones({4});
  at::cuda::CUDAGraph graph(/*keep_graph=*/true);
  capture_an_addition(graph, x);
  cudaGraph_t h = graph.raw_cuda_graph();
  EXPECT_NE(h, nullptr);
  graph.instantiate();
  cudaGraphExec_t executable = graph.raw_cuda_graph_exec();
  EXPECT_NE(executable, nullptr);
}
LINE(85, DumpOfAGraph) {
  const auto x = ones({4});
  const std::string path = testing::TempDir() + "c10_compat_graph.dot";
  std::remove(path.c_str());
  at::cuda::CUDAGraph graph;
  capture_an_addition(graph, x);
  testing::internal::CaptureStderr();
  graph.debug_dump(path);
  EXPECT_TRUE(contains(testing::internal::GetCapturedStderr(), "enable_debug_mode"));
  EXPECT_FALSE(std::ifstream(path).good());

  graph.reset();
  graph.enable_debug_mode();
  capture_an_addition(graph, x);
  graph.debug_dump(path);
  std::string word;
  std::ifstream(path) >> word;
  EXPECT_EQ(word, "digraph");
  std::remove(path.c_str());
  graph.replay();
  EXPECT_EQ(first(x), 2) << "it is instantiated all the same";
}
LINE(86, ResetAndCaptureAgain) {
  const auto x = ones({4});
  at::cuda::CUDAGraph graph;
  capture_an_addition(graph, x);
  graph.reset();
  EXPECT_THROW((void)graph.pool(), c10::Error);
  EXPECT_THROW(graph.replay(), c10::Error);
  capture_an_addition(graph, x);
  graph.replay();
  EXPECT_EQ(first(x), 2);
}
LINE(87, GeneratorsOfAGraph) {
  const auto x = ones({64});
  auto gen = at::cuda::detail::getDefaultCUDAGenerator();
  gen.set_current_seed(7);
  at::cuda::CUDAGraph graph;
  graph.register_generator_state(gen);
  {
    const c10::cuda::CUDAStreamGuard guard(at::cuda::getStreamFromPool());
    graph.capture_begin();
    x.uniform_();
    graph.capture_end();
  }
  graph.replay();
  const auto once = x.clone();
  graph.replay();
  EXPECT_FALSE(once.equal(x)) << "each replay draws on";
}
LINE(88, PoolOfTheProgram) {
  const auto x = ones({4});
  const auto pool = std::make_unique<c10::cuda::MemPool>();
  at::cuda::CUDAGraph graph;
  capture_an_addition(graph, x, pool->id());
  EXPECT_EQ(graph.pool(), pool->id());
  EXPECT_EQ(status_of([&] {
              at::cuda::CUDAGraph other;
              capture_an_addition(other, x, {0, 1U << 30});
            }),
            SCONCE_ERROR_INVALID_ARGUMENT);
}
LINE(89, StatusOfACapture) {
  const auto stream = at::cuda::getStreamFromPool();
  const c10::cuda::CUDAStreamGuard guard(stream);
  at::cuda::CUDAGraph graph;
  graph.capture_begin();
  EXPECT_EQ(c10::cuda::currentStreamCaptureStatusMayInitCtx(), c10::cuda::CaptureStatus::Active);
  EXPECT_EQ(at::cuda::CUDAGraph::get_currently_capturing_graph(), graph.get());
  EXPECT_THROW((void)stream.query(), c10::Error) << "no captured stream can be asked";
  EXPECT_EQ(c10::cuda::currentStreamCaptureStatusMayInitCtx(),
            c10::cuda::CaptureStatus::Invalidated);
  EXPECT_THROW(graph.capture_end(), c10::Error);
  EXPECT_EQ(c10::cuda::currentStreamCaptureStatusMayInitCtx(), c10::cuda::CaptureStatus::None);
  EXPECT_EQ(at::cuda::CUDAGraph::get_currently_capturing_graph(), nullptr);
}
LINE(90, ACaptureThatIsLeft) {
  // ATen leaves the stream in the capture; here the graph's end is the capture's.
  const auto stream = at::cuda::getStreamFromPool();
  const c10::cuda::CUDAStreamGuard guard(stream);
  {
    at::cuda::CUDAGraph graph;
    graph.capture_begin();
  }
  EXPECT_FALSE(stream.is_capturing());
  EXPECT_TRUE(stream.query());
}

}  // namespace
