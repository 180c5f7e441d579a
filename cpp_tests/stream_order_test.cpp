// Streams: the order of work, on one stream and between streams, and host functions.
#include <chrono>
#include <future>
#include <memory>
#include <mutex>
#include <sconce/sconce_all.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "fixture.hpp"

namespace {

using namespace sconce::cuda;
using namespace std::chrono_literals;
using support::contains;

class StreamOrderTest : public support::WorkFixture {};

TEST_F(StreamOrderTest, AStreamIsBusyUntilItsWorkHasFinished) {
  const CUDAStream stream = getStreamFromPool();
  stream.synchronize();
  EXPECT_TRUE(stream.query());
  const auto start = std::chrono::steady_clock::now();
  sleep(100ms, stream);
  EXPECT_FALSE(stream.query());
  stream.synchronize();
  EXPECT_GE(support::milliseconds_since(start), 99.0);
  EXPECT_TRUE(stream.query());
}

TEST_F(StreamOrderTest, StreamsOverlap) {
  const CUDAStream a = getStreamFromPool();
  const CUDAStream b = getStreamFromPool();
  const auto start = std::chrono::steady_clock::now();
  sleep(300ms, a);
  sleep(300ms, b);
  device_synchronize();
  const double elapsed = support::milliseconds_since(start);
  EXPECT_GE(elapsed, 299.0);
  EXPECT_LT(elapsed, 550.0) << "one after the other would take 600";
}

TEST_F(StreamOrderTest, WorkOfOneStreamRunsInOrder) {
  const CUDAStream stream = getStreamFromPool();
  const auto start = std::chrono::steady_clock::now();
  sleep(60ms, stream);
  sleep(60ms, stream);
  stream.synchronize();
  EXPECT_GE(support::milliseconds_since(start), 119.0);
}

TEST_F(StreamOrderTest, PooledStreamsAreNotOrderedWithTheDefaultStream) {
  const CUDAStream pooled = getStreamFromPool();
  const CUDAStream standard = getDefaultCUDAStream();
  sleep(500ms, standard);
  sleep(1us, pooled);
  pooled.synchronize();
  EXPECT_FALSE(standard.query());
  standard.synchronize();
}

TEST_F(StreamOrderTest, WaitStreamOrdersLaterWork) {
  const CUDAStream producer = getStreamFromPool();
  const CUDAStream consumer = getStreamFromPool();
  sleep(150ms, producer);
  consumer.wait_stream(producer);
  const CUDAEvent done = consumer.record_event();
  EXPECT_FALSE(done.query());
  done.synchronize();
  EXPECT_TRUE(producer.query());
}

TEST_F(StreamOrderTest, WaitStreamCrossesDevices) {
  SCONCE_NEED_DEVICES(2);
  const CUDAStream producer = getStreamFromPool(false, 1);
  const CUDAStream consumer = getStreamFromPool(false, 0);
  sleep(150ms, producer);
  consumer.wait_stream(producer);
  EXPECT_FALSE(consumer.query());
  consumer.synchronize();
  EXPECT_TRUE(producer.query());
  EXPECT_EQ(current_device(), 0);
}

TEST_F(StreamOrderTest, AStreamMayWaitForItself) {
  const CUDAStream stream = getStreamFromPool();
  sleep(10ms, stream);
  stream.wait_stream(stream);
  stream.synchronize();
  EXPECT_TRUE(stream.query());
}

TEST_F(StreamOrderTest, HostFunctionsRunOnceInOrder) {
  struct Log {
    std::mutex mutex;
    std::vector<int> entries;
  } log;
  struct Entry {
    Log* log;
    int number;
  };
  std::vector<Entry> entries;
  for (int i = 0; i < 10; ++i) {
    entries.push_back({&log, i});
  }
  const CUDAStream stream = getStreamFromPool();
  sleep(20ms, stream);
  for (Entry& entry : entries) {
    stream.launch_host_function(
        [](void* user) {
          const Entry& mine = *static_cast<Entry*>(user);
          const std::lock_guard<std::mutex> lock(mine.log->mutex);
          mine.log->entries.push_back(mine.number);
        },
        &entry);
  }
  stream.synchronize();
  const std::lock_guard<std::mutex> lock(log.mutex);
  EXPECT_EQ(log.entries, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST_F(StreamOrderTest, ExactlyOneOfTwoHostFunctionsRunsAndBothGo) {
  const auto owned = std::make_shared<int>(0);
  std::promise<std::string> outcome;
  const CUDAStream stream = getStreamFromPool();
  auto buffer = sconce::cuda::DeviceBuffer::of<float>(100);
  sleep(20ms, stream);
  stream.launch_host_function(
      [owned, &outcome, buffer = std::make_shared<sconce::cuda::DeviceBuffer>(std::move(buffer))] {
        std::string found = "ran";
        try {
          sconce::cuda::device_synchronize();
        } catch (const sconce::Error& error) {
          found += std::string(", ") + error.what();
        }
        outcome.set_value(found);
      },
      [owned, &outcome] { outcome.set_value("did not run"); });
  const std::string found = outcome.get_future().get();
  EXPECT_TRUE(support::contains(found, "ran, ")) << found;
  EXPECT_TRUE(support::contains(found, "a host function called the library")) << found;
  stream.synchronize();
  for (int i = 0; i < 1000 && owned.use_count() != 1; ++i) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(owned.use_count(), 1);
  EXPECT_EQ(sconce::cuda::memory_allocated(0), 0U);
}

}  // namespace
