// The program's own kernels: typed launches and what they refuse.

#include <cstdint>
#include <sconce/cuda/device.cuh>
#include <string>
#include <vector>

#include "kernel_support.hpp"

namespace {

namespace cc = sconce::cuda;
using support::contains;
using support::error_of;
using support::kSaxpy;

class Kernel : public support::WorkFixture {
 protected:
  void SetUp() override {
    WorkFixture::SetUp();
    support::register_saxpy();
  }
};

TEST_F(Kernel, TakesTensorsBuffersSpansAndNumbers) {
  const cc::Module module = cc::Module::load(kSaxpy);
  const cc::Kernel saxpy = module.kernel("saxpy");
  const sconce::Tensor y = sconce::ones({1000}, sconce::dtype(cc::ScalarType::Float).device(0));
  auto x = cc::DeviceBuffer::of<float>(1000);
  cc::normal_(x.span<float>());
  const cc::LaunchConfig config{cc::Dim3(4), cc::Dim3(256)};
  saxpy.launch(config, y, x, 2.0F, std::int64_t{900});
  saxpy.launch(config, y, x.span<float>(), -1.0F, std::int64_t{500});
  std::vector<float> from(1000);
  std::vector<float> found(1000);
  cc::copy_(cc::Span<float>(from), x.span<float>());
  cc::copy_(cc::Span<float>(found), cc::DeviceSpan<float>(y.data_ptr<float>(), 1000));
  for (std::size_t i = 0; i < found.size(); ++i) {
    float expected = 1.0F;
    if (i < 900) {
      const float product = 2.0F * from[i];
      expected += product;
    }
    if (i < 500) {
      expected -= from[i];
    }
    ASSERT_EQ(found[i], expected) << i;
  }
}

TEST_F(Kernel, KnowsTheTypesOfItsParameters) {
  const cc::Module module = cc::Module::load(kSaxpy);
  const auto saxpy = module.kernel<float*, const float*, float, std::int64_t>("saxpy");
  const sconce::Tensor y = sconce::zeros({10}, sconce::dtype(cc::ScalarType::Float).device(0));
  const sconce::Tensor x = sconce::ones({10}, sconce::dtype(cc::ScalarType::Float).device(0));
  // An int becomes the parameter's float and the parameter's 64-bit number.
  saxpy.launch({cc::Dim3(1), cc::Dim3(32)}, y, x, 3, 10);
  EXPECT_EQ(y.sum().item<float>(), 30.0F);
  auto buffer = cc::DeviceBuffer::of<float>(10);
  cc::memory_set(buffer, 0);
  saxpy.launch({cc::Dim3(1), cc::Dim3(32)}, buffer, x, 2, 5);
  std::vector<float> found(10);
  cc::copy_(cc::Span<float>(found), buffer.span<float>());
  EXPECT_EQ(found, (std::vector<float>{2, 2, 2, 2, 2, 0, 0, 0, 0, 0}));
  const sconce::Tensor halves = sconce::zeros({10}, sconce::dtype(cc::ScalarType::Half).device(0));
  EXPECT_EQ(support::status_of([&] { saxpy.launch({}, halves, x, 3, 10); }),
            SCONCE_ERROR_INVALID_ARGUMENT);
}

TEST_F(Kernel, RefusesTensorsInOrdinaryHostMemory) {
  const cc::Module module = cc::Module::load(kSaxpy);
  const auto saxpy = module.kernel<float*, const float*, float, std::int64_t>("saxpy");
  const sconce::Tensor y = sconce::zeros({10}, sconce::dtype(cc::ScalarType::Float).device(0));
  const sconce::Tensor host = sconce::ones({10}, sconce::kCPU);
  const cc::LaunchConfig config{cc::Dim3(1), cc::Dim3(32)};
  const auto typed = error_of([&] { saxpy.launch(config, y, host, 3, 10); });
  EXPECT_EQ(typed.status(), SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(contains(typed.what(), "pin_memory()"));
  const cc::Kernel& untyped = saxpy;
  EXPECT_EQ(support::status_of([&] { untyped.launch(config, y, host, 3.0F, std::int64_t{10}); }),
            SCONCE_ERROR_INVALID_ARGUMENT);
  saxpy.launch(config, y, host.pin_memory(), 3, 10);
  EXPECT_EQ(y.sum().item<float>(), 30.0F) << "a device reads page-locked memory";
}

TEST_F(Kernel, RefusesArgumentsOfOtherSizes) {
  const cc::Module module = cc::Module::load(kSaxpy);
  const cc::Kernel saxpy = module.kernel("saxpy");
  const auto x = cc::DeviceBuffer::of<float>(10);
  const auto few = error_of([&] { saxpy.launch({}, x, x, 1.0F); });
  if (sconce::active_backend() == sconce::Backend::Sim) {
    EXPECT_TRUE(contains(few.what(), "saxpy has 4 parameters"));
  }
  EXPECT_EQ(few.status(), SCONCE_ERROR_INVALID_ARGUMENT);
  const auto narrow = error_of([&] { saxpy.launch({}, x, x, 1.0F, 10); });
  EXPECT_TRUE(contains(narrow.what(), "argument_bytes[3] is 4"));
  EXPECT_TRUE(contains(error_of([&] {
                         saxpy.launch({cc::Dim3(1), cc::Dim3(2048)}, x, x, 1.0F, std::int64_t{1});
                       }).what(),
                       "kernel saxpy"));
  EXPECT_EQ(support::status_of([&] { (void)module.kernel("nobody"); }),
            SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(support::status_of([] { (void)cc::Module::load("no code"); }),
            SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(support::status_of([] { (void)cc::Module::load_file("/no/such/file"); }),
            SCONCE_ERROR_IO);
}

TEST_F(Kernel, RunsOnAStreamAndOnAnotherDevice) {
  SCONCE_NEED_DEVICES(2);
  const cc::Module module = cc::Module::load(kSaxpy);
  const auto saxpy = module.kernel<float*, const float*, float, std::int64_t>("saxpy");
  for (cc::DeviceIndex device = 0; device < 2; ++device) {
    const auto options = sconce::dtype(cc::ScalarType::Float).device(device);
    const cc::CUDAStream stream = cc::getStreamFromPool(false, device);
    const cc::CUDAStreamGuard guard(stream);
    const sconce::Tensor y = sconce::zeros({10}, options);
    const sconce::Tensor x = sconce::ones({10}, options);
    cc::LaunchConfig config{cc::Dim3(1), cc::Dim3(32)};
    config.stream = stream;
    cc::set_device(0);
    saxpy.launch(config, y, x, 4, 10);
    stream.synchronize();
    EXPECT_EQ(y.sum().item<float>(), 40.0F);
  }
}

TEST_F(Kernel, TellsWhatItNeeds) {
  const cc::Module module = cc::Module::load(kSaxpy);
  const cc::Kernel saxpy = module.kernel("saxpy");
  const cc::KernelAttributes attributes = saxpy.attributes();
  EXPECT_GT(attributes.registers, 0U);
  EXPECT_EQ(attributes.static_shared_bytes, 0U);
  EXPECT_EQ(attributes.max_threads_per_block, 1024U);
  EXPECT_EQ(attributes.dynamic_shared_bytes, 48U << 10);
  EXPECT_GT(attributes.most_dynamic_shared_bytes, 48U << 10);
  EXPECT_GE(saxpy.occupancy(256), 4U);
  EXPECT_LT(saxpy.occupancy(256, attributes.most_dynamic_shared_bytes), saxpy.occupancy(256));
  const cc::BestBlock best = saxpy.best_block();
  EXPECT_GE(best.threads, 128U);
  EXPECT_GE(best.min_blocks, 1U);
  EXPECT_LE(saxpy.best_block(0, 100).threads, 100U);
  // Beyond 48 KiB without a call of its own.
  const sconce::Tensor y = sconce::zeros({10}, sconce::dtype(cc::ScalarType::Float).device(0));
  cc::LaunchConfig config{cc::Dim3(1), cc::Dim3(32)};
  config.shared_bytes = attributes.most_dynamic_shared_bytes;
  saxpy.launch(config, y, y, 1.0F, std::int64_t{10});
  cc::device_synchronize();
  config.shared_bytes += 1;
  EXPECT_EQ(support::status_of([&] { saxpy.launch(config, y, y, 1.0F, std::int64_t{10}); }),
            SCONCE_ERROR_INVALID_ARGUMENT);
}

TEST_F(Kernel, EndsWithItsModule) {
  cc::Kernel saxpy;
  {
    const cc::Module module = cc::Module::load(kSaxpy);
    saxpy = module.kernel("saxpy");
    auto x = cc::DeviceBuffer::of<float>(1000);
    const cc::CUDAStream stream = cc::getStreamFromPool();
    const cc::CUDAStreamGuard guard(stream);
    cc::sleep(std::chrono::milliseconds(20));
    saxpy.launch({cc::Dim3(4), cc::Dim3(256)}, x, x, 1.0F, std::int64_t{1000});
  }
  EXPECT_EQ(support::status_of([&] { (void)saxpy.attributes(); }), SCONCE_ERROR_INVALID_HANDLE);
  EXPECT_EQ(support::status_of([] { (void)cc::Kernel().attributes(); }),
            SCONCE_ERROR_INVALID_HANDLE);
  cc::device_synchronize();
}

TEST_F(Kernel, DrawsTheGeneratorsNumbers) {
  cc::CUDAGenerator generator = cc::createCUDAGenerator();
  generator.set_current_seed(1234567890123456789U);
  generator.set_offset(std::uint64_t{5} << 33);
  const auto [seed, offset] = generator.philox_engine_inputs(4);
  // A short fill gives element i the first number of thread i.
  generator.set_offset(offset);
  auto filled = cc::DeviceBuffer::of<float>(1000);
  cc::uniform_(filled.span<float>(), 0, 1, generator);
  std::vector<float> found(1000);
  cc::copy_(cc::Span<float>(found), filled.span<float>());
  for (std::size_t i = 0; i < found.size(); ++i) {
    sconce::philox::Engine engine(seed, i, offset);
    const float drawn = engine.next_uniform().x;
    ASSERT_EQ(found[i], drawn == 1.0F ? 0.0F : drawn) << i;
  }
  // The next four words of a thread are those four words further on in the sequence.
  sconce::philox::Engine twice({seed, offset}, 7);
  (void)twice.next();
  sconce::philox::Engine later(seed, 7, offset + 4);
  EXPECT_EQ(twice.next().w, later.next().w);
  // The layout of a kernel's parameter.
  const sconce_philox_state state = generator.philox_cuda_state(4);
  static_assert(sizeof state == sizeof(sconce::philox::State));
  const sconce::philox::Seed unpacked = sconce::philox::unpack({state.seed, state.offset, nullptr});
  EXPECT_EQ(unpacked.seed, seed);
  EXPECT_EQ(unpacked.offset, offset + 4);
}

}  // namespace
