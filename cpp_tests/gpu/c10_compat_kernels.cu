// Code written for ATen as nvcc compiles it: compat/c10.hpp with CUDA's own headers, kernels with
// `<<<…>>>`, Philox states unpacked in a kernel, and graphs. Needs nvcc and a GPU:
// scripts/gpu-check compiles it with `--expt-relaxed-constexpr`, as torch compiles extensions, and
// runs it.
#include <curand_kernel.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <sconce/compat/c10.hpp>
#include <sconce/cuda/device.cuh>
#include <string>
#include <tuple>

namespace c10 = sconce::compat::c10;
namespace at = sconce::compat::at;
namespace torch = sconce::compat::torch;

namespace {

void expect(bool condition, const char* what) {
  if (!condition) {
    std::fprintf(stderr, "does not hold: %s\n", what);
    std::exit(1);
  }
}

template <class scalar_t>
C10_HOST_DEVICE inline scalar_t square(scalar_t x) {
  return x * x;
}

template <class scalar_t>
C10_LAUNCH_BOUNDS_1(256)
__global__ void square_kernel(const scalar_t* C10_RESTRICT in, scalar_t* C10_RESTRICT out, int n) {
  CUDA_KERNEL_LOOP(i, n) { out[i] = square(in[i]); }
}

torch::Tensor squared(const torch::Tensor& x) {
  TORCH_CHECK(x.is_cuda() && x.is_contiguous(), "x must be a contiguous CUDA tensor, not ",
              x.sizes());
  const at::cuda::OptionalCUDAGuard device_guard(device_of(x));
  auto out = torch::empty(x.sizes(), x.options());
  const int n = static_cast<int>(x.numel());
  const int blocks =
      std::min(at::ceil_div(n, 256), at::cuda::getCurrentDeviceProperties()->multiProcessorCount);
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "squared", [&] {
    square_kernel<scalar_t><<<blocks, 256, 0, at::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<scalar_t>(), out.data_ptr<scalar_t>(), n);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
  return out;
}

/// Draws as a kernel of ATen does, with cuRAND.
__global__ void draw_kernel(float4* out, at::PhiloxCudaState philox_args) {
  const auto seeds = at::cuda::philox::unpack(philox_args);
  const auto idx = static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  curandStatePhilox4_32_10_t state;
  curand_init(std::get<0>(seeds), idx, std::get<1>(seeds), &state);
  out[idx] = curand_uniform4(&state);
}

/// Draws with this library's header for device code.
__global__ void own_draw_kernel(float4* out, sconce::philox::State philox) {
  const auto idx = static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  sconce::philox::Engine engine(sconce::philox::unpack(philox), idx);
  const sconce::philox::Floats4 numbers = engine.next_uniform();
  out[idx] = make_float4(numbers.x, numbers.y, numbers.z, numbers.w);
}

constexpr int kBlocks = 5;
constexpr int kThreads = 128;

torch::Tensor floats() {
  return torch::zeros({kBlocks * kThreads, 4},
                      torch::TensorOptions().dtype(torch::kFloat32).device(torch::kCUDA));
}

void draw(const torch::Tensor& out, at::CUDAGeneratorImpl* gen) {
  at::PhiloxCudaState state;
  {
    const std::lock_guard<std::mutex> lock(gen->mutex_);
    state = gen->philox_cuda_state(4);
  }
  draw_kernel<<<kBlocks, kThreads, 0, at::cuda::getCurrentCUDAStream()>>>(
      reinterpret_cast<float4*>(out.data_ptr<float>()), state);
  AT_CUDA_CHECK(cudaGetLastError());
}

void own_draw(const torch::Tensor& out, sconce::cuda::CUDAGenerator& gen) {
  const sconce_philox_state state = gen.philox_cuda_state(4);
  own_draw_kernel<<<kBlocks, kThreads, 0, at::cuda::getCurrentCUDAStream()>>>(
      reinterpret_cast<float4*>(out.data_ptr<float>()),
      sconce::philox::State{state.seed, state.offset,
                            reinterpret_cast<const unsigned long long*>(state.device_state)});
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

void kernels_compute() {
  const auto x = torch::arange(0, 100000, 1,
                               torch::TensorOptions().dtype(torch::kFloat64).device(torch::kCUDA));
  expect(squared(x).equal(x.mul(x)), "a kernel of doubles");
  const auto y = x.to(torch::kFloat32);
  expect(squared(y).equal(y.mul(y)), "a kernel of floats");
  expect(square(3) == 9, "a function for host and device");
}

void a_failed_launch_has_the_runtimes_words() {
  const auto x = floats();
  const auto launch = [&] {
    square_kernel<float><<<1, 1 << 20, 0, at::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<float>(), x.data_ptr<float>(), 1);
  };
  launch();
  const cudaError_t code = cudaGetLastError();
  expect(code != cudaSuccess, "a block of a million threads is too large");
  bool thrown = false;
  try {
    launch();
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  } catch (const c10::Error& error) {
    thrown = true;
    expect(error.backend_code() == static_cast<int>(code), "the error has the runtime's number");
    const bool has_words = error.msg().find(cudaGetErrorString(code)) != std::string::npos;
    expect(has_words, "the error has the runtime's words");
    if (!has_words) {
      std::fprintf(stderr, "%s\n", error.msg().c_str());
    }
  }
  expect(thrown, "the check of a launch throws");
}

void draws_continue_one_sequence() {
  auto* gen = at::get_generator_or_default<at::CUDAGeneratorImpl>(
      c10::nullopt, at::cuda::detail::getDefaultCUDAGenerator());
  gen->set_current_seed(42);
  sconce::cuda::CUDAGenerator other = gen->get().clone();
  const auto by_curand = floats();
  const auto by_header = floats();
  for (int round = 0; round < 3; ++round) {
    draw(by_curand, gen);
    own_draw(by_header, other);
    expect(by_curand.equal(by_header), "cuRAND and cuda/device.cuh draw the same numbers");
  }
  // The same in a graph: each replay finds a range of its own.
  at::cuda::CUDAGraph graph;
  {
    const c10::cuda::CUDAStreamGuard guard(at::cuda::getStreamFromPool());
    graph.register_generator_state(at::cuda::detail::getDefaultCUDAGenerator());
    graph.capture_begin({0, 0}, cudaStreamCaptureModeThreadLocal);
    draw(by_curand, gen);
    graph.capture_end();
  }
  for (int round = 0; round < 3; ++round) {
    graph.replay();
    own_draw(by_header, other);
    expect(by_curand.equal(by_header), "a replay draws what an ordinary launch would");
  }
}

void graphs_give_the_runtimes_handles() {
  const auto x = floats();
  at::cuda::CUDAGraph graph(/*keep_graph=*/true);
  {
    const c10::cuda::CUDAStreamGuard guard(at::cuda::getStreamFromPool());
    at::cuda::MempoolId_t pool = at::cuda::graph_pool_handle();
    graph.capture_begin(pool, cudaStreamCaptureModeGlobal);
    x.copy_(squared(x + 3));
    graph.capture_end();
  }
  cudaGraph_t h = graph.raw_cuda_graph();
  std::size_t nodes = 0;
  C10_CUDA_CHECK(cudaGraphGetNodes(h, nullptr, &nodes));
  expect(nodes == graph.node_count() && nodes >= 3, "the runtime counts the graph's nodes");
  graph.instantiate();
  cudaGraphExec_t executable = graph.raw_cuda_graph_exec();
  C10_CUDA_CHECK(cudaGraphLaunch(executable, at::cuda::getCurrentCUDAStream()));
  expect(x.eq(9).all().item<bool>(), "the runtime launches the graph");
}

}  // namespace

int main() {
  if (sconce::cuda::device_count() == 0 || sconce::active_backend() != sconce::Backend::Cuda) {
    std::printf("skipped: needs a GPU\n");
    return 77;
  }
  kernels_compute();
  a_failed_launch_has_the_runtimes_words();
  draws_continue_one_sequence();
  graphs_give_the_runtimes_handles();
  std::printf("code for c10 holds under nvcc\n");
  return 0;
}
