// Functions of tensors that run as graphs, one or several of one pool.
#include <chrono>
#include <functional>
#include <sconce/sconce.hpp>
#include <stdexcept>
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
