// Transforms: the meaning of descriptions, and refusals. gpu/libraries_transforms.cpp compares many
// shapes.
#include <sconce/cuda/fft.hpp>
#include <sconce/cuda/guard.hpp>
#include <sconce/sim/simulator.hpp>

#include "fft_support.hpp"
#include "library_references.hpp"

namespace {

using namespace sconce::cuda;
using support::ComplexNumbers;
using support::contains;
using support::error_of;
using support::of_sizes;
using support::random_numbers;
using support::status_of;

class FFTTest : public support::FFTFixture {};

/// Elements of a type in memory of the current device.
template <class T>
DeviceBuffer on_device(const std::vector<T>& elements) {
  auto memory = DeviceBuffer::of<T>(elements.size());
  copy_(memory, elements);
  return memory;
}

template <class T>
std::vector<T> on_host(const DeviceBuffer& memory) {
  std::vector<T> elements(memory.size<T>());
  copy_(elements, memory);
  return elements;
}

ComplexNumbers random_complex(std::size_t count, unsigned seed) {
  const auto parts = random_numbers(2 * count, seed);
  ComplexNumbers numbers(count);
  for (std::size_t i = 0; i < count; ++i) {
    numbers[i] = {parts[2 * i], parts[2 * i + 1]};
  }
  return numbers;
}

template <class T, class Expected>
void expect_near(const std::vector<T>& actual, const std::vector<Expected>& expected,
                 double tolerance = 1e-12) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    ASSERT_LE(std::abs(actual[i] - expected[i]), tolerance) << "element " << i;
  }
}

/// A transform of random complex doubles, in place or not, from packed to packed.
ComplexNumbers c2c(const FFT& what, const ComplexNumbers& numbers) {
  DeviceBuffer memory = on_device(numbers);
  const auto all = memory.span<std::complex<double>>();
  fft_c2c(what, all, all);
  return on_host<std::complex<double>>(memory);
}

TEST_F(FFTTest, ForwardAndInverse) {
  for (const DimVector& sizes :
       {DimVector{8}, DimVector{15}, DimVector{1}, DimVector{4, 6}, DimVector{3, 4, 5}}) {
    FFT what = of_sizes(sizes);
    const ComplexNumbers numbers = random_complex(support::reach(sizes, {}), 1);
    expect_near(c2c(what, numbers), support::transformed(numbers, sizes, false));
    what.direction = FFTDirection::Inverse;
    expect_near(c2c(what, numbers), support::transformed(numbers, sizes, true));
  }
}

TEST_F(FFTTest, ResultsAreDividedAsSaid) {
  FFT what = of_sizes({4, 5});
  const ComplexNumbers numbers = random_complex(20, 2);
  ComplexNumbers sums = support::transformed(numbers, what.sizes, false);
  what.normalization = FFTNorm::ByN;
  ComplexNumbers expected = sums;
  for (auto& number : expected) {
    number /= 20;
  }
  expect_near(c2c(what, numbers), expected);
  what.normalization = FFTNorm::ByRootN;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    expected[i] = sums[i] / std::sqrt(20.0);
  }
  expect_near(c2c(what, numbers), expected);
}

TEST_F(FFTTest, RealNumbersThereAndBack) {
  for (const DimVector& sizes : {DimVector{8}, DimVector{9}, DimVector{4, 6}, DimVector{3, 2, 5}}) {
    FFT what = of_sizes(sizes);
    what.batch = 3;
    const std::size_t reals = support::reach(sizes, {}) * 3;
    const std::size_t complexes = support::reach(what.onesided_sizes(), {}) * 3;
    const auto numbers = random_numbers(reals, 3);
    DeviceBuffer real = on_device(numbers);
    auto spectrum = DeviceBuffer::of<std::complex<double>>(complexes);
    fft_r2c(what, real.span<double>(), spectrum.span<std::complex<double>>());

    // The kept part of the last dimension of the full transform.
    ComplexNumbers expected;
    const auto n = static_cast<std::size_t>(sizes[sizes.size() - 1]);
    for (std::size_t batch = 0; batch < 3; ++batch) {
      const auto begin = numbers.begin() + static_cast<std::ptrdiff_t>(batch * reals / 3);
      const ComplexNumbers whole = support::transformed(
          ComplexNumbers(begin, begin + static_cast<std::ptrdiff_t>(reals / 3)), sizes, false);
      for (std::size_t i = 0; i < whole.size(); ++i) {
        if (i % n <= n / 2) {
          expected.push_back(whole[i]);
        }
      }
    }
    const auto transformed = on_host<std::complex<double>>(spectrum);
    expect_near(transformed, expected);

    what.normalization = FFTNorm::ByN;
    auto back = DeviceBuffer::of<double>(reals);
    fft_c2r(what, spectrum.span<std::complex<double>>(), back.span<double>());
    expect_near(on_host<double>(back), numbers);
    expect_near(on_host<std::complex<double>>(spectrum), transformed, 0);  // stays as it was
  }
}

TEST_F(FFTTest, SinglesAreTransformedToo) {
  const auto numbers = random_numbers(16, 4);
  DeviceBuffer real = on_device(std::vector<float>(numbers.begin(), numbers.end()));
  auto spectrum = DeviceBuffer::of<std::complex<float>>(9);
  const FFT what = of_sizes({16});
  fft_r2c(what, real.data<float>(), spectrum.data<std::complex<float>>());
  const ComplexNumbers whole =
      support::transformed(ComplexNumbers(numbers.begin(), numbers.end()), what.sizes, false);
  const auto result = on_host<std::complex<float>>(spectrum);
  for (std::size_t i = 0; i < result.size(); ++i) {
    EXPECT_LE(std::abs(std::complex<double>(result[i]) - whole[i]), 1e-5);
  }
}

TEST_F(FFTTest, HalvesAreTransformedToo) {
  const auto numbers = random_numbers(16, 4, support::kFewBits);
  support::OnDevice real(numbers, ScalarType::Half);
  auto spectrum = DeviceBuffer::of<ComplexHalf>(9);
  const FFT what = of_sizes({16});
  fft_r2c(what, real.span<Half>(), spectrum.span<ComplexHalf>());
  const ComplexNumbers whole =
      support::transformed(ComplexNumbers(numbers.begin(), numbers.end()), what.sizes, false);
  const auto number = [](Half half) { return support::from_16_bits(half.x, 10, 15); };
  const auto result = on_host<ComplexHalf>(spectrum);
  for (std::size_t i = 0; i < result.size(); ++i) {
    const std::complex<double> actual(number(result[i].real), number(result[i].imag));
    EXPECT_LE(std::abs(actual - whole[i]), 2e-2) << "element " << i;
  }

  FFT back = what;
  back.normalization = FFTNorm::ByN;
  support::OnDevice again(support::Numbers(16), ScalarType::Half);
  fft_c2r(back, spectrum.span<ComplexHalf>(), again.span<Half>());
  expect_near(again.read(), numbers, 5e-3);

  auto line = DeviceBuffer::of<ComplexHalf>(8);
  std::vector<ComplexHalf> ones(8, {{0x3C00}, {0}});
  copy_(line, ones);
  fft_c2c(of_sizes({8}), line.span<ComplexHalf>(), line.span<ComplexHalf>());
  const auto sums = on_host<ComplexHalf>(line);
  EXPECT_EQ(number(sums[0].real), 8);
  EXPECT_EQ(number(sums[1].real), 0);
}

TEST_F(FFTTest, ADirectionThatAKindDoesNotHaveIsRefused) {
  auto memory = DeviceBuffer::of<std::complex<float>>(5);
  auto numbers = DeviceBuffer::of<float>(8);
  memory_set(memory, 0);
  const auto complexes = memory.span<std::complex<float>>();
  const auto reals = numbers.span<float>();
  FFT what = of_sizes({8});
  what.direction = FFTDirection::Inverse;
  fft_c2r(what, complexes, reals);
  const sconce::Error inverse = error_of([&] { fft_r2c(what, reals, complexes); });
  EXPECT_EQ(inverse.status(), SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(contains(inverse.what(), "SCONCE_FFT_R2C is forward only")) << inverse.what();
  EXPECT_EQ(status_of([&] { fft_r2c(what, ScalarType::Float, numbers.get(), memory.get()); }),
            SCONCE_ERROR_INVALID_ARGUMENT);
  what.direction = FFTDirection::Forward;
  fft_r2c(what, reals, complexes);
  const sconce::Error forward = error_of([&] { fft_c2r(what, complexes, reals); });
  EXPECT_EQ(forward.status(), SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(contains(forward.what(), "SCONCE_FFT_C2R is inverse only")) << forward.what();
}

TEST_F(FFTTest, StridesPlaceElements) {
  FFT what = of_sizes({6});
  what.batch = 2;
  const ComplexNumbers numbers = random_complex(12, 5);
  // Elements of two transforms, interleaved.
  what.in_strides = {2};
  what.in_batch_stride = 1;
  DeviceBuffer in = on_device(numbers);
  auto out = on_device(ComplexNumbers(16, {7, 7}));
  // A stride of the batch alone: each transform is packed.
  what.out_batch_stride = 10;
  fft_c2c(what, in.span<std::complex<double>>(), out.span<std::complex<double>>());
  ComplexNumbers expected(16, {7, 7});
  for (std::size_t batch = 0; batch < 2; ++batch) {
    ComplexNumbers one;
    for (std::size_t i = 0; i < 6; ++i) {
      one.push_back(numbers[2 * i + batch]);
    }
    one = support::transformed(one, {6}, false);
    std::copy(one.begin(), one.end(), expected.begin() + static_cast<std::ptrdiff_t>(10 * batch));
  }
  expect_near(on_host<std::complex<double>>(out), expected);
}

TEST_F(FFTTest, OverlappingInputsAreFrames) {
  FFT what = of_sizes({8});
  what.batch = 3;
  what.in_batch_stride = 2;
  const auto numbers = random_numbers(12, 6);
  DeviceBuffer in = on_device(numbers);
  auto out = DeviceBuffer::of<std::complex<double>>(15);
  fft_r2c(what, in.span<double>(), out.span<std::complex<double>>());
  const auto result = on_host<std::complex<double>>(out);
  for (std::size_t frame = 0; frame < 3; ++frame) {
    const auto begin = numbers.begin() + static_cast<std::ptrdiff_t>(2 * frame);
    const ComplexNumbers whole = support::transformed(ComplexNumbers(begin, begin + 8), {8}, false);
    for (std::size_t i = 0; i < 5; ++i) {
      EXPECT_LE(std::abs(result[5 * frame + i] - whole[i]), 1e-12);
    }
  }
}

TEST_F(FFTTest, AViewMustHaveWhatADescriptionReaches) {
  auto memory = DeviceBuffer::of<std::complex<float>>(100);
  const auto complexes = memory.span<std::complex<float>>();
  const auto reals = DeviceSpan<float>(memory.data<float>(), 200);
  FFT what = of_sizes({4, 6});
  const sconce::Error error = error_of([&] { fft_c2c(what, complexes.first(23), complexes); });
  EXPECT_EQ(error.status(), SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(contains(error.what(), "input has 23 elements, and the description reaches 24"));
  EXPECT_TRUE(contains(error_of([&] { fft_r2c(what, reals.last(24), complexes.first(15)); }).what(),
                       "output has 15 elements, and the description reaches 16"));
  what.in_strides = {1};
  EXPECT_TRUE(contains(error_of([&] { fft_c2c(what, complexes, complexes); }).what(),
                       "in_strides has 1 numbers; it needs 2"));
  what.sizes = {};
  EXPECT_TRUE(contains(error_of([&] { fft_c2c(what, complexes, complexes); }).what(),
                       "sizes has 0 numbers; a transform has 1 to 3 dimensions"));
}

TEST_F(FFTTest, WhatTheLibraryRefusesItNames) {
  auto memory = DeviceBuffer::of<std::complex<float>>(64);
  const auto all = memory.span<std::complex<float>>();
  EXPECT_TRUE(contains(error_of([&] { fft_c2c(of_sizes({0}), all, all); }).what(), "desc.sizes"));
  EXPECT_TRUE(contains(error_of([&] { fft_c2c(of_sizes({8}), all.data(), all.data() + 4); }).what(),
                       "out"));
  std::vector<std::complex<float>> host(8);
  EXPECT_EQ(status_of([&] { fft_c2c(of_sizes({8}), all.data(), host.data()); }),
            SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(status_of([&] { fft_c2c(of_sizes({12}), ScalarType::Half, all.data(), all.data()); }),
            SCONCE_ERROR_NOT_SUPPORTED)
      << "F16 takes powers of two";
  FFT nothing = of_sizes({8});
  nothing.batch = 0;
  fft_c2c(nothing, ScalarType::Float, nullptr, nullptr);
}

TEST_F(FFTTest, TransformsRunOnTheCurrentStream) {
  SCONCE_NEED_SIMULATOR();
  const ComplexNumbers numbers = random_complex(8, 7);
  DeviceBuffer memory = on_device(numbers);
  device_synchronize();
  const CUDAStream stream = getStreamFromPool();
  const sconce::simulator::ManualScope manual;
  {
    const CUDAStreamGuard guard(stream);
    const auto all = memory.span<std::complex<double>>();
    fft_c2c(of_sizes({8}), all, all);
  }
  EXPECT_GE(sconce::simulator::pending(stream), 1U) << "a transform only queues";
  (void)sconce::simulator::run_until_idle();
  sconce::simulator::set_manual(false);
  expect_near(on_host<std::complex<double>>(memory), support::transformed(numbers, {8}, false));
}

}  // namespace
