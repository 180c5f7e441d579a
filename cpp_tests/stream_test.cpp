// Streams: identity, the current stream of each thread and device, the pool, and handles of other
// code.
#include <chrono>
#include <functional>
#include <limits>
#include <map>
#include <sconce/sconce_all.hpp>
#include <set>
#include <sstream>
#include <thread>
#include <type_traits>
#include <unordered_set>
#include <utility>
#include <vector>

#include "fixture.hpp"

namespace {

using namespace sconce::cuda;
using namespace std::chrono_literals;
using support::status_of;

constexpr int kStreamsPerPool = 32;

class StreamTest : public support::WorkFixture {};

static_assert(std::is_trivially_copyable_v<CUDAStream>, "a stream is a value");
static_assert(sizeof(CUDAStream) == sizeof(sconce_stream), "and nothing more than the C value");

TEST_F(StreamTest, CopiesAndMovesNameTheSameStream) {
  const CUDAStream original = getStreamFromPool();
  CUDAStream copy = original;
  const CUDAStream moved = std::move(copy);
  CUDAStream assigned = getDefaultCUDAStream();
  EXPECT_NE(assigned, original);
  assigned = original;
  for (const CUDAStream& other : {moved, assigned}) {
    EXPECT_EQ(other, original);
    EXPECT_EQ(other.id(), original.id());
    EXPECT_EQ(other.device_index(), original.device_index());
    EXPECT_EQ(other.stream(), original.stream());
  }
}

TEST_F(StreamTest, TheDefaultStreamIsCurrentAtFirst) {
  for (DeviceIndex device = 0; device < device_count(); ++device) {
    const CUDAStream stream = getDefaultCUDAStream(device);
    EXPECT_EQ(stream.id(), 0);
    EXPECT_EQ(stream.device(), Device(device));
    EXPECT_EQ(stream.stream(), nullptr) << "CUDA's legacy default stream";
    EXPECT_EQ(stream.priority(), 0);
    EXPECT_EQ(getCurrentCUDAStream(device), stream);
  }
  EXPECT_EQ(getDefaultCUDAStream(), getDefaultCUDAStream(0));
}

TEST_F(StreamTest, SettingMakesAStreamCurrentUntilItIsReset) {
  const CUDAStream stream = getStreamFromPool();
  setCurrentCUDAStream(stream);
  EXPECT_EQ(getCurrentCUDAStream(), stream);
  setCurrentCUDAStream(getDefaultCUDAStream());
  EXPECT_EQ(getCurrentCUDAStream(), getDefaultCUDAStream());
}

TEST_F(StreamTest, SettingLeavesTheCurrentDeviceAlone) {
  SCONCE_NEED_DEVICES(2);
  const CUDAStream there = getStreamFromPool(false, 1);
  setCurrentCUDAStream(there);
  EXPECT_EQ(current_device(), 0);
  EXPECT_EQ(getCurrentCUDAStream(), getDefaultCUDAStream(0));
  EXPECT_EQ(getCurrentCUDAStream(1), there);
  set_device(1);
  EXPECT_EQ(getCurrentCUDAStream(), there) << "-1 means the device that is current now";
}

TEST_F(StreamTest, TheCurrentStreamIsAThreadsOwn) {
  const CUDAStream mine = getStreamFromPool();
  const CUDAStream others = getStreamFromPool();
  ASSERT_NE(mine, others);
  setCurrentCUDAStream(mine);
  bool began_with_default = false;
  std::thread([&] {
    began_with_default = getCurrentCUDAStream(0) == getDefaultCUDAStream(0);
    setCurrentCUDAStream(others);
  }).join();
  EXPECT_TRUE(began_with_default) << "new threads do not inherit";
  EXPECT_EQ(getCurrentCUDAStream(), mine);
}

TEST_F(StreamTest, ThePoolHandsOutThirtyTwoStreamsInTurn) {
  for (const int priority : {0, -1}) {
    std::vector<CUDAStream> round;
    for (int i = 0; i < kStreamsPerPool; ++i) {
      round.push_back(getStreamFromPool(priority));
    }
    EXPECT_EQ((std::unordered_set<CUDAStream>(round.begin(), round.end()).size()), 32U);
    for (int i = 0; i < 200 - kStreamsPerPool; ++i) {
      const auto place = static_cast<std::size_t>(i % kStreamsPerPool);
      EXPECT_EQ(getStreamFromPool(priority), round[place]) << "request " << i << " of a round";
    }
  }
}

TEST_F(StreamTest, ThePoolServesManyThreadsEvenly) {
  constexpr int kThreads = 8;
  constexpr int kRounds = 4;
  std::vector<std::vector<StreamId>> taken(kThreads);
  std::vector<std::thread> threads;
  for (auto& mine : taken) {
    threads.emplace_back([&mine] {
      for (int i = 0; i < kRounds * kStreamsPerPool; ++i) {
        mine.push_back(getStreamFromPool(false, 0).id());
      }
    });
  }
  for (auto& thread : threads) {
    thread.join();
  }
  std::map<StreamId, int> times;
  for (const auto& mine : taken) {
    for (const StreamId id : mine) {
      ++times[id];
    }
  }
  EXPECT_EQ(times.size(), 32U);
  for (const auto& [id, count] : times) {
    EXPECT_EQ(count, kThreads * kRounds) << "stream " << id;
  }
}

TEST_F(StreamTest, DevicesAndPrioritiesHavePoolsOfTheirOwn) {
  const CUDAStream low = getStreamFromPool(false, 0);
  const CUDAStream high = getStreamFromPool(true, 0);
  EXPECT_NE(low, high);
  EXPECT_NE(low.stream(), high.stream());
  if (device_count() > 1) {
    const CUDAStream there = getStreamFromPool(false, 1);
    EXPECT_EQ(there.device_index(), 1);
    EXPECT_NE(there, low);
  }
}

TEST_F(StreamTest, PrioritiesAreWithinTheRange) {
  const auto [least, greatest] = CUDAStream::priority_range();
  EXPECT_EQ(least, 0);
  EXPECT_LE(greatest, least);
  EXPECT_EQ(getStreamFromPool().priority(), least);
  EXPECT_EQ(getStreamFromPool(false).priority(), least);
  EXPECT_EQ(getStreamFromPool(true).priority(), greatest) << "the greatest there is, as in c10";
  for (int priority = greatest; priority <= least; ++priority) {
    EXPECT_EQ(getStreamFromPool(priority).priority(), priority);
  }
  constexpr int kMost = std::numeric_limits<int>::max();
  for (const int priority : {-100, -kMost, std::numeric_limits<int>::min()}) {
    EXPECT_EQ(getStreamFromPool(priority).priority(), greatest) << priority;
  }
  for (const int priority : {1, 10, kMost}) {
    EXPECT_EQ(getStreamFromPool(priority).priority(), least) << priority;
  }
}

TEST_F(StreamTest, ClampedPrioritiesShareAPool) {
  const CUDAStream low = getStreamFromPool(10);
  for (int i = 1; i < kStreamsPerPool; ++i) {
    (void)getStreamFromPool(0);
  }
  EXPECT_EQ(getStreamFromPool(false), low);
  const CUDAStream high = getStreamFromPool(true);
  for (int i = 1; i < kStreamsPerPool; ++i) {
    (void)getStreamFromPool(-3);
  }
  EXPECT_EQ(getStreamFromPool(-100), high);
}

TEST_F(StreamTest, DevicesThatDoNotExistAreRefused) {
  const DeviceIndex count = device_count();
  for (const DeviceIndex bad : {count, -2}) {
    EXPECT_EQ(status_of([&] { (void)getDefaultCUDAStream(bad); }), SCONCE_ERROR_INVALID_DEVICE);
    EXPECT_EQ(status_of([&] { (void)getCurrentCUDAStream(bad); }), SCONCE_ERROR_INVALID_DEVICE);
    EXPECT_EQ(status_of([&] { (void)getStreamFromPool(0, bad); }), SCONCE_ERROR_INVALID_DEVICE);
    EXPECT_EQ(status_of([&] { (void)getStreamFromExternal(nullptr, bad); }),
              SCONCE_ERROR_INVALID_DEVICE);
  }
}

TEST_F(StreamTest, ValuesThatTheLibraryNeverGaveOutAreRefused) {
  const CUDAStream invented(sconce_stream{0x7ffffff0, 0, 0});
  EXPECT_EQ(status_of([&] { (void)invented.query(); }), SCONCE_ERROR_INVALID_HANDLE);
  EXPECT_EQ(status_of([&] { invented.synchronize(); }), SCONCE_ERROR_INVALID_HANDLE);
  EXPECT_EQ(status_of([&] { setCurrentCUDAStream(invented); }), SCONCE_ERROR_INVALID_HANDLE);
  EXPECT_EQ(status_of([&] { sleep(1ms, invented); }), SCONCE_ERROR_INVALID_HANDLE);
  const CUDAStream nowhere(sconce_stream{0, device_count(), 0});
  EXPECT_EQ(status_of([&] { (void)nowhere.query(); }), SCONCE_ERROR_INVALID_DEVICE);
  EXPECT_EQ(getCurrentCUDAStream(), getDefaultCUDAStream());
}

TEST_F(StreamTest, AnOutsideHandleIsThatStream) {
  const CUDAStream owner = getStreamFromPool();
  const CUDAStream outside = getStreamFromExternal(owner.stream(), 0);
  EXPECT_EQ(outside.stream(), owner.stream());
  EXPECT_EQ(outside.device_index(), 0);
  sleep(50ms, owner);
  EXPECT_FALSE(outside.query());
  outside.synchronize();
  EXPECT_TRUE(owner.query());
  setCurrentCUDAStream(outside);
  EXPECT_EQ(getCurrentCUDAStream(), outside);
}

TEST_F(StreamTest, TheOutsideNullHandleIsTheDefaultStream) {
  for (DeviceIndex device = 0; device < device_count(); ++device) {
    EXPECT_EQ(getStreamFromExternal(nullptr, device), getDefaultCUDAStream(device));
  }
}

TEST_F(StreamTest, AnOddAddressIsNoHandle) {
  void* odd = reinterpret_cast<void*>(std::uintptr_t{0x1235});
  EXPECT_EQ(status_of([&] { (void)getStreamFromExternal(odd, 0); }), SCONCE_ERROR_INVALID_ARGUMENT);
}

TEST_F(StreamTest, AnOwnedStreamIsNoPooledOne) {
  OwnedStream owned(0, -1);
  const CUDAStream stream = owned;
  EXPECT_NE(stream.stream(), getStreamFromPool(false, 0).stream());
  EXPECT_LT(stream.priority(), OwnedStream(0).stream().priority());
  DeviceBuffer bytes(16);
  {
    const CUDAStreamGuard guard(stream);
    EXPECT_EQ(status_of([&] { sconce::detail::check(::sconce_stream_destroy(stream.get())); }),
              SCONCE_ERROR_INVALID_STATE);
  }
  memory_set(bytes.span<std::uint8_t>().data(), 7, 16, stream);
  OwnedStream moved = std::move(owned);
  EXPECT_EQ(moved.stream(), stream);
  moved.stream().synchronize();
  moved = OwnedStream(0);
  EXPECT_NE(moved.stream(), stream);
  for (const CUDAStream& kept : {getStreamFromPool(), getDefaultCUDAStream()}) {
    EXPECT_EQ(status_of([&] { sconce::detail::check(::sconce_stream_destroy(kept.get())); }),
              SCONCE_ERROR_INVALID_ARGUMENT);
  }
  EXPECT_EQ(status_of([] { const OwnedStream low(0, 1); }), SCONCE_ERROR_INVALID_ARGUMENT);
  sconce_stream unused{};
  EXPECT_EQ(status_of([&] { sconce::detail::check(::sconce_stream_create(0, 2, 0, &unused)); }),
            SCONCE_ERROR_INVALID_ARGUMENT);
}

TEST_F(StreamTest, TheDefaultStreamOrdersAStreamUnlessItIsNonBlocking) {
  if (support::wants_cuda()) {
    GTEST_SKIP() << "the order of a GPU cannot be chosen";
  }
  const OwnedStream free(0), ordered(0, 0, false);
  DeviceBuffer bytes(16);
  sconce::simulator::set_manual(true);
  memory_set(bytes.span<std::uint8_t>().data(), 1, 16, getDefaultCUDAStream(0));
  memory_set(bytes.span<std::uint8_t>().data(), 2, 16, ordered.stream());
  memory_set(bytes.span<std::uint8_t>().data(), 3, 16, free.stream());
  EXPECT_TRUE(sconce::simulator::step(free.stream()));
  EXPECT_FALSE(sconce::simulator::step(ordered.stream()))
      << "the default stream's work is before it";
  EXPECT_TRUE(sconce::simulator::step(getDefaultCUDAStream(0)));
  EXPECT_TRUE(sconce::simulator::step(ordered.stream()));
  sconce::simulator::set_manual(false);
}

TEST_F(StreamTest, NothingIsBeingCaptured) {
  EXPECT_FALSE(getStreamFromPool().is_capturing());
  EXPECT_FALSE(getDefaultCUDAStream().is_capturing());
}

TEST_F(StreamTest, EqualStreamsHaveEqualDeviceAndId) {
  SCONCE_NEED_DEVICES(2);
  EXPECT_EQ(getDefaultCUDAStream(0).id(), getDefaultCUDAStream(1).id());
  EXPECT_NE(getDefaultCUDAStream(0), getDefaultCUDAStream(1)) << "the device counts";
  EXPECT_NE(getStreamFromPool(false, 1), getDefaultCUDAStream(1)) << "and the id";
  EXPECT_EQ(getDefaultCUDAStream(1), getDefaultCUDAStream(1));
}

TEST_F(StreamTest, StreamsAreOrderedByDeviceAndId) {
  std::vector<CUDAStream> streams;
  for (DeviceIndex device = 0; device < device_count(); ++device) {
    streams.push_back(getDefaultCUDAStream(device));
    streams.push_back(getStreamFromPool(false, device));
    streams.push_back(getStreamFromPool(true, device));
  }
  const std::set<CUDAStream> set(streams.begin(), streams.end());
  EXPECT_EQ(set.size(), streams.size()) << "default streams of two devices have the same handle";
  for (const CUDAStream& a : streams) {
    EXPECT_EQ(set.count(a), 1U);
    for (const CUDAStream& b : streams) {
      EXPECT_EQ((a < b) + (b < a) + (a == b), 1);
      EXPECT_EQ(a > b, b < a);
      EXPECT_EQ(a <= b, !(b < a));
      EXPECT_EQ(a >= b, !(a < b));
      if (a == b) {
        EXPECT_EQ(std::hash<CUDAStream>()(a), std::hash<CUDAStream>()(b));
      }
    }
  }
  if (device_count() > 1) {
    EXPECT_LT(getStreamFromPool(true, 0), getDefaultCUDAStream(1)) << "the device counts first";
  }
}

TEST_F(StreamTest, StreamsAreWrittenAsC10Does) {
  std::ostringstream text;
  text << getDefaultCUDAStream(0) << ", " << getDefaultCUDAStream(0).device() << ", " << Device();
  EXPECT_EQ(text.str(), "stream 0 on device cuda:0, cuda:0, cuda");
}

// The handle of a default stream is null: it would be false as a condition.
static_assert(!std::is_constructible_v<bool, CUDAStream>, "a stream is no condition");
static_assert(std::is_convertible_v<CUDAStream, CUstream_st*>, "but CUDA's handle");

TEST_F(StreamTest, StreamsAreHashedByDeviceAndId) {
  std::unordered_set<CUDAStream> set{getDefaultCUDAStream(0), getDefaultCUDAStream(0)};
  EXPECT_EQ(set.size(), 1U);
  set.insert(getStreamFromPool());
  EXPECT_EQ(set.size(), 2U);
  if (device_count() > 1) {
    set.insert(getDefaultCUDAStream(1));
    EXPECT_EQ(set.size(), 3U);
    EXPECT_NE(std::hash<CUDAStream>()(getDefaultCUDAStream(0)),
              std::hash<CUDAStream>()(getDefaultCUDAStream(1)));
  }
}

}  // namespace
