// Backward passes and the tape: gradients against finite differences, exceptions, who owns what.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <functional>
#include <memory>
#include <optional>
#include <sconce/sconce_all.hpp>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "fixture.hpp"

namespace {

using sconce::Tensor;
namespace ag = sconce::autograd;

class Tape : public support::WorkFixture {};
class BackwardGraphTest : public support::WorkFixture {};

/// A scalar function of variables.
using Loss = std::function<ag::Variable(const std::vector<ag::Variable>&)>;

double value_of(const Loss& loss, const std::vector<Tensor>& inputs) {
  const std::vector<ag::Variable> constants(inputs.begin(), inputs.end());
  return loss(constants).value().item<double>();
}

/// Compares the gradients of a function with its differences.
void check(const Loss& loss, std::vector<Tensor> inputs) {
  const ag::Tape tape;
  std::vector<ag::Variable> variables;
  for (const Tensor& input : inputs) {
    variables.push_back(tape.variable(input));
  }
  loss(variables).backward();
  constexpr double delta = 1e-6;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Tensor gradient = variables[i].grad();
    ASSERT_TRUE(gradient.defined());
    ASSERT_EQ(gradient.sizes(), inputs[i].sizes());
    const auto slopes = gradient.contiguous().to_vector<double>();
    for (std::int64_t at = 0; at < inputs[i].numel(); ++at) {
      auto moved = inputs;
      const auto differ = [&](double by) {
        moved[i] = inputs[i].clone();
        const Tensor flat = moved[i].view({-1});
        flat[at] = flat[at] + by;
        return value_of(loss, moved);
      };
      const double slope = (differ(delta) - differ(-delta)) / (2 * delta);
      EXPECT_NEAR(slopes[static_cast<std::size_t>(at)], slope, 1e-6)
          << "input " << i << " at " << at;
    }
  }
}

std::vector<Tensor> doubles(const std::vector<std::vector<std::int64_t>>& shapes,
                            sconce::Device device) {
  std::vector<Tensor> made;
  for (const auto& shape : shapes) {
    const auto options = sconce::dtype(sconce::ScalarType::Double).device(0);
    made.push_back(sconce::randn(shape, options).to(device));
  }
  return made;
}

TEST_F(Tape, GradientsAreSlopes) {
  for (const sconce::Device device : {sconce::Device(0), sconce::Device(sconce::kCPU)}) {
    check([](const auto& v) { return ag::sum(v[0] + v[1] * v[0] - v[2]); },
          doubles({{2, 3}, {3}, {2, 1}}, device));
    check([](const auto& v) { return ag::sum(ag::matmul(v[0], v[1]) * v[2]); },
          doubles({{2, 3}, {3, 4}, {4}}, device));
    // The gradient of the product is one number, repeated.
    check([](const auto& v) { return ag::sum(ag::matmul(v[0], v[1])); },
          doubles({{2, 3}, {3, 4}}, device));
    check([](const auto& v) { return ag::sum(ag::relu(v[0]) * v[0]); }, doubles({{3, 3}}, device));
  }
}

/// Numbers of a shape with real and imaginary parts.
Tensor complex_numbers(const std::vector<std::int64_t>& shape, sconce::Device device) {
  const auto parts = doubles({shape, shape}, device);
  return parts[0] + parts[1] * std::complex<double>(0, 1);
}

TEST_F(Tape, GradientsOfTransformsAreSlopes) {
  using Norm = std::optional<std::string_view>;
  for (const sconce::Device device : {sconce::Device(0), sconce::Device(sconce::kCPU)}) {
    // A complex weight makes the loss depend on all real and imaginary parts.
    const ag::Variable i =
        sconce::full({}, std::complex<double>(0, 1),
                     sconce::dtype(sconce::ScalarType::ComplexDouble).device(device));
    for (const Norm norm : {Norm(), Norm("forward"), Norm("ortho")}) {
      for (const std::int64_t dim : {0, -1}) {
        const ag::Variable weight = complex_numbers({3, 2}, device);
        const auto loss = [&](const ag::Variable& spectrum) {
          return ag::sum(ag::real(spectrum * spectrum * weight));
        };
        check([&](const auto& v) { return loss(ag::fft(v[0] + v[1] * i, dim, norm)); },
              doubles({{3, 2}, {3, 2}}, device));
        check([&](const auto& v) { return loss(ag::ifft(v[0] + v[1] * i, dim, norm)); },
              doubles({{3, 2}, {3, 2}}, device));
        check([&](const auto& v) { return loss(ag::fft(v[0], dim, norm)); },
              doubles({{3, 2}}, device));
      }
      for (const std::int64_t n : {1, 4, 5}) {
        const std::int64_t half = n / 2 + 1;
        const ag::Variable weight = complex_numbers({half, 3}, device);
        check([&](const auto& v) { return ag::sum(ag::real(ag::rfft(v[0], 0, norm) * weight)); },
              doubles({{n, 3}}, device));
        const auto inverse = [&](const auto& v) {
          const auto back = ag::irfft(v[0] + v[1] * i, n, 0, norm);
          return ag::sum(back * back);
        };
        check(inverse, doubles({{half, 3}, {half, 3}}, device));
      }
    }
  }
  EXPECT_THROW(ag::irfft(complex_numbers({4}, sconce::kCPU), 4), sconce::Error);
  EXPECT_THROW(ag::fft(sconce::ones({4}), -1, "none"), sconce::Error);
}

TEST_F(Tape, ComplexProductsHaveConjugateGradients) {
  const Tensor i = sconce::full({}, std::complex<double>(0, 1),
                                sconce::dtype(sconce::ScalarType::ComplexDouble));
  check(
      [&](const auto& v) {
        return ag::sum(ag::real((v[0] + v[1] * i) * (v[1] - v[0] * i) * v[0]));
      },
      doubles({{3}, {3}}, sconce::Device(0)));
  const ag::Tape tape;
  const auto z = tape.variable(i);
  ag::real(z * ag::Variable(i)).backward();
  EXPECT_EQ(z.grad().item<std::complex<double>>(), std::complex<double>(0, -1));
}

TEST_F(Tape, ValuesMoveBetweenDevices) {
  const sconce::Device last(
      static_cast<sconce::cuda::DeviceIndex>(sconce::cuda::device_count() - 1));
  check(
      [last](const auto& v) {
        return ag::sum(ag::matmul(ag::to(ag::relu(v[0]), last), ag::to(v[1], last)));
      },
      doubles({{2, 3}, {3, 2}}, sconce::Device(0)));
}

TEST_F(Tape, GradientsAddUpUntilTheyAreForgotten) {
  const ag::Tape tape;
  const auto x = tape.variable(sconce::ones({2}, sconce::device(sconce::kCPU)));
  EXPECT_FALSE(x.grad().defined());
  const auto y = ag::sum(x * x);
  y.backward(true);
  y.backward();
  EXPECT_EQ(x.grad().to_vector<float>(), (std::vector<float>{4, 4}));
  EXPECT_THROW(y.backward(), sconce::Error);
  x.zero_grad();
  EXPECT_FALSE(x.grad().defined());
  const ag::Variable constant = x.value();
  EXPECT_THROW((constant + constant).backward(), sconce::Error);
  EXPECT_THROW(ag::sum(ag::Tape().variable(x.value()) + x), sconce::Error);
}

TEST_F(BackwardGraphTest, ExceptionsOfFunctionsReachTheCaller) {
  const sconce::BackwardGraph graph;
  for (const sconce::Device device : {sconce::Device(0), sconce::Device(sconce::kCPU)}) {
    const auto owned = std::make_shared<int>(1);
    const std::uint64_t node = graph.add_node(
        device, "throws", 1, {},
        [owned](const auto&) -> std::vector<Tensor> { throw std::out_of_range("not here"); });
    const std::uint64_t wrong =
        graph.add_node(device, "returns two", 1, {}, [](const auto& gradients) {
          return std::vector<Tensor>{gradients[0], gradients[0]};
        });
    const Tensor one = sconce::ones({1}, sconce::device(device));
    EXPECT_THROW(graph.run({{{node, 0}, one}}), std::out_of_range);
    EXPECT_THROW(graph.run({{{wrong, 0}, one}}), sconce::Error);
    EXPECT_EQ(owned.use_count(), 2);
    graph.clear();
    EXPECT_EQ(owned.use_count(), 1);
  }
  EXPECT_THROW(graph.run({{{99, 0}, sconce::ones({1})}}), sconce::Error);
}

}  // namespace
