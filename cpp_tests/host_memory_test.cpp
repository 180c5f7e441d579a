// Pinned host memory: sizes, streams, other threads, figures, misuse.
#include <chrono>
#include <cstdint>
#include <cstring>
#include <limits>
#include <sconce/cuda/host_memory.hpp>
#include <thread>
#include <vector>

#include "host_memory_support.hpp"

namespace {

using namespace sconce::cuda;
using namespace std::chrono_literals;
namespace allocator = sconce::cuda::CachingHostAllocator;
using support::contains;
using support::further;
using support::kKiB;
using support::kMiB;
using support::status_of;

class HostMemoryTest : public support::HostMemoryFixture {};

TEST(HostMemoryStartTest, FreeingNothingNeedsNothing) {
  const bool initialized = sconce::is_initialized();
  EXPECT_EQ(sconce_host_memory_free(nullptr), SCONCE_OK);
  EXPECT_EQ(sconce::is_initialized(), initialized) << "nothing is started for it";
}

TEST_F(HostMemoryTest, NothingIsGivenForNothing) {
  EXPECT_EQ(allocator::raw_alloc(0), nullptr);
  EXPECT_NO_THROW(allocator::raw_delete(nullptr));
  EXPECT_EQ(host_memory_stats().active_requests.allocated, 0);
  EXPECT_EQ(host_memory_stats().num_host_alloc, 0);
}

TEST_F(HostMemoryTest, TheHostUsesItAndTheDriverKnowsIt) {
  std::vector<void*> blocks;
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{100}, 5 * kKiB, 3 * kMiB + 1}) {
    void* const memory = allocator::raw_alloc(bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 64, 0U) << bytes;
    EXPECT_TRUE(allocator::isPinned(memory)) << bytes;
    EXPECT_TRUE(allocator::isPinned(further(memory, bytes - 1))) << bytes;
    std::memset(memory, static_cast<int>(blocks.size()), bytes);
    blocks.push_back(memory);
  }
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    EXPECT_EQ(*static_cast<unsigned char*>(blocks[i]), i) << "blocks do not overlap";
    allocator::raw_delete(blocks[i]);
  }
  int ordinary = 0;
  EXPECT_FALSE(allocator::isPinned(&ordinary));
  EXPECT_FALSE(allocator::isPinned(nullptr));
}

TEST_F(HostMemoryTest, FreedMemoryIsGivenAgainWithoutTheDriver) {
  for (const std::size_t bytes : {kKiB, 5 * kMiB}) {
    void* const freed = allocator::raw_alloc(bytes);
    const auto pinned = host_memory_stats().num_host_alloc;
    allocator::raw_delete(freed);
    void* const again = allocator::raw_alloc(bytes);
    EXPECT_EQ(again, freed);
    EXPECT_EQ(host_memory_stats().num_host_alloc, pinned);
    allocator::raw_delete(again);
  }
}

TEST_F(HostMemoryTest, NotedStreamsAreWaitedFor) {
  const CUDAStream stream = getStreamFromPool();
  void* const used = allocator::raw_alloc(kKiB);
  sleep(200ms, stream);
  allocator::recordStream(further(used, 100), stream);
  allocator::raw_delete(used);
  EXPECT_EQ(host_memory_stats().active_requests.current, 1) << "it waits";
  void* const meanwhile = allocator::raw_alloc(kKiB);
  EXPECT_NE(meanwhile, used);
  stream.synchronize();
  void* const after = allocator::raw_alloc(kKiB);
  EXPECT_EQ(after, used);
  allocator::raw_delete(meanwhile);
  allocator::raw_delete(after);
  EXPECT_EQ(host_memory_stats().active_requests.current, 0);
}

TEST_F(HostMemoryTest, WhatIsQueuedBetweenUseAndFreeIsWaitedForToo) {
  SCONCE_NEED_SIMULATOR();
  const CUDAStream stream = getStreamFromPool();
  void* const used = allocator::raw_alloc(kKiB);
  const sconce::simulator::ManualScope manual;
  sleep(1ms, stream);
  allocator::recordStream(used, stream);
  sleep(1ms, stream);
  allocator::raw_delete(used);
  EXPECT_TRUE(sconce::simulator::step(stream));
  void* const meanwhile = allocator::raw_alloc(kKiB);
  EXPECT_NE(meanwhile, used) << "the second sleep has not ended";
  sconce::simulator::run_until_idle();
  void* const after = allocator::raw_alloc(kKiB);
  EXPECT_EQ(after, used);
  allocator::raw_delete(meanwhile);
  allocator::raw_delete(after);
}

TEST_F(HostMemoryTest, ForeignMemoryIsNotNotedAndInventedStreamsAreRefused) {
  int ordinary = 0;
  EXPECT_NO_THROW(allocator::recordStream(nullptr, getStreamFromPool()));
  EXPECT_NO_THROW(allocator::recordStream(&ordinary, getStreamFromPool()));
  void* const memory = allocator::raw_alloc(kKiB);
  const CUDAStream invented(sconce_stream{0x7ffffff0, 0, 0});
  EXPECT_EQ(status_of([&] { allocator::recordStream(memory, invented); }),
            SCONCE_ERROR_INVALID_HANDLE);
  allocator::raw_delete(memory);
}

TEST_F(HostMemoryTest, EmptyingTheCacheKeepsWhatIsInUse) {
  void* const kept = allocator::raw_alloc(5 * kMiB);
  void* const freed = allocator::raw_alloc(7 * kMiB);
  allocator::raw_delete(freed);
  const auto before = host_memory_stats().allocated_bytes.current;
  host_empty_cache();
  const auto after = host_memory_stats().allocated_bytes.current;
  EXPECT_LE(after, before - static_cast<std::int64_t>(7 * kMiB));
  EXPECT_GE(after, static_cast<std::int64_t>(5 * kMiB));
  EXPECT_TRUE(allocator::isPinned(kept));
  allocator::raw_delete(kept);
  allocator::emptyCache();
  EXPECT_EQ(host_memory_stats().allocated_bytes.current, 0);
  EXPECT_EQ(host_memory_stats().num_host_alloc, host_memory_stats().num_host_free);
}

TEST_F(HostMemoryTest, EmptyingTheCacheWaitsForNothing) {
  const CUDAStream stream = getStreamFromPool();
  void* const used = allocator::raw_alloc(5 * kMiB);
  sleep(200ms, stream);
  allocator::recordStream(used, stream);
  allocator::raw_delete(used);
  allocator::emptyCache();
  EXPECT_FALSE(stream.query());
  EXPECT_GE(host_memory_stats().allocated_bytes.current, static_cast<std::int64_t>(5 * kMiB));
  stream.synchronize();
  allocator::emptyCache();
  EXPECT_EQ(host_memory_stats().allocated_bytes.current, 0);
}

TEST_F(HostMemoryTest, TheFiguresTellWhatIsHeld) {
  void* const first = allocator::raw_alloc(1000);
  void* const second = allocator::raw_alloc(3 * kMiB);
  allocator::HostStats stats = host_memory_stats();
  EXPECT_EQ(stats.active_requests.current, 2);
  EXPECT_EQ(stats.requested_bytes.current, static_cast<std::int64_t>(1000 + 3 * kMiB));
  EXPECT_EQ(stats.active_bytes.current, static_cast<std::int64_t>(1024 + 3 * kMiB));
  EXPECT_GE(stats.allocated_bytes.current, stats.active_bytes.current);
  EXPECT_EQ(stats.allocations.current, stats.num_host_alloc);
  EXPECT_EQ(stats.host_alloc_time.count, stats.num_host_alloc);
  EXPECT_GE(stats.host_alloc_time.max, stats.host_alloc_time.min);

  allocator::raw_delete(second);
  reset_peak_host_memory_stats();
  stats = host_memory_stats();
  EXPECT_EQ(stats.active_bytes.peak, 1024);
  EXPECT_EQ(stats.active_bytes.allocated, static_cast<std::int64_t>(1024 + 3 * kMiB));
  EXPECT_EQ(stats.active_bytes.freed, static_cast<std::int64_t>(3 * kMiB));
  reset_accumulated_host_memory_stats();
  stats = host_memory_stats();
  EXPECT_EQ(stats.active_bytes.current, 1024);
  EXPECT_EQ(stats.active_bytes.allocated, 0);
  EXPECT_EQ(stats.num_host_alloc, 0);

  const std::string json = host_memory_stats_json();
  EXPECT_TRUE(contains(json, "\"active_bytes.current\": 1024") ||
              contains(json, "\"active_bytes.current\":1024"));
  for (const char* key : {"allocations.peak", "active_requests.freed", "host_alloc_time.total",
                          "host_free_time.avg", "num_host_alloc", "num_host_free"}) {
    EXPECT_TRUE(contains(json, std::string("\"") + key + "\"")) << key;
  }
  allocator::raw_delete(first);
}

TEST_F(HostMemoryTest, AnyThreadMayFree) {
  void* const memory = allocator::raw_alloc(kKiB);
  std::thread([&] { allocator::raw_delete(memory); }).join();
  EXPECT_EQ(host_memory_stats().active_requests.current, 0);
}

TEST_F(HostMemoryTest, MisuseIsTold) {
  void* const memory = allocator::raw_alloc(kKiB);
  int ordinary = 0;
  EXPECT_EQ(status_of([&] { allocator::raw_delete(further(memory, 64)); }),
            SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(status_of([&] { allocator::raw_delete(&ordinary); }), SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(host_memory_stats().active_requests.current, 1) << "a refused free changes nothing";
  allocator::raw_delete(memory);
  EXPECT_EQ(status_of([&] { allocator::raw_delete(memory); }), SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(contains(sconce_last_error_message(), "already"));
}

TEST_F(HostMemoryTest, MoreThanThereIsIsOutOfMemory) {
  EXPECT_THROW((void)allocator::raw_alloc(std::numeric_limits<std::size_t>::max() / 4),
               sconce::OutOfMemoryError);
  EXPECT_EQ(host_memory_stats().active_requests.current, 0);
}

}  // namespace
