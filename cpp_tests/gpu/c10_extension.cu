// An extension as one is written for PyTorch: no name of this library, PyTorch's include paths, and
// kernels over halves, numbers of 8 bits and complex ones, with atomic sums and limits. Needs nvcc
// and a GPU: scripts/gpu-check compiles it with the folder of headers sconce/torch_headers.
#include <ATen/AccumulateType.h>
#include <ATen/Dispatch.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/util/complex.h>
#include <torch/extension.h>

#include <ATen/cuda/Atomic.cuh>
#include <ATen/cuda/NumericLimits.cuh>
#include <ATen/native/cuda/KernelUtils.cuh>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

namespace {

constexpr int kThreads = 128;

int blocks_of(int64_t n) { return static_cast<int>((n + kThreads - 1) / kThreads); }

template <typename scalar_t>
__global__ void scatter_add_kernel(const scalar_t* __restrict__ src,
                                   const int64_t* __restrict__ index, scalar_t* __restrict__ out,
                                   const int64_t n, const int64_t numel) {
  CUDA_KERNEL_LOOP_TYPE(i, n, int64_t) {
    at::native::fastAtomicAdd(out, index[i], numel, src[i], true);
  }
}

torch::Tensor scatter_add(const torch::Tensor& src, const torch::Tensor& index, int64_t size) {
  TORCH_CHECK(src.is_cuda() && index.is_cuda(), "tensors of the device");
  const c10::cuda::CUDAGuard guard(src.device());
  auto out = torch::zeros({size}, src.options());
  AT_DISPATCH_FLOATING_TYPES_AND2(
      at::ScalarType::Half, at::ScalarType::BFloat16, src.scalar_type(), "scatter_add", [&] {
        scatter_add_kernel<scalar_t>
            <<<blocks_of(src.numel()), kThreads, 0, at::cuda::getCurrentCUDAStream()>>>(
                src.data_ptr<scalar_t>(), index.data_ptr<int64_t>(), out.data_ptr<scalar_t>(),
                src.numel(), size);
      });
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return out;
}

/// x * y + x as the type computes it, and in the type in which kernels compute.
template <typename scalar_t>
__global__ void twice_kernel(const scalar_t* x, const scalar_t* y, scalar_t* rounded,
                             scalar_t* exact, int n) {
  using opmath_t = at::opmath_type<scalar_t>;
  CUDA_KERNEL_LOOP(i, n) {
    rounded[i] = x[i] * __ldg(y + i) + x[i];
    rounded[i] += scalar_t(1);
    const auto wide = static_cast<opmath_t>(x[i]);
    exact[i] = wide / (opmath_t(1) + ::exp(-wide));
  }
}

template <typename scalar_t>
__global__ void largest_kernel(const scalar_t* x, scalar_t* largest, int rows, int columns) {
  const int row = static_cast<int>(threadIdx.x);
  if (row < rows) {
    scalar_t most = at::numeric_limits<scalar_t>::lower_bound();
    for (int i = 0; i < columns; ++i) {
      most = x[row * columns + i] > most ? x[row * columns + i] : most;
    }
    largest[row] = most;
  }
}

template <typename scalar_t>
__global__ void turn_kernel(c10::complex<scalar_t>* z, scalar_t angle, int n) {
  CUDA_KERNEL_LOOP(i, n) { z[i] *= std::exp(c10::complex<scalar_t>(0, angle)); }
}

template <typename scalar_t>
__global__ void quantize_kernel(const float* x, scalar_t* out, int n) {
  CUDA_KERNEL_LOOP(i, n) { out[i] = static_cast<scalar_t>(x[i]); }
}

torch::Tensor quantized(const torch::Tensor& x, at::ScalarType type) {
  auto out = torch::empty(x.sizes(), x.options().dtype(type));
  const int n = static_cast<int>(x.numel());
  const auto launch = [&](auto* data) {
    quantize_kernel<<<blocks_of(n), kThreads, 0, at::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<float>(), data, n);
  };
  AT_DISPATCH_SWITCH(
      type, "quantized",
      AT_DISPATCH_CASE(at::ScalarType::Float8_e4m3fn, [&] { launch(out.data_ptr<scalar_t>()); })
          AT_DISPATCH_CASE(at::ScalarType::Float8_e5m2, [&] { launch(out.data_ptr<scalar_t>()); })
              AT_DISPATCH_CASE(at::ScalarType::Half, [&] { launch(out.data_ptr<scalar_t>()); }));
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return out;
}

int wrong = 0;

void expect(bool condition, const std::string& what) {
  if (!condition && ++wrong <= 20) {
    std::printf("does not hold: %s\n", what.c_str());
  }
}

torch::Tensor ramp(int64_t n, float first, float step) {
  std::vector<float> values;
  for (int64_t i = 0; i < n; ++i) {
    values.push_back(first + step * static_cast<float>(i));
  }
  return torch::tensor(values, torch::dtype(torch::kFloat32).device(torch::kCPU))
      .to(torch::Device(torch::kCUDA));
}

template <typename scalar_t>
void numbers_of(const torch::Tensor& x, const torch::Tensor& y, const char* name) {
  auto rounded = torch::empty_like(x);
  auto exact = torch::empty_like(x);
  const int n = static_cast<int>(x.numel());
  twice_kernel<scalar_t><<<blocks_of(n), kThreads, 0, at::cuda::getCurrentCUDAStream()>>>(
      x.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), rounded.data_ptr<scalar_t>(),
      exact.data_ptr<scalar_t>(), n);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  const auto a = x.cpu();
  const auto b = y.cpu();
  const auto r = rounded.cpu();
  const auto e = exact.cpu();
  for (int i = 0; i < n; ++i) {
    const scalar_t left = a.data_ptr<scalar_t>()[i];
    scalar_t expected = left * b.data_ptr<scalar_t>()[i] + left;
    expected += scalar_t(1);
    expect(static_cast<float>(r.data_ptr<scalar_t>()[i]) == static_cast<float>(expected),
           std::string(name) + " is rounded " + std::to_string(i));
    const auto wide = static_cast<float>(left);
    const float near = wide / (1.0F + std::exp(-wide));
    expect(std::fabs(static_cast<float>(e.data_ptr<scalar_t>()[i]) - near) <=
               0.01F * std::fabs(near) + 1e-6F,
           std::string(name) + " in the wider type " + std::to_string(i));
  }
}

void check() {
  const auto index = torch::arange(0, 1000, torch::dtype(torch::kInt64).device(torch::kCUDA));
  for (const auto type : {torch::kHalf, torch::kBFloat16, torch::kFloat32, torch::kFloat64}) {
    const auto ones = torch::full({1000}, 1.0, torch::dtype(type).device(torch::kCUDA));
    const auto sums = scatter_add(ones, index.remainder(7), 7).to(torch::kFloat32).cpu();
    for (int i = 0; i < 7; ++i) {
      expect(sums.data_ptr<float>()[i] == (i < 6 ? 143.0F : 142.0F),
             std::string("sums of ") + c10::toString(type));
    }
  }

  const auto x = ramp(5000, -20.0F, 0.0079F);
  const auto y = ramp(5000, 3.0F, -0.0013F);
  numbers_of<c10::Half>(x.to(torch::kHalf), y.to(torch::kHalf), "Half");
  numbers_of<at::BFloat16>(x.to(torch::kBFloat16), y.to(torch::kBFloat16), "BFloat16");

  const auto negative = ramp(40, -80.0F, 1.0F).to(torch::kHalf);
  const auto largest = torch::empty({4}, negative.options());
  largest_kernel<<<1, 32, 0, at::cuda::getCurrentCUDAStream()>>>(
      negative.data_ptr<at::Half>(), largest.data_ptr<at::Half>(), 4, 10);
  const auto most = largest.cpu();
  for (int i = 0; i < 4; ++i) {
    expect(most.data_ptr<at::Half>()[i] == -71 + 10 * i, "the largest of negative halves");
  }

  const auto z = torch::full({100}, c10::complex<float>(1, 2),
                             torch::dtype(torch::kComplexFloat).device(torch::kCUDA));
  turn_kernel<<<blocks_of(100), kThreads, 0, at::cuda::getCurrentCUDAStream()>>>(
      z.data_ptr<c10::complex<float>>(), 1.5707964F, 100);
  const auto turned = z.cpu();
  for (int i = 0; i < 100; ++i) {
    const c10::complex<float> value = turned.data_ptr<c10::complex<float>>()[i];
    expect(std::abs(value - c10::complex<float>(-2, 1)) < 1e-5F, "a turned complex number");
  }

  for (const auto type : {torch::kHalf, torch::kFloat8_e4m3fn, torch::kFloat8_e5m2}) {
    const auto wide = ramp(3000, -440.0F, 0.29F);  // all of them finite in each type
    expect(quantized(wide, type).to(torch::kFloat32).equal(wide.to(type).to(torch::kFloat32)),
           std::string("conversion to ") + c10::toString(type));
  }
}

}  // namespace

int main() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::printf("skipped: needs a GPU\n");
    return 77;
  }
  check();
  std::printf(wrong == 0 ? "an extension computes\n" : "%d do not hold\n", wrong);
  return wrong == 0 ? 0 : 1;
}
