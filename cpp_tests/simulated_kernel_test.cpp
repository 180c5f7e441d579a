// Functions that stand for kernels on simulated devices: threads and blocks, shared memory, bad
// addresses, exceptions.

#include <atomic>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "kernel_support.hpp"

namespace {

namespace cc = sconce::cuda;
namespace sim = sconce::simulator;
using support::contains;
using support::error_of;

std::string entry(const std::string& name) {
  return ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry " + name +
         "()\n{ ret; }\n";
}

class SimulatedKernel : public support::WorkFixture {
 protected:
  void SetUp() override {
    WorkFixture::SetUp();
    if (!IsSkipped()) {
      SCONCE_NEED_SIMULATOR();
    }
  }
};

TEST_F(SimulatedKernel, ComputesEveryThreadOfEveryBlockOnce) {
  sim::register_kernel<std::int32_t*>(
      "coordinates", [](const sim::Thread& t, sim::DevicePointer<std::int32_t> out) {
        const std::int64_t width = 3 * 4;
        const std::int64_t height = 2 * 2;
        out[(t.z() * height + t.y()) * width + t.x()] += 1;
      });
  const cc::Module module = cc::Module::load(entry("coordinates"));
  auto out = cc::DeviceBuffer::of<std::int32_t>(12 * 4 * 2);
  cc::memory_set(out, 0);
  module.kernel("coordinates").launch({cc::Dim3(3, 2, 1), cc::Dim3(4, 2, 2)}, out);
  std::vector<std::int32_t> found(12 * 4 * 2);
  cc::copy_(cc::Span<std::int32_t>(found), out.span<std::int32_t>());
  EXPECT_EQ(found, std::vector<std::int32_t>(found.size(), 1));
}

TEST_F(SimulatedKernel, HasSharedMemoryThatIsAnotherForEachBlock) {
  // Sums of a block's 64 numbers, with a barrier between the two loops.
  sim::register_block_kernel<const float*, float*>(
      "sums", [](const sim::Block& block, sim::DevicePointer<const float> in,
                 sim::DevicePointer<float> out) {
        const cc::Span<float> shared = block.shared<float>();
        const bool fresh = std::isnan(shared[0]);
        block.for_each_thread([&](const sim::Thread& t) { shared[t.threadIdx.x] = in[t.x()]; });
        const float sum = std::accumulate(shared.data(), shared.data() + shared.size(), 0.0F);
        out[block.blockIdx.x] = fresh ? sum : -1.0F;
      });
  const cc::Module module = cc::Module::load(entry("sums"));
  const sconce::Tensor in = sconce::arange(256, sconce::dtype(cc::ScalarType::Float).device(0));
  const sconce::Tensor out = sconce::zeros({4}, in.options());
  cc::LaunchConfig config{cc::Dim3(4), cc::Dim3(64)};
  config.shared_bytes = 256;
  module.kernel("sums").launch(config, in, out);
  for (std::int64_t block = 0; block < 4; ++block) {
    EXPECT_EQ(out.select(0, block).item<float>(), static_cast<float>(64 * 64 * block + 2016));
  }
}

TEST_F(SimulatedKernel, NamesTheThreadThatMissed) {
  support::register_saxpy();
  const cc::Module module = cc::Module::load(support::kSaxpy);
  const cc::Kernel saxpy = module.kernel("saxpy");
  const sim::DeviceMemory y(4096);
  const auto fail = [&](const void* to, std::int64_t n) {
    saxpy.launch({cc::Dim3(5), cc::Dim3(256)}, to, y.get(), 1.0F, n);
    const std::string words = error_of([] { cc::device_synchronize(); }).what();
    sim::clear_device_error();
    return words;
  };
  EXPECT_TRUE(contains(fail(y.get(), 1025), "kernel saxpy, block [4, 0, 0], thread [0, 0, 0]"));
  const void* const odd = static_cast<const char*>(y.get()) + 2;
  EXPECT_TRUE(contains(fail(odd, 1), "is not a multiple of 4"));
}

TEST_F(SimulatedKernel, ReportsAnExceptionAndLetsTheNextLaunchRun) {
  std::atomic<bool> throws{true};
  sim::register_kernel<>("throws", [&](const sim::Thread& /*thread*/) {
    if (throws) {
      throw std::runtime_error("n is odd");
    }
  });
  const cc::Module module = cc::Module::load(entry("throws"));
  module.kernel("throws").launch({});
  EXPECT_TRUE(contains(error_of([] { cc::device_synchronize(); }).what(), "n is odd"));
  sim::clear_device_error();
  throws = false;
  module.kernel("throws").launch({});
  cc::device_synchronize();
  sim::unregister_kernel("throws");
  EXPECT_TRUE(
      contains(error_of([] { (void)cc::Module::load(entry("throws")).kernel("throws"); }).what(),
               "sconce_sim_register_kernel"));
}

}  // namespace
