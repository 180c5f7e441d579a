// Tests that run under the sanitizer: a test fails if its program lacks a wait, even if its result
// is right. CMakeLists.txt says how ctest runs them.
//
//   SCONCE_BACKEND=sim ./sanitized_tests
//   SCONCE_BACKEND=sim ./sanitized_tests --gtest_also_run_disabled_tests    # with one that fails
#include <gtest/gtest.h>

#include <sconce/cuda/sanitizer_gtest.hpp>
#include <sconce/sconce.hpp>
#include <vector>

namespace {

namespace cc = sconce::cuda;

/// Fills a block on one stream, copies it on another, and reads the copy.
unsigned char last_byte(bool waits) {
  const cc::CUDAStream fills = cc::getStreamFromPool();
  const cc::CUDAStream copies = cc::getStreamFromPool();
  cc::DeviceBuffer block(1024, fills);
  cc::DeviceBuffer copied(1024, copies);
  cc::with_stream(fills, [&] { cc::memory_set(block, 7); });
  if (waits) {
    copies.wait_stream(fills);
  }
  std::vector<unsigned char> seen(1024);
  cc::with_stream(copies, [&] {
    cc::copy_(copied, block, /*non_blocking=*/true);
    cc::copy_(seen.data(), copied.get(), seen.size());
  });
  cc::device_synchronize();
  return seen.back();
}

TEST(Pipeline, TheCopyWaitsForTheFill) { EXPECT_EQ(last_byte(true), 7); }

// Passes without the sanitizer in most runs.
TEST(Pipeline, DISABLED_TheCopyLacksAWait) { last_byte(false); }

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  sconce::sanitizer::add_gtest_listener();
  return RUN_ALL_TESTS();
}
