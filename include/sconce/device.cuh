/// \file
/// For device code: seed and offset of a generator, and the numbers that PyTorch's kernels draw
/// from them.
///
/// Compiles with nvcc, with NVRTC, and as C++17 for the host, so that the function that stands for
/// a kernel on simulated devices draws the same numbers. Includes nothing.
#ifndef SCONCE_DEVICE_CUH
#define SCONCE_DEVICE_CUH

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
/// Marks a function of this header.
#define SCONCE_DEVICE __device__ __forceinline__
#else
/// Marks a function of this header.
#define SCONCE_DEVICE inline
#endif

namespace sconce {
namespace philox {

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

 private:
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

#endif  // SCONCE_DEVICE_CUH
