// Messages: sent to the callback if there is one, else to standard error, filtered by SCONCE_LOG;
// and the failures of destructors, which return no status.
//
// A malformed variable produces a message on demand. The environment is read once, when the library
// is initialised, so each test runs in a process of its own.
#include <cstdlib>
#include <memory>
#include <mutex>
#include <sconce/cuda/buffer.hpp>
#include <sconce/cuda/event.hpp>
#include <sconce/cuda/generator.hpp>
#include <sconce/cuda/guard.hpp>
#include <sconce/cuda/ipc.hpp>
#include <sconce/cuda/log.hpp>
#include <sconce/cuda/memory_pool.hpp>
#include <sconce/sim/simulator.hpp>
#include <string>
#include <vector>

#include "fixture.hpp"

namespace {

struct Received {
  std::mutex mutex;
  std::vector<std::pair<std::int32_t, std::string>> messages;
};

extern "C" void receive(std::int32_t level, const char* message, void* user) {
  auto& received = *static_cast<Received*>(user);
  const std::lock_guard<std::mutex> lock(received.mutex);
  received.messages.emplace_back(level, message);
}

/// Initialises the simulator with an environment that produces one warning.
void provoke_a_warning() {
  setenv("SCONCE_SIM_SMS", "many", 1);
  setenv("SCONCE_BACKEND", "sim", 1);
  sconce::init();
}

[[noreturn]] void exit_with(bool success) { std::_Exit(success ? 0 : 1); }

class LogDeathTest : public testing::Test {
 protected:
  void SetUp() override {
    testing::GTEST_FLAG(death_test_style) = "threadsafe";
    unsetenv("SCONCE_LOG");
  }
};

TEST_F(LogDeathTest, TheCallbackGetsLevelTextAndPointer) {
  EXPECT_EXIT(
      {
        Received received;
        sconce::log::set_callback(receive, &received);
        provoke_a_warning();
        const std::lock_guard<std::mutex> lock(received.mutex);
        exit_with(received.messages.size() == 1 &&
                  received.messages[0].first == static_cast<int>(sconce::log::Level::Warn) &&
                  received.messages[0].second.find("SCONCE_SIM_SMS=many") != std::string::npos);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(LogDeathTest, WithoutACallbackMessagesGoToStandardError) {
  EXPECT_EXIT(
      {
        Received received;
        sconce::log::set_callback(receive, &received);
        sconce::log::set_callback(nullptr);
        provoke_a_warning();
        const std::lock_guard<std::mutex> lock(received.mutex);
        exit_with(received.messages.empty());
      },
      testing::ExitedWithCode(0), "warning.*SCONCE_SIM_SMS=many");
}

TEST_F(LogDeathTest, OffAndErrorLetNoWarningPass) {
  for (const char* level : {"off", "error"}) {
    EXPECT_EXIT(
        {
          setenv("SCONCE_LOG", level, 1);
          Received received;
          sconce::log::set_callback(receive, &received);
          provoke_a_warning();
          const std::lock_guard<std::mutex> lock(received.mutex);
          exit_with(received.messages.empty());
        },
        testing::ExitedWithCode(0), "")
        << level;
  }
}

TEST_F(LogDeathTest, TheCallbackMayCallTheLibrary) {
  EXPECT_EXIT(
      {
        sconce::log::set_callback(
            [](std::int32_t, const char*, void*) { (void)sconce_status_name(0); });
        provoke_a_warning();
        exit_with(sconce_device_count() > 0);
      },
      testing::ExitedWithCode(0), "");
}

using namespace sconce::cuda;
using support::contains;

/// Receives log messages.
class DestructorLogTest : public support::DeviceFixture {
 protected:
  void SetUp() override {
    DeviceFixture::SetUp();
    sconce::log::set_callback(receive, &received_);
  }
  void TearDown() override {
    sconce::log::set_callback(nullptr);
    DeviceFixture::TearDown();
  }

  /// Whether one message was logged since the last call: an error with this beginning and end.
  testing::AssertionResult logged(const std::string& begin, const std::string& end) {
    const std::lock_guard<std::mutex> lock(received_.mutex);
    const auto messages = std::exchange(received_.messages, {});
    if (messages.size() != 1) {
      return testing::AssertionFailure() << messages.size() << " messages";
    }
    const auto& [level, text] = messages.front();
    const bool fits = level == static_cast<int>(sconce::log::Level::Error) &&
                      text.compare(0, begin.size(), begin) == 0 && text.size() >= end.size() &&
                      text.compare(text.size() - end.size(), end.size(), end) == 0;
    return fits ? testing::AssertionSuccess()
                : testing::AssertionFailure() << "level " << level << ": " << text;
  }

  testing::AssertionResult nothing_logged() {
    const std::lock_guard<std::mutex> lock(received_.mutex);
    return received_.messages.empty()
               ? testing::AssertionSuccess()
               : testing::AssertionFailure() << received_.messages.front().second;
  }

 private:
  Received received_;
};

TEST_F(DestructorLogTest, ARefusedFreeIsLogged) {
  {
    const DeviceBuffer device(1000);
    CUDACachingAllocator::raw_delete(const_cast<void*>(device.get()));
  }
  EXPECT_TRUE(logged("freeing a DeviceBuffer: SCONCE_ERROR_INVALID_ARGUMENT: ",
                     sconce_last_error_message()));
  {
    PinnedBuffer pinned(1000);
    CachingHostAllocator::raw_delete(pinned.get());
    pinned.reset();
    EXPECT_TRUE(logged("freeing a PinnedBuffer: SCONCE_ERROR_INVALID_ARGUMENT: ",
                       sconce_last_error_message()));
  }
  EXPECT_TRUE(nothing_logged()) << "a buffer that was reset holds nothing";
}

TEST_F(DestructorLogTest, ADeadHandleIsLogged) {
  {
    CUDAEvent event;
    event.record();
    ASSERT_EQ(sconce_event_destroy(event.get()), SCONCE_OK);
  }
  EXPECT_TRUE(
      logged("destroying a CUDAEvent: SCONCE_ERROR_INVALID_HANDLE: ", sconce_last_error_message()));
  {
    const CUDAGenerator generator = createCUDAGenerator();
    ASSERT_EQ(sconce_generator_destroy(generator.get()), SCONCE_OK);
  }
  EXPECT_TRUE(logged("destroying a CUDAGenerator: SCONCE_ERROR_INVALID_HANDLE: ",
                     sconce_last_error_message()));
}

TEST_F(DestructorLogTest, APoolThatStaysIsLoggedOnce) {
  auto pool = std::make_unique<MemPool>();
  sconce_memory_pool* const handle = pool->get();
  {
    const MemPoolGuard guard(*pool);
    pool.reset();
    EXPECT_TRUE(logged("destroying a MemPool: SCONCE_ERROR_INVALID_STATE: ",
                       "call sconce_memory_pool_end there first"));
    EXPECT_EQ(sconce_memory_pool_destroy(handle), SCONCE_ERROR_INVALID_STATE);
    EXPECT_TRUE(nothing_logged()) << "a caller of the C API has the status";
  }
  EXPECT_EQ(sconce_memory_pool_destroy(handle), SCONCE_OK);
  EXPECT_TRUE(nothing_logged());
}

TEST_F(DestructorLogTest, AGuardThatCannotEndIsLogged) {
  const MemPool pool;
  {
    const MemPoolGuard guard(pool, 0);
    ASSERT_EQ(sconce_memory_pool_end(pool.get(), 0), SCONCE_OK);
  }
  EXPECT_TRUE(
      logged("ending a MemPoolGuard: SCONCE_ERROR_INVALID_STATE: ", sconce_last_error_message()));
}

TEST_F(DestructorLogTest, WhatSucceedsIsNotLogged) {
  {
    const CUDAGuard device(device_count() - 1);
    const CUDAStreamGuard stream(getStreamFromPool());
    const CUDAMultiStreamGuard streams({getStreamFromPool()});
    const DeviceBuffer buffer(1000);
    const PinnedBuffer pinned(1000);
    const MemPool pool;
    const MemPoolGuard guard(pool);
    CUDAEvent event;
    event.record();
    const CUDAEvent moved(std::move(event));
    const CUDAGenerator generator = createCUDAGenerator();
    const OpenedMemory nothing;
    (void)CUDACachingAllocator::snapshot();
  }
  EXPECT_TRUE(nothing_logged());
}

TEST_F(DestructorLogTest, CallersMayLogFailuresOfTheirOwn) {
  sconce_log_failure(SCONCE_OK, "nothing");
  sconce_log_failure(SCONCE_ERROR_FORKED, "in a child");
  EXPECT_TRUE(nothing_logged());
  ASSERT_EQ(sconce_device_get_current(nullptr), SCONCE_ERROR_INVALID_ARGUMENT);
  sconce_log_failure(SCONCE_ERROR_INVALID_ARGUMENT, nullptr);
  EXPECT_TRUE(logged("SCONCE_ERROR_INVALID_ARGUMENT: ", "out_device is NULL"));
  sconce_log_failure(-7, "finalizing");
  EXPECT_TRUE(logged("finalizing: SCONCE_STATUS_UNKNOWN: ", "out_device is NULL"));
}

// Resources that a destructor would release no longer exist after the driver has shut down.
TEST_F(DestructorLogTest, AfterTheDriverHasShutDownNothingIsLogged) {
  SCONCE_NEED_SIMULATOR();
  constexpr std::int32_t kDeinitialized = 4;
  sconce::simulator::inject_fault("stream_create", 1, kDeinitialized);
  sconce::Status status = SCONCE_OK;
  for (int priority = -3; priority <= 0 && status == SCONCE_OK; ++priority) {
    for (int i = 0; i < 32 && status == SCONCE_OK; ++i) {
      sconce_stream stream{};
      status = sconce_stream_get_from_pool(0, priority, &stream);
    }
  }
  ASSERT_EQ(sconce_last_error_backend_code(), kDeinitialized);
  sconce_log_failure(status, "restoring a stream");
  EXPECT_TRUE(nothing_logged());
}

}  // namespace
