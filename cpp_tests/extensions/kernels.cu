// An extension with device code, over PyTorch's include paths: shuffles of a warp, marks of
// kernels, streams, guards and the calls of c10 that return the runtime's errors. Compiled only.
#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/CUDAEvent.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/extension.h>
#include <torch/library.h>

#include <ATen/cuda/Atomic.cuh>
#include <array>
#include <vector>

using namespace at;

namespace {

constexpr int kThreads = 4 * C10_WARP_SIZE;

template <typename scalar_t>
C10_LAUNCH_BOUNDS_1(kThreads)
__global__ void sum_kernel(const PackedTensorAccessor32<scalar_t, 1, RestrictPtrTraits> values,
                           scalar_t* total) {
  using opmath_t = at::opmath_type<scalar_t>;
  opmath_t sum = 0;
  CUDA_KERNEL_LOOP(i, values.size(0)) { sum += static_cast<opmath_t>(values[i]); }
  for (int by = C10_WARP_SIZE / 2; by > 0; by /= 2) {
    sum += WARP_SHFL_DOWN(sum, by);
  }
  CUDA_KERNEL_ASSERT(WARP_SHFL(sum, 0) == WARP_SHFL_XOR(WARP_SHFL(sum, 0), 1));
  if (WARP_BALLOT(getLaneId() == 0) != 0 && getLaneId() == 0) {
    gpuAtomicAdd(total, static_cast<scalar_t>(sum));
  }
}

#define CHECK_CUDA(x) TORCH_CHECK((x).is_cuda(), #x " must be a CUDA tensor")

Tensor sum_of(const Tensor& values) {
  CHECK_CUDA(values);
  TORCH_CHECK(values.dim() == 1, "one dimension, but got ", values.dim());
  const c10::cuda::CUDAGuard guard(values.device());
  cudaDeviceProp* properties = at::cuda::getCurrentDeviceProperties();
  const int blocks = 2 * properties->multiProcessorCount;
  Tensor total = at::zeros({1}, values.options());
  AT_DISPATCH_FLOATING_TYPES_AND2(
      at::ScalarType::Half, at::ScalarType::BFloat16, values.scalar_type(), "sum_of", [&] {
        sum_kernel<scalar_t><<<blocks, kThreads, 0, at::cuda::getCurrentCUDAStream()>>>(
            values.packed_accessor32<scalar_t, 1, RestrictPtrTraits>(), total.data_ptr<scalar_t>());
        C10_CUDA_KERNEL_LAUNCH_CHECK();
      });
  return total;
}

void streams(const Tensor& tensor) {
  const c10::cuda::CUDAStream stream = at::cuda::getStreamFromPool();
  const c10::Stream generic = stream.unwrap();
  const c10::cuda::CUDAStream same(c10::cuda::CUDAStream::UNCHECKED, generic);
  const std::array<c10::cuda::CUDAStream, 2> two{stream, same};
  const c10::cuda::CUDAMultiStreamGuard of_array(two);
  const std::vector<c10::cuda::CUDAStream> several{stream, same};
  const c10::cuda::CUDAMultiStreamGuard of_vector(several);
  c10::DeviceIndex device = 0;
  C10_CUDA_CHECK(c10::cuda::GetDevice(&device));
  C10_CUDA_CHECK(c10::cuda::SetDevice(device));
  static_cast<void>(c10::cuda::ExchangeDevice(device));
  int count = 0;
  C10_CUDA_CHECK(c10::cuda::GetDeviceCount(&count));
  std::size_t largest = 0;
  c10::cuda::CUDACachingAllocator::cacheInfo(device, &largest);
  c10::cuda::CUDACachingAllocator::recordHistory(true, nullptr, 100, 0);
  C10_CUDA_CHECK(c10::cuda::CUDACachingAllocator::memcpyAsync(
      tensor.data_ptr(), device, tensor.data_ptr(), device, 0, stream, false));
  const c10::DataPtr memory = c10::cuda::CUDACachingAllocator::get()->allocate(16);
  c10::cuda::CUDACachingAllocator::recordStream(memory, stream);
  at::cuda::CUDAEvent event(cudaEventDisableTiming);
  event.record(stream);
  AT_CUDA_CHECK(cudaEventSynchronize(event.event()));
}

}  // namespace

TORCH_LIBRARY(sconce_device_tests, m) { m.def("sum_of", &sum_of); }
TORCH_LIBRARY_IMPL(sconce_device_tests, CUDA, m) { m.impl("streams", &streams); }
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("sum_of", &sum_of, "the sum", py::arg("values"));
  m.def("streams", &streams, py::call_guard<py::gil_scoped_release>());
}
