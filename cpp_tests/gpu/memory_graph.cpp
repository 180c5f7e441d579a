// Memory in CUDA graphs: memory that a capture allocates from a pool keeps its address, is used by
// nothing else as long as the pool lives, and has the right contents at every replay.
#include <array>
#include <iostream>
#include <memory>
#include <sconce/sconce_all.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "program.hpp"

namespace {

using namespace sconce::cuda;
using gpu::check;
using gpu::expect;

constexpr std::size_t kMiB = std::size_t{1} << 20;
/// A size of the large pool, several to a segment.
constexpr std::size_t kBlock = 4 * kMiB;
/// A size with a segment of its own.
constexpr std::size_t kBig = 64 * kMiB;
constexpr int kReplays = 3;

void* allocate(std::size_t bytes) {
  void* ptr = nullptr;
  check(sconce_memory_alloc(bytes, &ptr));
  return ptr;
}

void release(void* ptr) { check(sconce_memory_free(ptr)); }

std::size_t reserved() {
  std::size_t bytes = 0;
  check(sconce_memory_get_reserved(0, &bytes));
  return bytes;
}

gpu::Pointer address(const void* ptr) { return reinterpret_cast<gpu::Pointer>(ptr); }

void set(void* ptr, unsigned char value, std::size_t bytes, const CUDAStream& stream) {
  gpu::call("cuMemsetD8Async", gpu::kSet, address(ptr), value, bytes, stream.stream());
}

void copy(void* to, const void* from, std::size_t bytes, const CUDAStream& stream) {
  gpu::call("cuMemcpyDtoDAsync_v2", gpu::kCopy, address(to), address(from), bytes, stream.stream());
}

/// Whether all of device memory holds one value, once all work has finished.
bool holds(const void* ptr, unsigned char value, std::size_t bytes) {
  std::vector<unsigned char> data(bytes);
  gpu::synchronize();
  gpu::call("cuMemcpyDtoH_v2", gpu::kCopyOut, static_cast<void*>(data.data()), address(ptr), bytes);
  return data == std::vector<unsigned char>(bytes, value);
}

/// A private pool. Between `begin` and `end` this thread allocates from it.
class Pool {
 public:
  Pool() { check(sconce_memory_pool_create(&pool_)); }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  Pool(Pool&&) = delete;
  Pool& operator=(Pool&&) = delete;
  ~Pool() { (void)sconce_memory_pool_destroy(pool_); }

  void begin() { check(sconce_memory_pool_begin(pool_, 0)); }
  void end() { check(sconce_memory_pool_end(pool_, 0)); }
  void destroy() { check(sconce_memory_pool_destroy(std::exchange(pool_, nullptr))); }

 private:
  sconce_memory_pool* pool_ = nullptr;
};

/// A driver's allocation.
struct Segment {
  explicit Segment(const void* inside) {
    void* base = nullptr;
    check(sconce_memory_get_base(inside, &base, &bytes));
    begin = address(base);
  }

  [[nodiscard]] bool overlaps(const void* ptr, std::size_t length) const {
    return address(ptr) < begin + bytes && begin < address(ptr) + length;
  }

  gpu::Pointer begin = 0;
  std::size_t bytes = 0;
};

void a_graph_works_in_the_memory_of_its_pool(const CUDAStream& stream) {
  check(sconce_memory_empty_cache());
  const std::size_t before = reserved();
  const gpu::Memory in(kBlock);
  const gpu::Memory out(2 * kBlock + kBig);
  auto* const first_out = static_cast<unsigned char*>(out.get());
  Pool pool;
  std::vector<Segment> segments;
  std::array<void*, 4> places{};
  pool.begin();
  auto graph = std::make_unique<gpu::Graph>(stream.stream(), [&] {
    auto& [first, second, third, big] = places;
    first = allocate(kBlock);
    copy(first, in.get(), kBlock, stream);
    second = allocate(kBlock);
    copy(second, first, kBlock, stream);
    release(first);
    third = allocate(kBlock);
    set(third, 2, kBlock, stream);
    big = allocate(kBig);
    set(big, 3, kBig, stream);
    copy(first_out, second, kBlock, stream);
    copy(first_out + kBlock, third, kBlock, stream);
    copy(first_out + 2 * kBlock, big, kBig, stream);
    segments = {Segment(second), Segment(third), Segment(big)};
    for (void* ptr : {second, third, big}) {
      release(ptr);
    }
  });
  pool.end();
  expect(places[0] == places[2], "what a capture frees it uses again");
  expect(places[0] != places[1] && places[1] != places[3], "and what it holds it does not");
  expect(reserved() > before, "a capture in global mode gets memory from the driver");

  // All of the pool's memory is free; no other allocation may use it.
  std::vector<void*> others;
  bool apart = true;
  for (const std::size_t bytes : {kBlock, kBlock, kBlock, kBig}) {
    others.push_back(allocate(bytes));
    set(others.back(), 0x55, bytes, stream);
    for (const Segment& segment : segments) {
      apart = apart && !segment.overlaps(others.back(), bytes);
    }
  }
  expect(apart, "memory of a pool is not handed to others");
  for (int replay = 0; replay < kReplays; ++replay) {
    const auto input = static_cast<unsigned char>(10 + replay);
    set(in.get(), input, kBlock, stream);
    set(out.get(), 0, 2 * kBlock + kBig, stream);
    graph->launch(stream.stream());
    expect(holds(first_out, input, kBlock) && holds(first_out + kBlock, 2, kBlock) &&
               holds(first_out + 2 * kBlock, 3, kBig),
           "replay " + std::to_string(replay) + " gives the right data");
  }
  bool unharmed = true;
  for (void* ptr : others) {
    unharmed = unharmed && holds(ptr, 0x55, kBlock);
    release(ptr);
  }
  expect(unharmed, "replays leave the memory of others alone");

  check(sconce_memory_empty_cache());
  const std::size_t kept = reserved();
  expect(kept > before, "a living pool keeps its memory when the cache is emptied");
  graph.reset();
  pool.destroy();
  check(sconce_memory_empty_cache());
  expect(reserved() == before, "a destroyed one gives it back");
}

void frees_that_other_streams_delay_wait_for_the_end_of_a_capture(const CUDAStream& stream) {
  const CUDAStream side = getStreamFromPool();
  Pool pool;
  CUDAEvent fork;
  CUDAEvent join;
  void* used = nullptr;
  void* next = nullptr;
  const gpu::Memory out(kBlock);
  pool.begin();
  const gpu::Graph graph(stream.stream(), [&] {
    used = allocate(kBlock);
    set(used, 7, kBlock, stream);
    fork.record(stream);
    fork.block(side);
    check(sconce_memory_record_stream(used, side.get()));
    copy(out.get(), used, kBlock, side);
    release(used);
    next = allocate(kBlock);
    set(next, 8, kBlock, stream);
    release(next);
    join.record(side);
    join.block(stream);
  });
  expect(next != used, "memory that another captured stream uses is not used again in the capture");
  for (int replay = 0; replay < kReplays; ++replay) {
    set(out.get(), 0, kBlock, stream);
    graph.launch(stream.stream());
    expect(holds(out.get(), 7, kBlock), "the other stream sees what was there");
  }
  // An allocation after the capture records the events; a later one finds them complete.
  void* again = nullptr;
  for (int attempt = 0; attempt < 100 && again != used; ++attempt) {
    again = allocate(kBlock);
    release(again);
    gpu::synchronize();
  }
  expect(again == used, "after the capture it is used again");
  pool.end();
  pool.destroy();
}

void other_threads_allocate_during_a_capture(const CUDAStream& stream) {
  std::string words;
  bool right = false;
  const CUDAStream own = getStreamFromPool();
  const auto elsewhere = [&] {
    try {
      const CUDAStreamGuard guard(own);
      void* const ptr = allocate(kBig + kMiB);
      set(ptr, 9, kBig, own);
      release(ptr);
      void* const again = allocate(kBig + kMiB);
      right = again == ptr;
      release(again);
    } catch (const std::exception& error) {
      words = error.what();
    }
  };
  Pool pool;
  const gpu::Memory out(kBlock);
  pool.begin();
  const gpu::Graph graph(stream.stream(), [&] {
    void* const ptr = allocate(kBlock);
    set(ptr, 4, kBlock, stream);
    std::thread(elsewhere).join();
    copy(out.get(), ptr, kBlock, stream);
    release(ptr);
  });
  pool.end();
  expect(words.empty() && right, "another thread allocates and frees during a capture " + words);
  graph.launch(stream.stream());
  expect(holds(out.get(), 4, kBlock), "which does the capture no harm");
}

void the_cache_is_not_emptied_during_a_capture(const CUDAStream& stream) {
  release(allocate(kBig));
  const std::size_t before = reserved();
  const gpu::Memory out(kBlock);
  sconce_status status = SCONCE_OK;
  const gpu::Graph graph(stream.stream(), [&] {
    set(out.get(), 5, kBlock, stream);
    status = sconce_memory_empty_cache();
  });
  expect(status == SCONCE_ERROR_INVALID_STATE && reserved() == before,
         "emptying the cache is refused during a capture, which survives it");
  graph.launch(stream.stream());
  expect(holds(out.get(), 5, kBlock), "and gives a graph");
}

}  // namespace

int main() {
  return gpu::program("memory_graph", [] {
    const CUDAStream stream = getStreamFromPool();
    const CUDAStreamGuard guard(stream);
    a_graph_works_in_the_memory_of_its_pool(stream);
    frees_that_other_streams_delay_wait_for_the_end_of_a_capture(stream);
    other_threads_allocate_during_a_capture(stream);
    the_cache_is_not_emptied_during_a_capture(stream);
    return gpu::verdict("memory graph");
  });
}
