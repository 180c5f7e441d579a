// The numbers of operations, as in `crates/math/src/arithmetic/operation.rs`.
#pragma once

enum Operation {
  COPY = 0,
  NEG = 1,
  ABS = 2,
  SIGN = 3,
  RELU = 4,
  NOT = 5,
  IS_NAN = 6,
  IS_FINITE = 7,
  RANGE = 8,
  LINSPACE = 9,
  FLOOR = 10,
  CEIL = 11,
  ROUND = 12,
  TRUNC = 13,
  SQRT = 14,
  RSQRT = 15,
  RECIPROCAL = 16,
  EXP = 17,
  LOG = 18,
  SIN = 19,
  COS = 20,
  TANH = 21,
  SIGMOID = 22,
  SILU = 23,
  ERF = 24,
  GELU_ERF = 25,
  GELU_TANH = 26,
  ADD = 32,
  MUL = 33,
  DIV = 34,
  FLOOR_DIVIDE = 35,
  TRUNC_DIVIDE = 36,
  REMAINDER = 37,
  POW = 38,
  MINIMUM = 39,
  MAXIMUM = 40,
  EQ = 41,
  NE = 42,
  LT = 43,
  LE = 44,
  AND = 45,
  OR = 46,
  XOR = 47,
  WHERE = 64,
  CLAMP = 65
};

// Whether the result is 0 or 1, whatever the type of the computation is.
static __device__ __forceinline__ bool is_predicate(unsigned int operation) {
  return operation == IS_NAN || operation == IS_FINITE || (operation >= EQ && operation <= LE);
}
