/// \file
/// For device code: seed and offset of a generator, and the numbers that PyTorch's kernels draw
/// from them.
///
/// Compiles with nvcc, with NVRTC, and as C++17 for the host, so that the function that
/// replaces a kernel on simulated devices draws the same numbers. Includes nothing.
///
/// On a device the numbers are PyTorch's to the bit unless the kernel is compiled with
/// `-use_fast_math`. On the host uniform numbers are, too, and normal ones differ from them by less
/// than 1e-5 (`float`) or 1e-12 (`double`): a CPU lacks the device's fast sine and cosine.
///
/// Element `i` of a fill of `n` elements is drawn by subsequence `t = i % T` as draw `j = q % U` of
/// the block at `offset + 4 * (q / U)`, with `q = i / T`. `U` is 4 for `float` and 2 for `double`;
/// `T` is `256 * min(SMs * (threads per SM / 256), ceil(n / 256))`.
#ifndef SCONCE_CUDA_DEVICE_CUH
#define SCONCE_CUDA_DEVICE_CUH

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
/// Marks a function of this header.
#define SCONCE_DEVICE __device__ __forceinline__
#else
/// Marks a function of this header.
#define SCONCE_DEVICE inline
#endif

namespace sconce {
namespace philox {

/// What differs between devices and the host.
namespace detail {

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
// Functions of CUDA, whatever else has their names in this namespace.
SCONCE_DEVICE float fused(float a, float b, float c) { return ::fmaf(a, b, c); }
SCONCE_DEVICE double fused(double a, double b, double c) { return ::fma(a, b, c); }
SCONCE_DEVICE float radius(float unit) { return ::sqrtf(-2.0f * ::logf(unit)); }
SCONCE_DEVICE double radius(double unit) { return ::sqrt(-2.0 * ::log(unit)); }
SCONCE_DEVICE void sine_cosine(float angle, float* sine, float* cosine) {
  ::__sincosf(angle, sine, cosine);
}
SCONCE_DEVICE void sine_cosine_of_half_turns(double turns, double* sine, double* cosine) {
  ::sincospi(turns, sine, cosine);
}
#else
SCONCE_DEVICE float fused(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
SCONCE_DEVICE double fused(double a, double b, double c) { return __builtin_fma(a, b, c); }
SCONCE_DEVICE float radius(float unit) { return __builtin_sqrtf(-2.0F * __builtin_logf(unit)); }
SCONCE_DEVICE double radius(double unit) { return __builtin_sqrt(-2.0 * __builtin_log(unit)); }
SCONCE_DEVICE void sine_cosine(float angle, float* sine, float* cosine) {
  *sine = static_cast<float>(__builtin_sin(static_cast<double>(angle)));
  *cosine = static_cast<float>(__builtin_cos(static_cast<double>(angle)));
}
/// Of `turns` times pi, for 0 to 2. What is left of the nearest quarter of a turn is exact.
SCONCE_DEVICE void sine_cosine_of_half_turns(double turns, double* sine, double* cosine) {
  const double quarter = __builtin_round(2.0 * turns);
  const double rest = 0x1.921fb54442d18p+1 * (turns - quarter / 2.0);
  const double s = __builtin_sin(rest);
  const double c = __builtin_cos(rest);
  const int place = static_cast<int>(quarter) % 4;
  *sine = place == 0 ? s : place == 1 ? c : place == 2 ? -s : -c;
  *cosine = place == 0 ? c : place == 1 ? -s : place == 2 ? -c : s;
}
#endif

}  // namespace detail

/// A kernel's parameter for `sconce_philox_state`, with the same layout: what
/// `CUDAGenerator::philox_cuda_state` returns. Corresponds to `at::PhiloxCudaState`.
struct State {
  unsigned long long seed;                 ///< the seed, unless `device_state` is not null
  unsigned long long offset;               ///< where the reserved range begins
  const unsigned long long* device_state;  ///< null, or {seed, offset} in device memory
};

/// A seed, and the offset at which the range of a kernel begins.
struct Seed {
  unsigned long long seed;    ///< the seed
  unsigned long long offset;  ///< the offset in 32-bit words of each thread
};

/// Returns seed and offset. In a graph each replay finds a range of its own in device memory.
/// Corresponds to `at::cuda::philox::unpack`.
SCONCE_DEVICE Seed unpack(const State& state) {
  Seed seed = {state.seed, state.offset};
  if (state.device_state != nullptr) {
    seed.seed = state.device_state[0];
    seed.offset = state.device_state[1];
  }
  return seed;
}

/// Four 32-bit words.
struct Words4 {
  unsigned int x, y, z, w;  ///< in the order in which they are drawn
};

/// Four numbers.
struct Floats4 {
  float x, y, z, w;  ///< in the order in which they are drawn
};

/// Two numbers.
struct Doubles2 {
  double x, y;  ///< in the order in which they are drawn
};

/// Maps a uniform number of (0, 1] to [0, 1): 1 becomes 0. As in `torch.rand`.
SCONCE_DEVICE float half_open(float unit) { return unit == 1.0f ? 0.0f : unit; }
/// Maps a uniform number of (0, 1] to [0, 1): 1 becomes 0. As in `torch.rand`.
SCONCE_DEVICE double half_open(double unit) { return unit == 1.0 ? 0.0 : unit; }

/// Maps a uniform number of (0, 1] to [low, high): a result of `high` becomes `low`. As in
/// `torch.Tensor.uniform_`.
SCONCE_DEVICE float in_range(float unit, float low, float high) {
  const float value = detail::fused(unit, high - low, low);
  return value == high ? low : value;
}
/// Maps a uniform number of (0, 1] to [low, high): a result of `high` becomes `low`. As in
/// `torch.Tensor.uniform_`.
SCONCE_DEVICE double in_range(double unit, double low, double high) {
  const double value = detail::fused(unit, high - low, low);
  return value == high ? low : value;
}

/// Scales and shifts a normal number to another mean and standard deviation, with one rounding. As
/// in `torch.Tensor.normal_`.
SCONCE_DEVICE float scaled(float normal, float mean, float std) {
  return detail::fused(normal, std, mean);
}
/// Scales and shifts a normal number to another mean and standard deviation, with one rounding. As
/// in `torch.Tensor.normal_`.
SCONCE_DEVICE double scaled(double normal, double mean, double std) {
  return detail::fused(normal, std, mean);
}

/// The generator of one thread: Philox 4x32-10. Corresponds to `curandStatePhilox4_32_10_t`.
class Engine {
 public:
  /// As `curand_init(seed, subsequence, offset, …)`: the subsequence is the number of the thread in
  /// the grid, and the offset a multiple of 4, as every reserved one is.
  SCONCE_DEVICE Engine(unsigned long long seed, unsigned long long subsequence,
                       unsigned long long offset)
      : key_low_(static_cast<unsigned int>(seed)),
        key_high_(static_cast<unsigned int>(seed >> 32)),
        subsequence_(subsequence),
        block_(offset / 4) {}

  /// The generator of a thread for a reserved range.
  SCONCE_DEVICE Engine(const Seed& seed, unsigned long long subsequence)
      : Engine(seed.seed, subsequence, seed.offset) {}

  /// Draws four words. Corresponds to `curand4`.
  SCONCE_DEVICE Words4 next() {
    Words4 c = {static_cast<unsigned int>(block_), static_cast<unsigned int>(block_ >> 32),
                static_cast<unsigned int>(subsequence_),
                static_cast<unsigned int>(subsequence_ >> 32)};
    unsigned int low = key_low_;
    unsigned int high = key_high_;
    for (int round = 0; round < 10; ++round) {
      const unsigned long long a = 0xD2511F53ULL * c.x;
      const unsigned long long b = 0xCD9E8D57ULL * c.z;
      c = Words4{static_cast<unsigned int>(b >> 32) ^ c.y ^ low, static_cast<unsigned int>(b),
                 static_cast<unsigned int>(a >> 32) ^ c.w ^ high, static_cast<unsigned int>(a)};
      low += 0x9E3779B9U;
      high += 0xBB67AE85U;
    }
    ++block_;
    return c;
  }

  /// Draws four numbers in (0, 1]. Corresponds to `curand_uniform4`.
  SCONCE_DEVICE Floats4 next_uniform() {
    const Words4 words = next();
    return Floats4{unit(words.x), unit(words.y), unit(words.z), unit(words.w)};
  }

  /// Draws two numbers in (0, 1]. Corresponds to `curand_uniform2_double`.
  SCONCE_DEVICE Doubles2 next_uniform_double() {
    const Words4 words = next();
    return Doubles2{wide(words.x, words.y, 0x1p-53), wide(words.z, words.w, 0x1p-53)};
  }

  /// Draws four numbers of the standard normal distribution. Corresponds to `curand_normal4`.
  SCONCE_DEVICE Floats4 next_normal() {
    const Words4 words = next();
    Floats4 numbers;
    normal_pair(words.x, words.y, &numbers.x, &numbers.y);
    normal_pair(words.z, words.w, &numbers.z, &numbers.w);
    return numbers;
  }

  /// Draws two numbers of the standard normal distribution. Corresponds to
  /// `curand_normal2_double`.
  SCONCE_DEVICE Doubles2 next_normal_double() {
    const Words4 words = next();
    const double radius = detail::radius(wide(words.x, words.y, 0x1p-53));
    Doubles2 numbers;
    detail::sine_cosine_of_half_turns(wide(words.z, words.w, 0x1p-52), &numbers.x, &numbers.y);
    numbers.x *= radius;
    numbers.y *= radius;
    return numbers;
  }

 private:
  // Of 53 of the 64 bits. The product is exact, so the sum is rounded once, fused or not.
  static SCONCE_DEVICE double wide(unsigned int low, unsigned int high, double step) {
    const unsigned long long bits = low ^ static_cast<unsigned long long>(high) << 21;
    return static_cast<double>(bits) * step + 0.5 * step;
  }

  // A radius and an angle make two numbers (Box and Muller).
  static SCONCE_DEVICE void normal_pair(unsigned int x, unsigned int y, float* first,
                                        float* second) {
    const float radius = detail::radius(unit(x));
    // 2^-32 of a turn, and half of that.
    detail::sine_cosine(detail::fused(static_cast<float>(y), 0x1.921fb6p-30f, 0x1.921fb6p-31f),
                        first, second);
    *first *= radius;
    *second *= radius;
  }

  // Rounded once, as the multiply-add of a device.
  static SCONCE_DEVICE float unit(unsigned int word) {
#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
    return fmaf(static_cast<float>(word), 0x1p-32f, 0x1p-33f);
#else
    // The product is a power of two away from the word, so the sum of doubles is exact.
    const double scaled = static_cast<double>(static_cast<float>(word)) * 0x1p-32 + 0x1p-33;
    return static_cast<float>(scaled);
#endif
  }

  unsigned int key_low_;
  unsigned int key_high_;
  unsigned long long subsequence_;
  unsigned long long block_;
};

}  // namespace philox
}  // namespace sconce

#endif  // SCONCE_CUDA_DEVICE_CUH
