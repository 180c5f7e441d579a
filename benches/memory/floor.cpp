// The workloads without an allocator: what the harness itself takes, so that one sees how much of a
// figure is the allocator's.
#include <cstddef>
#include <cstdint>
#include <string>

#include "program.hpp"

namespace {

/// Returns addresses that are never used, from a function that is not inlined, as in a library.
struct Nothing {
  static constexpr bool slow = false;

  static std::string title() { return "the harness without an allocator"; }
  static void enter_thread() {}
  [[gnu::noinline]] void* allocate(std::size_t bytes, int stream) {
    asm volatile("" : : "r"(bytes), "r"(stream));
    return &anything_;
  }
  [[gnu::noinline]] static void free(void* pointer, std::size_t bytes, int stream) {
    asm volatile("" : : "r"(pointer), "r"(bytes), "r"(stream));
  }
  static std::size_t peak_reserved() { return 0; }
  static void start_over() {}

 private:
  char anything_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  const memory_bench::Options options(argc, argv);
  if (!options.valid) {
    return 2;
  }
  Nothing backend;
  return memory_bench::run(backend, options);
}
