/// \file
/// The order of a tensor's dimensions in memory, under torch's names.
#ifndef SCONCE_CUDA_MEMORY_FORMAT_HPP
#define SCONCE_CUDA_MEMORY_FORMAT_HPP

#include <cstdint>
#include <sconce/fwd.hpp>

namespace sconce {
inline namespace v0 {
namespace cuda {

/// The order of the dimensions of a tensor in memory. Corresponds to `c10::MemoryFormat`.
enum class MemoryFormat : std::int8_t {
  Contiguous,      ///< the last dimension first: images of channels of rows
  ChannelsLast,    ///< images of rows of channels; of a `Convolution`, of any spatial rank
  Preserve,        ///< for `…_like`: as the other tensor; else `Contiguous`
  ChannelsLast3d,  ///< volumes of slices of rows of channels
};

}  // namespace cuda

using cuda::MemoryFormat;

}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_CUDA_MEMORY_FORMAT_HPP
