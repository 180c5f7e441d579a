// Another process uses blocks of this one that are made of pages (policy:pages): it maps every page
// of a block. Pages that it has open neither move nor go back nor sleep, also after their block was
// freed, until it has closed them or has been killed. The second process is this program again; it
// receives the handle as its bytes.
#include <algorithm>
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

#include "process.hpp"

namespace {

using namespace sconce::cuda;
using process::expect;
using process::failed;

constexpr std::size_t kPage = std::size_t{2} << 20;

/// What a process writes: numbers from a first one on, so that no two elements are equal.
std::vector<int> numbers(std::size_t bytes, int first) {
  std::vector<int> all(bytes / sizeof(int));
  std::iota(all.begin(), all.end(), first);
  return all;
}

template <class Memory>
bool holds(const Memory& memory, std::size_t bytes, int first) {
  std::vector<int> read(bytes / sizeof(int));
  copy_(read, memory);
  return read == numbers(bytes, first);
}

template <class Memory>
void write(Memory& memory, std::size_t bytes, int first) {
  copy_(memory, numbers(bytes, first));
  device_synchronize();
}

/// Tells the other process that this one has done its part, and waits for it.
template <class Send, class Receive>
bool meet(Send&& send, Receive&& receive) {
  char word = failed ? 'f' : 'w';
  return send(word) && receive(word) && word == 'w';
}

/// The second process: finds the numbers from 1 on, writes those from 2 on, and has the memory open
/// until it is asked to close it.
int use_shared() {
  IpcMemoryHandle handle;
  expect(process::receive(STDIN_FILENO, handle), "the handle arrives");
  const auto wait = [] {
    return meet([](char word) { return process::send(STDOUT_FILENO, word); },
                [](char& word) { return process::receive(STDIN_FILENO, word); });
  };
  OpenedMemory memory(handle, 0);
  OpenedMemory again(handle, 0);
  expect(memory.get() == again.get(), "both openings are at one place");
  again.close();
  expect(holds(memory, handle.bytes, 1), "what the other process wrote is in every page");
  write(memory, handle.bytes, 2);
  expect(wait(), "the other process has looked at it");
  expect(holds(memory, handle.bytes, 2), "the pages are left alone meanwhile");
  memory.close();
  expect(wait(), "the other process goes on");
  return failed ? 1 : 0;
}

/// The second process, which has found and overwritten what is in the shared memory.
class Second : public process::Second {
 public:
  explicit Second(const DeviceBuffer& buffer) : process::Second({"second"}) {
    expect(send(ipc_memory_handle(buffer)), "the handle is sent");
    char word = '-';
    expect(receive(word) && word == 'w', "the other process has read and written");
    expect(holds(buffer, buffer.bytes(), 2), "what it wrote is here");
  }

  /// Has it close the memory.
  void close_memory() const {
    char word = 'w';
    expect(send(word) && receive(word) && word == 'w', "the other process closes the memory");
    ipc_collect();
  }

  void finish() const {
    expect(send('w'), "the other process is let go");
    expect_success();
  }
};

/// A block of pages that were free at several places; in `kept` is what keeps these places apart.
DeviceBuffer pieced_together(std::size_t pages, std::vector<DeviceBuffer>& kept) {
  std::vector<DeviceBuffer> freed;
  for (std::size_t i = 0; i < pages; ++i) {
    freed.emplace_back(kPage);
    kept.emplace_back(kPage);
  }
  const std::size_t before = memory_reserved();
  freed.clear();
  DeviceBuffer block(pages * kPage - 4096);
  expect(memory_reserved() == before, "the block is of pages that were there");
  write(block, block.bytes(), 1);
  return block;
}

/// A block that is freed while the other process has it open, which then closes it or is killed.
void free_while_open(bool kill) {
  std::vector<DeviceBuffer> kept;
  DeviceBuffer block = pieced_together(6, kept);
  const std::size_t pages = 6 * kPage;
  const Second second(block);
  block.reset();
  kept.clear();
  empty_cache();
  expect(memory_reserved() == pages, "the pages of the block stay, the others go back");
  {
    DeviceBuffer fresh(2 * pages);
    memory_set(fresh, 0xee);
    device_synchronize();
    expect(memory_reserved() == 3 * pages, "no page of the block serves another request");
  }
  empty_cache();
  if (kill) {
    second.kill();
    ipc_collect();
  } else {
    second.close_memory();
    second.finish();
  }
  empty_cache();
  expect(memory_reserved() == 0, "what nobody uses any more goes back");
}

/// Two blocks of one page, of which one is shared.
void write_beside_a_neighbour() {
  DeviceBuffer(3 * kPage).reset();
  DeviceBuffer before(kPage + kPage / 2);
  DeviceBuffer block(kPage + kPage / 4);
  DeviceBuffer after(kPage - kPage / 4);
  write(before, before.bytes(), 7);
  write(after, after.bytes(), 8);
  write(block, block.bytes(), 1);
  const Second second(block);
  expect(holds(before, before.bytes(), 7) && holds(after, after.bytes(), 8),
         "nothing beside the block was written");
  second.close_memory();
  second.finish();
}

/// More pages than one message has descriptors of.
void share_many_pages() {
  DeviceBuffer block(70 * kPage);
  write(block, block.bytes(), 1);
  const Second second(block);
  second.close_memory();
  second.finish();
}

/// A pool does not sleep while the other process has a block of it open.
void sleep_and_wake() {
  DeviceBuffer block(3 * kPage);
  write(block, block.bytes(), 1);
  {
    const Second second(block);
    expect(support::status_or_ok([] { sleep_device(SleepPlace::host_pinned(), 0); }) ==
               SCONCE_ERROR_INVALID_STATE,
           "a pool with a block that is open elsewhere does not sleep");
    expect(holds(block, block.bytes(), 2), "and nothing was done");
    second.close_memory();
    second.finish();
  }
  write(block, block.bytes(), 1);
  sleep_device(SleepPlace::host_pinned(), 0);
  expect(memory_reserved() == 0, "what was shared and is closed sleeps");
  expect(
      support::status_or_ok([&] { (void)ipc_memory_handle(block); }) == SCONCE_ERROR_INVALID_STATE,
      "what sleeps is not shared");
  wake_device(WakeMode::Restore, 0);
  const Second second(block);
  second.close_memory();
  second.finish();
}

int share() {
  CUDACachingAllocator::setAllocatorSettings("policy:pages");
  try {
    (void)ipc_memory_handle(DeviceBuffer(kPage));
  } catch (const sconce::NotSupportedError& error) {
    return process::skipped(error.what());
  }
  empty_cache();
  free_while_open(false);
  free_while_open(true);
  write_beside_a_neighbour();
  share_many_pages();
  sleep_and_wake();
  empty_cache();
  expect(memory_reserved() == 0, "all memory went back");
  std::puts(failed ? "sharing pages failed" : "two processes shared pages");
  return failed ? 1 : 0;
}

}  // namespace

int main(int argc, char**) {
  return process::run([&] { return argc > 1 ? use_shared() : share(); });
}
