// Convolutions and handles of cuDNN: the meaning of descriptions, the three operations, settings,
// refusals. gpu/libraries_convolutions.cpp compares many shapes.
#include <sconce/cuda/context.hpp>
#include <sconce/cuda/dnn.hpp>
#include <sconce/cuda/guard.hpp>
#include <sconce/sim/simulator.hpp>
#include <thread>
#include <type_traits>

#include "fixture.hpp"
#include "library_references.hpp"

namespace {

using namespace sconce::cuda;
using support::contains;
using support::error_of;
using support::Numbers;
using support::OnDevice;
using support::random_numbers;
using support::status_of;

// The type as cudnn_graph.h declares it.
using cudnnHandle_t = struct cudnnContext*;
static_assert(std::is_same_v<decltype(getCurrentCUDADnnHandle()), cudnnHandle_t>,
              "a handle is a cudnnHandle_t");

constexpr std::int32_t kOperations[] = {SCONCE_CONVOLUTION_FORWARD,
                                        SCONCE_CONVOLUTION_BACKWARD_DATA,
                                        SCONCE_CONVOLUTION_BACKWARD_FILTER};

class DnnTest : public support::WorkFixture {
 protected:
  void SetUp() override {
    WorkFixture::SetUp();
    if (!IsSkipped() && support::wants_cuda() && !cudnn_version()) {
      GTEST_SKIP() << "there is no cuDNN";
    }
  }
};

Convolution some_convolution() {
  Convolution what;
  what.batch = 2;
  what.in_channels = 4;
  what.out_channels = 6;
  what.input_sizes = {7, 8};
  what.filter_sizes = {3, 2};
  return what;
}

/// Runs an operation on the device and on the host.
/// \returns the largest error as a fraction of the summed magnitudes
double error_of_operation(const Convolution& what, std::int32_t operation, ScalarType type,
                          int bits = support::kFewBits) {
  const auto numbers = [&](const DimVector& shape, const DimVector& strides, unsigned seed) {
    return random_numbers(support::reach(shape, strides), seed, bits);
  };
  const Numbers input = numbers(what.input_shape(), what.strides_of_input(), 1);
  const Numbers filter = numbers(what.filter_shape(), what.strides_of_filter(), 2);
  const Numbers output = numbers(what.output_shape(), what.strides_of_output(), 3);
  OnDevice device_input(input, type);
  OnDevice device_filter(filter, type);
  OnDevice device_output(output, type);
  switch (operation) {
    case SCONCE_CONVOLUTION_BACKWARD_DATA:
      convolution_backward_data(what, type, device_output.get(), device_filter.get(),
                                device_input.get());
      return support::worst_error(device_input.read(),
                                  support::convolved(what, operation, output, filter, input));
    case SCONCE_CONVOLUTION_BACKWARD_FILTER:
      convolution_backward_filter(what, type, device_output.get(), device_input.get(),
                                  device_filter.get());
      return support::worst_error(device_filter.read(),
                                  support::convolved(what, operation, output, input, filter));
    default:
      convolution(what, type, device_input.get(), device_filter.get(), device_output.get());
      return support::worst_error(device_output.read(),
                                  support::convolved(what, operation, input, filter, output));
  }
}

void expect_right(const Convolution& what, ScalarType type = ScalarType::Float) {
  for (const std::int32_t operation : kOperations) {
    EXPECT_LE(error_of_operation(what, operation, type), support::tolerance(type))
        << "operation " << operation << ", type " << static_cast<int>(type);
  }
}

// Each test runs in a process of its own: the library is not initialised.
TEST(DnnShapeTest, SizesOfTheOutputNeedNoDevice) {
  Convolution what = some_convolution();
  EXPECT_EQ(what.output_sizes(), (DimVector{5, 7}));
  what.padding = {1};
  EXPECT_EQ(what.output_sizes(), (DimVector{7, 9}));
  what.stride = {2, 3};
  EXPECT_EQ(what.output_sizes(), (DimVector{4, 3}));
  what.dilation = {2};
  EXPECT_EQ(what.output_sizes(), (DimVector{3, 3}));
  EXPECT_EQ(what.output_shape(), (DimVector{2, 6, 3, 3}));
  EXPECT_EQ(what.filter_shape(), (DimVector{6, 4, 3, 2}));
  what.groups = 2;
  EXPECT_EQ(what.filter_shape(), (DimVector{6, 2, 3, 2}));
  EXPECT_FALSE(sconce_is_initialized());
}

TEST(DnnShapeTest, ChannelsLastAreStridesOfTheShape) {
  Convolution what = some_convolution();
  EXPECT_TRUE(what.strides_of_input().empty()) << "packed";
  what.memory_format = MemoryFormat::ChannelsLast;
  EXPECT_EQ(what.strides_of_input(), (DimVector{224, 1, 32, 4}));
  EXPECT_EQ(what.strides_of_filter(), (DimVector{24, 1, 8, 4}));
  EXPECT_EQ(what.strides_of_output(), (DimVector{210, 1, 42, 6}));
  what.input_strides = {1000, 100, 10, 1};
  EXPECT_EQ(what.strides_of_input(), what.input_strides) << "strides that are said go first";
}

TEST(DnnShapeTest, WhatIsNoConvolutionIsNamed) {
  const auto refusal = [](auto change) {
    Convolution what = some_convolution();
    change(what);
    const sconce::Error error = error_of([&] { (void)what.output_sizes(); });
    EXPECT_EQ(error.status(), SCONCE_ERROR_INVALID_ARGUMENT);
    return std::string(error.what());
  };
  EXPECT_TRUE(contains(refusal([](Convolution& c) { c.input_sizes = {}; }), "input_sizes has 0"));
  EXPECT_TRUE(contains(refusal([](Convolution& c) {
                         c.input_sizes = {8, 8, 8, 8};
                       }),
                       "input_sizes has 4"));
  EXPECT_TRUE(contains(refusal([](Convolution& c) {
                         c.stride = {1, 1, 1};
                       }),
                       "stride has 3 numbers, input_sizes has 2"));
  EXPECT_TRUE(contains(refusal([](Convolution& c) { c.stride = {0}; }), "desc.stride"));
  EXPECT_TRUE(contains(refusal([](Convolution& c) { c.groups = 3; }), "desc.groups"));
  (void)refusal([](Convolution& c) { c.filter_sizes = {9, 1}; });
  (void)refusal([](Convolution& c) { c.groups = 0; });
}

TEST_F(DnnTest, ThreadsHaveHandlesOfTheirOwnAndLeaveThemToOthers) {
  cudnnHandle_t const mine = getCurrentCUDADnnHandle();
  EXPECT_NE(mine, nullptr);
  cudnnHandle_t first = nullptr;
  cudnnHandle_t second = nullptr;
  std::thread([&] { first = getCurrentCUDADnnHandle(); }).join();
  std::thread([&] { second = getCurrentCUDADnnHandle(); }).join();
  EXPECT_NE(first, mine);
  EXPECT_EQ(second, first);
  EXPECT_EQ(getCurrentCUDADnnHandle(), mine);
}

TEST_F(DnnTest, TheVersionIsCuDNNs) {
  const auto version = cudnn_version();
  ASSERT_TRUE(version.has_value());
  EXPECT_GE(*version, 80000);
  if (!support::wants_cuda()) {
    EXPECT_EQ(*version, 90000);
  }
}

TEST_F(DnnTest, TheThreeOperations) {
  expect_right(some_convolution());
  expect_right(some_convolution(), ScalarType::Double);
}

TEST_F(DnnTest, EveryTypeIsConvolved) {
  Convolution what = some_convolution();
  what.in_channels = 8;
  what.out_channels = 8;
  what.memory_format = MemoryFormat::ChannelsLast;
  expect_right(what, ScalarType::Half);
  expect_right(what, ScalarType::BFloat16);
}

/// The three operations on views of a type.
template <class T>
void expect_typed_right(ScalarType type) {
  Convolution what = some_convolution();
  what.in_channels = 8;
  what.out_channels = 8;
  const auto numbers = [](const DimVector& shape, unsigned seed) {
    return random_numbers(support::reach(shape, {}), seed, support::kFewBits);
  };
  const Numbers input = numbers(what.input_shape(), 1);
  const Numbers filter = numbers(what.filter_shape(), 2);
  const Numbers output = numbers(what.output_shape(), 3);
  const auto check = [&](std::int32_t operation, const Numbers& a, const Numbers& b,
                         const Numbers& result, auto call) {
    OnDevice device_a(a, type);
    OnDevice device_b(b, type);
    OnDevice device_result(result, type);
    call(what, DeviceSpan<const T>(device_a.span<T>()), device_b.span<T>(),
         device_result.span<T>());
    EXPECT_LE(support::worst_error(device_result.read(),
                                   support::convolved(what, operation, a, b, result)),
              support::tolerance(type))
        << "operation " << operation << ", type " << static_cast<int>(type);
  };
  check(SCONCE_CONVOLUTION_FORWARD, input, filter, output,
        [](const auto&... all) { convolution(all...); });
  check(SCONCE_CONVOLUTION_BACKWARD_DATA, output, filter, input,
        [](const auto&... all) { convolution_backward_data(all...); });
  check(SCONCE_CONVOLUTION_BACKWARD_FILTER, output, input, filter,
        [](const auto&... all) { convolution_backward_filter(all...); });
}

TEST_F(DnnTest, HalfPrecisionIsOfATypeToo) {
  expect_typed_right<Half>(ScalarType::Half);
  expect_typed_right<BFloat16>(ScalarType::BFloat16);
}

TEST_F(DnnTest, ADescriptionSaysWhatIsUnusual) {
  Convolution what = some_convolution();
  what.padding = {1, 2};
  what.stride = {2, 1};
  expect_right(what);
  what.dilation = {1, 2};
  expect_right(what);
  what.groups = 2;
  expect_right(what);
  what.memory_format = MemoryFormat::ChannelsLast;
  expect_right(what);
}

TEST_F(DnnTest, OneAndThreeSpatialDimensions) {
  Convolution what = some_convolution();
  what.input_sizes = {12};
  what.filter_sizes = {5};
  what.padding = {2};
  expect_right(what);
  what.input_sizes = {4, 5, 6};
  what.filter_sizes = {2, 3, 1};
  what.padding = {0, 1, 0};
  expect_right(what);
}

TEST_F(DnnTest, WithoutImagesTheFiltersGradientIsNothing) {
  Convolution what = some_convolution();
  what.batch = 0;
  OnDevice filter(Numbers(6 * 4 * 3 * 2, 1), ScalarType::Float);
  convolution_backward_filter(what, ScalarType::Float, nullptr, nullptr, filter.get());
  EXPECT_EQ(filter.read(), Numbers(6 * 4 * 3 * 2));
  convolution(what, ScalarType::Float, nullptr, filter.get(), nullptr);
}

TEST_F(DnnTest, AViewMustHaveWhatADescriptionReaches) {
  const Convolution what = some_convolution();  // input 448, filter 144, output 420
  OnDevice memory(Numbers(1400), ScalarType::Double);
  const auto all = memory.span<double>();
  const auto at_0 = all.first(448);
  const auto at_1 = all.subspan(448, 144);
  const auto at_2 = all.subspan(592, 420);
  convolution(what, at_0, at_1, at_2);
  convolution_backward_data(what, at_2, at_1, at_0);
  convolution_backward_filter(what, at_2, at_0, at_1.data());
  EXPECT_TRUE(contains(error_of([&] { convolution(what, at_0.first(447), at_1, at_2); }).what(),
                       "input has 447 elements, and the description reaches 448"));
  EXPECT_TRUE(contains(
      error_of([&] { convolution_backward_data(what, at_2, at_1.first(143), at_0); }).what(),
      "filter has 143 elements, and the description reaches 144"));
  EXPECT_TRUE(contains(
      error_of([&] { convolution_backward_filter(what, at_2.first(1), at_0, at_1); }).what(),
      "grad_output has 1 elements, and the description reaches 420"));
}

TEST_F(DnnTest, WhatTheLibraryRefusesItNames) {
  const Convolution what = some_convolution();
  OnDevice memory(Numbers(448), ScalarType::Float);
  OnDevice filter(Numbers(144), ScalarType::Float);
  const std::vector<float> host(448);
  EXPECT_EQ(status_of([&] {
              convolution(what, ScalarType::Float, host.data(), filter.get(), memory.get());
            }),
            SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(status_of([&] {
              convolution(what, ScalarType::Float, memory.get(), filter.get(), memory.get());
            }),
            SCONCE_ERROR_INVALID_ARGUMENT)
      << "the output is the input";
  EXPECT_EQ(status_of([&] { convolution(what, ScalarType::Int, nullptr, nullptr, nullptr); }),
            SCONCE_ERROR_NOT_SUPPORTED);
}

TEST_F(DnnTest, ConvolutionsObeyTheSwitchAsItIsAtTheCall) {
  SCONCE_NEED_SIMULATOR();
  Convolution what = some_convolution();
  what.in_channels = 16;
  for (const std::int32_t operation : kOperations) {
    globalContext().setAllowTF32CuDNN(true);
    const double with = error_of_operation(what, operation, ScalarType::Float, 24);
    EXPECT_GT(with, 2e-5);
    EXPECT_LE(with, support::tolerance(ScalarType::Float, true));
    globalContext().setAllowTF32CuDNN(false);
    EXPECT_LE(error_of_operation(what, operation, ScalarType::Float, 24),
              support::tolerance(ScalarType::Float));
  }
}

TEST_F(DnnTest, BenchmarkAndDeterminismGiveTheSameNumbers) {
  Context& context = globalContext();
  context.setBenchmarkCuDNN(true);
  context.setBenchmarkLimitCuDNN(2);
  expect_right(some_convolution());
  expect_right(some_convolution());
  context.setDeterministicCuDNN(true);
  expect_right(some_convolution());
  context.setBenchmarkCuDNN(false);
  expect_right(some_convolution());
  clear_convolution_plans();
  expect_right(some_convolution());
}

class DnnFailureTest : public support::WorkFixture {};

TEST_F(DnnFailureTest, AMissingLibraryHasNoVersion) {
  SCONCE_NEED_SIMULATOR();
  sconce::simulator::inject_fault("dnn_version", 1, -1);
  EXPECT_EQ(cudnn_version(), std::nullopt);
  sconce::simulator::inject_fault("dnn_create", 1, -1);
  EXPECT_EQ(status_of([] { (void)getCurrentCUDADnnHandle(); }), SCONCE_ERROR_LIBRARY_NOT_FOUND);
  EXPECT_NE(getCurrentCUDADnnHandle(), nullptr);
}

}  // namespace
