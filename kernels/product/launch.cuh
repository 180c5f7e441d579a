// What the kernels of products are launched with.
#pragma once

#include "../reduce/machine.cuh"

struct Matrix {
  u64 address;
  // In elements.
  i64 batch, row, column;
};

struct Product {
  Matrix a, b, c;
  u32 m, n, k, batch;
  double alpha, beta;
};

// Rows and columns of a tile, and threads of a block; these are in `kernels/small_product.rs` too.
constexpr u32 TILE = 16;
constexpr u32 THREADS = TILE * TILE;
