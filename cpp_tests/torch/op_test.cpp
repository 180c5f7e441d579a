// Operators of kernel libraries in C++: values are packed by their types.
#include <gtest/gtest.h>

#include <optional>
#include <sconce/sconce_all.hpp>
#include <sconce/torch/op.hpp>
#include <string>
#include <utility>
#include <vector>

#include "files.hpp"

namespace {

namespace sc = sconce;
using sc::torch::Library;
using sc::torch::op;
using sc::torch::Operator;
using sc::torch::Results;
using support::contains;
using support::file;
using support::floats;
using support::status_of;
using support::values;
using support::words_of;

TEST(Operator, TakesNumbersTextsAndWhatIsAbsent) {
  const Library library(file("sample_operators.so"));
  const Operator scaled("sample::scaled");
  EXPECT_EQ(scaled.schema(), "sample::scaled(Tensor x, float factor=2, str? mode=None) -> Tensor");
  const sc::Tensor x = floats({1, -2});
  EXPECT_EQ(values(scaled(x).tensor()), (std::vector<float>{2, -4})) << "defaults";
  EXPECT_EQ(values(scaled(x, 0.5).tensor()), (std::vector<float>{0.5, -1}));
  EXPECT_EQ(values(scaled(x, 3).tensor()), (std::vector<float>{3, -6})) << "an integer";
  EXPECT_EQ(values(scaled(x, 3.0F, std::nullopt).tensor()), (std::vector<float>{3, -6}));
  EXPECT_EQ(values(scaled(x, 4, std::optional<std::string>()).tensor()),
            (std::vector<float>{4, -8}));
  EXPECT_EQ(values(scaled(x, 4, std::optional<std::string>("plain")).tensor()),
            (std::vector<float>{4, -8}));
  EXPECT_TRUE(contains(words_of([&] { static_cast<void>(scaled(x, 1.0, "throw")); }),
                       "the mode says to throw"));
  EXPECT_EQ(op("sample::number")().integer(), 42);
}

TEST(Operator, AllAreListed) {
  EXPECT_TRUE(sc::torch::op_list().empty());
  const Library library(file("sample_operators.so"));
  const std::vector<std::string> all = sc::torch::op_list();
  ASSERT_EQ(all.size(), 6U);
  EXPECT_EQ(all[0], "sample::drawn(Tensor(a!) x, Generator? generator=None) -> Tensor(a!)");
  EXPECT_EQ(all[1], "sample::halves(Tensor[] xs, int dim=0) -> (Tensor[], int)");
  EXPECT_EQ(all[2], "sample::number() -> int");
  EXPECT_EQ(all[5], "sample::unknown(Tensor x) -> Tensor");
}

TEST(Operator, TakesAndReturnsLists) {
  const Library library(file("sample_operators.so"));
  const Results results =
      op("sample::halves")(std::vector<sc::Tensor>{floats({1, 2, 3, 4}), floats({5, 6})}, 0);
  ASSERT_EQ(results.size(), 2U);
  const std::vector<sc::Tensor> halves = results.tensors(0);
  ASSERT_EQ(halves.size(), 2U);
  EXPECT_EQ(values(halves[0]), (std::vector<float>{1, 2}));
  EXPECT_EQ(values(halves[1]), (std::vector<float>{5}));
  EXPECT_EQ(results.integer(1), 2);
  EXPECT_EQ(status_of([&] { static_cast<void>(results.tensor(1)); }),
            SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(status_of([&] { static_cast<void>(results.integer(2)); }),
            SCONCE_ERROR_INVALID_ARGUMENT);
}

TEST(Operator, ResultsAreTheirObjects) {
  const std::size_t before = ::sconce_tensor_live_count();
  {
    const Library library(file("sample_operators.so"));
    const sc::Tensor x = floats({1});
    Results first = op("sample::scaled")(x);
    Results second(std::move(first));
    EXPECT_EQ(first.size(), 0U);  // NOLINT: what a moved-from object promises
    second = op("sample::scaled")(x, 5);
    EXPECT_EQ(values(second.tensor()), (std::vector<float>{5}));
    const sc::Tensor same = op("sample::twice")(x).tensor();
    EXPECT_EQ(values(x), (std::vector<float>{2})) << "written in place";
    EXPECT_EQ(same.data_ptr(), x.data_ptr());
  }
  EXPECT_EQ(::sconce_tensor_live_count(), before);
}

TEST(Operator, WrongCallsAreRefusedWithWords) {
  EXPECT_TRUE(contains(words_of([] { static_cast<void>(op("sample::scaled")); }),
                       "there is no operator sample::scaled"));
  std::optional<Library> library(file("sample_operators.so"));
  const Operator scaled("sample::scaled");
  EXPECT_TRUE(contains(words_of([&] { static_cast<void>(scaled()); }), "the argument x"));
  EXPECT_TRUE(contains(words_of([&] { static_cast<void>(scaled(1)); }), "x"));
  EXPECT_TRUE(contains(words_of([&] { static_cast<void>(scaled(floats({1}), 2, "a", 3)); }),
                       "argument_count is 4;"));
  Library moved(std::move(*library));
  library.reset();
  EXPECT_EQ(values(scaled(floats({1})).tensor()), (std::vector<float>{2})) << "still open";
  { const Library last(std::move(moved)); }
  EXPECT_TRUE(
      contains(words_of([&] { static_cast<void>(scaled(floats({1}))); }), "sample::scaled"));
}

TEST(Operator, ProgramsDeclareSchemas) {
  EXPECT_EQ(status_of([] { sc::torch::define("example::doubled(Tensor x"); }),
            SCONCE_ERROR_INVALID_ARGUMENT);
  const std::string schema = "example::doubled(Tensor x) -> Tensor";
  sc::torch::define(schema);
  const Operator doubled("example::doubled");
  EXPECT_EQ(doubled.schema(), schema);
  EXPECT_TRUE(contains(words_of([&] { static_cast<void>(doubled(floats({1}))); }),
                       "it has kernels for the keys: none"));
}

TEST(Library, FilesThatAreNoneAreRefused) {
  EXPECT_TRUE(
      contains(words_of([] { const Library none("/nowhere/at_all.so"); }), "/nowhere/at_all.so"));
}

}  // namespace
