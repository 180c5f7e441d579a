// Device memory: sizes, streams, other threads, misuse.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <sconce/cuda/guard.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "memory_support.hpp"

namespace {

using namespace sconce::cuda;
using namespace std::chrono_literals;
namespace allocator = sconce::cuda::CUDACachingAllocator;
using support::contains;
using support::error_of;
using support::further;
using support::kKiB;
using support::kMiB;
using support::status_of;

class MemoryTest : public support::MemoryFixture {};

TEST(MemoryStartTest, FreeingNothingNeedsNothing) {
  const bool initialized = sconce::is_initialized();
  EXPECT_EQ(sconce_memory_free(nullptr), SCONCE_OK);
  EXPECT_EQ(sconce_memory_pool_destroy(nullptr), SCONCE_OK);
  EXPECT_EQ(sconce_memory_snapshot_destroy(nullptr), SCONCE_OK);
  EXPECT_EQ(sconce::is_initialized(), initialized) << "nothing is started for it";
}

TEST_F(MemoryTest, NothingIsGivenForNothing) {
  EXPECT_EQ(allocator::raw_alloc(0), nullptr);
  EXPECT_EQ(allocator::raw_alloc_with_stream(0, getStreamFromPool()), nullptr);
  EXPECT_NO_THROW(allocator::raw_delete(nullptr));
  EXPECT_EQ(memory_stats().allocation.all.allocated, 0);
  EXPECT_EQ(memory_reserved(), 0U);
}

TEST_F(MemoryTest, SizesAreRoundedAsTorchRounds) {
  const std::vector<std::pair<std::size_t, std::size_t>> sizes{
      {1, 512},
      {512, 512},
      {513, 1024},
      {kMiB - 1, kMiB},
      {kMiB + 1, kMiB + 512},
      {10 * kMiB + 1, 10 * kMiB + 512},
  };
  for (const auto& [asked, given] : sizes) {
    const DeviceBuffer memory(asked);
    EXPECT_EQ(allocator::getUsableBytes(memory.get()), given) << asked;
    EXPECT_EQ(memory_allocated(), given);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.get()) % 512, 0U);
    const CUDACachingAllocator::DeviceStats stats = memory_stats();
    EXPECT_EQ(stats.requested_bytes.all.current, static_cast<std::int64_t>(asked));
  }
}

TEST_F(MemoryTest, ARestOfAMebibyteOrLessStaysWithTheBlock) {
  const DeviceBuffer memory(19 * kMiB + 1);
  EXPECT_EQ(allocator::getUsableBytes(memory.get()), 20 * kMiB);
  EXPECT_EQ(memory_allocated(), 20 * kMiB);
}

TEST_F(MemoryTest, TheDriverIsAskedInTorchsSegments) {
  const std::vector<std::pair<std::size_t, std::size_t>> sizes{
      {1, 2 * kMiB},
      {kMiB, 2 * kMiB},
      {kMiB + 1, 20 * kMiB},
      {10 * kMiB - 512, 20 * kMiB},
      {10 * kMiB - 511, 10 * kMiB},
      {10 * kMiB + 1, 12 * kMiB},
      {37 * kMiB, 38 * kMiB},
  };
  for (const auto& [asked, segment] : sizes) {
    empty_cache();
    const DeviceBuffer memory(asked);
    std::size_t bytes = 0;
    EXPECT_EQ(allocator::getBaseAllocation(memory.get(), &bytes), memory.get());
    EXPECT_EQ(bytes, segment) << asked;
    EXPECT_EQ(memory_reserved(), segment) << asked;
  }
}

TEST_F(MemoryTest, TheBaseIsThatOfTheWholeSegment) {
  DeviceBuffer first(1000);
  DeviceBuffer second(1000);
  EXPECT_EQ(second.get(), further(first.get(), 1024));
  std::size_t bytes = 0;
  EXPECT_EQ(allocator::getBaseAllocation(further(second.get(), 1000), &bytes), first.get());
  EXPECT_EQ(bytes, 2 * kMiB);
  const sconce::Error error =
      error_of([&] { (void)allocator::getBaseAllocation(further(first.get(), kMiB)); });
  EXPECT_EQ(error.status(), SCONCE_ERROR_INVALID_ARGUMENT) << "that part is free";
}

TEST_F(MemoryTest, FreedMemoryServesItsOwnStreamAgain) {
  const CUDAStream first = getStreamFromPool();
  const CUDAStream second = getStreamFromPool();
  void* const freed = allocator::raw_alloc_with_stream(kKiB, first);
  allocator::raw_delete(freed);
  const DeviceBuffer elsewhere(kKiB, second);
  EXPECT_NE(elsewhere.get(), freed);
  const DeviceBuffer again(kKiB, first);
  EXPECT_EQ(again.get(), freed);
}

TEST_F(MemoryTest, TheCurrentStreamCounts) {
  const CUDAStream stream = getStreamFromPool();
  void* freed = nullptr;
  {
    const CUDAStreamGuard guard(stream);
    freed = allocator::raw_alloc(kKiB);
    allocator::raw_delete(freed);
  }
  const DeviceBuffer on_default(kKiB);
  EXPECT_NE(on_default.get(), freed);
  const DeviceBuffer on_stream(kKiB, stream);
  EXPECT_EQ(on_stream.get(), freed);
}

TEST_F(MemoryTest, AStreamFromOutsideIsTheStreamItNames) {
  const CUDAStream stream = getStreamFromPool();
  const CUDAStream outside = getStreamFromExternal(stream.stream());
  void* const freed = allocator::raw_alloc_with_stream(kKiB, stream);
  allocator::raw_delete(freed);
  const DeviceBuffer again(kKiB, outside);
  EXPECT_EQ(again.get(), freed);
}

TEST_F(MemoryTest, TheDeviceIsTheStreamsOrTheCurrentOne) {
  SCONCE_NEED_DEVICES(2);
  const DeviceBuffer there(kKiB, getDefaultCUDAStream(1));
  EXPECT_EQ(memory_allocated(1), kKiB);
  EXPECT_EQ(memory_allocated(0), 0U);
  EXPECT_EQ(memory_reserved(0), 0U);
  std::int32_t device = -1;
  ASSERT_EQ(sconce_device_of_pointer(there.get(), &device), SCONCE_OK);
  EXPECT_EQ(device, 1);
  const CUDAGuard guard(1);
  const DeviceBuffer current(kKiB);
  EXPECT_EQ(memory_allocated(), 2 * kKiB);
}

TEST_F(MemoryTest, NotedStreamsAreWaitedFor) {
  const CUDAStream own = getStreamFromPool();
  const CUDAStream other = getStreamFromPool();
  void* const used = allocator::raw_alloc_with_stream(kKiB, own);
  sleep(200ms, other);
  allocator::recordStream(used, other);
  allocator::raw_delete(used);
  EXPECT_EQ(memory_stats().allocation.all.current, 0);
  EXPECT_EQ(memory_stats().active.all.current, 1);
  DeviceBuffer meanwhile(kKiB, own);
  EXPECT_NE(meanwhile.get(), used);
  other.synchronize();
  const DeviceBuffer after(kKiB, own);
  EXPECT_EQ(after.get(), used);
  EXPECT_EQ(memory_stats().active.all.current, 2);
}

TEST_F(MemoryTest, WhatIsQueuedBetweenUseAndFreeIsWaitedForToo) {
  SCONCE_NEED_SIMULATOR();
  const CUDAStream own = getStreamFromPool();
  const CUDAStream other = getStreamFromPool();
  void* const used = allocator::raw_alloc_with_stream(kKiB, own);
  const sconce::simulator::ManualScope manual;
  sleep(1ms, other);
  allocator::recordStream(used, other);
  sleep(1ms, other);
  allocator::raw_delete(used);
  EXPECT_TRUE(sconce::simulator::step(other));
  EXPECT_NE(DeviceBuffer(kKiB, own).get(), used) << "the second sleep has not ended";
  sconce::simulator::run_until_idle();
  EXPECT_EQ(DeviceBuffer(kKiB, own).get(), used);
}

TEST_F(MemoryTest, EveryNotedStreamIsWaitedForOnAnyDevice) {
  SCONCE_NEED_SIMULATOR();
  SCONCE_NEED_DEVICES(2);
  const CUDAStream first = getStreamFromPool();
  const CUDAStream second = getStreamFromPool(false, 1);
  void* const used = allocator::raw_alloc(kKiB);
  const sconce::simulator::ManualScope manual;
  for (const CUDAStream& stream : {first, second}) {
    sleep(1ms, stream);
    allocator::recordStream(used, stream);
  }
  allocator::raw_delete(used);
  while (sconce::simulator::step(first)) {
  }
  EXPECT_NE(DeviceBuffer(kKiB).get(), used);
  sconce::simulator::run_until_idle();
  EXPECT_EQ(DeviceBuffer(kKiB).get(), used);
  EXPECT_EQ(current_device(), 0);
}

TEST_F(MemoryTest, ItsOwnStreamAndForeignMemoryAreNotNoted) {
  const CUDAStream own = getStreamFromPool();
  void* const used = allocator::raw_alloc_with_stream(kKiB, own);
  sleep(200ms, own);
  allocator::recordStream(used, own);
  allocator::raw_delete(used);
  EXPECT_EQ(DeviceBuffer(kKiB, own).get(), used) << "its own stream is in order";
  int host = 0;
  EXPECT_NO_THROW(allocator::recordStream(nullptr, own));
  EXPECT_NO_THROW(allocator::recordStream(&host, own));
  const CUDAStream invented(sconce_stream{0x7ffffff0, 0, 0});
  EXPECT_EQ(status_of([&] { allocator::recordStream(nullptr, invented); }),
            SCONCE_ERROR_INVALID_HANDLE);
}

TEST_F(MemoryTest, AnAddressInsideABlockCountsForTheBlock) {
  const CUDAStream other = getStreamFromPool();
  void* const block = allocator::raw_alloc(kKiB);
  sleep(200ms, other);
  allocator::recordStream(static_cast<char*>(block) + 8, other);
  allocator::raw_delete(block);
  EXPECT_NE(DeviceBuffer(kKiB).get(), block) << "work of the other stream may still use it";
  EXPECT_EQ(status_of([&] { allocator::recordStream(block, other); }),
            SCONCE_ERROR_INVALID_ARGUMENT);
}

TEST_F(MemoryTest, EmptyingTheCacheKeepsWhatIsInUse) {
  DeviceBuffer small(kKiB);
  DeviceBuffer large(30 * kMiB);
  DeviceBuffer other(30 * kMiB, getStreamFromPool());
  EXPECT_EQ(memory_reserved(), 62 * kMiB);
  large.reset();
  other.reset();
  EXPECT_EQ(memory_reserved(), 62 * kMiB) << "freed memory is kept";
  empty_cache();
  EXPECT_EQ(memory_reserved(), 2 * kMiB);
  small.reset();
  empty_cache();
  EXPECT_EQ(memory_reserved(), 0U);
  EXPECT_EQ(memory_stats().num_device_alloc, 3);
  EXPECT_EQ(memory_stats().num_device_free, 3);
}

TEST_F(MemoryTest, EmptyingTheCacheWaitsForNotedStreams) {
  const CUDAStream other = getStreamFromPool();
  DeviceBuffer memory(kKiB);
  sleep(100ms, other);
  memory.record_stream(other);
  memory.reset();
  empty_cache();
  EXPECT_TRUE(other.query());
  EXPECT_EQ(memory_reserved(), 0U);
}

TEST_F(MemoryTest, AnyThreadMayFree) {
  const CUDAStream stream = getStreamFromPool();
  void* const memory = allocator::raw_alloc_with_stream(kKiB, stream);
  std::thread([&] { allocator::raw_delete(memory); }).join();
  EXPECT_EQ(memory_allocated(), 0U);
  EXPECT_EQ(DeviceBuffer(kKiB, stream).get(), memory);
  EXPECT_EQ(memory_allocated(), 0U);
}

TEST_F(MemoryTest, ThreadsShareStreamsAndHandMemoryOver) {
  constexpr std::size_t kThreads = 4;
  constexpr std::size_t kRounds = 500;
  const CUDAStream stream = getStreamFromPool();
  std::vector<std::vector<DeviceBuffer>> handed(kThreads);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t i = 0; i < kRounds; ++i) {
        handed[t].emplace_back(512 * (1 + (i + t) % 7), stream);
        if (i % 3 == 0) {
          DeviceBuffer(kMiB, stream).reset();
        }
      }
    });
  }
  for (auto& thread : threads) {
    thread.join();
  }
  threads.clear();
  std::vector<const void*> all;
  for (const auto& mine : handed) {
    for (const DeviceBuffer& memory : mine) {
      all.push_back(memory.get());
    }
  }
  std::sort(all.begin(), all.end());
  EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end()) << "nothing is given twice";
  EXPECT_EQ(memory_stats().allocation.all.current, kThreads * kRounds);
  for (std::size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] { handed[(t + 1) % kThreads].clear(); });
  }
  for (auto& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(memory_allocated(), 0U);
  empty_cache();
  EXPECT_EQ(memory_reserved(), 0U);
}

TEST_F(MemoryTest, MisuseIsTold) {
  void* const memory = allocator::raw_alloc(kKiB);
  const sconce::Error middle = error_of([&] { allocator::raw_delete(further(memory, 512)); });
  EXPECT_EQ(middle.status(), SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(contains(middle.what(), "512 bytes into the block"));
  int host = 0;
  const sconce::Error foreign = error_of([&] { allocator::raw_delete(&host); });
  EXPECT_EQ(foreign.status(), SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(contains(foreign.what(), "not memory of this allocator"));
  EXPECT_EQ(memory_allocated(), kKiB) << "a refused free changes nothing";
  allocator::raw_delete(memory);
  const sconce::Error twice = error_of([&] { allocator::raw_delete(memory); });
  EXPECT_EQ(twice.status(), SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(contains(twice.what(), "freed already"));
  EXPECT_EQ(memory_allocated(), 0U);
  EXPECT_EQ(status_of([&] { (void)allocator::getUsableBytes(memory); }),
            SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(status_of([] { (void)allocator::getUsableBytes(nullptr); }),
            SCONCE_ERROR_INVALID_ARGUMENT);
}

TEST_F(MemoryTest, PlacesThatCannotBeWrittenAreNamedAndNothingIsAllocated) {
  EXPECT_EQ(sconce_memory_alloc(kKiB, nullptr), SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(contains(sconce_last_error_message(), "out_ptr is NULL"));
  EXPECT_EQ(memory_allocated(), 0U);
  void* untouched = &untouched;
  const sconce_stream nowhere{0, 99, 0};
  EXPECT_EQ(sconce_memory_alloc_on(kKiB, nowhere, &untouched), SCONCE_ERROR_INVALID_DEVICE);
  EXPECT_EQ(untouched, &untouched);
  EXPECT_EQ(sconce_memory_get_fraction(0, nullptr), SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(sconce_memory_get_allocated(0, nullptr), SCONCE_ERROR_INVALID_ARGUMENT);
}

}  // namespace
