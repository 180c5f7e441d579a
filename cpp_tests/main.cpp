// Prints the backend of the tests, then runs them.
#include <gtest/gtest.h>

#include <cstdio>

#include "support.hpp"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (!testing::GTEST_FLAG(list_tests)) {
    std::printf("backend: %s\n", support::wants_cuda() ? "cuda" : "sim");
  }
  return RUN_ALL_TESTS();
}
