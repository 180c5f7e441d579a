// The program's own kernels: typed launches, and functions that stand for kernels on simulated
// devices.

#include <atomic>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <sconce/device.cuh>
#include <string>
#include <vector>

#include "fixture.hpp"

namespace {

namespace cc = sconce::cuda;
namespace sim = sconce::simulator;
using support::contains;
using support::error_of;

// What nvcc makes of
//   extern "C" __global__ void saxpy(float* y, const float* x, float a, long long n) {
//     const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
//     if (i < n) y[i] = a * x[i] + y[i];
//   }
// with a product and a sum of their own, so that both backends round alike.
constexpr const char* kSaxpy = R"(
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

void register_saxpy() {
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

class Kernel : public support::WorkFixture {
 protected:
  void SetUp() override {
    WorkFixture::SetUp();
    register_saxpy();
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

constexpr const char* kSource = R"(
#include <sconce/device.cuh>
#include "factor.cuh"
namespace mine {
template <class T>
__global__ void scale(T* x, T factor, long long n) {
  const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  int unused;
  if (i < n) x[i] *= factor * FACTOR;
}
}  // namespace mine
extern "C" __global__ void add_one(float* x) { x[threadIdx.x] += 1; }
)";

template <class T>
void register_scale(const std::string& name) {
  sim::register_kernel<T*, T, std::int64_t>(
      name, [](const sim::Thread& thread, sim::DevicePointer<T> x, T factor, std::int64_t n) {
        if (thread.x() < n) x[thread.x()] *= factor * 3;
      });
}

// Compiles, or skips where NVRTC is not installed.
class CompiledKernel : public Kernel {
 protected:
  void SetUp() override {
    Kernel::SetUp();
    if (IsSkipped()) return;
    register_scale<float>("mine::scale<float>");
    register_scale<double>("mine::scale<double>");
    sim::register_kernel<float*>(
        "add_one",
        [](const sim::Thread& thread, sim::DevicePointer<float> x) { x[thread.x()] += 1; });
    try {
      (void)cc::Module::compile("");
    } catch (const sconce::Error& error) {
      if (error.status() == SCONCE_ERROR_LIBRARY_NOT_FOUND) GTEST_SKIP() << error.what();
      throw;
    }
  }
};

cc::CompileOptions scale_options() {
  cc::CompileOptions options;
  options.kernels = {"mine::scale<float>", "mine::scale<double>"};
  options.options = {"-DFACTOR=(1 + kTwo)"};
  options.headers = {{"factor.cuh", "constexpr int kTwo = 2;"}};
  options.name = "scale.cu";
  return options;
}

TEST_F(CompiledKernel, HasTheInstancesThatExpressionsName) {
  for (const bool ptx : {false, true}) {
    cc::CompileOptions options = scale_options();
    options.ptx = ptx;
    const cc::Module module = cc::Module::compile(kSource, options);
    const auto scale_float = module.kernel<float*, float, std::int64_t>("mine::scale<float>");
    const auto scale_double = module.kernel<double*, double, std::int64_t>("mine::scale<double>");
    const auto add_one = module.kernel<float*>("add_one");
    const auto floats = sconce::ones({300}, sconce::dtype(cc::ScalarType::Float).device(0));
    const auto doubles = sconce::ones({300}, sconce::dtype(cc::ScalarType::Double).device(0));
    const cc::LaunchConfig config{cc::Dim3(2), cc::Dim3(256)};
    scale_float.launch(config, floats, 0.5, 300);
    scale_double.launch(config, doubles, 0.25, 200);
    add_one.launch({cc::Dim3(1), cc::Dim3(100)}, floats);
    EXPECT_EQ(floats.sum().item<double>(), 300 * 1.5 + 100);
    EXPECT_EQ(doubles.sum().item<double>(), 200 * 0.75 + 100);
    if (sconce::active_backend() == sconce::Backend::Cuda) {
      EXPECT_TRUE(contains(module.compile_log(), "unused")) << module.compile_log();
      EXPECT_TRUE(contains(module.compile_log(), "scale.cu")) << module.compile_log();
    } else {
      EXPECT_EQ(module.compile_log(), "");
    }
  }
}

TEST_F(CompiledKernel, RefusesWhatNamesNothing) {
  cc::CompileOptions options = scale_options();
  const cc::Module module = cc::Module::compile(kSource, options);
  EXPECT_TRUE(contains(error_of([&] { (void)module.kernel("mine::scale<int>"); }).what(),
                       "sconce_kernel_source_add_kernel"));
  EXPECT_EQ(support::status_of([&] { (void)module.kernel("add_two"); }),
            SCONCE_ERROR_INVALID_ARGUMENT);
  options.kernels = {"mine::other<float>"};
  const auto compile = [&] { (void)cc::Module::compile(kSource, options); };
  EXPECT_EQ(support::status_of(compile), SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(contains(error_of(compile).what(), "mine::other"));
}

TEST_F(CompiledKernel, ReportsTheCompilersErrors) {
  if (sconce::active_backend() != sconce::Backend::Cuda) {
    GTEST_SKIP() << "the simulator does not compile";
  }
  const auto compile = [] {
    (void)cc::Module::compile("extern \"C\" __global__ void f() { nothing(); }",
                              {{}, {}, {}, "f.cu"});
  };
  EXPECT_EQ(support::status_of(compile), SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(contains(error_of(compile).what(), "f.cu(1)"));
  EXPECT_TRUE(contains(error_of(compile).what(), "nothing"));
  EXPECT_EQ(support::status_of([] {
              (void)cc::Module::compile("", {{}, {"--no-such-option"}});
            }),
            SCONCE_ERROR_INVALID_ARGUMENT);
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
  register_saxpy();
  const cc::Module module = cc::Module::load(kSaxpy);
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
