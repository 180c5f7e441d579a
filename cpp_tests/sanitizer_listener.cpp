// A program of GoogleTest with defects outside of the bodies of tests. CMakeLists.txt runs one
// suite after the other and says what has to fail.
#include <gtest/gtest.h>

#include <cstdlib>
#include <sconce/cuda/sanitizer_gtest.hpp>
#include <sconce/sconce_all.hpp>

#include "sanitizer_support.hpp"

namespace {

class SetUp : public testing::Test {
 public:
  static void SetUpTestSuite() { support::race(); }
};
TEST_F(SetUp, FirstFails) {}
TEST_F(SetUp, SecondPasses) {}

class TearDown : public testing::Test {
 public:
  static void TearDownTestSuite() { support::race(); }
};
TEST_F(TearDown, Passes) {}

// Nothing waits within the test that writes behind the block.
TEST(Overrun, Fails) {
  const auto stream = sconce::cuda::getStreamFromPool();
  const sconce::cuda::DeviceBuffer block(1000, stream);
  support::poke(block.get(), 1003, stream);
}
TEST(Overrun, OthersPass) { support::settle(); }

class Environment : public testing::Environment {
 public:
  void TearDown() override {
    if (std::getenv("RACE_IN_ENVIRONMENT") != nullptr) {
      support::race();
    }
  }
};
TEST(Clean, Passes) {}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  testing::AddGlobalTestEnvironment(new Environment);
  sconce::sanitizer::add_gtest_listener();
  return RUN_ALL_TESTS();
}
