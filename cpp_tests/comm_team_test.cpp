// Large tensors on three or more devices: one collective call instead of copies, with the same
// results and the same order.
#include <chrono>
#include <cstdint>
#include <sconce/sconce_all.hpp>
#include <vector>

#include "fixture.hpp"

namespace {

using namespace sconce::cuda;
using sconce::Tensor;
using support::status_of;

namespace simulator = sconce::simulator;

/// More elements than a copy has that is as good as a collective call.
constexpr std::int64_t kLarge = (1 << 18) + 77;

class CommTeamTest : public support::WorkFixture {
 protected:
  void SetUp() override {
    support::simulated_devices = 5;
    support::WorkFixture::SetUp();
    if (!IsSkipped()) {
      SCONCE_NEED_DEVICES(4);
    }
  }
};

Tensor numbers(std::int32_t device, std::int64_t count, sconce::ScalarType type) {
  const Tensor row = sconce::arange(count, sconce::device(device).dtype(sconce::kInt));
  return row.remainder(61).to(type);
}

/// How many calls of ranks `work` queues; only the simulator counts them.
template <class Work>
std::uint64_t calls_of(Work&& work) {
  const bool counts = sconce::active_backend() == sconce::Backend::Sim;
  if (counts) simulator::reset_call_counts();
  work();
  return counts ? simulator::call_count("comm_queue") : 0;
}

#define EXPECT_CALLS(calls, wanted) \
  EXPECT_EQ(calls, sconce::active_backend() == sconce::Backend::Sim ? (wanted) : 0U)

TEST_F(CommTeamTest, ALargeBroadcastIsACallOfEachDevice) {
  for (const sconce::ScalarType type : {sconce::kFloat, sconce::kBFloat16, sconce::kByte}) {
    const auto width = static_cast<std::int64_t>(elementSize(type));
    const std::int64_t count = 4 * kLarge / width;
    const Tensor source = numbers(1, count, type);
    const Tensor host = source.cpu();
    std::vector<Tensor> copies;
    const auto calls = calls_of([&] { copies = comm::broadcast(source, {0, 1, 2, 3}); });
    EXPECT_CALLS(calls, 4U);
    for (std::int32_t device = 0; device < 4; ++device) {
      const auto at = static_cast<std::size_t>(device);
      EXPECT_EQ(copies[at].device().index(), device);
      EXPECT_TRUE(copies[at].cpu().equal(host)) << device;
    }
    EXPECT_EQ(copies[1].get(), source.get()) << "its own device has the tensor itself";
    std::vector<Tensor> out;
    for (const std::int32_t device : {3, 0}) {
      out.push_back(sconce::zeros({count}, sconce::device(device).dtype(type)));
    }
    EXPECT_CALLS(calls_of([&] { comm::broadcast_out(source, out); }), 3U);
    for (const Tensor& one : out) EXPECT_TRUE(one.cpu().equal(host));
  }
}

TEST_F(CommTeamTest, ACommunicatorIsMadeOnceForAListOfDevices) {
  SCONCE_NEED_SIMULATOR();
  const Tensor source = numbers(0, kLarge, sconce::kFloat);
  simulator::reset_call_counts();
  for (int round = 0; round < 3; ++round) (void)comm::broadcast(source, {1, 2});
  // A call for each rank.
  EXPECT_EQ(simulator::call_count("comm_create"), 3U);
  (void)comm::broadcast(source, {2, 3});
  EXPECT_EQ(simulator::call_count("comm_create"), 6U);
}

TEST_F(CommTeamTest, WhatCopiesDoBetterIsCopied) {
  const Tensor large = numbers(0, kLarge, sconce::kFloat);
  const Tensor small = numbers(0, 1000, sconce::kFloat);
  const Tensor strided = numbers(0, 2 * kLarge, sconce::kFloat).view({2, kLarge}).t();
  const auto none = [](const auto& work) { EXPECT_EQ(calls_of(work), 0U); };
  none([&] { (void)comm::broadcast(large, {1}); });
  none([&] { (void)comm::broadcast(small, {1, 2, 3}); });
  none([&] { (void)comm::broadcast(strided, {1, 2, 3}); });
  none([&] { (void)comm::broadcast(large.cpu(), {0, 1, 2, 3}); });
  none([&] {
    const auto copies = comm::broadcast(large, {1, 1, 2});
    EXPECT_TRUE(copies[1].cpu().equal(large.cpu())) << "a device that is named twice";
  });
  // Calls of a group are queued at its end, but copies are there at once.
  none([&] {
    ASSERT_EQ(sconce_comm_group_start(), SCONCE_OK);
    const auto copies = comm::broadcast(large, {1, 2, 3});
    EXPECT_TRUE(copies[2].cpu().equal(large.cpu()));
    ASSERT_EQ(sconce_comm_group_end(), SCONCE_OK);
  });
}

TEST_F(CommTeamTest, WithoutTheLibraryTensorsAreCopied) {
  SCONCE_NEED_SIMULATOR();
  const Tensor source = numbers(0, kLarge, sconce::kFloat);
  // Not found, when it is looked for.
  simulator::inject_fault("comm_version", 1, 3);
  std::vector<Tensor> copies;
  EXPECT_EQ(calls_of([&] { copies = comm::broadcast(source, {1, 2, 3}); }), 0U);
  for (const Tensor& copy : copies) EXPECT_TRUE(copy.cpu().equal(source.cpu()));
}

/// What is late is waited for on all sides, and what follows changes nothing.
TEST_F(CommTeamTest, CallsFollowTheCurrentStreams) {
  const auto late = std::chrono::milliseconds(20);
  std::vector<CUDAStream> streams;
  for (DeviceIndex device = 0; device < 4; ++device) {
    streams.push_back(getStreamFromPool(false, device));
  }
  const CUDAMultiStreamGuard guard(streams);
  const Tensor source = sconce::zeros({kLarge}, sconce::device(2).dtype(sconce::kFloat));
  const Tensor target = sconce::zeros({kLarge}, sconce::device(1).dtype(sconce::kFloat));
  const Tensor other = sconce::zeros({kLarge}, sconce::device(0).dtype(sconce::kFloat));
  sleep(late, streams[2]);
  source.fill_(7);
  sleep(late, streams[1]);
  target.fill_(1);
  comm::broadcast_out(source, {target, other});
  source.fill_(9);
  EXPECT_EQ((target - 7).abs().max().item<float>(), 0.0F);
  EXPECT_EQ((other - 7).abs().max().item<float>(), 0.0F);
}

TEST_F(CommTeamTest, IntegersAreAddedByACallAndFloatsInTheOrderOfTheInputs) {
  std::vector<Tensor> integers;
  std::vector<Tensor> floats;
  for (std::int32_t device = 0; device < 4; ++device) {
    integers.push_back(numbers(device, kLarge, sconce::kInt) * (device + 1));
    // A sum that depends on the order: the small ones vanish if they are added to the large one.
    floats.push_back(sconce::full({kLarge}, device == 3 ? 1.0e8 : 3.0,
                                  sconce::device(device).dtype(sconce::kFloat)));
  }
  Tensor sum;
  EXPECT_CALLS(calls_of([&] { sum = comm::reduce_add(integers, 2); }), 4U);
  EXPECT_EQ(sum.device().index(), 2);
  EXPECT_TRUE(sum.cpu().equal((numbers(0, kLarge, sconce::kInt) * 10).cpu()));
  EXPECT_TRUE(integers[2].cpu().equal((numbers(0, kLarge, sconce::kInt) * 3).cpu()))
      << "inputs stay as they are";
  EXPECT_EQ(calls_of([&] { sum = comm::reduce_add(floats, 0); }), 0U);
  const float wanted = ((3.0F + 3.0F) + 3.0F) + 1.0e8F;
  EXPECT_EQ((sum - wanted).abs().max().item<float>(), 0.0F);
}

TEST_F(CommTeamTest, AfterAFailureANewCommunicatorIsMade) {
  SCONCE_NEED_SIMULATOR();
  const Tensor source = numbers(0, kLarge, sconce::kFloat);
  (void)comm::broadcast(source, {1, 2, 3});
  for (DeviceIndex device = 0; device < 4; ++device) device_synchronize(device);
  const std::size_t before = sconce_tensor_live_count();
  for (const std::uint64_t nth : {1U, 3U}) {
    simulator::inject_fault("comm_queue", nth, 3);
    EXPECT_EQ(status_of([&] { (void)comm::broadcast(source, {1, 2, 3}); }), SCONCE_ERROR_DRIVER);
    EXPECT_EQ(sconce_tensor_live_count(), before);
    for (DeviceIndex device = 0; device < 4; ++device) device_synchronize(device);
    const auto copies = comm::broadcast(source, {1, 2, 3});
    for (const Tensor& copy : copies) EXPECT_TRUE(copy.cpu().equal(source.cpu()));
  }
}

}  // namespace
