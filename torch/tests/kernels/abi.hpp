// What a kernel library uses of PyTorch's stable ABI, declared for tests, and C++ over it as
// PyTorch's own headers do it: a call that fails throws its text, and handles are owned.
#ifndef SCONCE_TESTS_KERNELS_ABI_HPP
#define SCONCE_TESTS_KERNELS_ABI_HPP

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <utility>
#include <vector>

extern "C" {
using Boxed = void (*)(std::uint64_t*, std::uint64_t, std::uint64_t);
std::int32_t aoti_torch_library_init_def(const char*, const char*, std::uint32_t, void**);
std::int32_t aoti_torch_library_init_fragment(const char*, const char*, std::uint32_t, void**);
std::int32_t aoti_torch_library_init_impl(const char*, const char*, const char*, std::uint32_t,
                                          void**);
std::int32_t aoti_torch_library_def(void*, const char*);
std::int32_t torch_library_impl(void*, const char*, Boxed, std::uint64_t);
std::int32_t aoti_torch_delete_library_object(void*);
std::int32_t torch_call_dispatcher(const char*, const char*, std::uint64_t*, std::uint64_t);
std::int32_t aoti_torch_delete_tensor_object(void*);
std::int32_t aoti_torch_new_tensor_handle(void*, void**);
std::int32_t aoti_torch_get_numel(void*, std::int64_t*);
std::int32_t torch_get_mutable_data_ptr(void*, void**);
std::int32_t torch_new_list_reserve_size(std::size_t, void**);
std::int32_t torch_list_push_back(void*, std::uint64_t);
std::int32_t torch_list_size(void*, std::size_t*);
std::int32_t torch_list_get_item(void*, std::size_t, std::uint64_t*);
std::int32_t torch_delete_list(void*);
std::int32_t torch_string_c_str(void*, const char**);
std::int32_t torch_delete_string(void*);
std::int32_t torch_parallel_for(std::int64_t, std::int64_t, std::int64_t,
                                void (*)(std::int64_t, std::int64_t, void*), void*);
std::int32_t torch_new_generator_handle(void*, void**);
std::int32_t torch_delete_generator(void*);
std::int32_t torch_generator_get_device(void*, std::int32_t*, std::int32_t*);
const char* torch_exception_get_what();
}

inline void check(std::int32_t status) {
  if (status != 0) {
    throw std::runtime_error(torch_exception_get_what());
  }
}

// A handle that is owned.
class Handle {
 public:
  explicit Handle(std::uint64_t word) : handle_(reinterpret_cast<void*>(word)) {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  Handle(Handle&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Handle& operator=(Handle&&) = delete;
  ~Handle() {
    if (handle_ != nullptr) {
      aoti_torch_delete_tensor_object(handle_);
    }
  }
  void* get() const { return handle_; }
  std::uint64_t release() {
    return reinterpret_cast<std::uint64_t>(std::exchange(handle_, nullptr));
  }
  // Another owned handle of the tensor, as a word of a stack.
  std::uint64_t word() const {
    void* other = nullptr;
    check(aoti_torch_new_tensor_handle(handle_, &other));
    return reinterpret_cast<std::uint64_t>(other);
  }
  float* data() const {
    void* address = nullptr;
    check(torch_get_mutable_data_ptr(handle_, &address));
    return static_cast<float*>(address);
  }
  std::int64_t numel() const {
    std::int64_t numel = 0;
    check(aoti_torch_get_numel(handle_, &numel));
    return numel;
  }

 private:
  void* handle_;
};

// A library object that a static initialiser creates.
class Registered {
 public:
  template <class Register>
  Registered(const char* key, Register&& add) {
    if (key == nullptr) {
      aoti_torch_library_init_fragment("sample", __FILE__, __LINE__, &library_);
    } else {
      aoti_torch_library_init_impl("sample", key, __FILE__, __LINE__, &library_);
    }
    add(library_);
  }
  Registered(const Registered&) = delete;
  Registered& operator=(const Registered&) = delete;
  ~Registered() { aoti_torch_delete_library_object(library_); }

 private:
  void* library_ = nullptr;
};

inline double real(std::uint64_t word) {
  double value = 0;
  std::memcpy(&value, &word, sizeof(value));
  return value;
}

inline std::uint64_t word_of(double value) {
  std::uint64_t word = 0;
  std::memcpy(&word, &value, sizeof(value));
  return word;
}

constexpr std::uint64_t version = (2ULL << 56) | (11ULL << 48);

#endif
