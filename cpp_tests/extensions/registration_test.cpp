// Operators that extensions register are found and called by name.
#include <torch/extension.h>
#include <torch/library.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <sconce/torch/op.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "fixture.hpp"

namespace {

using sconce::torch::op;
using torch::Tensor;

Tensor scaled(const Tensor& tensor, double by, c10::optional<std::int64_t> times,
              at::IntArrayRef sizes) {
  return tensor * (by * static_cast<double>(times.value_or(1)) * static_cast<double>(sizes.size()));
}
std::tuple<Tensor, std::vector<Tensor>, std::string> several(at::TensorList tensors,
                                                             std::string text, bool on,
                                                             at::ScalarType type,
                                                             const at::Scalar& number) {
  return {tensors[0].to(type), {tensors[1], tensors[0] * number}, on ? text : ""};
}
void add_one(Tensor& tensor) { tensor.add_(1); }
Tensor& add_two(Tensor& tensor) {
  tensor.add_(2);
  return tensor;
}
std::optional<Tensor> maybe(const std::optional<Tensor>& tensor) { return tensor; }
std::array<bool, 2> both(bool a, bool b) { return {b, a}; }
at::Device place(at::Device device) { return device; }
Tensor fails(const Tensor& tensor) {
  TORCH_CHECK(tensor.dim() == 5, "five dimensions, but got ", tensor.dim());
  return tensor;
}
struct Unknown {
  int value = 0;
};
std::int64_t of_unknown(Unknown unknown) { return unknown.value; }

}  // namespace

TORCH_LIBRARY(sconce_tests, m) {
  m.def("scaled", &scaled);
  m.def(
      "several(Tensor[] tensors, str text, bool on, ScalarType type, Scalar number)"
      " -> (Tensor, Tensor[], str)",
      &several);
  m.def("sconce_tests::add_one(Tensor(a!) tensor) -> ()");
  m.impl("add_one", torch::kCPU, &add_one);
  m.def("add_two", TORCH_FN(add_two));
  m.def("of_devices(Tensor tensor) -> Tensor");
  m.def("maybe", &maybe).def("both", &both).def("place", &place);
  m.def("fails", torch::dispatch(c10::DispatchKey::CompositeExplicitAutograd, TORCH_FN(fails)));
  m.def("of_unknown", &of_unknown);
}
static auto older = torch::RegisterOperators()
                        .op("sconce_tests_older::scaled", &scaled)
                        .op("sconce_tests_older::add(Tensor a, Tensor b) -> Tensor",
                            [](const Tensor& a, const Tensor& b) { return a + b; });

namespace {

double sum_of(const Tensor& tensor) { return tensor.sum().item<double>(); }
Tensor ones() { return torch::ones({3}, torch::kCPU); }

class Registration : public support::DeviceFixture {};

TEST_F(Registration, SchemasComeFromFunctions) {
  EXPECT_EQ(op("sconce_tests::scaled").schema(),
            "sconce_tests::scaled(Tensor _0, float _1, int? _2, int[] _3) -> Tensor");
  EXPECT_EQ(op("sconce_tests::maybe").schema(), "sconce_tests::maybe(Tensor? _0) -> Tensor?");
}

TEST_F(Registration, EveryTypeGoesInAndOut) {
  const std::vector<std::int64_t> sizes{1, 2};
  EXPECT_EQ(sum_of(op("sconce_tests::scaled")(ones(), 2.0, std::nullopt, sizes).tensor()), 12);
  EXPECT_EQ(sum_of(op("sconce_tests::scaled")(ones(), 2.0, 3, sizes).tensor()), 36);
  const auto all = op("sconce_tests::several")(std::vector<Tensor>{ones(), ones()}, "text", true,
                                               at::kDouble, 3);
  EXPECT_EQ(all.tensor(0).scalar_type(), at::kDouble);
  EXPECT_EQ(sum_of(all.tensors(1).at(1)), 9);
  EXPECT_EQ(all.text(2), "text");
  EXPECT_TRUE(op("sconce_tests::maybe")(std::nullopt).is_none());
  EXPECT_EQ(sum_of(op("sconce_tests::maybe")(ones()).tensor()), 3);
  EXPECT_TRUE(op("sconce_tests::place")(at::Device(at::kCPU)).device().is_cpu());
}

TEST_F(Registration, FunctionsChangeTheirArguments) {
  const Tensor tensor = ones();
  op("sconce_tests::add_one")(tensor);
  EXPECT_EQ(sum_of(tensor), 6);
  EXPECT_EQ(sum_of(op("sconce_tests::add_two")(tensor).tensor()), 12);
  EXPECT_EQ(sum_of(tensor), 12);
}

TEST_F(Registration, TheDeviceOfTheFirstTensorDecides) {
  EXPECT_EQ(sum_of(op("sconce_tests::of_devices")(ones()).tensor()), 6);
  EXPECT_EQ(sum_of(op("sconce_tests::of_devices")(torch::ones({3}, torch::kCUDA)).tensor()), 9);
}

TEST_F(Registration, UnitsShareANamespace) {
  EXPECT_EQ(sum_of(op("sconce_tests::negated")(ones()).tensor()), -3);
  EXPECT_EQ(sum_of(op("sconce_tests_older::add")(ones(), ones()).tensor()), 6);
}

TEST_F(Registration, ErrorsOfFunctionsAreTheCallers) {
  try {
    op("sconce_tests::fails")(ones());
    FAIL() << "the call succeeded";
  } catch (const sconce::Error& error) {
    EXPECT_NE(std::string(error.what()).find("five dimensions, but got 1"), std::string::npos)
        << error.what();
  }
}

TEST_F(Registration, FunctionsOfOtherTypesAreNotRegistered) {
  EXPECT_THROW(op("sconce_tests::of_unknown"), sconce::Error);
}

}  // namespace
