// Functions of tensors that run as graphs, one or several of one pool.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
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
using support::contains;
using support::error_of;
using support::numbers;
using support::status_of;
using support::values;

class GraphedFunctions : public support::WorkFixture {};

using Tensors = std::vector<Tensor>;
using TensorFunction = std::function<Tensors(const Tensors&)>;

TEST_F(GraphedFunctions, AFunctionOfTensorsBecomesAGraph) {
  int calls = 0;
  const auto function = [&](const std::vector<Tensor>& inputs) {
    ++calls;
    return std::vector<Tensor>{inputs[0] + inputs[1], (inputs[0] * inputs[1]).relu()};
  };
  auto graphed = make_graphed(function, std::vector<Tensor>{numbers(128), numbers(128)});
  EXPECT_EQ(calls, 4) << "three times to warm up, once to capture";
  for (const double scale : {1.0, -3.0, 0.5}) {
    const std::vector<Tensor> inputs = {numbers(128) * scale, numbers(128) + 7};
    const std::vector<Tensor>& outputs = graphed(inputs);
    EXPECT_EQ(values(outputs[0]), values(inputs[0] + inputs[1]));
    EXPECT_EQ(values(outputs[1]), values((inputs[0] * inputs[1]).relu()));
  }
  EXPECT_EQ(calls, 4) << "replays do not call the function";
  EXPECT_EQ(status_of([&] { (void)graphed({numbers(128)}); }), SCONCE_ERROR_INVALID_ARGUMENT);
}

TEST_F(GraphedFunctions, SeveralFunctionsBecomeGraphsOfOnePool) {
  int calls = 0;
  const std::vector<TensorFunction> functions = {
      [&](const Tensors& inputs) {
        ++calls;
        return Tensors{(inputs[0] * 2 + 1) * 3};
      },
      [&](const Tensors& inputs) {
        ++calls;
        return Tensors{(inputs[0] - 4).relu()};
      },
      [&](const Tensors& inputs) {
        ++calls;
        return Tensors{inputs[0] + inputs[1], inputs[1] * 2};
      },
  };
  auto callables = make_graphed_callables(
      functions,
      std::vector<Tensors>{{numbers(5000)}, {numbers(5000)}, {numbers(300), numbers(300)}});
  ASSERT_EQ(callables.size(), 3U);
  EXPECT_EQ(calls, 12) << "of each function, three calls to warm up and one to capture";
  EXPECT_EQ(callables[1].graph().pool(), callables[0].graph().pool());
  EXPECT_EQ(callables[2].graph().pool(), callables[0].graph().pool());
  for (const double scale : {1.0, -2.0, 0.25}) {
    const Tensor input = numbers(5000) * scale;
    const Tensors& first = callables[0]({input});
    const Tensors& second = callables[1](first);
    const Tensor small = numbers(300) + scale;
    const Tensors& third = callables[2]({small, small});
    // Later functions have not touched the outputs of earlier ones.
    EXPECT_EQ(values(first[0]), values((input * 2 + 1) * 3));
    EXPECT_EQ(values(second[0]), values(((input * 2 + 1) * 3 - 4).relu()));
    EXPECT_EQ(values(third[0]), values(small + small));
    EXPECT_EQ(values(third[1]), values(small * 2));
  }
  EXPECT_EQ(calls, 12) << "replays do not call the functions";
  // The first graph made the pool, and the others keep it.
  callables.erase(callables.begin());
  CUDACachingAllocator::emptyCache();
  const Tensors& rest = callables[0]({numbers(5000)});
  EXPECT_EQ(values(rest[0]), values((numbers(5000) - 4).relu()));
}

TEST_F(GraphedFunctions, MemoryOfOneThatIsDestroyedWaitsForItsLaunches) {
  constexpr std::int64_t kCount = 1 << 17;
  for (const char* policy : {"policy:segments", "policy:pages"}) {
    CUDACachingAllocator::setAllocatorSettings(policy);
    CUDACachingAllocator::emptyCache();
    const Tensor result = sconce::zeros({kCount}, sconce::TensorOptions(sconce::kCUDA));
    const Tensor input = numbers(kCount);
    const CUDAStream side = getStreamFromPool();
    device_synchronize();
    {
      auto step =
          make_graphed([](const Tensors& inputs) { return Tensors{(inputs[0] * 2 + 1) * 3}; },
                       Tensors{numbers(kCount)});
      const CUDAStreamGuard guard(side);
      sconce::cuda::sleep(std::chrono::milliseconds(100));
      result.copy_(step({input})[0], true);
      EXPECT_FALSE(side.query()) << "the launch is not queued any more: " << policy;
    }
    // Whoever gets memory of it too early writes to it before the launch runs.
    Tensors others;
    for (int i = 0; i < 6; ++i) {
      others.push_back(sconce::full({kCount}, -7.0, sconce::TensorOptions(sconce::kCUDA)));
    }
    getDefaultCUDAStream().synchronize();
    side.synchronize();
    EXPECT_EQ(values(result), values((numbers(kCount) * 2 + 1) * 3)) << policy;
    for (const Tensor& other : others) {
      EXPECT_EQ(values(other), std::vector<float>(kCount, -7.0F)) << policy;
    }
  }
}

// Static inputs are memory of nobody's pool, and any stream may have launches that read them.
TEST_F(GraphedFunctions, StaticInputsOutliveLaunchesOfTheGraphItself) {
  constexpr std::int64_t kCount = 1 << 17;
  using Callable = GraphedCallable<Tensor, Tensors>;
  const auto options = sconce::TensorOptions(sconce::kCUDA);
  const std::vector<std::pair<const char*, std::function<void(std::optional<Callable>&)>>> ends = {
      {"destroyed", [](std::optional<Callable>& step) { step.reset(); }},
      {"replaced",
       [](std::optional<Callable>& step) {
         step = make_graphed([](const Tensors& inputs) { return Tensors{inputs[0] + 1}; },
                             Tensors{numbers(4)});
       }},
      {"moved away",
       [](std::optional<Callable>& step) {
         const Callable other = std::move(*step);
         step.reset();
       }},
      {"memory returned",
       [](std::optional<Callable>& step) {
         step.reset();
         CUDACachingAllocator::emptyCache();
       }},
  };
  for (const char* policy : {"policy:segments", "policy:pages"}) {
    CUDACachingAllocator::setAllocatorSettings(policy);
    for (const bool together : {false, true}) {
      for (const auto& [name, end] : ends) {
        SCOPED_TRACE(std::string(policy) + ", " + name + (together ? ", of several" : ""));
        CUDACachingAllocator::emptyCache();
        const Tensor result = sconce::zeros({kCount}, options);
        const TensorFunction function = [&](const Tensors& inputs) {
          result.copy_(inputs[0], true);
          return Tensors{inputs[0]};
        };
        const auto input = [&] { return sconce::full({kCount}, 5.0, options); };
        std::optional<Callable> step;
        if (together) {
          auto several = make_graphed_callables(std::vector<TensorFunction>{function, function},
                                                std::vector<Tensors>{{input()}, {input()}});
          step = std::move(several[1]);
        } else {
          step = make_graphed(function, Tensors{input()});
        }
        (*step)();
        device_synchronize();
        const Tensor zeros = sconce::zeros({kCount}, options);
        result.copy_(zeros);
        const CUDAStream side = getStreamFromPool();
        device_synchronize();
        sconce::cuda::sleep(std::chrono::milliseconds(100), side);
        step->graph().replay(side);
        end(step);
        Tensors others;
        for (int i = 0; i < 6; ++i) others.push_back(sconce::full({kCount}, -7.0, options));
        getDefaultCUDAStream().synchronize();
        side.synchronize();
        EXPECT_EQ(values(result), std::vector<float>(kCount, 5.0F));
        for (const Tensor& other : others) {
          ASSERT_EQ(values(other), std::vector<float>(kCount, -7.0F));
        }
      }
    }
  }
}

TEST_F(GraphedFunctions, StaticInputsGoBackWithTheGraph) {
  const auto used = [] { return memory_allocated(); };
  device_synchronize();
  const auto before = used();
  {
    auto step = make_graphed([](const Tensors& inputs) { return Tensors{inputs[0] + 1}; },
                             Tensors{numbers(1 << 16)});
    (void)step();
    device_synchronize();
    EXPECT_GT(used(), before);
  }
  EXPECT_EQ(used(), before);
}

TEST_F(GraphedFunctions, AreMadeBesideCapturesOfAllStreamsOfThePool) {
  constexpr std::size_t kStreams = 32;
  const auto make = [] {
    const TensorFunction function = [](const Tensors& inputs) { return Tensors{inputs[0] + 1}; };
    auto step = make_graphed(function, Tensors{numbers(64)});
    EXPECT_EQ(values(step()[0]), values(numbers(64) + 1));
    auto several = make_graphed_callables(std::vector<TensorFunction>{function, function},
                                          std::vector<Tensors>{{numbers(64)}, {numbers(64)}});
    EXPECT_EQ(values(several[1]()[0]), values(numbers(64) + 1));
  };
  make();
  const Tensor input = numbers(64);
  device_synchronize();
  std::vector<CUDAStream> streams;
  std::vector<CUDAGraph> graphs(kStreams);
  std::vector<Tensor> outputs;
  for (CUDAGraph& graph : graphs) {
    streams.push_back(getStreamFromPool());
    const CUDAStreamGuard guard(streams.back());
    graph.capture_begin({}, CaptureMode::ThreadLocal);
    outputs.push_back(input * 2);
  }
  std::string problem;
  std::thread([&] {
    try {
      make();
    } catch (const std::exception& error) {
      problem = error.what();
    }
  }).join();
  EXPECT_EQ(problem, "");
  for (std::size_t i = 0; i < kStreams; ++i) {
    const CUDAStreamGuard guard(streams[i]);
    outputs[i] = outputs[i] + 3;
    graphs[i].capture_end();
  }
  for (std::size_t i = 0; i < kStreams; ++i) {
    graphs[i].replay();
    EXPECT_EQ(values(outputs[i]), values(input * 2 + 3)) << "stream " << i;
  }
}

TEST_F(GraphedFunctions, WarmingUpUsesTheStreamOfTheNextCapture) {
  const CUDAStream before = getCurrentCUDAStream();
  std::optional<CUDAStream> warm;
  graph_warm_up([&] { warm = getCurrentCUDAStream(); });
  EXPECT_EQ(getCurrentCUDAStream(), before);
  CUDAGraph graph;
  {
    GraphGuard capture(graph);
    EXPECT_EQ(getCurrentCUDAStream(), *warm);
    // The current stream is captured, and what it is warmed up for would be part of the capture.
    EXPECT_EQ(status_of([&] { graph_warm_up([] { FAIL(); }); }), SCONCE_ERROR_INVALID_STATE);
    capture.end();
  }
  EXPECT_THROW(graph_warm_up([] { throw std::runtime_error("in the warm-up"); }),
               std::runtime_error);
  EXPECT_EQ(getCurrentCUDAStream(), before);
}

TEST_F(GraphedFunctions, AnInputThatDoesNotFitIsNamed) {
  auto sum = make_graphed([](const Tensors& inputs) { return Tensors{inputs[0] + inputs[1]}; },
                          Tensors{numbers(8), numbers(8)});
  const auto longer = error_of([&] { (void)sum({numbers(8), numbers(9)}); });
  EXPECT_EQ(longer.status(), SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(contains(longer.what(), "inputs[1] does not fit")) << longer.what();
  const auto undefined = error_of([&] { (void)sum({Tensor(), numbers(8)}); });
  EXPECT_TRUE(contains(undefined.what(), "inputs[0] does not fit")) << undefined.what();
  EXPECT_EQ(values(sum({numbers(8), numbers(1)})[0]), values(numbers(8) + numbers(1)));
}

TEST_F(GraphedFunctions, FunctionsThatCannotBecomeGraphsLeaveNothingCaptured) {
  const TensorFunction good = [](const Tensors& inputs) { return Tensors{inputs[0] + 1}; };
  const TensorFunction bad = [](const Tensors& inputs) -> Tensors {
    if (getCurrentCUDAStream().is_capturing()) throw std::runtime_error("in the capture");
    return {inputs[0]};
  };
  const std::vector<Tensors> inputs = {{numbers(8)}, {numbers(8)}};
  const auto one_too_few =
      error_of([&] { (void)make_graphed_callables(std::vector<TensorFunction>{good}, inputs); });
  EXPECT_EQ(one_too_few.status(), SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(contains(one_too_few.what(), "there are 2, but 1 functions"));
  EXPECT_THROW((void)make_graphed_callables(std::vector<TensorFunction>{good, bad}, inputs),
               std::runtime_error);
  auto callables = make_graphed_callables(std::vector<TensorFunction>{good, good}, inputs);
  EXPECT_EQ(values(callables[1]({numbers(8)})[0]), values(numbers(8) + 1));
  EXPECT_TRUE(
      make_graphed_callables(std::vector<TensorFunction>{}, std::vector<Tensors>{}).empty());
}

}  // namespace
