// Lines that code for ATen has of tensors, types and errors; see c10_compat_test.cpp.
#include <complex>
#include <string>
#include <vector>

#include "c10_compat_support.hpp"

using namespace c10_lines;  // NOLINT

namespace {

// Sizes.

LINE(91, SizesAsAView) {
  const auto x = ones({2, 3});
  c10::IntArrayRef sizes = x.sizes();
  at::IntArrayRef strides = x.strides();
  EXPECT_EQ(sizes.data(), x.sizes().data()) << "the tensor's own numbers";
  auto y = torch::empty(sizes, x.options());
  EXPECT_EQ(y.sizes(), x.sizes());
  EXPECT_EQ(strides[0] * sizes[0], x.numel());
}
LINE(92, SizesAreCompared) {
  const auto x = ones({2, 3, 4});
  const auto y = ones({5, 3, 4});
  TORCH_CHECK(x.sizes() != y.sizes());
  TORCH_CHECK(x.sizes().slice(1) == y.sizes().slice(1), "all but the first must agree");
  EXPECT_TRUE(x.sizes().slice(0, 2).equals({2, 3}));
  EXPECT_TRUE(x.sizes() == torch::IntArrayRef({2, 3, 4}));
}
LINE(93, SizesInMessages) {
  const auto x = ones({2, 3});
  const auto error = error_of(
      [&] { TORCH_CHECK(x.sizes() == x.t().sizes(), x.sizes(), " differs from ", x.t().sizes()); });
  EXPECT_EQ(error.msg(), "[2, 3] differs from [3, 2]");
}
LINE(94, FirstAndLastSize) {
  const auto x = ones({2, 3, 4});
  const int64_t hidden = x.sizes().back();
  EXPECT_EQ(hidden * x.sizes().front(), 8);
  int64_t tokens = 1;
  for (const auto i : c10::irange(x.dim() - 1)) {
    tokens *= x.size(i);
  }
  int64_t all = 1;
  for (auto size : x.sizes()) {
    all *= size;
  }
  EXPECT_EQ(tokens * hidden, all);
}
LINE(95, ShapeOfAResult) {
  const auto x = ones({2, 3});
  auto shape = x.sizes().vec();
  shape.back() = 5;
  std::vector<int64_t> same(x.sizes().begin(), x.sizes().end());
  same[1] = 5;
  EXPECT_EQ(shape, same);
  EXPECT_EQ(torch::empty(shape, x.options()).numel(), 10);
}
LINE(96, SizesOfATensorWithoutAName) {
  const auto x = ones({2, 3});
  auto sizes = x.t().sizes();  // in torch they are gone here
  EXPECT_EQ(sizes.vec(), (std::vector<int64_t>{3, 2}));
  EXPECT_EQ(x.view(x.reshape({6, 1}).sizes()).size(0), 6);
  EXPECT_EQ(x.t().strides().vec(), (std::vector<int64_t>{1, 3}));
}

// Guards of any device.

LINE(97, GuardOfTheTensorsDevice) {
  SCONCE_NEED_DEVICES(2);
  const auto cpu = torch::ones({2}, torch::TensorOptions().device(torch::kCPU));
  c10::DeviceGuard guard(cpu.device());
  EXPECT_EQ(c10::cuda::current_device(), 0);
  guard.reset_device(c10::Device(c10::kCUDA, 1));
  EXPECT_EQ(c10::cuda::current_device(), 1);
  EXPECT_EQ(guard.original_device(), c10::Device(c10::kCUDA, 0));
  guard.set_index(0);
  EXPECT_EQ(c10::cuda::current_device(), 0);
  guard.set_index(1);
  guard.reset_device(cpu.device());
  EXPECT_EQ(c10::cuda::current_device(), 0) << "the end of the guard of devices";
  EXPECT_EQ(guard.current_device(), cpu.device());
  c10::OptionalDeviceGuard none;
  EXPECT_FALSE(none.original_device().has_value());
  none.reset_device(c10::Device(c10::kCUDA, 1));
  EXPECT_EQ(c10::cuda::current_device(), 1);
}

// Types.

LINE(98, DispatchWithThreeMoreTypes) {
  int calls = 0;
  for (const auto type : {at::kFloat, at::kHalf, at::kBFloat16, at::kBool}) {
    AT_DISPATCH_FLOATING_TYPES_AND3(
        at::ScalarType::Half, at::ScalarType::BFloat16, at::ScalarType::Bool, type, "three",
        [&] { calls += sizeof(scalar_t) == at::elementSize(type) ? 1 : 0; });
    AT_DISPATCH_ALL_TYPES_AND3(at::ScalarType::Half, at::ScalarType::BFloat16, at::ScalarType::Bool,
                               type, "all_three",
                               [&] { calls += sizeof(scalar_t) == at::elementSize(type) ? 1 : 0; });
  }
  EXPECT_EQ(calls, 8);
  EXPECT_EQ(AT_DISPATCH_ALL_TYPES_AND(at::ScalarType::Half, at::kShort, "one",
                                      [] { return sizeof(scalar_t); }),
            2U);
  EXPECT_EQ(AT_DISPATCH_INTEGRAL_TYPES_AND(at::ScalarType::Bool, at::kBool, "integers",
                                           [] { return sizeof(scalar_t); }),
            1U);
}
LINE(99, DispatchOverComplexTypes) {
  const bool is_complex = AT_DISPATCH_COMPLEX_TYPES(
      at::kComplexFloat, "complex", [] { return std::is_same_v<scalar_t, c10::complex<float>>; });
  EXPECT_TRUE(is_complex);
  const auto bytes = [](at::ScalarType type) {
    return AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND2(at::ScalarType::Half,
                                                       at::ScalarType::BFloat16, type, "any",
                                                       [] { return sizeof(scalar_t); });
  };
  EXPECT_EQ(bytes(at::kDouble), 8U);
  EXPECT_EQ(bytes(at::kBFloat16), 2U);
  EXPECT_EQ(bytes(at::kComplexDouble), 16U);
  const auto all = [](at::ScalarType type) {
    return AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND4(at::ScalarType::Half, at::ScalarType::BFloat16,
                                                  at::ScalarType::Bool, at::ScalarType::ComplexHalf,
                                                  type, "all", [] { return sizeof(scalar_t); });
  };
  EXPECT_EQ(all(at::kComplexHalf), 4U);
  EXPECT_EQ(all(at::kLong), 8U);
  EXPECT_EQ(all(at::kBool), 1U);
  EXPECT_EQ(AT_DISPATCH_ALL_TYPES_AND_COMPLEX(at::kComplexFloat, "all_and_complex",
                                              [] { return sizeof(scalar_t); }),
            8U);
  EXPECT_TRUE(
      contains(error_of([] { AT_DISPATCH_COMPLEX_TYPES(at::kFloat, "complex", [] {}); }).what(),
               "\"complex\" not implemented for 'Float'"));
}

// Errors.

LINE(100, ChecksOfIndicesAndTypes) {
  const auto x = ones({3});
  EXPECT_THROW(TORCH_CHECK_INDEX(x.size(0) > 3, "index 3 is out of range"), c10::IndexError);
  EXPECT_THROW(TORCH_CHECK_TYPE(x.scalar_type() == at::kInt, "expected Int"), c10::TypeError);
  EXPECT_THROW(TORCH_CHECK_VALUE(x.numel() == 4), c10::ValueError);
  TORCH_CHECK_INDEX(true);
  TORCH_CHECK_TYPE(true, "never");
}
LINE(101, MessageOfAnError) {
  try {
    TORCH_CHECK(false, "rows must be even, not ", 3);
  } catch (const c10::Error& e) {
    EXPECT_EQ(e.msg(), "rows must be even, not 3");
    EXPECT_STREQ(e.what_without_backtrace(), "rows must be even, not 3");
    EXPECT_TRUE(contains(e.what(), e.msg()));
  }
}

// Properties.

LINE(102, LimitsOfALaunch) {
  const auto* props = at::cuda::getCurrentDeviceProperties();
  const dim3 grid(static_cast<unsigned>(std::min(props->maxGridSize[0], 1 << 20)));
  EXPECT_EQ(grid.x, 1U << 20);
  EXPECT_EQ(props->maxGridSize[1], 65535);
  EXPECT_EQ(props->maxThreadsDim[0], props->maxThreadsPerBlock);
  EXPECT_EQ(props->maxThreadsDim[2], 64);
  EXPECT_LE(props->regsPerBlock, props->regsPerMultiprocessor);
  EXPECT_EQ(props->totalConstMem, std::size_t{64} << 10);
  EXPECT_GE(props->maxBlocksPerMultiProcessor, 16);
  EXPECT_TRUE(props->cooperativeLaunch && props->concurrentKernels);
  EXPECT_GT(props->clockRate, 0);
}
LINE(103, UuidOfADevice) {
  SCONCE_NEED_DEVICES(2);
  const std::string one(at::cuda::getDeviceProperties(0)->uuid.bytes, 16);
  const std::string two(at::cuda::getDeviceProperties(1)->uuid.bytes, 16);
  EXPECT_NE(one, two);
}

// Operations.

LINE(104, Randperm) {
  const auto x = ones({2});
  auto order = torch::randperm(10, x.options().dtype(torch::kInt64));
  EXPECT_EQ(order.sum().item<int64_t>(), 45);
  EXPECT_EQ(order.device(), x.device());
}
LINE(105, Convolution) {
  const auto image = ones({1, 1, 4, 4});
  const auto weight = ones({2, 1, 3, 3});
  auto y = at::conv2d(image, weight, /*bias=*/{}, /*stride=*/1, /*padding=*/1);
  EXPECT_EQ(y.sizes(), c10::IntArrayRef({1, 2, 4, 4}));
  EXPECT_EQ(y.sum().item<float>(), 200);
}
LINE(106, TransformOfAnImage) {
  const auto image = ones({2, 4, 4});
  auto spectrum = at::fft_rfftn(image, c10::nullopt, {{-2, -1}});
  EXPECT_EQ(spectrum.sizes(), c10::IntArrayRef({2, 4, 3}));
  EXPECT_EQ(at::fft_irfft2(spectrum).sizes(), image.sizes());
}

}  // namespace
