// A thread for each replica: its device, its streams, its failure; and a model on all devices.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <sconce/sconce_all.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "fixture.hpp"

namespace {

using namespace sconce::cuda;
using sconce::Tensor;
using support::contains;

class DataParallelTest : public support::WorkFixture {
 protected:
  void SetUp() override {
    support::simulated_devices = 4;
    support::WorkFixture::SetUp();
    if (!IsSkipped()) {
      SCONCE_NEED_DEVICES(2);
    }
  }

  static std::vector<std::int32_t> all_devices() {
    std::vector<std::int32_t> devices;
    for (std::int32_t device = 0; device < device_count(); ++device) {
      devices.push_back(device);
    }
    return devices;
  }
};

TEST_F(DataParallelTest, AReplicaHasItsDeviceAndTheCallersStreams) {
  const CUDAStream first = getStreamFromPool(false, 0);
  const CUDAStream second = getStreamFromPool(false, 1);
  const CUDAMultiStreamGuard guard({first, second});
  set_device(1);
  const auto devices = all_devices();
  const auto results = parallel_apply(devices, [&](std::size_t replica) {
    EXPECT_EQ(current_device(), devices[replica]);
    EXPECT_EQ(getCurrentCUDAStream(0), first);
    EXPECT_EQ(getCurrentCUDAStream(1), second);
    return std::to_string(replica);
  });
  ASSERT_EQ(results.size(), devices.size());
  for (std::size_t replica = 0; replica < results.size(); ++replica) {
    EXPECT_EQ(results[replica], std::to_string(replica));
  }
  EXPECT_EQ(current_device(), 1);
}

TEST_F(DataParallelTest, ReplicasRunAtTheSameTime) {
  std::atomic<int> arrived{0};
  parallel_apply({0, 1}, [&](std::size_t) {
    ++arrived;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (arrived < 2 && std::chrono::steady_clock::now() < end) {
      std::this_thread::yield();
    }
    EXPECT_EQ(arrived, 2);
  });
}

TEST_F(DataParallelTest, TheFirstFailureIsThrownWhenAllHaveReturned) {
  std::atomic<int> returned{0};
  try {
    parallel_apply({0, 1, 0}, [&](std::size_t replica) {
      if (replica == 0) {
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
      }
      ++returned;
      if (replica != 0) {
        throw std::out_of_range("no such layer");
      }
    });
    FAIL() << "nothing was thrown";
  } catch (const ReplicaError& error) {
    EXPECT_EQ(returned, 3);
    EXPECT_EQ(error.replica(), 1U);
    EXPECT_EQ(error.device(), 1);
    EXPECT_TRUE(contains(error.what(), "replica 1 on device 1: no such layer")) << error.what();
    EXPECT_THROW(std::rethrow_if_nested(error), std::out_of_range);
  }
}

TEST_F(DataParallelTest, OneDeviceIsServedByTheCaller) {
  const std::thread::id caller = std::this_thread::get_id();
  parallel_apply({1}, [&](std::size_t) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    EXPECT_EQ(current_device(), 1);
  });
  EXPECT_EQ(current_device(), 0);
}

TEST_F(DataParallelTest, ADeviceThatIsNotThereIsAFailureOfItsReplica) {
  EXPECT_THROW(parallel_apply({0, 99}, [](std::size_t) {}), ReplicaError);
}

TEST_F(DataParallelTest, AModelOnAllDevicesGivesWhatItGivesOnOne) {
  const auto on = sconce::device(0).dtype(sconce::kDouble);
  const std::vector<Tensor> parameters = {sconce::randn({5, 7}, on), sconce::randn({7}, on),
                                          sconce::randn({7, 3}, on)};
  const auto module = [](const std::vector<Tensor>& weights, const Tensor& input) {
    EXPECT_EQ(weights[0].device(), input.device());
    return sconce::relu(sconce::matmul(input, weights[0]) + weights[1]).matmul(weights[2]);
  };
  for (const std::int64_t batch : {1, 3, 8, 13}) {
    const Tensor input = sconce::randn({batch, 5}, on);
    // What the replicas read is written late, on the caller's streams.
    sleep(std::chrono::milliseconds(20), getCurrentCUDAStream(0));
    input.mul_(2);
    const Tensor wanted = module(parameters, input);
    const Tensor seen = data_parallel(parameters, input, all_devices(), module);
    EXPECT_EQ(seen.device().index(), 0);
    EXPECT_TRUE(sconce::allclose(seen, wanted, 1e-12, 1e-12)) << batch;
  }
}

}  // namespace
