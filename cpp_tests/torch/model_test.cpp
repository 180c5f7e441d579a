// Compiled models in C++: a model of the CPU that doubles its input.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <sconce/sconce_all.hpp>
#include <sconce/torch.hpp>
#include <sconce/torch/op.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "files.hpp"

namespace {

namespace sc = sconce;
using sc::torch::Library;
using sc::torch::Model;
using support::contains;
using support::file;
using support::floats;
using support::status_of;
using support::values;
using support::words_of;

TEST(Model, ReturnsItsResults) {
  const Model model(file("plain_model.so"));
  EXPECT_EQ(model.num_inputs(), 1U);
  EXPECT_EQ(model.num_outputs(), 1U);
  EXPECT_EQ(model.device(), SCONCE_DEVICE_CPU);
  const std::vector<sc::Tensor> results = model({floats({1, -2.5, 4})});
  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(values(results[0]), (std::vector<float>{2, -5, 8}));
  const sc::Tensor into = floats({0, 0});
  model.run_into({floats({3, 4})}, {into});
  EXPECT_EQ(values(into), (std::vector<float>{6, 8}));
}

TEST(Model, DescribesItsInputs) {
  const Model model(file("plain_model.so"));
  const sc::torch::ModelInput input = model.input(0);
  EXPECT_EQ(input.name, "x");
  EXPECT_EQ(input.dtype, SCONCE_DTYPE_F32);
  EXPECT_EQ(input.sizes, (std::vector<std::pair<std::int64_t, std::int64_t>>{{1, 16}}));
  EXPECT_TRUE(contains(model.describe(), "input 0: x float32[1..16] on cpu"));
  EXPECT_TRUE(contains(model.describe(), "output 0: doubled"));
  EXPECT_EQ(status_of([&] { static_cast<void>(model.input(1)); }), SCONCE_ERROR_INVALID_ARGUMENT);
}

TEST(Model, DescribesItsOutputs) {
  const Model model(file("matrix.pt2"));
  const sc::torch::ModelOutput output = model.output(0);
  EXPECT_EQ(output.name, "doubled");
  EXPECT_EQ(output.dtype, SCONCE_DTYPE_F32);
  EXPECT_EQ(output.sizes,
            (std::vector<std::pair<std::int64_t, std::int64_t>>{{2, 64}, {256, 256}}));
  EXPECT_TRUE(contains(model.describe(), "output 0: doubled float32[2..64, 256] on cpu"));
}

TEST(Model, IsInspectedWithoutLoadingIt) {
  const std::string matrix = sc::torch::inspect(file("matrix.pt2"));
  for (const char* line :
       {"compiled for: cpu", "input 0: float32[2..64, 256] on cpu",
        "output 0: float32[2..64, 256] on cpu", "AOTI_DEVICE_KEY: cpu", " of PyTorch's ABI"}) {
    EXPECT_TRUE(contains(matrix, line));
  }
  EXPECT_EQ(matrix.find("missing"), std::string::npos) << matrix;
  EXPECT_TRUE(contains(sc::torch::inspect(file("missing_model.so")),
                       "missing function: aoti_torch_cpu_no_such_operation (the operation "
                       "aten::no_such_operation)"));
  EXPECT_TRUE(contains(words_of([] { const Model model(file("missing_model.so")); }),
                       "aoti_torch_cpu_no_such_operation"))
      << "it cannot be loaded";
  const std::string custom = sc::torch::inspect(file("custom_model.so"));
  EXPECT_TRUE(contains(custom, "custom operator: sample::halves"));
  EXPECT_TRUE(contains(custom, "missing operator: sample::halves"));
  const Library library(file("sample_operators.so"));
  EXPECT_EQ(sc::torch::inspect(file("custom_model.so")).find("missing"), std::string::npos);
  EXPECT_TRUE(contains(sc::torch::inspect(file("kinds.so")), "no compiled model"));
  // A model of CUDA, on a machine without it.
  const std::string cuda = sc::torch::inspect(file("cuda.pt2"));
  for (const char* line : {"compiled for: cuda", "input 0: float32[2..64, 256] on cuda",
                           "AOTI_COMPUTE_CAPABILITY: 90"}) {
    EXPECT_TRUE(contains(cuda, line));
  }
  EXPECT_TRUE(contains(sc::torch::inspect(file("rows.pt2"), "rows"), "input 1: int64[any] on cpu"));
  EXPECT_TRUE(contains(words_of([] { (void)sc::torch::inspect(file("rows.pt2")); }),
                       "has the models rows, without_weights"));
  EXPECT_EQ(status_of([] { (void)sc::torch::inspect("/nonexistent.pt2"); }), SCONCE_ERROR_IO);
}

TEST(Model, FollowsEverySettingOfTf32AndHasADefaultOfItsOwn) {
  sc::cuda::Context& context = sc::globalContext();
  const Model model(file("plain_model.so"));
  // Where nothing is set, each library keeps the default of its documents.
  EXPECT_EQ(context.allowTF32CuBLASSetting(), std::nullopt);
  EXPECT_TRUE(context.allowTF32CuBLAS());
  EXPECT_FALSE(sc::torch::allow_tf32_cublas());
  EXPECT_TRUE(contains(model.describe(), "products without TF32 (the default of compiled models"));
  const auto both = [&](bool allowed, const char* setter) {
    EXPECT_EQ(context.allowTF32CuBLAS(), allowed) << setter;
    EXPECT_EQ(sc::torch::allow_tf32_cublas(), allowed) << setter;
    EXPECT_EQ(context.allowTF32CuBLASSetting(), std::optional<bool>(allowed)) << setter;
    EXPECT_TRUE(contains(model.describe(), allowed ? "products with TF32 (as the program"
                                                   : "products without TF32 (as"))
        << setter;
  };
  // A thread's own setting, and none again.
  std::int32_t before = 0;
  ASSERT_EQ(::sconce_context_set_thread_allow_tf32_cublas(1, &before), SCONCE_OK);
  both(true, "thread");
  ASSERT_EQ(::sconce_context_set_thread_allow_tf32_cublas(before, &before), SCONCE_OK);
  EXPECT_EQ(context.allowTF32CuBLASSetting(), std::nullopt);
  for (const bool allowed : {true, false, true}) {
    sc::torch::set_allow_tf32_cublas(allowed);
    both(allowed, "sconce::torch");
    context.setAllowTF32CuBLAS(!allowed);
    both(!allowed, "context");
    context.setFloat32MatmulPrecision(allowed ? "medium" : "highest");
    both(allowed, "precision");
  }
}

TEST(Model, RefusesInputsThatItDoesNotTake) {
  const Model model(file("plain_model.so"));
  EXPECT_TRUE(contains(words_of([&] { static_cast<void>(model.run({})); }),
                       "input_count is 0; the model has 1 inputs"));
  EXPECT_TRUE(contains(
      words_of([&] { static_cast<void>(model.run({floats(std::vector<float>(17, 1.0F))})); }),
      "is float32[17] on cpu; the model takes float32[1..16] on cpu"));
  const sc::Tensor whole = sc::tensor({1, 2}, sc::TensorOptions().device(sc::kCPU));
  EXPECT_TRUE(contains(words_of([&] { static_cast<void>(model.run({whole})); }), "int64[2]"));
  EXPECT_TRUE(contains(words_of([&] {
                         model.run_into({floats({1, 2})}, {floats({1}), floats({1})});
                       }),
                       "outputs"));
}

TEST(Model, FailuresWithinAreExceptionsWithTheirWords) {
  const Model model(file("plain_model.so"));
  EXPECT_TRUE(contains(
      words_of([&] { static_cast<void>(model.run({floats(std::vector<float>(14, 1.0F))})); }),
      "thrown by the model"));
  EXPECT_EQ(values(model({floats({7})})[0]), (std::vector<float>{14}));
  EXPECT_EQ(status_of([&] { static_cast<void>(model.run_graph({floats({1})})); }),
            SCONCE_ERROR_NOT_SUPPORTED);
  EXPECT_TRUE(contains(words_of([] { const Model none("/nonexistent.pt2"); }), "/nonexistent.pt2"));
}

TEST(Model, ThreadsRunOne) {
  const Model model(file("plain_model.so"));
  std::vector<std::thread> threads;
  std::vector<int> right(4, 0);
  for (std::size_t number = 0; number < 4; ++number) {
    threads.emplace_back([&, number] {
      for (std::size_t round = 0; round < 50; ++round) {
        const auto value = static_cast<float>(100 * number + round);
        right[number] += values(model({floats({value})})[0])[0] == 2 * value ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(right, (std::vector<int>{50, 50, 50, 50}));
}

TEST(Model, MovesAndLeavesNoTensor) {
  const std::size_t before = ::sconce_tensor_live_count();
  {
    Model first(file("plain_model.so"));
    sconce_model* const handle = first.get();
    Model second(std::move(first));
    EXPECT_EQ(second.get(), handle);
    Model third(file("weighted_model.so"));
    third = std::move(second);
    EXPECT_EQ(third.get(), handle);
    EXPECT_EQ(values(third({floats({2})})[0]), (std::vector<float>{4}));
  }
  EXPECT_EQ(::sconce_tensor_live_count(), before);
}

TEST(Model, TakesItsConstantsFromTheProgram) {
  const Model model(file("weighted_model.so"));
  EXPECT_EQ(status_of([&] { static_cast<void>(model.run({floats({1})})); }),
            SCONCE_ERROR_INVALID_STATE)
      << "the library has no values";
  EXPECT_TRUE(contains(words_of([&] {
                         model.update_constants({{"outer.weight", floats({1})}});
                       }),
                       "no constant \"outer.weight\""));
  model.update_constants({{"inner.weight", floats({3, 1})}});
  EXPECT_EQ(values(model({floats({2, 5})})[0]), (std::vector<float>{7, 16}));
}

TEST(Model, CallsTheOperatorsOfAKernelLibrary) {
  EXPECT_TRUE(contains(words_of([] { const Model model(file("custom_model.so")); }),
                       "sample::scaled, sample::twice, sample::halves"));
  const Library library(file("sample_operators.so"));
  const Model model(file("custom_model.so"));
  EXPECT_TRUE(contains(model.describe(), "custom operator: sample::halves"));
  EXPECT_EQ(values(model({floats({1, 2, 3, 4})})[0]), (std::vector<float>{2, 12, 18, 24}));
}

}  // namespace
