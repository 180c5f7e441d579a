// Shared by the programs of this folder: start, expectations, verdict.
#ifndef SCONCE_CPP_TESTS_GPU_PROGRAM_HPP
#define SCONCE_CPP_TESTS_GPU_PROGRAM_HPP

#include <iostream>
#include <sconce/sconce_all.hpp>
#include <stdexcept>
#include <string>

#include "driver.hpp"

namespace gpu {

inline int failures = 0;

/// Prints what holds, or that it does not.
inline void expect(bool holds, const std::string& what) {
  std::cout << (holds ? "ok       " : "FAILED   ") << what << std::endl;
  failures += holds ? 0 : 1;
}

/// Throws the message of a failed call.
inline void check(sconce_status status) {
  if (status != SCONCE_OK) {
    throw std::runtime_error(sconce_last_error_message());
  }
}

/// Prints the last line of a program, and returns its exit status.
inline int verdict(const std::string& name) {
  std::cout << name << ": " << (failures == 0 ? "ok" : "FAILED") << std::endl;
  return failures == 0 ? 0 : 1;
}

/// Initialises the library, on a GPU unless `options` name another backend, and runs `work`, which
/// returns the exit status. Without a GPU the program is skipped.
template <class Work>
int program(const std::string& name, Work&& work, sconce::Options options = {}) {
  if (options.backend == sconce::Backend::None) {
    options.backend = sconce::Backend::Cuda;
  }
  try {
    sconce::init(options);
  } catch (const sconce::Error& error) {
    const bool simulated = options.backend == sconce::Backend::Sim;
    std::cout << (simulated ? "FAILED: " : "skipped: ") << error.what() << std::endl;
    return simulated ? 1 : kSkipped;
  }
  try {
    if (sconce::active_backend() == sconce::Backend::Cuda) {
      enter();
    }
    return work();
  } catch (const std::exception& error) {
    std::cerr << name << ": " << error.what() << std::endl;
    return 1;
  }
}

}  // namespace gpu

#endif  // SCONCE_CPP_TESTS_GPU_PROGRAM_HPP
