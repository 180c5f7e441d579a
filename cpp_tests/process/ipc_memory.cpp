// Another process uses memory of this one: segments of the allocator, memory that came from the
// driver directly and, on CUDA, virtual memory. Memory that is freed meanwhile is not reused before
// the other process has closed it, or has been killed. The second process is this program again.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "../gpu/driver.hpp"
#include "process.hpp"

namespace {

using process::expect;
using process::failed;
using Bytes = std::vector<unsigned char>;
using Handle = std::array<std::uint8_t, SCONCE_IPC_HANDLE_BYTES>;

constexpr std::size_t kBytes = std::size_t{3} << 20;
void check(sconce_status status, const char* what) { expect(status == SCONCE_OK, what); }

constexpr int (*kCopyIn)(gpu::Pointer, const void*, std::size_t) = nullptr;

void write_memory(void* to, const Bytes& from) {
  if (!support::wants_cuda()) {
    check(sconce_sim_memory_write(to, from.size(), from.data()), "the memory is written");
    return;
  }
  gpu::enter();
  gpu::call("cuMemcpyHtoD_v2", kCopyIn, reinterpret_cast<gpu::Pointer>(to), from.data(),
            from.size());
  gpu::synchronize();
}

Bytes read_memory(const void* from, std::size_t bytes) {
  Bytes data(bytes);
  if (!support::wants_cuda()) {
    check(sconce_sim_memory_read(from, bytes, data.data()), "the memory is read");
    return data;
  }
  gpu::enter();
  gpu::synchronize();
  gpu::call("cuMemcpyDtoH_v2", gpu::kCopyOut, data.data(), reinterpret_cast<gpu::Pointer>(from),
            bytes);
  return data;
}

bool holds(const void* at, unsigned char byte, std::size_t bytes) {
  const Bytes data = read_memory(at, bytes);
  return std::all_of(data.begin(), data.end(), [byte](unsigned char b) { return b == byte; });
}

/// The data that the other process needs.
struct Export {
  Handle handle{};
  std::size_t offset = 0;
};

Export share(void* memory) {
  Export shared;
  check(sconce_ipc_get_memory_handle(memory, shared.handle.data(), &shared.offset), "a handle");
  return shared;
}

/// The second process: finds ones, writes twos, reports that, and closes the memory on request.
int use(const std::string& handle, std::size_t offset, std::size_t bytes) {
  const Handle bytes_of_handle = process::from_hex<SCONCE_IPC_HANDLE_BYTES>(handle);
  void* memory = nullptr;
  void* again = nullptr;
  check(sconce_ipc_open_memory(0, bytes_of_handle.data(), offset, &memory), "it opens");
  check(sconce_ipc_open_memory(0, bytes_of_handle.data(), offset, &again), "it opens again");
  expect(memory != nullptr && memory == again, "at the same place");
  if (failed) {
    return 1;
  }
  expect(holds(memory, 1, bytes), "what the other process wrote is there");
  write_memory(memory, Bytes(bytes, 2));
  char word = failed ? 'f' : 'w';
  if (!process::send(STDOUT_FILENO, word) || !process::receive(STDIN_FILENO, word)) {
    return 1;
  }
  expect(holds(memory, 2, bytes), "the memory is left alone meanwhile");
  check(sconce_ipc_close_memory(memory), "it closes");
  check(sconce_ipc_close_memory(again), "it closes again");
  expect(sconce_ipc_close_memory(again) == SCONCE_ERROR_INVALID_ARGUMENT, "but not a third time");
  if (offset == 0) {
    expect(sconce_ipc_open_memory(0, bytes_of_handle.data(), std::size_t{1} << 40, &memory) ==
               SCONCE_ERROR_INVALID_ARGUMENT,
           "nothing is beyond the end");
  }
  return failed ? 1 : 0;
}

/// The second process, which has found ones in the shared memory and has left twos.
class Second : public process::Second {
 public:
  Second(const Export& shared, std::size_t bytes)
      : process::Second({process::to_hex(shared.handle), std::to_string(shared.offset),
                         std::to_string(bytes)}) {
    char word = '-';
    expect(receive(word) && word == 'w', "the other process has used the memory");
  }

  void finish() const {
    expect(send('c'), "the other process is asked to close");
    expect_success();
  }
};

void* allocate(std::size_t bytes) {
  void* memory = nullptr;
  check(sconce_memory_alloc(bytes, &memory), "memory is allocated");
  return memory;
}

/// A block that is freed while the other process has it open, which then closes it or is killed.
void share_a_block(bool kill) {
  void* const neighbour = allocate(kBytes);
  void* const block = allocate(kBytes);
  write_memory(block, Bytes(kBytes, 1));
  const Export shared = share(block);
  Handle same{};
  std::size_t offset = 0;
  check(sconce_ipc_get_memory_handle(neighbour, same.data(), &offset), "a handle");
  void* opened = nullptr;
  expect(sconce_ipc_open_memory(0, shared.handle.data(), shared.offset, &opened) ==
             SCONCE_ERROR_INVALID_ARGUMENT,
         "a process does not open its own memory");
  Second second(shared, kBytes);
  expect(holds(block, 2, kBytes), "what the other process wrote is there");
  check(sconce_memory_free(block), "the block is freed");
  check(sconce_memory_empty_cache(), "the cache is emptied");
  void* const meanwhile = allocate(kBytes);
  expect(meanwhile != block, "the block is not handed out while it is open there");
  write_memory(meanwhile, Bytes(kBytes, 9));
  if (kill) {
    second.kill();
  } else {
    second.finish();
  }
  check(sconce_ipc_collect(), "what was closed is collected");
  void* const after = allocate(kBytes);
  expect(after == block, "the block is handed out again");
  expect(sconce_ipc_get_memory_handle(after, same.data(), &offset) == SCONCE_OK &&
             offset == shared.offset,
         "and exported again");
  for (void* const memory : {neighbour, meanwhile, after}) {
    check(sconce_memory_free(memory), "memory is freed");
  }
}

/// Small pieces that the driver cuts from one allocation of its own.
void share_the_drivers_memory() {
  constexpr std::size_t kSmall = 4096;
  const gpu::Memory first(kSmall);
  const gpu::Memory second(kSmall);
  for (const gpu::Memory* memory : {&first, &second}) {
    write_memory(memory->get(), Bytes(kSmall, 1));
    const Export shared = share(static_cast<unsigned char*>(memory->get()) + 256);
    expect(shared.offset == 256, "the offset counts from the allocation");
    Second(shared, kSmall - 256).finish();
    expect(holds(memory->get(), 1, 256), "nothing before the offset was written");
    expect(holds(static_cast<unsigned char*>(memory->get()) + 256, 2, kSmall - 256),
           "all after it");
  }
}

/// CUmemAllocationProp and CUmemAccessDesc, as far as they are used here.
struct Location {
  int type = 1;  // device
  int id = 0;
};
struct Properties {
  int type = 1;  // pinned
  int handle_types = 0;
  Location location;
  void* meta_data = nullptr;
  std::uint64_t flags = 0;
};
struct Rights {
  Location location;
  int flags = 3;  // reading and writing
};
constexpr int (*kGranularity)(std::size_t*, const Properties*, int) = nullptr;
constexpr int (*kReserve)(gpu::Pointer*, std::size_t, std::size_t, gpu::Pointer,
                          unsigned long long) = nullptr;
constexpr int (*kCreate)(unsigned long long*, std::size_t, const Properties*,
                         unsigned long long) = nullptr;
constexpr int (*kMap)(gpu::Pointer, std::size_t, std::size_t, unsigned long long,
                      unsigned long long) = nullptr;
constexpr int (*kAccess)(gpu::Pointer, std::size_t, const Rights*, std::size_t) = nullptr;
constexpr int (*kRange)(gpu::Pointer, std::size_t) = nullptr;
constexpr int (*kRelease)(unsigned long long) = nullptr;

/// Two mappings side by side, of which the second is shared, and mapped anew.
void share_virtual_memory(bool shareable) {
  constexpr int kFileDescriptor = 1;
  gpu::enter();
  Properties properties;
  properties.handle_types = shareable ? kFileDescriptor : 0;
  std::size_t unit = 0;
  gpu::call("cuMemGetAllocationGranularity", kGranularity, &unit, &properties, 0);
  gpu::Pointer range = 0;
  gpu::call("cuMemAddressReserve", kReserve, &range, 2 * unit, std::size_t{0}, gpu::Pointer{0},
            0ULL);
  std::array<unsigned long long, 2> parts{};
  const Rights rights;
  const auto map = [&](std::size_t i) {
    gpu::call("cuMemCreate", kCreate, &parts[i], unit, &properties, 0ULL);
    gpu::call("cuMemMap", kMap, range + i * unit, unit, std::size_t{0}, parts[i], 0ULL);
    gpu::call("cuMemSetAccess", kAccess, range + i * unit, unit, &rights, std::size_t{1});
    gpu::call("cuMemRelease", kRelease, parts[i]);
  };
  map(0);
  map(1);
  auto* const start = reinterpret_cast<unsigned char*>(range);
  Handle handle{};
  std::size_t offset = 7;
  if (shareable) {
    write_memory(start, Bytes(2 * unit, 1));
    const Export shared = share(start + unit + 512);
    expect(shared.offset == 512, "the offset counts from the mapping");
    expect(sconce_ipc_get_memory_handle(start + unit, handle.data(), &offset) == SCONCE_OK &&
               handle == shared.handle && offset == 0,
           "the same bytes each time");
    expect(sconce_ipc_get_memory_handle(start, handle.data(), &offset) == SCONCE_OK &&
               handle != shared.handle,
           "others for the other mapping");
    Second second(shared, unit - 512);
    expect(holds(start, 1, unit + 512) && holds(start + unit + 512, 2, unit - 512),
           "its part only");
    second.finish();
    gpu::call("cuMemUnmap", kRange, range + unit, unit);
    map(1);
    expect(sconce_ipc_get_memory_handle(start + unit, handle.data(), &offset) == SCONCE_OK &&
               handle != shared.handle,
           "other memory at the same address has other bytes");
  } else {
    expect(sconce_ipc_get_memory_handle(start, handle.data(), &offset) ==
               SCONCE_ERROR_INVALID_ARGUMENT,
           "memory that was not made shareable is refused");
    expect(offset == 7, "and the places are left alone");
  }
  gpu::call("cuMemUnmap", kRange, range, 2 * unit);
  gpu::call("cuMemAddressFree", kRange, range, 2 * unit);
}

int share_everything() {
  Handle handle{};
  std::size_t offset = 0;
  void* const probe = allocate(512);
  if (sconce_ipc_get_memory_handle(probe, handle.data(), &offset) == SCONCE_ERROR_NOT_SUPPORTED) {
    return process::skipped(sconce_last_error_message());
  }
  check(sconce_memory_free(probe), "memory is freed");
  share_a_block(false);
  share_a_block(true);
  if (support::wants_cuda()) {
    gpu::enter();
    share_the_drivers_memory();
    share_virtual_memory(true);
    share_virtual_memory(false);
  }
  std::puts(failed ? "sharing memory failed" : "two processes shared memory");
  return failed ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  return process::run([&] {
    return argc > 3 ? use(argv[1], std::stoul(argv[2]), std::stoul(argv[3])) : share_everything();
  });
}
