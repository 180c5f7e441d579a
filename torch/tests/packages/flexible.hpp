// What the generated code of flexible attention does with C++ of PyTorch, in short: it takes memory
// from the allocator, guards its loops, and multiplies blocks. Declared as PyTorch 2.15 does.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

namespace c10 {
using DeleterFnPtr = void (*)(void*);
class DataPtr {
 public:
  void* get() const { return data_; }

 private:
  void* data_;
  std::unique_ptr<void, DeleterFnPtr> ctx_;
  std::int8_t device_type_;
  std::int8_t device_index_;
};
struct Allocator {
  virtual ~Allocator() = default;
  virtual DataPtr allocate(std::size_t bytes) = 0;
  virtual bool is_simple_data_ptr(const DataPtr& pointer) const;
  virtual DeleterFnPtr raw_deleter() const;
  virtual void copy_data(void* into, const void* from, std::size_t bytes) const = 0;
};
class ParallelGuard {
 public:
  ParallelGuard(bool state);
  ~ParallelGuard();

 private:
  bool previous_state_;
};
}  // namespace c10
namespace at {
c10::Allocator* getCPUAllocator();
int get_num_threads();
int get_thread_num();
bool in_parallel_region();
void init_num_threads();
namespace internal {
void set_thread_num(int);
}
namespace native {
namespace cpublas {
void brgemm(std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
            bool, const float*, const float*, float*, bool);
void brgemm_release(bool);
}  // namespace cpublas
}  // namespace native
}  // namespace at

// Twice each number: twos in the allocator's memory times the numbers as one row. Whether all went
// well.
inline bool double_by_blocks(const float* from, float* to, std::int64_t count) {
  at::init_num_threads();
  c10::Allocator& allocator = *at::getCPUAllocator();
  c10::DataPtr memory = allocator.allocate(3 * sizeof(float));
  const c10::DataPtr nothing = allocator.allocate(0);
  auto* two = static_cast<float*>(memory.get());
  const float twos[] = {2, 2, 2};
  allocator.copy_data(two, twos, sizeof(twos));
  bool is_right = nothing.get() == nullptr && allocator.is_simple_data_ptr(memory) &&
                  reinterpret_cast<std::uintptr_t>(two) % 64 == 0 && at::get_num_threads() == 1;
  {
    const c10::ParallelGuard guard(true);
    at::internal::set_thread_num(at::get_thread_num());
    is_right = is_right && at::in_parallel_region();
    at::native::cpublas::brgemm(1, count, 1, 1, count, count, false, two + 2, from, to, false);
    at::native::cpublas::brgemm_release(false);
  }
  return is_right && !at::in_parallel_region();
}
