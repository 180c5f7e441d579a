// The numbers of sconce/cuda/device.cuh: a kernel of the program's own, compiled at run time or, on
// simulated devices, as C++ of the host, draws what the library's fills draw.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <sconce/cuda/device.cuh>
#include <sconce/sconce_all.hpp>
#include <string>
#include <vector>

#include "fixture.hpp"

/// The same text for the host's compiler and for NVRTC.
#define SCONCE_FOR_BOTH(...) \
  __VA_ARGS__                \
  constexpr const char* kShared = #__VA_ARGS__

namespace {

namespace cc = sconce::cuda;
namespace sim = sconce::simulator;

// Element i of a fill of T threads: uniform in [-3, 5), or normal with mean 1.5 and deviation 0.25.
// clang-format off
SCONCE_FOR_BOTH(
  SCONCE_DEVICE float drawn(float, bool normal, sconce::philox::Seed seed, unsigned long long i,
                            unsigned long long threads) {
    const unsigned long long q = i / threads;
    seed.offset += 4 * (q / 4);
    sconce::philox::Engine engine(seed, i % threads);
    const sconce::philox::Floats4 four = normal ? engine.next_normal() : engine.next_uniform();
    const float draws[4] = {four.x, four.y, four.z, four.w};
    const float draw = draws[q % 4];
    return normal ? sconce::philox::scaled(draw, 1.5f, 0.25f)
                  : sconce::philox::in_range(draw, -3.0f, 5.0f);
  }
  SCONCE_DEVICE double drawn(double, bool normal, sconce::philox::Seed seed, unsigned long long i,
                             unsigned long long threads) {
    const unsigned long long q = i / threads;
    seed.offset += 4 * (q / 2);
    sconce::philox::Engine engine(seed, i % threads);
    const sconce::philox::Doubles2 two =
        normal ? engine.next_normal_double() : engine.next_uniform_double();
    const double draw = q % 2 == 0 ? two.x : two.y;
    return normal ? sconce::philox::scaled(draw, 1.5, 0.25)
                  : sconce::philox::in_range(draw, -3.0, 5.0);
  }
);
// clang-format on

constexpr const char* kKernels = R"(
template <class Real>
__device__ void draw(Real* out, int normal, const sconce::philox::State& state,
                     unsigned long long n, unsigned long long threads) {
  const sconce::philox::Seed seed = sconce::philox::unpack(state);
  const unsigned long long all = (unsigned long long)gridDim.x * blockDim.x;
  for (unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += all) {
    out[i] = drawn(Real(), normal != 0, seed, i, threads);
  }
}
extern "C" __global__ void draw_floats(float* out, int normal, sconce::philox::State state,
                                       unsigned long long n, unsigned long long threads) {
  draw(out, normal, state, n, threads);
}
extern "C" __global__ void draw_doubles(double* out, int normal, sconce::philox::State state,
                                        unsigned long long n, unsigned long long threads) {
  draw(out, normal, state, n, threads);
}
)";

template <class Real>
void register_draw(const std::string& name) {
  sim::register_kernel<Real*, std::int32_t, sconce_philox_state, std::uint64_t, std::uint64_t>(
      name, [](const sim::Thread& thread, sim::DevicePointer<Real> out, std::int32_t normal,
               const sconce_philox_state& state, std::uint64_t n, std::uint64_t threads) {
        const auto [seed, offset] = sim::unpack(state);
        const std::int64_t i = thread.x();
        const auto number = static_cast<std::uint64_t>(i);
        if (number < n) out[i] = drawn(Real(), normal != 0, {seed, offset}, number, threads);
      });
}

class DeviceNumbers : public support::WorkFixture {
 protected:
  void SetUp() override {
    WorkFixture::SetUp();
    if (IsSkipped()) return;
    if (!support::wants_cuda()) {
      register_draw<float>("draw_floats");
      register_draw<double>("draw_doubles");
    }
    sconce_device_properties properties{};
    properties.struct_size = sizeof properties;
    ASSERT_EQ(::sconce_device_get_properties(0, &properties), SCONCE_OK);
    most_threads_ = 256U * static_cast<std::uint64_t>(properties.multi_processor_count) *
                    static_cast<std::uint64_t>(properties.max_threads_per_multi_processor / 256);
  }

  template <class Real>
  void compare(const std::string& name, unsigned draws, std::uint64_t n) {
    const std::string source =
        std::string("#include <sconce/cuda/device.cuh>\n") + kShared + kKernels;
    const cc::Module module = cc::Module::compile(source);
    const auto kernel =
        module.kernel<Real*, std::int32_t, sconce_philox_state, std::uint64_t, std::uint64_t>(name);
    const std::uint64_t threads = std::min(most_threads_, (n + 255) / 256 * 256);
    const std::uint64_t words = 4 * ((n + threads * draws - 1) / (threads * draws));
    cc::CUDAGenerator own = cc::createCUDAGenerator();
    own.set_current_seed(20240607);
    own.set_offset(std::uint64_t{3} << 34);
    const cc::CUDAGenerator plain = own.clone();
    cc::DeviceBuffer drawn = cc::DeviceBuffer::of<Real>(n);
    cc::DeviceBuffer filled = cc::DeviceBuffer::of<Real>(n);
    for (const bool normal : {false, true}) {
      const auto blocks = static_cast<std::uint32_t>((n + 255) / 256);
      kernel.launch({cc::Dim3(blocks), cc::Dim3(256)}, drawn, normal ? 1 : 0,
                    own.philox_cuda_state(words), n, threads);
      if (normal) {
        cc::normal_(filled.template span<Real>(), 1.5, 0.25, plain);
      } else {
        cc::uniform_(filled.template span<Real>(), -3, 5, plain);
      }
      EXPECT_EQ(own.get_state(), plain.get_state());
      std::vector<Real> found(n);
      std::vector<Real> expected(n);
      cc::copy_(found, drawn);
      cc::copy_(expected, filled);
      // A simulated device has no fast sine; the library and the header may round another way.
      const bool exact = support::wants_cuda() || !normal;
      const Real bound = exact ? Real(0) : sizeof(Real) == 4 ? Real(1e-5) : Real(1e-12);
      for (std::size_t i = 0; i < n; ++i) {
        ASSERT_LE(std::abs(found[i] - expected[i]), bound) << name << ", " << normal << ", " << i;
      }
    }
  }

 private:
  std::uint64_t most_threads_ = 0;
};

TEST_F(DeviceNumbers, AreThoseOfTheLibrarysFills) {
  try {
    (void)cc::Module::compile("");
  } catch (const sconce::Error& error) {
    if (error.status() == SCONCE_ERROR_LIBRARY_NOT_FOUND) GTEST_SKIP() << error.what();
    throw;
  }
  // On a GPU more than one block of each thread, and a part of the last one.
  for (const std::uint64_t n : {1U, 999U, support::wants_cuda() ? 2'000'003U : 5'000U}) {
    compare<float>("draw_floats", 4, n);
    compare<double>("draw_doubles", 2, n);
  }
}

TEST(DeviceNumbersOnTheHost, EndsOfIntervalsAreTorchs) {
  namespace philox = sconce::philox;
  EXPECT_EQ(philox::half_open(1.0F), 0.0F);
  EXPECT_EQ(philox::half_open(1.0), 0.0);
  EXPECT_EQ(philox::half_open(0.25F), 0.25F);
  EXPECT_EQ(philox::half_open(0x1.fffffffffffffp-1), 0x1.fffffffffffffp-1);
  EXPECT_EQ(philox::in_range(1.0F, -3.0F, 5.0F), -3.0F);
  EXPECT_EQ(philox::in_range(1.0, -3.0, 5.0), -3.0);
  EXPECT_EQ(philox::in_range(0.5F, -3.0F, 5.0F), 1.0F);
  // What rounds to the upper bound becomes the lower one.
  EXPECT_EQ(philox::in_range(0x1.fffffep-1F, 1e8F, 1e8F + 8), 1e8F);
  EXPECT_EQ(philox::scaled(-2.0F, 1.0F, 0.5F), 0.0F);
  EXPECT_EQ(philox::scaled(-2.0, 1.0, 0.25), 0.5);
  // One rounding: the product alone would lose the last bit.
  EXPECT_EQ(philox::scaled(1.0F + 0x1p-23F, -1.0F, 1.0F - 0x1p-23F), -0x1p-46F);
}

}  // namespace
