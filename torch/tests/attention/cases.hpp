// What the programs that check kernels of attention have in common.
#pragma once

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

#include "attention/arguments.cuh"

namespace {

std::mt19937 generator(1);

u32 drawn(u32 least, u32 most) {
  return std::uniform_int_distribution<u32>(least, most)(generator);
}
bool one_in(u32 count) { return drawn(1, count) == 1; }

template <typename T>
u32 elements_of_chunk() {
  return 16 / sizeof(T);
}

double rounding(float) { return 1e-6; }
double rounding(Half) { return 0x1p-11; }
double rounding(Brain) { return 0x1p-8; }

// Runs a kernel of attention, or of sequences.
template <typename A>
void launch(void (*kernel)(const A), const A& attention, u32 blocks, u32 threads, u32 bytes) {
  struct Call {
    void (*kernel)(const A);
    A attention;
  };
  const Call call = {kernel, attention};
  run_blocks(
      blocks, threads, bytes, generator(),
      [](const void* argument) {
        const Call& call = *(const Call*)argument;
        call.kernel(call.attention);
      },
      &call);
}

[[noreturn]] void differs(const std::string& what, double found, double expected) {
  std::fprintf(stderr, "%s: %g instead of %g\n", what.c_str(), found, expected);
  std::exit(1);
}

}  // namespace
