// Shared by the programs of this folder: expectations, and a second process of the same program.
#ifndef SCONCE_CPP_TESTS_PROCESS_PROCESS_HPP
#define SCONCE_CPP_TESTS_PROCESS_PROCESS_HPP

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <type_traits>
#include <vector>

#include "../support.hpp"

extern char** environ;

namespace process {

/// The exit status of a program that the machine cannot serve.
constexpr int kSkipped = 77;

inline bool failed = false;

/// Prints what does not hold, with the last error message of the library.
inline void expect(bool holds, const char* what) {
  if (!holds) {
    std::fprintf(stderr, "%d: does not hold: %s (%s)\n", static_cast<int>(getpid()), what,
                 sconce_last_error_message());
    failed = true;
  }
}

/// Prints why the program is skipped, and returns its exit status.
inline int skipped(const char* reason) {
  std::printf("skipped: %s\n", reason);
  return kSkipped;
}

/// Runs a program that may throw, unless the library has no device to start with. Returns its exit
/// status.
template <class Program>
int run(Program&& program) {
  if (const std::string& reason = support::started(); !reason.empty()) {
    return skipped(reason.c_str());
  }
  try {
    return program();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "stopped by %s (%s)\n", error.what(), sconce_last_error_message());
    return 1;
  }
}

/// Bytes as a text that can be an argument of a program.
template <std::size_t N>
std::string to_hex(const std::array<std::uint8_t, N>& bytes) {
  std::string text;
  for (const std::uint8_t byte : bytes) {
    char digits[3];
    std::snprintf(digits, sizeof(digits), "%02x", static_cast<unsigned>(byte));
    text += digits;
  }
  return text;
}

/// The bytes of `to_hex`.
template <std::size_t N>
std::array<std::uint8_t, N> from_hex(const std::string& text) {
  std::array<std::uint8_t, N> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::uint8_t>(std::stoul(text.substr(2 * i, 2), nullptr, 16));
  }
  return bytes;
}

/// Writes a value as its bytes.
template <class T>
bool send(int to, const T& value) {
  static_assert(std::is_trivially_copyable_v<T>, "a value is sent as its bytes");
  return write(to, &value, sizeof(value)) == static_cast<ssize_t>(sizeof(value));
}

/// Reads a value that `send` has written.
template <class T>
bool receive(int from, T& value) {
  return read(from, &value, sizeof(value)) == static_cast<ssize_t>(sizeof(value));
}

/// This program in a second process, with pipes to its standard input and output.
class Second {
 public:
  explicit Second(std::vector<std::string> arguments) {
    std::array<int, 2> in{};
    std::array<int, 2> out{};
    expect(pipe2(in.data(), O_CLOEXEC) == 0 && pipe2(out.data(), O_CLOEXEC) == 0, "pipes open");
    arguments.insert(arguments.begin(), "/proc/self/exe");
    std::vector<char*> pointers;
    for (std::string& argument : arguments) {
      pointers.push_back(argument.data());
    }
    pointers.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    expect(posix_spawn(&child_, pointers[0], &actions, nullptr, pointers.data(), environ) == 0,
           "the program starts again");
    posix_spawn_file_actions_destroy(&actions);
    close(in[0]);
    close(out[1]);
    input_ = in[1];
    output_ = out[0];
  }
  Second(const Second&) = delete;
  Second& operator=(const Second&) = delete;
  Second(Second&&) = delete;
  Second& operator=(Second&&) = delete;
  ~Second() {
    close(input_);
    close(output_);
  }

  /// Writes a value to the process's standard input.
  template <class T>
  [[nodiscard]] bool send(const T& value) const {
    return process::send(input_, value);
  }

  /// Reads a value from the process's standard output.
  template <class T>
  [[nodiscard]] bool receive(T& value) const {
    return process::receive(output_, value);
  }

  /// Waits for the end of the process, and expects that it succeeded.
  void expect_success() const {
    int status = -1;
    expect(waitpid(child_, &status, 0) == child_ && WIFEXITED(status) && WEXITSTATUS(status) == 0,
           "the second process succeeds");
  }

  /// Stops the process, as a debugger would.
  void stop() const { expect(::kill(child_, SIGSTOP) == 0, "the second process stops"); }

  void kill() const {
    ::kill(child_, SIGKILL);
    int status = -1;
    expect(waitpid(child_, &status, 0) == child_ && WIFSIGNALED(status), "it was killed");
  }

 private:
  pid_t child_ = -1;
  int input_ = -1;
  int output_ = -1;
};

}  // namespace process

#endif  // SCONCE_CPP_TESTS_PROCESS_PROCESS_HPP
