// An event of one process is opened, asked and awaited by another: pending while the first process
// holds its work back, complete once it lets it go. The second process is this program again, with
// the handle.
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <string>

#include "../support.hpp"

extern char** environ;

namespace {

using namespace sconce::cuda;

bool failed = false;

void expect(bool holds, const char* what) {
  if (!holds) {
    std::fprintf(stderr, "does not hold: %s (%s)\n", what, sconce_last_error_message());
    failed = true;
  }
}

std::string to_hex(const IpcEventHandle& handle) {
  std::string text;
  for (const std::uint8_t byte : handle) {
    char digits[3];
    std::snprintf(digits, sizeof(digits), "%02x", static_cast<unsigned>(byte));
    text += digits;
  }
  return text;
}

IpcEventHandle from_hex(const std::string& text) {
  IpcEventHandle handle{};
  for (std::size_t i = 0; i < handle.size(); ++i) {
    handle[i] = static_cast<std::uint8_t>(std::stoul(text.substr(2 * i, 2), nullptr, 16));
  }
  return handle;
}

/// The second process: says on standard output that it has seen the event pending, then awaits it.
int open_and_wait(const std::string& handle) {
  CUDAEvent event(0, from_hex(handle));
  expect(event.isCreated() && event.device_index() == 0, "the event is open on device 0");
  const CUDAStream stream = getStreamFromPool();
  expect(!event.query(), "the event is pending");
  event.block(stream);
  expect(!stream.query(), "a stream of this process waits for it");
  if (write(STDOUT_FILENO, failed ? "f" : "p", 1) != 1) {
    return 1;
  }
  event.synchronize();
  expect(event.query(), "the event is complete");
  stream.synchronize();
  return failed ? 1 : 0;
}

/// Runs this program again with the handle; its standard output goes to `output`.
pid_t spawn_second(const std::string& handle, int output) {
  std::string program = "/proc/self/exe";
  std::string argument = handle;
  char* arguments[] = {program.data(), argument.data(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  pid_t child = -1;
  const int code = posix_spawn(&child, program.c_str(), &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  expect(code == 0, "the program starts again");
  return code == 0 ? child : -1;
}

int share_and_release() {
  const CUDAStream stream = getStreamFromPool();
  // Holds the stream back until the other process has looked.
  std::promise<void> looked;
  std::future<void> release = looked.get_future();
  CUDAEvent event(EventFlags::Interprocess);
  std::string handle;
  try {
    handle = to_hex(event.ipc_handle());
  } catch (const sconce::NotSupportedError& error) {
    std::printf("skipped: %s\n", error.what());
    return 77;
  }
  stream.launch_host_function([](void* user) { static_cast<std::future<void>*>(user)->wait(); },
                              &release);
  event.record(stream);

  std::array<int, 2> ends{};
  expect(pipe(ends.data()) == 0, "a pipe opens");
  const pid_t child = spawn_second(handle, ends[1]);
  close(ends[1]);
  char answer = '-';
  expect(child > 0 && read(ends[0], &answer, 1) == 1 && answer == 'p',
         "the other process saw the event pending");
  close(ends[0]);
  expect(!event.query(), "it is pending here too");
  looked.set_value();
  event.synchronize();

  int status = -1;
  expect(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0,
         "the other process was released");
  std::puts(failed ? "sharing an event failed" : "two processes shared an event");
  return failed ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) try {
  if (const std::string& reason = support::started(); !reason.empty()) {
    std::printf("skipped: %s\n", reason.c_str());
    return 77;
  }
  return argc > 1 ? open_and_wait(argv[1]) : share_and_release();
} catch (const sconce::Error& error) {
  std::fprintf(stderr, "stopped by %s\n", error.what());
  return 1;
}
