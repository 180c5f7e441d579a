// Runs the kernels of symmetric and Hermitian matrices on the CPU. Solutions solve the equations,
// and pivots keep the factors small.
#include <algorithm>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <random>
#include <vector>

#include "solvers/field.cuh"

#define DECLARED(name, T)                                                                      \
  extern "C" void sconce_torch_solvers_symmetric_factor_##name(const View<T>, const i64, i32*, \
                                                               const i64, i32*, const u32);    \
  extern "C" void sconce_torch_solvers_symmetric_solve_##name(                                 \
      const View<T>, const i64, const i32*, const i64, const View<T>, const i64, const u32);
SCONCE_FOR_FIELDS(DECLARED)

namespace {

typedef std::complex<double> Number;

std::mt19937 generator(1);
unsigned cases = 0, blocks_of_two = 0;

i64 drawn(i64 least, i64 most) {
  return std::uniform_int_distribution<i64>(least, most)(generator);
}
double real() { return std::normal_distribution<double>()(generator); }

void run(u32 x, u32 z, u32 bytes, const std::function<void()>& kernel) {
  for (blockIdx.z = 0; blockIdx.z < z; blockIdx.z++)
    run_blocks(
        x, THREADS, bytes, generator(),
        [](const void* passed) { (*(const std::function<void()>*)passed)(); }, &kernel);
}

Number number(float value) { return value; }
Number number(double value) { return value; }
template <class R>
Number number(Complex<R> value) {
  return {value.re, value.im};
}
template <class T>
struct From {
  static constexpr bool IS_COMPLEX = false;
  static T of(Number value) { return (T)value.real(); }
};
template <class R>
struct From<Complex<R>> {
  static constexpr bool IS_COMPLEX = true;
  static Complex<R> of(Number value) { return {(R)value.real(), (R)value.imag()}; }
};

template <class T>
void check(const char* name,
           void (*factor)(const View<T>, const i64, i32*, const i64, i32*, const u32),
           void (*solve)(const View<T>, const i64, const i32*, const i64, const View<T>, const i64,
                         const u32)) {
  cases++;
  const double within = sizeof(Real<T>) == 4 ? 1e-3 : 1e-9;
  const i64 count = drawn(1, 3), columns = drawn(0, 3) == 0 ? drawn(250, 300) : drawn(1, 5);
  const i64 size = drawn(0, 2) == 0 ? drawn(30, 60) : drawn(1, 10);
  const bool is_hermitian = drawn(0, 1), has_zeros = drawn(0, 1), is_singular = drawn(0, 3) == 0;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  // What is above the diagonal, and the imaginary part of a Hermitian diagonal, is not read.
  std::vector<T> memory(count * size * size), sides(count * size * columns);
  std::vector<Number> whole(count * size * size), right(sides.size());
  const auto place = [&](i64 e, i64 i, i64 j) { return (e * size + j) * size + i; };
  for (i64 e = 0; e < count; e++)
    for (i64 j = 0; j < size; j++)
      for (i64 i = j; i < size; i++) {
        const bool is_zero = (has_zeros && i == j) || (is_singular && j == 0 && e == 0);
        Number value = is_zero ? 0 : Number(real(), From<T>::IS_COMPLEX ? real() : 0);
        memory[place(e, i, j)] = From<T>::of(value);
        if (i > j) memory[place(e, j, i)] = From<T>::of({nan, nan});
        value = number(memory[place(e, i, j)]);
        if (i == j && is_hermitian) value = value.real();
        whole[place(e, i, j)] = value;
        whole[place(e, j, i)] = is_hermitian ? std::conj(value) : value;
      }
  for (size_t at = 0; at < sides.size(); at++) {
    sides[at] = From<T>::of({real(), From<T>::IS_COMPLEX ? real() : 0});
    right[at] = number(sides[at]);
  }
  const View<T> a = {memory.data(), 1, size, size * size};
  const View<T> x = {sides.data(), columns, 1, size * columns};
  std::vector<i32> pivots(count * size, 0), info(count, 0);
  run((u32)count, 1, 16 * THREADS,
      [&] { factor(a, size, pivots.data(), size, info.data(), is_hermitian); });
  for (const i32 pivot : pivots) blocks_of_two += pivot < 0;
  run((u32)((columns + THREADS - 1) / THREADS), (u32)count, 0,
      [&] { solve(a, size, pivots.data(), size, x, columns, is_hermitian); });
  const auto wrong = [&](const char* what, double found) {
    std::fprintf(stderr, "%s, %lld rows, %d %d: %s: %g\n", name, size, is_hermitian, has_zeros,
                 what, found);
    std::exit(1);
  };
  for (i64 e = 0; e < count; e++) {
    const bool fails = size == 1 ? whole[place(e, 0, 0)] == 0.0 : is_singular && e == 0;
    if ((info[e] != 0) != fails) wrong("info", info[e]);
    double growth = 0, largest = 1;
    for (i64 j = 0; j < size; j++)
      for (i64 i = j; i < size; i++) {
        growth = std::max(growth, std::abs(number(memory[place(e, i, j)])));
      }
    // Each step multiplies the largest element by at most 1 + 1 / 0.64.
    if (!fails && !(growth < 1e4)) wrong("growth", growth);
    for (i64 j = 0; j < columns && !fails; j++)
      for (i64 i = 0; i < size; i++) {
        Number sum = 0;
        for (i64 k = 0; k < size; k++) {
          const Number solution = number(sides[(e * size + k) * columns + j]);
          sum += whole[place(e, i, k)] * solution;
          largest = std::max(largest, std::abs(solution));
        }
        const double apart = std::abs(sum - right[(e * size + i) * columns + j]);
        if (!(apart <= within * largest)) wrong("right side", apart);
      }
  }
}

}  // namespace

#define CHECKED(name, T)                                        \
  check<T>(#name, sconce_torch_solvers_symmetric_factor_##name, \
           sconce_torch_solvers_symmetric_solve_##name);

int main(int, char** arguments) {
  for (int round = std::atoi(arguments[1]); round > 0; round--) {
    SCONCE_FOR_FIELDS(CHECKED)
  }
  if (blocks_of_two < 20) fail("too few blocks of two rows");
  std::printf("%u cases\n", cases);
}
