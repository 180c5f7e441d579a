// Graphs of what the CUDA libraries and the program's own kernels do: a replay on other inputs
// equals the same calls outside of the graph.
#include <cmath>
#include <cstdint>
#include <functional>
#include <sconce/cuda/device.cuh>
#include <sconce/sconce_all.hpp>
#include <string>
#include <vector>

#include "fixture.hpp"
#include "graph_support.hpp"

namespace {

using namespace sconce::cuda;
using sconce::Tensor;
using support::contains;
using support::error_of;
using support::values;

class GraphPrograms : public support::WorkFixture {};

Tensor waves(const std::vector<std::int64_t>& sizes, double step) {
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) count *= size;
  const auto options = sconce::TensorOptions(sconce::kCUDA).dtype(sconce::kFloat);
  return (sconce::arange(count, options) * step).sin().view(sizes);
}

/// Captures `work` once, and replays it on other contents of `input`.
void replays_equal_calls(const Tensor& input, const std::function<Tensor()>& work) {
  (void)work();  // handles, plans and engines are made outside of the capture
  CUDAGraph graph;
  Tensor output;
  {
    GraphGuard capture(graph);
    output = work();
    capture.end();
  }
  EXPECT_GT(graph.node_count(), 0U);
  for (const double step : {0.1, 0.7, 2.3}) {
    input.copy_(waves(input.sizes(), step));
    const std::vector<float> expected = values(work());
    graph.replay();
    const std::vector<float> replayed = values(output);
    ASSERT_EQ(replayed.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      // A library may choose another kernel in a capture.
      ASSERT_NEAR(replayed[i], expected[i], 1e-4F + 1e-4F * std::fabs(expected[i])) << step;
    }
  }
}

TEST_F(GraphPrograms, ProductsOfMatrices) {
  // Small ones take kernels of this library, others cuBLAS.
  for (const std::int64_t n : {1, 16, 200}) {
    const Tensor input = waves({n, 96}, 0.3);
    const Tensor weights = waves({96, 130}, 0.01);
    replays_equal_calls(input, [&] { return sconce::matmul(input, weights).relu(); });
  }
  const Tensor batch = waves({3, 40, 64}, 0.3);
  const Tensor others = waves({3, 64, 50}, 0.02);
  replays_equal_calls(batch, [&] { return batch.bmm(others); });
}

TEST_F(GraphPrograms, Convolutions) {
  if (support::wants_cuda() && !cudnn_version()) GTEST_SKIP() << "there is no cuDNN";
  Convolution what;
  what.batch = 2;
  what.in_channels = 4;
  what.out_channels = 6;
  what.input_sizes = {17, 18};
  what.filter_sizes = {3, 3};
  const Tensor input = waves({2, 4, 17, 18}, 0.3);
  const Tensor filter = waves({6, 4, 3, 3}, 0.05);
  replays_equal_calls(input, [&] {
    const Tensor output = sconce::empty({2, 6, 15, 16}, input.options());
    convolution(what, ScalarType::Float, input.data_ptr(), filter.data_ptr(), output.data_ptr());
    return output;
  });
}

TEST_F(GraphPrograms, Transforms) {
  const Tensor input = waves({5, 60}, 0.3);
  replays_equal_calls(input, [&] { return sconce::fft_irfft(sconce::fft_rfft(input) * 2, 60); });
}

/// Writes the state of a generator as a kernel finds it. Compiled from `out[0] = seen.seed, out[1]
/// = seen.offset` with `seen = sconce::philox::unpack(state)`.
constexpr const char* kSeenState = R"(.version 8.0
.target sm_75
.address_size 64
.visible .entry seen_philox_state(
  .param .u64 seen_philox_state_param_0,
  .param .align 8 .b8 seen_philox_state_param_1[24]
)
{
  .reg .pred %p<2>;
  .reg .b64 %rd<13>;
  ld.param.u64 %rd8, [seen_philox_state_param_0];
  ld.param.u64 %rd11, [seen_philox_state_param_1];
  ld.param.u64 %rd12, [seen_philox_state_param_1+8];
  ld.param.u64 %rd3, [seen_philox_state_param_1+16];
  setp.eq.s64 %p1, %rd3, 0;
  @%p1 bra $known;
  cvta.to.global.u64 %rd9, %rd3;
  ld.global.u64 %rd11, [%rd9];
  ld.global.u64 %rd12, [%rd9+8];
$known:
  cvta.to.global.u64 %rd10, %rd8;
  st.global.u64 [%rd10], %rd11;
  st.global.u64 [%rd10+8], %rd12;
  ret;
}
)";

TEST_F(GraphPrograms, AnOwnKernelFindsNumbersOfItsOwnAtEachReplay) {
  if (!support::wants_cuda()) {
    sconce::simulator::register_kernel<std::uint64_t*, sconce_philox_state>(
        "seen_philox_state",
        [](const sconce::simulator::Thread&, sconce::simulator::DevicePointer<std::uint64_t> out,
           const sconce_philox_state& state) {
          const auto [seed, offset] = sconce::simulator::unpack(state);
          out[0] = seed;
          out[1] = offset;
        });
  }
  const Module module = Module::load(kSeenState);
  const auto kernel = module.kernel<std::uint64_t*, sconce_philox_state>("seen_philox_state");
  CUDAGenerator captured = createCUDAGenerator();
  captured.set_current_seed(77);
  captured.set_offset(8);
  CUDAGenerator plain = captured.clone();
  DeviceBuffer seen = DeviceBuffer::of<std::uint64_t>(2);
  DeviceBuffer uniform = DeviceBuffer::of<float>(100);
  CUDAGraph graph;
  {
    GraphGuard capture(graph);
    // A fill behind it: both move the generator on.
    kernel.launch({Dim3(1), Dim3(1)}, seen, captured.philox_cuda_state(12));
    uniform_(uniform.span<float>(), 0, 1, captured);
    capture.end();
  }
  const auto expected = [&] {
    const auto [seed, offset] = plain.philox_engine_inputs(12);
    uniform_(uniform.span<float>(), 0, 1, plain);
    return std::vector<std::uint64_t>{seed, offset};
  };
  for (int replay = 0; replay < 4; ++replay) {
    if (replay == 2) {
      captured.set_current_seed(5);
      plain.set_current_seed(5);
    }
    graph.replay();
    std::vector<std::uint64_t> found(2);
    copy_(found, seen);
    EXPECT_EQ(found, expected()) << replay;
    EXPECT_EQ(captured.get_state(), plain.get_state()) << replay;
  }
}

TEST_F(GraphPrograms, AGraphIsNotLaunchedInsideACapture) {
  const Tensor number = waves({8}, 0.1);
  CUDAGraph inner;
  {
    GraphGuard capture(inner);
    number.add_(1);
    capture.end();
  }
  CUDAGraph outer;
  {
    GraphGuard capture(outer);
    number.mul_(2);
    EXPECT_TRUE(contains(error_of([&] { inner.replay(); }).what(), "inside of another"));
    number.add_(3);
    capture.end();
  }
  EXPECT_EQ(outer.node_count(), 2U) << "the capture goes on";
  const std::vector<float> before = values(number);
  outer.replay();
  inner.replay();
  const std::vector<float> after = values(number);
  for (std::size_t i = 0; i < before.size(); ++i) EXPECT_EQ(after[i], before[i] * 2 + 3 + 1);
}

}  // namespace
