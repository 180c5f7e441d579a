/// \file
/// Device memory shared with other processes: one process sends a handle, another opens it.
#ifndef SCONCE_CUDA_IPC_HPP
#define SCONCE_CUDA_IPC_HPP

#include <sconce/c/event.h>
#include <sconce/c/ipc.h>
#include <sconce/c/library.h>
#include <sconce/c/memory.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <sconce/cuda/buffer.hpp>
#include <string>
#include <type_traits>
#include <utility>

namespace sconce {
inline namespace v0 {
namespace detail {

/// How an `OpenedMemory` is closed.
struct CloseMemory {
  static constexpr const char* operation = "closing an OpenedMemory";
  static Status release(void* ptr) noexcept { return ::sconce_ipc_close_memory(ptr); }
};

[[noreturn]] inline void throw_out_of_allocation(std::size_t bytes, std::size_t offset,
                                                 std::size_t allocated) {
  throw Error(SCONCE_ERROR_INVALID_ARGUMENT,
              "bytes is " + std::to_string(bytes) + ", but " + std::to_string(allocated - offset) +
                  " are left behind ptr in its allocation of " + std::to_string(allocated) +
                  " bytes; pass the size that was requested");
}

}  // namespace detail
}  // namespace v0
}  // namespace sconce

namespace sconce {
inline namespace v0 {
namespace cuda {

/// The bytes with which another process opens device memory. They may be sent over a pipe as they
/// are.
struct IpcMemoryHandle {
  std::array<std::uint8_t, SCONCE_IPC_HANDLE_BYTES> handle{};  ///< names the driver allocation
  std::uint64_t offset_bytes = 0;                              ///< the offset of the memory in it
  std::uint64_t bytes = 0;                                     ///< the size of the memory
};
static_assert(std::is_trivially_copyable_v<IpcMemoryHandle> && sizeof(IpcMemoryHandle) == 80,
              "a handle is sent as its bytes");

/// Returns a handle for `bytes` bytes of device memory, of this library or of other code. The
/// memory stays the caller's. If it is freed while another process has it open, it is not reused
/// before that process has closed it or ended.
///
/// If `ptr` is the beginning of an allocation of this library, `bytes` must be within its block. If
/// `ptr` is inside one, `bytes` must be within the driver allocation, or the pages of the block,
/// which may contain other memory. For memory of other code `bytes` is not checked.
///
/// The other process must not use the memory before work that is queued here has finished: share an
/// event, too. Corresponds to `torch.UntypedStorage._share_cuda_`.
/// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` if the memory is not device memory, cannot be
///         shared, or leaves the allocation; `SCONCE_ERROR_INVALID_STATE` if it is asleep
[[nodiscard]] inline IpcMemoryHandle ipc_memory_handle(void* ptr, std::size_t bytes) {
  IpcMemoryHandle handle;
  std::size_t offset = 0;
  detail::check(::sconce_ipc_get_memory_handle(ptr, handle.handle.data(), &offset));
  void* base = nullptr;
  std::size_t allocated = 0;
  // Both fail for memory that is not of this library, about which nothing is known here.
  if (::sconce_memory_get_usable_bytes(ptr, &allocated) == SCONCE_OK) {
    if (bytes > allocated) {
      detail::throw_out_of_allocation(bytes, 0, allocated);
    }
  } else if (::sconce_memory_get_base(ptr, &base, &allocated) == SCONCE_OK && offset <= allocated &&
             bytes > allocated - offset) {
    detail::throw_out_of_allocation(bytes, offset, allocated);
  }
  handle.offset_bytes = offset;
  handle.bytes = bytes;
  return handle;
}

/// Returns a handle for the memory of a buffer. In another process the memory is writable, even if
/// the buffer is const.
[[nodiscard]] inline IpcMemoryHandle ipc_memory_handle(const DeviceBuffer& buffer) {
  return ipc_memory_handle(const_cast<void*>(buffer.get()), buffer.bytes());
}

/// Returns a handle for the elements of a view.
template <class T>
[[nodiscard]] IpcMemoryHandle ipc_memory_handle(DeviceSpan<T> view) {
  static_assert(!std::is_const_v<T>, "another process may write what it opens");
  return ipc_memory_handle(static_cast<void*>(view.data()), view.size_bytes());
}

/// Opened device memory of another process. Closes it in the destructor; movable, not copyable. A
/// destructor that runs while a stream of the device is being captured leaves the memory open and
/// logs that: call `close()` after the capture.
class [[nodiscard]] OpenedMemory : public detail::OwnedMemory<DeviceSpan, detail::CloseMemory> {
 public:
  /// No memory.
  SCONCE_NODISCARD_CTOR OpenedMemory() noexcept = default;

  /// Opens memory of another process on the device of the memory, -1 for the current one.
  /// Corresponds to `torch.UntypedStorage._new_shared_cuda`.
  /// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` for a handle of this process or of another
  ///         device, `SCONCE_ERROR_INVALID_HANDLE` if its process has ended or freed the memory,
  ///         `SCONCE_ERROR_INVALID_STATE` if the memory is asleep there
  SCONCE_NODISCARD_CTOR explicit OpenedMemory(const IpcMemoryHandle& handle,
                                              DeviceIndex device = -1) {
    void* ptr = nullptr;
    detail::check(::sconce_ipc_open_memory(device, handle.handle.data(),
                                           static_cast<std::size_t>(handle.offset_bytes), &ptr));
    ptr_ = {ptr, decltype(ptr_)::deleter_type{static_cast<std::size_t>(handle.bytes)}};
  }

  /// Closes the memory, as the destructor does, and throws if that fails; the memory is then still
  /// open. The last close of an allocation waits for the device.
  void close() {
    detail::check(::sconce_ipc_close_memory(ptr_.get()));
    (void)ptr_.release();
  }

  /// Releases ownership and returns the address, which the caller closes with
  /// `sconce_ipc_close_memory`.
  [[nodiscard]] void* release() noexcept { return ptr_.release(); }

  /// Exchanges the opened memory of two objects.
  void swap(OpenedMemory& other) noexcept { ptr_.swap(other.ptr_); }
  /// Exchanges the opened memory of two objects.
  friend void swap(OpenedMemory& a, OpenedMemory& b) noexcept { a.swap(b); }
};

/// Makes freed memory reusable if all processes that had it open have closed it or have ended. The
/// library also does this by itself a little later.
///
/// Corresponds to `torch.cuda.ipc_collect`.
inline void ipc_collect() { detail::check(::sconce_ipc_collect()); }

/// Sets how long opening memory waits for the answer of the other process (10 s by default).
inline void set_ipc_timeout(std::chrono::milliseconds timeout) {
  const auto most = std::chrono::milliseconds(UINT32_MAX);
  const auto count = std::clamp(timeout, std::chrono::milliseconds(0), most).count();
  detail::check(::sconce_ipc_set_timeout_ms(static_cast<std::uint32_t>(count)));
}

/// How long opening memory waits for the answer of the other process.
[[nodiscard]] inline std::chrono::milliseconds ipc_timeout() {
  std::uint32_t milliseconds = 0;
  detail::check(::sconce_ipc_get_timeout_ms(&milliseconds));
  return std::chrono::milliseconds(milliseconds);
}

}  // namespace cuda
}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_CUDA_IPC_HPP
