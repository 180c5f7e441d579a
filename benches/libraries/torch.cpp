// PyTorch's products, convolutions and transforms. Built against an installed PyTorch by
// scripts/gpu-check.
#include <ATen/ATen.h>
#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/CUDAEvent.h>
#include <c10/core/GradMode.h>
#include <c10/cuda/CUDAFunctions.h>
#include <torch/version.h>

#include <cstdint>
#include <string>
#include <tuple>

#include "program.hpp"

namespace {

using library_bench::Convolution;
using library_bench::Operation;
using library_bench::Type;

at::TensorOptions on_device(Type type) {
  return at::TensorOptions().device(at::kCUDA).dtype(type == Type::half     ? at::kHalf
                                                     : type == Type::single ? at::kFloat
                                                                            : at::kDouble);
}

struct Torch {
  static std::string title() { return std::string("PyTorch ") + TORCH_VERSION; }
  static void enter() { c10::cuda::set_device(0); }
  static void drain() { c10::cuda::device_synchronize(); }

  template <class Call>
  static double device_ms(Call& call, int times) {
    at::cuda::CUDAEvent start(cudaEventDefault), end(cudaEventDefault);
    start.record();
    for (int i = 0; i < times; ++i) {
      call();
    }
    end.record();
    end.synchronize();
    return static_cast<double>(start.elapsed_time(end)) / times;
  }

  static void set_tf32(bool allow) {
    at::globalContext().setAllowTF32CuBLAS(allow);
    at::globalContext().setAllowTF32CuDNN(allow);
  }

  static auto handle() {
    return [] {
      const auto handle = at::cuda::getCurrentCUDABlasHandle();
      asm volatile("" ::"r"(handle));
    };
  }

  static auto transform(std::int64_t n, std::int64_t batch) {
    const auto complex = at::TensorOptions().device(at::kCUDA).dtype(at::kComplexFloat);
    auto in = at::randn({batch, n}, complex), out = at::empty({batch, n}, complex);
    return [in, out]() mutable { at::_fft_c2c_out(out, in, {1}, 0, true); };
  }

  static auto product(std::int64_t n, Type type) {
    auto a = at::randn({n, n}, on_device(type)), b = at::randn({n, n}, on_device(type));
    auto c = at::empty({n, n}, on_device(type));
    return [a, b, c]() mutable { at::mm_out(c, a, b); };
  }

  static auto convolution(const Convolution& shape, Type type, Operation operation) {
    const auto format =
        shape.channels_last ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::Contiguous;
    auto input = at::randn({shape.batch, shape.in, shape.size, shape.size}, on_device(type))
                     .contiguous(format);
    auto filter =
        at::randn({shape.out, shape.in / shape.groups, shape.filter, shape.filter}, on_device(type))
            .contiguous(format);
    auto forward = [input, filter, shape] {
      return at::conv2d(input, filter, {}, shape.stride, shape.padding, 1, shape.groups);
    };
    auto gradient = at::randn_like(forward());
    return [input, filter, gradient, forward, shape, operation] {
      if (operation == Operation::forward) {
        forward();
        return;
      }
      const bool data = operation == Operation::data;
      at::convolution_backward(gradient, input, filter, at::OptionalIntArrayRef(),
                               {shape.stride, shape.stride}, {shape.padding, shape.padding}, {1, 1},
                               false, {0, 0}, shape.groups, {data, !data, false});
    };
  }
};

}  // namespace

int main(int argc, char** argv) {
  const memory_bench::Options options(argc, argv);
  if (!options.valid) {
    return 2;
  }
  at::globalContext().lazyInitDevice(at::kCUDA);
  const c10::NoGradGuard no_gradients;
  return library_bench::run<Torch>(options);
}
