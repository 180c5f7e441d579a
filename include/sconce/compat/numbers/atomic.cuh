/// \file
/// Atomic additions, products, maxima and minima of elements in device memory. For device code that
/// was written for `<ATen/cuda/Atomic.cuh>`; opt-in, and for nvcc.
///
/// `gpuAtomicAdd` and the others are found in the global namespace, as those of ATen are, beside
/// overloads of `atomicAdd` for the types that CUDA's own lacks. An operation on less than 32 bits,
/// and one that the device has no instruction for, compares and swaps the 32 or 64 bits around the
/// element until no other thread has changed them in between. Operations on `Half`, `BFloat16`,
/// `float` and `double` return what was there before; as in ATen, those on integers of another type
/// than `int` and on complex numbers return nothing. Additions of floating-point numbers happen in
/// any order, so their sums may differ from run to run.
#ifndef SCONCE_COMPAT_NUMBERS_ATOMIC_CUH
#define SCONCE_COMPAT_NUMBERS_ATOMIC_CUH

#ifdef __CUDACC__

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <sconce/compat/numbers/types.hpp>
#include <type_traits>

/// \cond
namespace sconce {
inline namespace v0 {
namespace compat {
namespace atomics {

using c10::BFloat16;
using c10::Half;

/// The unsigned integer that the device compares and swaps for an element of this size.
template <std::size_t size>
using Word = std::conditional_t<size == 8, unsigned long long, unsigned int>;

/// Replaces an element by `change` of it, and returns what was there before. Bits are compared, so
/// a NaN ends the loop, too.
template <class T, class Change>
__device__ inline T change_at(T* address, const Change& change) {
  static_assert(sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8);
  T before;
#ifdef __CUDA_ARCH__
  using Bits = Word<sizeof(T)>;
  constexpr bool is_part = sizeof(T) < sizeof(Bits);
  constexpr Bits ones = static_cast<Bits>(~Bits{0}) >> (8U * (sizeof(Bits) - sizeof(T)));
  // The word around it, and where in that the element begins: the device is little-endian.
  const std::size_t inside = is_part ? reinterpret_cast<std::uintptr_t>(address) % sizeof(Bits) : 0;
  auto* const word = reinterpret_cast<Bits*>(reinterpret_cast<char*>(address) - inside);
  const unsigned shift = static_cast<unsigned>(inside) * 8U;
  Bits seen = *word;
  Bits expected;
  do {
    expected = seen;
    const Bits element = is_part ? expected >> shift & ones : expected;
    memcpy(&before, &element, sizeof before);
    const T after = change(before);
    Bits replacement = 0;
    memcpy(&replacement, &after, sizeof after);
    if constexpr (is_part) {
      replacement = (expected & ~(ones << shift)) | replacement << shift;
    }
    seen = ::atomicCAS(word, expected, replacement);
  } while (seen != expected);
#else
  before = *address;  // the host never calls it
#endif
  return before;
}

// Sums.

__device__ inline std::int32_t gpuAtomicAdd(std::int32_t* address, std::int32_t val) {
  return ::atomicAdd(address, val);
}
__device__ inline float gpuAtomicAdd(float* address, float val) {
  return ::atomicAdd(address, val);
}
__device__ inline double gpuAtomicAdd(double* address, double val) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 600
  return change_at(address, [=](double before) { return before + val; });
#else
  return ::atomicAdd(address, val);
#endif
}
__device__ inline Half gpuAtomicAdd(Half* address, Half val) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
  return Half(::atomicAdd(reinterpret_cast<__half*>(address), static_cast<__half>(val)));
#else
  return change_at(address, [=](Half before) { return before + val; });
#endif
}
__device__ inline BFloat16 gpuAtomicAdd(BFloat16* address, BFloat16 val) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  return BFloat16(
      ::atomicAdd(reinterpret_cast<__nv_bfloat16*>(address), static_cast<__nv_bfloat16>(val)));
#else
  return change_at(address, [=](BFloat16 before) { return before + val; });
#endif
}
__device__ inline void gpuAtomicAdd(std::int64_t* address, std::int64_t val) {
  ::atomicAdd(reinterpret_cast<unsigned long long*>(address), static_cast<unsigned long long>(val));
}
__device__ inline void gpuAtomicAdd(std::uint8_t* address, std::uint8_t val) {
  change_at(address, [=](std::uint8_t before) { return static_cast<std::uint8_t>(before + val); });
}
__device__ inline void gpuAtomicAdd(std::int8_t* address, std::int8_t val) {
  change_at(address, [=](std::int8_t before) { return static_cast<std::int8_t>(before + val); });
}
__device__ inline void gpuAtomicAdd(std::int16_t* address, std::int16_t val) {
  change_at(address, [=](std::int16_t before) { return static_cast<std::int16_t>(before + val); });
}
// Of truth values: whether one of them is true.
__device__ inline void gpuAtomicAdd(bool* address, bool val) {
  change_at(address, [=](bool before) { return before || val; });
}
// The parts are added one after another: another thread may read one sum and one old part.
template <class T>
__device__ inline void gpuAtomicAdd(c10::complex<T>* address, c10::complex<T> val) {
  gpuAtomicAdd(&address->real_, val.real_);
  gpuAtomicAdd(&address->imag_, val.imag_);
}

#define SCONCE_COMPAT_ADD(T) \
  __device__ inline void gpuAtomicAddNoReturn(T* address, T val) { gpuAtomicAdd(address, val); }
SCONCE_COMPAT_ADD(std::uint8_t)
SCONCE_COMPAT_ADD(std::int8_t)
SCONCE_COMPAT_ADD(std::int16_t)
SCONCE_COMPAT_ADD(std::int32_t)
SCONCE_COMPAT_ADD(std::int64_t)
SCONCE_COMPAT_ADD(bool)
SCONCE_COMPAT_ADD(Half)
SCONCE_COMPAT_ADD(BFloat16)
SCONCE_COMPAT_ADD(float)
SCONCE_COMPAT_ADD(double)
#undef SCONCE_COMPAT_ADD
template <class T>
__device__ inline void gpuAtomicAddNoReturn(c10::complex<T>* address, c10::complex<T> val) {
  gpuAtomicAdd(address, val);
}

// For code that calls atomicAdd itself.
__device__ inline Half atomicAdd(Half* address, Half val) { return gpuAtomicAdd(address, val); }
__device__ inline BFloat16 atomicAdd(BFloat16* address, BFloat16 val) {
  return gpuAtomicAdd(address, val);
}
__device__ inline void atomicAdd(std::uint8_t* address, std::uint8_t val) {
  gpuAtomicAdd(address, val);
}
__device__ inline void atomicAdd(std::int8_t* address, std::int8_t val) {
  gpuAtomicAdd(address, val);
}
__device__ inline void atomicAdd(std::int16_t* address, std::int16_t val) {
  gpuAtomicAdd(address, val);
}
__device__ inline void atomicAdd(std::int64_t* address, std::int64_t val) {
  gpuAtomicAdd(address, val);
}
__device__ inline void atomicAdd(bool* address, bool val) { gpuAtomicAdd(address, val); }

// Products, maxima and minima. A NaN on either side of a maximum or a minimum is its result.

template <class T>
SCONCE_COMPAT_BOTH inline T safe_max(T a, T b) {
  return at::_isnan(b) ? b : (a < b ? b : a);
}
template <class T>
SCONCE_COMPAT_BOTH inline T safe_min(T a, T b) {
  return at::_isnan(b) ? b : (b < a ? b : a);
}

// Of two zeros, ATen's order of arguments decides: with halves it is what was there first.
#define SCONCE_COMPAT_INTEGER(name, T, result)                            \
  __device__ inline void gpuAtomic##name(T* address, T val) {             \
    change_at(address, [=](T before) { return static_cast<T>(result); }); \
  }
#define SCONCE_COMPAT_INTEGERS(name, result)        \
  SCONCE_COMPAT_INTEGER(name, std::uint8_t, result) \
  SCONCE_COMPAT_INTEGER(name, std::int8_t, result)  \
  SCONCE_COMPAT_INTEGER(name, std::int16_t, result) \
  SCONCE_COMPAT_INTEGER(name, std::int32_t, result) \
  SCONCE_COMPAT_INTEGER(name, std::int64_t, result)
#define SCONCE_COMPAT_FLOATING(name, T, result)                  \
  __device__ inline T gpuAtomic##name(T* address, T val) {       \
    return change_at(address, [=](T before) { return result; }); \
  }
SCONCE_COMPAT_INTEGERS(Mul, val* before)
SCONCE_COMPAT_INTEGERS(Max, safe_max(val, before))
SCONCE_COMPAT_INTEGERS(Min, safe_min(val, before))
SCONCE_COMPAT_FLOATING(Mul, Half, before* val)
SCONCE_COMPAT_FLOATING(Mul, BFloat16, before* val)
SCONCE_COMPAT_FLOATING(Mul, float, val* before)
SCONCE_COMPAT_FLOATING(Mul, double, val* before)
SCONCE_COMPAT_FLOATING(Max, Half, safe_max(before, val))
SCONCE_COMPAT_FLOATING(Max, BFloat16, safe_max(before, val))
SCONCE_COMPAT_FLOATING(Max, float, safe_max(val, before))
SCONCE_COMPAT_FLOATING(Max, double, safe_max(val, before))
SCONCE_COMPAT_FLOATING(Min, Half, safe_min(before, val))
SCONCE_COMPAT_FLOATING(Min, BFloat16, safe_min(before, val))
SCONCE_COMPAT_FLOATING(Min, float, safe_min(val, before))
SCONCE_COMPAT_FLOATING(Min, double, safe_min(val, before))
#undef SCONCE_COMPAT_INTEGER
#undef SCONCE_COMPAT_INTEGERS
#undef SCONCE_COMPAT_FLOATING

}  // namespace atomics

namespace at {
namespace native {

/// The place of an element of images that lie in memory one plane after another.
__device__ inline std::size_t idx(std::size_t plane, std::size_t height, std::size_t width,
                                  std::size_t h, std::size_t w) {
  return (plane * height + h) * width + w;
}
/// The place of an element of images whose channels lie beside one another.
__device__ inline std::size_t idx_cl(std::size_t n, std::size_t h, std::size_t w, std::size_t c,
                                     std::size_t height, std::size_t width, std::size_t channels) {
  return ((n * height + h) * width + w) * channels + c;
}

/// Adds to an element. Devices add two numbers of 16 bits faster than one, so such a number is
/// added with a 0 for the neighbour with which it shares 32 bits, if the tensor has that.
/// \param tensor the first element; it need not be aligned to 32 bits
/// \param numel the number of elements
template <class scalar_t, class index_t>
__device__ inline void fastSpecializedAtomicAdd(scalar_t* tensor, index_t index,
                                                const index_t numel, scalar_t value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
  constexpr bool is_half = std::is_same_v<scalar_t, c10::Half>;
  constexpr bool is_upper_half = std::is_same_v<scalar_t, c10::BFloat16> && __CUDA_ARCH__ >= 800;
  if constexpr (is_half || is_upper_half) {
    scalar_t* const target = tensor + index;
    const bool is_first = reinterpret_cast<std::uintptr_t>(target) % 4 == 0;
    if (is_first ? index < numel - 1 : index > 0) {
      scalar_t* const pair = is_first ? target : target - 1;
      const scalar_t zero(0, scalar_t::from_bits());
      const scalar_t first = is_first ? value : zero;
      const scalar_t second = is_first ? zero : value;
      if constexpr (is_half) {
        ::atomicAdd(reinterpret_cast<__half2*>(pair),
                    __halves2half2(static_cast<__half>(first), static_cast<__half>(second)));
      } else {
        ::atomicAdd(reinterpret_cast<__nv_bfloat162*>(pair),
                    __halves2bfloat162(static_cast<__nv_bfloat16>(first),
                                       static_cast<__nv_bfloat16>(second)));
      }
      return;
    }
  }
#endif
  atomics::gpuAtomicAddNoReturn(tensor + index, value);
}

/// Adds to an element.
/// \param fast_atomics whether a neighbour may be written, too: its negative zero becomes a positive
///        one
template <class scalar_t, class index_t>
__device__ inline void fastAtomicAdd(scalar_t* tensor, index_t index, const index_t numel,
                                     scalar_t value, bool fast_atomics) {
  if (fast_atomics) {
    fastSpecializedAtomicAdd(tensor, index, numel, value);
  } else {
    atomics::gpuAtomicAddNoReturn(tensor + index, value);
  }
}

}  // namespace native
}  // namespace at
}  // namespace compat
}  // namespace v0
}  // namespace sconce

using ::sconce::compat::atomics::atomicAdd;
using ::sconce::compat::atomics::gpuAtomicAdd;
using ::sconce::compat::atomics::gpuAtomicAddNoReturn;
using ::sconce::compat::atomics::gpuAtomicMax;
using ::sconce::compat::atomics::gpuAtomicMin;
using ::sconce::compat::atomics::gpuAtomicMul;
using ::sconce::compat::atomics::safe_max;
using ::sconce::compat::atomics::safe_min;
/// \endcond

#endif  // __CUDACC__

#endif  // SCONCE_COMPAT_NUMBERS_ATOMIC_CUH
