// CUDA graphs: captures that end on every path, replays that do what the work does, and whose
// memory.
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <regex>
#include <sconce/sconce_all.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "fixture.hpp"
#include "graph_support.hpp"

namespace {

using namespace sconce::cuda;
using sconce::Tensor;
using support::contains;
using support::error_of;
using support::numbers;
using support::status_of;
using support::values;

class GraphTest : public support::WorkFixture {};

TEST_F(GraphTest, AReplayDoesWhatTheWorkDoes) {
  const Tensor input = numbers(1000);
  CUDAGraph graph;
  Tensor output;
  {
    GraphGuard capture(graph);
    EXPECT_TRUE(getCurrentCUDAStream().is_capturing());
    output = (input * 2 + 1).sqrt();
    capture.end();
  }
  EXPECT_FALSE(getCurrentCUDAStream().is_capturing());
  EXPECT_EQ(graph.node_count(), 3U);
  for (const double start : {0.0, 5.0, 70.0}) {
    input.copy_(numbers(1000) + start);
    graph.replay();
    EXPECT_EQ(values(output), values((input * 2 + 1).sqrt())) << start;
  }
}

TEST_F(GraphTest, ACaptureThatThrowsIsDiscarded) {
  const Tensor input = numbers(16);
  CUDAGraph graph;
  const auto body = [&] {
    const GraphGuard capture(graph);
    const Tensor inside = input + 1;
    throw std::runtime_error("on the way");
  };
  EXPECT_THROW(body(), std::runtime_error);
  EXPECT_FALSE(getCurrentCUDAStream().is_capturing());
  EXPECT_EQ(status_of([&] { graph.replay(getCurrentCUDAStream()); }), SCONCE_ERROR_INVALID_STATE);
  GraphGuard capture(graph);
  const Tensor output = input + 1;
  capture.end();
  graph.replay(getCurrentCUDAStream());
  getCurrentCUDAStream().synchronize();
  EXPECT_EQ(graph.node_count(), 1U) << "the graph can be captured again";
}

TEST_F(GraphTest, AGraphThatIsDestroyedInItsCaptureEndsIt) {
  const CUDAStream stream = getStreamFromPool();
  const CUDAStreamGuard guard(stream);
  {
    CUDAGraph graph;
    graph.capture_begin();
    EXPECT_TRUE(stream.is_capturing());
  }
  EXPECT_FALSE(stream.is_capturing());
}

TEST_F(GraphTest, MessagesAreTorchs) {
  CUDAGraph graph;
  const auto on_default = error_of([&] { graph.capture_begin(); });
  EXPECT_TRUE(contains(on_default.what(),
                       "CUDA graphs must be captured on a non-default stream. (However, after "
                       "capture, it's ok to replay them on the default stream.)"));
  {
    GraphGuard capture(graph);
    capture.end();
  }
  const CUDAStreamGuard guard(getStreamFromPool());
  const auto again = error_of([&] { graph.capture_begin(); });
  EXPECT_TRUE(contains(again.what(),
                       "This CUDAGraph instance already owns a captured graph. To capture a new "
                       "graph, create a new instance."));
}

TEST_F(GraphTest, SideStreamsTakePartAndMustBeWaitedFor) {
  const Tensor input = numbers(64);
  const CUDAStream side = getStreamFromPool();
  CUDAGraph graph;
  Tensor left;
  Tensor right;
  Tensor both;
  {
    GraphGuard capture(graph);
    const CUDAStream current = getCurrentCUDAStream();
    side.wait_stream(current);
    left = input + 1;
    {
      const CUDAStreamGuard guard(side);
      right = input * 3;
    }
    current.wait_stream(side);
    both = left + right;
    capture.end();
  }
  graph.replay();
  EXPECT_EQ(values(both), values((numbers(64) + 1) + numbers(64) * 3));
  CUDAGraph unjoined;
  GraphGuard capture(unjoined);
  side.wait_stream(getCurrentCUDAStream());
  {
    const CUDAStreamGuard guard(side);
    right = input * 3;
  }
  const auto failure = error_of([&] { capture.end(); });
  EXPECT_EQ(failure.backend_code(), 904) << failure.what();
  EXPECT_FALSE(side.is_capturing());
}

TEST_F(GraphTest, GraphsShareAPool) {
  const Tensor input = numbers(4096);
  const MemPool pool = graph_pool_handle();
  CUDAGraph first;
  CUDAGraph second;
  Tensor of_first;
  Tensor of_second;
  {
    GraphGuard capture(first, pool);
    of_first = input + 1;
    capture.end();
  }
  EXPECT_EQ(first.pool(), MempoolId{pool.get()});
  {
    GraphGuard capture(second, first.pool());
    of_second = of_first * 2;
    capture.end();
  }
  EXPECT_NE(of_first.data_ptr(), of_second.data_ptr()) << "a live output is not overwritten";
  first.replay();
  second.replay();
  EXPECT_EQ(values(of_second), values((numbers(4096) + 1) * 2));
}

TEST_F(GraphTest, AGraphTakesTheAddressesOfAnother) {
  const Tensor one = numbers(32);
  const Tensor other = numbers(32) + 100;
  const Tensor output = numbers(32);
  CUDAGraph graph(true);
  CUDAGraph from(true);
  CUDAGraph longer(true);
  const auto capture = [&](CUDAGraph& into, const Tensor& input, int times) {
    GraphGuard guard(into);
    for (int i = 0; i < times; ++i) output.add_(input);
    guard.end();
  };
  capture(graph, one, 1);
  capture(from, other, 1);
  capture(longer, other, 2);
  EXPECT_EQ(status_of([&] { (void)graph.update(from); }), SCONCE_ERROR_INVALID_STATE)
      << "not instantiated";
  graph.instantiate();
  EXPECT_TRUE(graph.update(from));
  EXPECT_FALSE(graph.update(longer));
  graph.replay();
  EXPECT_EQ(values(output), values(numbers(32) + other));
  EXPECT_NE(graph.raw_cuda_graph(), nullptr);
  EXPECT_NE(graph.raw_cuda_graph_exec(), nullptr);
}

TEST_F(GraphTest, TheFirstReplayInstantiatesAGraphThatKeepsTheDriversGraph) {
  const Tensor output = numbers(32);
  CUDAGraph graph(true);
  {
    GraphGuard capture(graph);
    output.add_(1);
    capture.end();
  }
  EXPECT_EQ(status_of([&] { (void)graph.raw_cuda_graph_exec(); }), SCONCE_ERROR_INVALID_STATE);
  graph.replay();
  void* const executable = graph.raw_cuda_graph_exec();
  graph.replay();
  EXPECT_EQ(graph.raw_cuda_graph_exec(), executable) << "only the first one does";
  EXPECT_EQ(values(output), values(numbers(32) + 2));
  graph.instantiate();
  graph.replay();
  EXPECT_EQ(values(output), values(numbers(32) + 3));
}

TEST_F(GraphTest, AGraphIsUploadedBeforeItsFirstLaunch) {
  const Tensor output = numbers(32);
  CUDAGraph graph(true);
  EXPECT_EQ(status_of([&] { graph.upload(); }), SCONCE_ERROR_INVALID_STATE);
  {
    GraphGuard capture(graph);
    output.mul_(2);
    output.add_(1);
    capture.end();
  }
  EXPECT_EQ(status_of([&] { graph.upload(); }), SCONCE_ERROR_INVALID_STATE) << "not instantiated";
  graph.instantiate();
  graph.upload();
  const CUDAStream stream = getStreamFromPool();
  graph.upload(stream);
  EXPECT_EQ(values(output), values(numbers(32))) << "an upload launches nothing";
  graph.replay(stream);
  stream.synchronize();
  EXPECT_EQ(values(output), values(numbers(32) * 2 + 1));
  {
    CUDAGraph other;
    GraphGuard capture(other);
    const auto inside = error_of([&] { graph.upload(); });
    EXPECT_EQ(inside.status(), SCONCE_ERROR_INVALID_STATE) << inside.what();
    output.add_(1);
    capture.end();
    EXPECT_EQ(other.node_count(), 1U) << "the capture goes on";
  }
  graph.reset();
  EXPECT_EQ(status_of([&] { graph.upload(stream); }), SCONCE_ERROR_INVALID_STATE);
}

TEST_F(GraphTest, AGraphIsWrittenToAFile) {
  const Tensor output = numbers(32);
  const std::string path = testing::TempDir() + "sconce-graph-" + std::to_string(::getpid());
  CUDAGraph graph(true);
  CUDAGraph without(false);
  EXPECT_EQ(status_of([&] { graph.debug_dump(path); }), SCONCE_ERROR_INVALID_STATE) << "empty";
  for (CUDAGraph* const each : {&graph, &without}) {
    GraphGuard capture(*each);
    output.mul_(2);
    output.add_(1);
    capture.end();
  }
  graph.debug_dump(path);
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  for (const char* const part : {"digraph", "node_0", "node_1", "->"}) {
    EXPECT_TRUE(contains(text, part));
  }
  EXPECT_EQ(std::remove(path.c_str()), 0);
  const auto dropped = error_of([&] { without.debug_dump(path); });
  EXPECT_EQ(dropped.status(), SCONCE_ERROR_INVALID_STATE);
  EXPECT_TRUE(contains(dropped.what(), "keep_graph"));
  EXPECT_EQ(status_of([&] { graph.debug_dump(path + "/no/such/folder"); }), SCONCE_ERROR_DRIVER);
}

TEST_F(GraphTest, AFileTellsNodesApart) {
  const Tensor output = numbers(2048);
  const Tensor flag = sconce::ones({1}, sconce::TensorOptions(sconce::kCUDA).dtype(sconce::kInt));
  const std::string path = testing::TempDir() + "sconce-nodes-" + std::to_string(::getpid());
  CUDAGraph graph(true);
  {
    GraphGuard capture(graph);
    output.add_(1);
    output.copy_(output.sqrt());
    (void)output.sum();
    try {
      const auto condition = graph.create_condition();
      graph.set_condition(condition, flag.data_ptr(), sizeof(int));
      graph.if_node(condition, [&] { output.exp_(); });
    } catch (const sconce::Error& error) {
      if (error.status() == SCONCE_ERROR_NOT_SUPPORTED) GTEST_SKIP() << error.what();
      throw;
    }
    capture.end();
  }
  graph.debug_dump(path);
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(std::remove(path.c_str()), 0);
  std::set<std::string> kernels;
  const std::regex kernel("sconce_[a-z0-9_]+");
  for (std::sregex_iterator each(text.begin(), text.end(), kernel), end; each != end; ++each) {
    kernels.insert(each->str());
  }
  // Addition, root, sum and the setting of the condition, and on simulated devices the body's.
  EXPECT_GE(kernels.size(), support::wants_cuda() ? 3U : 4U) << text;
}

TEST_F(GraphTest, RandomNumbersGoOnAtEachReplay) {
  CUDAGenerator captured = createCUDAGenerator();
  captured.set_current_seed(99);
  const CUDAGenerator plain = captured.clone();
  DeviceBuffer drawn = DeviceBuffer::of<float>(5000);
  DeviceBuffer expected = DeviceBuffer::of<float>(5000);
  CUDAGraph graph;
  graph.register_generator_state(captured);
  {
    GraphGuard capture(graph);
    normal_(drawn.span<float>(), 0, 1, captured);
    capture.end();
  }
  std::vector<float> host(5000);
  std::vector<float> other(5000);
  for (int replay = 0; replay < 4; ++replay) {
    graph.replay();
    normal_(expected.span<float>(), 0, 1, plain);
    copy_(host, drawn);
    copy_(other, expected);
    EXPECT_EQ(host, other) << replay;
  }
  EXPECT_EQ(captured.get_state(), plain.get_state());
}

TEST_F(GraphTest, ConditionalNodesRunTheirBodies) {
  const auto options = sconce::TensorOptions(sconce::kCUDA).dtype(sconce::kInt);
  const Tensor rounds = sconce::full({1}, 0, options);
  const Tensor sum = sconce::full({1}, 0, options);
  const Tensor chosen = sconce::full({1}, 0, options);
  const Tensor which = sconce::full({1}, 0, options);
  CUDAGraph graph;
  {
    GraphGuard capture(graph);
    try {
      const std::uint64_t more = graph.create_condition();
      graph.set_condition(more, rounds.data_ptr(), sizeof(int));
      graph.while_node(more, [&] {
        sum.add_(5);
        rounds.sub_(1);
        graph.set_condition(more, rounds.data_ptr(), sizeof(int));
      });
      const std::uint64_t is_chosen = graph.create_condition();
      graph.set_condition(is_chosen, chosen.data_ptr(), sizeof(int));
      graph.if_node(
          is_chosen, [&] { sum.add_(1000); }, [&] { sum.add_(2000); });
      const std::uint64_t number = graph.create_condition();
      graph.set_condition(number, which.data_ptr(), sizeof(int));
      graph.switch_node(
          number, [&] { sum.add_(10000); }, [&] { sum.add_(20000); }, [&] { sum.add_(30000); });
    } catch (const sconce::Error& error) {
      if (error.status() != SCONCE_ERROR_NOT_SUPPORTED) throw;
      GTEST_SKIP() << error.what();
    }
    capture.end();
  }
  const auto run = [&](int count, int choice, int body) {
    rounds.fill_(count);
    sum.fill_(0);
    chosen.fill_(choice);
    which.fill_(body);
    graph.replay();
    return sum.item<int>();
  };
  EXPECT_EQ(run(3, 1, 0), 15 + 1000 + 10000);
  EXPECT_EQ(run(0, 0, 2), 2000 + 30000);
  EXPECT_EQ(run(7, 1, 5), 35 + 1000) << "there is no fifth body";
}

TEST_F(GraphTest, ABodyThatThrowsDiscardsTheCapture) {
  const Tensor flag =
      sconce::full({1}, 1, sconce::TensorOptions(sconce::kCUDA).dtype(sconce::kInt));
  CUDAGraph graph;
  bool threw = false;
  try {
    GraphGuard capture(graph);
    const std::uint64_t condition = graph.create_condition();
    graph.set_condition(condition, flag.data_ptr(), sizeof(int));
    graph.if_node(condition, [] { throw std::runtime_error("in the body"); });
    capture.end();
  } catch (const std::runtime_error&) {
    threw = true;
  }
  EXPECT_TRUE(threw);
  const Tensor after = flag + 1;
  EXPECT_EQ(after.item<int>(), 2) << "the thread works on";
}

TEST_F(GraphTest, TheCapturingGraphIsKnownToItsThread) {
  CUDAGraph graph;
  sconce_graph* newest = nullptr;
  ASSERT_EQ(::sconce_graph_get_capturing(&newest), SCONCE_OK);
  EXPECT_EQ(newest, nullptr);
  GraphGuard capture(graph, MempoolId{}, CaptureMode::ThreadLocal);
  ASSERT_EQ(::sconce_graph_get_capturing(&newest), SCONCE_OK);
  EXPECT_EQ(newest, graph.get());
  std::thread([&] {
    sconce_graph* theirs = graph.get();
    EXPECT_EQ(::sconce_graph_get_capturing(&theirs), SCONCE_OK);
    EXPECT_EQ(theirs, nullptr);
    EXPECT_EQ(::sconce_graph_capture_end(graph.get()), SCONCE_ERROR_INVALID_STATE);
  }).join();
  capture.end();
}

/// On a GPU the question for a stream's id ends the capture of the stream. Memory that was freed
/// while a stream of the program uses it waits for a call that names the stream: here, an
/// allocation in the capture.
TEST_F(GraphTest, AStreamThatIsCapturedIsNotAskedForItsId) {
  SCONCE_NEED_SIMULATOR();
  const sconce::simulator::ExternalStream simulated(/*non_blocking=*/true);
  const auto stream = getStreamFromExternal(simulated.get());
  DeviceBuffer used(1024);
  used.record_stream(stream);
  used.reset();
  CUDAGraph graph;
  {
    const CUDAStreamGuard guard(stream);
    graph.capture_begin();
    sconce::simulator::reset_call_counts();
    const DeviceBuffer inside(1024, stream);
    EXPECT_EQ(sconce::simulator::call_count("stream_id"), 0);
    graph.capture_end();
  }
  sconce::simulator::reset_call_counts();
  const DeviceBuffer behind(1024, stream);
  EXPECT_GE(sconce::simulator::call_count("stream_id"), 1);
}

}  // namespace
