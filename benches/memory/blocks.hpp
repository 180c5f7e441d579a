// Allocating from a backend so that whatever happens, everything goes back.
//
// A backend is a struct with
//   static constexpr bool slow          every call goes to the driver
//   std::string title()
//   void enter_thread()                 what a thread has to do before it allocates
//   void* allocate(bytes, stream)       NULL when there is no memory; streams are 0 (the default
//                                       stream) to `most_streams`
//   void free(pointer, bytes, stream)
// and, where it has them, allocate_here(bytes), peak_reserved(), start_over(), query_stats(),
// snapshot() and snapshot_json().
#ifndef SCONCE_BENCHES_MEMORY_BLOCKS_HPP
#define SCONCE_BENCHES_MEMORY_BLOCKS_HPP

#include <cstddef>
#include <utility>
#include <vector>

#include "figures.hpp"

namespace memory_bench {

inline constexpr int most_streams = 16;

template <class Backend>
void* take(Backend& backend, std::size_t bytes, int stream) {
  void* pointer = backend.allocate(bytes, stream);
  if (pointer == nullptr) [[unlikely]] {
    throw OutOfMemory();
  }
  return pointer;
}

struct Block {
  void* pointer = nullptr;
  std::size_t bytes = 0;
};

/// Blocks of one stream, which go back at the end at the latest.
template <class Backend>
class Blocks {
 public:
  Blocks(Backend& backend, int stream) : backend_(backend), stream_(stream) {}
  Blocks(const Blocks&) = delete;
  Blocks& operator=(const Blocks&) = delete;
  ~Blocks() {
    for (const Block& block : blocks_) {
      if (block.pointer != nullptr) {
        backend_.free(block.pointer, block.bytes, stream_);
      }
    }
  }

  [[nodiscard]] bool empty() const { return blocks_.empty(); }
  [[nodiscard]] std::size_t size() const { return blocks_.size(); }

  /// Sets the number of places for blocks.
  void resize(std::size_t count) { blocks_.resize(count); }

  void push(std::size_t bytes) { blocks_.push_back({take(backend_, bytes, stream_), bytes}); }

  void fill(std::size_t at, std::size_t bytes) {
    blocks_[at] = {take(backend_, bytes, stream_), bytes};
  }

  /// Frees a block and leaves its place empty.
  void clear(std::size_t at) {
    Block& block = blocks_[at];
    if (block.pointer != nullptr) {
      backend_.free(std::exchange(block.pointer, nullptr), block.bytes, stream_);
    }
  }

  /// Frees a block and moves the last one to its place; returns its bytes.
  std::size_t swap_remove(std::size_t at) {
    const Block block = std::exchange(blocks_[at], blocks_.back());
    blocks_.pop_back();
    backend_.free(block.pointer, block.bytes, stream_);
    return block.bytes;
  }

 private:
  Backend& backend_;
  int stream_;
  std::vector<Block> blocks_;
};

}  // namespace memory_bench

#endif  // SCONCE_BENCHES_MEMORY_BLOCKS_HPP
