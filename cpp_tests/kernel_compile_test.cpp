// Kernels that are compiled at run time: instances of templates, headers, and the compiler's
// messages.

#include <cstdint>
#include <string>
#include <vector>

#include "fixture.hpp"

namespace {

namespace cc = sconce::cuda;
namespace sim = sconce::simulator;
using support::contains;
using support::error_of;

constexpr const char* kSource = R"(
#include <sconce/cuda/device.cuh>
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
class CompiledKernel : public support::WorkFixture {
 protected:
  void SetUp() override {
    WorkFixture::SetUp();
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

}  // namespace
