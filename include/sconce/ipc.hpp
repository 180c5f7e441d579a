/// \file
/// Device memory shared with other processes: a handle is sent, and opened there.
#ifndef SCONCE_IPC_HPP
#define SCONCE_IPC_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <sconce/buffer.hpp>
#include <type_traits>
#include <utility>

namespace sconce::cuda {

/// What another process needs to open device memory: plain bytes, to be sent over a pipe as they
/// are.
struct IpcMemoryHandle {
  std::array<std::uint8_t, SCONCE_IPC_HANDLE_BYTES> handle{};  ///< names the driver's allocation
  std::uint64_t offset_bytes = 0;                              ///< where in it the memory begins
  std::uint64_t bytes = 0;                                     ///< how much memory it is
};
static_assert(std::is_trivially_copyable_v<IpcMemoryHandle> && sizeof(IpcMemoryHandle) == 80,
              "a handle is sent as its bytes");

/// A handle for `bytes` bytes of device memory: of this library, or of anyone who got it from the
/// driver. The memory stays the caller's; if it is freed while another process has it open, it is
/// not used again before that process has closed it or ended.
///
/// `bytes` is believed: the other process may reach as far as it says, within the driver's
/// allocation.
///
/// The other process must not use the memory before work that is queued here has finished: share an
/// event, too. Answers to `torch.UntypedStorage._share_cuda_`.
/// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` for what is not device memory, or cannot be shared
[[nodiscard]] inline IpcMemoryHandle ipc_memory_handle(void* ptr, std::size_t bytes) {
  IpcMemoryHandle handle;
  std::size_t offset = 0;
  detail::check(::sconce_ipc_get_memory_handle(ptr, handle.handle.data(), &offset));
  handle.offset_bytes = offset;
  handle.bytes = bytes;
  return handle;
}

/// A handle for the memory of a buffer.
[[nodiscard]] inline IpcMemoryHandle ipc_memory_handle(DeviceBuffer& buffer) {
  return ipc_memory_handle(buffer.get(), buffer.bytes());
}

/// A handle for the elements of a view.
template <class T>
[[nodiscard]] IpcMemoryHandle ipc_memory_handle(DeviceSpan<T> view) {
  static_assert(!std::is_const_v<T>, "another process may write what it opens");
  return ipc_memory_handle(static_cast<void*>(view.data()), view.size_bytes());
}

/// Device memory of another process. Owns the opening; movable, not copyable. A destructor that
/// runs while a stream of the device is being captured leaves the memory open: call `close()` after
/// it.
class OpenedMemory {
 public:
  /// No memory.
  OpenedMemory() noexcept = default;

  /// Opens memory of another process on the device whose memory it is, -1 for the current one.
  /// Answers to `torch.UntypedStorage._new_shared_cuda`.
  /// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` for a handle of this process or of another
  ///         device, `SCONCE_ERROR_INVALID_HANDLE` if its process has ended or freed the memory
  explicit OpenedMemory(const IpcMemoryHandle& handle, DeviceIndex device = -1) {
    void* ptr = nullptr;
    detail::check(::sconce_ipc_open_memory(device, handle.handle.data(),
                                           static_cast<std::size_t>(handle.offset_bytes), &ptr));
    ptr_ = {ptr, Close{static_cast<std::size_t>(handle.bytes)}};
  }

  /// The device address in this process; null when nothing is open. The host cannot follow it.
  [[nodiscard]] void* get() noexcept { return ptr_.get(); }
  /// The device address, read only.
  [[nodiscard]] const void* get() const noexcept { return ptr_.get(); }

  /// How much memory the handle was for.
  [[nodiscard]] std::size_t bytes() const noexcept { return ptr_ ? ptr_.get_deleter().bytes : 0; }

  /// Whether memory is open.
  explicit operator bool() const noexcept { return ptr_ != nullptr; }

  /// All of it as elements of a type. \throws Error if bytes are left over
  template <class T>
  [[nodiscard]] DeviceSpan<T> span() {
    return detail::view_all<DeviceSpan, T>(get(), bytes());
  }
  /// The same, read only.
  template <class T>
  [[nodiscard]] DeviceSpan<const T> span() const {
    return detail::view_all<DeviceSpan, const T>(get(), bytes());
  }

  /// `count` elements of a type from the byte `offset_bytes` on. \throws Error if they leave the
  /// memory, or `offset_bytes` is no multiple of their alignment
  template <class T>
  [[nodiscard]] DeviceSpan<T> span(std::size_t offset_bytes, std::size_t count) {
    return detail::view_part<DeviceSpan, T>(get(), bytes(), offset_bytes, count);
  }
  /// The same, read only.
  template <class T>
  [[nodiscard]] DeviceSpan<const T> span(std::size_t offset_bytes, std::size_t count) const {
    return detail::view_part<DeviceSpan, const T>(get(), bytes(), offset_bytes, count);
  }

  /// Closes the memory, as the destructor does, and tells if that fails; then it is open still. The
  /// last closing of an allocation waits for the device.
  void close() {
    detail::check(::sconce_ipc_close_memory(ptr_.get()));
    (void)ptr_.release();
  }

 private:
  using Close = detail::FreeBytes<&::sconce_ipc_close_memory>;
  std::unique_ptr<void, Close> ptr_;
};

/// Makes freed memory usable again whose last consumer in another process has closed it or ended.
/// This happens by itself as well, soon after.
///
/// Answers to `torch.cuda.ipc_collect`.
inline void ipc_collect() { detail::check(::sconce_ipc_collect()); }

}  // namespace sconce::cuda

#endif  // SCONCE_IPC_HPP
