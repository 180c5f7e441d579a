// Products of 200 random shapes against the host, of every type, with TF32 enabled and disabled:
// transposes, batches, strides of every kind, factors. Runs on a GPU with SCONCE_TEST_BACKEND=cuda,
// else on the simulator.
#include <array>
#include <iostream>
#include <sconce/sconce_all.hpp>
#include <string>

#include "../library_references.hpp"
#include "libraries.hpp"
#include "places.hpp"

namespace {

using namespace sconce::cuda;
using gpu::Engine;
using gpu::expect;
using gpu::pick;
using support::Numbers;

/// A layout of a matrix of these sizes: packed, with gaps between rows or columns, column-major; a
/// factor may also repeat elements.
DimVector any_strides(Engine& engine, const DimVector& sizes, bool written) {
  const std::int64_t kind = pick(engine, 0, 5);
  if (kind < 2) {
    return {};
  }
  const std::int64_t gap = pick(engine, 0, 3);
  const std::int64_t rows = std::max<std::int64_t>(sizes[1], 1);
  const std::int64_t columns = std::max<std::int64_t>(sizes[2], 1);
  DimVector strides = {rows * (columns + gap), columns + gap, 1};
  if (kind == 3) {
    strides = {columns * (rows + gap), 1, rows + gap};
  } else if (kind == 4) {
    strides = {rows * (2 * columns + gap), 2 * columns + gap, 2};
  }
  if (!written && kind == 5) {
    strides[0] = 0;
  }
  return strides;
}

Matmul any_product(Engine& engine) {
  const auto any_size = [&] {
    return pick(engine, 0, 30) == 0 ? pick(engine, 0, 1) : pick(engine, 1, 70);
  };
  Matmul what{any_size(), any_size(), any_size()};
  what.batch = pick(engine, 0, 1) == 0 ? 1 : pick(engine, 1, 4);
  what.alpha = pick(engine, 0, 2) == 0 ? 1 : static_cast<double>(pick(engine, -8, 8)) / 4;
  what.beta = pick(engine, 0, 2) == 0 ? 0 : static_cast<double>(pick(engine, -8, 8)) / 4;
  what.transpose_a = pick(engine, 0, 1) == 0;
  what.transpose_b = pick(engine, 0, 1) == 0;
  const DimVector a = what.transpose_a ? DimVector{what.batch, what.k, what.m}
                                       : DimVector{what.batch, what.m, what.k};
  const DimVector b = what.transpose_b ? DimVector{what.batch, what.n, what.k}
                                       : DimVector{what.batch, what.k, what.n};
  what.a_strides = any_strides(engine, a, false);
  what.b_strides = any_strides(engine, b, false);
  what.c_strides = any_strides(engine, {what.batch, what.m, what.n}, true);
  return what;
}

std::string words_of(const Matmul& what) {
  using gpu::words_of;
  return "m, n, k, batch " + words_of(DimVector{what.m, what.n, what.k, what.batch}) + " alpha " +
         std::to_string(what.alpha) + " beta " + std::to_string(what.beta) + " transposed " +
         std::to_string(what.transpose_a) + std::to_string(what.transpose_b) + " strides " +
         words_of(what.a_strides) + words_of(what.b_strides) + words_of(what.c_strides);
}

double error_of(const Matmul& what, ScalarType type, unsigned seed) {
  const auto numbers = [&](const DimVector& sizes, const DimVector& strides) {
    return support::random_numbers(support::reach(sizes, strides), ++seed, support::bits_for(type));
  };
  const Numbers a = numbers(what.transpose_a ? DimVector{what.batch, what.k, what.m}
                                             : DimVector{what.batch, what.m, what.k},
                            what.a_strides);
  const Numbers b = numbers(what.transpose_b ? DimVector{what.batch, what.n, what.k}
                                             : DimVector{what.batch, what.k, what.n},
                            what.b_strides);
  const Numbers c = numbers({what.batch, what.m, what.n}, what.c_strides);
  support::OnDevice device_a(a, type);
  support::OnDevice device_b(b, type);
  support::OnDevice device_c(c, type);
  matmul(what, type, device_a.get(), device_b.get(), device_c.get());
  return support::worst_error(device_c.read(), support::multiplied(what, a, b, c));
}

void products_are_right(ScalarType type, const char* name, bool tf32) {
  globalContext().setAllowTF32CuBLAS(tf32);
  gpu::compare(name, support::tolerance(type, tf32), 51, [&](Engine& engine, unsigned seed) {
    const Matmul what = any_product(engine);
    return std::pair(error_of(what, type, seed), words_of(what));
  });
}

}  // namespace

int main() {
  return gpu::program(
      "libraries_products",
      [] {
        products_are_right(ScalarType::Double, "F64", false);
        products_are_right(ScalarType::Float, "F32", false);
        products_are_right(ScalarType::Float, "F32 with TF32 allowed", true);
        products_are_right(ScalarType::Half, "F16", true);
        products_are_right(ScalarType::BFloat16, "BF16", true);
        expect(gpu::worst_of("F32 with TF32 allowed") > 10 * gpu::worst_of("F32"),
               "TF32 makes a difference");
        return gpu::verdict("products");
      },
      gpu::either_backend());
}
