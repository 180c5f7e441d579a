/// \file
/// `c10::Stream`, a stream of a device of any kind, for code written for c10. Part of
/// `<sconce/compat/torch.hpp>`.
#ifndef SCONCE_COMPAT_CORE_STREAM_HPP
#define SCONCE_COMPAT_CORE_STREAM_HPP

#include <ostream>
#include <sconce/compat/core/names.hpp>

namespace sconce {
inline namespace v0 {
namespace compat {
namespace c10 {

/// A stream by its device and its id. There are streams of CUDA devices only. Corresponds to
/// `c10::Stream`.
class Stream {
 public:
  /// Marks a constructor that checks nothing.
  enum Unsafe { UNSAFE };
  /// Marks the constructor of default streams.
  enum Default { DEFAULT };

  /// A stream by its numbers.
  Stream(Unsafe, Device device, StreamId id) noexcept : device_(device), id_(id) {}
  /// The default stream of a device.
  Stream(Default, Device device) noexcept : device_(device), id_(0) {}
  /// The same stream.
  Stream(const ::sconce::cuda::CUDAStream& stream) noexcept  // NOLINT: as c10's
      : device_(stream.device()), id_(stream.id()) {}
  /// The same stream: `c10::Stream s = stream.unwrap();`.
  Stream(const sconce_stream& stream) noexcept  // NOLINT: as c10's
      : Stream(::sconce::cuda::CUDAStream(stream)) {}

  /// The device.
  [[nodiscard]] Device device() const noexcept { return device_; }
  /// The kind of device.
  [[nodiscard]] DeviceType device_type() const noexcept { return device_.type(); }
  /// The index of the device.
  [[nodiscard]] DeviceIndex device_index() const noexcept { return device_.index(); }
  /// The id; a default stream's is 0.
  [[nodiscard]] StreamId id() const noexcept { return id_; }
  /// The stream in three numbers.
  [[nodiscard]] StreamData3 pack3() const noexcept { return cuda_stream().pack3(); }
  /// The stream with the numbers that `pack3` returned.
  [[nodiscard]] static Stream unpack3(StreamId id, DeviceIndex index, DeviceType type) noexcept {
    return {UNSAFE, Device(type, index), id};
  }
  /// Whether all work queued so far has finished.
  [[nodiscard]] bool query() const { return cuda_stream().query(); }
  /// Waits for the work queued so far.
  void synchronize() const { cuda_stream().synchronize(); }
  /// Whether both are one stream.
  friend bool operator==(const Stream& a, const Stream& b) noexcept {
    return a.device_ == b.device_ && a.id_ == b.id_;
  }
  /// Whether both are different streams.
  friend bool operator!=(const Stream& a, const Stream& b) noexcept { return !(a == b); }
  /// Writes the device and the id.
  friend std::ostream& operator<<(std::ostream& out, const Stream& stream) {
    return out << "stream " << stream.id_ << " on device " << stream.device_.str();
  }

 private:
  [[nodiscard]] ::sconce::cuda::CUDAStream cuda_stream() const noexcept {
    return ::sconce::cuda::CUDAStream(sconce_stream{id_, device_.index(), 0});
  }

  Device device_;
  StreamId id_;
};

}  // namespace c10
}  // namespace compat
}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_COMPAT_CORE_STREAM_HPP
