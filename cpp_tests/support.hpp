// The backend of the tests, and how a test is skipped.
//
// SCONCE_TEST_BACKEND is `sim` (default: two simulated devices) or `cuda`. A test that needs what
// the backend lacks is skipped with the reason; any other error is a failure.
#ifndef SCONCE_CPP_TESTS_SUPPORT_HPP
#define SCONCE_CPP_TESTS_SUPPORT_HPP

#include <chrono>
#include <cstdlib>
#include <sconce/sconce_all.hpp>
#include <stdexcept>
#include <string>

namespace support {

/// The devices of the simulated machine that tests run on.
constexpr std::int32_t kSimulatedDevices = 2;
/// As many as a fixture sets before the library starts.
inline std::int32_t simulated_devices = kSimulatedDevices;

/// The status of the error that `action` throws, `SCONCE_OK` if it throws none.
template <class Action>
sconce::Status status_or_ok(Action&& action) {
  try {
    action();
  } catch (const sconce::Error& error) {
    return error.status();
  }
  return SCONCE_OK;
}

/// Whether the tests run on CUDA.
inline bool wants_cuda() {
  const char* name = std::getenv("SCONCE_TEST_BACKEND");
  const std::string backend = name == nullptr || *name == '\0' ? "sim" : name;
  if (backend != "sim" && backend != "cuda") {
    throw std::invalid_argument("SCONCE_TEST_BACKEND=" + backend + " is not sim or cuda");
  }
  return backend == "cuda";
}

/// Initialises the library. Returns why there is no device; empty if there is one.
inline std::string start() {
  sconce::Options options;
  if (wants_cuda()) {
    options.backend = sconce::Backend::Cuda;
  } else {
    options.backend = sconce::Backend::Sim;
    options.sim_devices = simulated_devices;
  }
  try {
    sconce::init(options);
  } catch (const sconce::Error& error) {
    const bool absent = error.status() == SCONCE_ERROR_NO_DEVICE ||
                        error.status() == SCONCE_ERROR_LIBRARY_NOT_FOUND;
    if (options.backend == sconce::Backend::Cuda && absent) {
      return error.what();
    }
    throw;
  }
  return {};
}

/// Initialises the library once; returns the same text every time.
inline const std::string& started() {
  static const std::string reason = start();
  return reason;
}

/// Milliseconds of the host's clock since `start`.
inline double milliseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

}  // namespace support

#endif  // SCONCE_CPP_TESTS_SUPPORT_HPP
