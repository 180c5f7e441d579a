// A kernel of your own on both backends: dropout(gelu(x + bias)) in one pass, with the dropout mask
// of torch.nn.functional.dropout. On CUDA the device loads own_kernel.ptx; on simulated devices a
// function of the host stands for the kernel.
//
//   own_kernel [own_kernel.ptx]
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <sconce/cuda/device.cuh>
#include <sconce/sconce_all.hpp>
#include <string>
#include <vector>

#ifndef OWN_KERNEL_PTX
#define OWN_KERNEL_PTX "own_kernel.ptx"
#endif

namespace cc = sconce::cuda;
namespace sim = sconce::simulator;
namespace philox = sconce::philox;

namespace {

constexpr float kKeep = 0.9F;
constexpr int kRows = 500;
constexpr int kColumns = 96;

float gelu(float v) { return v * 0.5F * (1.0F + std::erf(v * 0.70710678F)); }

// The kernel's code once more, for simulated devices: the same names, the same numbers.
void register_kernel() {
  sim::register_kernel<float*, const float*, const float*, std::int64_t, int, float,
                       sconce_philox_state>(
      "bias_gelu_dropout",
      [](const sim::Thread& t, sim::DevicePointer<float> out, sim::DevicePointer<const float> x,
         sim::DevicePointer<const float> bias, std::int64_t elements, int columns, float keep,
         const sconce_philox_state& state) {
        const std::int64_t threads = std::int64_t{t.gridDim.x} * t.blockDim.x;
        const auto [seed, offset] = sim::unpack(state);
        philox::Engine engine(seed, static_cast<std::uint64_t>(t.x()), offset);
        for (std::int64_t first = t.x() * 4; first < elements; first += threads * 4) {
          const auto drawn = engine.next_uniform();
          const float u[4] = {drawn.x, drawn.y, drawn.z, drawn.w};
          for (int j = 0; j < 4 && first + j < elements; ++j) {
            const float v = gelu(x[first + j] + bias[(first + j) % columns]);
            out[first + j] = u[j] < keep ? v * (1.0F / keep) : 0.0F;
          }
        }
      });
}

// The grid of torch's dropout: with another, other threads would draw other numbers.
struct DropoutGrid {
  std::uint32_t blocks;
  std::uint64_t words;  // the most that a thread draws

  explicit DropoutGrid(std::int64_t elements) {
    const auto properties = cc::getDeviceProperties();
    const std::int64_t most = std::int64_t{properties.multi_processor_count} *
                              (properties.max_threads_per_multi_processor / 256);
    blocks = static_cast<std::uint32_t>(std::min((elements + 255) / 256, most));
    words = static_cast<std::uint64_t>((elements - 1) / (std::int64_t{256} * blocks * 4) + 1) * 4;
  }
};

int run(const std::string& ptx) {
  register_kernel();
  const cc::Module module = cc::Module::load_file(ptx);
  const auto kernel = module.kernel<float*, const float*, const float*, std::int64_t, int, float,
                                    sconce_philox_state>("bias_gelu_dropout");
  const auto needs = kernel.attributes();
  std::printf("%s: %u registers a thread, %u blocks of 256 threads on a multiprocessor\n",
              cc::get_device_name().c_str(), needs.registers, kernel.occupancy(256));

  cc::CUDAGenerator generator = cc::createCUDAGenerator();
  generator.set_current_seed(42);
  const std::int64_t elements = std::int64_t{kRows} * kColumns;
  const auto options = sconce::dtype(cc::ScalarType::Float).device(0);
  const sconce::Tensor x = sconce::linspace(-3, 3, elements, options);
  const sconce::Tensor bias = sconce::linspace(-1, 1, kColumns, options);
  const sconce::Tensor out = sconce::empty({elements}, options);
  const DropoutGrid grid(elements);

  std::vector<float> first;
  for (int step = 0; step < 2; ++step) {
    // Reserves this launch's numbers; in a graph, each replay finds numbers of its own.
    const sconce_philox_state reserved = generator.philox_cuda_state(grid.words);
    kernel.launch({cc::Dim3(grid.blocks), cc::Dim3(256)}, out, x, bias, elements, kColumns, kKeep,
                  reserved);

    std::vector<float> found(static_cast<std::size_t>(elements));
    cc::copy_(cc::Span<float>(found),
              cc::DeviceSpan<const float>(out.data_ptr<float>(), found.size()));
    std::size_t dropped = 0;
    float worst = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
      const float v = -3.0F + 6.0F * static_cast<float>(i) / static_cast<float>(elements - 1);
      const float b = -1.0F + 2.0F * static_cast<float>(i % kColumns) / (kColumns - 1);
      const float expected = gelu(v + b) / kKeep;
      dropped += found[i] == 0 ? 1U : 0U;
      worst = found[i] == 0 ? worst : std::max(worst, std::fabs(found[i] - expected));
    }
    const double share = static_cast<double>(dropped) / static_cast<double>(elements);
    std::printf("step %d: %.2f %% dropped, others within %.1e\n", step, 100 * share,
                static_cast<double>(worst));
    if (worst > 1e-5F || std::fabs(share - 0.1) > 0.01 || found == first) {
      std::printf("that is wrong\n");
      return 1;
    }
    first = found;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc > 1 ? argv[1] : OWN_KERNEL_PTX);
  } catch (const std::exception& error) {
    std::printf("%s\n", error.what());
    return 1;
  }
}
