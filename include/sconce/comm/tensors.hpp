/// \file
/// Tensors on several devices of one process, as in `torch.cuda.comm`.
#ifndef SCONCE_COMM_TENSORS_HPP
#define SCONCE_COMM_TENSORS_HPP

#include <sconce/c/comm_tensors.h>
#include <sconce/c/device.h>
#include <sconce/c/library.h>
#include <sconce/c/stream.h>
#include <sconce/c/tensor.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <sconce/cuda/stream.hpp>
#include <sconce/tensor/tensor.hpp>
#include <string>
#include <utility>
#include <vector>

namespace sconce {
inline namespace v0 {
namespace cuda {

/// Copies of tensors to all devices and back, with PyTorch's results and streams. Copies run on the
/// current stream of the source's device, and the current stream of the destination waits for them.
/// Copies of large tensors to three or more devices are one collective operation on the current
/// streams of all of them. Corresponds to `torch.cuda.comm`.
namespace comm {

/// The size of the buffers into which small tensors are joined, in bytes, as in PyTorch.
inline constexpr std::size_t kDefaultBufferSize = 10485760;

/// \cond
namespace detail {

using ::sconce::detail::check;
using ::sconce::detail::handles_of;
using ::sconce::detail::tensor_of;
using ::sconce::detail::tensors_of;

/// `count` tensors, which `call` writes.
template <class Call>
std::vector<Tensor> all_of(std::size_t count, Call&& call) {
  return tensors_of(count, [&](sconce_tensor** out, std::size_t* out_count) {
    const sconce_status status = call(out);
    *out_count = status == SCONCE_OK ? count : 0;
    return status;
  });
}

/// Consecutive lists of `count` tensors each.
inline std::vector<std::vector<Tensor>> lists_of(std::vector<Tensor> all, std::size_t lists,
                                                 std::size_t count) {
  std::vector<std::vector<Tensor>> result;
  result.reserve(lists);
  for (std::size_t list = 0; list < lists; ++list) {
    const auto begin =
        std::make_move_iterator(all.begin() + static_cast<std::ptrdiff_t>(list * count));
    result.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(count));
  }
  return result;
}

}  // namespace detail
/// \endcond

/// The tensor on each device; on its own device, the tensor itself.
[[nodiscard]] inline std::vector<Tensor> broadcast(const Tensor& tensor,
                                                   const std::vector<std::int32_t>& devices) {
  return detail::all_of(devices.size(), [&](sconce_tensor** out) {
    return ::sconce_comm_tensors_broadcast(tensor.get(), devices.data(), devices.size(), out);
  });
}
/// Copies a tensor to tensors of devices, which have its shape.
inline void broadcast_out(const Tensor& tensor, const std::vector<Tensor>& out) {
  const auto handles = detail::handles_of(out);
  detail::check(::sconce_comm_tensors_broadcast_out(tensor.get(), handles.data(), handles.size()));
}
/// Copies many tensors of the first device to each device, with few copies. The result has a list
/// for each device; the first list has the tensors themselves.
[[nodiscard]] inline std::vector<std::vector<Tensor>> broadcast_coalesced(
    const std::vector<Tensor>& tensors, const std::vector<std::int32_t>& devices,
    std::size_t buffer_size = kDefaultBufferSize) {
  const auto handles = detail::handles_of(tensors);
  auto all = detail::all_of(tensors.size() * devices.size(), [&](sconce_tensor** out) {
    return ::sconce_comm_tensors_broadcast_coalesced(handles.data(), handles.size(), devices.data(),
                                                     devices.size(), buffer_size, out);
  });
  return detail::lists_of(std::move(all), devices.size(), tensors.size());
}
/// The sum of tensors of one shape, on the device of one of them: the current one by default. The
/// sum of one tensor is that tensor.
[[nodiscard]] inline Tensor reduce_add(const std::vector<Tensor>& inputs,
                                       std::int32_t destination = -1) {
  const auto handles = detail::handles_of(inputs);
  return detail::tensor_of([&](sconce_tensor** out) {
    return ::sconce_comm_tensors_reduce_add(handles.data(), handles.size(), destination, out);
  });
}
/// The sums of many tensors, made with few copies; `inputs` has a list for each device.
/// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` if the lists differ
[[nodiscard]] inline std::vector<Tensor> reduce_add_coalesced(
    const std::vector<std::vector<Tensor>>& inputs, std::int32_t destination = -1,
    std::size_t buffer_size = kDefaultBufferSize) {
  std::vector<Tensor> all;
  const std::size_t count = inputs.empty() ? 0 : inputs.front().size();
  for (const std::vector<Tensor>& list : inputs) {
    if (list.size() != count) {
      throw Error(SCONCE_ERROR_INVALID_ARGUMENT,
                  "the lists of reduce_add_coalesced have different numbers of tensors");
    }
    all.insert(all.end(), list.begin(), list.end());
  }
  const auto handles = detail::handles_of(all);
  return detail::all_of(count, [&](sconce_tensor** out) {
    return ::sconce_comm_tensors_reduce_add_coalesced(handles.data(), inputs.size(), count,
                                                      destination, buffer_size, out);
  });
}
/// Parts of a tensor along a dimension, one on each device. A part that is on its device already is
/// a view. Without `chunk_sizes` the parts have equal sizes, and there may be fewer parts than
/// devices. A stream is used instead of the current one of its device.
[[nodiscard]] inline std::vector<Tensor> scatter(
    const Tensor& tensor, const std::vector<std::int32_t>& devices,
    const std::optional<std::vector<std::int64_t>>& chunk_sizes = std::nullopt,
    std::int64_t dim = 0, const std::vector<std::optional<CUDAStream>>& streams = {}) {
  if (chunk_sizes.has_value() && chunk_sizes->size() != devices.size()) {
    throw Error(SCONCE_ERROR_INVALID_ARGUMENT,
                "Expected devices and chunk_sizes to be of same length, but got len(devices) = " +
                    std::to_string(devices.size()) +
                    " and len(chunk_sizes) = " + std::to_string(chunk_sizes->size()));
  }
  std::vector<sconce_stream> values(devices.size());
  std::vector<const sconce_stream*> pointers(devices.size(), nullptr);
  for (std::size_t index = 0; index < std::min(devices.size(), streams.size()); ++index) {
    if (streams[index].has_value()) {
      values[index] = streams[index]->get();
      pointers[index] = &values[index];
    }
  }
  return detail::tensors_of(devices.size(), [&](sconce_tensor** out, std::size_t* out_count) {
    return ::sconce_comm_tensors_scatter(tensor.get(), devices.data(), devices.size(),
                                         chunk_sizes.has_value() ? chunk_sizes->data() : nullptr,
                                         dim, pointers.data(), out, out_count);
  });
}
/// Copies the parts of a tensor along a dimension to tensors of devices, whose sizes add up to its
/// size.
inline void scatter_out(const Tensor& tensor, const std::vector<Tensor>& out,
                        std::int64_t dim = 0) {
  const auto handles = detail::handles_of(out);
  detail::check(
      ::sconce_comm_tensors_scatter_out(tensor.get(), handles.data(), handles.size(), dim));
}
/// Tensors of devices joined along a dimension, on the CPU or a device: the current one by default.
[[nodiscard]] inline Tensor gather(const std::vector<Tensor>& tensors, std::int64_t dim = 0,
                                   const sconce::Device& destination = sconce::kCUDA) {
  const auto handles = detail::handles_of(tensors);
  const std::int32_t place = destination.is_cpu() ? SCONCE_DEVICE_CPU : destination.index();
  return detail::tensor_of([&](sconce_tensor** out) {
    return ::sconce_comm_tensors_gather(handles.data(), handles.size(), dim, place, out);
  });
}
/// Joins tensors of devices along a dimension, and writes the result to `out`, on a device or the
/// CPU.
inline void gather_out(const std::vector<Tensor>& tensors, const Tensor& out,
                       std::int64_t dim = 0) {
  const auto handles = detail::handles_of(tensors);
  detail::check(::sconce_comm_tensors_gather_out(handles.data(), handles.size(), dim, out.get()));
}

}  // namespace comm
}  // namespace cuda
}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_COMM_TENSORS_HPP
