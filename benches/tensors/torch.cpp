// PyTorch's tensors. Built against an installed PyTorch by scripts/gpu-check.
#include <ATen/ATen.h>
#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/CUDAEvent.h>
#include <c10/core/GradMode.h>
#include <c10/cuda/CUDAFunctions.h>
#include <torch/version.h>

#include "program.hpp"

namespace {

const at::TensorOptions on_device = at::TensorOptions().device(at::kCUDA).dtype(at::kFloat);

struct Small {
  at::Tensor x = at::randn({16, 16}, on_device), y = at::randn({16, 16}, on_device);

  void empty() { auto t = at::empty({2, 3}, on_device); }
  void empty_cpu() { auto t = at::empty({2, 3}); }
  void view() { auto t = x.view({256}); }
  void select() { auto t = x.select(0, 1); }
  void zeros() { auto t = at::zeros({256}, on_device); }
  void add() { auto t = at::add(x, y); }
  void add_into() { x.add_(y); }
  void sum() { auto t = x.sum(); }
  void cast() { auto t = x.to(at::kHalf); }
  void cat() { auto t = at::cat({x, y}); }
  void matmul() { auto t = at::mm(x, y); }
  void item() { x[0][0].item<float>(); }
};

struct Large {
  std::int64_t rows;
  at::Tensor a, b, c, half, other_half, third_half, row, index, keys;

  explicit Large(std::int64_t scale)
      : rows(16384 / scale),
        a(at::randn({rows, 16384}, on_device)),
        b(at::randn({rows, 16384}, on_device)),
        c(at::empty_like(a)),
        half(a.to(at::kHalf)),
        other_half(b.to(at::kHalf)),
        third_half(at::empty_like(half)),
        row(at::randn({16384}, on_device)),
        index(at::randint(0, rows, {(rows + 3) / 4}, on_device.dtype(at::kLong))),
        keys(at::randint(0, 1 << 30, {(1 << 24) / scale}, on_device.dtype(at::kInt))) {}

  void copy() { c.copy_(a); }
  void add() { at::add_out(c, a, b); }
  void add_half() { at::add_out(third_half, half, other_half); }
  void gelu() { at::gelu_out(c, a); }
  void cast() { third_half.copy_(a); }
  void add_row() { at::add_out(c, a, row); }
  void sum() { auto t = a.sum(); }
  void sum_rows() { auto t = a.sum(1); }
  void sum_columns() { auto t = a.sum(0); }
  void argmax_rows() { auto t = a.argmax(1); }
  void softmax() { auto t = at::softmax(a, 1); }
  void transposed_cast() {
    auto t = a.t().to(at::kHalf, false, false, at::MemoryFormat::Contiguous);
  }
  void cumsum() { auto t = a.view({-1}).cumsum(0); }
  void cumsum_rows() { auto t = a.cumsum(1); }
  void index_select() { auto t = at::index_select(a, 0, index); }
  void cat() { auto t = at::cat({a.narrow(0, 0, rows / 2), b.narrow(0, 0, rows - rows / 2)}); }
  void sort() { auto t = at::sort(keys, std::optional<bool>(true)); }
};

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

  static Small small() { return {}; }
  static Large large(std::int64_t scale) { return Large(scale); }
};

}  // namespace

int main(int argc, char** argv) {
  const memory_bench::Options options(argc, argv);
  if (!options.valid) {
    return 2;
  }
  at::globalContext().lazyInitDevice(at::kCUDA);
  at::globalContext().setAllowTF32CuBLAS(false);
  const c10::NoGradGuard no_gradients;
  return tensor_bench::run<Torch>(options);
}
