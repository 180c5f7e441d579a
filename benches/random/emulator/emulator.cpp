// Runs the random kernels on a CPU: built with machine.hpp force-included, this is the kernels'
// source as a host library, and `emulate` is a launch.
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
