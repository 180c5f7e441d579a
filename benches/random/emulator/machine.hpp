// The stand-in for kernels/random/machine.cuh: what the kernels need of a GPU, on a CPU, one thread
// after the other. Everything exact on a GPU is exact here (float to half included); the fast
// functions are the C library's, so close only.
#ifndef SCONCE_RANDOM_MACHINE
#define SCONCE_RANDOM_MACHINE

#include <cmath>
#include <cstdint>
#include <cstring>

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

#define SCONCE_INLINE static inline
#define SCONCE_INLINE_MEMBER inline
#define __device__
#define __forceinline__ inline
#define __global__
#define __launch_bounds__(...)

struct Extent {
  u32 x, y, z;
};
static thread_local Extent threadIdx, blockIdx, blockDim, gridDim;
static thread_local u64 bytes_stored;

template <class To, class From>
static inline To same_bits(From from) {
  static_assert(sizeof(To) == sizeof(From), "same size");
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

SCONCE_INLINE u32 float_bits(float value) { return same_bits<u32>(value); }
SCONCE_INLINE float bits_float(u32 bits) { return same_bits<float>(bits); }
SCONCE_INLINE double bits_double(u64 bits) { return same_bits<double>(bits); }
SCONCE_INLINE u64 double_bits(double value) { return same_bits<u64>(value); }
SCONCE_INLINE u32 high_product(u32 a, u32 b) { return (u32)((u64)a * b >> 32); }
SCONCE_INLINE u64 high_product(u64 a, u64 b) { return (u64)((unsigned __int128)a * b >> 64); }

SCONCE_INLINE u32 permute_bytes(u32 low, u32 high, u32 selector) {
  const u64 bytes = (u64)high << 32 | low;
  u32 result = 0;
  for (int i = 0; i < 4; ++i) {
    result |= (u32)(bytes >> 8 * (selector >> 4 * i & 7) & 0xff) << 8 * i;
  }
  return result;
}

SCONCE_INLINE u16 half_bits(float value) { return same_bits<u16>((_Float16)value); }
SCONCE_INLINE float half_float(u32 bits) { return (float)same_bits<_Float16>((u16)bits); }
SCONCE_INLINE float fast_reciprocal_root(float x) { return (float)(1 / std::sqrt((double)x)); }

SCONCE_INLINE int to_int(float value) { return (int)value; }
SCONCE_INLINE u32 to_unsigned(float value) { return (u32)value; }
SCONCE_INLINE i64 to_long(float value) { return (i64)value; }

SCONCE_INLINE float fast_log(float x) { return std::log(x); }
SCONCE_INLINE float fast_exp(float x) { return std::exp(x); }
SCONCE_INLINE float fast_tan(float x) { return std::tan(x); }
SCONCE_INLINE void fast_sin_cos(float x, float* sine, float* cosine) {
  *sine = std::sin(x);
  *cosine = std::cos(x);
}
SCONCE_INLINE void sincospi(double x, double* sine, double* cosine) {
  const long double angle = 3.14159265358979323846264338327950288L * x;
  *sine = (double)std::sin(angle);
  *cosine = (double)std::cos(angle);
}

struct alignas(8) Words2 {
  u32 w[2];
};
struct alignas(16) Words4 {
  u32 w[4];
};

template <class Stored>
SCONCE_INLINE void store_one(Stored* address, Stored element) {
  if ((std::uintptr_t)address % sizeof element != 0) __builtin_trap();
  std::memcpy(address, &element, sizeof element);
  bytes_stored += sizeof element;
}
template <class Words>
SCONCE_INLINE void store_wide(void* address, const Words& words) {
  if ((std::uintptr_t)address % sizeof words != 0) __builtin_trap();
  std::memcpy(address, &words, sizeof words);
  bytes_stored += sizeof words;
}

#endif
