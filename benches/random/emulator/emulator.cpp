// Runs the random kernels on a CPU: built with machine.hpp force-included, this is the kernels'
// source as a host library, and `emulate` is a launch.
#include <initializer_list>

#include "../../../kernels/random_bernoulli.cu"
#include "../../../kernels/random_cauchy.cu"
#include "../../../kernels/random_exponential.cu"
#include "../../../kernels/random_full_range.cu"
#include "../../../kernels/random_geometric.cu"
#include "../../../kernels/random_integers.cu"
#include "../../../kernels/random_log_normal.cu"
#include "../../../kernels/random_normal.cu"
#include "../../../kernels/random_uniform.cu"

typedef void RealKernel(u64, u64, u64, u64, u64, double, double, u64);
typedef void WordKernel(u64, u64, u64, u64, u64, u64, i64, u64);

// Returns the bytes stored, which are those of the elements if none was written twice.
extern "C" u64 emulate(void* kernel, int takes_reals, u32 grid_x, u32 grid_y, const u64* a) {
  bytes_stored = 0;
  blockDim = {256, 1, 1};
  gridDim = {grid_x, grid_y, 1};
  for (blockIdx.y = 0; blockIdx.y < grid_y; ++blockIdx.y) {
    for (blockIdx.x = 0; blockIdx.x < grid_x; ++blockIdx.x) {
      for (threadIdx.x = 0; threadIdx.x < blockDim.x; ++threadIdx.x) {
        if (takes_reals) {
          ((RealKernel*)kernel)(a[0], a[1], a[2], a[3], a[4], bits_double(a[5]), bits_double(a[6]),
                                a[7]);
        } else {
          ((WordKernel*)kernel)(a[0], a[1], a[2], a[3], a[4], a[5], (i64)a[6], a[7]);
        }
      }
    }
  }
  return bytes_stored;
}

// logf of CUDA's math library in [2^-33, 1], step by step.
static float log_of_unit(float x) {
  const u32 bits = float_bits(x);
  const u32 exponent = (bits - 0x3f2aaaabu) & 0xff800000u;
  const float f = bits_float(bits - exponent) - 1.0f;
  float p = bits_float(0xbe055027u);
  for (u32 coefficient : {0x3e1039f6u, 0xbdf8cdccu, 0x3e0f2955u, 0xbe2ad8b9u, 0x3e4ced0bu,
                          0xbe7fff22u, 0x3eaaaa78u, 0xbf000000u}) {
    p = fmaf(p, f, bits_float(coefficient));
  }
  return fmaf((float)(int)exponent * 0x1p-23f, bits_float(0x3f317218u), fmaf(p * f, f, f));
}

// Of all floats in [2^-33, 1], how many have other bits in the kernels' doubled logarithm.
extern "C" u64 different_logarithms() {
  u64 different = 0;
  for (u32 bits = float_bits(0x1p-33f); bits <= float_bits(1.0f); ++bits) {
    const float x = bits_float(bits);
    different += float_bits(-twice_log_of_unit(x)) != float_bits(-2.0f * log_of_unit(x));
  }
  return different;
}
