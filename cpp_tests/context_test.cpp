// The settings of the process. None of them needs a device.
#include <sconce/cuda/context.hpp>
#include <vector>

#include "fixture.hpp"

namespace {

using namespace sconce::cuda;
using support::contains;
using support::error_of;

/// Restores every setting.
class ContextTest : public testing::Test {
 protected:
  void TearDown() override {
    Context& context = globalContext();
    context.setAllowTF32CuBLAS(true);
    context.setAllowTF32CuDNN(true);
    context.setBenchmarkCuDNN(false);
    context.setBenchmarkLimitCuDNN(10);
    context.setDeterministicCuDNN(false);
    context.setDeterministicAlgorithms(false);
  }
};

TEST_F(ContextTest, DefaultsAreThoseOfTheDocuments) {
  const Context& context = globalContext();
  EXPECT_TRUE(context.allowTF32CuBLAS());
  EXPECT_TRUE(context.allowTF32CuDNN());
  EXPECT_FALSE(context.benchmarkCuDNN());
  EXPECT_EQ(context.benchmarkLimitCuDNN(), 10);
  EXPECT_FALSE(context.deterministicCuDNN());
  EXPECT_FALSE(context.deterministicAlgorithms());
  EXPECT_EQ(context.float32MatmulPrecision(), Float32MatmulPrecision::HIGH);
}

TEST_F(ContextTest, ThereIsOne) { EXPECT_EQ(&globalContext(), &globalContext()); }

TEST_F(ContextTest, EachSwitchIsItsOwn) {
  struct Switch {
    bool (*get)(const Context&);
    void (*set)(Context&, bool);
  };
  const std::vector<Switch> switches = {
      {[](const Context& c) { return c.allowTF32CuBLAS(); },
       [](Context& c, bool on) { c.setAllowTF32CuBLAS(on); }},
      {[](const Context& c) { return c.allowTF32CuDNN(); },
       [](Context& c, bool on) { c.setAllowTF32CuDNN(on); }},
      {[](const Context& c) { return c.benchmarkCuDNN(); },
       [](Context& c, bool on) { c.setBenchmarkCuDNN(on); }},
      {[](const Context& c) { return c.deterministicCuDNN(); },
       [](Context& c, bool on) { c.setDeterministicCuDNN(on); }},
      {[](const Context& c) { return c.deterministicAlgorithms(); },
       [](Context& c, bool on) { c.setDeterministicAlgorithms(on); }},
  };
  Context& context = globalContext();
  for (std::size_t on = 0; on < switches.size(); ++on) {
    for (std::size_t i = 0; i < switches.size(); ++i) {
      switches[i].set(context, i == on);
    }
    for (std::size_t i = 0; i < switches.size(); ++i) {
      EXPECT_EQ(switches[i].get(context), i == on) << "switch " << i << " with " << on << " on";
    }
  }
}

TEST_F(ContextTest, PrecisionAndTf32ForProductsAreOneSwitch) {
  Context& context = globalContext();
  context.setAllowTF32CuBLAS(false);
  EXPECT_EQ(context.float32MatmulPrecision(), Float32MatmulPrecision::HIGHEST);
  context.setFloat32MatmulPrecision("medium");
  EXPECT_EQ(context.float32MatmulPrecision(), Float32MatmulPrecision::MEDIUM);
  EXPECT_TRUE(context.allowTF32CuBLAS());
  context.setFloat32MatmulPrecision("highest");
  EXPECT_FALSE(context.allowTF32CuBLAS());
  context.setFloat32MatmulPrecision(Float32MatmulPrecision::HIGH);
  EXPECT_TRUE(context.allowTF32CuBLAS());
  EXPECT_TRUE(context.allowTF32CuDNN()) << "convolutions have a switch of their own";
}

TEST_F(ContextTest, UnknownPrecisionsAreRefusedAndNothingChanges) {
  Context& context = globalContext();
  const sconce::Error error = error_of([&] { context.setFloat32MatmulPrecision("low"); });
  EXPECT_EQ(error.status(), SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(contains(error.what(), "\"low\""));
  EXPECT_EQ(sconce_context_set_float32_matmul_precision(3), SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(sconce_context_set_float32_matmul_precision(-1), SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(context.float32MatmulPrecision(), Float32MatmulPrecision::HIGH);
}

TEST_F(ContextTest, TheBenchmarkLimitIsANumberOrAll) {
  Context& context = globalContext();
  context.setBenchmarkLimitCuDNN(3);
  EXPECT_EQ(context.benchmarkLimitCuDNN(), 3);
  context.setBenchmarkLimitCuDNN(0);
  EXPECT_EQ(context.benchmarkLimitCuDNN(), 0);
  const sconce::Error error = error_of([&] { context.setBenchmarkLimitCuDNN(-1); });
  EXPECT_EQ(error.status(), SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(contains(error.what(), "-1"));
  EXPECT_EQ(context.benchmarkLimitCuDNN(), 0);
}

}  // namespace
