// This library's allocator through the C ABI.
//
//   SCONCE_BACKEND=sim SCONCE_SIM_MEMORY=64G sconce_memory_bench      on the simulator, whose
//   memory
//                                                                     costs nothing until it is
//                                                                     touched
#include <sconce/sconce_all.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "program.hpp"

namespace {

void must(sconce_status status, const char* what) {
  if (status != SCONCE_OK) {
    std::fprintf(stderr, "%s: %s\n", what, sconce_last_error_message());
    std::exit(1);
  }
}

class Sconce {
 public:
  static constexpr bool slow = false;

  Sconce() {
    enter_thread();
    must(sconce_stream_get_default(0, &streams_[0]), "the default stream");
    for (std::size_t i = 1; i < streams_.size(); ++i) {
      must(sconce_stream_get_from_pool(0, 0, &streams_[i]), "a stream from the pool");
    }
  }

  static std::string title() {
    char name[256] = "";
    must(sconce_device_get_name(0, name, sizeof name), "the device's name");
    const bool simulated = sconce_backend_get_active() == SCONCE_BACKEND_SIM;
    return std::string("Sconce ") + sconce_version() + " on " + name +
           (simulated ? " (simulated)" : "");
  }
  static void enter_thread() { must(sconce_device_set_current(0), "making device 0 current"); }

  void* allocate(std::size_t bytes, int stream) {
    void* pointer = nullptr;
    const sconce_status status =
        sconce_memory_alloc_on(bytes, streams_[static_cast<std::size_t>(stream)], &pointer);
    return allocated(pointer, status);
  }
  static void* allocate_here(std::size_t bytes) {
    void* pointer = nullptr;
    const sconce_status status = sconce_memory_alloc(bytes, &pointer);
    return allocated(pointer, status);
  }
  static void free(void* pointer, std::size_t, int) {
    if (const sconce_status status = sconce_memory_free(pointer); status != SCONCE_OK)
        [[unlikely]] {
      must(status, "freeing a block");
    }
  }

  static std::size_t peak_reserved() {
    std::size_t bytes = 0;
    must(sconce_memory_get_max_reserved(0, &bytes), "the peak of reserved bytes");
    return bytes;
  }
  static void start_over() {
    must(sconce_device_synchronize(0), "waiting for the device");
    must(sconce_memory_empty_cache(), "emptying the cache");
    must(sconce_memory_reset_peak_stats(0), "resetting the peaks");
  }

  /// At how many addresses a page is mapped, with `policy:pages`.
  static double mappings_per_page() {
    sconce_memory_page_figures figures = SCONCE_MEMORY_PAGE_FIGURES_INIT;
    must(sconce_memory_get_page_figures(0, &figures), "the figures of pages");
    return figures.pages == 0
               ? 0
               : static_cast<double>(figures.mappings) / static_cast<double>(figures.pages);
  }

  static void query_stats() {
    sconce_memory_stats stats;
    stats.struct_size = sizeof stats;
    must(sconce_memory_get_stats(0, &stats), "the figures");
    asm volatile("" : : "r"(&stats) : "memory");
  }
  static void snapshot() {
    sconce_memory_snapshot* taken = nullptr;
    must(sconce_memory_snapshot_create(&taken), "a snapshot");
    must(sconce_memory_snapshot_destroy(taken), "destroying a snapshot");
  }
  static void snapshot_json() {
    char* text = nullptr;
    must(sconce_memory_get_snapshot_json(&text), "a snapshot");
    sconce_string_free(text);
  }

 private:
  /// NULL when memory ran out; whatever else goes wrong ends the program.
  static void* allocated(void* pointer, sconce_status status) {
    if (status != SCONCE_OK) [[unlikely]] {
      if (status != SCONCE_ERROR_OUT_OF_MEMORY) {
        must(status, "allocating");
      }
      return nullptr;
    }
    return pointer;
  }

  std::array<sconce_stream, memory_bench::most_streams + 1> streams_{};
};

}  // namespace

int main(int argc, char** argv) {
  const memory_bench::Options options(argc, argv);
  if (!options.valid) {
    return 2;
  }
  must(sconce_init(), "starting up");
  if (sconce_backend_get_active() == SCONCE_BACKEND_NONE) {
    std::fprintf(stderr, "there is no device; SCONCE_BACKEND=sim measures on the simulator\n");
    return 1;
  }
  Sconce backend;
  return memory_bench::run(backend, options);
}
