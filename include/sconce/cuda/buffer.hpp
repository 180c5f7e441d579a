/// \file
/// Owners of memory: `DeviceBuffer` on a device, `PinnedBuffer` on the host.
///
/// A buffer consists of bytes. `span` and `data` view them as elements of a type, and check size
/// and alignment.
#ifndef SCONCE_CUDA_BUFFER_HPP
#define SCONCE_CUDA_BUFFER_HPP

#include <sconce/c/host_memory.h>
#include <sconce/c/library.h>
#include <sconce/c/memory.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <sconce/cuda/host_memory.hpp>
#include <sconce/cuda/memory.hpp>
#include <sconce/cuda/span.hpp>
#include <string>
#include <type_traits>

namespace sconce {
inline namespace v0 {
namespace detail {

/// How a `DeviceBuffer` is freed.
struct FreeDeviceMemory {
  static constexpr const char* operation = "freeing a DeviceBuffer";
  static Status release(void* ptr) noexcept { return ::sconce_memory_free(ptr); }
};

/// How a `PinnedBuffer` is freed.
struct FreePinnedMemory {
  static constexpr const char* operation = "freeing a PinnedBuffer";
  static Status release(void* ptr) noexcept { return ::sconce_host_memory_free(ptr); }
};

/// Frees the memory of an owner, and holds its size. A failure is logged, since a destructor
/// returns no status.
template <class Free>
struct FreeBytes {
  std::size_t bytes = 0;

  void operator()(void* ptr) const noexcept { log_failure(Free::release(ptr), Free::operation); }
};

/// Returns the bytes of `count` elements of a type.
/// \throws Error if the number overflows
template <class T>
std::size_t bytes_of(std::size_t count) {
  static_assert(std::is_trivially_copyable_v<T> && !std::is_const_v<T>,
                "a buffer holds elements that may be copied byte by byte");
  if (count > std::numeric_limits<std::size_t>::max() / sizeof(T)) {
    throw Error(SCONCE_ERROR_INVALID_ARGUMENT, std::to_string(count) + " elements of " +
                                                   std::to_string(sizeof(T)) +
                                                   " bytes exceed the largest size");
  }
  return count * sizeof(T);
}

[[noreturn]] inline void throw_not_aligned(const void* ptr, std::size_t alignment) {
  throw Error(SCONCE_ERROR_INVALID_ARGUMENT,
              "the elements would begin " +
                  std::to_string(reinterpret_cast<std::uintptr_t>(ptr) % alignment) +
                  " bytes behind a multiple of " + std::to_string(alignment) +
                  ", their alignment; choose another offset");
}

[[noreturn]] inline void throw_out_of_buffer(std::size_t offset, std::size_t count,
                                             std::size_t element, std::size_t bytes) {
  throw Error(SCONCE_ERROR_INVALID_ARGUMENT, std::to_string(count) + " elements of " +
                                                 std::to_string(element) + " bytes from byte " +
                                                 std::to_string(offset) + " on leave a buffer of " +
                                                 std::to_string(bytes) + " bytes");
}

/// Returns the number of elements of a type in `bytes` bytes.
/// \throws Error if bytes remain
template <class T>
std::size_t count_of(std::size_t bytes) {
  static_assert(std::is_trivially_copyable_v<T>,
                "memory is viewed as elements that may be copied byte by byte");
  if (bytes % sizeof(T) != 0) {
    throw_not_divisible(bytes, sizeof(T));
  }
  return bytes / sizeof(T);
}

/// Returns `ptr` as the address of elements of a type.
/// \throws Error unless it has their alignment
template <class T, class Void>
T* typed(Void* ptr) {
  if (reinterpret_cast<std::uintptr_t>(ptr) % alignof(T) != 0) {
    throw_not_aligned(ptr, alignof(T));
  }
  return static_cast<T*>(ptr);
}

/// Returns all of a buffer as a view.
template <template <class> class View, class T, class Void>
View<T> view_all(Void* ptr, std::size_t bytes) {
  const std::size_t count = count_of<T>(bytes);
  return View<T>(typed<T>(ptr), count);
}

/// Returns `count` elements from the byte `offset` on.
/// \throws Error if they leave the buffer, or are not aligned
template <template <class> class View, class T, class Void>
View<T> view_part(Void* ptr, std::size_t bytes, std::size_t offset, std::size_t count) {
  using Byte = std::conditional_t<std::is_const_v<Void>, const std::byte, std::byte>;
  static_assert(std::is_trivially_copyable_v<T>,
                "memory is viewed as elements that may be copied byte by byte");
  if (offset > bytes || count > (bytes - offset) / sizeof(T)) {
    throw_out_of_buffer(offset, count, sizeof(T), bytes);
  }
  Void* const begin = static_cast<Byte*>(ptr) + offset;
  return View<T>(typed<T>(begin), count);
}

/// Owned memory, with typed views of it. Movable, not copyable. A const owner returns read-only
/// views.
template <template <class> class View, class Free>
class OwnedMemory {
 public:
  /// The address; null without memory. The host cannot access device memory.
  [[nodiscard]] void* get() noexcept { return ptr_.get(); }
  /// The address, read-only.
  [[nodiscard]] const void* get() const noexcept { return ptr_.get(); }

  /// The number of bytes.
  [[nodiscard]] std::size_t bytes() const noexcept { return ptr_ ? ptr_.get_deleter().bytes : 0; }

  /// Whether there is memory.
  explicit operator bool() const noexcept { return ptr_ != nullptr; }

  /// The number of elements of a type.
  /// \throws Error if bytes remain
  template <class T>
  [[nodiscard]] std::size_t size() const {
    return count_of<T>(bytes());
  }

  /// The address of elements of a type.
  /// \throws Error if bytes remain
  template <class T>
  [[nodiscard]] T* data() {
    return span<T>().data();
  }
  /// The address of elements of a type, read-only.
  template <class T>
  [[nodiscard]] const T* data() const {
    return span<T>().data();
  }

  /// Returns all of the memory as elements of a type.
  /// \throws Error if bytes remain
  template <class T>
  [[nodiscard]] View<T> span() {
    return view_all<View, T>(get(), bytes());
  }
  /// Returns all of the memory as elements of a type, read-only.
  template <class T>
  [[nodiscard]] View<const T> span() const {
    return view_all<View, const T>(get(), bytes());
  }

  /// Returns `count` elements of a type from the byte `offset_bytes` on.
  /// \throws Error if they leave the memory, or if `offset_bytes` is not a multiple of their
  ///         alignment
  template <class T>
  [[nodiscard]] View<T> span(std::size_t offset_bytes, std::size_t count) {
    return view_part<View, T>(get(), bytes(), offset_bytes, count);
  }
  /// Returns `count` elements of a type from the byte `offset_bytes` on, read-only.
  template <class T>
  [[nodiscard]] View<const T> span(std::size_t offset_bytes, std::size_t count) const {
    return view_part<View, const T>(get(), bytes(), offset_bytes, count);
  }

 protected:
  OwnedMemory() noexcept = default;
  OwnedMemory(void* ptr, std::size_t bytes) noexcept : ptr_(ptr, FreeBytes<Free>{bytes}) {}
  OwnedMemory(OwnedMemory&&) noexcept = default;
  OwnedMemory& operator=(OwnedMemory&&) noexcept = default;
  ~OwnedMemory() = default;

  std::unique_ptr<void, FreeBytes<Free>> ptr_;
};

}  // namespace detail
}  // namespace v0
}  // namespace sconce

namespace sconce {
inline namespace v0 {
namespace cuda {

/// Device memory. Owns it; movable, not copyable. Corresponds to `c10::DataPtr`.
///
/// The destructor frees the memory on its stream, whose queued work may still use it. Note work of
/// other streams with `record_stream`. A const buffer returns read-only views.
class [[nodiscard]] DeviceBuffer
    : public detail::OwnedMemory<DeviceSpan, detail::FreeDeviceMemory> {
 public:
  /// No memory.
  SCONCE_NODISCARD_CTOR DeviceBuffer() noexcept = default;

  /// Allocates memory of the current device for its current stream.
  /// \throws OutOfMemoryError
  SCONCE_NODISCARD_CTOR explicit DeviceBuffer(std::size_t bytes)
      : OwnedMemory(CUDACachingAllocator::raw_alloc(bytes), bytes) {}

  /// Allocates memory of the stream's device for that stream.
  /// \throws OutOfMemoryError
  SCONCE_NODISCARD_CTOR DeviceBuffer(std::size_t bytes, const CUDAStream& stream)
      : OwnedMemory(CUDACachingAllocator::raw_alloc_with_stream(bytes, stream), bytes) {}

  /// Allocates memory for `count` elements of a type, e.g. `DeviceBuffer::of<float>(1000)`.
  /// \throws OutOfMemoryError
  template <class T>
  [[nodiscard]] static DeviceBuffer of(std::size_t count) {
    return DeviceBuffer(detail::bytes_of<T>(count));
  }

  /// Allocates memory for `count` elements of a type on the stream's device, for that stream.
  /// \throws OutOfMemoryError
  template <class T>
  [[nodiscard]] static DeviceBuffer of(std::size_t count, const CUDAStream& stream) {
    return DeviceBuffer(detail::bytes_of<T>(count), stream);
  }

  /// Notes that work of another stream uses the memory.
  void record_stream(const CUDAStream& stream) const {
    CUDACachingAllocator::recordStream(ptr_.get(), stream);
  }

  /// Frees the memory.
  void reset() noexcept { ptr_.reset(); }

  /// Releases ownership and returns the memory, which the caller frees with
  /// `CUDACachingAllocator::raw_delete`.
  [[nodiscard]] void* release() noexcept { return ptr_.release(); }

  /// Exchanges the memory of two buffers.
  void swap(DeviceBuffer& other) noexcept { ptr_.swap(other.ptr_); }
  /// Exchanges the memory of two buffers.
  friend void swap(DeviceBuffer& a, DeviceBuffer& b) noexcept { a.swap(b); }
};

/// Pinned host memory. Owns it; movable, not copyable. Corresponds to the `c10::DataPtr` of a
/// pinned tensor.
///
/// The buffer may be destroyed while copies of this library use it: the memory is not reused before
/// they have finished. Note other work with `record_stream`. A const buffer returns read-only
/// views.
class [[nodiscard]] PinnedBuffer : public detail::OwnedMemory<Span, detail::FreePinnedMemory> {
 public:
  /// No memory.
  SCONCE_NODISCARD_CTOR PinnedBuffer() noexcept = default;

  /// Allocates `bytes` bytes with undefined contents.
  /// \throws OutOfMemoryError
  SCONCE_NODISCARD_CTOR explicit PinnedBuffer(std::size_t bytes)
      : OwnedMemory(CachingHostAllocator::raw_alloc(bytes), bytes) {}

  /// Allocates memory for `count` elements of a type, e.g. `PinnedBuffer::of<float>(1000)`.
  /// \throws OutOfMemoryError
  template <class T>
  [[nodiscard]] static PinnedBuffer of(std::size_t count) {
    return PinnedBuffer(detail::bytes_of<T>(count));
  }

  /// Notes that work of a stream uses the memory. Copies of this library are noted automatically.
  void record_stream(const CUDAStream& stream) const {
    CachingHostAllocator::recordStream(ptr_.get(), stream);
  }

  /// Frees the memory.
  void reset() noexcept { ptr_.reset(); }

  /// Releases ownership and returns the memory, which the caller frees with
  /// `CachingHostAllocator::raw_delete`.
  [[nodiscard]] void* release() noexcept { return ptr_.release(); }

  /// Exchanges the memory of two buffers.
  void swap(PinnedBuffer& other) noexcept { ptr_.swap(other.ptr_); }
  /// Exchanges the memory of two buffers.
  friend void swap(PinnedBuffer& a, PinnedBuffer& b) noexcept { a.swap(b); }
};

namespace CUDACachingAllocator {

/// Notes that work of `stream` uses the buffer, as `DeviceBuffer::record_stream`.
inline void recordStream(const DeviceBuffer& buffer, const CUDAStream& stream) {
  buffer.record_stream(stream);
}

}  // namespace CUDACachingAllocator

namespace CachingHostAllocator {

/// Notes that work of `stream` uses the buffer, as `PinnedBuffer::record_stream`.
inline void recordStream(const PinnedBuffer& buffer, const CUDAStream& stream) {
  buffer.record_stream(stream);
}

}  // namespace CachingHostAllocator

}  // namespace cuda
}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_CUDA_BUFFER_HPP
