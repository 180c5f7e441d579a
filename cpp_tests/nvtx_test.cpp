// Marks and ranges while no tool is attached: cheap, harmless, and with the depths that a tool
// would show.
#include <sconce/cuda/nvtx.hpp>
#include <stdexcept>
#include <string>
#include <thread>

#include "fixture.hpp"

namespace {

namespace nvtx = sconce::cuda::nvtx;

TEST(NvtxTest, PushedRangesNestPerThread) {
  EXPECT_EQ(nvtx::range_push("outer"), 0);
  EXPECT_EQ(nvtx::range_push(std::string("inner")), 1);
  std::thread([] {
    EXPECT_EQ(nvtx::range_push("another thread's"), 0);
    EXPECT_EQ(nvtx::range_pop(), 0);
  }).join();
  EXPECT_EQ(nvtx::range_pop(), 1);
  EXPECT_EQ(nvtx::range_pop(), 0);
}

TEST(NvtxTest, PoppingNothingIsNegativeAndHarmless) {
  EXPECT_LT(nvtx::range_pop(), 0);
  EXPECT_EQ(nvtx::range_push("after"), 0);
  EXPECT_EQ(nvtx::range_pop(), 0);
}

TEST(NvtxTest, ARangeClosesWithItsScope) {
  try {
    const nvtx::Range range("scope");
    EXPECT_EQ(nvtx::range_push("inside"), 1);
    nvtx::range_pop();
    throw std::runtime_error("passing");
  } catch (const std::runtime_error&) {
    EXPECT_LT(nvtx::range_pop(), 0) << "the range closed though an exception passed";
  }
}

TEST(NvtxTest, MarksAndStartedRangesDoNothing) {
  nvtx::mark("a moment");
  nvtx::mark(std::string("another"));
  const nvtx::RangeId id = nvtx::range_start("from here");
  std::thread([id] { nvtx::range_end(id); }).join();
  nvtx::range_end(~nvtx::RangeId{0});
}

TEST(NvtxTest, AMarkNeedsAMessage) {
  const char* const none = nullptr;
  EXPECT_EQ(support::status_of([&] { nvtx::mark(none); }), SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(support::status_of([&] { nvtx::range_push(none); }), SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_LT(nvtx::range_pop(), 0) << "the refused push opened nothing";
}

}  // namespace
