// A kernel of the program that several tests launch.
#ifndef SCONCE_CPP_TESTS_KERNEL_SUPPORT_HPP
#define SCONCE_CPP_TESTS_KERNEL_SUPPORT_HPP

#include <cstdint>

#include "fixture.hpp"

namespace support {

// What nvcc makes of
//   extern "C" __global__ void saxpy(float* y, const float* x, float a, long long n) {
//     const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
//     if (i < n) y[i] = a * x[i] + y[i];
//   }
// with a product and a sum of their own, so that both backends round alike.
inline constexpr const char* kSaxpy = R"(
.version 8.0
.target sm_75
.address_size 64
.visible .entry saxpy(.param .u64 y, .param .u64 x, .param .f32 a, .param .u64 n)
{
  .reg .pred %p<2>;
  .reg .f32 %f<6>;
  .reg .b32 %r<4>;
  .reg .b64 %rd<9>;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mul.wide.u32 %rd1, %r1, %r2;
  cvt.u64.u32 %rd2, %r3;
  add.s64 %rd1, %rd1, %rd2;
  ld.param.u64 %rd3, [n];
  setp.ge.s64 %p1, %rd1, %rd3;
  @%p1 bra DONE;
  ld.param.u64 %rd4, [y];
  ld.param.u64 %rd5, [x];
  cvta.to.global.u64 %rd4, %rd4;
  cvta.to.global.u64 %rd5, %rd5;
  shl.b64 %rd6, %rd1, 2;
  add.s64 %rd7, %rd4, %rd6;
  add.s64 %rd8, %rd5, %rd6;
  ld.param.f32 %f1, [a];
  ld.global.f32 %f2, [%rd8];
  ld.global.f32 %f3, [%rd7];
  mul.rn.f32 %f4, %f1, %f2;
  add.rn.f32 %f5, %f4, %f3;
  st.global.f32 [%rd7], %f5;
DONE:
  ret;
}
)";

inline void register_saxpy() {
  namespace sim = sconce::simulator;
  sim::register_kernel<float*, const float*, float, std::int64_t>(
      "saxpy", [](const sim::Thread& thread, sim::DevicePointer<float> y,
                  sim::DevicePointer<const float> x, float a, std::int64_t n) {
        const std::int64_t i = thread.x();
        if (i < n) {
          const float product = a * x[i];
          y[i] += product;
        }
      });
}

}  // namespace support

#endif
