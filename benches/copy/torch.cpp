// PyTorch's cache of pinned memory and its copies. Built against an installed PyTorch by
// scripts/gpu-check.
#include <ATen/ATen.h>
#include <ATen/core/CachingHostAllocator.h>
#include <c10/core/GradMode.h>
#include <c10/cuda/CUDAFunctions.h>
#include <torch/version.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "program.hpp"

namespace {

at::HostAllocator* host_allocator() {
  static at::HostAllocator* const allocator = at::getHostAllocator(at::kCUDA);
  return allocator;
}

struct Torch {
  using Pinned = at::DataPtr;
  using Memory = at::Tensor;

  static std::string title() { return std::string("PyTorch ") + TORCH_VERSION; }
  static void enter_thread() { c10::cuda::set_device(0); }

  static at::DataPtr pin(std::size_t bytes) { return host_allocator()->allocate(bytes); }
  static void start_over() {
    drain();
    host_allocator()->empty_cache();
    host_allocator()->reset_peak_stats();
  }
  static copy_bench::PinnedFigures pinned_figures() {
    const at::HostStats stats = host_allocator()->get_stats();
    return {static_cast<std::size_t>(stats.allocated_bytes.current),
            static_cast<std::size_t>(stats.allocated_bytes.peak),
            static_cast<long>(stats.num_host_alloc)};
  }

  static int devices() { return c10::cuda::device_count(); }
  static void drain() {
    for (int device = std::min(devices(), 2) - 1; device >= 0; --device) {
      c10::cuda::set_device(static_cast<c10::DeviceIndex>(device));
      c10::cuda::device_synchronize();
    }
  }

  static at::Tensor pinned(std::size_t bytes) {
    return at::empty({static_cast<std::int64_t>(bytes)},
                     at::TensorOptions().dtype(at::kByte).pinned_memory(true));
  }
  static at::Tensor ordinary(void* address, std::size_t bytes) {
    return at::from_blob(address, {static_cast<std::int64_t>(bytes)},
                         at::TensorOptions().dtype(at::kByte));
  }
  static at::Tensor on_device(std::size_t bytes, int device) {
    return at::empty({static_cast<std::int64_t>(bytes)},
                     at::TensorOptions().dtype(at::kByte).device(
                         at::kCUDA, static_cast<c10::DeviceIndex>(device)));
  }

  static auto copier(const at::Tensor& dst, const at::Tensor& src, std::size_t bytes,
                     bool non_blocking) {
    const auto length = static_cast<std::int64_t>(bytes);
    return [dst = dst.narrow(0, 0, length), src = src.narrow(0, 0, length), non_blocking] {
      dst.copy_(src, non_blocking);
    };
  }
  static auto setter(const at::Tensor& dst, std::size_t bytes) {
    return [dst = dst.narrow(0, 0, static_cast<std::int64_t>(bytes))] { dst.fill_(7); };
  }
  static auto strided(const at::Tensor& dst, const at::Tensor& src,
                      const copy_bench::Shape& shape) {
    return [dst = dst.view(at::kFloat).as_strided(shape.sizes, shape.dst_strides),
            src = src.view(at::kFloat).as_strided(shape.sizes, shape.src_strides)] {
      dst.copy_(src, true);
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
  Torch::enter_thread();
  return copy_bench::run<Torch>(options);
}
