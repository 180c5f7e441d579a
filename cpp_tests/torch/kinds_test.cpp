// Operators of kernel libraries in C++: arguments and results of every kind. The library is that of
// kinds.cpp.
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <sconce/torch/op.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "files.hpp"

namespace {

using sconce::Tensor;
using sconce::torch::Library;
using sconce::torch::op;
using sconce::torch::Operator;
using sconce::torch::Results;
using support::contains;
using support::error_of;
using support::status_of;

const std::string kKernels = support::file("kinds.so");

class KindsTest : public support::DeviceFixture {
 protected:
  void SetUp() override {
    DeviceFixture::SetUp();
    if (!IsSkipped()) {
      library.emplace(kKernels);
      live_ = ::sconce_tensor_live_count();
    }
  }

  void TearDown() override {
    EXPECT_EQ(::sconce_tensor_live_count(), live_) << "a tensor is left";
    library.reset();
    DeviceFixture::TearDown();
  }

  std::optional<Library> library;

 private:
  std::size_t live_ = 0;
};

Tensor ones(std::int64_t count) {
  return sconce::ones({count}, sconce::device(sconce::kCPU).dtype(sconce::kFloat));
}

std::vector<float> values_of(const Tensor& tensor) { return tensor.to_vector<float>(); }

TEST_F(KindsTest, AnOperatorHasASchema) {
  EXPECT_EQ(op("sample::increment").schema(), "sample::increment(Tensor(a!) x) -> ()");
  EXPECT_EQ(op("sample::increment.by").schema(),
            "sample::increment.by(Tensor(a!) x, float by) -> Tensor(a!)");
  const Operator copy = op("sample::fails");
  EXPECT_EQ(Operator(copy).schema(), "sample::fails(str why) -> ()");
}

TEST_F(KindsTest, NumbersTextsAndTruthValuesArrive) {
  const Operator plain("sample::plain");
  const Tensor x = ones(6);
  EXPECT_EQ(plain(x, 1, 2.5, false, "text", sconce::kInt, sconce::Device(sconce::kCPU)).text(),
            "T6, 1, 2.500000, false, 'text', dtype 3, device 0:-1");
  EXPECT_EQ(
      plain(x, true, 2, true, std::string("t\"ext"), sconce::kBFloat16, sconce::Device(1)).text(),
      "T6, 1, 2.000000, true, 't\"ext', dtype 15, device 1:1")
      << "truth values are integers, and integers are real numbers";
  EXPECT_EQ(plain(x, std::int8_t{-1}, 0.5F, true, "", sconce::kFloat, sconce::kCPU).text(),
            "T6, -1, 0.500000, true, '', dtype 6, device 0:-1");
  EXPECT_EQ(plain(x, INT64_MIN, -0.0, true, "", sconce::kFloat, sconce::cuda::Device(0)).text(),
            "T6, -9223372036854775808, -0.000000, true, '', dtype 6, device 1:0");
  EXPECT_EQ(plain(x, std::uint16_t{65535}, std::numeric_limits<double>::infinity(), true, "",
                  sconce::kFloat, sconce::kCUDA)
                .text(),
            "T6, 65535, inf, true, '', dtype 6, device 1:-1");
}

TEST_F(KindsTest, OptionalArgumentsAreNoneOrTheirValue) {
  const Operator optional("sample::optional");
  EXPECT_EQ(optional().text(), "None, None, None, None, None, None, None")
      << "all are left at their defaults";
  const std::nullopt_t none = std::nullopt;
  EXPECT_EQ(optional(none, none, none, none, none, none, none).text(),
            "None, None, None, None, None, None, None");
  EXPECT_EQ(optional(ones(2), 3, 0.5, false, "s", sconce::kDouble, sconce::kCPU).text(),
            "T2, 3, 0.500000, false, 's', dtype 7, device 0:-1");
  EXPECT_EQ(optional(std::optional<Tensor>(ones(4)), std::optional<std::int64_t>(),
                     std::optional<double>(1.5), std::optional<bool>(true),
                     std::optional<std::string>("o"), std::optional<sconce::ScalarType>(),
                     std::optional<sconce::Device>(sconce::kCPU))
                .text(),
            "T4, None, 1.500000, true, 'o', None, device 0:-1");
  EXPECT_EQ(optional(std::optional<Tensor>(), 0).text(), "None, 0, None, None, None, None, None");
}

TEST_F(KindsTest, VectorsAreLists) {
  const Operator lists("sample::lists");
  EXPECT_EQ(lists().text(), "[], [], [], [], [], [], None");
  using Maybe = std::optional<Tensor>;
  EXPECT_EQ(lists(std::vector<Tensor>{ones(1), ones(2)}, std::vector<Maybe>{ones(3), std::nullopt},
                  std::vector<std::int64_t>{-1, 2}, std::vector<double>{0.5, -1},
                  std::vector<bool>{true, false}, std::vector<std::string>{"a", "", "c"},
                  std::vector<std::int64_t>{9})
                .text(),
            "[T1 T2], [T3 None], [-1 2], [0.500000 -1.000000], [true false], ['a' '' 'c'], [9]");
  EXPECT_EQ(lists(std::vector<Tensor>{}, std::vector<Maybe>{}, std::vector<int>{4},
                  std::vector<float>{2}, std::vector<bool>{}, std::vector<const char*>{"x", "y"},
                  std::optional<std::vector<int>>())
                .text(),
            "[], [], [4], [2.000000], [], ['x' 'y'], None");
  // Long ones, of which each has memory of its own.
  const std::vector<std::int64_t> many(1000, 7);
  const std::string text =
      lists(std::vector<Tensor>(100, ones(5)), std::vector<Maybe>{}, many).text();
  EXPECT_TRUE(contains(text, "[T5 T5"));
  EXPECT_TRUE(contains(text, "[7 7"));
}

TEST_F(KindsTest, ResultsOfEachKindAreReturned) {
  const Tensor x = ones(2);
  std::vector<Tensor> kept;
  {
    const Results results = op("sample::kinds")(x);
    ASSERT_EQ(results.size(), 9U);
    kept.push_back(results.tensor());
    for (const Tensor& tensor : results.tensors(1)) {
      kept.push_back(tensor);
    }
    EXPECT_EQ(results.integer(2), -7);
    EXPECT_EQ(results.real(3), 0.25);
    EXPECT_TRUE(results.truth(4));
    EXPECT_EQ(results.text(5), "a text");
    EXPECT_TRUE(results.is_none(6));
    EXPECT_FALSE(results.is_none(0));
    EXPECT_EQ(results.dtype(7), sconce::kLong);
    EXPECT_EQ(results.device(8), sconce::Device(1));
  }
  ASSERT_EQ(kept.size(), 3U);
  for (const Tensor& tensor : kept) {
    EXPECT_EQ(values_of(tensor), (std::vector<float>{1, 1})) << "tensors outlive the results";
  }
}

TEST_F(KindsTest, AResultOfAnotherKindIsRefused) {
  const Results results = op("sample::kinds")(ones(1));
  const auto refused = [](auto&& action) {
    const sconce::Error error = error_of(action);
    EXPECT_EQ(error.status(), SCONCE_ERROR_INVALID_ARGUMENT);
    return std::string(error.what());
  };
  EXPECT_TRUE(contains(refused([&] { (void)results.tensor(2); }),
                       "result 2 is of another type, or there is none"));
  EXPECT_TRUE(contains(refused([&] { (void)results.integer(9); }), "result 9"));
  refused([&] { (void)results.tensor(6); });
  refused([&] { (void)results.tensors(0); });
  refused([&] { (void)results.integer(3); });
  refused([&] { (void)results.real(2); });
  refused([&] { (void)results.truth(2); });
  refused([&] { (void)results.text(0); });
  refused([&] { (void)results.dtype(8); });
  refused([&] { (void)results.device(7); });
  refused([&] { (void)results.is_none(9); });
}

TEST_F(KindsTest, AnOperatorChangesTheTensorThatItIsPassed) {
  const Tensor x = ones(3);
  EXPECT_EQ(op("sample::increment")(x).size(), 0U);
  EXPECT_EQ(values_of(x), (std::vector<float>{2, 2, 2}));
  const Tensor same = op("sample::increment.by")(x, 3).tensor();
  EXPECT_EQ(same.data_ptr(), x.data_ptr());
  EXPECT_EQ(values_of(x), (std::vector<float>{5, 5, 5}));
}

TEST_F(KindsTest, WhatTheSchemaDoesNotTakeIsNamed) {
  const Operator plain("sample::plain");
  const Tensor x = ones(1);
  const auto refused = [](auto&& action, const char* words) {
    const sconce::Error error = error_of(action);
    EXPECT_EQ(error.status(), SCONCE_ERROR_INVALID_ARGUMENT) << words;
    EXPECT_TRUE(contains(error.what(), words));
  };
  refused([&] { plain(); }, "the argument x of sample::plain");
  refused([&] { plain(1); }, "the argument x is an integer; its type is Tensor");
  refused([&] { plain(std::nullopt); }, "the argument x is None; its type is Tensor");
  refused([&] { plain(x, 0.5); }, "the argument i is a real number; its type is int");
  refused([&] { plain(x, "1"); }, "the argument i is a text; its type is int");
  refused([&] { plain(x, std::vector<int>{1}); }, "the argument i is a list; its type is int");
  refused([&] { plain(x, 1, 1, 1); }, "the argument b is an integer; its type is bool");
  refused([&] { plain(x, 1, 1, true, sconce::kInt); }, "its type is str");
  refused([&] { plain(x, 1, 1, true, "", "float"); }, "the argument t is a text");
  refused([&] { plain(x, 1, 1, true, "", sconce::kInt, 0); },
          "the argument d is an integer; its type is Device");
  refused([&] { plain(x, 1, 1, true, "", sconce::kInt, sconce::kCPU, 1); },
          "argument_count is 8; sample::plain takes");
  refused([&] { op("sample::lists")(std::vector<int>{1}); },
          "the argument x is a list; its type is Tensor[]");
  EXPECT_EQ(status_of([&] { op("sample::increment")(Tensor()); }), SCONCE_ERROR_INVALID_HANDLE)
      << "a tensor that is not defined";
}

TEST_F(KindsTest, WhatAKernelThrowsIsAnErrorWithItsText) {
  const sconce::Error error = error_of([] { op("sample::fails")("for a reason of its own"); });
  EXPECT_EQ(error.status(), SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_STREQ(error.what(),
               "SCONCE_ERROR_INVALID_ARGUMENT: sample::fails: for a reason of its own");
}

TEST_F(KindsTest, ADeviceWithoutAKernelIsNamed) {
  SCONCE_NEED_DEVICES(1);
  const Tensor x = ones(2).to(sconce::Device(0));
  const sconce::Error error = error_of([&] { op("sample::increment")(x); });
  EXPECT_TRUE(contains(error.what(),
                       "sample::increment has no kernel for tensors of CUDA devices; it has "
                       "kernels for the keys: CPU"));
  EXPECT_THROW(op("sample::increment")(x), sconce::NotSupportedError);
}

TEST_F(KindsTest, WhatIsNotRegisteredIsRefused) {
  EXPECT_TRUE(contains(error_of([] { op("sample::nothing"); }).what(),
                       "there is no operator sample::nothing"));
  EXPECT_TRUE(contains(error_of([] { op("sample::increment.from"); }).what(),
                       "its overloads are the default, by"));
  EXPECT_EQ(status_of([] { op(""); }), SCONCE_ERROR_INVALID_ARGUMENT);
}

TEST_F(KindsTest, OperatorsLiveAsLongAsTheirLibrary) {
  static_assert(!std::is_copy_constructible_v<Library>, "");
  const Operator increment("sample::increment");
  {
    Library second(kKernels);
    library.reset();
    EXPECT_NO_THROW(increment(ones(1))) << "the second handle keeps the file";
    Library third(std::move(second));
    EXPECT_NO_THROW(increment(ones(1)));
    third = Library(kKernels);
    EXPECT_NO_THROW(increment(ones(1)));
  }
  EXPECT_TRUE(contains(error_of([&] { increment(ones(1)); }).what(),
                       "there is no operator sample::increment"));
  library.emplace(kKernels);
  EXPECT_NO_THROW(increment(ones(1))) << "the operator is valid again";
}

TEST_F(KindsTest, ALibraryThatCannotBeOpenedIsRefusedWithItsPath) {
  const sconce::Error none = error_of([] { const Library opened("/nowhere/kernels.so"); });
  EXPECT_EQ(none.status(), SCONCE_ERROR_IO);
  EXPECT_TRUE(contains(none.what(), "/nowhere/kernels.so could not be opened"));
  const sconce::Error model = error_of([] { const Library opened(support::file("rows.so")); });
  EXPECT_EQ(model.status(), SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(contains(model.what(), "registers no operators"));
}

TEST_F(KindsTest, ThreadsCallOneOperatorAtOnce) {
  const Operator by("sample::increment.by");
  std::array<int, 4> wrong{};
  std::vector<std::thread> threads;
  for (std::size_t thread = 0; thread < wrong.size(); ++thread) {
    threads.emplace_back([&, thread] {
      const Tensor x = ones(100);
      for (int call = 1; call <= 200; ++call) {
        const auto step = static_cast<double>(thread);
        const Tensor result = by(x, step).tensor();
        wrong[thread] += values_of(result)[99] == 1 + static_cast<float>(call * step) ? 0 : 1;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(wrong, (std::array<int, 4>{}));
}

}  // namespace
