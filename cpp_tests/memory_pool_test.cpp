// Private pools: the allocations that they serve, and the fate of their memory.
#include <sconce/cuda/guard.hpp>
#include <thread>
#include <utility>
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

class MemoryPoolTest : public support::MemoryFixture {};

TEST_F(MemoryPoolTest, APoolServesItsScopeAlone) {
  const MemPool pool;
  DeviceBuffer inside;
  {
    const MemPoolGuard guard(pool);
    inside = DeviceBuffer(kKiB);
  }
  void* const address = inside.get();
  inside.reset();
  EXPECT_NE(DeviceBuffer(kKiB).get(), address) << "outside, the pool's memory is not used";
  EXPECT_EQ(memory_reserved(), 4 * kMiB) << "a segment for each";
  const MemPoolGuard guard(pool);
  EXPECT_EQ(DeviceBuffer(kKiB).get(), address);
}

TEST_F(MemoryPoolTest, SnapshotsKnowAPoolByItsId) {
  const MemPool pool, other;
  EXPECT_NE(pool.id(), 0U);
  EXPECT_NE(pool.id(), other.id());
  const MemPoolGuard guard(pool);
  const DeviceBuffer inside(kKiB);
  const auto segments = allocator::snapshot().segments;
  ASSERT_EQ(segments.size(), 1U);
  EXPECT_EQ(segments[0].owner_private_pool_id.second, pool.id());
}

TEST_F(MemoryPoolTest, SnapshotsSayWhatIsMadeOfPages) {
  for (const MemPolicy policy : {MemPolicy::Pages, MemPolicy::Segments}) {
    const MemPool pool(policy);
    const MemPoolGuard guard(pool);
    const DeviceBuffer inside(kKiB);
    bool found = false;
    for (const auto& segment : allocator::snapshot().segments) {
      if (segment.owner_private_pool_id.second != pool.id()) continue;
      found = true;
      EXPECT_EQ(segment.is_expandable, policy == MemPolicy::Pages);
    }
    EXPECT_TRUE(found);
  }
}

TEST_F(MemoryPoolTest, WhatWasFreeBeforeIsNotUsedInside) {
  void* const outside = allocator::raw_alloc(kKiB);
  allocator::raw_delete(outside);
  const MemPool pool;
  const MemPoolGuard guard(pool);
  EXPECT_NE(DeviceBuffer(kKiB).get(), outside);
}

TEST_F(MemoryPoolTest, TheInnermostGuardCounts) {
  const MemPool outer;
  const MemPool inner;
  const MemPoolGuard outer_guard(outer);
  void* const of_outer = allocator::raw_alloc(kKiB);
  allocator::raw_delete(of_outer);
  {
    const MemPoolGuard inner_guard(inner);
    EXPECT_NE(DeviceBuffer(kKiB).get(), of_outer);
  }
  EXPECT_EQ(DeviceBuffer(kKiB).get(), of_outer);
}

TEST_F(MemoryPoolTest, StreamsStayApartInAPoolToo) {
  const MemPool pool;
  const MemPoolGuard guard(pool);
  void* const on_default = allocator::raw_alloc(kKiB);
  allocator::raw_delete(on_default);
  EXPECT_NE(DeviceBuffer(kKiB, getStreamFromPool()).get(), on_default);
  EXPECT_EQ(DeviceBuffer(kKiB).get(), on_default);
}

TEST_F(MemoryPoolTest, OtherThreadsAndDevicesAreNotServed) {
  SCONCE_NEED_DEVICES(2);
  const MemPool pool;
  const MemPoolGuard guard(pool, 0);
  std::thread([] { allocator::raw_delete(allocator::raw_alloc(kKiB)); }).join();
  EXPECT_EQ(memory_reserved(0), 2 * kMiB);
  const DeviceBuffer mine(kKiB);
  EXPECT_EQ(memory_reserved(0), 4 * kMiB) << "the other thread's memory is not the pool's";
  const CUDAGuard device_guard(1);
  const DeviceBuffer there(kKiB);
  EXPECT_EQ(memory_reserved(1), 2 * kMiB);
  empty_cache();
  EXPECT_EQ(memory_reserved(1), 2 * kMiB);
}

TEST_F(MemoryPoolTest, TrimmingGivesBackWhatIsFree) {
  MemPool pool;
  EXPECT_EQ(pool.trim(), 0U);
  DeviceBuffer held;
  {
    const MemPoolGuard guard(pool);
    held = DeviceBuffer(30 * kMiB);
    DeviceBuffer(40 * kMiB).reset();
  }
  const DeviceBuffer outside(kKiB);
  EXPECT_EQ(memory_reserved(), 72 * kMiB);
  EXPECT_EQ(pool.trim(), 40 * kMiB);
  EXPECT_EQ(memory_reserved(), 32 * kMiB);
  held.reset();
  EXPECT_EQ(pool.trim(), 30 * kMiB);
  EXPECT_EQ(pool.trim(), 0U);
  EXPECT_EQ(memory_reserved(), 2 * kMiB);
}

TEST_F(MemoryPoolTest, MemoryOutlivesItsPool) {
  DeviceBuffer held;
  {
    const MemPool pool;
    const MemPoolGuard guard(pool);
    held = DeviceBuffer(30 * kMiB);
    DeviceBuffer(kKiB).reset();
  }
  EXPECT_EQ(memory_allocated(), 30 * kMiB);
  EXPECT_EQ(allocator::getUsableBytes(held.get()), 30 * kMiB);
  held.reset();
  EXPECT_EQ(memory_allocated(), 0U);
  empty_cache();
  EXPECT_EQ(memory_reserved(), 0U) << "nothing of a dead pool stays behind";
}

TEST_F(MemoryPoolTest, ADeadPoolsMemoryIsGivenBackBeforeGivingUp) {
  allocator::setMemoryFraction(fraction_of(64 * kMiB));
  {
    const MemPool pool;
    const MemPoolGuard guard(pool);
    DeviceBuffer(40 * kMiB).reset();
  }
  EXPECT_NO_THROW(allocator::raw_delete(allocator::raw_alloc(50 * kMiB)));
}

TEST_F(MemoryPoolTest, BeginningAndEndingComeInPairs) {
  const MemPool pool;
  EXPECT_EQ(sconce_memory_pool_end(pool.get(), 0), SCONCE_ERROR_INVALID_STATE);
  {
    const MemPoolGuard guard(pool);
    const sconce::Error error = error_of([&] { const MemPoolGuard again(pool); });
    EXPECT_EQ(error.status(), SCONCE_ERROR_INVALID_STATE);
    EXPECT_EQ(sconce_memory_pool_destroy(pool.get()), SCONCE_ERROR_INVALID_STATE);
    std::thread([&] {
      EXPECT_EQ(sconce_memory_pool_end(pool.get(), 0), SCONCE_ERROR_INVALID_STATE)
          << "another thread has not begun";
    }).join();
  }
  EXPECT_EQ(sconce_memory_pool_end(pool.get(), 0), SCONCE_ERROR_INVALID_STATE);
  EXPECT_EQ(status_of([&] { const MemPoolGuard guard(pool, device_count()); }),
            SCONCE_ERROR_INVALID_DEVICE);
}

TEST_F(MemoryPoolTest, AGuardEndsOnTheDeviceItBegan) {
  SCONCE_NEED_DEVICES(2);
  const MemPool pool;
  {
    const MemPoolGuard guard(pool);
    set_device(1);
  }
  set_device(0);
  EXPECT_EQ(sconce_memory_pool_end(pool.get(), 0), SCONCE_ERROR_INVALID_STATE) << "it has ended";
}

TEST_F(MemoryPoolTest, APoolOfPagesReservesWholePages) {
  for (const auto& [policy, bytes] :
       {std::pair(MemPolicy::Pages, 4 * kMiB), std::pair(MemPolicy::Segments, 20 * kMiB)}) {
    MemPool pool(policy);
    {
      const MemPoolGuard guard(pool);
      const DeviceBuffer inside(3 * kMiB);
      EXPECT_EQ(memory_reserved(), bytes);
    }
    EXPECT_EQ(pool.trim(), bytes);
  }
  sconce_memory_pool* pool = nullptr;
  EXPECT_EQ(sconce_memory_pool_create_with_policy(3, &pool), SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(contains(sconce_last_error_message(), "policy is 3"));
  EXPECT_EQ(pool, nullptr);
}

TEST_F(MemoryPoolTest, AFixedPoolKeepsItsMemory) {
  for (const MemPolicy policy : {MemPolicy::Pages, MemPolicy::Segments}) {
    MemPool pool(policy);
    void* address = nullptr;
    {
      const MemPoolGuard guard(pool);
      address = DeviceBuffer(12 * kMiB).get();
    }
    EXPECT_FALSE(pool.is_fixed());
    pool.set_fixed();
    EXPECT_TRUE(pool.is_fixed());
    EXPECT_EQ(pool.trim(), 0U);
    allocator::emptyCache();
    EXPECT_EQ(memory_reserved(), 12 * kMiB);
    EXPECT_EQ(status_of([&] { pool.sleep(); }), SCONCE_ERROR_INVALID_STATE);
    EXPECT_TRUE(contains(sconce_last_error_message(), "sconce_memory_pool_set_fixed"));
    EXPECT_EQ(sconce_memory_pool_destroy(pool.get()), SCONCE_ERROR_INVALID_STATE);
    {
      const MemPoolGuard guard(pool);
      EXPECT_EQ(DeviceBuffer(12 * kMiB).get(), address);
    }
    pool.set_fixed(false);
    EXPECT_FALSE(pool.is_fixed());
    EXPECT_EQ(pool.trim(), 12 * kMiB);
  }
  bool fixed = true;
  EXPECT_EQ(sconce_memory_pool_set_fixed(nullptr, true), SCONCE_ERROR_INVALID_HANDLE);
  EXPECT_EQ(sconce_memory_pool_is_fixed(nullptr, &fixed), SCONCE_ERROR_INVALID_HANDLE);
  EXPECT_TRUE(fixed) << "nothing is written after an error";
}

TEST_F(MemoryPoolTest, UnusedMemoryOfAPoolStaysUntilItIsTrimmedOrThePoolIsGone) {
  for (const MemPolicy policy : {MemPolicy::Segments, MemPolicy::Pages}) {
    DeviceBuffer kept;
    {
      MemPool pool(policy);
      const MemPoolGuard guard(pool);
      kept = DeviceBuffer(20 * kMiB);
      DeviceBuffer unused(40 * kMiB);
      DeviceBuffer more(60 * kMiB);
      unused.reset();
      more.reset();
      empty_cache();
      EXPECT_EQ(memory_reserved(), 120 * kMiB) << "the pool keeps what it does not use";
      EXPECT_EQ(pool.trim(), 100 * kMiB);
      EXPECT_EQ(memory_reserved(), 20 * kMiB);
      DeviceBuffer(40 * kMiB).reset();
    }
    EXPECT_EQ(memory_reserved(), 20 * kMiB) << "the end of a pool trims it";
    kept.reset();
    empty_cache();
    EXPECT_EQ(memory_reserved(), 0U) << "memory of pools that are gone is returned";
  }
}

TEST_F(MemoryPoolTest, BesideACaptureOnlyOtherDevicesAreEmptied) {
  SCONCE_NEED_DEVICES(2);
  {
    const CUDAGuard other(1);
    DeviceBuffer(20 * kMiB).reset();
  }
  DeviceBuffer(20 * kMiB).reset();
  MemPool pool;
  {
    const MemPoolGuard guard(pool);
    DeviceBuffer(20 * kMiB).reset();
  }
  DeviceBuffer captured(kMiB);
  const CUDAStreamGuard stream(getStreamFromPool());
  CUDAGraph graph;
  GraphGuard capture(graph, MempoolId{}, CaptureMode::ThreadLocal);
  memory_set(captured.get(), 0, kMiB);
  for (const bool on_another_thread : {false, true}) {
    const auto fails = [&] {
      EXPECT_EQ(support::status_of([] { empty_cache(); }), SCONCE_ERROR_INVALID_STATE);
      EXPECT_EQ(support::status_of([&] { (void)pool.trim(); }), SCONCE_ERROR_INVALID_STATE);
    };
    on_another_thread ? std::thread(fails).join() : fails();
    EXPECT_GE(memory_reserved(0), 20 * kMiB);
    EXPECT_EQ(memory_reserved(1), 0U);
  }
  capture.end();
  EXPECT_NO_THROW(graph.replay()) << "the capture went on";
  empty_cache();
}

TEST_F(MemoryPoolTest, PagesAreCountedApartFromMemory) {
  allocator::setAllocatorSettings("policy:pages");
  std::vector<DeviceBuffer> blocks;
  for (int i = 0; i < 8; ++i) blocks.emplace_back(2 * kMiB);
  EXPECT_EQ(page_figures().pages, 8U);
  EXPECT_EQ(page_figures().page_bytes, memory_reserved());
  EXPECT_EQ(page_figures().alias_bytes, 0U);
  for (std::size_t i = 0; i < blocks.size(); i += 2) blocks[i].reset();
  DeviceBuffer joined(8 * kMiB);  // of four pages that were free, one of them where it is
  const PageFigures figures = page_figures(0);
  EXPECT_EQ(figures.pages, 8U);
  EXPECT_EQ(figures.aliases_made, 3U);
  EXPECT_EQ(figures.mappings, 11U);
  EXPECT_EQ(figures.alias_bytes, 6 * kMiB);
  EXPECT_EQ(memory_reserved(), 16 * kMiB) << "aliases are no memory";
  joined.reset();
  blocks.clear();
  allocator::emptyCache();
  EXPECT_EQ(page_figures().pages, 0U);
  EXPECT_EQ(page_figures().alias_bytes, 0U);
}

TEST_F(MemoryPoolTest, DeadHandlesAreRecognised) {
  sconce_memory_pool* pool = nullptr;
  ASSERT_EQ(sconce_memory_pool_create(&pool), SCONCE_OK);
  EXPECT_EQ(sconce_memory_pool_destroy(nullptr), SCONCE_OK);
  EXPECT_EQ(sconce_memory_pool_destroy(pool), SCONCE_OK);
  EXPECT_EQ(sconce_memory_pool_destroy(pool), SCONCE_ERROR_INVALID_HANDLE);
  EXPECT_EQ(sconce_memory_pool_begin(pool, 0), SCONCE_ERROR_INVALID_HANDLE);
  std::size_t bytes = 7;
  EXPECT_EQ(sconce_memory_pool_trim(pool, &bytes), SCONCE_ERROR_INVALID_HANDLE);
  EXPECT_EQ(bytes, 7U);
  EXPECT_EQ(sconce_memory_pool_begin(nullptr, 0), SCONCE_ERROR_INVALID_HANDLE);
  EXPECT_TRUE(contains(sconce_last_error_message(), "sconce_memory_pool_create"));
  EXPECT_EQ(sconce_memory_pool_create(nullptr), SCONCE_ERROR_INVALID_ARGUMENT);
}

}  // namespace
