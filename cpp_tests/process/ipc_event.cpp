// Another process opens an event, queries it and waits for it: it is pending while the first
// process holds its work back, and complete afterwards. The second process is this program again,
// with the handle.
#include <cstdio>
#include <future>
#include <string>

#include "process.hpp"

namespace {

using namespace sconce::cuda;
using process::expect;
using process::failed;

/// The second process: reports on standard output that the event is pending, then waits for it.
int open_and_wait(const std::string& handle) {
  CUDAEvent event(0, process::from_hex<SCONCE_IPC_HANDLE_BYTES>(handle));
  expect(event.isCreated() && event.device_index() == 0, "the event is open on device 0");
  const CUDAStream stream = getStreamFromPool();
  expect(!event.query(), "the event is pending");
  event.block(stream);
  expect(!stream.query(), "a stream of this process waits for it");
  if (!process::send(STDOUT_FILENO, failed ? 'f' : 'p')) {
    return 1;
  }
  event.synchronize();
  expect(event.query(), "the event is complete");
  stream.synchronize();
  return failed ? 1 : 0;
}

int share_and_release() {
  const CUDAStream stream = getStreamFromPool();
  // Holds the stream back until the other process has looked.
  std::promise<void> looked;
  std::future<void> release = looked.get_future();
  CUDAEvent event(EventFlags::Interprocess);
  std::string handle;
  try {
    handle = process::to_hex(event.ipc_handle());
  } catch (const sconce::NotSupportedError& error) {
    return process::skipped(error.what());
  }
  stream.launch_host_function([](void* user) { static_cast<std::future<void>*>(user)->wait(); },
                              &release);
  event.record(stream);

  const process::Second second({handle});
  char answer = '-';
  expect(second.receive(answer) && answer == 'p', "the other process saw the event pending");
  expect(!event.query(), "it is pending here too");
  looked.set_value();
  event.synchronize();

  second.expect_success();
  std::puts(failed ? "sharing an event failed" : "two processes shared an event");
  return failed ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  return process::run([&] { return argc > 1 ? open_and_wait(argv[1]) : share_and_release(); });
}
