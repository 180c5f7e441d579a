// The switches of the process. None of them needs a device.
#include <sconce/context.hpp>

#include "fixture.hpp"

namespace {

using namespace sconce::cuda;
using support::contains;
using support::error_of;

/// Puts every switch back.
class ContextTest : public testing::Test {
 protected:
  void TearDown() override {
    Context& context = globalContext();
    context.setAllowTF32CuBLAS(true);
    context.setAllowTF32CuDNN(true);
    context.setBenchmarkCuDNN(false);
    context.setDeterministicCuDNN(false);
    context.setDeterministicAlgorithms(false);
  }
};

TEST_F(ContextTest, DefaultsAreThoseOfTheDocuments) {
  const Context& context = globalContext();
  EXPECT_TRUE(context.allowTF32CuBLAS());
  EXPECT_TRUE(context.allowTF32CuDNN());
  EXPECT_FALSE(context.benchmarkCuDNN());
  EXPECT_FALSE(context.deterministicCuDNN());
  EXPECT_FALSE(context.deterministicAlgorithms());
  EXPECT_EQ(context.float32MatmulPrecision(), Float32MatmulPrecision::HIGH);
}

TEST_F(ContextTest, ThereIsOne) { EXPECT_EQ(&globalContext(), &globalContext()); }

TEST_F(ContextTest, EachSwitchIsItsOwn) {
  using Get = bool (Context::*)() const noexcept;
  using Set = void (Context::*)(bool) noexcept;
  const std::vector<std::pair<Get, Set>> switches = {
      {&Context::allowTF32CuBLAS, &Context::setAllowTF32CuBLAS},
      {&Context::allowTF32CuDNN, &Context::setAllowTF32CuDNN},
      {&Context::benchmarkCuDNN, &Context::setBenchmarkCuDNN},
      {&Context::deterministicCuDNN, &Context::setDeterministicCuDNN},
      {&Context::deterministicAlgorithms, &Context::setDeterministicAlgorithms},
  };
  Context& context = globalContext();
  for (std::size_t on = 0; on < switches.size(); ++on) {
    for (std::size_t i = 0; i < switches.size(); ++i) {
      (context.*switches[i].second)(i == on);
    }
    for (std::size_t i = 0; i < switches.size(); ++i) {
      EXPECT_EQ((context.*switches[i].first)(), i == on)
          << "switch " << i << " with " << on << " on";
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

}  // namespace
