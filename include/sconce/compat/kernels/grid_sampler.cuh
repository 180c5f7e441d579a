/// \file
/// Where a point of a grid lies in an image, for kernels that were written with
/// `<ATen/native/cuda/GridSampler.cuh>`. For nvcc.
///
/// Coordinates of a grid go from -1 to 1 over an image. With `align_corners` these are the centres
/// of the outer pixels, otherwise their outer edges.
#ifndef SCONCE_COMPAT_KERNELS_GRID_SAMPLER_CUH
#define SCONCE_COMPAT_KERNELS_GRID_SAMPLER_CUH

/// \cond
#ifdef __CUDACC__
#include <climits>
#include <cmath>
#include <sconce/compat/numbers/atomic.cuh>
#endif

namespace sconce {
inline namespace v0 {
namespace compat {
namespace at {
namespace native {
namespace detail {

enum class GridSamplerInterpolation { Bilinear, Nearest, Bicubic };
enum class GridSamplerPadding { Zeros, Border, Reflection };

}  // namespace detail

using detail::GridSamplerInterpolation;
using detail::GridSamplerPadding;

}  // namespace native
}  // namespace at
}  // namespace compat
}  // namespace v0
}  // namespace sconce

#ifdef __CUDACC__
namespace sconce {
inline namespace v0 {
namespace compat {
namespace at {
namespace native {
// Each function on coordinates has a form that also tells its derivative.

/// The pixel at a coordinate, as a fraction, and by how much it moves with it.
template <class scalar_t>
__device__ inline scalar_t grid_sampler_unnormalize_set_grad(scalar_t coord, int size,
                                                             bool align_corners,
                                                             scalar_t* grad_in) {
  const int length = align_corners ? size - 1 : size;
  *grad_in = static_cast<scalar_t>(length) / 2;
  return align_corners ? ((coord + 1.F) / 2) * length : ((coord + 1.F) * length - 1) / 2;
}
template <class scalar_t>
__device__ inline scalar_t grid_sampler_unnormalize(scalar_t coord, int size, bool align_corners) {
  scalar_t ignored;
  return grid_sampler_unnormalize_set_grad(coord, size, align_corners, &ignored);
}

/// The nearest pixel of the image. What is not a number is the first one.
template <class scalar_t>
__device__ inline scalar_t clip_coordinates(scalar_t in, int clip_limit) {
  return ::min(static_cast<scalar_t>(clip_limit - 1), ::max(in, static_cast<scalar_t>(0)));
}
/// The same; on the outer pixels the derivative is 0.
template <class scalar_t>
__device__ inline scalar_t clip_coordinates_set_grad(scalar_t in, int clip_limit,
                                                     scalar_t* grad_in) {
  const auto last = static_cast<scalar_t>(clip_limit - 1);
  const bool is_below = in <= static_cast<scalar_t>(0);
  const bool is_above = in >= last;
  *grad_in = static_cast<scalar_t>(is_below || is_above ? 0 : 1);
  return is_below ? static_cast<scalar_t>(0) : (is_above ? last : in);
}

/// A coordinate that is mirrored at both limits, which are given doubled, until it is between them;
/// the derivative is the direction.
template <class scalar_t>
__device__ inline scalar_t reflect_coordinates_set_grad(scalar_t in, int twice_low, int twice_high,
                                                        scalar_t* grad_in) {
  *grad_in = static_cast<scalar_t>(0);
  if (twice_low == twice_high) {
    return static_cast<scalar_t>(0);
  }
  const scalar_t low = static_cast<scalar_t>(twice_low) / 2;
  const scalar_t span = static_cast<scalar_t>(twice_high - twice_low) / 2;
  const scalar_t offset = in - low;
  const bool is_below = offset < static_cast<scalar_t>(0);
  const scalar_t distance = ::fabs(offset);
  const scalar_t rest = ::fmod(distance, span);
  const bool turned = static_cast<int>(::floor(distance / span)) % 2 != 0;
  *grad_in = static_cast<scalar_t>(is_below != turned ? -1 : 1);
  return turned ? span - rest + low : rest + low;
}
template <class scalar_t>
__device__ inline scalar_t reflect_coordinates(scalar_t in, int twice_low, int twice_high) {
  scalar_t ignored;
  return reflect_coordinates_set_grad(in, twice_low, twice_high, &ignored);
}

/// A coordinate that fits an int; others, and what is not a number, are outside of every image.
template <class scalar_t>
__device__ inline scalar_t safe_downgrade_to_int_range(scalar_t x) {
  const bool fits = !(x > INT_MAX - 1 || x < INT_MIN) && ::isfinite(static_cast<double>(x));
  return fits ? x : static_cast<scalar_t>(-100.0);
}

/// A pixel as the padding has it, and the derivative.
template <class scalar_t>
__device__ inline scalar_t compute_coordinates_set_grad(scalar_t coord, int size,
                                                        GridSamplerPadding padding_mode,
                                                        bool align_corners, scalar_t* grad_in) {
  scalar_t reflected = static_cast<scalar_t>(1);
  scalar_t clipped = static_cast<scalar_t>(1);
  if (padding_mode == GridSamplerPadding::Reflection) {
    coord = align_corners ? reflect_coordinates_set_grad(coord, 0, 2 * (size - 1), &reflected)
                          : reflect_coordinates_set_grad(coord, -1, 2 * size - 1, &reflected);
  }
  if (padding_mode != GridSamplerPadding::Zeros) {
    coord = clip_coordinates_set_grad(coord, size, &clipped);
  }
  *grad_in = *grad_in * reflected * clipped;
  return safe_downgrade_to_int_range(coord);
}
template <class scalar_t>
__device__ inline scalar_t compute_coordinates(scalar_t coord, int size,
                                               GridSamplerPadding padding_mode,
                                               bool align_corners) {
  if (padding_mode == GridSamplerPadding::Reflection) {
    coord = align_corners ? reflect_coordinates(coord, 0, 2 * (size - 1))
                          : reflect_coordinates(coord, -1, 2 * size - 1);
  }
  if (padding_mode != GridSamplerPadding::Zeros) {
    coord = clip_coordinates(coord, size);
  }
  return safe_downgrade_to_int_range(coord);
}

/// The pixel at a coordinate of the grid.
template <class scalar_t>
__device__ inline scalar_t grid_sampler_compute_source_index(scalar_t coord, int size,
                                                             GridSamplerPadding padding_mode,
                                                             bool align_corners) {
  return compute_coordinates(grid_sampler_unnormalize(coord, size, align_corners), size,
                             padding_mode, align_corners);
}
template <class scalar_t>
__device__ inline scalar_t grid_sampler_compute_source_index_set_grad(
    scalar_t coord, int size, GridSamplerPadding padding_mode, bool align_corners,
    scalar_t* grad_in) {
  coord = grid_sampler_unnormalize_set_grad(coord, size, align_corners, grad_in);
  return compute_coordinates_set_grad(coord, size, padding_mode, align_corners, grad_in);
}

__device__ inline bool within_bounds_2d(int h, int w, int H, int W) {
  return h >= 0 && h < H && w >= 0 && w < W;
}
__device__ inline bool within_bounds_3d(int d, int h, int w, int D, int H, int W) {
  return d >= 0 && d < D && within_bounds_2d(h, w, H, W);
}

/// The value of the pixel at a point, 0 outside.
template <class scalar_t>
__device__ inline scalar_t get_value_bounded(const scalar_t* data, scalar_t x, scalar_t y, int W,
                                             int H, int sW, int sH, GridSamplerPadding padding_mode,
                                             bool align_corners) {
  const int ix = static_cast<int>(compute_coordinates(x, W, padding_mode, align_corners));
  const int iy = static_cast<int>(compute_coordinates(y, H, padding_mode, align_corners));
  return within_bounds_2d(iy, ix, H, W) ? data[iy * sH + ix * sW] : static_cast<scalar_t>(0);
}

/// Adds to a pixel if the image has it.
template <class scalar_t, class index_t>
__device__ inline void safe_add_2d(scalar_t* data, int h, int w, int sH, int sW, int H, int W,
                                   scalar_t delta, const index_t NC_offset,
                                   const index_t memory_span) {
  if (within_bounds_2d(h, w, H, W)) {
    fastAtomicAdd(data, static_cast<index_t>(NC_offset + h * sH + w * sW), memory_span, delta,
                  true);
  }
}
template <class scalar_t, class index_t>
__device__ inline void safe_add_3d(scalar_t* data, int d, int h, int w, int sD, int sH, int sW,
                                   int D, int H, int W, scalar_t delta, const index_t NC_offset,
                                   const index_t memory_span) {
  if (within_bounds_3d(d, h, w, D, H, W)) {
    fastAtomicAdd(data, static_cast<index_t>(NC_offset + d * sD + h * sH + w * sW), memory_span,
                  delta, true);
  }
}
/// Adds to the pixel at a point if the image has it.
template <class scalar_t, class index_t>
__device__ inline void add_value_bounded(scalar_t* data, scalar_t x, scalar_t y, int W, int H,
                                         int sW, int sH, scalar_t delta,
                                         GridSamplerPadding padding_mode, bool align_corners,
                                         const index_t NC_offset, const index_t memory_span) {
  const int ix = static_cast<int>(compute_coordinates(x, W, padding_mode, align_corners));
  const int iy = static_cast<int>(compute_coordinates(y, H, padding_mode, align_corners));
  safe_add_2d(data, iy, ix, sH, sW, H, W, delta, NC_offset, memory_span);
}

/// The derivatives of the four weights of a cubic interpolation `t` behind the second pixel.
template <class scalar_t>
__device__ inline void get_cubic_coefficients_grad(scalar_t coeffs[4], scalar_t t) {
  const scalar_t A = -0.75;  // of the convolution that torch and OpenCV use
  // Of the polynomials within a pixel of the point, and up to two pixels away from it.
  const auto near = [=](scalar_t x, int side) {
    return (side * 3 * (A + 2) * x - 2 * (A + 3)) * x;
  };
  const auto far = [=](scalar_t x, int side) {
    return (side * 3 * A * x - 10 * A) * x + side * 8 * A;
  };
  coeffs[0] = far(-1 - t, -1);
  coeffs[1] = near(-t, -1);
  coeffs[2] = near(1 - t, 1);
  coeffs[3] = far(2 - t, 1);
}

}  // namespace native
}  // namespace at
}  // namespace compat
}  // namespace v0
}  // namespace sconce
#endif  // __CUDACC__
/// \endcond

#endif  // SCONCE_COMPAT_KERNELS_GRID_SAMPLER_CUH
