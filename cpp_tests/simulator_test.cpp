// The simulator's controls: completion, counts, faults.
#include <sconce/cuda/event.hpp>
#include <sconce/sim/simulator.hpp>
#include <thread>
#include <vector>

#include "fixture.hpp"

namespace {

using namespace sconce::cuda;
namespace simulator = sconce::simulator;
using support::status_of;

class SimulatorTest : public support::DeviceFixture {
 protected:
  void SetUp() override {
    DeviceFixture::SetUp();
    if (!IsSkipped()) {
      SCONCE_NEED_SIMULATOR();
    }
  }
};

constexpr std::int32_t kIllegalAddress = 700;
constexpr std::int32_t kCaptureUnsupported = 900;
constexpr std::int32_t kCaptureInvalidated = 901;

/// Whether a capture forbids the calling thread to query an event.
bool is_held_back(const CUDAEvent& event) {
  try {
    (void)event.query();
    return false;
  } catch (const sconce::Error& error) {
    EXPECT_EQ(error.backend_code(), kCaptureUnsupported);
    return true;
  }
}

TEST_F(SimulatorTest, InManualModeATestDecidesWhatCompletes) {
  const CUDAStream stream = getStreamFromPool();
  const simulator::ManualScope manual;
  sleep(std::chrono::seconds(3600), stream);
  sleep(std::chrono::seconds(3600), stream);
  EXPECT_EQ(simulator::pending(stream), 2U);
  EXPECT_TRUE(simulator::step(stream));
  EXPECT_EQ(simulator::pending(stream), 1U);
  EXPECT_FALSE(stream.query());
  EXPECT_TRUE(simulator::step(stream));
  EXPECT_TRUE(stream.query());
  EXPECT_FALSE(simulator::step(stream)) << "nothing is left";
}

TEST_F(SimulatorTest, AStepWaitsForWhatAStreamWaitsFor) {
  const CUDAStream producer = getStreamFromPool();
  const CUDAStream consumer = getStreamFromPool();
  const simulator::ManualScope manual;
  sleep(std::chrono::milliseconds(1), producer);
  consumer.wait_stream(producer);
  sleep(std::chrono::milliseconds(1), consumer);
  EXPECT_FALSE(simulator::step(consumer)) << "the producer has not finished";
  EXPECT_GE(simulator::run_until_idle(), 3U);
  EXPECT_TRUE(consumer.query());
}

TEST_F(SimulatorTest, ManualTimeMovesWithWhatCompletes) {
  const CUDAStream stream = getStreamFromPool();
  CUDAEvent start(EventFlags::Timing);
  CUDAEvent end(EventFlags::Timing);
  const simulator::ManualScope manual;
  start.record(stream);
  sleep(std::chrono::seconds(10), stream);
  end.record(stream);
  simulator::run_until_idle();
  EXPECT_NEAR(start.elapsed_time(end), 10000.0F, 1.0F) << "though no ten seconds have passed";
}

TEST_F(SimulatorTest, CallsAreCounted) {
  simulator::reset_call_counts();
  EXPECT_EQ(simulator::call_count("event_record"), 0U);
  CUDAEvent event;
  event.record();
  event.record();
  EXPECT_EQ(simulator::call_count("event_record"), 2U);
}

TEST_F(SimulatorTest, TheNthCallFailsOnce) {
  const CUDAStream stream = getStreamFromPool();
  simulator::inject_fault("stream_query", 2, kIllegalAddress);
  EXPECT_NO_THROW((void)stream.query());
  EXPECT_EQ(status_of([&] { (void)stream.query(); }), SCONCE_ERROR_DRIVER);
  EXPECT_NO_THROW((void)stream.query());
  simulator::inject_fault("stream_query", 1, kIllegalAddress);
  simulator::clear_faults();
  EXPECT_NO_THROW((void)stream.query());
}

TEST_F(SimulatorTest, AFailureOfQueuedWorkShowsLaterAndStays) {
  const CUDAStream stream = getStreamFromPool();
  simulator::inject_async_fault("kernel_launch", 1, kIllegalAddress);
  EXPECT_NO_THROW(sleep(std::chrono::milliseconds(1), stream)) << "queueing it succeeds";
  for (int i = 0; i < 2; ++i) {
    const sconce::Error error = support::error_of([&] { stream.synchronize(); });
    EXPECT_EQ(error.backend_code(), kIllegalAddress);
  }
  EXPECT_THROW(sleep(std::chrono::milliseconds(1), stream), sconce::Error);
  EXPECT_THROW(device_synchronize(), sconce::Error);
  simulator::clear_device_error();
  EXPECT_NO_THROW(device_synchronize());
}

TEST_F(SimulatorTest, AFailedDeviceLeavesTheOthersAlone) {
  SCONCE_NEED_DEVICES(2);
  const CUDAStream there = getStreamFromPool(false, 1);
  simulator::inject_async_fault("kernel_launch", 1, kIllegalAddress);
  sleep(std::chrono::milliseconds(1), there);
  EXPECT_THROW(device_synchronize(1), sconce::Error);
  EXPECT_NO_THROW(device_synchronize(0));
  simulator::clear_device_error(1);
}

TEST_F(SimulatorTest, AStuckEventHoldsUpItsStream) {
  const CUDAStream stream = getStreamFromPool();
  const CUDAStream waiting = getStreamFromPool();
  const CUDAStream free = getStreamFromPool();
  simulator::stick_event(1);
  CUDAEvent event;
  event.record(stream);
  event.block(waiting);
  free.synchronize();
  EXPECT_FALSE(event.query());
  EXPECT_FALSE(waiting.query());
  simulator::clear_faults();
  event.synchronize();
  waiting.synchronize();
}

TEST_F(SimulatorTest, PeerAccessCanBeTakenAway) {
  SCONCE_NEED_DEVICES(2);
  EXPECT_TRUE(canDeviceAccessPeer(0, 1));
  simulator::set_peer_access(0, 1, false);
  EXPECT_FALSE(canDeviceAccessPeer(0, 1));
  EXPECT_THROW(enablePeerAccess(0, 1), sconce::NotSupportedError);
  simulator::set_peer_access(0, 1, true);
  EXPECT_TRUE(canDeviceAccessPeer(0, 1));
}

TEST_F(SimulatorTest, UnknownCallsAndTurnsAreRefused) {
  EXPECT_EQ(status_of([] { (void)simulator::call_count("no_such_call"); }),
            SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(status_of([] { simulator::inject_fault("no_such_call", 1, 1); }),
            SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(status_of([] { simulator::inject_fault("stream_query", 0, 1); }),
            SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(status_of([] { simulator::inject_fault("stream_query", 1, 0); }),
            SCONCE_ERROR_INVALID_ARGUMENT);
}

TEST_F(SimulatorTest, ADriverWithoutMemoryIsTold) {
  // A first record needs an event of the driver; the error names the call that failed.
  simulator::inject_fault("event_create", 1, 2);
  std::vector<CUDAEvent> events(600);
  EXPECT_THROW(
      {
        for (CUDAEvent& event : events) {
          event.record();
        }
      },
      sconce::OutOfMemoryError);
}

TEST_F(SimulatorTest, CapturedWorkNeverRuns) {
  const CUDAStream stream = getStreamFromPool();
  const simulator::ManualScope manual;
  simulator::begin_capture(stream);
  EXPECT_TRUE(stream.is_capturing());
  sleep(std::chrono::seconds(3600), stream);
  EXPECT_EQ(simulator::pending(stream), 0U);
  simulator::end_capture(stream);
  EXPECT_FALSE(stream.is_capturing());
  sleep(std::chrono::seconds(3600), stream);
  EXPECT_EQ(simulator::pending(stream), 1U);
  EXPECT_TRUE(simulator::step(stream));
}

TEST_F(SimulatorTest, ACaptureHoldsBackTheThreadsOfItsMode) {
  using simulator::CaptureMode;
  const CUDAStream stream = getStreamFromPool();
  CUDAEvent event;
  event.record(getStreamFromPool());
  const auto ask_elsewhere = [&] {
    bool held_back = false;
    std::thread([&] { held_back = is_held_back(event); }).join();
    return held_back;
  };
  for (const CaptureMode mode :
       {CaptureMode::Global, CaptureMode::ThreadLocal, CaptureMode::Relaxed}) {
    simulator::begin_capture(stream, mode);
    EXPECT_EQ(ask_elsewhere(), mode == CaptureMode::Global);
    EXPECT_EQ(is_held_back(event), mode != CaptureMode::Relaxed);
    if (mode == CaptureMode::Relaxed) {
      EXPECT_NO_THROW(simulator::end_capture(stream));
    } else {
      const sconce::Error error = support::error_of([&] { simulator::end_capture(stream); });
      EXPECT_EQ(error.status(), SCONCE_ERROR_INVALID_STATE);
      EXPECT_EQ(error.backend_code(), kCaptureInvalidated);
    }
    EXPECT_FALSE(stream.is_capturing());
  }
}

TEST_F(SimulatorTest, EndingACaptureOnAStreamThatOnlyJoinedItInvalidatesIt) {
  const CUDAStream origin = getStreamFromPool();
  const CUDAStream joined = getStreamFromPool();
  CUDAEvent fork;
  simulator::begin_capture(origin);
  fork.record(origin);
  fork.block(joined);
  EXPECT_EQ(support::error_of([&] { simulator::end_capture(joined); }).backend_code(), 903);
  EXPECT_EQ(support::error_of([&] { simulator::end_capture(origin); }).backend_code(),
            kCaptureInvalidated);
  EXPECT_FALSE(origin.is_capturing());
  EXPECT_FALSE(joined.is_capturing());
  origin.synchronize();
  joined.synchronize();
}

TEST_F(SimulatorTest, CapturesThatCannotBeginOrEndAreRefused) {
  const CUDAStream stream = getStreamFromPool();
  EXPECT_EQ(status_of([&] { simulator::end_capture(stream); }), SCONCE_ERROR_INVALID_STATE);
  EXPECT_EQ(status_of([] { simulator::begin_capture(getDefaultCUDAStream()); }),
            SCONCE_ERROR_INVALID_STATE);
  for (const std::int32_t mode : {-1, 3}) {
    EXPECT_EQ(sconce_sim_begin_capture(stream.get(), mode), SCONCE_ERROR_INVALID_ARGUMENT);
  }
  EXPECT_FALSE(stream.is_capturing());
}

TEST_F(SimulatorTest, MemoryCanBeLookedInto) {
  const simulator::DeviceMemory memory(64);
  memory.write(std::vector<std::uint32_t>{1, 2, 3});
  EXPECT_EQ(memory.read<std::uint32_t>(3), (std::vector<std::uint32_t>{1, 2, 3}));
  std::int32_t device = -1;
  ASSERT_EQ(sconce_device_of_pointer(memory.get(), &device), SCONCE_OK);
  EXPECT_EQ(device, current_device());
  // An address past the end, one on the host, and a freed one.
  EXPECT_EQ(status_of([&] { (void)memory.read<char>(1 << 20); }), SCONCE_ERROR_INVALID_ARGUMENT);
  char host = 0;
  EXPECT_EQ(sconce_sim_memory_read(&host, 1, &host), SCONCE_ERROR_INVALID_ARGUMENT);
  void* ptr = nullptr;
  ASSERT_EQ(sconce_sim_memory_alloc(-1, 512, &ptr), SCONCE_OK);
  EXPECT_EQ(sconce_sim_memory_free(ptr), SCONCE_OK);
  EXPECT_EQ(sconce_sim_memory_free(ptr), SCONCE_ERROR_INVALID_ARGUMENT);
}

TEST_F(SimulatorTest, FreedAddressesAreUsedAgainOnlyWhenAskedFor) {
  const auto allocate = [] {
    const simulator::DeviceMemory memory(4096);
    return memory.get();
  };
  simulator::set_address_reuse(false);
  EXPECT_NE(allocate(), allocate());
  simulator::set_address_reuse(true);
  EXPECT_EQ(allocate(), allocate());
  const auto stream = [] { return simulator::ExternalStream().get(); };
  EXPECT_EQ(stream(), stream()) << "so are handles";
  simulator::set_address_reuse(false);
  EXPECT_NE(stream(), stream());
}

TEST_F(SimulatorTest, StreamsAndEventsOfOtherCodeWorkLikeItsOwn) {
  simulator::ExternalStream other;
  const CUDAStream stream = getStreamFromExternal(other.get());
  const simulator::ExternalEvent event;
  EXPECT_TRUE(event.query()) << "there is no record";
  simulator::reset_call_counts();
  {
    const simulator::ManualScope manual;
    sleep(std::chrono::seconds(3600), stream);
    event.record(other.get());
    EXPECT_FALSE(event.query());
    simulator::run_until_idle();
    EXPECT_TRUE(event.query());
  }
  event.record(nullptr);
  event.synchronize();
  EXPECT_EQ(simulator::call_count("event_record"), 0U) << "none of these calls is the library's";
  EXPECT_EQ(sconce_sim_stream_destroy(nullptr), SCONCE_ERROR_INVALID_HANDLE);
  void* native = &other;
  EXPECT_EQ(sconce_sim_event_destroy(native), SCONCE_ERROR_INVALID_HANDLE) << "it was never one";
  EXPECT_EQ(sconce_sim_stream_create(-1, 2, 0, &native), SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(sconce_sim_event_create(-1, 5, &native), SCONCE_ERROR_INVALID_ARGUMENT);
}

using SimulatorDeathTest = SimulatorTest;

TEST_F(SimulatorDeathTest, ACallThatTouchesADestroyedStreamOrEventEndsTheProcess) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  simulator::ExternalStream other;
  const CUDAStream stream = getStreamFromExternal(other.get());
  simulator::ExternalEvent event;
  void* const dead = event.get();
  other.destroy();
  event.destroy();
  EXPECT_DEATH((void)stream.query(), "stream_query received the stream 0x5c.* destroyed");
  bool done = false;
  EXPECT_DEATH((void)sconce_sim_event_query(dead, &done),
               "event_query received the event 0x5c.* destroyed");
  EXPECT_EQ(status_of([&] { (void)getStreamFromExternal(stream.stream()); }),
            SCONCE_ERROR_INVALID_HANDLE)
      << "asking whether it is a stream is allowed";
}

}  // namespace
