// Operations of aten by name, and the methods of tensors that are made of them: on the CPU and on a
// device. What is expected is NumPy's result of the same expression.
#include <gtest/gtest.h>

#ifndef SCONCE_C10_COMPAT_NO_CUDA_RUNTIME
#define SCONCE_C10_COMPAT_NO_CUDA_RUNTIME
#endif
#include <cstdint>
#include <optional>
#include <sconce/compat/c10.hpp>
#include <sconce/torch/op.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "fixture.hpp"

namespace at = sconce::compat::at;
namespace torch = sconce::compat::torch;

namespace {

using support::contains;
using support::error_of;
using torch::indexing::Ellipsis;
using torch::indexing::None;
using torch::indexing::Slice;
using Sizes = std::vector<std::int64_t>;

/// Each test runs for tensors of the CPU, and of a device if there is one.
class AtenTest : public support::DeviceFixture,
                 public testing::WithParamInterface<sconce::DeviceType> {
 protected:
  void SetUp() override {
    if (GetParam() == sconce::kCUDA) {
      support::DeviceFixture::SetUp();
    }
  }
  /// Whether tensors are those of a simulated device, which runs no kernels of libsconce_torch.
  static bool is_simulated() { return GetParam() == sconce::kCUDA && !support::wants_cuda(); }
  static torch::TensorOptions on(at::ScalarType type = torch::kFloat) {
    return torch::TensorOptions().dtype(type).device(GetParam());
  }
  /// Numbers from 0 on, in a shape.
  static torch::Tensor numbers(const Sizes& sizes) {
    return torch::arange(product_of(sizes), on()).view(sizes);
  }
  static std::int64_t product_of(const Sizes& sizes) {
    return sconce::compat::c10::multiply_integers(sizes);
  }
  static torch::Tensor integers(std::initializer_list<std::int64_t> values) {
    return torch::tensor(values, on(torch::kLong));
  }
};

std::vector<float> values(const torch::Tensor& tensor) { return tensor.to_vector<float>(); }

TEST_P(AtenTest, OperationsAreFoundByName) {
  if (is_simulated()) {
    GTEST_SKIP() << "a simulated device runs no kernels of libsconce_torch";
  }
  const sconce::torch::Operator gather("aten::gather");
  EXPECT_EQ(
      gather.schema(),
      "aten::gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor");
  const torch::Tensor x = numbers({2, 2});
  const torch::Tensor index = integers({1, 0}).view({2, 1});
  EXPECT_EQ(values(gather(x, 1, index).tensor()), (std::vector<float>{1, 2})) << "a default";
  EXPECT_EQ(values(sconce::torch::op("aten::add.Tensor")(x, x, sconce::Scalar(2)).tensor()),
            (std::vector<float>{0, 3, 6, 9}));
  const sconce::Error unknown =
      error_of([] { static_cast<void>(sconce::torch::op("aten::no_such_operation")); });
  EXPECT_EQ(unknown.status(), SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(contains(error_of([] { static_cast<void>(sconce::torch::op("aten::add")); }).msg(),
                       "aten::add is offered with the overloads"));
  EXPECT_TRUE(contains(error_of([&] { static_cast<void>(gather(x)); }).msg(), "dim"));
  EXPECT_TRUE(
      contains(error_of([&] { static_cast<void>(gather(x, 1, 2)); }).msg(), "aten::gather"));
  EXPECT_TRUE(contains(error_of([&] { static_cast<void>(gather(x, 1, index, false, 1)); }).msg(),
                       "takes 4 arguments at most"));
  EXPECT_TRUE(sconce::torch::op_list().empty()) << "it lists what kernel libraries registered";
}

TEST_P(AtenTest, IndicesWithoutTensorsAreViews) {
  const torch::Tensor x = numbers({2, 3, 4});
  const torch::Tensor part = x.index({1, Slice(0, 3, 2), Slice(None, -2)});
  EXPECT_EQ(part.sizes(), (Sizes{2, 2}));
  EXPECT_EQ(values(part), (std::vector<float>{12, 13, 20, 21}));
  EXPECT_TRUE(part.is_alias_of(x));
  EXPECT_EQ(x.index({"...", 0}).sizes(), (Sizes{2, 3}));
  EXPECT_EQ(x.index({Ellipsis, Slice(None, 2)}).sizes(), (Sizes{2, 3, 2}));
  EXPECT_EQ(x.index({None, 0, Ellipsis, None}).sizes(), (Sizes{1, 3, 4, 1}));
  EXPECT_EQ(x.index({Slice(), -1}).select(0, 1).sum().item<float>(), 20 + 21 + 22 + 23);
  const torch::Tensor whole = x.index({Slice()});
  EXPECT_EQ(whole.sizes(), x.sizes());
  EXPECT_EQ(x.index({torch::scalar_tensor(1, on(torch::kLong)), 2, 3}).item<float>(), 23);
  EXPECT_TRUE(contains(error_of([&] {
                         static_cast<void>(x.index({0, 0, 0, 0}));
                       }).msg(),
                       "too many indices for tensor of dimension 3"));
  EXPECT_TRUE(contains(error_of([&] { static_cast<void>(x.index({2})); }).msg(), "out of"));
  EXPECT_TRUE(contains(error_of([&] { static_cast<void>(x.index({".."})); }).msg(),
                       "Expected \"...\" to represent an ellipsis index, but got \"..\""));
  EXPECT_TRUE(contains(error_of([] { static_cast<void>(Slice(0, 1, 0)); }).msg(),
                       "slice step cannot be zero"));
  EXPECT_TRUE(contains(error_of([] { static_cast<void>(Slice(0, 1, -1)); }).msg(),
                       "step must be greater than zero"));
}

TEST_P(AtenTest, IndicesOfTensors) {
  if (is_simulated()) {
    GTEST_SKIP() << "a simulated device runs no kernels of libsconce_torch";
  }
  const torch::Tensor x = numbers({3, 4});
  EXPECT_EQ(values(x.index({integers({2, 0})})), (std::vector<float>{8, 9, 10, 11, 0, 1, 2, 3}));
  EXPECT_EQ(values(x.index({integers({2, 0}), integers({-1, 1})})), (std::vector<float>{11, 1}));
  EXPECT_EQ(values(x.index({Slice(), integers({3, 0})})), (std::vector<float>{3, 0, 7, 4, 11, 8}));
  EXPECT_EQ(values(x.index({x.gt(8.5)})), (std::vector<float>{9, 10, 11})) << "a mask";
  EXPECT_EQ(values(x.index({x.select(1, 0).gt(2), 1})), (std::vector<float>{5, 9}))
      << "a mask of one dimension and an index";
  EXPECT_EQ(x.index({true}).sizes(), (Sizes{1, 3, 4}));
  EXPECT_EQ(x.index({false}).sizes(), (Sizes{0, 3, 4}));
  EXPECT_EQ(x.index({"...", None, integers({0})}).sizes(), (Sizes{3, 1, 1}));
  EXPECT_EQ(values(at::index(x, {std::nullopt, integers({1})})), (std::vector<float>{1, 5, 9}));
  EXPECT_EQ(values(at::index(x, {torch::Tensor(), integers({1})})), (std::vector<float>{1, 5, 9}));
}

TEST_P(AtenTest, ElementsAreSetAtIndices) {
  if (is_simulated()) {
    GTEST_SKIP() << "a simulated device runs no kernels of libsconce_torch";
  }
  const torch::Tensor x = torch::zeros({3, 4}, on());
  x.index_put_({Slice(0, 2), 1}, 5);
  EXPECT_EQ(values(x), (std::vector<float>{0, 5, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0}));
  x.index_put_({2}, numbers({1, 4}));
  EXPECT_EQ(values(x.select(0, 2)), (std::vector<float>{0, 1, 2, 3}));
  x.index_put_({x.eq(5)}, -1.0);
  EXPECT_EQ(values(x.select(0, 0)), (std::vector<float>{0, -1, 0, 0}));
  x.index_put_({integers({0, 1}), integers({3, 3})}, torch::tensor({7, 8}, on()));
  EXPECT_EQ(values(x.select(1, 3)), (std::vector<float>{7, 8, 3}));
  x.index_put_({"...", integers({0})}, torch::tensor({{4}}, on()));
  EXPECT_EQ(values(x.select(1, 0)), (std::vector<float>{4, 4, 4}));
  const torch::Tensor sums = torch::zeros({3}, on());
  sums.index_put_({integers({0, 2, 0})}, torch::tensor({1, 2, 3}, on()), true);
  EXPECT_EQ(values(sums), (std::vector<float>{4, 0, 2}));
  const torch::Tensor added = torch::ones({2, 3}, on());
  added.index_add_(1, integers({2, 2}), numbers({2, 2}));
  EXPECT_EQ(values(added), (std::vector<float>{1, 1, 2, 1, 1, 6}));
  added.index_fill_(0, integers({1}), 9);
  EXPECT_EQ(values(added), (std::vector<float>{1, 1, 2, 9, 9, 9}));
  EXPECT_TRUE(contains(
      error_of([&] { x.index_put_({integers({0})}, torch::ones({1}, on(torch::kLong))); }).msg(),
      "Index put requires the source and destination dtypes match"));
  EXPECT_TRUE(contains(error_of([&] {
                         x.index_put_({integers({0, 1})}, torch::ones({3}, on()));
                       }).msg(),
                       "shape mismatch"));
}

TEST_P(AtenTest, GatheredAndScattered) {
  if (is_simulated()) {
    GTEST_SKIP() << "a simulated device runs no kernels of libsconce_torch";
  }
  const torch::Tensor x = numbers({2, 3});
  const torch::Tensor index = torch::tensor({{2, 0}, {1, 1}}, on(torch::kLong));
  EXPECT_EQ(values(x.gather(1, index)), (std::vector<float>{2, 0, 4, 4}));
  EXPECT_EQ(values(x.gather(-1, index)), values(at::gather(x, 1, index)));
  const torch::Tensor source = torch::tensor({{10, 20}, {30, 40}}, on());
  EXPECT_EQ(values(at::scatter_add(x, 1, index, source)),
            (std::vector<float>{20, 1, 12, 3, 74, 5}));
  EXPECT_EQ(values(x), values(numbers({2, 3}))) << "a copy was changed";
  EXPECT_EQ(values(x.scatter(1, index.slice(0, 0, 1), source)),
            (std::vector<float>{20, 1, 10, 3, 4, 5}));
  x.scatter_(1, index, -1);
  EXPECT_EQ(values(x), (std::vector<float>{-1, 1, -1, 3, -1, 5}));
  x.scatter_(0, torch::tensor({{0, 1}}, on(torch::kLong)), source);
  EXPECT_EQ(values(x), (std::vector<float>{10, 1, -1, 3, 20, 5}));
  x.scatter_add_(1, index, source);
  EXPECT_EQ(values(x), (std::vector<float>{30, 1, 9, 3, 90, 5}));
  const torch::Tensor most = torch::zeros({3}, on());
  most.scatter_reduce_(0, integers({0, 0, 2}), torch::tensor({1, 5, -2}, on()), "amax");
  EXPECT_EQ(values(most), (std::vector<float>{5, 0, 0}));
  EXPECT_EQ(
      values(at::scatter_reduce(most, 0, integers({1}), torch::tensor({-3}, on()), "sum", false)),
      (std::vector<float>{5, -3, 0}));
  EXPECT_TRUE(contains(error_of([&] { x.scatter_(1, index, source.to(torch::kLong)); }).msg(),
                       "Expected self.dtype to be equal to src.dtype"));
  EXPECT_TRUE(contains(error_of([&] { static_cast<void>(x.gather(1, integers({0}))); }).msg(),
                       "must have the same number of dimensions"));
}

TEST_P(AtenTest, OrderedRepeatedAndTurned) {
  if (is_simulated()) {
    GTEST_SKIP() << "a simulated device runs no kernels of libsconce_torch";
  }
  const torch::Tensor x = torch::tensor({{3, 1, 2}, {4, 6, 5}}, on());
  const auto [largest, places] = x.max(1);
  EXPECT_EQ(values(largest), (std::vector<float>{3, 6}));
  EXPECT_EQ(values(places), (std::vector<float>{0, 1}));
  EXPECT_EQ(std::get<0>(at::min(x, 0, true)).sizes(), (Sizes{1, 3}));
  EXPECT_EQ(at::max(x).item<float>(), 6);
  EXPECT_EQ(values(at::min(x, torch::full_like(x, 2))), (std::vector<float>{2, 1, 2, 2, 2, 2}));
  EXPECT_EQ(values(std::get<0>(x.topk(2))), (std::vector<float>{3, 2, 6, 5}));
  EXPECT_EQ(values(x.argsort(1)), (std::vector<float>{1, 2, 0, 0, 2, 1}));
  EXPECT_EQ(values(x.flip({0, 1})), (std::vector<float>{5, 6, 4, 2, 1, 3}));
  EXPECT_EQ(values(at::roll(x, 1, 1)), (std::vector<float>{2, 3, 1, 5, 4, 6}));
  EXPECT_EQ(values(x.unfold(1, 2, 1)), (std::vector<float>{3, 1, 1, 2, 4, 6, 6, 5}));
  EXPECT_EQ(values(x.repeat_interleave(2, 1).select(0, 0)), (std::vector<float>{3, 3, 1, 1, 2, 2}));
  EXPECT_EQ(values(at::repeat_interleave(x.select(0, 0), integers({0, 2, 1}))),
            (std::vector<float>{1, 1, 2}));
  const torch::Tensor bits = integers({8, 12});
  EXPECT_EQ(values(bits.bitwise_right_shift(2)), (std::vector<float>{2, 3}));
  EXPECT_EQ(values(bits.bitwise_left_shift(integers({0, 1}))), (std::vector<float>{8, 24}));
  EXPECT_EQ(error_of([&] { static_cast<void>(at::sparse_coo_tensor(bits, bits)); }).status(),
            SCONCE_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(x.select(0, 0).dot(x.select(0, 1)).item<float>(), 12 + 6 + 10);
  EXPECT_TRUE(contains(error_of([&] { static_cast<void>(x.dot(x)); }).msg(),
                       "1D tensors expected, but got 2D and 2D tensors"));
}

TEST_P(AtenTest, CountedAndPadded) {
  if (is_simulated()) {
    GTEST_SKIP() << "a simulated device runs no kernels of libsconce_torch";
  }
  const torch::Tensor x = integers({3, 1, 3, 0});
  const auto [unique, inverse] = at::_unique(x, true, true);
  EXPECT_EQ(values(unique), (std::vector<float>{0, 1, 3}));
  EXPECT_EQ(values(inverse), (std::vector<float>{2, 1, 2, 0}));
  EXPECT_EQ(values(std::get<2>(at::_unique2(x, true, false, true))), (std::vector<float>{1, 1, 2}));
  EXPECT_EQ(std::get<0>(at::unique_dim(x.view({2, 2}), 0)).sizes(), (Sizes{2, 2}));
  EXPECT_EQ(values(std::get<0>(at::unique_consecutive(x))), (std::vector<float>{3, 1, 3, 0}));
  EXPECT_EQ(values(at::bincount(x)), (std::vector<float>{1, 1, 0, 2}));
  EXPECT_EQ(values(at::searchsorted(integers({0, 1, 3}), x)), (std::vector<float>{2, 1, 2, 0}));
  namespace F = torch::nn::functional;
  const torch::Tensor y = numbers({2, 2});
  EXPECT_EQ(values(F::pad(y, F::PadFuncOptions({1, 0, 0, 1}).value(9))),
            (std::vector<float>{9, 0, 1, 9, 2, 3, 9, 9, 9}));
  EXPECT_EQ(F::pad(y, F::PadFuncOptions({0, -1})).sizes(), (Sizes{2, 1}));
  EXPECT_TRUE(
      contains(error_of([&] {
                 static_cast<void>(F::pad(y, F::PadFuncOptions({1, 1}).mode(torch::kReflect)));
               }).msg(),
               "only borders of one value"));
  const auto grids = at::meshgrid({integers({1, 2}), integers({3, 4, 5})});
  EXPECT_EQ(values(grids[0]), (std::vector<float>{1, 1, 1, 2, 2, 2}));
  EXPECT_EQ(values(grids[1]), (std::vector<float>{3, 4, 5, 3, 4, 5}));
  EXPECT_EQ(values(at::meshgrid({integers({1, 2}), integers({3, 4, 5})}, "xy")[0]),
            (std::vector<float>{1, 2, 1, 2, 1, 2}));
}

INSTANTIATE_TEST_SUITE_P(, AtenTest, testing::Values(sconce::kCPU, sconce::kCUDA),
                         [](const auto& tested) {
                           return tested.param == sconce::kCPU ? "Cpu" : "Device";
                         });

}  // namespace
