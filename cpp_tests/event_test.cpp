// Events: created at the first record, recorded in order, bound when a wait is queued, measuring
// time by torch's rules.
#include <sconce/cuda/event.hpp>
#include <sconce/cuda/guard.hpp>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "fixture.hpp"

namespace {

using namespace sconce::cuda;
using namespace std::chrono_literals;
using support::contains;
using support::error_of;
using support::status_of;

class EventTest : public support::WorkFixture {};

static_assert(!std::is_copy_constructible_v<CUDAEvent> && !std::is_copy_assignable_v<CUDAEvent>,
              "an event has one owner");
static_assert(std::is_nothrow_move_constructible_v<CUDAEvent> &&
                  std::is_nothrow_move_assignable_v<CUDAEvent>,
              "which can change");

// cudaEventDisableTiming is 2, and so is SCONCE_EVENT_BLOCKING_SYNC: a number alone is ambiguous.
enum CUDAsFlags { kCudaEventDisableTiming = 2 };
static_assert(!std::is_constructible_v<CUDAEvent, unsigned int> &&
                  !std::is_constructible_v<CUDAEvent, std::uint64_t> &&
                  !std::is_constructible_v<CUDAEvent, int> &&
                  !std::is_constructible_v<CUDAEvent, bool> &&
                  !std::is_constructible_v<CUDAEvent, CUDAsFlags> &&
                  !std::is_convertible_v<unsigned int, EventFlags>,
              "an event is not made from a number");
static_assert(std::is_constructible_v<CUDAEvent, EventFlags>, "but from flags");

TEST_F(EventTest, CudasFlagsAreConverted) {
  EXPECT_EQ(fromCUDAEventFlags(0), EventFlags::Timing);
  EXPECT_EQ(fromCUDAEventFlags(1), EventFlags::Timing | EventFlags::BlockingSync);
  EXPECT_EQ(fromCUDAEventFlags(2), EventFlags::None);
  EXPECT_EQ(fromCUDAEventFlags(3), EventFlags::BlockingSync);
  EXPECT_EQ(fromCUDAEventFlags(6), EventFlags::Interprocess);
  const sconce::Error error = error_of([] { (void)fromCUDAEventFlags(10); });
  EXPECT_EQ(error.status(), SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(contains(error.what(), "flags is 10"));
  CUDAEvent start(fromCUDAEventFlags(0));
  CUDAEvent end(fromCUDAEventFlags(0));
  start.record();
  end.record();
  end.synchronize();
  EXPECT_GE(start.elapsed_time(end), 0.0F);
}

TEST_F(EventTest, ComesIntoBeingAtTheFirstRecord) {
  CUDAEvent event;
  EXPECT_FALSE(event.isCreated());
  EXPECT_EQ(event.get(), nullptr);
  EXPECT_FALSE(event.device().has_value());
  EXPECT_EQ(event.device_index(), -1);
  event.record();
  EXPECT_TRUE(event.isCreated());
  EXPECT_EQ(event.device(), Device(0));
}

TEST_F(EventTest, BeforeTheFirstRecordItIsCompleteAndOrdersNothing) {
  CUDAEvent event;
  EXPECT_TRUE(event.query());
  event.synchronize();
  const CUDAStream stream = getStreamFromPool();
  event.block(stream);
  stream.wait_event(event);
  EXPECT_FALSE(event.isCreated());
  stream.synchronize();
}

TEST_F(EventTest, RecordsOnTheCurrentStreamOfTheCurrentDevice) {
  const CUDAStreamGuard guard(getStreamFromPool(false, device_count() - 1));
  sleep(100ms);
  CUDAEvent event;
  event.record();
  EXPECT_EQ(event.device_index(), device_count() - 1);
  EXPECT_FALSE(event.query());
  event.synchronize();
  EXPECT_TRUE(event.query());
  EXPECT_TRUE(guard.current_stream().query());
}

TEST_F(EventTest, ASecondRecordReplacesTheFirst) {
  const CUDAStream busy = getStreamFromPool();
  const CUDAStream idle = getStreamFromPool();
  sleep(300ms, busy);
  CUDAEvent event;
  event.record(busy);
  EXPECT_FALSE(event.query());
  event.record(idle);
  event.synchronize();
  EXPECT_FALSE(busy.query());
  busy.synchronize();
}

TEST_F(EventTest, RecordOnceKeepsTheFirst) {
  const CUDAStream busy = getStreamFromPool();
  const CUDAStream idle = getStreamFromPool();
  sleep(300ms, busy);
  CUDAEvent event;
  event.recordOnce(busy);
  event.recordOnce(idle);
  idle.synchronize();
  EXPECT_FALSE(event.query());
  event.synchronize();
  EXPECT_TRUE(busy.query());
}

TEST_F(EventTest, StreamsRecordAndWait) {
  const CUDAStream first = getStreamFromPool();
  const CUDAStream second = getStreamFromPool();
  sleep(100ms, first);
  CUDAEvent event;
  first.record_event(event);
  second.wait_event(event);
  EXPECT_FALSE(second.query());
  second.synchronize();
  EXPECT_TRUE(first.query());
}

TEST_F(EventTest, AWaitBindsTheRecordThatIsNewestWhenItIsQueued) {
  const CUDAStream fast = getStreamFromPool();
  const CUDAStream slow = getStreamFromPool();
  const CUDAStream waiting = getStreamFromPool();
  sleep(50ms, fast);
  sleep(500ms, slow);
  CUDAEvent event;
  event.record(fast);
  event.block(waiting);
  event.record(slow);
  waiting.synchronize();
  EXPECT_TRUE(fast.query());
  EXPECT_FALSE(slow.query()) << "the later record must not move the wait";
  slow.synchronize();
}

TEST_F(EventTest, AStreamOfAnotherDeviceMayWait) {
  SCONCE_NEED_DEVICES(2);
  const CUDAStream there = getStreamFromPool(false, 1);
  const CUDAStream here = getStreamFromPool(false, 0);
  sleep(100ms, there);
  CUDAEvent event;
  event.record(there);
  event.block(here);
  EXPECT_FALSE(here.query());
  here.synchronize();
  EXPECT_TRUE(there.query());
  EXPECT_EQ(current_device(), 0);
}

TEST_F(EventTest, StaysOnTheDeviceOfItsFirstRecord) {
  SCONCE_NEED_DEVICES(2);
  CUDAEvent event;
  event.record(getDefaultCUDAStream(0));
  const sconce::Error error = error_of([&] { event.record(getDefaultCUDAStream(1)); });
  EXPECT_EQ(error.status(), SCONCE_ERROR_CROSS_DEVICE);
  EXPECT_TRUE(contains(error.what(), "Event device 0 does not match recording stream's device 1."));
  EXPECT_EQ(event.device_index(), 0);
  EXPECT_EQ(current_device(), 0);
}

TEST_F(EventTest, MeasuresTheTimeBetweenTwoRecords) {
  const CUDAStream stream = getStreamFromPool();
  CUDAEvent start(EventFlags::Timing);
  CUDAEvent end(EventFlags::Timing);
  start.record(stream);
  sleep(100ms, stream);
  end.record(stream);
  end.synchronize();
  const float elapsed = start.elapsed_time(end);
  EXPECT_GE(elapsed, 99.0F);
  EXPECT_LT(elapsed, 1000.0F);
  EXPECT_NEAR(end.elapsed_time(start), -elapsed, 0.01F);
  EXPECT_EQ(start.elapsed_time(start), 0.0F);
}

TEST_F(EventTest, MeasuringNeedsTiming) {
  CUDAEvent timed(EventFlags::Timing);
  CUDAEvent plain;
  const auto refusal = [&] { return error_of([&] { (void)timed.elapsed_time(plain); }); };
  const std::string words =
      "Both events must be created with timing: the flag SCONCE_EVENT_TIMING (C++ "
      "EventFlags::Timing)";
  EXPECT_EQ(refusal().status(), SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(contains(refusal().what(), words)) << "before they are recorded";
  timed.record();
  plain.record();
  device_synchronize();
  EXPECT_EQ(refusal().status(), SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(contains(refusal().what(), words)) << "and after";
}

TEST_F(EventTest, MeasuringNeedsBothRecords) {
  CUDAEvent recorded(EventFlags::Timing);
  const CUDAEvent fresh(EventFlags::Timing);
  recorded.record();
  recorded.synchronize();
  const sconce::Error error = error_of([&] { (void)recorded.elapsed_time(fresh); });
  EXPECT_EQ(error.status(), SCONCE_ERROR_INVALID_STATE);
  EXPECT_TRUE(
      contains(error.what(), "Both events must be recorded before calculating elapsed time."));
}

TEST_F(EventTest, MeasuringNeedsBothToBeComplete) {
  const CUDAStream stream = getStreamFromPool();
  CUDAEvent start(EventFlags::Timing);
  CUDAEvent end(EventFlags::Timing);
  start.record(stream);
  sleep(200ms, stream);
  end.record(stream);
  const sconce::Error error = error_of([&] { (void)start.elapsed_time(end); });
  EXPECT_EQ(error.status(), SCONCE_ERROR_NOT_READY);
  EXPECT_TRUE(
      contains(error.what(), "Both events must be completed before calculating elapsed time."));
  end.synchronize();
  EXPECT_GE(start.elapsed_time(end), 199.0F);
}

TEST_F(EventTest, MeasuringAcrossDevicesIsRefusedAndLeavesTheDeviceAlone) {
  SCONCE_NEED_DEVICES(2);
  CUDAEvent here(EventFlags::Timing);
  CUDAEvent there(EventFlags::Timing);
  here.record(getDefaultCUDAStream(0));
  there.record(getDefaultCUDAStream(1));
  here.synchronize();
  there.synchronize();
  EXPECT_EQ(status_of([&] { (void)here.elapsed_time(there); }), SCONCE_ERROR_CROSS_DEVICE);
  EXPECT_EQ(current_device(), 0);
}

TEST_F(EventTest, MovingKeepsTheRecordAndLeavesAnUnrecordedEvent) {
  const CUDAStream busy = getStreamFromPool();
  sleep(300ms, busy);
  CUDAEvent source(EventFlags::Timing);
  source.recordOnce(busy);
  sconce_event* const handle = source.get();

  CUDAEvent target(std::move(source));
  EXPECT_EQ(target.get(), handle);
  EXPECT_FALSE(target.query());
  EXPECT_EQ(target.device_index(), 0);
  target.recordOnce(getStreamFromPool());
  EXPECT_FALSE(target.query()) << "it knows that it has been recorded";

  EXPECT_FALSE(source.isCreated());
  EXPECT_TRUE(source.query());
  source.recordOnce(busy);
  EXPECT_TRUE(source.isCreated()) << "and the source that it has not";
  EXPECT_FALSE(source.query());

  CUDAEvent assigned;
  assigned.record();
  assigned = std::move(target);
  EXPECT_EQ(assigned.get(), handle);
  EXPECT_EQ(assigned.flags(), EventFlags::Timing);
  assigned.synchronize();
  source.synchronize();
  EXPECT_TRUE(busy.query());
}

TEST_F(EventTest, AssigningDestroysTheEventThatWasThere) {
  CUDAEvent first;
  first.record();
  sconce_event* const handle = first.get();
  first.synchronize();
  CUDAEvent second;
  second.record();
  first = std::move(second);
  bool complete = false;
  EXPECT_EQ(sconce_event_query(handle, &complete), SCONCE_ERROR_INVALID_HANDLE)
      << "the old handle must be dead";
}

TEST_F(EventTest, AWaitOutlivesItsEvent) {
  const CUDAStream producer = getStreamFromPool();
  const CUDAStream consumer = getStreamFromPool();
  sleep(150ms, producer);
  {
    const CUDAEvent event = producer.record_event();
    event.block(consumer);
  }
  EXPECT_FALSE(consumer.query());
  consumer.synchronize();
  EXPECT_TRUE(producer.query());
}

TEST_F(EventTest, ABlockingEventIsAwaitedToo) {
  const CUDAStream stream = getStreamFromPool();
  CUDAEvent event(EventFlags::BlockingSync);
  sleep(50ms, stream);
  event.record(stream);
  EXPECT_FALSE(event.query());
  event.synchronize();
  EXPECT_TRUE(stream.query());
}

TEST_F(EventTest, SharingExcludesTiming) {
  CUDAEvent event(EventFlags::Timing | EventFlags::Interprocess);
  EXPECT_EQ(status_of([&] { event.record(); }), SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_FALSE(event.isCreated());
}

TEST_F(EventTest, OnlyAnInterprocessEventHasAnIpcHandle) {
  CUDAEvent plain;
  plain.record();
  EXPECT_EQ(status_of([&] { (void)plain.ipc_handle(); }), SCONCE_ERROR_INVALID_ARGUMENT);
  CUDAEvent shared(EventFlags::Interprocess);
  try {
    const IpcEventHandle handle = shared.ipc_handle();
    EXPECT_NE(handle, IpcEventHandle{});
    EXPECT_EQ(shared.device_index(), 0) << "created on the current device";
    const sconce::Error own = error_of([&] { (void)CUDAEvent(0, handle); });
    EXPECT_EQ(own.status(), SCONCE_ERROR_INVALID_ARGUMENT);
    EXPECT_TRUE(contains(own.what(), "of this process; use that event"));
  } catch (const sconce::NotSupportedError& error) {
    GTEST_SKIP() << error.what();
  }
}

TEST_F(EventTest, AForeignIpcHandleIsRefused) {
  IpcEventHandle handle{};
  handle.fill(0x5a);
  EXPECT_THROW(CUDAEvent(0, handle), sconce::Error);
  EXPECT_EQ(status_of([&] { (void)CUDAEvent(device_count(), handle); }),
            SCONCE_ERROR_INVALID_DEVICE);
}

TEST_F(EventTest, ManyComeAndGo) {
  const CUDAStream stream = getStreamFromPool();
  for (int i = 0; i < 5000; ++i) {
    CUDAEvent event;
    event.record(stream);
  }
  std::vector<CUDAEvent> alive(500);
  for (CUDAEvent& event : alive) {
    event.record(stream);
  }
  stream.synchronize();
  for (const CUDAEvent& event : alive) {
    EXPECT_TRUE(event.query());
  }
}

TEST_F(EventTest, SeveralThreadsMayAwaitOne) {
  const CUDAStream stream = getStreamFromPool();
  sleep(80ms, stream);
  const CUDAEvent event = stream.record_event();
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      event.block(getStreamFromPool());
      event.synchronize();
      EXPECT_TRUE(event.query());
    });
  }
  for (auto& thread : threads) {
    thread.join();
  }
}

}  // namespace
