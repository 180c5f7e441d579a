// Prints what c10's numbers compute. Needs the headers of PyTorch and nothing of its libraries:
// scripts/check-numbers-against-torch compiles and runs it.
#ifndef __host__
#define __host__
#define __device__
#endif
#include <ATen/AccumulateType.h>
#include <ATen/NumericUtils.h>
#include <ATen/OpMathType.h>
#include <c10/util/BFloat16-math.h>
#include <c10/util/TypeCast.h>
#include <c10/util/complex.h>

#include <ATen/cuda/NumericLimits.cuh>

#include "values.hpp"

int main() {
  const numbers::Table table = numbers::all();
  for (const std::string& line : table.lines()) {
    std::printf("%s\n", line.c_str());
  }
  return 0;
}
