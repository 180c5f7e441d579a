// The fixture of all tests that use devices, and checks for exceptions.
#ifndef SCONCE_CPP_TESTS_FIXTURE_HPP
#define SCONCE_CPP_TESTS_FIXTURE_HPP

#include <gtest/gtest.h>

#include <algorithm>

#include "support.hpp"

namespace support {

/// Skips without a device; resets the thread's devices and streams and the simulator afterwards.
class DeviceFixture : public testing::Test {
 protected:
  void SetUp() override {
    if (!started().empty()) {
      GTEST_SKIP() << "no device: " << started();
    }
  }

  void TearDown() override {
    if (!started().empty()) {
      return;
    }
    if (!wants_cuda()) {
      sconce::simulator::set_manual(false);
      sconce::simulator::clear_faults();
    }
    for (sconce::cuda::DeviceIndex device = 0; device < sconce::cuda::device_count(); ++device) {
      sconce::cuda::setCurrentCUDAStream(sconce::cuda::getDefaultCUDAStream(device));
    }
    sconce::cuda::set_device(0);
  }
};

/// Performs the first work of a process on two devices: on a GPU loading takes longer than the
/// sleeps of these tests.
inline void warm_up() {
  for (sconce::cuda::DeviceIndex device = 0; device < std::min(sconce::cuda::device_count(), 2);
       ++device) {
    const sconce::cuda::CUDAStream stream = sconce::cuda::getDefaultCUDAStream(device);
    sconce::cuda::sleep(std::chrono::microseconds(1), stream);
    stream.synchronize();
  }
}

/// A `DeviceFixture` for tests that observe work while it runs.
class WorkFixture : public DeviceFixture {
 protected:
  void SetUp() override {
    DeviceFixture::SetUp();
    if (!IsSkipped()) {
      warm_up();
    }
  }
};

/// Returns the error that `action` throws; fails the test if it throws none.
template <class Action>
sconce::Error error_of(Action&& action) {
  try {
    action();
  } catch (const sconce::Error& error) {
    return error;
  }
  ADD_FAILURE() << "no sconce::Error was thrown";
  return sconce::Error(SCONCE_OK, "nothing was thrown");
}

/// Returns the status of the error that `action` throws; fails the test if it throws none.
template <class Action>
sconce::Status status_of(Action&& action) {
  return error_of(action).status();
}

/// Whether `text` contains `part`.
inline testing::AssertionResult contains(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) {
    return testing::AssertionSuccess();
  }
  return testing::AssertionFailure() << "\"" << text << "\" does not contain \"" << part << "\"";
}

}  // namespace support

/// Skips the test unless there are `count` devices.
#define SCONCE_NEED_DEVICES(count)                                                           \
  if (sconce::cuda::device_count() < (count)) {                                              \
    GTEST_SKIP() << "needs " << (count) << " devices, has " << sconce::cuda::device_count(); \
  }                                                                                          \
  static_assert(true, "")

/// Skips the test unless it runs on the simulator.
#define SCONCE_NEED_SIMULATOR()                           \
  if (sconce::active_backend() != sconce::Backend::Sim) { \
    GTEST_SKIP() << "needs the simulator's controls";     \
  }                                                       \
  static_assert(true, "")

#endif  // SCONCE_CPP_TESTS_FIXTURE_HPP
