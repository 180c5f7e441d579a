// Compiled models in C++: several inputs and outputs, two sets of constants, packages. The model is
// that of rows.cpp.
#include <array>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <sconce/torch/op.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "files.hpp"

namespace {

using sconce::Tensor;
using sconce::torch::Model;
using support::contains;
using support::error_of;
using support::status_of;
using support::values;

/// The model, with its source beside it, which says what inputs must be.
const std::string kModel = support::file("rows.so");
/// The model without the values of its constants, and without its source.
const std::string kWithoutWeights = support::file("rows_without_weights.so");
/// Both in one package, as `rows` and `without_weights`.
const std::string kPackage = support::file("rows.pt2");

class RowsTest : public support::DeviceFixture {};

Tensor rows(std::int64_t count) {
  return sconce::arange(count * 3, sconce::device(sconce::kCPU).dtype(sconce::kFloat))
      .view({count, 3});
}

Tensor picks(const std::vector<std::int64_t>& of) {
  return sconce::tensor(of, sconce::device(sconce::kCPU));
}

/// What the model makes of `rows(count)`.
std::vector<float> expected(std::size_t count, float factor = 2,
                            const std::array<float, 3>& shift = {0, 10, 20}) {
  std::vector<float> values(count * 3);
  for (std::size_t at = 0; at < values.size(); ++at) {
    values[at] = static_cast<float>(at) * factor + shift[at % 3];
  }
  return values;
}

TEST_F(RowsTest, ItSaysWhatItTakesAndReturns) {
  const Model model(kModel);
  EXPECT_EQ(model.num_inputs(), 2U);
  EXPECT_EQ(model.num_outputs(), 2U);
  EXPECT_EQ(model.device(), SCONCE_DEVICE_CPU);
  const sconce::torch::ModelInput values = model.input(0);
  EXPECT_EQ(values.name, "values");
  EXPECT_EQ(values.dtype, SCONCE_DTYPE_F32);
  using Sizes = std::vector<std::pair<std::int64_t, std::int64_t>>;
  EXPECT_EQ(values.sizes, (Sizes{{2, 64}, {3, 3}}));
  const sconce::torch::ModelInput picks = model.input(1);
  EXPECT_EQ(picks.name, "picks");
  EXPECT_EQ(picks.dtype, SCONCE_DTYPE_I64);
  EXPECT_EQ(picks.sizes, (Sizes{{0, INT64_MAX}}));
  EXPECT_TRUE(contains(error_of([&] { (void)model.input(2); }).what(),
                       "index is 2; the model has 2 inputs"));
  const std::string text = model.describe();
  for (const char* line :
       {"input 0: values float32[2..64, 3] on cpu", "input 1: picks int64[any] on cpu",
        "output 0: scaled", "output 1: picked", "constants: 2 with 16 bytes",
        "constant layer.factor: float32, 4 bytes", "constant layer.shift: float32, 12 bytes"}) {
    EXPECT_TRUE(contains(text, line));
  }
}

TEST_F(RowsTest, ItsConstantsAreListed) {
  const Model model(kModel);
  const std::vector<sconce::torch::ModelConstant> constants = model.constants();
  ASSERT_EQ(constants.size(), 2U);
  EXPECT_EQ(constants[0].name, "layer.factor");
  EXPECT_EQ(constants[0].bytes, 4U);
  EXPECT_EQ(constants[1].name, "layer.shift");
  EXPECT_EQ(constants[1].bytes, 12U);
  EXPECT_EQ(constants[1].dtype, SCONCE_DTYPE_F32);
  EXPECT_FALSE(constants[1].folded);
  EXPECT_EQ(model.constant(1).name, "layer.shift");
  EXPECT_TRUE(
      contains(error_of([&] { (void)model.constant(2); }).what(), "index is 2; the model has"));
}

TEST_F(RowsTest, InputsAndOutputsAreFoundByName) {
  const Model model(kModel);
  EXPECT_EQ(model.input_index("picks"), 1U);
  EXPECT_EQ(model.output_index("picked"), 1U);
  EXPECT_TRUE(contains(error_of([&] { (void)model.input_index("scaled"); }).what(),
                       "no input \"scaled\"; it has values, picks"));
  EXPECT_TRUE(contains(error_of([&] { (void)model.output_index("values"); }).what(),
                       "no output \"values\"; it has scaled, picked"));
  EXPECT_EQ(model.output(1).name, "picked");
  EXPECT_EQ(model.output(1).dtype, -1) << "the source does not say it";
  EXPECT_TRUE(model.output(1).sizes.empty());
  EXPECT_TRUE(contains(error_of([&] { (void)model.output(2); }).what(),
                       "index is 2; the model has 2 outputs"));

  const std::vector<Tensor> results = model.run_named({{"picks", picks({2})}, {"values", rows(3)}});
  EXPECT_EQ(values(results.at(model.output_index("scaled"))), expected(3));
  EXPECT_EQ(values(results.at(model.output_index("picked"))), (std::vector<float>{12, 24, 36}));
  const auto words = [&](const std::vector<std::pair<std::string, Tensor>>& inputs) {
    const sconce::Error error = error_of([&] { (void)model.run_named(inputs); });
    EXPECT_EQ(error.status(), SCONCE_ERROR_INVALID_ARGUMENT);
    return std::string(error.what());
  };
  EXPECT_TRUE(
      contains(words({{"picks", picks({2})}}), "the input values of the model is not passed"));
  EXPECT_TRUE(
      contains(words({{"values", rows(3)}, {"values", rows(3)}}), "values is passed twice"));
  EXPECT_TRUE(contains(words({{"rows", rows(3)}}), "no input \"rows\""));
}

TEST_F(RowsTest, SizesOfAnyDimensionAreReported) {
  const Model model(kModel);
  std::int64_t least = 0;
  std::int64_t most = 0;
  EXPECT_EQ(::sconce_model_get_input_size(model.get(), 0, 0, &least, &most), SCONCE_OK);
  EXPECT_EQ(least, 2);
  EXPECT_EQ(most, 64);
  EXPECT_EQ(::sconce_model_get_input_size(model.get(), 0, 2, &least, &most),
            SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(contains(::sconce_torch_last_error_message(), "values has 2 dimensions"));
  // A failure writes no result, whichever place is missing.
  least = most = -7;
  EXPECT_EQ(::sconce_model_get_input_size(model.get(), 0, 0, &least, nullptr),
            SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(::sconce_model_get_input_size(model.get(), 0, 0, nullptr, &most),
            SCONCE_ERROR_INVALID_ARGUMENT);
  std::size_t inputs = 99;
  std::size_t outputs = 99;
  EXPECT_EQ(::sconce_model_get_shape(model.get(), &inputs, &outputs, nullptr),
            SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(::sconce_model_get_constants(model.get(), &outputs, nullptr),
            SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(least, -7);
  EXPECT_EQ(most, -7);
  EXPECT_EQ(inputs, 99U);
  EXPECT_EQ(outputs, 99U);
  EXPECT_EQ(::sconce_model_get_output_size(model.get(), 0, 0, &least, &most),
            SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(contains(::sconce_torch_last_error_message(), "scaled are not known"));
}

// A failed call beside the message: arguments are evaluated in any order.
TEST_F(RowsTest, AMessageThatWasReadStaysUntilALaterOneWasRead) {
  const Model model(kModel);
  std::int64_t least = 0;
  std::int64_t most = 0;
  const auto fail = [&](std::size_t dimension) {
    return ::sconce_model_get_input_size(model.get(), 0, dimension, &least, &most);
  };
  const auto input = [&](std::size_t index) {
    return ::sconce_model_get_input_size(model.get(), index, 0, &least, &most);
  };
  ASSERT_EQ(fail(2), SCONCE_ERROR_INVALID_ARGUMENT);
  const char* const before = ::sconce_torch_last_error_message();
  const std::string words = before;
  EXPECT_TRUE(contains(words, "values has 2 dimensions"));
  for (std::size_t times = 0; times < 100; ++times) {
    ASSERT_EQ(input(900 + times), SCONCE_ERROR_INVALID_ARGUMENT);
    ASSERT_EQ(words, before);
  }
  const char* const after = ::sconce_torch_last_error_message();
  EXPECT_EQ(words, before);
  EXPECT_NE(words, after);
  const std::string later = after;
  EXPECT_EQ(after, ::sconce_torch_last_error_message())
      << "the same text, however often it is read";
  ASSERT_EQ(fail(2), SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(later, after);
}

TEST_F(RowsTest, ItsMemoryIsReported) {
  const Model model(kModel);
  EXPECT_EQ(model.memory().constant_host_bytes, 16U);
  EXPECT_EQ(model.memory().constant_device_bytes, 0U);
  EXPECT_EQ(model.memory().run_bytes, 0U) << "it has not run";
  const auto run = [&](std::int64_t count, const std::vector<std::int64_t>& of) {
    (void)model.run({rows(count), picks(of)});
  };
  run(4, {0, 1});
  EXPECT_EQ(model.memory().run_bytes, 4U * (4 + 2) * 3) << "both outputs";
  run(2, {0});
  EXPECT_EQ(model.memory().run_bytes, 4U * (4 + 2) * 3) << "the most of all runs";
  // Other threads make tensors meanwhile.
  std::atomic<bool> done{false};
  std::thread other([&] {
    while (!done) {
      (void)rows(1000);
    }
  });
  run(64, {0});
  done = true;
  other.join();
  EXPECT_EQ(model.memory().run_bytes, 4U * (64 + 1) * 3);
  EXPECT_EQ(model.memory().graph_count, 0U);
  EXPECT_EQ(model.memory().graph_pool_bytes, 0U);
  EXPECT_TRUE(contains(model.describe(),
                       "memory: constants take 16 bytes on cpu, tensors of a run 780 at most"));
  // Constants of the program are in memory besides those of the library.
  const Tensor shift = sconce::tensor(std::vector<float>{1, 2, 3}, sconce::device(sconce::kCPU));
  model.update_constants({{"layer.shift", shift}}, true);
  EXPECT_EQ(model.memory().constant_host_bytes, 28U);
  EXPECT_EQ(Model(kWithoutWeights).memory().constant_host_bytes, 0U);
  sconce_model_memory other_version = SCONCE_MODEL_MEMORY_INIT;
  other_version.struct_size -= 1;
  EXPECT_EQ(::sconce_model_get_memory(model.get(), &other_version), SCONCE_ERROR_INVALID_ARGUMENT);
}

TEST_F(RowsTest, WithoutItsSourceInputsAreNotKnown) {
  const Model model(kWithoutWeights);
  const sconce::torch::ModelInput values = model.input(0);
  EXPECT_EQ(values.name, "values");
  EXPECT_EQ(values.dtype, -1);
  EXPECT_TRUE(values.sizes.empty());
}

TEST_F(RowsTest, ItReturnsItsOutputsInOrder) {
  const Model model(kModel);
  for (const std::int64_t count : {2, 5, 64}) {
    const std::vector<Tensor> results = model.run({rows(count), picks({1, 0, 1})});
    ASSERT_EQ(results.size(), 2U);
    EXPECT_EQ(results[0].sizes(), (std::vector<std::int64_t>{count, 3}));
    const std::vector<float> scaled = expected(static_cast<std::size_t>(count));
    EXPECT_EQ(values(results[0]), scaled);
    EXPECT_EQ(values(results[1]), (std::vector<float>{6, 18, 30, 0, 12, 24, 6, 18, 30}));
  }
  const std::vector<Tensor> none = model({rows(2), picks({})});
  EXPECT_EQ(none.at(1).sizes(), (std::vector<std::int64_t>{0, 3}));
}

// The compiler assumes two rows or more; PyTorch's loader runs models with fewer, too.
TEST_F(RowsTest, ItAcceptsFewerRowsThanTheCompilerAssumes) {
  const Model model(kModel);
  for (const std::int64_t count : {0, 1}) {
    const std::vector<Tensor> results = model.run({rows(count), picks({})});
    EXPECT_EQ(results.at(0).sizes(), (std::vector<std::int64_t>{count, 3}));
    EXPECT_EQ(values(results.at(0)), expected(static_cast<std::size_t>(count)));
  }
}

TEST_F(RowsTest, OutputsOutliveTheModelAndNothingIsLeft) {
  const std::size_t before = ::sconce_tensor_live_count();
  {
    std::vector<Tensor> results;
    {
      const Model model(kModel);
      results = model.run({rows(3), picks({2})});
    }
    EXPECT_EQ(values(results.at(0)), expected(3));
    EXPECT_EQ(::sconce_tensor_live_count(), before + 2) << "the results alone are alive";
  }
  EXPECT_EQ(::sconce_tensor_live_count(), before);
}

TEST_F(RowsTest, ResultsGoToTensorsOfTheCaller) {
  const Model model(kModel);
  const sconce::TensorOptions options = sconce::device(sconce::kCPU).dtype(sconce::kFloat);
  const Tensor scaled = sconce::zeros({4, 3}, options);
  const Tensor picked = sconce::zeros({1, 3}, options);
  model.run_into({rows(4), picks({3})}, {scaled, picked});
  EXPECT_EQ(values(scaled), expected(4));
  EXPECT_EQ(values(picked), (std::vector<float>{18, 30, 42}));
  const sconce::Error few = error_of([&] { model.run_into({rows(4), picks({3})}, {scaled}); });
  EXPECT_TRUE(contains(few.what(), "output_count is 1; the model has 2 outputs"));
  const sconce::Error shape = error_of([&] {
    model.run_into({rows(5), picks({3})}, {scaled, picked});
  });
  EXPECT_EQ(shape.status(), SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(contains(shape.what(),
                       "output 0 (scaled) is float32[5, 3] on cpu, and its place float32[4, 3] "
                       "on cpu: "));
}

TEST_F(RowsTest, InputsThatItDoesNotTakeAreNamed) {
  const Model model(kModel);
  const std::size_t before = ::sconce_tensor_live_count();
  const auto refused = [&](const std::vector<Tensor>& inputs, const char* words) {
    const sconce::Error error = error_of([&] { (void)model.run(inputs); });
    EXPECT_EQ(error.status(), SCONCE_ERROR_INVALID_ARGUMENT) << words;
    EXPECT_TRUE(contains(error.what(), words));
  };
  refused({}, "input_count is 0; the model has 2 inputs");
  refused({rows(2), picks({0}), rows(2)}, "input_count is 3; the model has 2 inputs");
  refused({rows(65), picks({0})},
          "input 0 (values) is float32[65, 3] on cpu; the model takes float32[2..64, 3] on cpu");
  refused({rows(4).view({3, 4}), picks({0})}, "float32[3, 4]");
  refused({rows(2).view({6}), picks({0})}, "float32[6]");
  refused({rows(2).to(sconce::kDouble), picks({0})}, "float64[2, 3]");
  refused({rows(2), rows(2)}, "input 1 (picks) is float32[2, 3]");
  refused({rows(3).t(), picks({0})}, "has the strides [1, 3]");
  if (sconce::cuda::device_count() > 0) {
    refused({rows(2).to(sconce::Device(0)), picks({0})}, "on cuda:0; the model takes");
  }
  const sconce::Error undefined = error_of([&] { (void)model.run({rows(2), Tensor()}); });
  EXPECT_EQ(undefined.status(), SCONCE_ERROR_INVALID_HANDLE);
  EXPECT_TRUE(contains(undefined.what(), "inputs[1] is NULL"));
  EXPECT_EQ(::sconce_tensor_live_count(), before);
  EXPECT_EQ(values(model.run({rows(2), picks({0})})[0]), expected(2)) << "it goes on working";
}

// Inputs in another order of elements are copied to the order that the model was compiled for.
TEST_F(RowsTest, InputsAreArrangedAsTheModelTakesThem) {
  const Model model(kModel);
  const std::size_t before = ::sconce_tensor_live_count();
  const Tensor columns = rows(4).t().contiguous().t();
  ASSERT_EQ(columns.stride(1), 4);
  EXPECT_TRUE(contains(error_of([&] {
                         (void)model.run({columns, picks({0})});
                       }).what(),
                       "strides"));
  for (const Tensor& given : {columns, rows(4), rows(1), rows(8).slice(0, 0, 8, 2)}) {
    const Tensor picked = picks({0});
    const std::vector<Tensor> arranged = model.arranged({given, picked});
    ASSERT_EQ(arranged.size(), 2U);
    EXPECT_EQ(arranged[1].data_ptr(), picked.data_ptr()) << "nothing to do";
    EXPECT_EQ(arranged[0].data_ptr() == given.data_ptr(), given.is_contiguous());
    EXPECT_TRUE(given.equal(arranged[0]));
    EXPECT_NO_THROW((void)model.run(arranged));
  }
  if (sconce::cuda::device_count() > 0) {
    const std::vector<Tensor> arranged =
        model.arranged({rows(2).to(sconce::Device(0)), picks({0})});
    EXPECT_EQ(values(model.run(arranged)[0]), expected(2)) << "copied from a device";
  }
  EXPECT_EQ(status_of([&] { (void)model.arranged({rows(2)}); }), SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(status_of([&] {
              (void)model.arranged({rows(2), Tensor()});
            }),
            SCONCE_ERROR_INVALID_HANDLE);
  // What the order does not mend is left to the run.
  EXPECT_NO_THROW((void)model.arranged({rows(2).view({6}), picks({0})}));
  EXPECT_EQ(::sconce_tensor_live_count(), before + 1) << "columns alone";
}

TEST_F(RowsTest, WhatTheModelThrowsIsAnErrorWithItsText) {
  const Model model(kModel);
  const std::size_t before = ::sconce_tensor_live_count();
  const sconce::Error error = error_of([&] { (void)model.run({rows(2), picks({0, 2})}); });
  EXPECT_EQ(error.status(), SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(contains(error.what(), "SCONCE_ERROR_INVALID_ARGUMENT: the model failed: "));
  EXPECT_TRUE(contains(error.what(), "a pick is no row of the values (run, rows.cpp:1)"));
  EXPECT_EQ(::sconce_tensor_live_count(), before);
}

TEST_F(RowsTest, ThreadsRunOneModelAtOnce) {
  const Model model(kModel);
  std::atomic<int> wrong{0};
  std::atomic<int> refused{0};
  std::vector<std::thread> threads;
  for (std::int64_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (std::int64_t run = 0; run < 100; ++run) {
        // Each thread has shapes of its own, some of which fail.
        const std::int64_t count = 2 + (thread + run * 4) % 63;
        try {
          const std::vector<Tensor> results =
              model.run({rows(count), picks({run % 7 == 0 ? count : count - 1})});
          wrong += values(results[0]) == expected(static_cast<std::size_t>(count)) ? 0 : 1;
        } catch (const sconce::Error& error) {
          refused += contains(error.what(), "a pick is no row") ? 1 : 0;
        }
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(refused, 4 * 15);
}

TEST_F(RowsTest, ConstantsAreReplacedAtOnceOrAside) {
  const Model model(kModel);
  const std::vector<Tensor> inputs = {rows(2), picks({0})};
  const sconce::TensorOptions options = sconce::device(sconce::kCPU);
  const Tensor factor = sconce::tensor(std::vector<float>{-1}, options);
  model.update_constants({{"layer.factor", factor}});
  EXPECT_EQ(values(model.run(inputs)[0]), expected(2, -1));
  // The model's own names do as well. The inactive set waits for the swap.
  const Tensor shift = sconce::tensor(std::vector<float>{1, 2, 3}, options);
  model.update_constants({{"layer_factor", factor}, {"layer_shift", shift}}, true);
  EXPECT_EQ(values(model.run(inputs)[0]), expected(2, -1));
  model.swap_constants();
  EXPECT_EQ(values(model.run(inputs)[0]), expected(2, -1, {1, 2, 3}));
  model.swap_constants();
  EXPECT_EQ(values(model.run(inputs)[0]), expected(2, -1));

  const sconce::Error unknown = error_of([&] { model.update_constants({{"layer.bias", shift}}); });
  EXPECT_TRUE(contains(unknown.what(), "the model has no constant \"layer.bias\""));
  const sconce::Error size = error_of([&] { model.update_constants({{"layer.factor", shift}}); });
  EXPECT_TRUE(
      contains(size.what(),
               "float32[3] on cpu was passed for the constant layer.factor, which is float32[1]"));
  const sconce::Error type = error_of([&] {
    model.update_constants({{"layer.factor", factor.to(sconce::kInt)}});
  });
  EXPECT_EQ(type.status(), SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(values(model.run(inputs)[0]), expected(2, -1)) << "refused constants change nothing";
}

TEST_F(RowsTest, ASetWithoutValuesIsNotSwappedIn) {
  const Model model(kModel);
  const std::vector<Tensor> inputs = {rows(2), picks({0})};
  const sconce::TensorOptions options = sconce::device(sconce::kCPU);
  const Tensor factor = sconce::tensor(std::vector<float>{-1}, options);
  const sconce::Error none = error_of([&] { model.swap_constants(); });
  EXPECT_EQ(none.status(), SCONCE_ERROR_INVALID_STATE);
  EXPECT_TRUE(contains(none.what(), "the inactive set of constants has no values"));
  model.update_constants({{"layer.factor", factor}}, true);
  EXPECT_TRUE(
      contains(error_of([&] { model.swap_constants(); }).what(),
               "1 of the constants of the inactive set have no values, such as layer.shift"));
  model.free_inactive_constants();
  EXPECT_EQ(error_of([&] { model.swap_constants(); }).status(), SCONCE_ERROR_INVALID_STATE);
  EXPECT_EQ(values(model.run(inputs)[0]), expected(2)) << "the active set is as before";
}

TEST_F(RowsTest, AModelWithoutWeightsRunsOnceItHasAll) {
  const Model model(kWithoutWeights);
  const std::vector<Tensor> inputs = {rows(2), picks({0})};
  const sconce::TensorOptions options = sconce::device(sconce::kCPU);
  const Tensor shift = sconce::tensor(std::vector<float>{7, 7, 7}, options);
  const sconce::Error none = error_of([&] { (void)model.run(inputs); });
  EXPECT_EQ(none.status(), SCONCE_ERROR_INVALID_STATE);
  EXPECT_TRUE(contains(none.what(), "2 of the model's constants have no values"));
  model.update_constants({{"layer.shift", shift}});
  EXPECT_TRUE(contains(error_of([&] { (void)model.run(inputs); }).what(),
                       "1 of the model's constants have no values, such as layer_factor"));
  model.update_constants({{"layer.factor", sconce::tensor(std::vector<float>{4}, options)}});
  EXPECT_EQ(values(model.run(inputs)[0]), expected(2, 4, {7, 7, 7}));
}

TEST_F(RowsTest, AModelIsMovedAndNeverCopied) {
  static_assert(!std::is_copy_constructible_v<Model> && !std::is_copy_assignable_v<Model>, "");
  static_assert(std::is_nothrow_move_constructible_v<Model>, "");
  Model first(kModel);
  sconce_model* handle = first.get();
  Model second(std::move(first));
  EXPECT_EQ(second.get(), handle);
  EXPECT_EQ(first.get(), nullptr);  // NOLINT(bugprone-use-after-move): what is left of it
  const sconce::Error error = error_of([&] { (void)first.run({rows(2), picks({0})}); });
  EXPECT_EQ(error.status(), SCONCE_ERROR_INVALID_HANDLE);
  EXPECT_TRUE(contains(error.what(), "model is NULL or no model"));

  Model third(kPackage, -1, "without_weights");
  sconce_model* replaced = third.get();
  third = std::move(second);
  EXPECT_EQ(third.get(), handle);
  EXPECT_EQ(values(third.run({rows(2), picks({0})})[0]), expected(2));
  char* text = nullptr;
  EXPECT_EQ(::sconce_model_describe(replaced, &text), SCONCE_ERROR_INVALID_HANDLE)
      << "the model that was there is unloaded";
}

TEST_F(RowsTest, APackageHasItsModelsByName) {
  const Model rows_model(kPackage, -1, "rows");
  EXPECT_EQ(rows_model.input(0).sizes.size(), 2U) << "the package has the source";
  EXPECT_EQ(values(rows_model.run({rows(2), picks({0})})[0]), expected(2));
  EXPECT_TRUE(contains(rows_model.describe(), "AOTI_DEVICE_KEY: cpu"));
  EXPECT_EQ(Model(kPackage, -1, "without_weights").input(0).dtype, -1);
  EXPECT_TRUE(contains(error_of([] { Model model(kPackage); }).what(),
                       "has the models rows, without_weights; name one of them"));
  EXPECT_TRUE(contains(error_of([] { Model model(kPackage, -1, "columns"); }).what(),
                       "has the models rows, without_weights"));
}

TEST_F(RowsTest, WhatIsNoModelIsRefusedWithThePath) {
  const sconce::Error none = error_of([] { Model model("/nowhere/model.pt2"); });
  EXPECT_EQ(none.status(), SCONCE_ERROR_IO);
  EXPECT_TRUE(contains(none.what(), "SCONCE_ERROR_IO: /nowhere/model.pt2 could not be read"));
  const sconce::Error kernels = error_of([] { Model model(support::file("kinds.so")); });
  EXPECT_EQ(kernels.status(), SCONCE_ERROR_NOT_SUPPORTED);
  EXPECT_TRUE(contains(kernels.what(),
                       "is no compiled model: it has no function "
                       "AOTInductorModelContainerCreateWithDevice. It registers operators: load it "
                       "with sconce_torch_load"));
  EXPECT_NO_THROW(sconce::torch::Library{support::file("kinds.so")}) << "it was not opened before";
  const std::filesystem::path text = std::filesystem::path(testing::TempDir()) / "no_model.pt2";
  std::ofstream(text) << "a text";
  EXPECT_EQ(status_of([&] { Model model(text.string()); }), SCONCE_ERROR_IO);
  std::filesystem::remove(text);
}

}  // namespace
