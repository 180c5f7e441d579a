/// \file
/// The namespace `c10::cuda::compat`, with the functions of `device_math.cuh`. What
/// `<c10/cuda/CUDAMathCompat.h>` includes; a unit with it has no alias `c10`.
#ifndef SCONCE_COMPAT_KERNELS_DEVICE_MATH_NAMES_HPP
#define SCONCE_COMPAT_KERNELS_DEVICE_MATH_NAMES_HPP

#include <sconce/compat/kernels/device_math.cuh>

/// \cond
namespace sconce {
inline namespace v0 {
namespace compat {
namespace device_math {}  // namespace device_math
}  // namespace compat
}  // namespace v0
}  // namespace sconce

namespace c10 {
namespace cuda {
namespace compat {
using namespace ::sconce::compat::device_math;
}  // namespace compat
}  // namespace cuda
}  // namespace c10
/// \endcond

#endif  // SCONCE_COMPAT_KERNELS_DEVICE_MATH_NAMES_HPP
