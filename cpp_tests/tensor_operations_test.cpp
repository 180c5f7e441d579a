// Operations on tensors: methods, functions and operators with torch's names.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <tuple>
#include <vector>

#include "fixture.hpp"

namespace sc = sconce;
using sc::Tensor;
using support::contains;
using support::error_of;
using support::status_of;
using Sizes = std::vector<std::int64_t>;
using Floats = std::vector<float>;
using Truths = std::vector<bool>;

namespace {

/// Each test runs on the CPU and on a device.
class TensorOperationsTest : public support::DeviceFixture,
                             public testing::WithParamInterface<const char*> {
 protected:
  [[nodiscard]] static sc::TensorOptions place() { return sc::Device(GetParam()); }
  template <class... Values>
  [[nodiscard]] static Tensor floats(Values... values) {
    return sc::tensor({static_cast<double>(values)...}, place());
  }
};

INSTANTIATE_TEST_SUITE_P(Places, TensorOperationsTest, testing::Values("cpu", "cuda:0"),
                         [](const testing::TestParamInfo<const char*>& place) {
                           return std::string(place.param) == "cpu" ? "Cpu" : "Cuda";
                         });

TEST_P(TensorOperationsTest, ArithmeticOfTensorsAndNumbers) {
  const Tensor a = floats(1, 2, 3);
  const Tensor b = floats(10, 20, 30);
  EXPECT_EQ((a + b).to_vector<float>(), Floats({11, 22, 33}));
  EXPECT_EQ((b - a).to_vector<float>(), Floats({9, 18, 27}));
  EXPECT_EQ((a * 2).to_vector<float>(), Floats({2, 4, 6}));
  EXPECT_EQ((2.0 * a).to_vector<float>(), Floats({2, 4, 6}));
  EXPECT_EQ((6.0 / a).to_vector<float>(), Floats({6, 3, 2}));
  EXPECT_EQ((1 - a).to_vector<float>(), Floats({0, -1, -2}));
  EXPECT_EQ((b % 7).to_vector<float>(), Floats({3, 6, 2}));
  EXPECT_EQ((-a).to_vector<float>(), Floats({-1, -2, -3}));
  EXPECT_EQ(sc::add(a, b, 2).to_vector<float>(), Floats({21, 42, 63}));
  EXPECT_EQ(sc::sub(a, 1).to_vector<float>(), Floats({0, 1, 2}));
  EXPECT_EQ(sc::pow(2, a).to_vector<float>(), Floats({2, 4, 8}));
  EXPECT_EQ(a.pow(2).to_vector<float>(), Floats({1, 4, 9}));
  EXPECT_EQ(sc::minimum(a, sc::full_like(a, 2)).to_vector<float>(), Floats({1, 2, 2}));
  EXPECT_EQ(sc::maximum(a, sc::full_like(a, 2)).to_vector<float>(), Floats({2, 2, 3}));
  EXPECT_EQ((b / a[1]).to_vector<float>(), Floats({5, 10, 15}));
  EXPECT_EQ(sc::div(b, 4, "floor").to_vector<float>(), Floats({2, 5, 7}));
  EXPECT_EQ(sc::div(-b, 4, "trunc").to_vector<float>(), Floats({-2, -5, -7}));
  EXPECT_TRUE(contains(error_of([&] { (void)a.div(b, "up"); }).what(), "rounding_mode"));
  EXPECT_TRUE((a + b).is_cpu() == a.is_cpu());
}

TEST_P(TensorOperationsTest, TypesArePromoted) {
  const Tensor whole = sc::tensor({1, 2}, place());
  EXPECT_EQ((whole + 1).dtype(), sc::kLong);
  EXPECT_EQ((whole + 1.5).dtype(), sc::kFloat);
  EXPECT_EQ((whole / 2).dtype(), sc::kFloat);
  EXPECT_EQ((whole + std::complex<double>(0, 1)).dtype(), sc::kComplexFloat);
  EXPECT_EQ((whole.to(sc::kHalf) + floats(1, 2)).dtype(), sc::kFloat);
  EXPECT_EQ((whole.to(sc::kHalf) + 1.0).dtype(), sc::kHalf);
}

TEST_P(TensorOperationsTest, ComparisonsAreOfElements) {
  const Tensor a = floats(1, 2, 3);
  const Tensor b = floats(3, 2, 1);
  EXPECT_EQ((a == b).dtype(), sc::kBool);
  EXPECT_EQ((a == b).to_vector<bool>(), Truths({false, true, false}));
  EXPECT_EQ((a != b).to_vector<bool>(), Truths({true, false, true}));
  EXPECT_EQ((a < b).to_vector<bool>(), Truths({true, false, false}));
  EXPECT_EQ((a <= 2).to_vector<bool>(), Truths({true, true, false}));
  EXPECT_EQ((2 > a).to_vector<bool>(), Truths({true, false, false}));
  EXPECT_EQ((2 >= a).to_vector<bool>(), Truths({true, true, false}));
  EXPECT_EQ(((a < 3) & (b < 3)).to_vector<bool>(), Truths({false, true, false}));
  EXPECT_EQ(((a < 2) | (b < 2)).to_vector<bool>(), Truths({true, false, true}));
  EXPECT_EQ(((a < 3) ^ (b < 3)).to_vector<bool>(), Truths({true, false, true}));
  EXPECT_EQ((~(a < 3)).to_vector<bool>(), Truths({false, false, true}));
  EXPECT_EQ((!(a - 1)).to_vector<bool>(), Truths({true, false, false}));
  EXPECT_TRUE(sc::equal(a, a.clone()) && !sc::equal(a, b));
  EXPECT_TRUE(sc::allclose(a, a + 1e-7) && !sc::allclose(a, b));
  EXPECT_EQ(sc::where(a < b, a, -1.0).to_vector<float>(), Floats({1, -1, -1}));
}

TEST_P(TensorOperationsTest, InPlaceFormsChangeTheTensor) {
  const Tensor a = floats(1, 4, 9);
  void* const address = a.data_ptr();
  a += 1;
  a.sub_(1).mul_(2);
  a /= 2;
  EXPECT_EQ(a.sqrt_().to_vector<float>(), Floats({1, 2, 3}));
  a -= a[0].clone();
  EXPECT_EQ(a.to_vector<float>(), Floats({0, 1, 2}));
  a.clamp_(0.5, 1.5);
  EXPECT_EQ(a.to_vector<float>(), Floats({0.5, 1, 1.5}));
  a.zero_().fill_(3);
  EXPECT_EQ(a.to_vector<float>(), Floats({3, 3, 3}));
  EXPECT_EQ(a.data_ptr(), address);
  const Tensor whole = sc::tensor({1}, place());
  EXPECT_NE(status_of([&] { whole += 0.5; }), SCONCE_OK);
  EXPECT_NE(status_of([&] { whole += a; }), SCONCE_OK);
}

TEST_P(TensorOperationsTest, FunctionsOfOneElement) {
  const Tensor a = floats(-1.5, 0, 4);
  EXPECT_EQ(sc::abs(a).to_vector<float>(), Floats({1.5, 0, 4}));
  EXPECT_EQ(sc::relu(a).to_vector<float>(), Floats({0, 0, 4}));
  EXPECT_EQ(sc::sign(a).to_vector<float>(), Floats({-1, 0, 1}));
  EXPECT_EQ(sc::neg(a).to_vector<float>(), Floats({1.5, 0, -4}));
  EXPECT_EQ(sc::floor(a).to_vector<float>(), Floats({-2, 0, 4}));
  EXPECT_EQ(sc::ceil(a).to_vector<float>(), Floats({-1, 0, 4}));
  EXPECT_EQ(sc::round(a).to_vector<float>(), Floats({-2, 0, 4}));
  EXPECT_EQ(sc::trunc(a).to_vector<float>(), Floats({-1, 0, 4}));
  EXPECT_EQ(sc::clamp(a, std::nullopt, 1).to_vector<float>(), Floats({-1.5, 0, 1}));
  EXPECT_EQ(a.clamp(floats(-1, 1, 1), 3).to_vector<float>(), Floats({-1, 1, 3}));
  EXPECT_EQ(sc::isnan(a.log()).to_vector<bool>(), Truths({true, false, false}));
  EXPECT_EQ(sc::isfinite(a.log()).to_vector<bool>(), Truths({false, false, true}));
  const auto near = [&](const Tensor& found, double (*expected)(double)) {
    return found.allclose(floats(expected(-1.5), expected(0), expected(4)), 1e-5, 1e-6);
  };
  EXPECT_TRUE(near(sc::exp(a), [](double x) { return std::exp(x); }));
  EXPECT_TRUE(near(sc::tanh(a), [](double x) { return std::tanh(x); }));
  EXPECT_TRUE(near(sc::sin(a), [](double x) { return std::sin(x); }));
  EXPECT_TRUE(near(sc::cos(a), [](double x) { return std::cos(x); }));
  EXPECT_TRUE(near(sc::erf(a), [](double x) { return std::erf(x); }));
  EXPECT_TRUE(near(sc::sigmoid(a), [](double x) { return 1 / (1 + std::exp(-x)); }));
  EXPECT_TRUE(near(sc::silu(a), [](double x) { return x / (1 + std::exp(-x)); }));
  EXPECT_TRUE(near(sc::gelu(a), [](double x) { return x * (1 + std::erf(x / std::sqrt(2))) / 2; }));
  EXPECT_TRUE(contains(error_of([&] { (void)a.gelu("fast"); }).what(), "none or tanh"));
  EXPECT_EQ(sc::rsqrt(floats(4)).item<float>(), 0.5F);
  EXPECT_EQ(sc::reciprocal(floats(4)).item<float>(), 0.25F);
}

TEST_P(TensorOperationsTest, ReductionsTakeDimensions) {
  const Tensor a = sc::tensor({{1.0, 2.0, 3.0}, {4.0, 5.0, 0.0}}, place());
  EXPECT_EQ(a.sum().item<float>(), 15.0F);
  EXPECT_EQ(a.sum().sizes(), Sizes());
  EXPECT_EQ(a.sum(0).to_vector<float>(), Floats({5, 7, 3}));
  EXPECT_EQ(a.sum({0, 1}, true).sizes(), Sizes({1, 1}));
  EXPECT_EQ(sc::sum(a, -1, false, sc::kDouble).dtype(), sc::kDouble);
  EXPECT_EQ(a.sum(sc::kDouble).dtype(), sc::kDouble);
  EXPECT_EQ(a.mean().item<float>(), 2.5F);
  EXPECT_EQ(sc::mean(a, 1).to_vector<float>(), Floats({2, 3}));
  EXPECT_EQ(a.prod(1).to_vector<float>(), Floats({6, 0}));
  EXPECT_EQ(sc::amax(a).item<float>(), 5.0F);
  EXPECT_EQ(sc::amin(a, 0).to_vector<float>(), Floats({1, 2, 0}));
  EXPECT_EQ(a.argmax().item<int>(), 4);
  EXPECT_EQ(sc::argmin(a, 1).to_vector<int>(), std::vector<int>({0, 2}));
  EXPECT_FALSE(a.all().item<bool>());
  EXPECT_EQ(a.all(1).to_vector<bool>(), Truths({true, false}));
  EXPECT_TRUE(sc::any(a).item<bool>());
  EXPECT_EQ((a == 0).any(0).to_vector<bool>(), Truths({false, false, true}));
  EXPECT_EQ((a > 1).sum().item<std::int64_t>(), 4);
}

TEST_P(TensorOperationsTest, LinesOfADimension) {
  const Tensor a = floats(1, 2, 3);
  EXPECT_EQ(sc::cumsum(a, 0).to_vector<float>(), Floats({1, 3, 6}));
  EXPECT_EQ(sc::cumprod(a, 0).to_vector<float>(), Floats({1, 2, 6}));
  EXPECT_NEAR(sc::softmax(a, 0).sum().item<double>(), 1.0, 1e-6);
  EXPECT_TRUE(sc::log_softmax(a, 0).exp().allclose(a.softmax(0)));
  const auto [values, indices] = sc::sort(floats(2, 3, 1), 0, true);
  EXPECT_EQ(values.to_vector<float>(), Floats({3, 2, 1}));
  EXPECT_EQ(indices.to_vector<int>(), std::vector<int>({1, 0, 2}));
  EXPECT_EQ(sc::index_select(a, 0, sc::tensor({2, 0}, place())).to_vector<float>(), Floats({3, 1}));
  const auto places = (a > 1).view({1, 3}).nonzero();
  EXPECT_EQ(places.to_vector<int>(), std::vector<int>({0, 1, 0, 2}));
  EXPECT_EQ(sc::nonzero(sc::full({}, 2, place())).sizes(), sc::IntArrayRef({1, 0}));
}

TEST_P(TensorOperationsTest, TensorsAreJoined) {
  const Tensor a = floats(1, 2);
  const Tensor b = floats(3, 4);
  EXPECT_EQ(sc::cat({a, b}).to_vector<float>(), Floats({1, 2, 3, 4}));
  EXPECT_EQ(sc::stack({a, b}, 1).to_vector<float>(), Floats({1, 3, 2, 4}));
  EXPECT_EQ(sc::cat({a, sc::tensor({5}, place())}).dtype(), sc::kFloat);
  EXPECT_NE(status_of([] { (void)sc::cat({}); }), SCONCE_OK);
}

TEST_P(TensorOperationsTest, Convolutions) {
  const Tensor line = floats(1, 2, 3, 4).view({1, 1, 4});
  const Tensor pair = floats(1, 10).view({1, 1, 2});
  EXPECT_EQ(sc::conv1d(line, pair).to_vector<float>(), Floats({21, 32, 43}));
  EXPECT_EQ(sc::conv1d(line[0], pair, floats(0.5), 2).to_vector<float>(), Floats({21.5, 43.5}));
  EXPECT_EQ(sc::conv1d(line[0], pair).sizes(), Sizes({1, 3})) << "without a batch";
  EXPECT_EQ(sc::conv1d(line, pair, {}, 1, 1, 2).to_vector<float>(), Floats({20, 31, 42, 3}));
  const Tensor image = sc::arange(0.0, 16.0, 1.0, place()).view({1, 1, 4, 4});
  const Tensor corner = floats(1, 0, 0, 0).view({1, 1, 2, 2});
  EXPECT_EQ(sc::conv2d(image, corner, {}, {2, 1}, {0, 1}).to_vector<float>(),
            Floats({0, 0, 1, 2, 3, 0, 8, 9, 10, 11}));
  const Tensor two = sc::ones({1, 2, 2, 2, 2}, place());
  const Tensor of_groups = sc::ones({2, 1, 2, 2, 2}, place());
  EXPECT_EQ(sc::conv3d(two, of_groups, {}, 1, 0, 1, 2).to_vector<float>(), Floats({8, 8}));
  EXPECT_TRUE(contains(error_of([&] {
                         (void)sc::conv2d(image, corner, {}, {1, 1, 1});
                       }).what(),
                       "stride: there are 3 numbers"));
  EXPECT_TRUE(contains(error_of([&] { (void)sc::conv1d(image, pair); }).what(),
                       "input: expected 2 dimensions, or 3 with a batch, but it has 4"));
  EXPECT_EQ(status_of([&] { (void)sc::conv1d(line, pair, floats(1, 2)); }),
            SCONCE_ERROR_INVALID_ARGUMENT);
}

TEST_P(TensorOperationsTest, FourierTransformsOfSeveralDimensions) {
  using Complex = std::complex<float>;
  const Tensor a = floats(1, 2, 3, 4, 5, 7, 11, 13, 17, 19, 23, 29).view({3, 2, 2});
  // Each is the transform of one dimension after the other.
  const auto by_dims = [](const Tensor& of, const Sizes& dims) {
    Tensor result = of;
    for (const std::int64_t dim : dims) result = sc::fft_fft(result, {}, dim);
    return result;
  };
  const auto near = [](const Tensor& left, const Tensor& right) {
    return left.sizes() == right.sizes() && left.sub(right).abs().lt(1e-3).all().item<bool>();
  };
  EXPECT_TRUE(near(sc::fft_fftn(a), by_dims(a, {0, 1, 2})));
  EXPECT_TRUE(near(sc::fft_fft2(a), by_dims(a, {1, 2})));
  EXPECT_TRUE(near(sc::fft_fftn(a, {}, {{0, 2}}), by_dims(a, {0, 2})));
  EXPECT_TRUE(near(sc::fft_ifftn(sc::fft_fftn(a)), sc::fft_ifft(sc::fft_fft(a))));
  EXPECT_TRUE(near(sc::fft_rfftn(a, {}, {{2, 0}}), by_dims(a, {2, 0}).narrow(0, 0, 2)));
  EXPECT_TRUE(near(sc::fft_irfftn(sc::fft_rfftn(a, {}, {{2, 0}}), {{2, 3}}, {{2, 0}}), a));
  EXPECT_TRUE(near(sc::fft_irfft2(sc::fft_rfft2(a)), a));
  // More dimensions than a call has.
  const Tensor many = sc::arange(0.0, 144.0, 1.0, place()).view({2, 3, 2, 2, 3, 2});
  EXPECT_TRUE(near(sc::fft_fftn(many), by_dims(many, {0, 1, 2, 3, 4, 5})));
  EXPECT_TRUE(near(sc::fft_rfftn(many), by_dims(many, {0, 1, 2, 3, 4, 5})));
  EXPECT_TRUE(near(sc::fft_irfftn(sc::fft_rfftn(many)), many));
  EXPECT_TRUE(near(sc::fft_irfftn(sc::fft_rfftn(many, {}, {}, "ortho"), {}, {}, "ortho"), many));
  Tensor out;
  EXPECT_TRUE(near(sc::fft_rfftn_out(out, many), sc::fft_rfftn(many)));
  Tensor other;
  EXPECT_TRUE(near(sc::fft_ifft2_out(other, a), sc::fft_ifft2(a)));
  Tensor real = sc::empty({0}, place());
  EXPECT_TRUE(near(sc::fft_irfftn_out(real, sc::fft_rfftn(many)), many));
  // Sizes: cut off, filled up, left as they are.
  EXPECT_EQ(sc::fft_fftn(a, {{4, -1}}).sizes(), Sizes({3, 4, 2}));
  EXPECT_TRUE(near(sc::fft_fftn(a, {{1, 4}}), sc::fft_fft(sc::fft_fft(a, 4, 2), 1, 1)));
  EXPECT_EQ(sc::fft_irfftn(sc::fft_rfftn(a), {{2, 2, 5}}).sizes(), Sizes({2, 2, 5}));
  EXPECT_EQ(sc::fft_fftn(a, {}, {{0, 1}}, "forward")[0][0][0].item<Complex>(), Complex(60.0F / 6));
  EXPECT_TRUE(contains(error_of([&] { (void)sc::fft_fftn(a, {}, {{0, -3}}); }).what(), "unique"));
  EXPECT_TRUE(contains(error_of([&] {
                         (void)sc::fft_fftn(a, {{2}}, {{0, 1}});
                       }).what(),
                       "s has 1 sizes, but dim has 2 dimensions"));
  EXPECT_TRUE(contains(error_of([&] {
                         (void)sc::fft_fftn(a, {{1, 1, 1, 1}});
                       }).what(),
                       "only 3 dimensions"));
  EXPECT_TRUE(contains(error_of([&] {
                         (void)sc::fft_fft2(a, {}, {0, 3});
                       }).what(),
                       "Dimension out of range"));
  EXPECT_TRUE(contains(error_of([&] {
                         (void)sc::fft_fftn(a, {{0, 2}});
                       }).what(),
                       "Invalid number of data points (0)"));
  EXPECT_TRUE(contains(error_of([&] { (void)sc::fft_fftn(sc::tensor(1.0, place())); }).what(),
                       "at least one dimension"));
}

TEST_P(TensorOperationsTest, FourierTransformsOfADimension) {
  using Numbers = std::vector<std::complex<float>>;
  const Tensor a = floats(1, 2, 3, 4);
  const Numbers whole = {{10, 0}, {-2, 2}, {-2, 0}, {-2, -2}};
  EXPECT_EQ(sc::fft_fft(a).to_vector<std::complex<float>>(), whole);
  EXPECT_EQ(sc::fft_rfft(a).to_vector<std::complex<float>>(),
            Numbers(whole.begin(), whole.end() - 1));
  EXPECT_EQ(sc::fft_irfft(sc::fft_rfft(a)).to_vector<float>(), a.to_vector<float>());
  EXPECT_EQ(sc::fft_ifft(sc::fft_fft(a)).to_vector<std::complex<float>>(), Numbers({1, 2, 3, 4}));
  // Other sizes: cut off, and filled up with zeros.
  EXPECT_EQ(sc::fft_fft(a, 2).to_vector<std::complex<float>>(), Numbers({3, -1}));
  EXPECT_EQ(sc::fft_rfft(floats(1, 2), 4).to_vector<std::complex<float>>(),
            Numbers({{3, 0}, {1, -2}, {-1, 0}}));
  EXPECT_EQ(sc::fft_irfft(sc::fft_rfft(a), 2).to_vector<float>(), Floats({4, 6}));
  const Tensor square = sc::stack({a, a});
  EXPECT_EQ(sc::fft_fft(square, 4, 0).sizes(), Sizes({4, 4}));
  EXPECT_EQ(sc::fft_fft(square, 4, 1).sizes(), Sizes({2, 4}));
  // torch's names of normalizations.
  const auto first = [](const Tensor& result) { return result[0].item<std::complex<float>>(); };
  EXPECT_EQ(first(sc::fft_fft(a, {}, -1, "forward")), 2.5F);
  EXPECT_EQ(first(sc::fft_fft(a, {}, -1, "ortho")), 5.0F);
  EXPECT_EQ(first(sc::fft_ifft(a, {}, -1, "backward")), 2.5F);
  EXPECT_EQ(first(sc::fft_ifft(a, {}, -1, "forward")), 10.0F);
  EXPECT_TRUE(contains(error_of([&] { (void)sc::fft_fft(a, {}, -1, "all"); }).what(),
                       "Invalid normalization mode: \"all\""));
  EXPECT_TRUE(contains(error_of([&] { (void)sc::fft_fft(a, 0); }).what(),
                       "Invalid number of data points (0) specified"));
  EXPECT_TRUE(contains(error_of([&] { (void)sc::fft_irfft(floats(1)); }).what(),
                       "Invalid number of data points (0) specified"));
}

TEST_P(TensorOperationsTest, ProductsOfMatrices) {
  const Tensor a = sc::tensor({{1.0, 2.0}, {3.0, 4.0}}, place());
  const Tensor b = sc::eye(2, place()) * 2;
  if (!a.is_cpu()) {
    try {
      (void)sc::matmul(a, b);
    } catch (const sc::Error& error) {
      if (error.status() == SCONCE_ERROR_LIBRARY_NOT_FOUND) {
        GTEST_SKIP() << error.what();
      }
    }
  }
  EXPECT_EQ(sc::matmul(a, b).to_vector<float>(), Floats({2, 4, 6, 8}));
  EXPECT_EQ(sc::mm(a, a.t()).to_vector<float>(), Floats({5, 11, 11, 25}));
  EXPECT_EQ(a.matmul(floats(1, 1)).to_vector<float>(), Floats({3, 7}));
  EXPECT_EQ(sc::bmm(a.unsqueeze(0), b.unsqueeze(0)).sizes(), Sizes({1, 2, 2}));
  EXPECT_EQ(sc::addmm(floats(1, 1), a, b, 2, 0.5).to_vector<float>(), Floats({3, 4, 5, 6}));
  EXPECT_TRUE(contains(error_of([&] { (void)a.mm(floats(1, 1)); }).what(), "must be a matrix"));
}

}  // namespace
