// The kernel of own_kernel.cpp: dropout(gelu(x + bias)), in one pass over the memory. The mask is
// the one that torch.nn.functional.dropout draws from the same generator.
//
//   nvcc -std=c++17 -arch=compute_75 -ptx -I include examples/own_kernel.cu
//
// scripts/build-kernels writes the committed file.
#include <sconce/cuda/device.cuh>

extern "C" __global__ void bias_gelu_dropout(float* out, const float* x, const float* bias,
                                             long long elements, int columns, float keep,
                                             sconce::philox::State state) {
  const long long threads = (long long)gridDim.x * blockDim.x;
  const long long thread = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  sconce::philox::Engine engine(sconce::philox::unpack(state), thread);
  for (long long first = thread * 4; first < elements; first += threads * 4) {
    const sconce::philox::Floats4 drawn = engine.next_uniform();
    const float u[4] = {drawn.x, drawn.y, drawn.z, drawn.w};
    for (int j = 0; j < 4 && first + j < elements; ++j) {
      const float v = x[first + j] + bias[(first + j) % columns];
      const float gelu = v * 0.5f * (1.0f + erff(v * 0.70710678f));
      out[first + j] = u[j] < keep ? gelu * (1.0f / keep) : 0.0f;
    }
  }
}
