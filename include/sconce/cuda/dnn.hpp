/// \file
/// Convolutions and their gradients, and handles of cuDNN.
#ifndef SCONCE_CUDA_DNN_HPP
#define SCONCE_CUDA_DNN_HPP

#include <sconce/c/dnn.h>
#include <sconce/c/library.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <sconce/cuda/memory_format.hpp>
#include <sconce/cuda/stream.hpp>
#include <sconce/detail/operand.hpp>
#include <string>

/// The target of a `cudnnHandle_t`; declared so that no header of cuDNN is needed.
struct cudnnContext;

namespace sconce {
inline namespace v0 {
namespace cuda {

/// Returns this thread's cuDNN handle for the current device, a `cudnnHandle_t`, set to the current
/// stream. Call it again after the device or the stream has changed. Only this
/// library can use the simulator's handle.
///
/// Corresponds to `at::native::getCudnnHandle`.
/// \throws Error `SCONCE_ERROR_LIBRARY_NOT_FOUND` if there is no cuDNN
[[nodiscard]] inline cudnnContext* getCurrentCUDADnnHandle() {
  void* handle = nullptr;
  detail::check(::sconce_dnn_get_handle(&handle));
  return static_cast<cudnnContext*>(handle);
}

/// cuDNN's version, e.g. 91900; none without cuDNN or a device.
///
/// Corresponds to `torch.backends.cudnn.version`.
[[nodiscard]] inline std::optional<std::int64_t> cudnn_version() {
  std::int64_t version = 0;
  const Status status = ::sconce_dnn_get_version(&version);
  if (status == SCONCE_ERROR_LIBRARY_NOT_FOUND || status == SCONCE_ERROR_NO_DEVICE) {
    return std::nullopt;
  }
  detail::check(status);
  return version;
}

/// A convolution (a cross-correlation, as in torch) of 1 to 3 spatial dimensions, as many as
/// `input_sizes` has, without a bias. Fields have the usual defaults: no padding, everything else
/// 1.
///
/// `stride`, `padding` and `dilation` have a number for each dimension, or one for all. A tensor's
/// strides, if it has any, are those of batch, channels, then the spatial dimensions (the filter's:
/// output channels, input channels of a group, spatial dimensions). Tensors without strides follow
/// `memory_format`.
struct Convolution {
  std::int64_t batch = 1;         ///< number of images
  std::int64_t in_channels = 1;   ///< channels of the input
  std::int64_t out_channels = 1;  ///< channels of the output
  DimVector input_sizes = {};     ///< spatial sizes of the input
  DimVector filter_sizes = {};    ///< spatial sizes of the filter
  DimVector stride = {1};         ///< step of the filter
  DimVector padding = {0};        ///< zeros on each side of the input
  DimVector dilation = {1};       ///< distance of the filter's elements on the input
  std::int64_t groups = 1;        ///< number of groups into which the channels are divided
  MemoryFormat memory_format = MemoryFormat::Contiguous;  ///< of tensors without strides
  DimVector input_strides = {};   ///< strides of the input, or of its gradient
  DimVector filter_strides = {};  ///< strides of the filter, or of its gradient
  DimVector output_strides = {};  ///< strides of the output, or of its gradient

  /// Returns the spatial sizes of the output. Needs no device.
  /// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` if the sizes describe no convolution
  [[nodiscard]] DimVector output_sizes() const {
    const sconce_convolution_desc desc = sizes_only(ScalarType::Float);
    std::array<std::int64_t, SCONCE_CONVOLUTION_MOST_SPATIAL> sizes{};
    detail::check(::sconce_convolution_get_output_sizes(&desc, sizes.data()));
    return DimVector(Span<const std::int64_t>(sizes.data(), input_sizes.size()));
  }

  /// All sizes of the input: images, channels, spatial dimensions.
  [[nodiscard]] DimVector input_shape() const { return shape_of(batch, in_channels, input_sizes); }
  /// All sizes of the filter: output channels, input channels of a group, spatial dimensions.
  [[nodiscard]] DimVector filter_shape() const {
    return shape_of(out_channels, in_channels / (groups == 0 ? 1 : groups), filter_sizes);
  }
  /// All sizes of the output: images, channels, spatial dimensions.
  [[nodiscard]] DimVector output_shape() const {
    return shape_of(batch, out_channels, output_sizes());
  }

  /// Returns the C API's description for one of `SCONCE_CONVOLUTION_…`.
  /// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` if the sizes describe no convolution
  [[nodiscard]] sconce_convolution_desc desc(std::int32_t operation, ScalarType type) const {
    sconce_convolution_desc desc = sizes_only(type);
    desc.operation = operation;
    const std::size_t dimensions = input_sizes.size() + 2;
    detail::store(strides_of_input(), dimensions, "input_strides", desc.input_strides);
    detail::store(strides_of_filter(), dimensions, "filter_strides", desc.filter_strides);
    detail::store(strides_of_output(), dimensions, "output_strides", desc.output_strides);
    return desc;
  }

  /// The effective strides of the input; none if it is packed.
  [[nodiscard]] DimVector strides_of_input() const {
    return strides_of(input_strides, input_shape());
  }
  /// The effective strides of the filter; none if it is packed.
  [[nodiscard]] DimVector strides_of_filter() const {
    return strides_of(filter_strides, filter_shape());
  }
  /// The effective strides of the output; none if it is packed.
  [[nodiscard]] DimVector strides_of_output() const {
    return strides_of(output_strides, output_shape());
  }

 private:
  static DimVector shape_of(std::int64_t outer, std::int64_t channels, const DimVector& spatial) {
    DimVector shape = {outer, channels, 0, 0, 0};
    std::copy(spatial.begin(), spatial.end(), &shape[2]);
    return DimVector(Span<const std::int64_t>(shape.data(), 2 + spatial.size()));
  }

  [[nodiscard]] DimVector strides_of(const DimVector& strides, const DimVector& shape) const {
    if (!strides.empty() || memory_format == MemoryFormat::Contiguous ||
        memory_format == MemoryFormat::Preserve) {
      return strides;
    }
    // From the innermost dimension: the channels, the spatial dimensions backwards, the images.
    DimVector channels_last = shape;
    std::size_t next = 1;
    const auto place = [&](std::size_t dimension) {
      constexpr std::size_t largest = std::numeric_limits<std::int64_t>::max();
      channels_last[dimension] = static_cast<std::int64_t>(std::min(next, largest));
      next = detail::times(next, static_cast<std::size_t>(shape[dimension]));
    };
    place(1);
    for (std::size_t dimension = shape.size() - 1; dimension > 1; --dimension) {
      place(dimension);
    }
    place(0);
    return channels_last;
  }

  // A number for each dimension, or one for all.
  void store_for_each(const DimVector& numbers, const char* name, std::int64_t* field) const {
    if (numbers.size() == 1) {
      std::fill_n(field, input_sizes.size(), numbers[0]);
    } else if (numbers.size() == input_sizes.size()) {
      std::copy(numbers.begin(), numbers.end(), field);
    } else {
      throw Error(SCONCE_ERROR_INVALID_ARGUMENT,
                  std::string(name) + " has " + std::to_string(numbers.size()) +
                      " numbers, input_sizes has " + std::to_string(input_sizes.size()) +
                      "; it needs one for each, or one for all");
    }
  }

  [[nodiscard]] sconce_convolution_desc sizes_only(ScalarType type) const {
    if (input_sizes.empty() || input_sizes.size() > SCONCE_CONVOLUTION_MOST_SPATIAL) {
      throw Error(SCONCE_ERROR_INVALID_ARGUMENT,
                  "input_sizes has " + std::to_string(input_sizes.size()) +
                      " numbers; a convolution has 1 to 3 spatial dimensions");
    }
    sconce_convolution_desc desc{};
    desc.struct_size = static_cast<std::uint32_t>(sizeof(desc));
    desc.dtype = static_cast<std::int32_t>(type);
    desc.spatial_rank = static_cast<std::int32_t>(input_sizes.size());
    desc.batch = batch;
    desc.in_channels = in_channels;
    desc.out_channels = out_channels;
    desc.groups = groups;
    store_for_each(input_sizes, "input_sizes", desc.input_sizes);
    store_for_each(filter_sizes, "filter_sizes", desc.filter_sizes);
    store_for_each(stride, "stride", desc.stride);
    store_for_each(padding, "padding", desc.padding);
    store_for_each(dilation, "dilation", desc.dilation);
    return desc;
  }
};

}  // namespace cuda
}  // namespace v0
}  // namespace sconce

namespace sconce {
inline namespace v0 {
namespace detail {

template <class A, class B, class Result>
void convolve(const cuda::Convolution& what, std::int32_t operation, const A& a, const B& b,
              const Result& result, const cuda::OptionalStream& stream) {
  constexpr cuda::ScalarType type = common_real_type<A, B, Result>();
  const sconce_convolution_desc desc = what.desc(operation, type);
  const auto input = [&](const auto& operand, const char* name) {
    check_size(operand, name, extent_of(what.input_shape(), what.strides_of_input()));
  };
  const auto filter = [&](const auto& operand, const char* name) {
    check_size(operand, name, extent_of(what.filter_shape(), what.strides_of_filter()));
  };
  const auto output = [&](const auto& operand, const char* name) {
    check_size(operand, name, extent_of(what.output_shape(), what.strides_of_output()));
  };
  const auto first = operand_of(a);
  const auto second = operand_of(b);
  const auto written = operand_of(result);
  switch (operation) {
    case SCONCE_CONVOLUTION_BACKWARD_DATA:
      output(first, "grad_output"), filter(second, "filter"), input(written, "grad_input");
      break;
    case SCONCE_CONVOLUTION_BACKWARD_FILTER:
      output(first, "grad_output"), input(second, "input"), filter(written, "grad_filter");
      break;
    default:
      input(first, "input"), filter(second, "filter"), output(written, "output");
  }
  call_on(stream, ::sconce_convolution, ::sconce_convolution_on, &desc, first.data, second.data,
          written.data);
}

inline void convolve(const cuda::Convolution& what, std::int32_t operation, cuda::ScalarType type,
                     const void* a, const void* b, void* result,
                     const cuda::OptionalStream& stream) {
  const sconce_convolution_desc desc = what.desc(operation, type);
  call_on(stream, ::sconce_convolution, ::sconce_convolution_on, &desc, a, b, result);
}

}  // namespace detail
}  // namespace v0
}  // namespace sconce

namespace sconce {
inline namespace v0 {
namespace cuda {

/// Computes the convolution `output` of `input` and `filter`, of `Half`, `BFloat16`, `float` or
/// `double`, or of a type that `CppTypeToScalarType` maps to one of these, such as `__half`. Each
/// argument is a pointer, or a `DeviceSpan`, which must have every element that `what` reaches.
/// Runs on `stream`, else on the current stream of their device. Does not block, except that the
/// first convolution of a shape chooses an engine. Float may be rounded to TF32, as in torch:
/// `Context::setAllowTF32CuDNN`.
///
/// Corresponds to `torch.nn.functional.conv1d`, `conv2d`, `conv3d`. Operands of different types do
/// not compile, nor does a const result.
/// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` for a `DeviceSpan` that is too small
template <class Input, class Filter, class Output>
void convolution(const Convolution& what, const Input& input, const Filter& filter,
                 const Output& output, const OptionalStream& stream = std::nullopt) {
  detail::convolve(what, SCONCE_CONVOLUTION_FORWARD, input, filter, output, stream);
}

/// Computes the input's gradient from the output's gradient and the filter; otherwise as
/// `convolution`. Corresponds to `torch.nn.grad.conv2d_input` and its 1D and 3D forms, and to
/// `torch.nn.functional.conv_transpose2d`, whose input is `grad_output` here and whose output is
/// `grad_input`.
template <class GradOutput, class Filter, class GradInput>
void convolution_backward_data(const Convolution& what, const GradOutput& grad_output,
                               const Filter& filter, const GradInput& grad_input,
                               const OptionalStream& stream = std::nullopt) {
  detail::convolve(what, SCONCE_CONVOLUTION_BACKWARD_DATA, grad_output, filter, grad_input, stream);
}

/// Computes the filter's gradient from the output's gradient and the input; otherwise as
/// `convolution`. Corresponds to `torch.nn.grad.conv2d_weight` and its 1D and 3D forms.
template <class GradOutput, class Input, class GradFilter>
void convolution_backward_filter(const Convolution& what, const GradOutput& grad_output,
                                 const Input& input, const GradFilter& grad_filter,
                                 const OptionalStream& stream = std::nullopt) {
  detail::convolve(what, SCONCE_CONVOLUTION_BACKWARD_FILTER, grad_output, input, grad_filter,
                   stream);
}

/// Computes a convolution of a type that is known at run time: `Half`, `BFloat16`, `Float`,
/// `Double`. Each tensor is an address, such as `buffer.get()`.
inline void convolution(const Convolution& what, ScalarType type, const void* input,
                        const void* filter, void* output,
                        const OptionalStream& stream = std::nullopt) {
  detail::convolve(what, SCONCE_CONVOLUTION_FORWARD, type, input, filter, output, stream);
}

/// Computes the input's gradient for a type that is known at run time.
inline void convolution_backward_data(const Convolution& what, ScalarType type,
                                      const void* grad_output, const void* filter, void* grad_input,
                                      const OptionalStream& stream = std::nullopt) {
  detail::convolve(what, SCONCE_CONVOLUTION_BACKWARD_DATA, type, grad_output, filter, grad_input,
                   stream);
}

/// Computes the filter's gradient for a type that is known at run time.
inline void convolution_backward_filter(const Convolution& what, ScalarType type,
                                        const void* grad_output, const void* input,
                                        void* grad_filter,
                                        const OptionalStream& stream = std::nullopt) {
  detail::convolve(what, SCONCE_CONVOLUTION_BACKWARD_FILTER, type, grad_output, input, grad_filter,
                   stream);
}

/// Discards the engines that were chosen for convolutions, and their plans.
inline void clear_convolution_plans() { detail::check(::sconce_convolution_clear_plans()); }

}  // namespace cuda
}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_CUDA_DNN_HPP
