// Devices: the current one of each thread, and the properties of each.
#include <cstdint>
#include <cstring>
#include <future>
#include <limits>
#include <sconce/cuda/device.hpp>
#include <thread>
#include <unordered_set>

#include "fixture.hpp"

namespace {

using namespace sconce::cuda;
using support::contains;
using support::error_of;
using support::status_of;

class DeviceTest : public support::DeviceFixture {};

TEST_F(DeviceTest, AValueNamesADeviceOrTheCurrentOne) {
  static_assert(!Device().has_index(), "no index means the current device");
  static_assert(Device(1) == Device(1) && Device(1) != Device(0), "devices compare by index");
  EXPECT_EQ(Device(1).str(), "cuda:1");
  EXPECT_EQ(Device().str(), "cuda");
  EXPECT_EQ((std::unordered_set<Device>{Device(0), Device(1), Device(0)}.size()), 2U);
}

TEST_F(DeviceTest, ThereIsADevice) {
  EXPECT_TRUE(is_available());
  EXPECT_TRUE(sconce::is_initialized());
  EXPECT_GE(device_count(), 1);
  EXPECT_EQ(device_count(), device_count_ensure_non_zero());
  if (!support::wants_cuda()) {
    EXPECT_EQ(device_count(), support::kSimulatedDevices);
    EXPECT_EQ(sconce::active_backend(), sconce::Backend::Sim);
  }
}

TEST_F(DeviceTest, SettingChangesTheCurrentDevice) {
  SCONCE_NEED_DEVICES(2);
  EXPECT_EQ(current_device(), 0);
  set_device(1);
  EXPECT_EQ(current_device(), 1);
  set_device(-1);
  EXPECT_EQ(current_device(), 1) << "a negative index is a no-op";
}

TEST_F(DeviceTest, SettingADeviceThatDoesNotExistChangesNothing) {
  EXPECT_EQ(status_of([] { set_device(device_count()); }), SCONCE_ERROR_INVALID_DEVICE);
  EXPECT_EQ(status_of([] { set_device(1 << 20); }), SCONCE_ERROR_INVALID_DEVICE);
  EXPECT_EQ(current_device(), 0);
}

TEST_F(DeviceTest, ExchangingReturnsWhatWasCurrent) {
  SCONCE_NEED_DEVICES(2);
  EXPECT_EQ(ExchangeDevice(1), 0);
  EXPECT_EQ(ExchangeDevice(-1), 1) << "-1 changes nothing";
  EXPECT_EQ(ExchangeDevice(0), 1);
  EXPECT_EQ(current_device(), 0);
  EXPECT_EQ(status_of([] { ExchangeDevice(device_count()); }), SCONCE_ERROR_INVALID_DEVICE);
  EXPECT_EQ(status_of([] { ExchangeDevice(-2); }), SCONCE_ERROR_INVALID_DEVICE);
  EXPECT_EQ(current_device(), 0);
}

TEST_F(DeviceTest, ANewThreadStartsOnDeviceZero) {
  SCONCE_NEED_DEVICES(2);
  set_device(1);
  DeviceIndex seen = -1;
  std::thread([&] {
    seen = current_device();
    set_device(0);
  }).join();
  EXPECT_EQ(seen, 0);
  EXPECT_EQ(current_device(), 1);
}

TEST_F(DeviceTest, PropertiesAgreeWithTheShortQueries) {
  for (DeviceIndex device = 0; device < device_count(); ++device) {
    const DeviceProperties properties = getDeviceProperties(device);
    EXPECT_EQ(properties.struct_size, sizeof(properties));
    EXPECT_EQ(std::string(properties.name), get_device_name(device));
    EXPECT_GT(std::strlen(properties.name), 0U);
    EXPECT_EQ(get_device_capability(device), std::make_pair(properties.major, properties.minor));
    EXPECT_GE(properties.major, 5);
    EXPECT_EQ(properties.warp_size, 32);
    EXPECT_GE(properties.multi_processor_count, 1);
    EXPECT_GE(properties.max_threads_per_multi_processor, 1024);
    EXPECT_EQ(properties.max_block_size[0], properties.max_threads_per_block);
    EXPECT_EQ(properties.max_block_size[2], 64);
    EXPECT_EQ(properties.max_grid_size[0], std::numeric_limits<std::int32_t>::max());
    EXPECT_EQ(properties.max_grid_size[1], 65535);
    EXPECT_EQ(properties.constant_memory_bytes, 64U << 10);
    EXPECT_LE(properties.registers_per_block, properties.registers_per_multi_processor);
    EXPECT_GE(properties.max_blocks_per_multi_processor, 16);
    EXPECT_EQ(properties.cooperative_launch, 1);
    EXPECT_EQ(properties.concurrent_kernels, 1);
    EXPECT_GE(properties.total_memory_bytes, mem_get_info(device).total_bytes);
  }
  EXPECT_EQ(getCurrentDeviceProperties().multi_processor_count,
            getDeviceProperties(0).multi_processor_count);
  EXPECT_EQ(warp_size(), 32);
}

TEST_F(DeviceTest, EachDeviceHasAUuidOfItsOwn) {
  SCONCE_NEED_DEVICES(2);
  const DeviceProperties zero = getDeviceProperties(0);
  const DeviceProperties one = getDeviceProperties(1);
  EXPECT_NE(std::memcmp(zero.uuid, one.uuid, sizeof(zero.uuid)), 0);
}

TEST_F(DeviceTest, QueriesRefuseADeviceThatDoesNotExist) {
  const DeviceIndex count = device_count();
  for (const DeviceIndex bad : {count, -2, 1 << 30}) {
    EXPECT_EQ(status_of([&] { (void)getDeviceProperties(bad); }), SCONCE_ERROR_INVALID_DEVICE);
    EXPECT_EQ(status_of([&] { (void)get_device_name(bad); }), SCONCE_ERROR_INVALID_DEVICE);
    EXPECT_EQ(status_of([&] { (void)get_device_capability(bad); }), SCONCE_ERROR_INVALID_DEVICE);
    EXPECT_EQ(status_of([&] { (void)mem_get_info(bad); }), SCONCE_ERROR_INVALID_DEVICE);
    EXPECT_EQ(status_of([&] { device_synchronize(bad); }), SCONCE_ERROR_INVALID_DEVICE);
    EXPECT_EQ(status_of([&] { (void)hasPrimaryContext(bad); }), SCONCE_ERROR_INVALID_DEVICE);
  }
  const std::string message = error_of([&] { (void)getDeviceProperties(count); }).what();
  EXPECT_TRUE(contains(message, std::to_string(count)));
}

TEST_F(DeviceTest, FreeMemoryIsPartOfAll) {
  const MemoryInfo info = mem_get_info();
  EXPECT_GT(info.free_bytes, 0U);
  EXPECT_LE(info.free_bytes, info.total_bytes);
  const auto [free, total] = mem_get_info();
  EXPECT_EQ(total, info.total_bytes);
  EXPECT_LE(free, total);
  const std::pair<std::size_t, std::size_t> both = info;
  EXPECT_EQ(both, std::make_pair(info.free_bytes, info.total_bytes));
}

TEST_F(DeviceTest, BothNamesWaitForADevice) {
  synchronize();
  synchronize(0);
  EXPECT_EQ(status_of([] { synchronize(device_count()); }), SCONCE_ERROR_INVALID_DEVICE);
}

TEST_F(DeviceTest, ADeviceIsNotItsOwnPeerAndBadPeersAreRefused) {
  const DeviceIndex count = device_count();
  EXPECT_FALSE(canDeviceAccessPeer(0, 0));
  EXPECT_EQ(status_of([&] { (void)canDeviceAccessPeer(0, count); }), SCONCE_ERROR_INVALID_DEVICE);
  EXPECT_EQ(status_of([&] { (void)canDeviceAccessPeer(count, 0); }), SCONCE_ERROR_INVALID_DEVICE);
}

TEST_F(DeviceTest, PeerAccessCanBeEnabledTwice) {
  SCONCE_NEED_DEVICES(2);
  if (!canDeviceAccessPeer(0, 1)) {
    GTEST_SKIP() << "device 0 cannot access the memory of device 1";
  }
  enablePeerAccess(0, 1);
  enablePeerAccess(0, 1);
  EXPECT_EQ(current_device(), 0);
}

TEST_F(DeviceTest, HostMemoryBelongsToNoDevice) {
  int on_the_stack = 0;
  EXPECT_EQ(status_of([&] { (void)getDeviceFromPtr(&on_the_stack); }),
            SCONCE_ERROR_INVALID_ARGUMENT);
}

TEST_F(DeviceTest, SynchronizingWaitsForAllStreamsOfThatDeviceOnly) {
  SCONCE_NEED_DEVICES(2);
  support::warm_up();
  const CUDAStream here = getStreamFromPool(false, 0);
  const CUDAStream there = getStreamFromPool(false, 1);
  // Holds the work of device 0 back until the test releases it.
  std::promise<void> released;
  std::future<void> release = released.get_future();
  here.launch_host_function([](void* user) { static_cast<std::future<void>*>(user)->wait(); },
                            &release);
  sleep(std::chrono::milliseconds(5), there);
  device_synchronize(1);
  EXPECT_TRUE(there.query());
  EXPECT_FALSE(here.query());
  EXPECT_EQ(current_device(), 0);
  released.set_value();
  device_synchronize();
  EXPECT_TRUE(here.query());
}

TEST_F(DeviceTest, ProcessesAreListedInWordsOrRefusedWithAReason) {
  try {
    const std::string text = list_gpu_processes(0);
    EXPECT_TRUE(contains(text, "GPU:0"));
  } catch (const sconce::Error& error) {
    // NVIDIA's management library may be missing.
    EXPECT_TRUE(error.status() == SCONCE_ERROR_LIBRARY_NOT_FOUND ||
                error.status() == SCONCE_ERROR_NOT_SUPPORTED)
        << error.what();
  }
}

}  // namespace
