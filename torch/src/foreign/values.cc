// Memory of C++ and calls for parallel ranges, for foreign/words.rs.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <new>

extern "C" {

// Kernel libraries free optional values with C++'s `delete`, so they come from `new`.
std::uint64_t* sconce_torch_new_word() noexcept { return new (std::nothrow) std::uint64_t(0); }

void sconce_torch_delete_word(std::uint64_t* word) noexcept { delete word; }

std::int32_t sconce_torch_call_range(void (*function)(std::int64_t, std::int64_t, void*),
                                     std::int64_t begin, std::int64_t end, void* context,
                                     char* text, std::size_t capacity) noexcept {
  try {
    function(begin, end, context);
    return 0;
  } catch (const std::exception& error) {
    std::snprintf(text, capacity, "%s", error.what());
  } catch (...) {
    std::snprintf(text, capacity, "%s", "an exception that is no std::exception");
  }
  return -0x5c0ce;
}

}  // extern "C"
