// What the sanitizer's tests share. Their program switches the sanitizer on before anything else;
// processes that need another start are the same program again, with the name of a child.
#ifndef SCONCE_CPP_TESTS_SANITIZER_SUPPORT_HPP
#define SCONCE_CPP_TESTS_SANITIZER_SUPPORT_HPP

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <sconce/cuda/sanitizer.hpp>
#include <string>

#include "fixture.hpp"
#include "poke.hpp"

namespace support {

/// The host waits for all devices: what follows is ordered behind all that was queued.
inline void settle() {
  for (sconce::cuda::DeviceIndex device = 0; device < sconce::cuda::device_count(); ++device) {
    sconce::cuda::device_synchronize(device);
  }
}

/// Two fills of one block by streams that do not wait for each other. `name` is what the report
/// calls the second.
inline void race(const std::string& name = "the second") {
  const auto a = sconce::cuda::getStreamFromPool();
  const auto b = sconce::cuda::getStreamFromPool();
  sconce::cuda::DeviceBuffer block(4096, a);
  settle();
  sconce::sanitizer::access(a, "the first").writes(block.get());
  sconce::sanitizer::access(b, name).writes(block.get());
  settle();
}

/// How a child ended, and what it wrote to both of its outputs.
struct Ended {
  int status;
  std::string output;
};

/// Runs this program as a child, with variables `NAME=value …`.
inline Ended run_child(const std::string& child, const std::string& variables = "") {
  std::array<char, 4096> path{};
  const auto length = readlink("/proc/self/exe", path.data(), path.size() - 1);
  EXPECT_GT(length, 0);
  const std::string command =
      "exec env " + variables + " '" + path.data() + "' --child " + child + " 2>&1";
  std::FILE* const pipe = popen(command.c_str(), "r");
  Ended ended{-1, ""};
  if (pipe == nullptr) {
    return ended;
  }
  std::array<char, 4096> part{};
  for (std::size_t read = 0; (read = std::fread(part.data(), 1, part.size(), pipe)) > 0;) {
    ended.output.append(part.data(), read);
  }
  ended.status = pclose(pipe);
  return ended;
}

/// The children: each returns its exit status.
int run_as_child(int count, char** arguments);
int run_hang(int count, char** arguments);

}  // namespace support

#endif  // SCONCE_CPP_TESTS_SANITIZER_SUPPORT_HPP
