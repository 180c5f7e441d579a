// Pools that sleep and wake: addresses and bytes stay, and what a sleeping pool refuses.
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <numeric>
#include <optional>
#include <sconce/cuda/copy.hpp>
#include <sconce/tensor/tensor.hpp>
#include <string>
#include <vector>

#include "memory_support.hpp"

namespace {

using namespace sconce::cuda;
namespace allocator = sconce::cuda::CUDACachingAllocator;
using support::contains;
using support::error_of;
using support::kKiB;
using support::kMiB;
using support::status_of;

void copy(void* dst, const void* src, std::size_t bytes) { copy_(dst, src, bytes); }

/// What `action` throws, in words.
template <class Action>
std::string words_of(Action&& action) {
  return error_of(action).what();
}

/// A pool of pages with a block that has known values.
class MemorySleepTest : public support::MemoryFixture {
 protected:
  void SetUp() override {
    support::MemoryFixture::SetUp();
    if (IsSkipped()) return;
    values_.resize(3 * kMiB / sizeof(int));
    std::iota(values_.begin(), values_.end(), 5);
    pool_.emplace(MemPolicy::Pages);
    const MemPoolGuard guard(*pool_);
    block_ = DeviceBuffer(values_.size() * sizeof(int));
    copy(block_.get(), values_.data(), block_.bytes());
  }

  void TearDown() override {
    block_.reset();
    pool_.reset();
    support::MemoryFixture::TearDown();
  }

  [[nodiscard]] std::vector<int> read() const {
    std::vector<int> found(values_.size());
    copy(found.data(), block_.get(), block_.bytes());
    return found;
  }

  std::vector<int> values_;
  std::optional<MemPool> pool_;
  DeviceBuffer block_;
};

TEST_F(MemorySleepTest, BytesComeBackFromEachPlace) {
  void* const address = block_.get();
  for (const SleepPlace& place :
       {SleepPlace::host_pinned(), SleepPlace::host_pageable(), SleepPlace::file(".")}) {
    const std::size_t before = memory_reserved();
    pool_->sleep(place);
    const SleepState state = pool_->sleep_state();
    EXPECT_EQ(state.mode, place.mode());
    EXPECT_EQ(state.saved_bytes, block_.bytes());
    EXPECT_GE(state.sleeping_bytes, block_.bytes());
    EXPECT_EQ(memory_reserved(), before - state.sleeping_bytes);
    EXPECT_EQ(allocator::getDeviceStats(0).sleeping_bytes,
              static_cast<std::int64_t>(state.sleeping_bytes));
    EXPECT_GE(memory_allocated(), block_.bytes()) << "the caller still holds the block";
    pool_->wake();
    EXPECT_EQ(pool_->sleep_state().mode, SleepMode::Awake);
    EXPECT_EQ(pool_->sleep_state().sleeping_bytes, 0U);
    EXPECT_EQ(allocator::getDeviceStats(0).sleeping_bytes, 0);
    EXPECT_EQ(block_.get(), address);
    EXPECT_EQ(read(), values_);
  }
}

TEST_F(MemorySleepTest, AFileLeavesNothingInItsFolder) {
  const auto folder = std::filesystem::temp_directory_path() /
                      ("sconce_sleep_" + std::to_string(static_cast<long>(::getpid())));
  std::filesystem::create_directory(folder);
  pool_->sleep(SleepPlace::file(folder.string()));
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  pool_->wake();
  EXPECT_EQ(read(), values_);
  std::filesystem::remove_all(folder);
  EXPECT_EQ(status_of([&] { pool_->sleep(SleepPlace::file(folder.string())); }), SCONCE_ERROR_IO);
  EXPECT_EQ(read(), values_) << "the pool is awake after the failure";
}

TEST_F(MemorySleepTest, DiscardedAndEmptyMemoryKeepsItsAddress) {
  void* const address = block_.get();
  pool_->sleep(SleepPlace::discard());
  EXPECT_EQ(pool_->sleep_state().saved_bytes, 0U);
  pool_->wake();
  copy(block_.get(), values_.data(), block_.bytes());
  pool_->sleep();
  pool_->wake(WakeMode::Empty);
  EXPECT_EQ(block_.get(), address);
  copy(block_.get(), values_.data(), block_.bytes());
  EXPECT_EQ(read(), values_) << "the memory can be used";
}

TEST_F(MemorySleepTest, WorkOnASleepingPoolIsRefusedWithWords) {
  pool_->sleep();
  std::vector<int> found(4);
  EXPECT_EQ(status_of([&] { copy(found.data(), block_.get(), 16); }), SCONCE_ERROR_INVALID_STATE);
  EXPECT_TRUE(contains(words_of([&] { copy(found.data(), block_.get(), 16); }), "asleep"));
  {
    const MemPoolGuard guard(*pool_);
    EXPECT_TRUE(contains(words_of([] { DeviceBuffer(kKiB).reset(); }), "asleep"));
  }
  EXPECT_EQ(status_of([&] { pool_->sleep(); }), SCONCE_ERROR_INVALID_STATE);
  EXPECT_NO_THROW(DeviceBuffer(kKiB).reset()) << "other pools are awake";
  EXPECT_NO_THROW(allocator::emptyCache());
  EXPECT_NO_THROW((void)allocator::snapshot());
  pool_->wake();
  EXPECT_EQ(status_of([&] { pool_->wake(); }), SCONCE_ERROR_INVALID_STATE);
  EXPECT_EQ(read(), values_);
}

TEST_F(MemorySleepTest, ABlockMayBeFreedWhileItsPoolSleeps) {
  pool_->sleep();
  block_.reset();
  allocator::emptyCache();
  EXPECT_EQ(pool_->sleep_state().sleeping_bytes, 0U) << "nothing is left that could wake";
  pool_->wake();
  EXPECT_EQ(pool_->sleep_state().mode, SleepMode::Awake);
}

TEST_F(MemorySleepTest, BytesCanBeReplacedWhileAPoolSleeps) {
  EXPECT_EQ(status_of([&] { (void)pool_->backup_pointer(block_.get()); }),
            SCONCE_ERROR_INVALID_STATE);
  pool_->sleep(SleepPlace::host_pageable());
  auto* const host = static_cast<int*>(pool_->backup_pointer(block_.get()));
  EXPECT_EQ(std::memcmp(host, values_.data(), block_.bytes()), 0);
  host[1] = values_[1] = -7;
  pool_->wake();
  EXPECT_EQ(read(), values_);
}

TEST_F(MemorySleepTest, ADeviceSleepsWithAllItsPools) {
  allocator::setAllocatorSettings("policy:pages");
  const MemPool other;
  DeviceBuffer of_other;
  {
    const MemPoolGuard guard(other);
    of_other = DeviceBuffer(kMiB);
  }
  const DeviceBuffer of_default(kMiB);
  sleep_device();
  EXPECT_EQ(pool_->sleep_state().mode, SleepMode::HostPinned);
  EXPECT_EQ(other.sleep_state().mode, SleepMode::HostPinned);
  EXPECT_EQ(default_pool_sleep_state().mode, SleepMode::HostPinned);
  EXPECT_EQ(memory_reserved(), 0U);
  pool_->wake();
  EXPECT_EQ(read(), values_) << "one of several wakes alone";
  EXPECT_EQ(other.sleep_state().mode, SleepMode::HostPinned);
  wake_device();
  EXPECT_EQ(other.sleep_state().mode, SleepMode::Awake);
  EXPECT_EQ(default_pool_sleep_state().mode, SleepMode::Awake);
}

TEST_F(MemorySleepTest, TheDefaultPoolSleeps) {
  allocator::setAllocatorSettings("policy:pages");
  DeviceBuffer block(kMiB);
  std::vector<char> bytes(kMiB, 'x');
  copy(block.get(), bytes.data(), kMiB);
  sleep_default_pool(SleepPlace::host_pageable());
  static_cast<char*>(default_pool_backup_pointer(block.get()))[3] = 'y';
  EXPECT_TRUE(contains(words_of([] { DeviceBuffer(kKiB).reset(); }), "asleep"));
  wake_default_pool();
  std::vector<char> found(kMiB);
  copy(found.data(), block.get(), kMiB);
  bytes[3] = 'y';
  EXPECT_EQ(found, bytes);
}

TEST_F(MemorySleepTest, SegmentsCannotSleep) {
  const MemPool segments(MemPolicy::Segments);
  DeviceBuffer block;
  {
    const MemPoolGuard guard(segments);
    block = DeviceBuffer(kMiB);
  }
  MemPool& pool = const_cast<MemPool&>(segments);
  EXPECT_EQ(status_of([&] { pool.sleep(); }), SCONCE_ERROR_NOT_SUPPORTED);
  EXPECT_TRUE(contains(words_of([&] { pool.sleep(); }), "policy:pages"));
  EXPECT_EQ(pool.sleep_state().mode, SleepMode::Awake);
}

TEST_F(MemorySleepTest, BadArgumentsAreNamed) {
  sconce_sleep_desc desc = SCONCE_SLEEP_DESC_INIT;
  const auto words = [&] {
    EXPECT_EQ(sconce_memory_pool_sleep(pool_->get(), -1, &desc), SCONCE_ERROR_INVALID_ARGUMENT);
    return std::string(sconce_last_error_message());
  };
  desc.mode = SCONCE_SLEEP_NONE;
  desc.path = ".";
  EXPECT_TRUE(contains(words(), "desc.mode"));
  desc.mode = SCONCE_SLEEP_HOST_PINNED;
  EXPECT_TRUE(contains(words(), "desc.path"));
  desc.mode = SCONCE_SLEEP_FILE;
  desc.path = nullptr;
  EXPECT_TRUE(contains(words(), "desc.path"));
  desc.path = "";
  EXPECT_TRUE(contains(words(), "desc.path"));
  EXPECT_EQ(sconce_memory_pool_wake(pool_->get(), -1, 2), SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(status_of([&] { pool_->sleep(SleepPlace::discard(), 99); }),
            SCONCE_ERROR_INVALID_DEVICE);
  EXPECT_EQ(read(), values_);
}

TEST_F(MemorySleepTest, TensorsStayValid) {
  sconce::Tensor tensor;
  {
    const MemPoolGuard guard(*pool_);
    tensor = sconce::arange(1000, sconce::device(0).dtype(sconce::kInt));
  }
  const sconce::Tensor view = tensor.narrow(0, 10, 5);
  pool_->sleep();
  EXPECT_TRUE(contains(words_of([&] { (void)view.add(1); }), "asleep"));
  pool_->wake();
  EXPECT_EQ(view.sum().item<std::int64_t>(), 10 + 11 + 12 + 13 + 14);
}

}  // namespace
