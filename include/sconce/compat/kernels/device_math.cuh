/// \file
/// Functions of mathematics with one name for singles and doubles, which kernels for c10 call in
/// `c10::cuda::compat`. For nvcc; `<c10/cuda/CUDAMathCompat.h>` includes it.
#ifndef SCONCE_COMPAT_KERNELS_DEVICE_MATH_CUH
#define SCONCE_COMPAT_KERNELS_DEVICE_MATH_CUH

#ifdef __CUDACC__

/// \cond
namespace sconce {
inline namespace v0 {
namespace compat {
// Not in a namespace `compat` of c10's: there the name would hide this one.
namespace device_math {

#define SCONCE_COMPAT_UNARY(name, single, wide)                          \
  __host__ __device__ inline float name(float x) { return ::single(x); } \
  __host__ __device__ inline double name(double x) { return ::wide(x); }
#define SCONCE_COMPAT_BINARY(name, single, wide)                                     \
  __host__ __device__ inline float name(float x, float y) { return ::single(x, y); } \
  __host__ __device__ inline double name(double x, double y) { return ::wide(x, y); }
SCONCE_COMPAT_UNARY(abs, fabsf, fabs)
SCONCE_COMPAT_UNARY(exp, expf, exp)
SCONCE_COMPAT_UNARY(ceil, ceilf, ceil)
SCONCE_COMPAT_UNARY(floor, floorf, floor)
SCONCE_COMPAT_UNARY(log, logf, log)
SCONCE_COMPAT_UNARY(log1p, log1pf, log1p)
SCONCE_COMPAT_UNARY(sqrt, sqrtf, sqrt)
SCONCE_COMPAT_UNARY(rsqrt, rsqrtf, rsqrt)
SCONCE_COMPAT_UNARY(tan, tanf, tan)
SCONCE_COMPAT_UNARY(tanh, tanhf, tanh)
SCONCE_COMPAT_UNARY(normcdf, normcdff, normcdf)
SCONCE_COMPAT_BINARY(copysign, copysignf, copysign)
SCONCE_COMPAT_BINARY(max, fmaxf, fmax)
SCONCE_COMPAT_BINARY(min, fminf, fmin)
SCONCE_COMPAT_BINARY(pow, powf, pow)
#undef SCONCE_COMPAT_UNARY
#undef SCONCE_COMPAT_BINARY
__host__ __device__ inline void sincos(float x, float* sine, float* cosine) {
  ::sincosf(x, sine, cosine);
}
__host__ __device__ inline void sincos(double x, double* sine, double* cosine) {
  ::sincos(x, sine, cosine);
}

}  // namespace device_math
}  // namespace compat
}  // namespace v0
}  // namespace sconce
/// \endcond

#endif  // __CUDACC__

#endif  // SCONCE_COMPAT_KERNELS_DEVICE_MATH_CUH
