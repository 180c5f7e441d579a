// A process that has asked which devices there are, and has seeded generators, may fork: parent and
// child use the devices.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "process.hpp"

namespace {

using namespace sconce::cuda;
using process::expect;
using process::failed;
using support::status_or_ok;

void use_a_device(const char* who) {
  expect(status_or_ok([] {
           DeviceBuffer memory(1000);
           memory_set(memory, 1);
           device_synchronize();
         }) == SCONCE_OK,
         who);
}

}  // namespace

int main() {
  // Counting takes the backend of the environment.
  setenv("SCONCE_BACKEND", support::wants_cuda() ? "cuda" : "sim", 1);
  const int count = device_count();
  expect(is_available() == (count > 0), "there are devices, or none");
  if (count == 0) {
    return process::skipped("needs a device");
  }
  expect(!sconce::is_initialized(), "counting initialises nothing");
  manual_seed_all(42);
  sconce::globalContext().setAllowTF32CuBLAS(false);
  CUDACachingAllocator::setAllocatorSettings("");
  const pid_t child = fork();
  if (child == 0) {
    expect(device_count() == count, "the child counts the same devices");
    use_a_device("the child uses a device");
    return failed ? 1 : 0;
  }
  expect(child > 0, "fork works");
  int status = -1;
  expect(waitpid(child, &status, 0) == child, "the child ends");
  expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child ends cleanly");
  use_a_device("the parent uses a device");
  expect(device_count() == count, "the devices are as many as were counted");
  std::puts("parent and child used their devices");
  return failed ? 1 : 0;
}
