// Results in tensors of the caller's choice: each function beside the one with a new result.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "fixture.hpp"

namespace sc = sconce;
using sc::Tensor;
using support::contains;
using support::error_of;
using support::status_of;
using Sizes = std::vector<std::int64_t>;
using Floats = std::vector<float>;

namespace {

/// Each test runs on the CPU and on a device.
class TensorOutputsTest : public support::DeviceFixture,
                          public testing::WithParamInterface<const char*> {
 protected:
  [[nodiscard]] static sc::TensorOptions place() { return sc::Device(GetParam()); }
};

INSTANTIATE_TEST_SUITE_P(Places, TensorOutputsTest, testing::Values("cpu", "cuda:0"),
                         [](const testing::TestParamInfo<const char*>& place) {
                           return std::string(place.param) == "cpu" ? "Cpu" : "Cuda";
                         });

/// A name, the new result, and the function that writes it.
struct Form {
  std::string name;
  Tensor expected;
  std::function<Tensor&(Tensor&)> write;
};

void expect_same(const std::vector<Form>& forms) {
  for (const Form& form : forms) {
    Tensor undefined;
    Tensor& returned = form.write(undefined);
    EXPECT_EQ(&returned, &undefined) << form.name;
    Tensor turned = sc::empty_like(form.expected);
    if (turned.dim() == 2) {
      turned = sc::empty({turned.size(1), turned.size(0)}, turned.options()).t();
    }
    const Sizes strides = turned.strides();
    (void)form.write(turned);
    EXPECT_EQ(turned.strides(), strides) << form.name;
    for (const Tensor& out : {undefined, turned}) {
      EXPECT_EQ(out.dtype(), form.expected.dtype()) << form.name;
      EXPECT_TRUE(out.equal(form.expected)) << form.name << ": " << out << form.expected;
    }
  }
}

TEST_P(TensorOutputsTest, FunctionsOfOneOperand) {
  const Tensor a = sc::tensor({0.25, 0.5, 1.5, 2.75}, place());
  const Tensor n = sc::arange(6, place());
  expect_same({
      {"neg", a.neg(), [&](Tensor& out) -> Tensor& { return sc::neg_out(out, a); }},
      {"abs", a.abs(), [&](Tensor& out) -> Tensor& { return sc::abs_out(out, a); }},
      {"sign", a.sign(), [&](Tensor& out) -> Tensor& { return sc::sign_out(out, a); }},
      {"exp", a.exp(), [&](Tensor& out) -> Tensor& { return sc::exp_out(out, a); }},
      {"log", a.log(), [&](Tensor& out) -> Tensor& { return sc::log_out(out, a); }},
      {"sqrt", a.sqrt(), [&](Tensor& out) -> Tensor& { return sc::sqrt_out(out, a); }},
      {"rsqrt", a.rsqrt(), [&](Tensor& out) -> Tensor& { return sc::rsqrt_out(out, a); }},
      {"reciprocal", a.reciprocal(),
       [&](Tensor& out) -> Tensor& { return sc::reciprocal_out(out, a); }},
      {"sin", a.sin(), [&](Tensor& out) -> Tensor& { return sc::sin_out(out, a); }},
      {"cos", a.cos(), [&](Tensor& out) -> Tensor& { return sc::cos_out(out, a); }},
      {"tanh", a.tanh(), [&](Tensor& out) -> Tensor& { return sc::tanh_out(out, a); }},
      {"relu", a.relu(), [&](Tensor& out) -> Tensor& { return sc::relu_out(out, a); }},
      {"sigmoid", a.sigmoid(), [&](Tensor& out) -> Tensor& { return sc::sigmoid_out(out, a); }},
      {"silu", a.silu(), [&](Tensor& out) -> Tensor& { return sc::silu_out(out, a); }},
      {"erf", a.erf(), [&](Tensor& out) -> Tensor& { return sc::erf_out(out, a); }},
      {"floor", a.floor(), [&](Tensor& out) -> Tensor& { return sc::floor_out(out, a); }},
      {"ceil", a.ceil(), [&](Tensor& out) -> Tensor& { return sc::ceil_out(out, a); }},
      {"round", a.round(), [&](Tensor& out) -> Tensor& { return sc::round_out(out, a); }},
      {"trunc", a.trunc(), [&](Tensor& out) -> Tensor& { return sc::trunc_out(out, a); }},
      {"gelu", a.gelu("tanh"),
       [&](Tensor& out) -> Tensor& { return sc::gelu_out(out, a, "tanh"); }},
      {"logical_not", n.logical_not(),
       [&](Tensor& out) -> Tensor& { return sc::logical_not_out(out, n); }},
      {"bitwise_not", n.bitwise_not(),
       [&](Tensor& out) -> Tensor& { return sc::bitwise_not_out(out, n); }},
  });
}

TEST_P(TensorOutputsTest, FunctionsOfTwoAndThreeOperands) {
  const Tensor a = sc::arange(6, place()).reshape({2, 3});
  const Tensor b = sc::tensor({3, 1, 2}, place());
  using Write = Tensor& (*)(Tensor&, const Tensor&, const sc::TensorOrScalar&);
  using Make = Tensor (*)(const Tensor&, const sc::TensorOrScalar&);
  const std::vector<std::tuple<const char*, Make, Write>> pairs = {
      {"mul", sc::mul, sc::mul_out},
      {"floor_divide", sc::floor_divide, sc::floor_divide_out},
      {"remainder", sc::remainder, sc::remainder_out},
      {"pow", sc::pow, sc::pow_out},
      {"minimum", sc::minimum, sc::minimum_out},
      {"maximum", sc::maximum, sc::maximum_out},
      {"eq", sc::eq, sc::eq_out},
      {"ne", sc::ne, sc::ne_out},
      {"lt", sc::lt, sc::lt_out},
      {"le", sc::le, sc::le_out},
      {"gt", sc::gt, sc::gt_out},
      {"ge", sc::ge, sc::ge_out},
      {"bitwise_and", sc::bitwise_and, sc::bitwise_and_out},
      {"bitwise_or", sc::bitwise_or, sc::bitwise_or_out},
      {"bitwise_xor", sc::bitwise_xor, sc::bitwise_xor_out},
      {"logical_and", sc::logical_and, sc::logical_and_out},
      {"logical_or", sc::logical_or, sc::logical_or_out},
      {"logical_xor", sc::logical_xor, sc::logical_xor_out},
  };
  for (const auto& [name, make, write] : pairs) {
    const Write to = write;
    expect_same({{name, make(a, b), [&](Tensor& out) -> Tensor& { return to(out, a, b); }}});
  }
  const Tensor f = a.to(sc::kFloat);
  expect_same({
      {"add", sc::add(a, b, 2), [&](Tensor& out) -> Tensor& { return sc::add_out(out, a, b, 2); }},
      {"sub", sc::sub(a, 1), [&](Tensor& out) -> Tensor& { return sc::sub_out(out, a, 1); }},
      {"div", sc::div(f, b), [&](Tensor& out) -> Tensor& { return sc::div_out(out, f, b); }},
      {"rounded div", sc::div(a, 2, "floor"),
       [&](Tensor& out) -> Tensor& { return sc::div_out(out, a, 2, "floor"); }},
      {"clamp", sc::clamp(f, 1, 4),
       [&](Tensor& out) -> Tensor& { return sc::clamp_out(out, f, 1, 4); }},
      {"where", sc::where(a.gt(2), f, 0),
       [&](Tensor& out) -> Tensor& { return sc::where_out(out, a.gt(2), f, 0); }},
  });
}

TEST_P(TensorOutputsTest, ReductionsAndWhatRunsAlongADimension) {
  const Tensor a = sc::tensor({0.5, 2.0, 1.5, 4.0, 0.0, 3.0}, place()).reshape({2, 3});
  expect_same({
      {"sum", a.sum({0}), [&](Tensor& out) -> Tensor& { return sc::sum_out(out, a, {0}); }},
      {"mean", a.mean({1}, true),
       [&](Tensor& out) -> Tensor& { return sc::mean_out(out, a, {1}, true); }},
      {"sum of doubles", a.sum({0}, false, sc::kDouble),
       [&](Tensor& out) -> Tensor& { return sc::sum_out(out, a, {0}, false, sc::kDouble); }},
      {"prod", a.prod(1), [&](Tensor& out) -> Tensor& { return sc::prod_out(out, a, 1); }},
      {"amax", a.amax({1}), [&](Tensor& out) -> Tensor& { return sc::amax_out(out, a, {1}); }},
      {"amin", a.amin(), [&](Tensor& out) -> Tensor& { return sc::amin_out(out, a); }},
      {"argmax", a.argmax(1), [&](Tensor& out) -> Tensor& { return sc::argmax_out(out, a, 1); }},
      {"argmin", a.argmin(), [&](Tensor& out) -> Tensor& { return sc::argmin_out(out, a); }},
      {"all", a.all({1}), [&](Tensor& out) -> Tensor& { return sc::all_out(out, a, {1}); }},
      {"any", a.any(), [&](Tensor& out) -> Tensor& { return sc::any_out(out, a); }},
      {"softmax", a.softmax(1), [&](Tensor& out) -> Tensor& { return sc::softmax_out(out, a, 1); }},
      {"log_softmax", a.log_softmax(0),
       [&](Tensor& out) -> Tensor& { return sc::log_softmax_out(out, a, 0); }},
      {"cumsum", a.cumsum(1), [&](Tensor& out) -> Tensor& { return sc::cumsum_out(out, a, 1); }},
      {"cumprod", a.cumprod(0), [&](Tensor& out) -> Tensor& { return sc::cumprod_out(out, a, 0); }},
  });
  Tensor values;
  Tensor indices = sc::empty({9}, place().dtype(sc::kLong));
  const auto [sorted, places] = sc::sort_out(values, indices, a, 1, true);
  const auto [expected, expected_places] = a.sort(1, true);
  EXPECT_TRUE(values.equal(expected) && indices.equal(expected_places));
  EXPECT_TRUE(sorted.is_same(values) && places.is_same(indices));
}

TEST_P(TensorOutputsTest, JoinsProductsAndTransforms) {
  const Tensor a = sc::arange(0.0, 4.0, 1.0, place()).reshape({2, 2});
  const Tensor batch = sc::stack({a, a + 1});
  const Tensor index = sc::tensor({1, 0, 1}, place());
  expect_same({
      {"cat", sc::cat({a, a}, 1),
       [&](Tensor& out) -> Tensor& {
         return sc::cat_out(out, {a, a}, 1);
       }},
      {"stack", sc::stack({a, a}),
       [&](Tensor& out) -> Tensor& {
         return sc::stack_out(out, {a, a});
       }},
      {"index_select", a.index_select(0, index),
       [&](Tensor& out) -> Tensor& { return sc::index_select_out(out, a, 0, index); }},
      {"matmul", a.matmul(batch),
       [&](Tensor& out) -> Tensor& { return sc::matmul_out(out, a, batch); }},
      {"mm", a.mm(a), [&](Tensor& out) -> Tensor& { return sc::mm_out(out, a, a); }},
      {"bmm", batch.bmm(batch),
       [&](Tensor& out) -> Tensor& { return sc::bmm_out(out, batch, batch); }},
      {"addmm", a.addmm(a, a, 2, 3),
       [&](Tensor& out) -> Tensor& { return sc::addmm_out(out, a, a, a, 2, 3); }},
      {"fft", sc::fft_fft(a), [&](Tensor& out) -> Tensor& { return sc::fft_fft_out(out, a); }},
      {"ifft", sc::fft_ifft(a, {}, 0),
       [&](Tensor& out) -> Tensor& { return sc::fft_ifft_out(out, a, {}, 0); }},
      {"rfft", sc::fft_rfft(a, 3),
       [&](Tensor& out) -> Tensor& { return sc::fft_rfft_out(out, a, 3); }},
      {"irfft", sc::fft_irfft(a, 3, 0, "ortho"),
       [&](Tensor& out) -> Tensor& { return sc::fft_irfft_out(out, a, 3, 0, "ortho"); }},
  });
  Tensor out;
  EXPECT_TRUE(
      contains(error_of([&] { (void)sc::mm_out(out, batch, a); }).what(), "must be a matrix"));
}

TEST_P(TensorOutputsTest, Values) {
  Tensor out = sc::empty({0}, place());
  EXPECT_EQ(sc::arange_out(out, 3).to_vector<float>(), Floats({0, 1, 2}));
  EXPECT_EQ(sc::arange_out(out, 1, 6, 2).to_vector<float>(), Floats({1, 3, 5}));
  EXPECT_EQ(sc::linspace_out(out, 0, 1, 3).to_vector<float>(), Floats({0, 0.5, 1}));
  EXPECT_EQ(sc::eye_out(out, 2).to_vector<float>(), Floats({1, 0, 0, 1}));
  EXPECT_EQ(sc::eye_out(out, 1, 3).sizes(), Sizes({1, 3}));
  EXPECT_EQ(sc::full_out(out, {2}, 7).to_vector<float>(), Floats({7, 7}));
  EXPECT_EQ(sc::zeros_out(out, {1}).to_vector<float>(), Floats({0}));
  EXPECT_EQ(sc::ones_out(out, {3}).to_vector<float>(), Floats({1, 1, 1}));
  EXPECT_EQ(sc::empty_out(out, {2, 2}).sizes(), Sizes({2, 2}));
  EXPECT_TRUE(sc::rand_out(out, {50}).lt(1).all().item<bool>());
  EXPECT_EQ(sc::randn_out(out, {4, 5}).sizes(), Sizes({4, 5}));
  EXPECT_TRUE(sc::randint_out(out, 3, {30}).lt(3).all().item<bool>());
  EXPECT_TRUE(sc::randint_out(out, 5, 7, {30}).ge(5).all().item<bool>());
  EXPECT_TRUE(
      std::get<0>(sc::randperm_out(out, 9).sort()).equal(sc::arange(0.0, 9.0, 1.0, place())));
  Tensor undefined;
  EXPECT_EQ(sc::full_out(undefined, {2}, 1).device(), sc::empty({1}).device());
}

TEST_P(TensorOutputsTest, OutputsThatAreOperandsOrDoNotFit) {
  Tensor a = sc::tensor({1, 2, 3, 4}, place());
  const Tensor part = a.narrow(0, 1, 3);
  Tensor into = a.narrow(0, 0, 3);
  const auto overlapping = error_of([&] { (void)sc::add_out(into, part, 1); });
  EXPECT_EQ(overlapping.status(), SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(contains(overlapping.what(), "refer to a single memory location"));
  EXPECT_EQ(sc::add_out(a, a, 1).to_vector<std::int64_t>(),
            std::vector<std::int64_t>({2, 3, 4, 5}));
  EXPECT_TRUE(into.is_alias_of(a));
  EXPECT_EQ(sc::cumsum_out(a, a, 0).to_vector<std::int64_t>(),
            std::vector<std::int64_t>({2, 5, 9, 14}));
  EXPECT_TRUE(contains(error_of([&] { (void)sc::exp_out(a, a); }).what(),
                       "result type Float can't be cast to the desired output type Long"));
  a.clamp_(3, 10);
  EXPECT_EQ(a.to_vector<std::int64_t>(), std::vector<std::int64_t>({3, 5, 9, 10}));
  EXPECT_EQ(a.resize_({2}).to_vector<std::int64_t>(), std::vector<std::int64_t>({3, 5}));
}

}  // namespace
