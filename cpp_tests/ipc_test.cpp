// Memory between processes, as far as one process can test it: handles, and refusals.
// process/ipc_memory.cpp and process/ipc_opened_memory.cpp have the second process.
#include <cstring>
#include <limits>
#include <sconce/cuda/ipc.hpp>
#include <type_traits>
#include <utility>

#include "memory_support.hpp"

namespace {

using namespace sconce::cuda;
using support::contains;
using support::error_of;
using support::kKiB;
using support::status_of;

class IpcTest : public support::MemoryFixture {};

static_assert(std::is_trivially_copyable_v<IpcMemoryHandle>, "a handle is sent as its bytes");
static_assert(std::is_nothrow_move_constructible_v<OpenedMemory> &&
                  std::is_nothrow_move_assignable_v<OpenedMemory> &&
                  !std::is_copy_constructible_v<OpenedMemory>,
              "an opening has one owner");

bool same_allocation(const IpcMemoryHandle& a, const IpcMemoryHandle& b) {
  return a.handle == b.handle;
}

TEST_F(IpcTest, AHandleNamesTheAllocationAndThePlaceInIt) {
  DeviceBuffer first(1000);
  DeviceBuffer second = DeviceBuffer::of<float>(100);
  const IpcMemoryHandle whole = ipc_memory_handle(first);
  EXPECT_EQ(whole.bytes, 1000U);
  EXPECT_TRUE(same_allocation(whole, ipc_memory_handle(first))) << "the same every time";
  const IpcMemoryHandle neighbour = ipc_memory_handle(second);
  EXPECT_TRUE(same_allocation(whole, neighbour)) << "both are cut from one segment";
  EXPECT_EQ(neighbour.offset_bytes, whole.offset_bytes + 1024);
  EXPECT_EQ(neighbour.bytes, 400U);
  const IpcMemoryHandle part = ipc_memory_handle(second.span<float>().subspan(10, 20));
  EXPECT_EQ(part.offset_bytes, neighbour.offset_bytes + 40);
  EXPECT_EQ(part.bytes, 80U);
  DeviceBuffer elsewhere(30 << 20);
  EXPECT_FALSE(same_allocation(whole, ipc_memory_handle(elsewhere)));
}

TEST_F(IpcTest, AConstBufferIsSharedLikeAnyOther) {
  DeviceBuffer buffer(1000);
  const DeviceBuffer& read_only = buffer;
  const IpcMemoryHandle handle = ipc_memory_handle(read_only);
  EXPECT_TRUE(same_allocation(handle, ipc_memory_handle(buffer)));
  EXPECT_EQ(handle.bytes, 1000U);
}

TEST_F(IpcTest, NoHandleIsForMoreBytesThanTheAllocationHas) {
  DeviceBuffer first(kKiB);
  DeviceBuffer memory(kKiB);
  EXPECT_EQ(ipc_memory_handle(memory.get(), kKiB).bytes, kKiB);
  const auto refused = [](void* ptr, std::size_t bytes, std::size_t left) {
    const sconce::Error error = error_of([&] { (void)ipc_memory_handle(ptr, bytes); });
    EXPECT_EQ(error.status(), SCONCE_ERROR_INVALID_ARGUMENT);
    EXPECT_TRUE(contains(error.what(), "bytes is " + std::to_string(bytes)));
    EXPECT_TRUE(contains(error.what(), std::to_string(left) + " are left"));
  };
  for (const std::size_t bytes : {kKiB + 1, std::numeric_limits<std::size_t>::max()}) {
    refused(memory.get(), bytes, kKiB);
  }
  // Inside a block the limit is that of the driver allocation.
  std::size_t allocated = 0;
  char* const inside = memory.data<char>() + 40;
  const void* const base = CUDACachingAllocator::getBaseAllocation(inside, &allocated);
  const std::size_t left =
      allocated - static_cast<std::size_t>(inside - static_cast<const char*>(base));
  EXPECT_EQ(ipc_memory_handle(inside, left).bytes, left);
  refused(inside, left + 1, left);
}

TEST_F(IpcTest, OnlyDeviceMemoryHasAHandle) {
  int ordinary = 0;
  EXPECT_EQ(status_of([&] { (void)ipc_memory_handle(&ordinary, sizeof(ordinary)); }),
            SCONCE_ERROR_INVALID_ARGUMENT);
  DeviceBuffer nothing;
  EXPECT_EQ(status_of([&] { (void)ipc_memory_handle(nothing); }), SCONCE_ERROR_INVALID_ARGUMENT);
  DeviceBuffer memory(kKiB);
  void* const freed = memory.get();
  memory.reset();
  EXPECT_EQ(status_of([&] { (void)ipc_memory_handle(freed, kKiB); }),
            SCONCE_ERROR_INVALID_ARGUMENT);
}

TEST_F(IpcTest, TheExportingProcessCannotOpenItsOwn) {
  DeviceBuffer memory(kKiB);
  const IpcMemoryHandle handle = ipc_memory_handle(memory);
  EXPECT_EQ(status_of([&] { (void)OpenedMemory(handle); }), SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(status_of([&] { (void)OpenedMemory(handle, device_count()); }),
            SCONCE_ERROR_INVALID_DEVICE);
}

TEST_F(IpcTest, WhatIsNoHandleIsRefused) {
  IpcMemoryHandle invented;
  invented.handle.fill(0xab);
  invented.bytes = kKiB;
  const sconce::Status status = status_of([&] { (void)OpenedMemory(invented); });
  EXPECT_TRUE(status == SCONCE_ERROR_INVALID_ARGUMENT || status == SCONCE_ERROR_INVALID_HANDLE)
      << sconce_last_error_message();
}

TEST_F(IpcTest, OnlyWhatIsOpenIsClosed) {
  EXPECT_EQ(sconce_ipc_close_memory(nullptr), SCONCE_OK);
  DeviceBuffer memory(kKiB);
  EXPECT_EQ(sconce_ipc_close_memory(memory.get()), SCONCE_ERROR_INVALID_ARGUMENT);
  OpenedMemory nothing;
  EXPECT_FALSE(nothing);
  EXPECT_EQ(nothing.bytes(), 0U);
  EXPECT_TRUE(nothing.span<float>().empty());
  EXPECT_EQ(nothing.size<float>(), 0U);
  EXPECT_EQ(nothing.data<float>(), nullptr);
  EXPECT_EQ(nothing.release(), nullptr);
  EXPECT_NO_THROW(nothing.close());
}

TEST_F(IpcTest, PlacesThatCannotBeWrittenAreNamed) {
  DeviceBuffer memory(kKiB);
  std::size_t offset = 0;
  std::uint8_t handle[SCONCE_IPC_HANDLE_BYTES] = {};
  EXPECT_EQ(sconce_ipc_get_memory_handle(memory.get(), nullptr, &offset),
            SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(support::contains(sconce_last_error_message(), "out_handle"));
  EXPECT_EQ(sconce_ipc_get_memory_handle(memory.get(), handle, nullptr),
            SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(sconce_ipc_open_memory(0, nullptr, 0, nullptr), SCONCE_ERROR_INVALID_ARGUMENT);
}

TEST_F(IpcTest, CollectingFindsNothingToFree) {
  DeviceBuffer memory(kKiB);
  (void)ipc_memory_handle(memory);
  memory.reset();
  EXPECT_NO_THROW(ipc_collect());
  const auto timeout = ipc_timeout();
  set_ipc_timeout(std::chrono::milliseconds(1500));
  EXPECT_EQ(ipc_timeout(), std::chrono::milliseconds(1500));
  EXPECT_THROW(set_ipc_timeout(std::chrono::milliseconds(0)), sconce::Error);
  set_ipc_timeout(timeout);
  empty_cache();
  EXPECT_EQ(memory_reserved(), 0U) << "nobody has opened it";
}

}  // namespace
