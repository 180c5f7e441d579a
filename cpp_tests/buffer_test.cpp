// Buffers: ownership and views.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <sconce/cuda/buffer.hpp>
#include <sconce/cuda/guard.hpp>
#include <type_traits>
#include <utility>

#include "host_memory_support.hpp"

namespace {

using namespace sconce::cuda;
using namespace std::chrono_literals;
using support::contains;
using support::error_of;
using support::kKiB;
using support::status_of;

class DeviceBufferTest : public support::MemoryFixture {};
class PinnedBufferTest : public support::HostMemoryFixture {};

template <class Buffer>
constexpr bool has_one_owner =
    std::is_nothrow_move_constructible_v<Buffer>&& std::is_nothrow_move_assignable_v<Buffer>&&
        std::is_nothrow_swappable_v<Buffer> &&
    !std::is_copy_constructible_v<Buffer> && !std::is_copy_assignable_v<Buffer>;
static_assert(has_one_owner<DeviceBuffer> && has_one_owner<PinnedBuffer>, "memory has one owner");
static_assert(!std::is_convertible_v<std::size_t, DeviceBuffer> &&
                  !std::is_convertible_v<std::size_t, PinnedBuffer> &&
                  !std::is_convertible_v<DeviceBuffer, bool>,
              "numbers and buffers do not become each other by accident");

template <class Buffer>
using View = decltype(std::declval<Buffer&>().template span<int>());
static_assert(std::is_same_v<View<DeviceBuffer>, DeviceSpan<int>> &&
                  std::is_same_v<View<const DeviceBuffer>, DeviceSpan<const int>> &&
                  std::is_same_v<View<PinnedBuffer>, Span<int>> &&
                  std::is_same_v<View<const PinnedBuffer>, Span<const int>>,
              "a const buffer is read only");
static_assert(
    std::is_same_v<decltype(std::declval<const DeviceBuffer&>().get()), const void*> &&
        std::is_same_v<decltype(std::declval<const PinnedBuffer&>().data<int>()), const int*>,
    "by its address, too");

TEST_F(DeviceBufferTest, AnOwnerFreesOnce) {
  DeviceBuffer memory(1000);
  void* const address = memory.get();
  EXPECT_TRUE(memory);
  EXPECT_EQ(memory.bytes(), 1000U);
  DeviceBuffer moved = std::move(memory);
  EXPECT_EQ(moved.get(), address);
  EXPECT_FALSE(memory);  // NOLINT: what a moved-from owner is, is promised
  EXPECT_EQ(memory.bytes(), 0U);
  EXPECT_EQ(memory_stats().allocation.all.current, 1);
  moved = DeviceBuffer(2000);
  EXPECT_EQ(memory_stats().allocation.all.current, 1);
  void* const released = moved.release();
  EXPECT_FALSE(moved);
  EXPECT_EQ(moved.bytes(), 0U);
  moved.reset();
  EXPECT_EQ(memory_stats().allocation.all.current, 1);
  CUDACachingAllocator::raw_delete(released);
  EXPECT_EQ(memory_stats().allocation.all.current, 0);
}

TEST_F(DeviceBufferTest, ElementsAreAllocatedForAStream) {
  const CUDAStream stream = getStreamFromPool();
  DeviceBuffer memory = DeviceBuffer::of<double>(100, stream);
  EXPECT_EQ(memory.bytes(), 800U);
  void* const freed = memory.get();
  memory.reset();
  EXPECT_NE(DeviceBuffer::of<double>(100).get(), freed) << "that is for the current stream";
  EXPECT_EQ(DeviceBuffer::of<double>(100, stream).get(), freed);
  SCONCE_NEED_DEVICES(2);
  const DeviceBuffer there = DeviceBuffer::of<double>(100, getDefaultCUDAStream(1));
  EXPECT_EQ(getDeviceFromPtr(there.get()).index(), 1);
}

TEST_F(DeviceBufferTest, NotedStreamsAreWaitedFor) {
  const CUDAStream other = getStreamFromPool();
  DeviceBuffer memory(kKiB);
  void* const used = memory.get();
  sleep(200ms, other);
  memory.record_stream(other);
  memory.reset();
  DeviceBuffer meanwhile(kKiB);
  EXPECT_NE(meanwhile.get(), used);
  other.synchronize();
  EXPECT_EQ(DeviceBuffer(kKiB).get(), used);
}

TEST_F(PinnedBufferTest, AnOwnerFreesOnce) {
  const auto held = [] { return host_memory_stats().active_requests.current; };
  PinnedBuffer memory(1000);
  void* const address = memory.get();
  EXPECT_TRUE(CachingHostAllocator::isPinned(address));
  PinnedBuffer moved = std::move(memory);
  EXPECT_EQ(moved.get(), address);
  EXPECT_FALSE(memory);  // NOLINT: what a moved-from owner is, is promised
  EXPECT_EQ(memory.bytes(), 0U);
  moved = PinnedBuffer(2000);
  EXPECT_EQ(held(), 1);
  void* const released = moved.release();
  moved.reset();
  EXPECT_EQ(held(), 1);
  CachingHostAllocator::raw_delete(released);
  EXPECT_EQ(held(), 0);
}

TEST_F(PinnedBufferTest, NotedStreamsAreWaitedFor) {
  const CUDAStream stream = getStreamFromPool();
  PinnedBuffer memory(kKiB);
  void* const used = memory.get();
  sleep(200ms, stream);
  memory.record_stream(stream);
  memory.reset();
  const PinnedBuffer meanwhile(kKiB);
  EXPECT_NE(meanwhile.get(), used);
  stream.synchronize();
  EXPECT_EQ(PinnedBuffer(kKiB).get(), used);
}

TEST_F(PinnedBufferTest, TheHostUsesItsElements) {
  PinnedBuffer memory = PinnedBuffer::of<float>(100);
  EXPECT_EQ(memory.size<float>(), 100U);
  std::fill(memory.span<float>().begin(), memory.span<float>().end(), 1.5F);
  memory.data<float>()[99] = 2.5F;
  const PinnedBuffer& read_only = memory;
  EXPECT_EQ(read_only.span<float>()[98], 1.5F);
  EXPECT_EQ(read_only.data<float>()[99], 2.5F);
}

// Views of both kinds of buffers.
template <class Buffer>
void expect_views() {
  Buffer memory(100);
  EXPECT_EQ(memory.template size<float>(), 25U);
  EXPECT_EQ(memory.template span<float>().size(), 25U);
  EXPECT_EQ(static_cast<void*>(memory.template data<float>()), memory.get());
  EXPECT_EQ(memory.template span<std::byte>().size(), 100U);

  const sconce::Error left_over = error_of([&] { (void)memory.template span<double>(); });
  EXPECT_EQ(left_over.status(), SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(contains(left_over.what(), "100 bytes are not a whole number of elements of 8"));
  EXPECT_THROW((void)memory.template size<double>(), sconce::Error);
  EXPECT_THROW((void)memory.template data<double>(), sconce::Error);

  const auto part = memory.template span<double>(8, 11);
  EXPECT_EQ(part.size(), 11U);
  EXPECT_EQ(static_cast<void*>(part.data()), support::further(memory.get(), 8));
  EXPECT_TRUE(memory.template span<double>(96, 0).empty());
  const sconce::Error outside = error_of([&] { (void)memory.template span<double>(8, 12); });
  EXPECT_EQ(outside.status(), SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(contains(outside.what(),
                       "12 elements of 8 bytes from byte 8 on leave a buffer of 100 bytes"));
  constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max();
  EXPECT_THROW((void)memory.template span<double>(0, kMost / 8 + 2), sconce::Error);
  EXPECT_THROW((void)memory.template span<char>(kMost, 1), sconce::Error);
  const sconce::Error askew = error_of([&] { (void)memory.template span<float>(2, 1); });
  EXPECT_EQ(askew.status(), SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(contains(askew.what(), "behind a multiple of 4, their alignment"));

  const sconce::Error too_many =
      error_of([&] { (void)Buffer::template of<double>(kMost / 8 + 1); });
  EXPECT_EQ(too_many.status(), SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(contains(too_many.what(), "elements of 8 bytes"));

  Buffer nothing = Buffer::template of<double>(0);
  EXPECT_FALSE(nothing);
  EXPECT_EQ(nothing.template data<double>(), nullptr);
  EXPECT_TRUE(nothing.template span<double>().empty());
  EXPECT_TRUE(Buffer().template span<double>().empty());

  void* const address = memory.get();
  swap(memory, nothing);
  EXPECT_EQ(nothing.get(), address);
  EXPECT_EQ(nothing.bytes(), 100U);
  EXPECT_FALSE(memory);
}

TEST_F(DeviceBufferTest, ViewsAreChecked) { expect_views<DeviceBuffer>(); }

TEST_F(PinnedBufferTest, ViewsAreChecked) { expect_views<PinnedBuffer>(); }

}  // namespace
