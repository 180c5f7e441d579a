// A child that is forked after the library's initialisation receives SCONCE_ERROR_FORKED from
// device calls, destroys inherited objects without errors, logs nothing, and ends. The parent
// continues undisturbed.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "process.hpp"

namespace {

using namespace sconce::cuda;
using process::expect;
using process::failed;
using support::status_or_ok;

/// Every destructor in the child fails or does nothing, and logs nothing.
extern "C" void unexpected(std::int32_t, const char* message, void*) {
  std::fprintf(stderr, "logged in the child: %s\n", message);
  std::_Exit(2);
}

void in_the_child(CUDAEvent& inherited, const CUDAStream& stream, void* memory) {
  expect(!sconce::is_initialized(), "the child is not initialised");
  expect(!is_available(), "nothing is available to the child");
  expect(device_count() == 0, "the child has no devices");
  expect(status_or_ok([] { sconce::init(); }) == SCONCE_ERROR_FORKED, "init is refused");
  expect(status_or_ok([] { (void)current_device(); }) == SCONCE_ERROR_FORKED, "current_device");
  expect(status_or_ok([] { set_device(0); }) == SCONCE_ERROR_FORKED, "set_device");
  expect(status_or_ok([] { device_synchronize(); }) == SCONCE_ERROR_FORKED, "device_synchronize");
  expect(status_or_ok([] { (void)getStreamFromPool(); }) == SCONCE_ERROR_FORKED,
         "getStreamFromPool");
  expect(status_or_ok([&] { stream.synchronize(); }) == SCONCE_ERROR_FORKED, "synchronize");
  expect(status_or_ok([&] { inherited.record(stream); }) == SCONCE_ERROR_FORKED, "record");
  expect(status_or_ok([&] { inherited.synchronize(); }) == SCONCE_ERROR_FORKED,
         "event synchronize");
  expect(status_or_ok([] { (void)CUDACachingAllocator::raw_alloc(1); }) == SCONCE_ERROR_FORKED,
         "alloc");
  expect(status_or_ok([&] { CUDACachingAllocator::raw_delete(memory); }) == SCONCE_ERROR_FORKED,
         "free");
  expect(
      status_or_ok([] { CUDACachingAllocator::setAllocatorSettings(""); }) == SCONCE_ERROR_FORKED,
      "setAllocatorSettings");
  expect(sconce_memory_record_history(true, 10) == SCONCE_ERROR_FORKED, "record_history");
  expect(status_or_ok([] { empty_cache(); }) == SCONCE_ERROR_FORKED, "empty_cache");
  expect(status_or_ok([] { (void)memory_stats(0); }) == SCONCE_ERROR_FORKED, "memory_stats");
  expect(status_or_ok([] { (void)CUDACachingAllocator::snapshot(); }) == SCONCE_ERROR_FORKED,
         "snapshot");
  expect(std::strstr(sconce_last_error_message(), "fork") != nullptr, "the message says why");
  sconce_log_failure(SCONCE_ERROR_DRIVER, "logging in the child");
}

}  // namespace

int main() {
  if (const std::string& reason = support::started(); !reason.empty()) {
    return process::skipped(reason.c_str());
  }
  const CUDAStream stream = getStreamFromPool();
  CUDAEvent event;
  event.record(stream);
  DeviceBuffer memory(1000, stream);
  const CUDAGuard guard(0);
  const CUDAStreamGuard stream_guard(stream);
  PinnedBuffer pinned(1000);
  const CUDAGenerator generator = createCUDAGenerator();
  const MemPool pool;
  sleep(std::chrono::milliseconds(100), stream);

  sconce::log::set_callback(unexpected);
  const pid_t child = fork();
  if (child == 0) {
    in_the_child(event, stream, memory.get());
    // Not _exit: the destructors and exit handlers of a normal end run in the child too.
    return failed ? 1 : 0;
  }
  sconce::log::set_callback(nullptr);
  expect(child > 0, "fork works");
  int status = -1;
  expect(waitpid(child, &status, 0) == child, "the child ends");
  expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child ends cleanly");

  stream.synchronize();
  event.record(stream);
  event.synchronize();
  expect(is_available(), "the parent goes on");
  void* const address = memory.get();
  memory.reset();
  expect(DeviceBuffer(1000, stream).get() == address, "its memory is as it was");
  std::puts("parent and child ended cleanly");
  return failed ? 1 : 0;
}
