// Another process reads and writes device memory of this one, which is not reused while the other
// has it open. The second process is this program again; it receives the handles as their bytes.
#include <algorithm>
#include <cstdio>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "process.hpp"

namespace {

using namespace sconce::cuda;
using process::expect;
using process::failed;
using process::receive;
using process::send;

constexpr std::size_t kCount = 1000;

/// The data for the second process.
struct Shared {
  IpcMemoryHandle all;
  IpcMemoryHandle part;
  IpcEventHandle filled;
};

/// The second process: reads what the first has written, and overwrites a part of it.
int use_shared() {
  Shared shared{};
  expect(receive(STDIN_FILENO, shared), "the handles arrive");
  const CUDAEvent filled(0, shared.filled);
  filled.block(getCurrentCUDAStream());
  OpenedMemory all(shared.all, 0);
  OpenedMemory part(shared.part, 0);
  expect(all.span<int>().size() == kCount, "the size arrives");
  expect(all.size<int>() == kCount && all.data<int>() == all.get(), "so does the type");
  expect(part.get() == all.data<int>() + 100, "both are of one allocation, opened once");
  swap(all, part);
  expect(all.size<int>() == 10 && part.size<int>() == kCount, "openings are exchanged");
  all.swap(part);
  expect(getDeviceFromPtr(all.get()).index() == 0, "it is memory of the device");
  std::vector<int> read(kCount);
  copy_(read, all);
  std::vector<int> expected(kCount);
  std::iota(expected.begin(), expected.end(), 7);
  expect(read == expected, "the bytes of the other process are read");

  all.close();
  expect(!all && all.bytes() == 0, "what is closed is not open");
  const OpenedMemory moved = std::move(part);
  expect(!part && moved.bytes() == 10 * sizeof(int), "an opening moves");  // NOLINT: it is promised
  part = OpenedMemory(shared.part);
  memory_set(part, 0xff);
  device_synchronize();
  part = OpenedMemory();
  OpenedMemory given(shared.part);
  expect(sconce_ipc_close_memory(given.release()) == SCONCE_OK && !given,
         "an opening is given away");
  expect(moved.get() != nullptr, "each opening is closed for itself");

  char word = failed ? 'f' : 'w';
  expect(send(STDOUT_FILENO, word) && receive(STDIN_FILENO, word), "the other process goes on");
  return failed ? 1 : 0;
}

int share() {
  DeviceBuffer memory = DeviceBuffer::of<int>(kCount);
  PinnedBuffer numbers = PinnedBuffer::of<int>(kCount);
  std::iota(numbers.span<int>().begin(), numbers.span<int>().end(), 7);
  CUDAEvent filled(EventFlags::Interprocess);
  Shared shared{};
  try {
    shared = {ipc_memory_handle(memory), ipc_memory_handle(memory.span<int>().subspan(100, 10)),
              filled.ipc_handle()};
  } catch (const sconce::NotSupportedError& error) {
    return process::skipped(error.what());
  }
  copy_(memory, numbers, true);
  filled.record();

  const process::Second second({"second"});
  char word = '-';
  expect(second.send(shared) && second.receive(word) && word == 'w',
         "the other process has read and written");

  std::vector<int> read(kCount);
  copy_(read, memory);
  std::fill_n(numbers.span<int>().begin() + 100, 10, -1);
  expect(std::equal(read.begin(), read.end(), numbers.span<int>().begin()),
         "what the other process wrote is here, and nothing else");

  // The other process still has it open.
  const void* const address = memory.get();
  memory.reset();
  ipc_collect();
  {
    const DeviceBuffer other = DeviceBuffer::of<int>(kCount);
    expect(other.get() != address, "what another process uses is not used again");
  }
  expect(second.send(word), "the other process is let go");
  second.expect_success();
  ipc_collect();
  empty_cache();
  expect(memory_reserved() == 0, "what nobody uses any more goes back");
  std::puts(failed ? "sharing memory failed" : "two processes shared memory");
  return failed ? 1 : 0;
}

}  // namespace

int main(int argc, char**) {
  return process::run([&] { return argc > 1 ? use_shared() : share(); });
}
