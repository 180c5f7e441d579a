// Streams: calls on a stream that they name.
#include <complex>
#include <functional>
#include <optional>
#include <sconce/sconce_all.hpp>
#include <utility>
#include <vector>

#include "fixture.hpp"

namespace {

using namespace sconce::cuda;
using support::status_of;

class NamedStreamTest : public support::WorkFixture {};

TEST_F(NamedStreamTest, CallsUseTheStreamThatTheyName) {
  SCONCE_NEED_SIMULATOR();
  using Call = std::function<void(const CUDAStream&)>;
  auto a = DeviceBuffer::of<float>(64);
  auto b = DeviceBuffer::of<float>(64);
  auto c = DeviceBuffer::of<float>(64);
  auto complex = DeviceBuffer::of<std::complex<float>>(32);
  const auto x = a.span<float>();
  const auto y = b.span<float>();
  const auto z = c.span<float>();
  const auto none = std::nullopt;
  const FFT eight{{8}};
  Convolution one;
  one.batch = one.in_channels = one.out_channels = 1;
  one.input_sizes = one.filter_sizes = {1};
  const std::vector<std::pair<const char*, Call>> calls = {
      {"uniform_", [&](const CUDAStream& s) { uniform_(x, 0, 1, none, s); }},
      {"uniform_ of a buffer",
       [&](const CUDAStream& s) { uniform_(a, ScalarType::Float, 0, 1, none, s); }},
      {"normal_", [&](const CUDAStream& s) { normal_(x, 0, 1, none, s); }},
      {"log_normal_", [&](const CUDAStream& s) { log_normal_(x, 0, 1, none, s); }},
      {"exponential_", [&](const CUDAStream& s) { exponential_(x, 1, none, s); }},
      {"cauchy_", [&](const CUDAStream& s) { cauchy_(x, 0, 1, none, s); }},
      {"geometric_", [&](const CUDAStream& s) { geometric_(x, 0.5, none, s); }},
      {"bernoulli_", [&](const CUDAStream& s) { bernoulli_(x, 0.5, none, s); }},
      {"random_ from to", [&](const CUDAStream& s) { random_(x, 1, 5, none, s); }},
      {"random_ to", [&](const CUDAStream& s) { random_(x, 5, none, s); }},
      {"random_", [&](const CUDAStream& s) { random_(x, none, s); }},
      {"copy_", [&](const CUDAStream& s) { copy_(x, y, true, s); }},
      {"copy_ of bytes", [&](const CUDAStream& s) { copy_(a.get(), b.get(), 64, true, s); }},
      {"copy_2d_",
       [&](const CUDAStream& s) { copy_2d_(Rows(x, 4, 4, 8), Rows(y, 4, 4, 8), true, s); }},
      {"copy_strided_",
       [&](const CUDAStream& s) {
         copy_strided_(as_strided(x, {3, 5}, {1, 3}), as_strided(y, {3, 5}, {5, 1}), true, s);
       }},
      {"memory_set", [&](const CUDAStream& s) { memory_set(x, 7, s); }},
      {"memory_set of bytes", [&](const CUDAStream& s) { memory_set(a.get(), 7, 64, s); }},
      {"memory_set_2d", [&](const CUDAStream& s) { memory_set_2d(Rows(x, 4, 4, 8), 7, s); }},
      {"matmul",
       [&](const CUDAStream& s) {
         matmul(Matmul{4, 4, 4}, x, y, z, s);
       }},
      {"matmul of a type",
       [&](const CUDAStream& s) {
         matmul(Matmul{4, 4, 4}, ScalarType::Float, a.get(), b.get(), c.get(), s);
       }},
      {"convolution", [&](const CUDAStream& s) { convolution(one, x, y, z, s); }},
      {"convolution_backward_data",
       [&](const CUDAStream& s) { convolution_backward_data(one, x, y, z, s); }},
      {"convolution_backward_filter",
       [&](const CUDAStream& s) { convolution_backward_filter(one, x, y, z, s); }},
      {"fft_r2c",
       [&](const CUDAStream& s) { fft_r2c(eight, x, complex.span<std::complex<float>>(), s); }},
      {"fft_c2r",
       [&](const CUDAStream& s) { fft_c2r(eight, complex.span<std::complex<float>>(), x, s); }},
      {"fft_c2c",
       [&](const CUDAStream& s) {
         const auto both = complex.span<std::complex<float>>();
         fft_c2c(eight, both, both, s);
       }},
  };
  const CUDAStream named = getStreamFromPool();
  const CUDAStream current = getStreamFromPool();
  setCurrentCUDAStream(current);
  for (const auto& [name, call] : calls) {
    call(named);  // makes plans and loads kernels
    named.synchronize();
    sconce::simulator::set_manual(true);
    call(named);
    EXPECT_FALSE(named.query()) << name;
    EXPECT_TRUE(current.query()) << name;
    sconce::simulator::run_until_idle();
    sconce::simulator::set_manual(false);
    EXPECT_EQ(getCurrentCUDAStream(), current) << name;
  }
  if (device_count() > 1) {
    const CUDAStream other = getStreamFromPool(false, 1);
    for (const auto& [name, call] : calls) {
      EXPECT_EQ(status_of([&, action = &call] { (*action)(other); }), SCONCE_ERROR_CROSS_DEVICE)
          << name;
    }
  }
}

TEST_F(NamedStreamTest, AnActionRunsWithItsStreamAndItsResultIsReturned) {
  const CUDAStream before = getCurrentCUDAStream();
  const CUDAStream named = getStreamFromPool();
  const CUDAStream seen = with_stream(named, [] { return getCurrentCUDAStream(); });
  EXPECT_EQ(seen, named);
  int value = 1;
  int& same = with_stream(named, [&]() -> int& { return value; });
  EXPECT_EQ(&same, &value);
  EXPECT_THROW(with_stream(named, [] { throw 1; }), int);
  EXPECT_EQ(getCurrentCUDAStream(), before);
}

TEST_F(NamedStreamTest, AnExpressionOfTensorsRunsOnItsStream) {
  SCONCE_NEED_SIMULATOR();
  const auto a = sconce::ones({8}, sconce::kCUDA);
  const auto b = sconce::full({8}, 2.0, sconce::kCUDA);
  device_synchronize();
  const CUDAStream named = getStreamFromPool();
  const CUDAStream current = getStreamFromPool();
  setCurrentCUDAStream(current);
  sconce::simulator::set_manual(true);
  const auto sum = with_stream(named, [&] { return a + b * 3; });
  EXPECT_FALSE(named.query());
  EXPECT_TRUE(current.query());
  EXPECT_EQ(getCurrentCUDAStream(), current);
  sconce::simulator::run_until_idle();
  sconce::simulator::set_manual(false);
  EXPECT_EQ(sum.sum().item<float>(), 56);
}

}  // namespace
