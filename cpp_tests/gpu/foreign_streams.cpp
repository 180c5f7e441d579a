// Streams that the program itself makes and destroys. The library must never pass a destroyed
// stream to the driver, which crashes there, and must not reuse memory that such a stream used
// before its work has finished.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <sconce/sconce_all.hpp>
#include <set>
#include <string>
#include <vector>

#include "program.hpp"

namespace {

using namespace sconce::cuda;
using gpu::check;
using gpu::expect;

constexpr std::size_t kMiB = std::size_t{1} << 20;
/// A size with a segment of its own.
constexpr std::size_t kLarge = 32 * kMiB;
/// Longer than any case takes.
constexpr std::chrono::milliseconds kLong(300);

constexpr int (*kStreamCreate)(void**, unsigned) = nullptr;
constexpr int (*kStreamId)(void*, unsigned long long*) = nullptr;
constexpr int (*kCopyAsync)(gpu::Pointer, gpu::Pointer, std::size_t, void*) = nullptr;

gpu::Pointer address(const void* ptr) { return reinterpret_cast<gpu::Pointer>(ptr); }

/// A stream of the program's own.
class Stream {
 public:
  Stream() {
    constexpr unsigned kNonBlocking = 1;
    gpu::call("cuStreamCreate", kStreamCreate, &handle_, kNonBlocking);
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  Stream(Stream&&) = delete;
  Stream& operator=(Stream&&) = delete;
  ~Stream() { destroy(); }

  void destroy() {
    if (handle_ != nullptr) {
      (void)gpu::symbol<int(void*)>("cuStreamDestroy_v2")(handle_);
    }
    handle_ = nullptr;
  }

  [[nodiscard]] void* native() const { return handle_; }
  [[nodiscard]] CUDAStream announced() const { return getStreamFromExternal(handle_, 0); }

 private:
  void* handle_ = nullptr;
};

void* allocate(std::size_t bytes) {
  void* ptr = nullptr;
  check(sconce_memory_alloc(bytes, &ptr));
  return ptr;
}

/// Memory for a stream that is known by the driver's handle only, as PyTorch's pluggable allocator
/// requests it.
void* allocate_on(std::size_t bytes, void* native) {
  void* const ptr = sconce_torch_malloc(static_cast<std::ptrdiff_t>(bytes), 0, native);
  if (ptr == nullptr) {
    throw std::runtime_error(sconce_last_error_message());
  }
  return ptr;
}

void release(void* ptr) { check(sconce_memory_free(ptr)); }

void set(void* ptr, unsigned char value, std::size_t bytes, void* native) {
  gpu::call("cuMemsetD8Async", gpu::kSet, address(ptr), value, bytes, native);
}

/// Whether all of device memory holds one value, once all work has finished.
bool holds(const void* ptr, unsigned char value, std::size_t bytes) {
  std::vector<unsigned char> data(bytes);
  gpu::synchronize();
  gpu::call("cuMemcpyDtoH_v2", gpu::kCopyOut, static_cast<void*>(data.data()), address(ptr), bytes);
  return data == std::vector<unsigned char>(bytes, value);
}

std::size_t reserved() {
  std::size_t bytes = 0;
  check(sconce_memory_get_reserved(0, &bytes));
  return bytes;
}

/// Allocates on a stream, frees, and destroys the stream.
void leave_memory_of_a_destroyed_stream(std::size_t bytes) {
  Stream stream;
  release(allocate_on(bytes, stream.native()));
}

/// The steps of RMM's test of a deleted stream, and what a program does afterwards.
void memory_of_a_destroyed_stream() {
  check(sconce_memory_empty_cache());
  const std::size_t before = reserved();
  leave_memory_of_a_destroyed_stream(10'000);
  release(allocate(10'000));
  expect(true, "memory is allocated after a stream with cached memory was destroyed");
  leave_memory_of_a_destroyed_stream(kLarge);
  expect(sconce_memory_empty_cache() == SCONCE_OK && reserved() == before,
         "emptying the cache gives back what the destroyed streams had");

  leave_memory_of_a_destroyed_stream(kLarge);
  void* none = nullptr;
  expect(sconce_memory_alloc(std::size_t{1} << 50, &none) == SCONCE_ERROR_OUT_OF_MEMORY,
         "an allocation that finds no memory says so");

  check(sconce_memory_empty_cache());
  leave_memory_of_a_destroyed_stream(kLarge);
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  check(sconce_device_get_memory_info(0, &free_bytes, &total_bytes));
  const double share = static_cast<double>(reserved() + kMiB) / static_cast<double>(total_bytes);
  check(sconce_memory_set_fraction(share, 0));
  void* ptr = nullptr;
  const sconce_status status = sconce_memory_alloc(kLarge, &ptr);
  check(sconce_memory_set_fraction(1.0, 0));
  expect(status == SCONCE_OK, "an allocation gets what only a destroyed stream has cached");
  check(sconce_memory_free(ptr));
  (void)memory_summary();
  void* const late = [] {
    Stream stream;
    return allocate_on(kLarge, stream.native());
  }();
  release(late);
  expect(sconce_memory_empty_cache() == SCONCE_OK && reserved() == before,
         "memory is freed after its stream");
}

/// Stream objects that are made current and destroyed, as in CuPy's tests.
void stream_objects_come_and_go() {
  std::array<void*, 3> held{};
  for (std::size_t i = 0; i < held.size(); ++i) {
    const Stream stream;
    const CUDAStreamGuard guard(stream.announced());
    void* const temporary = allocate(kMiB);
    set(temporary, 1, kMiB, stream.native());
    release(temporary);
    held.at(i) = allocate(kMiB);
    set(held.at(i), static_cast<unsigned char>(10 + i), kMiB, stream.native());
    gpu::synchronize();
  }
  bool right = true;
  for (std::size_t i = 0; i < held.size(); ++i) {
    right = right && holds(held.at(i), static_cast<unsigned char>(10 + i), kMiB);
    set(held.at(i), 20, kMiB, nullptr);
    right = right && holds(held.at(i), 20, kMiB);
    release(held.at(i));
  }
  for (int i = 0; i < 3; ++i) {
    const Stream stream;
    const CUDAStreamGuard guard(stream.announced());
    release(allocate(kMiB));
  }
  expect(right, "memory of stream objects that are gone keeps its data and is freed");
  expect(sconce_memory_empty_cache() == SCONCE_OK, "and given back");
}

/// `record_stream`, then the stream is destroyed while it works, then the memory is freed.
void a_destroyed_stream_keeps_what_it_uses() {
  check(sconce_memory_empty_cache());
  const std::size_t before = reserved();
  void* const used = allocate(kLarge);
  {
    const Stream stream;
    gpu::synchronize();
    sleep(kLong, stream.announced());
    set(used, 7, kLarge, stream.native());
    check(sconce_memory_record_stream(static_cast<unsigned char*>(used) + kMiB,
                                      stream.announced().get()));
  }
  release(used);
  void* const next = allocate(kLarge);
  set(next, 9, kLarge, nullptr);
  expect(next != used, "memory that a destroyed stream uses is not handed out");
  expect(holds(next, 9, kLarge), "and what is handed out instead is not overwritten");
  release(next);
  check(sconce_device_synchronize(0));
  expect(sconce_memory_empty_cache() == SCONCE_OK && reserved() == before,
         "it comes back when the device has been waited for");

  Stream stream;
  void* const again = allocate(kLarge);
  check(sconce_memory_record_stream(again, stream.announced().get()));
  release(again);
  gpu::synchronize();
  (void)stream.announced();
  bool back = false;
  for (int i = 0; i < 100 && !back; ++i) {
    void* const ptr = allocate(kLarge);
    gpu::synchronize();
    back = ptr == again;
    release(ptr);
  }
  expect(back, "that of a living stream comes back when the stream is named again");
  check(sconce_memory_empty_cache());
}

/// `record_stream` of pinned memory, then the stream is destroyed.
void a_destroyed_stream_keeps_pinned_memory() {
  check(sconce_host_memory_empty_cache());
  const gpu::Memory device(kMiB);
  void* used = nullptr;
  check(sconce_host_memory_alloc(kMiB, &used));
  std::fill_n(static_cast<unsigned char*>(used), kMiB, static_cast<unsigned char>(3));
  {
    const Stream stream;
    gpu::synchronize();
    sleep(kLong, stream.announced());
    gpu::call("cuMemcpyAsync", kCopyAsync, address(device.get()), address(used), kMiB,
              stream.native());
    check(sconce_host_memory_record_stream(used, stream.announced().get()));
  }
  check(sconce_host_memory_free(used));
  void* next = nullptr;
  check(sconce_host_memory_alloc(kMiB, &next));
  std::fill_n(static_cast<unsigned char*>(next), kMiB, static_cast<unsigned char>(4));
  expect(next != used, "pinned memory that a destroyed stream uses is not handed out");
  expect(holds(device.get(), 3, kMiB), "and its copy has the right data");
  check(sconce_host_memory_free(next));
  expect(sconce_host_memory_empty_cache() == SCONCE_OK, "emptying the pinned cache takes it back");
  sconce_host_memory_stats stats{};
  stats.struct_size = sizeof(stats);
  check(sconce_host_memory_get_stats(&stats));
  expect(stats.allocated_bytes.current == 0, "all of it");
}

/// Handles that the driver reuses for other streams.
void handles_come_again() {
  std::set<void*> seen;
  int again = 0;
  bool right = true;
  for (int i = 0; i < 20; ++i) {
    void* first = nullptr;
    {
      const Stream stream;
      again += seen.insert(stream.native()).second ? 0 : 1;
      first = allocate_on(kLarge, stream.native());
      sleep(std::chrono::milliseconds(20), stream.announced());
      set(first, 5, kLarge, stream.native());
      release(first);
    }
    const Stream stream;
    again += seen.insert(stream.native()).second ? 0 : 1;
    void* const second = allocate_on(kLarge, stream.native());
    set(second, 6, kLarge, stream.native());
    right = right && holds(second, 6, kLarge);
    release(second);
    check(sconce_memory_empty_cache());
  }
  std::cout << "         handles that came again: " << again << " of 40" << std::endl;
  expect(right, "a stream does not get memory on which another one of its handle still works");

  const Stream one;
  const Stream two;
  std::array<unsigned long long, 3> ids{};
  gpu::call("cuStreamGetId", kStreamId, one.native(), &ids[0]);
  gpu::call("cuStreamGetId", kStreamId, two.native(), &ids[1]);
  gpu::call("cuStreamGetId", kStreamId, one.native(), &ids[2]);
  expect(ids[0] != ids[1] && ids[0] == ids[2], "the driver's ids tell streams apart");
}

/// Objects left at the end of the process must do no harm.
void leave_everything_behind() {
  void* const used = allocate(kLarge);
  leave_memory_of_a_destroyed_stream(kLarge);
  const Stream stream;
  check(sconce_memory_record_stream(used, stream.announced().get()));
  release(used);
}

}  // namespace

int main() {
  return gpu::program("foreign_streams", [] {
    memory_of_a_destroyed_stream();
    stream_objects_come_and_go();
    a_destroyed_stream_keeps_what_it_uses();
    a_destroyed_stream_keeps_pinned_memory();
    handles_come_again();
    leave_everything_behind();
    return gpu::verdict("foreign streams");
  });
}
