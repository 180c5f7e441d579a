// Random numbers: generators under torch's names, seeds before and after there is a device, and
// refused fills. The contents of fills are compared in Rust (tests/random) and on GPUs (gpu/).
#include <algorithm>
#include <complex>
#include <limits>
#include <optional>
#include <sconce/cuda/buffer.hpp>
#include <sconce/cuda/copy.hpp>
#include <sconce/cuda/guard.hpp>
#include <sconce/cuda/random.hpp>
#include <sconce/sim/simulator.hpp>
#include <thread>
#include <type_traits>
#include <vector>

#include "fixture.hpp"

namespace {

using namespace sconce::cuda;
using support::contains;
using support::error_of;
using support::status_of;

class RandomTest : public support::DeviceFixture {};

static_assert(std::is_copy_constructible_v<CUDAGenerator> &&
                  std::is_copy_assignable_v<CUDAGenerator>,
              "copies share a state, as at::Generator's do");

// Each test runs in a process of its own, so no seed has been set before.
TEST(RandomSeedTest, SeedsWaitForADevice) {
  manual_seed_all(5);
  manual_seed(6);
  EXPECT_FALSE(sconce_is_initialized()) << "seeding initialises nothing";
  if (!support::started().empty()) {
    GTEST_SKIP() << support::started();
  }
  EXPECT_EQ(initial_seed(), 6U);
  for (DeviceIndex device = 1; device < device_count(); ++device) {
    EXPECT_EQ(getDefaultCUDAGenerator(device).current_seed(), 5U);
  }
}

TEST_F(RandomTest, ANewGeneratorIsTorchs) {
  const CUDAGenerator generator = createCUDAGenerator();
  EXPECT_EQ(generator.current_seed(), 67280421310721U);
  EXPECT_EQ(generator.get_offset(), 0U);
  EXPECT_EQ(generator.device(), Device(0));
}

TEST_F(RandomTest, CopiesShareAStateAndClonesDoNot) {
  CUDAGenerator generator = createCUDAGenerator();
  CUDAGenerator copy = generator;
  CUDAGenerator clone = generator.clone();
  EXPECT_EQ(copy, generator);
  EXPECT_NE(clone, generator);
  (void)copy.philox_engine_inputs(1);
  EXPECT_EQ(generator.get_offset(), 4U);
  EXPECT_EQ(clone.get_offset(), 0U);
}

TEST_F(RandomTest, TheLastCopyTakesTheGeneratorAlong) {
  sconce_generator* handle = nullptr;
  {
    CUDAGenerator generator = createCUDAGenerator();
    const CUDAGenerator copy = generator;
    handle = generator.get();
    generator = createCUDAGenerator();
    EXPECT_EQ(copy.get_offset(), 0U);
  }
  std::uint64_t offset = 0;
  EXPECT_EQ(sconce_generator_get_offset(handle, &offset), SCONCE_ERROR_INVALID_HANDLE);
}

TEST_F(RandomTest, DefaultGeneratorsStay) {
  sconce_generator* handle = nullptr;
  {
    const CUDAGenerator generator = getDefaultCUDAGenerator();
    handle = generator.get();
  }
  EXPECT_EQ(getDefaultCUDAGenerator(0).get(), handle);
  EXPECT_EQ(sconce_generator_destroy(handle), SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(getDefaultCUDAGenerator().get(), handle);
}

TEST_F(RandomTest, DefaultGeneratorsAreThoseOfTheDevices) {
  SCONCE_NEED_DEVICES(2);
  EXPECT_NE(getDefaultCUDAGenerator(0), getDefaultCUDAGenerator(1));
  const CUDAGuard guard(1);
  EXPECT_EQ(getDefaultCUDAGenerator(), getDefaultCUDAGenerator(1));
  manual_seed(77);
  EXPECT_EQ(getDefaultCUDAGenerator(1).current_seed(), 77U);
  EXPECT_NE(getDefaultCUDAGenerator(0).current_seed(), 77U);
  const std::uint64_t random = seed_all();
  EXPECT_EQ(getDefaultCUDAGenerator(0).current_seed(), random);
  EXPECT_EQ(getDefaultCUDAGenerator(1).current_seed(), random);
}

TEST_F(RandomTest, SeedingGoesBackToTheStart) {
  CUDAGenerator generator = createCUDAGenerator();
  (void)generator.philox_engine_inputs(100);
  generator.set_current_seed(42);
  EXPECT_EQ(generator.philox_engine_inputs(4), std::make_pair(std::uint64_t{42}, std::uint64_t{0}));
  const std::uint64_t random = generator.seed();
  EXPECT_EQ(generator.current_seed(), random);
  EXPECT_LT(random, std::uint64_t{1} << 53);
  EXPECT_EQ(generator.get_offset(), 0U);
  EXPECT_NE(generator.seed(), random);
}

TEST_F(RandomTest, StatesAreTorchsBytes) {
  CUDAGenerator generator = createCUDAGenerator();
  generator.set_current_seed(0x0102030405060708);
  generator.set_offset(0x10);
  const GeneratorState expected{8, 7, 6, 5, 4, 3, 2, 1, 0x10};
  EXPECT_EQ(generator.get_state(), expected);
  CUDAGenerator other = createCUDAGenerator();
  other.set_state(expected);
  EXPECT_EQ(other.get_offset(), 0x10U);
  other.set_state(expected.data(), 8);
  EXPECT_EQ(other.get_offset(), 0U);
  EXPECT_EQ(other.current_seed(), 0x0102030405060708U);
  const sconce::Error error = error_of([&] { other.set_state(expected.data(), 12); });
  EXPECT_EQ(error.status(), SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(contains(error.what(), "RNG state is wrong size"));
}

TEST_F(RandomTest, OffsetsAreMultiplesOfFour) {
  CUDAGenerator generator = createCUDAGenerator();
  const sconce::Error error = error_of([&] { generator.set_offset(6); });
  EXPECT_TRUE(contains(error.what(), "offset must be a multiple of 4"));
  EXPECT_EQ(generator.philox_engine_inputs(5).second, 0U);
  EXPECT_EQ(generator.get_offset(), 8U);
}

TEST_F(RandomTest, OutsideCapturesAKernelGetsNumbers) {
  CUDAGenerator generator = createCUDAGenerator();
  generator.set_current_seed(3);
  (void)generator.philox_cuda_state(4);
  const sconce_philox_state state = generator.philox_cuda_state(4);
  EXPECT_EQ(state.seed, 3U);
  EXPECT_EQ(state.offset, 4U);
  EXPECT_EQ(state.device_state, nullptr);
  generator.prepare_capture();
}

TEST_F(RandomTest, TheFirstFillOfADeviceMayBeCaptured) {
  SCONCE_NEED_SIMULATOR();
  const sconce::simulator::DeviceMemory memory(4 * sizeof(float));
  CUDAGenerator generator = createCUDAGenerator();
  const CUDAStream stream = getStreamFromPool();
  const CUDAStreamGuard guard(stream);
  sconce::simulator::begin_capture(stream);
  uniform_(memory.get(), 4, ScalarType::Float, 0, 1, generator);
  EXPECT_NE(generator.philox_cuda_state(4).device_state, nullptr);
  EXPECT_NO_THROW(sconce::simulator::end_capture(stream));
  EXPECT_EQ(generator.get_offset(), 0U) << "a capture draws nothing";
  EXPECT_EQ(generator.philox_cuda_state(4).device_state, nullptr);
}

TEST_F(RandomTest, ThreadsGetPiecesThatDoNotOverlap) {
  CUDAGenerator shared = createCUDAGenerator();
  constexpr std::size_t kThreads = 4;
  constexpr std::size_t kEach = 5000;
  std::vector<std::vector<std::uint64_t>> offsets(kThreads);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([generator = shared, &mine = offsets[t]]() mutable {
      for (std::size_t i = 0; i < kEach; ++i) {
        mine.push_back(generator.philox_engine_inputs(4).second);
      }
    });
  }
  for (auto& thread : threads) {
    thread.join();
  }
  std::vector<std::uint64_t> all;
  for (const auto& mine : offsets) {
    EXPECT_TRUE(std::is_sorted(mine.begin(), mine.end()));
    all.insert(all.end(), mine.begin(), mine.end());
  }
  std::sort(all.begin(), all.end());
  for (std::size_t i = 0; i < all.size(); ++i) {
    ASSERT_EQ(all[i], 4 * i);
  }
}

TEST_F(RandomTest, ParametersAreCheckedInTorchsWords) {
  const auto refusal = [](auto fill) {
    const sconce::Error error = error_of(fill);
    EXPECT_EQ(error.status(), SCONCE_ERROR_INVALID_ARGUMENT);
    return std::string(error.what());
  };
  constexpr ScalarType kFloat = ScalarType::Float;
  EXPECT_TRUE(contains(refusal([] { uniform_(nullptr, 0, kFloat, 2, 1); }),
                       "uniform_ expects to return a [from, to) range, but found from=2 > to=1"));
  EXPECT_TRUE(contains(refusal([] { normal_(nullptr, 0, kFloat, 0, -1); }),
                       "normal expects std >= 0.0, but found std -1"));
  EXPECT_TRUE(contains(refusal([] { log_normal_(nullptr, 0, kFloat, 0, 0); }),
                       "log_normal_ expects std > 0.0, but found std=0"));
  EXPECT_TRUE(contains(refusal([] { exponential_(nullptr, 0, kFloat, 0); }),
                       "exponential_ expects lambda > 0.0, but found lambda=0"));
  EXPECT_TRUE(contains(refusal([] { cauchy_(nullptr, 0, kFloat, 0, -2); }),
                       "cauchy_ expects sigma > 0.0, but found sigma=-2"));
  EXPECT_TRUE(contains(refusal([] { geometric_(nullptr, 0, kFloat, 1); }),
                       "geometric_ expects p to be in (0, 1), but got p=1"));
  EXPECT_TRUE(contains(refusal([] { bernoulli_(nullptr, 0, kFloat, 1.5); }),
                       "bernoulli_ expects p to be in [0, 1], but got p=1.5"));
  EXPECT_TRUE(contains(refusal([] { random_(nullptr, 0, ScalarType::Long, 4, 4); }),
                       "random_ expects 'from' to be less than 'to', but got from=4 >= to=4"));
  EXPECT_TRUE(contains(refusal([] { random_(nullptr, 0, ScalarType::Byte, 0, 300); }),
                       "out of bounds for SCONCE_DTYPE_U8"));
}

TEST_F(RandomTest, TypesWithoutADistributionAreNamed) {
  const sconce::Error error = error_of([] { normal_(nullptr, 0, ScalarType::Int); });
  EXPECT_EQ(error.status(), SCONCE_ERROR_NOT_SUPPORTED);
  EXPECT_TRUE(contains(error.what(), "normal is not supported for dtype SCONCE_DTYPE_I32"));
  EXPECT_EQ(status_of([] { geometric_(nullptr, 0, ScalarType::Bool, 0.5); }),
            SCONCE_ERROR_NOT_SUPPORTED);
  uniform_(nullptr, 0, ScalarType::ComplexDouble);
  random_(nullptr, 0, ScalarType::Bool);
}

TEST_F(RandomTest, WhatNoDeviceCanWriteToIsRefused) {
  CUDAGenerator generator = createCUDAGenerator();
  std::vector<float> host(64);
  const sconce::Error error =
      error_of([&] { uniform_(host.data(), 64, ScalarType::Float, 0, 1, generator); });
  EXPECT_EQ(error.status(), SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(contains(error.what(), "no device can write to"));
  EXPECT_EQ(generator.get_offset(), 0U) << "a refused fill reserves nothing";
  device_synchronize();
}

TEST_F(RandomTest, AGeneratorServesItsOwnDevice) {
  SCONCE_NEED_DEVICES(2);
  const CUDAGenerator there = createCUDAGenerator(1);
  EXPECT_EQ(status_of([&] { random_(nullptr, 0, ScalarType::Byte, there); }),
            SCONCE_ERROR_CROSS_DEVICE);
}

/// The elements that `fill` writes, from a generator in a fixed state.
template <class T, class Fill>
std::vector<T> written_by(Fill&& fill, std::size_t count = 1000) {
  auto buffer = DeviceBuffer::of<T>(count);
  memory_set(buffer, 0xA5);
  CUDAGenerator generator = createCUDAGenerator();
  generator.set_current_seed(11);
  fill(buffer, OptionalGenerator(generator));
  std::vector<T> numbers(count);
  copy_(numbers, buffer);
  return numbers;
}

/// Expects that a fill writes the same through a span, a buffer with a type, and an address. `fill`
/// is called with the arguments for the destination, in that order.
template <class T, class Fill>
void expect_same_bits(const char* name, Fill&& fill) {
  constexpr ScalarType type = CppTypeToScalarType<T>::value;
  const auto by_address = written_by<T>([&](DeviceBuffer& buffer, const OptionalGenerator& from) {
    fill(from, buffer.get(), buffer.size<T>(), type);
  });
  EXPECT_NE(by_address.front(), by_address.back()) << name;
  EXPECT_EQ(written_by<T>([&](DeviceBuffer& buffer, const OptionalGenerator& from) {
              fill(from, buffer.span<T>());
            }),
            by_address)
      << name;
  EXPECT_EQ(written_by<T>([&](DeviceBuffer& buffer, const OptionalGenerator& from) {
              fill(from, buffer, type);
            }),
            by_address)
      << name;
}

#define EXPECT_SAME_BITS(T, fill, ...)                                                 \
  expect_same_bits<T>(#fill, [](const OptionalGenerator& generator, auto&&... where) { \
    fill(where..., __VA_ARGS__, generator);                                            \
  })

TEST_F(RandomTest, FillsTakeSpansAndBuffers) {
  EXPECT_SAME_BITS(float, uniform_, -1.0, 1.0);
  EXPECT_SAME_BITS(double, normal_, 2.0, 0.5);
  EXPECT_SAME_BITS(float, log_normal_, 0.5, 0.25);
  EXPECT_SAME_BITS(float, exponential_, 2.0);
  EXPECT_SAME_BITS(float, cauchy_, 1.0, 2.0);
  EXPECT_SAME_BITS(double, geometric_, 0.125);
  EXPECT_SAME_BITS(std::uint8_t, random_, 5, 250);
  EXPECT_SAME_BITS(std::int64_t, random_, 1000000);
  expect_same_bits<std::int32_t>("random_", [](const OptionalGenerator& generator,
                                               auto&&... where) { random_(where..., generator); });
  const auto flips =
      written_by<std::uint8_t>([](DeviceBuffer& buffer, const OptionalGenerator& generator) {
        bernoulli_(buffer.span<std::uint8_t>(), 0.5, generator);
      });
  EXPECT_GT(std::count(flips.begin(), flips.end(), 1), 350);
  EXPECT_GT(std::count(flips.begin(), flips.end(), 0), 350);
}

TEST_F(RandomTest, FillsOfASpanHaveTheDefaultsOfTorch) {
  const auto numbers = written_by<float>([](DeviceBuffer& buffer, const OptionalGenerator&) {
    manual_seed(3);
    uniform_(buffer.span<float>());
  });
  EXPECT_GE(*std::min_element(numbers.begin(), numbers.end()), 0.0F);
  EXPECT_LT(*std::max_element(numbers.begin(), numbers.end()), 1.0F);
  const auto normal = written_by<float>([](DeviceBuffer& buffer, const OptionalGenerator&) {
    manual_seed(3);
    normal_(buffer.span<float>());
  });
  EXPECT_LT(*std::min_element(normal.begin(), normal.end()), -1.0F);
  EXPECT_GT(*std::max_element(normal.begin(), normal.end()), 1.0F);
}

TEST_F(RandomTest, AFillOfAPartLeavesTheRest) {
  const auto numbers = written_by<std::uint8_t>(
      [](DeviceBuffer& buffer, const OptionalGenerator& generator) {
        random_(buffer.span<std::uint8_t>(100, 50), 1, 5, generator);
      },
      200);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    EXPECT_EQ(numbers[i] != 0xA5, i >= 100 && i < 150) << i;
  }
}

TEST_F(RandomTest, ABufferIsAWholeNumberOfElements) {
  DeviceBuffer buffer(10);
  const sconce::Error error = error_of([&] { uniform_(buffer, ScalarType::Float); });
  EXPECT_EQ(error.status(), SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(contains(error.what(), "10 bytes are not a whole number of elements of 4 bytes"));
  EXPECT_EQ(status_of([&] { random_(buffer, static_cast<ScalarType>(99)); }),
            SCONCE_ERROR_INVALID_ARGUMENT);
}

TEST_F(RandomTest, StatesComeFromViews) {
  const std::vector<std::uint8_t> bytes{8, 7, 6, 5, 4, 3, 2, 1, 0x10, 0, 0, 0, 0, 0, 0, 0};
  CUDAGenerator generator = createCUDAGenerator();
  generator.set_state(bytes);
  EXPECT_EQ(generator.get_offset(), 0x10U);
  generator.set_state(Span(bytes).first(8));
  EXPECT_EQ(generator.get_offset(), 0U);
  EXPECT_EQ(generator.current_seed(), 0x0102030405060708U);
}

/// The scalar type of a C++ type, or none.
template <class T>
constexpr std::optional<ScalarType> type_of = sconce::detail::scalar_type_v<T>;

/// A complex type of another library.
template <class T>
struct OtherComplex {
  using value_type = T;
  [[nodiscard]] T real() const { return parts[0]; }
  [[nodiscard]] T imag() const { return parts[1]; }
  T parts[2];
};
/// A quaternion, whose first two parts have the names of a complex number's.
struct Quaternion : OtherComplex<float> {
  float others[2];
};

static_assert(type_of<std::complex<float>> == ScalarType::ComplexFloat);
static_assert(type_of<std::complex<double>> == ScalarType::ComplexDouble);
static_assert(type_of<OtherComplex<double>> == ScalarType::ComplexDouble);
static_assert(!type_of<std::complex<long double>>);
static_assert(!type_of<const std::complex<float>>);
static_assert(!type_of<OtherComplex<int>>);
static_assert(!type_of<Quaternion>);
static_assert(!type_of<std::vector<float>>);
static_assert(!type_of<void>);
static_assert(std::is_same_v<scalar_value_type<std::complex<float>>::type, float>);
static_assert(std::is_same_v<scalar_value_type<Quaternion>::type, Quaternion>);

TEST_F(RandomTest, ElementsHaveTheSizesOfTheirTypes) {
  for (std::int32_t type = -1; type < 32; ++type) {
    const bool known =
        sconce_random_full_range(nullptr, 0, type, nullptr) != SCONCE_ERROR_INVALID_ARGUMENT;
    EXPECT_EQ(elementSize(static_cast<ScalarType>(type)) != 0, known) << type;
  }
  static_assert(elementSize(ScalarType::ComplexDouble) == sizeof(std::complex<double>));
  static_assert(elementSize(ScalarType::Half) == sizeof(Half));
}

// The first numbers of torch.rand on CUDA after torch.manual_seed(0).
TEST_F(RandomTest, AFillGivesTorchsNumbers) {
  if (sconce_backend_get_active() != SCONCE_BACKEND_SIM) {
    GTEST_SKIP() << "looks into simulated memory; gpu/random_golden.cpp compares on a GPU";
  }
  const sconce::simulator::DeviceMemory memory(5 * sizeof(float));
  manual_seed(0);
  uniform_(memory.get(), 5, ScalarType::Float);
  const std::vector<float> torchs{0.3990F, 0.5167F, 0.0249F, 0.9401F, 0.9459F};
  const auto ours = memory.read<float>(5);
  for (std::size_t i = 0; i < torchs.size(); ++i) {
    EXPECT_NEAR(ours[i], torchs[i], 0.00005F);
  }
}

}  // namespace
