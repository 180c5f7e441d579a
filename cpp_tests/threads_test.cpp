// Each thread has its own current devices and streams, however many threads change theirs.
#include <atomic>
#include <random>
#include <sconce/sconce_all.hpp>
#include <string>
#include <thread>
#include <vector>

#include "fixture.hpp"

namespace {

using namespace sconce::cuda;

class ThreadsTest : public support::DeviceFixture {};

constexpr unsigned kThreads = 64;
constexpr int kSteps = 2000;

/// The state that one thread should see, kept beside the state that it sees.
class Walker {
 public:
  explicit Walker(unsigned seed) : random_(seed), devices_(device_count()) {
    for (DeviceIndex device = 0; device < devices_; ++device) {
      streams_.push_back(getDefaultCUDAStream(device));
    }
  }

  void step() {
    const auto device = static_cast<DeviceIndex>(random_() % static_cast<unsigned>(devices_));
    const auto place = static_cast<std::size_t>(device);
    switch (random_() % 5) {
      case 0:
        set_device(device);
        device_ = device;
        break;
      case 1:
        streams_[place] = getStreamFromPool(random_() % 2 == 0, device);
        setCurrentCUDAStream(streams_[place]);
        break;
      case 2: {
        const CUDAGuard guard(device);
        expect(device, streams_);
        break;
      }
      case 3: {
        const CUDAStreamGuard guard(getStreamFromPool(false, device));
        auto inside = streams_;
        inside[place] = guard.current_stream();
        expect(device, inside);
        break;
      }
      default:
        expect_exchange(device);
        break;
    }
    expect(device_, streams_);
  }

 private:
  void expect_exchange(DeviceIndex device) {
    if (ExchangeDevice(device) != device_ || ExchangeDevice(device_) != device) {
      ADD_FAILURE() << "an exchange gave another thread's device";
    }
  }

  static void expect(DeviceIndex device, const std::vector<CUDAStream>& streams) {
    if (current_device() != device) {
      ADD_FAILURE() << "another thread's device is current";
    }
    for (const CUDAStream& stream : streams) {
      if (getCurrentCUDAStream(stream.device_index()) != stream) {
        ADD_FAILURE() << "another thread's stream is current on device " << stream.device_index();
      }
    }
  }

  std::minstd_rand random_;
  DeviceIndex devices_;
  DeviceIndex device_ = 0;
  std::vector<CUDAStream> streams_;
};

TEST_F(ThreadsTest, NoThreadSeesAnothersDeviceOrStreams) {
  std::atomic<unsigned> ready{0};
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < kThreads; ++i) {
    threads.emplace_back([&ready, i] {
      Walker walker(i + 1);
      ready.fetch_add(1);
      while (ready.load() < kThreads) {
        std::this_thread::yield();
      }
      for (int step = 0; step < kSteps && !testing::Test::HasFailure(); ++step) {
        walker.step();
      }
    });
  }
  for (auto& thread : threads) {
    thread.join();
  }
}

TEST_F(ThreadsTest, ThreadsQueueRecordAndWaitSideBySide) {
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 16; ++i) {
    threads.emplace_back([i] {
      const auto device = static_cast<DeviceIndex>(i) % device_count();
      const CUDAStreamGuard guard(getStreamFromPool(false, device));
      for (int step = 0; step < 100; ++step) {
        CUDAEvent event;
        event.record();
        const CUDAStream other = getStreamFromPool(true, device);
        event.block(other);
        other.wait_stream(guard.current_stream());
        event.synchronize();
        EXPECT_TRUE(event.query());
      }
      guard.current_stream().synchronize();
    });
  }
  for (auto& thread : threads) {
    thread.join();
  }
}

}  // namespace
