// PyTorch's allocator of CPU memory, a C++ object that the generated code of flexible attention
// calls. Only what such code uses is here: the order of the virtual functions and the members of
// what they return are facts of c10.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

namespace {

using Deleter = void (*)(void*);

// Memory and its owner. The code that receives it destroys the owner.
struct DataPtr {
  void* data;
  std::unique_ptr<void, Deleter> owner;
  std::int8_t device_type;
  std::int8_t device_index;
};

constexpr std::size_t alignment = 64;

class Allocator {
 public:
  virtual ~Allocator() = default;

  virtual DataPtr allocate(std::size_t bytes) {
    // The size of aligned memory is a multiple of the alignment.
    const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
    void* data = bytes == 0 ? nullptr : std::aligned_alloc(alignment, rounded);
    if (bytes != 0 && (data == nullptr || rounded < bytes)) {
      throw std::bad_alloc();
    }
    return {data, {data, &std::free}, 0, -1};
  }

  virtual bool is_simple_data_ptr(const DataPtr& pointer) const {
    return pointer.data == pointer.owner.get();
  }

  virtual Deleter raw_deleter() const { return &std::free; }

  virtual void copy_data(void* into, const void* from, std::size_t bytes) const {
    std::memcpy(into, from, bytes);
  }
};

}  // namespace

extern "C" void* sconce_torch_cpu_allocator() noexcept {
  // Never destroyed: threads of a program may allocate while it ends.
  static Allocator* const allocator = new Allocator;
  return allocator;
}
