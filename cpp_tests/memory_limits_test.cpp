// Out of memory: the error, the allowed share, observers; the settings; and the functions for other
// frameworks' allocator interfaces.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <sconce/cuda/guard.hpp>
#include <sconce/cuda/log.hpp>
#include <string>
#include <thread>
#include <vector>

#include "memory_support.hpp"

namespace {

using namespace sconce::cuda;
namespace allocator = sconce::cuda::CUDACachingAllocator;
using support::contains;
using support::error_of;
using support::fraction_of;
using support::kKiB;
using support::kMiB;
using support::status_of;

class MemoryLimitsTest : public support::MemoryFixture {};

std::size_t device_bytes() {
  return static_cast<std::size_t>(getDeviceProperties(0).total_memory_bytes);
}

TEST_F(MemoryLimitsTest, RunningOutIsTheErrorThatTorchThrows) {
  const DeviceBuffer held(30 * kMiB);
  try {
    (void)allocator::raw_alloc(device_bytes());
    ADD_FAILURE() << "there is no such room";
  } catch (const sconce::OutOfMemoryError& error) {
    EXPECT_TRUE(contains(error.what(), "CUDA out of memory. Tried to allocate "));
    EXPECT_TRUE(contains(error.what(), "GPU 0 has a total capacity of "));
    EXPECT_TRUE(contains(error.what(), "30.00 MiB"));
  }
  EXPECT_EQ(memory_stats().num_ooms, 1);
  EXPECT_EQ(memory_stats().num_alloc_retries, 1);
  EXPECT_EQ(memory_allocated(), 30 * kMiB) << "what is held stays";
}

TEST_F(MemoryLimitsTest, TheAbsurdIsRefusedAtOnce) {
  const sconce::Error error = error_of([] { (void)allocator::raw_alloc(SIZE_MAX); });
  EXPECT_EQ(error.status(), SCONCE_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(memory_stats().num_device_alloc, 0);
}

TEST_F(MemoryLimitsTest, FreeMemoryIsGivenBackBeforeGivingUp) {
  allocator::setMemoryFraction(fraction_of(64 * kMiB));
  DeviceBuffer(40 * kMiB).reset();
  EXPECT_EQ(memory_reserved(), 40 * kMiB);
  const DeviceBuffer memory(50 * kMiB, getStreamFromPool());
  EXPECT_EQ(memory_reserved(), 50 * kMiB);
  EXPECT_EQ(memory_stats().num_alloc_retries, 1);
  EXPECT_EQ(memory_stats().num_ooms, 0);
}

TEST_F(MemoryLimitsTest, OnlyTheShareThatIsAllowedIsUsed) {
  EXPECT_DOUBLE_EQ(get_per_process_memory_fraction(), 1.0);
  set_per_process_memory_fraction(fraction_of(64 * kMiB));
  EXPECT_NEAR(get_per_process_memory_fraction(), fraction_of(64 * kMiB), 1e-9);
  const DeviceBuffer fits(62 * kMiB);
  const sconce::Error error = error_of([] { (void)allocator::raw_alloc(4 * kMiB); });
  EXPECT_EQ(error.status(), SCONCE_ERROR_OUT_OF_MEMORY);
  EXPECT_TRUE(contains(error.what(), "64.00 MiB allowed"));
  EXPECT_NO_THROW(allocator::raw_delete(allocator::raw_alloc(kKiB))) << "2 MiB are left";
  set_per_process_memory_fraction(1);
  EXPECT_NO_THROW(allocator::raw_delete(allocator::raw_alloc(4 * kMiB)));
}

/// Memory that a program holds in a way that leaves some of it unused, and a request that fails.
struct Shortage {
  const char* name;
  std::function<std::string()> fail;  // the message
};

/// The message of a request that fails.
std::string refusal_of(std::size_t bytes) {
  return error_of([&] { (void)allocator::raw_alloc(bytes); }).what();
}

/// Takes all but `left` MiB of the limit in blocks of 20 MiB.
std::vector<DeviceBuffer> held_but(std::size_t left) {
  set_per_process_memory_fraction(fraction_of(256 * kMiB));
  std::vector<DeviceBuffer> held;
  while (memory_reserved() + (left + 20) * kMiB <= 256 * kMiB) {
    held.emplace_back(20 * kMiB);
  }
  return held;
}

std::string nothing_unused() {
  const auto held = held_but(0);
  return refusal_of(40 * kMiB);
}

/// Half of the memory is free, in pieces between blocks that are held.
std::string fragmented() {
  set_per_process_memory_fraction(fraction_of(256 * kMiB));
  std::vector<DeviceBuffer> held;
  while (memory_reserved() + 20 * kMiB <= 256 * kMiB) {
    held.emplace_back(4 * kMiB);
  }
  for (std::size_t i = 0; i < held.size(); i += 2) {
    held[i].reset();
  }
  // Pages that are free are put together: what does not fit then would not fit in one piece either.
  const std::string settings = memory_snapshot_json();
  const bool has_pages = settings.find("\"is_expandable\":true") != std::string::npos;
  return refusal_of((has_pages ? 200 : 60) * kMiB);
}

/// A private pool keeps memory that is free.
std::string unused_pool() {
  const auto held = held_but(100);
  MemPool pool;
  {
    const MemPoolGuard guard(pool);
    DeviceBuffer(80 * kMiB).reset();
  }
  return refusal_of(60 * kMiB);
}

std::string fixed_pool() {
  const auto held = held_but(100);
  MemPool pool;
  {
    const MemPoolGuard guard(pool);
    DeviceBuffer(80 * kMiB).reset();
  }
  pool.set_fixed();
  const std::string message = refusal_of(60 * kMiB);
  pool.set_fixed(false);
  return message;
}

std::string in_a_capture() {
  const auto held = held_but(0);
  const CUDAStreamGuard stream(getStreamFromPool());
  CUDAGraph graph;
  GraphGuard capture(graph);
  const std::string message = refusal_of(40 * kMiB);
  capture.end();
  return message;
}

TEST_F(MemoryLimitsTest, AdviceIsWhatTheSettingsLeaveAndTheSituationAllows) {
  const std::vector<const char*> settings = {"", "max_split_size_mb:32", "policy:pages",
                                             "expandable_segments:True",
                                             "max_split_size_mb:64,roundup_power2_divisions:4"};
  const std::vector<Shortage> shortages = {{"nothing is unused", nothing_unused},
                                           {"fragmented", fragmented},
                                           {"an unused pool", unused_pool},
                                           {"a fixed pool", fixed_pool},
                                           {"in a capture", in_a_capture}};
  for (const std::string setting : settings) {
    for (const Shortage& shortage : shortages) {
      allocator::setAllocatorSettings(setting);
      const std::string name = shortage.name;
      const std::string message = shortage.fail();
      const auto says = [&](const char* part) { return message.find(part) != std::string::npos; };
      const std::string what = "[" + setting + "] " + name + ": " + message;
      const bool segments = setting.empty() || setting[0] == 'm';
      const bool is_split = setting.find("max_split") != std::string::npos;
      const bool is_fragmented = name == "fragmented" && segments;
      EXPECT_EQ(says("max_split_size_mb"), is_fragmented && !is_split) << what;
      EXPECT_EQ(says("policy:pages"), is_fragmented) << what;
      EXPECT_EQ(says("sconce_memory_empty_cache"), is_fragmented) << what;
      EXPECT_EQ(says("sconce_memory_pool_trim"), name == "an unused pool") << what;
      EXPECT_EQ(says("fixed or that graphs hold"), name == "a fixed pool") << what;
      EXPECT_EQ(says("before the capture begins"), name == "in a capture") << what;
      EXPECT_TRUE(says("raise the limit") || says("Free memory that is not needed")) << what;
      set_per_process_memory_fraction(1);
      empty_cache();
    }
  }
  allocator::setAllocatorSettings("");
}

TEST_F(MemoryLimitsTest, TheRemedyFitsTheCause) {
  const sconce::Error large = error_of([] { (void)allocator::raw_alloc(device_bytes() * 2); });
  EXPECT_TRUE(contains(large.what(), "The device has less memory than that"));
  set_per_process_memory_fraction(0.5);
  const sconce::Error limited =
      error_of([] { (void)allocator::raw_alloc(device_bytes() / 4 * 3); });
  EXPECT_TRUE(contains(limited.what(), "raise the limit with sconce_memory_set_fraction"));
}

TEST_F(MemoryLimitsTest, FractionsAreFromZeroToOne) {
  for (const double bad : {-0.1, 1.1, std::numeric_limits<double>::quiet_NaN()}) {
    const sconce::Error error = error_of([&] { allocator::setMemoryFraction(bad); });
    EXPECT_EQ(error.status(), SCONCE_ERROR_INVALID_ARGUMENT) << bad;
    EXPECT_TRUE(contains(error.what(), "fraction"));
  }
  EXPECT_EQ(status_of([] { allocator::setMemoryFraction(0.5, device_count()); }),
            SCONCE_ERROR_INVALID_DEVICE);
  EXPECT_DOUBLE_EQ(allocator::getMemoryFraction(), 1.0);
}

TEST_F(MemoryLimitsTest, ObserversHearInOrder) {
  std::string heard;
  const auto first = allocator::attachOutOfMemoryObserver(
      [&](std::int64_t device, std::size_t asked, std::size_t total, std::size_t free) {
        heard += "first ";
        EXPECT_EQ(device, 0);
        EXPECT_EQ(asked, 80 * kMiB);
        EXPECT_EQ(total, 64 * kMiB) << "the share that is allowed";
        EXPECT_GT(free, 64 * kMiB) << "the device itself has more";
      });
  auto second = allocator::attachOutOfMemoryObserver(
      [&](std::int64_t, std::size_t, std::size_t, std::size_t) { heard += "second "; });
  allocator::setMemoryFraction(fraction_of(64 * kMiB));
  const auto run_out = [] {
    EXPECT_EQ(status_of([] { (void)allocator::raw_alloc(79 * kMiB); }), SCONCE_ERROR_OUT_OF_MEMORY);
  };
  run_out();
  EXPECT_EQ(heard, "first second ");
  auto moved = std::move(second);
  run_out();
  EXPECT_EQ(heard, "first second first second ");
  moved.detach();
  moved.detach();
  run_out();
  EXPECT_EQ(heard, "first second first second first ");
}

TEST_F(MemoryLimitsTest, AnObserverMayUseTheLibrary) {
  auto held = std::make_unique<DeviceBuffer>(40 * kMiB);
  const auto observer = allocator::attachOutOfMemoryObserver(
      [&](std::int64_t, std::size_t, std::size_t, std::size_t) { held.reset(); });
  allocator::setMemoryFraction(fraction_of(64 * kMiB));
  EXPECT_EQ(status_of([] { (void)allocator::raw_alloc(50 * kMiB); }), SCONCE_ERROR_OUT_OF_MEMORY)
      << "observers come too late for the allocation that failed";
  EXPECT_EQ(memory_allocated(), 0U);
  EXPECT_NO_THROW(allocator::raw_delete(allocator::raw_alloc(50 * kMiB)));
}

TEST_F(MemoryLimitsTest, NothingIsKeptOfADetachedObserver) {
  const auto state = std::make_shared<int>(7);
  {
    const auto observer = allocator::attachOutOfMemoryObserver(
        [state](std::int64_t, std::size_t, std::size_t, std::size_t) {});
    EXPECT_EQ(state.use_count(), 2);
  }
  EXPECT_EQ(state.use_count(), 1);
}

TEST_F(MemoryLimitsTest, ObserversGoWhileOthersHear) {
  allocator::setMemoryFraction(fraction_of(4 * kMiB));
  std::atomic<bool> done{false};
  std::thread other([&] {
    while (!done) {
      EXPECT_EQ(status_of([] { (void)allocator::raw_alloc(8 * kMiB); }),
                SCONCE_ERROR_OUT_OF_MEMORY);
    }
  });
  for (int i = 0; i < 200; ++i) {
    auto state = std::make_shared<int>(i);
    const auto observer = allocator::attachOutOfMemoryObserver(
        [state](std::int64_t, std::size_t, std::size_t, std::size_t) { (void)*state; });
    std::this_thread::yield();
  }
  done = true;
  other.join();
}

TEST_F(MemoryLimitsTest, WhatIsNoObserverIsNamed) {
  std::uint64_t id = 7;
  EXPECT_EQ(sconce_memory_attach_oom_observer(nullptr, nullptr, &id),
            SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(contains(sconce_last_error_message(), "observer is NULL"));
  EXPECT_EQ(id, 7U);
  EXPECT_EQ(status_of([] { (void)allocator::attachOutOfMemoryObserver({}); }),
            SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(sconce_memory_detach_oom_observer(0), SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(contains(sconce_last_error_message(), "id is 0"));
}

TEST_F(MemoryLimitsTest, SettingsThatAreNotKnownAreNamed) {
  for (const char* const bad : {"no_such_key:1", "max_split_size_mb:many", "max_split_size_mb",
                                "garbage_collection_threshold:2"}) {
    const sconce::Error error = error_of([&] { allocator::setAllocatorSettings(bad); });
    EXPECT_EQ(error.status(), SCONCE_ERROR_INVALID_ARGUMENT) << bad;
    const std::string key = std::string(bad).substr(0, std::string(bad).find(':'));
    EXPECT_TRUE(contains(error.what(), key));
  }
  EXPECT_EQ(memory_stats().max_split_size, -1) << "nothing has changed";
}

TEST_F(MemoryLimitsTest, SettingsCountFromThenOn) {
  allocator::setAllocatorSettings("roundup_power2_divisions:4");
  EXPECT_EQ(allocator::getUsableBytes(DeviceBuffer(33 * kKiB).get()), 40 * kKiB);
  allocator::setAllocatorSettings("");
  EXPECT_EQ(allocator::getUsableBytes(DeviceBuffer(33 * kKiB).get()), 33 * kKiB);
}

TEST_F(MemoryLimitsTest, PyTorchsShapes) {
  const CUDAStream stream = getStreamFromPool();
  EXPECT_EQ(sconce_torch_malloc(0, 0, nullptr), nullptr);
  EXPECT_NO_FATAL_FAILURE(sconce_torch_free(nullptr, 0, 0, nullptr));
  void* const memory = sconce_torch_malloc(1000, 0, stream.stream());
  EXPECT_EQ(memory_allocated(), 1024U);
  sconce_torch_free(memory, 1000, 0, stream.stream());
  EXPECT_EQ(memory_allocated(), 0U);
  EXPECT_EQ(DeviceBuffer(1000, stream).get(), memory) << "it is that stream's memory";
  void* const on_default = sconce_torch_malloc(1000, 0, nullptr);
  EXPECT_NE(on_default, memory);
  sconce_torch_free(on_default, 1000, 0, nullptr);
}

TEST_F(MemoryLimitsTest, CuPysShapes) {
  SCONCE_NEED_DEVICES(2);
  const CUDAStream stream = getStreamFromPool(false, 1);
  setCurrentCUDAStream(stream);
  EXPECT_EQ(sconce_cupy_malloc(nullptr, 0, 1), nullptr);
  void* const memory = sconce_cupy_malloc(nullptr, 1000, 1);
  EXPECT_EQ(memory_allocated(1), 1024U);
  EXPECT_EQ(current_device(), 0);
  sconce_cupy_free(nullptr, memory, 1);
  EXPECT_EQ(DeviceBuffer(1000, stream).get(), memory) << "the current stream of that device";
}

TEST_F(MemoryLimitsTest, OnnxRuntimesShapes) {
  EXPECT_EQ(sconce_ort_alloc(0), nullptr);
  void* const memory = sconce_ort_alloc(1000);
  EXPECT_EQ(memory_allocated(), 1024U);
  sconce_ort_free(memory);
  EXPECT_EQ(memory_reserved(), 2 * kMiB);
  sconce_ort_empty_cache();
  EXPECT_EQ(memory_reserved(), 0U);
}

struct Logged {
  std::vector<std::string> messages;

  Logged() {
    sconce_log_set_callback(
        [](std::int32_t level, const char* message, void* user) {
          if (level == SCONCE_LOG_ERROR) {
            static_cast<Logged*>(user)->messages.emplace_back(message);
          }
        },
        this);
  }
  Logged(const Logged&) = delete;
  Logged& operator=(const Logged&) = delete;
  ~Logged() { sconce_log_set_callback(nullptr, nullptr); }
};

TEST_F(MemoryLimitsTest, WhereNobodyAsksForAStatusFailuresAreLogged) {
  const Logged logged;
  EXPECT_EQ(sconce_torch_malloc(static_cast<std::ptrdiff_t>(2 * device_bytes()), 0, nullptr),
            nullptr);
  ASSERT_EQ(logged.messages.size(), 1U);
  EXPECT_TRUE(contains(logged.messages.back(), "sconce_torch_malloc: CUDA out of memory."));
  EXPECT_TRUE(contains(sconce_last_error_message(), "CUDA out of memory."));
  EXPECT_EQ(sconce_torch_malloc(-1, 0, nullptr), nullptr);
  EXPECT_TRUE(contains(logged.messages.back(), "bytes is -1"));
  EXPECT_EQ(sconce_torch_malloc(1, 99, nullptr), nullptr);
  EXPECT_EQ(sconce_cupy_malloc(nullptr, 1, 99), nullptr);
  EXPECT_TRUE(contains(logged.messages.back(), "sconce_cupy_malloc: "));
  EXPECT_EQ(sconce_ort_alloc(SIZE_MAX), nullptr);
  EXPECT_EQ(logged.messages.size(), 5U);
  int host = 0;
  sconce_torch_free(&host, 1, 0, nullptr);
  EXPECT_TRUE(contains(logged.messages.back(), "not memory of this allocator"));
  sconce_cupy_free(nullptr, &host, 0);
  sconce_ort_free(&host);
  EXPECT_TRUE(contains(logged.messages.back(), "sconce_ort_free: "));
  EXPECT_EQ(logged.messages.size(), 8U);
}

}  // namespace
