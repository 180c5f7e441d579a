// The class for the plan cache: figures, limits, devices, threads.
#include <sconce/cuda/fft.hpp>
#include <sconce/cuda/guard.hpp>
#include <sconce/sim/simulator.hpp>
#include <thread>
#include <vector>

#include "fft_support.hpp"

namespace {

using namespace sconce::cuda;
using support::contains;
using support::error_of;
using support::of_sizes;
using support::status_of;

class FFTCacheTest : public support::FFTFixture {};

/// Makes the plan of `n` elements, or uses it.
void use_plan(std::int64_t n) {
  auto memory = DeviceBuffer::of<std::complex<float>>(static_cast<std::size_t>(n));
  memory_set(memory, 0);
  const auto all = memory.span<std::complex<float>>();
  fft_c2c(of_sizes({n}), all, all);
}

TEST_F(FFTCacheTest, TheCacheCountsAndForgetsPlans) {
  const CuFFTPlanCache cache = cufft_plan_cache();
  EXPECT_EQ(cache.size(), 0U);
  EXPECT_EQ(cache.max_size(), 4096U);
  EXPECT_EQ(cache.max_bytes(), CuFFTPlanCache::no_limit);
  use_plan(8);
  use_plan(16);
  use_plan(8);
  CuFFTPlanCache::Stats stats = cache.stats();
  EXPECT_EQ(stats.size, 2U);
  EXPECT_EQ(stats.misses, 2U);
  EXPECT_EQ(stats.hits, 1U);
  EXPECT_EQ(stats.evictions, 0U);
  EXPECT_EQ(stats.bytes, stats.plan_bytes + stats.workspace_bytes);
  EXPECT_EQ(stats.max_size, 4096U);

  // Inverse, normalised: the same plan.
  FFT inverse = of_sizes({8});
  inverse.direction = FFTDirection::Inverse;
  inverse.normalization = FFTNorm::ByN;
  auto memory = DeviceBuffer::of<std::complex<float>>(8);
  memory_set(memory, 0);
  const auto all = memory.span<std::complex<float>>();
  fft_c2c(inverse, all, all);
  EXPECT_EQ(cache.stats().hits, 2U);

  cache.clear();
  EXPECT_EQ(cache.size(), 0U);
  EXPECT_EQ(cache.stats().misses, 2U) << "counts stay";
  EXPECT_EQ(cache.stats().evictions, 0U) << "clearing is none";
  cache.reset_stats();
  EXPECT_EQ(cache.stats().misses, 0U);
}

TEST_F(FFTCacheTest, ShrinkingLetsTheLongestUnusedGo) {
  const CuFFTPlanCache cache = cufft_plan_cache();
  use_plan(8);
  use_plan(16);
  use_plan(32);
  use_plan(8);
  cache.set_max_size(2);
  EXPECT_EQ(cache.size(), 2U);
  EXPECT_EQ(cache.max_size(), 2U);
  EXPECT_EQ(cache.stats().evictions, 1U);
  cache.reset_stats();
  use_plan(8);
  use_plan(32);
  EXPECT_EQ(cache.stats().hits, 2U);
  use_plan(16);
  EXPECT_EQ(cache.stats().misses, 1U) << "16 was the longest unused";
  cache.set_max_size(0);
  EXPECT_EQ(cache.size(), 0U);
  use_plan(8);
  EXPECT_EQ(cache.size(), 0U) << "nothing is kept";
  const sconce::Error error = error_of([&] { cache.set_max_size(-1); });
  EXPECT_EQ(error.status(), SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(contains(error.what(), "-1"));
  EXPECT_EQ(cache.max_size(), 0U);
}

TEST_F(FFTCacheTest, BytesHaveALimitToo) {
  const CuFFTPlanCache cache = cufft_plan_cache();
  use_plan(10007);  // primes need workspaces
  use_plan(10009);
  ASSERT_GT(cache.stats().bytes, 0U);
  cache.set_max_bytes(0);
  EXPECT_EQ(cache.max_bytes(), 0);
  EXPECT_EQ(cache.stats().bytes, 0U);
  EXPECT_EQ(status_of([&] { cache.set_max_bytes(-1); }), SCONCE_ERROR_INVALID_ARGUMENT);
  cache.set_max_bytes(CuFFTPlanCache::no_limit);
  use_plan(10007);
  EXPECT_EQ(cache.size(), 1U);
}

TEST_F(FFTCacheTest, EachDeviceHasACache) {
  SCONCE_NEED_DEVICES(2);
  use_plan(8);
  EXPECT_EQ(cufft_plan_cache(0).size(), 1U);
  EXPECT_EQ(cufft_plan_cache(1).size(), 0U);
  const CuFFTPlanCache current = cufft_plan_cache();
  EXPECT_EQ(current.size(), 1U);
  const CUDAGuard guard(1);
  EXPECT_EQ(current.size(), 0U) << "the one of the device that is current now";
  cufft_plan_cache(0).set_max_size(7);
  EXPECT_EQ(current.max_size(), 4096U);
  EXPECT_EQ(status_of([] { (void)cufft_plan_cache(device_count()).size(); }),
            SCONCE_ERROR_INVALID_DEVICE);
}

TEST_F(FFTCacheTest, ThreadsShareAPlan) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      const CUDAStreamGuard guard(getStreamFromPool());
      for (int run = 0; run < 20; ++run) {
        use_plan(64);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  const CuFFTPlanCache::Stats stats = cufft_plan_cache().stats();
  EXPECT_EQ(stats.size, 1U);
  EXPECT_EQ(stats.hits + stats.misses, 80U);
}

TEST_F(FFTCacheTest, AMissingLibraryIsAStatusOfItsOwn) {
  SCONCE_NEED_SIMULATOR();
  sconce::simulator::inject_fault("fft_plan", 1, -1);
  EXPECT_EQ(status_of([] { use_plan(8); }), SCONCE_ERROR_LIBRARY_NOT_FOUND);
  EXPECT_EQ(cufft_plan_cache().size(), 0U);
  use_plan(8);
  EXPECT_EQ(cufft_plan_cache().size(), 1U);
}

}  // namespace
