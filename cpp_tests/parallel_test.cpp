// Work on several threads of the CPU.
#include <atomic>
#include <mutex>
#include <sconce/tensor/parallel.hpp>
#include <sconce/tensor/tensor.hpp>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "fixture.hpp"

namespace {

using support::contains;
using support::error_of;

/// Sets the number of threads back.
class ParallelTest : public testing::Test {
 protected:
  void TearDown() override { sconce::set_num_threads(before_); }

 private:
  int before_ = sconce::get_num_threads();
};

TEST_F(ParallelTest, TheNumberOfThreadsIsWhatWasSet) {
  EXPECT_GE(sconce::get_num_threads(), 1);
  sconce::set_num_threads(5);
  EXPECT_EQ(sconce::get_num_threads(), 5);
  const auto error = error_of([] { sconce::set_num_threads(0); });
  EXPECT_EQ(error.status(), SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(contains(error.what(), "num_threads is 0"));
  EXPECT_EQ(sconce::get_num_threads(), 5);
}

TEST_F(ParallelTest, PartsAreTheRangeAndNoMoreThanThreads) {
  sconce::set_num_threads(3);
  std::vector<std::atomic<int>> calls(1000);
  std::mutex mutex;
  std::set<int> parts;
  sconce::parallel_for(0, 1000, 10, [&](std::int64_t begin, std::int64_t end) {
    EXPECT_TRUE(sconce::in_parallel_region());
    for (std::int64_t at = begin; at < end; ++at) ++calls[static_cast<std::size_t>(at)];
    const std::scoped_lock lock(mutex);
    parts.insert(sconce::get_thread_num());
  });
  for (const auto& count : calls) EXPECT_EQ(count.load(), 1);
  EXPECT_EQ(parts, (std::set<int>{0, 1, 2}));
  EXPECT_FALSE(sconce::in_parallel_region());
  EXPECT_EQ(sconce::get_thread_num(), 0);

  int whole = 0;
  sconce::parallel_for(3, 12, 10, [&](std::int64_t begin, std::int64_t end) {
    EXPECT_EQ(begin, 3);
    EXPECT_EQ(end, 12);
    ++whole;
  });
  sconce::parallel_for(4, 4, 1, [&](std::int64_t, std::int64_t) { ++whole; });
  EXPECT_EQ(whole, 1);
}

TEST_F(ParallelTest, AnExceptionOfAPartIsThrownAfterTheOthersEnded) {
  sconce::set_num_threads(2);
  std::atomic<int> ended{0};
  const auto work = [&](std::int64_t begin, std::int64_t) {
    if (begin == 0) throw std::runtime_error("the first part");
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ++ended;
  };
  try {
    sconce::parallel_for(0, 2, 1, work);
    FAIL() << "nothing was thrown";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "the first part");
  }
  EXPECT_EQ(ended.load(), 1);
  EXPECT_EQ(error_of([&] { sconce::parallel_for(0, 2, -1, work); }).status(),
            SCONCE_ERROR_INVALID_ARGUMENT);
}

TEST_F(ParallelTest, ResultsDoNotDependOnTheNumberOfThreads) {
  const auto options = sconce::TensorOptions().device(sconce::kCPU);
  const auto a = sconce::randn({150, 300}, options);
  const auto b = sconce::randn({300, 170}, options);
  const auto images = sconce::randn({2, 8, 40, 40}, options);
  const auto filter = sconce::randn({24, 4, 3, 3}, options);
  const auto results = [&](int threads) {
    sconce::set_num_threads(threads);
    const auto convolved = sconce::conv2d(images, filter, {}, {1, 1}, {1, 1}, {1, 1}, 2);
    return std::vector<sconce::Tensor>{a.matmul(b), convolved};
  };
  const auto alone = results(1);
  for (const int threads : {2, 3, 8}) {
    const auto shared = results(threads);
    for (std::size_t at = 0; at < alone.size(); ++at) {
      EXPECT_TRUE(alone[at].equal(shared[at])) << threads << " threads";
    }
  }
}

}  // namespace
