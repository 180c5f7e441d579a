// Streams: identity, the current stream of each thread and device, the pool, order, and handles of
// other code.
#include <atomic>
#include <complex>
#include <functional>
#include <future>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <sconce/sconce.hpp>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <type_traits>
#include <unordered_set>
#include <utility>
#include <vector>

#include "fixture.hpp"

namespace {

using namespace sconce::cuda;
using namespace std::chrono_literals;
using support::contains;
using support::error_of;
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

TEST_F(StreamTest, AStreamIsBusyUntilItsWorkHasFinished) {
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

TEST_F(StreamTest, StreamsOverlap) {
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

TEST_F(StreamTest, WorkOfOneStreamRunsInOrder) {
  const CUDAStream stream = getStreamFromPool();
  const auto start = std::chrono::steady_clock::now();
  sleep(60ms, stream);
  sleep(60ms, stream);
  stream.synchronize();
  EXPECT_GE(support::milliseconds_since(start), 119.0);
}

TEST_F(StreamTest, PooledStreamsAreNotOrderedWithTheDefaultStream) {
  const CUDAStream pooled = getStreamFromPool();
  const CUDAStream standard = getDefaultCUDAStream();
  sleep(500ms, standard);
  sleep(1us, pooled);
  pooled.synchronize();
  EXPECT_FALSE(standard.query());
  standard.synchronize();
}

TEST_F(StreamTest, WaitStreamOrdersLaterWork) {
  const CUDAStream producer = getStreamFromPool();
  const CUDAStream consumer = getStreamFromPool();
  sleep(150ms, producer);
  consumer.wait_stream(producer);
  const CUDAEvent done = consumer.record_event();
  EXPECT_FALSE(done.query());
  done.synchronize();
  EXPECT_TRUE(producer.query());
}

TEST_F(StreamTest, WaitStreamCrossesDevices) {
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

TEST_F(StreamTest, AStreamMayWaitForItself) {
  const CUDAStream stream = getStreamFromPool();
  sleep(10ms, stream);
  stream.wait_stream(stream);
  stream.synchronize();
  EXPECT_TRUE(stream.query());
}

TEST_F(StreamTest, HostFunctionsRunOnceInOrder) {
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

TEST_F(StreamTest, ExactlyOneOfTwoHostFunctionsRunsAndBothGo) {
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

class NamedStreamTest : public support::WorkFixture {};

TEST_F(NamedStreamTest, CallsUseTheStreamThatTheyName) {
  SCONCE_NEED_SIMULATOR();
  using Call = std::function<void(const CUDAStream&)>;
  auto a = DeviceBuffer::of<float>(64);
  auto b = DeviceBuffer::of<float>(64);
  auto c = DeviceBuffer::of<float>(64);
  auto complex = DeviceBuffer::of<std::complex<float>>(32);
  const auto x = a.span<float>();
  const auto y = b.span<float>();
  const auto z = c.span<float>();
  const auto none = std::nullopt;
  const FFT eight{{8}};
  Convolution one;
  one.batch = one.in_channels = one.out_channels = 1;
  one.input_sizes = one.filter_sizes = {1};
  const std::vector<std::pair<const char*, Call>> calls = {
      {"uniform_", [&](const CUDAStream& s) { uniform_(x, 0, 1, none, s); }},
      {"uniform_ of a buffer",
       [&](const CUDAStream& s) { uniform_(a, ScalarType::Float, 0, 1, none, s); }},
      {"normal_", [&](const CUDAStream& s) { normal_(x, 0, 1, none, s); }},
      {"log_normal_", [&](const CUDAStream& s) { log_normal_(x, 0, 1, none, s); }},
      {"exponential_", [&](const CUDAStream& s) { exponential_(x, 1, none, s); }},
      {"cauchy_", [&](const CUDAStream& s) { cauchy_(x, 0, 1, none, s); }},
      {"geometric_", [&](const CUDAStream& s) { geometric_(x, 0.5, none, s); }},
      {"bernoulli_", [&](const CUDAStream& s) { bernoulli_(x, 0.5, none, s); }},
      {"random_ from to", [&](const CUDAStream& s) { random_(x, 1, 5, none, s); }},
      {"random_ to", [&](const CUDAStream& s) { random_(x, 5, none, s); }},
      {"random_", [&](const CUDAStream& s) { random_(x, none, s); }},
      {"copy_", [&](const CUDAStream& s) { copy_(x, y, true, s); }},
      {"copy_ of bytes", [&](const CUDAStream& s) { copy_(a.get(), b.get(), 64, true, s); }},
      {"copy_2d_",
       [&](const CUDAStream& s) { copy_2d_(Rows(x, 4, 4, 8), Rows(y, 4, 4, 8), true, s); }},
      {"copy_strided_",
       [&](const CUDAStream& s) {
         copy_strided_(as_strided(x, {3, 5}, {1, 3}), as_strided(y, {3, 5}, {5, 1}), true, s);
       }},
      {"memory_set", [&](const CUDAStream& s) { memory_set(x, 7, s); }},
      {"memory_set of bytes", [&](const CUDAStream& s) { memory_set(a.get(), 7, 64, s); }},
      {"memory_set_2d", [&](const CUDAStream& s) { memory_set_2d(Rows(x, 4, 4, 8), 7, s); }},
      {"matmul",
       [&](const CUDAStream& s) {
         matmul(Matmul{4, 4, 4}, x, y, z, s);
       }},
      {"matmul of a type",
       [&](const CUDAStream& s) {
         matmul(Matmul{4, 4, 4}, ScalarType::Float, a.get(), b.get(), c.get(), s);
       }},
      {"convolution", [&](const CUDAStream& s) { convolution(one, x, y, z, s); }},
      {"convolution_backward_data",
       [&](const CUDAStream& s) { convolution_backward_data(one, x, y, z, s); }},
      {"convolution_backward_filter",
       [&](const CUDAStream& s) { convolution_backward_filter(one, x, y, z, s); }},
      {"fft_r2c",
       [&](const CUDAStream& s) { fft_r2c(eight, x, complex.span<std::complex<float>>(), s); }},
      {"fft_c2r",
       [&](const CUDAStream& s) { fft_c2r(eight, complex.span<std::complex<float>>(), x, s); }},
      {"fft_c2c",
       [&](const CUDAStream& s) {
         const auto both = complex.span<std::complex<float>>();
         fft_c2c(eight, both, both, s);
       }},
  };
  const CUDAStream named = getStreamFromPool();
  const CUDAStream current = getStreamFromPool();
  setCurrentCUDAStream(current);
  for (const auto& [name, call] : calls) {
    call(named);  // makes plans and loads kernels
    named.synchronize();
    sconce::simulator::set_manual(true);
    call(named);
    EXPECT_FALSE(named.query()) << name;
    EXPECT_TRUE(current.query()) << name;
    sconce::simulator::run_until_idle();
    sconce::simulator::set_manual(false);
    EXPECT_EQ(getCurrentCUDAStream(), current) << name;
  }
  if (device_count() > 1) {
    const CUDAStream other = getStreamFromPool(false, 1);
    for (const auto& [name, call] : calls) {
      EXPECT_EQ(status_of([&, action = &call] { (*action)(other); }), SCONCE_ERROR_CROSS_DEVICE)
          << name;
    }
  }
}

TEST_F(NamedStreamTest, AnActionRunsWithItsStreamAndItsResultIsReturned) {
  const CUDAStream before = getCurrentCUDAStream();
  const CUDAStream named = getStreamFromPool();
  const CUDAStream seen = with_stream(named, [] { return getCurrentCUDAStream(); });
  EXPECT_EQ(seen, named);
  int value = 1;
  int& same = with_stream(named, [&]() -> int& { return value; });
  EXPECT_EQ(&same, &value);
  EXPECT_THROW(with_stream(named, [] { throw 1; }), int);
  EXPECT_EQ(getCurrentCUDAStream(), before);
}

}  // namespace
