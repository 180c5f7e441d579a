// Runs the kernels of linear equations on the CPU, and compares them with plain loops in doubles.
#include <algorithm>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "solvers/field.cuh"

#define DECLARED(name, T)                                                                          \
  extern "C" void sconce_torch_solvers_update_##name(const View<T>, const View<T>, const View<T>,  \
                                                     const i64, const i64, const i64, const u32);  \
  extern "C" void sconce_torch_solvers_substitute_##name(const View<T>, const View<T>, const u32,  \
                                                         const i64, const u32);                    \
  extern "C" void sconce_torch_solvers_cholesky_##name(const View<T>, const u32, i32*, const u32); \
  extern "C" void sconce_torch_solvers_part_##name(const View<T>, const View<T>, const i64,        \
                                                   const i64, const u32);                          \
  extern "C" void sconce_torch_solvers_lu_##name(const View<T>, const i64, const u32, i32*,        \
                                                 const i64, i32*, const u32);                      \
  extern "C" void sconce_torch_solvers_swap_rows_##name(                                           \
      const View<T>, const i64, const i32*, const i64, const i64, const i64, const u32);           \
  extern "C" void sconce_torch_solvers_reflect_##name(const View<T>, const i64, const u32, T*,     \
                                                      const i64);                                  \
  extern "C" void sconce_torch_solvers_join_##name(const View<T>, const View<T>, const T*,         \
                                                   const i64, const u32);                          \
  extern "C" void sconce_torch_solvers_permutation_##name(const View<T>, const i64, const i32*,    \
                                                          const i64, const i64, i32*, const i64);  \
  extern "C" void sconce_torch_solvers_rotate_##name(const View<T>, const View<T>, const i64,      \
                                                     const i64);
SCONCE_FOR_FIELDS(DECLARED)

#define DIVISORS(name, T) \
  extern "C" void sconce_torch_gcd_##name(const T*, const T*, T*, const i64);
#define FOR_INTEGERS(OF) OF(i8, i8) OF(i16, i16) OF(i32, i32) OF(i64, i64) OF(u8, u8)
FOR_INTEGERS(DIVISORS)

namespace {

typedef std::complex<double> Number;

std::mt19937 generator(1);
unsigned cases = 0;
std::string what;

i64 drawn(i64 least, i64 most) {
  return std::uniform_int_distribution<i64>(least, most)(generator);
}
double real() { return std::normal_distribution<double>()(generator); }

// The blocks of a launch; those along x are run by the emulator.
void run(u32 x, u32 y, u32 z, u32 bytes, const std::function<void()>& kernel) {
  for (blockIdx.y = 0; blockIdx.y < y; blockIdx.y++)
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
  static T of(Number value) { return (T)value.real(); }
};
template <class R>
struct From<Complex<R>> {
  static Complex<R> of(Number value) { return {(R)value.real(), (R)value.imag()}; }
};

template <class T>
double within() {
  return sizeof(Real<T>) == 4 ? 3e-4 : 1e-10;
}

// Matrices in memory with gaps that hold NaN, whose rows may lie in any order and direction.
template <class T>
struct Batch {
  i64 count, rows, columns;
  std::vector<T> memory;
  View<T> view;

  Batch(i64 count, i64 rows, i64 columns) : count(count), rows(rows), columns(columns) {
    const bool by_column = drawn(0, 1);
    const i64 inner = by_column ? rows : columns, outer = by_column ? columns : rows;
    const i64 near = drawn(0, 3) == 0 ? 2 : 1, far = inner * near + drawn(0, 2);
    const i64 batch = far * outer + drawn(0, 3);
    const double nan = std::numeric_limits<double>::quiet_NaN();
    memory.assign(batch * count + 8, From<T>::of({nan, nan}));
    view = {memory.data() + 3, by_column ? near : far, by_column ? far : near, batch};
    if (drawn(0, 3) == 0) {
      view.data += (rows - 1) * view.row + (columns - 1) * view.column;
      view.row = -view.row, view.column = -view.column;
    }
    for (i64 e = 0; e < count; e++)
      for (i64 i = 0; i < rows; i++)
        for (i64 j = 0; j < columns; j++) set(e, i, j, {real(), real()});
  }

  // `view` is a pointer into the memory.
  Batch(const Batch&) = delete;

  Number at(i64 e, i64 i, i64 j) const { return number(view.of(e).at(i, j)); }
  void set(i64 e, i64 i, i64 j, Number value) { view.of(e).at(i, j) = From<T>::of(value); }
  std::vector<Number> all() const {
    std::vector<Number> values;
    for (i64 e = 0; e < count; e++)
      for (i64 i = 0; i < rows; i++)
        for (i64 j = 0; j < columns; j++) values.push_back(at(e, i, j));
    return values;
  }
  Number before(const std::vector<Number>& values, i64 e, i64 i, i64 j) const {
    return values[(e * rows + i) * columns + j];
  }
};

void near(Number found, Number expected, double within, const char* which) {
  if (std::abs(found - expected) <= within * std::max(1.0, std::abs(expected))) return;
  std::fprintf(stderr, "%s: %s: %g%+gi instead of %g%+gi\n", what.c_str(), which, found.real(),
               found.imag(), expected.real(), expected.imag());
  std::exit(1);
}

double parts(Number value) { return std::abs(value.real()) + std::abs(value.imag()); }

u32 tiles(i64 size, i64 tile) { return (u32)((size + tile - 1) / tile); }

template <class T>
struct Kernels {
  void (*update)(const View<T>, const View<T>, const View<T>, const i64, const i64, const i64,
                 const u32);
  void (*substitute)(const View<T>, const View<T>, const u32, const i64, const u32);
  void (*cholesky)(const View<T>, const u32, i32*, const u32);
  void (*part)(const View<T>, const View<T>, const i64, const i64, const u32);
  void (*lu)(const View<T>, const i64, const u32, i32*, const i64, i32*, const u32);
  void (*swap_rows)(const View<T>, const i64, const i32*, const i64, const i64, const i64,
                    const u32);
  void (*reflect)(const View<T>, const i64, const u32, T*, const i64);
  void (*join)(const View<T>, const View<T>, const T*, const i64, const u32);
  void (*permutation)(const View<T>, const i64, const i32*, const i64, const i64, i32*, const i64);
  void (*rotate)(const View<T>, const View<T>, const i64, const i64);
  const char* name;

  void begin(const char* kernel) const {
    what = std::string(kernel) + "_" + name;
    cases++;
  }

  void check_update() const {
    begin("update");
    const i64 count = drawn(1, 2), rows = drawn(1, 100), columns = drawn(1, 100);
    const i64 inner = drawn(0, 40);
    const u32 mode = (u32)drawn(0, 15);
    Batch<T> a(count, rows, std::max<i64>(inner, 1)), b(count, std::max<i64>(inner, 1), columns);
    Batch<T> c(count, rows, columns);
    const auto old = c.all();
    run(tiles(rows, 64), tiles(columns, 64), (u32)count, 2 * 16 * 65 * sizeof(T),
        [&] { update(c.view, a.view, b.view, rows, columns, inner, mode); });
    for (i64 e = 0; e < count; e++)
      for (i64 i = 0; i < rows; i++)
        for (i64 j = 0; j < columns; j++) {
          if ((mode & 8) && i < j) continue;
          Number sum = 0;
          for (i64 k = 0; k < inner; k++) {
            const Number left = a.at(e, i, k), right = b.at(e, k, j);
            sum += (mode & 2 ? conj(left) : left) * (mode & 4 ? conj(right) : right);
          }
          near(c.at(e, i, j), mode & 1 ? c.before(old, e, i, j) - sum : sum, within<T>(),
               "product");
        }
  }

  void check_substitute() const {
    begin("substitute");
    const i64 count = drawn(1, 2), size = drawn(1, PANEL), columns = drawn(1, 70);
    const u32 flags = (u32)drawn(0, 3);
    Batch<T> l(count, size, size), x(count, size, columns);
    for (i64 e = 0; e < count; e++)
      for (i64 i = 0; i < size; i++)
        for (i64 j = 0; j < size; j++) {
          const double nan = std::numeric_limits<double>::quiet_NaN();
          l.set(e, i, j, i < j ? Number(nan, nan) : i == j ? Number(2, 0.5) : l.at(e, i, j) * 0.1);
        }
    const auto old = x.all();
    run(tiles(columns, PANEL), 1, (u32)count, 2 * PANEL * (PANEL + 1) * sizeof(T),
        [&] { substitute(l.view, x.view, (u32)size, columns, flags); });
    for (i64 e = 0; e < count; e++)
      for (i64 i = 0; i < size; i++)
        for (i64 j = 0; j < columns; j++) {
          Number sum = 0;
          for (i64 k = 0; k <= i; k++) {
            const Number factor = flags & 2 ? conj(l.at(e, i, k)) : l.at(e, i, k);
            sum += ((flags & 1) && i == k ? 1.0 : factor) * x.at(e, k, j);
          }
          near(sum, x.before(old, e, i, j), within<T>(), "right side");
        }
  }

  void check_cholesky() const {
    begin("cholesky");
    const i64 count = drawn(1, 3), size = drawn(1, PANEL), wrong = drawn(0, 2 * size);
    Batch<T> a(count, size, size);
    for (i64 e = 0; e < count; e++)
      for (i64 i = 0; i < size; i++)
        for (i64 j = 0; j <= i; j++) {
          const double pivot = e == 0 && i == wrong ? -1 : 3.0 + (double)size;
          a.set(e, i, j, i == j ? Number(pivot, 0) : a.at(e, i, j) * 0.3);
        }
    const auto old = a.all();
    std::vector<i32> info(count, 0);
    run((u32)count, 1, 1, PANEL * (PANEL + 1) * sizeof(T),
        [&] { cholesky(a.view, (u32)size, info.data(), 64); });
    for (i64 e = 0; e < count; e++) {
      const bool fails = e == 0 && wrong < size;
      near(info[e], fails ? 65.0 + (double)wrong : 0.0, 0, "info");
      for (i64 i = 0; i < size && !fails; i++)
        for (i64 j = 0; j <= i; j++) {
          Number sum = 0;
          for (i64 k = 0; k <= j; k++) sum += a.at(e, i, k) * conj(a.at(e, j, k));
          near(sum, a.before(old, e, i, j), within<T>() * (double)size, "product");
        }
    }
  }

  void check_part() const {
    begin("part");
    const i64 count = drawn(1, 2), rows = drawn(1, 40), columns = drawn(1, 40);
    const u32 parts = (u32)drawn(0, 15);
    Batch<T> to(count, rows, columns), from(count, rows, columns);
    run(tiles(rows * columns, THREADS), 1, (u32)count, 0,
        [&] { part(to.view, from.view, rows, columns, parts); });
    for (i64 e = 0; e < count; e++)
      for (i64 i = 0; i < rows; i++)
        for (i64 j = 0; j < columns; j++) {
          const bool copied = parts & (i > j ? 1 : i < j ? 2 : 4);
          const double other = i == j && (parts & 8) ? 1 : 0;
          near(to.at(e, i, j), copied ? from.at(e, i, j) : Number(other), 0, "element");
        }
  }

  void check_lu() const {
    begin("lu");
    const i64 count = drawn(1, 2), columns = drawn(1, PANEL), first = 7;
    const i64 rows = drawn(0, 2) == 0 ? drawn(200, 600) : drawn(1, 90);
    const i64 least = std::min(rows, columns), zero = drawn(0, 3) == 0 ? drawn(0, columns - 1) : -1;
    Batch<T> a(count, rows, columns);
    for (i64 i = 0; i < rows && zero >= 0; i++) a.set(0, i, zero, 0);
    const auto old = a.all();
    std::vector<i32> pivots(count * least, -1), info(count, 0);
    run((u32)count, 1, 1, 16 * THREADS,
        [&] { lu(a.view, rows, (u32)columns, pivots.data(), least, info.data(), (u32)first); });
    for (i64 e = 0; e < count; e++) {
      const bool fails = e == 0 && zero >= 0 && zero < least;
      near(info[e], fails ? (double)(first + zero + 1) : 0.0, 0, "info");
      std::vector<i64> order(rows);
      std::iota(order.begin(), order.end(), 0);
      for (i64 k = 0; k < least; k++) std::swap(order[k], order[pivots[e * least + k] - 1 - first]);
      for (i64 i = 0; i < rows; i++)
        for (i64 j = 0; j < columns; j++) {
          Number sum = 0;
          for (i64 k = 0; k <= std::min({i, j, least - 1}); k++) {
            sum += (i == k ? Number(1) : a.at(e, i, k)) * a.at(e, k, j);
          }
          near(sum, a.before(old, e, order[i], j), within<T>(), "product");
          // Nothing below a pivot was larger.
          const double pivot = i > j ? parts(a.at(e, j, j)) : 0;
          const double below = i > j ? parts(a.at(e, i, j) * a.at(e, j, j)) : 0;
          if (below > pivot * (1 + within<T>())) near(below, pivot, 0, "pivot");
        }
    }
  }

  void check_swap_rows() const {
    begin("swap_rows");
    const i64 count = drawn(1, 2), rows = drawn(1, 40), columns = drawn(1, 300), first = 5;
    const i64 pivots_count = drawn(1, rows), backwards = drawn(0, 1);
    Batch<T> a(count, rows, columns);
    const auto old = a.all();
    std::vector<i32> pivots;
    for (i64 at = 0; at < count * pivots_count; at++) {
      pivots.push_back((i32)(first + 1 + drawn(at % pivots_count, rows - 1)));
    }
    run(tiles(columns, THREADS), 1, (u32)count, 0, [&] {
      swap_rows(a.view, columns, pivots.data(), pivots_count, pivots_count, first, (u32)backwards);
    });
    for (i64 e = 0; e < count; e++) {
      std::vector<i64> order(rows);
      std::iota(order.begin(), order.end(), 0);
      for (i64 k = 0; k < pivots_count; k++) {
        const i64 at = backwards ? pivots_count - 1 - k : k;
        std::swap(order[at], order[pivots[e * pivots_count + at] - 1 - first]);
      }
      for (i64 i = 0; i < rows; i++)
        for (i64 j = 0; j < columns; j++)
          near(a.at(e, i, j), a.before(old, e, order[i], j), 0, "element");
    }
  }

  void check_reflect() const {
    begin("reflect");
    const i64 count = drawn(1, 2), rows = drawn(1, 80), columns = drawn(1, PANEL);
    const i64 least = std::min(rows, columns);
    Batch<T> a(count, rows, columns);
    // A column that is 0 already.
    for (i64 i = 0; i < rows && drawn(0, 2) == 0; i++) a.set(0, i, 0, 0);
    const auto old = a.all();
    std::vector<T> tau(count * least, zero<T>());
    run((u32)count, 1, 1, 16 * THREADS,
        [&] { reflect(a.view, rows, (u32)columns, tau.data(), least); });
    for (i64 e = 0; e < count; e++) {
      // The reflections, the last one first, make the columns of what was there again.
      for (i64 j = 0; j < columns; j++) {
        std::vector<Number> column(rows);
        for (i64 i = 0; i <= std::min(j, rows - 1); i++) column[i] = a.at(e, i, j);
        for (i64 k = least - 1; k >= 0; k--) {
          Number sum = column[k];
          for (i64 i = k + 1; i < rows; i++) sum += conj(a.at(e, i, k)) * column[i];
          sum *= number(tau[e * least + k]);
          column[k] -= sum;
          for (i64 i = k + 1; i < rows; i++) column[i] -= a.at(e, i, k) * sum;
        }
        for (i64 i = 0; i < rows; i++) {
          near(column[i], a.before(old, e, i, j), 10 * within<T>(), "column");
        }
      }
    }
  }

  void check_join() const {
    begin("join");
    const i64 count = drawn(1, 2), size = drawn(1, PANEL);
    Batch<T> t(count, size, size), gram(count, size, size);
    std::vector<T> tau;
    for (i64 at = 0; at < count * size; at++)
      tau.push_back(From<T>::of({real() * 0.2, real() * 0.2}));
    run((u32)count, 1, 1, PANEL * (PANEL + 1) * sizeof(T),
        [&] { join(t.view, gram.view, tau.data(), size, (u32)size); });
    for (i64 e = 0; e < count; e++)
      for (i64 j = 0; j < size; j++)
        for (i64 i = 0; i < size; i++) {
          const Number factor = number(tau[e * size + j]);
          Number sum = 0;
          for (i64 l = i; l < j; l++) sum += t.at(e, i, l) * gram.at(e, l, j);
          near(t.at(e, i, j), i < j ? -factor * sum : i == j ? factor : 0, within<T>(), "factor");
        }
  }

  void check_permutation() const {
    begin("permutation");
    const i64 count = drawn(1, 300), rows = drawn(1, 20), pivots_count = drawn(1, rows);
    Batch<T> to(count, rows, rows);
    std::vector<i32> pivots, work(count * rows, -1);
    for (i64 e = 0; e < count; e++)
      for (i64 i = 0; i < rows; i++)
        for (i64 j = 0; j < rows; j++) to.set(e, i, j, 0);
    for (i64 at = 0; at < count * pivots_count; at++) {
      pivots.push_back((i32)drawn(at % pivots_count + 1, rows));
    }
    run(tiles(count, THREADS), 1, 1, 0, [&] {
      permutation(to.view, rows, pivots.data(), pivots_count, pivots_count, work.data(), count);
    });
    for (i64 e = 0; e < count; e++) {
      std::vector<i64> order(rows);
      std::iota(order.begin(), order.end(), 0);
      for (i64 k = 0; k < pivots_count; k++) {
        std::swap(order[k], order[pivots[e * pivots_count + k] - 1]);
      }
      for (i64 i = 0; i < rows; i++)
        for (i64 j = 0; j < rows; j++)
          near(to.at(e, i, j), order[j] == i ? 1.0 : 0.0, 0, "element");
    }
  }

  void check_rotate() const {
    begin("rotate");
    const i64 count = drawn(1, 2), columns = drawn(0, 3) == 0 ? drawn(60, 75) : drawn(1, 12);
    const i64 rows = columns + drawn(0, 5);
    Batch<T> w(count, rows, columns), v(count, columns, columns);
    for (i64 e = 0; e < count; e++) {
      for (i64 i = 0; i < columns; i++)
        for (i64 j = 0; j < columns; j++) v.set(e, i, j, i == j ? 1 : 0);
      // A column that is 0 stays.
      for (i64 i = 0; i < rows && drawn(0, 2) == 0; i++) w.set(e, i, 0, 0);
      // Squares of products with so small a column have few digits.
      const double tiny = sizeof(Real<T>) == 4 ? 1e-21 : 1e-161;
      const i64 last = columns - 1;
      for (i64 i = 0, small = drawn(0, 1); small && i < rows; i++) {
        w.set(e, i, last, w.at(e, i, last) * tiny);
      }
    }
    const auto old = w.all();
    run((u32)count, 1, 1, 32 * THREADS + 16, [&] { rotate(w.view, v.view, rows, columns); });
    const double most = 10 * within<T>();
    for (i64 e = 0; e < count; e++)
      for (i64 j = 0; j < columns; j++) {
        for (i64 other = 0; other < columns; other++) {
          Number inner = 0, own = 0;
          for (i64 i = 0; i < rows; i++) inner += conj(w.at(e, i, other)) * w.at(e, i, j);
          for (i64 i = 0; i < columns; i++) own += conj(v.at(e, i, other)) * v.at(e, i, j);
          if (other != j) near(inner, 0, most * (double)rows, "columns");
          near(own, other == j ? 1 : 0, most, "rotations");
        }
        for (i64 i = 0; i < rows; i++) {
          Number sum = 0;
          for (i64 k = 0; k < columns; k++) sum += w.before(old, e, i, k) * v.at(e, k, j);
          near(w.at(e, i, j), sum, most, "product");
        }
      }
  }

  void check_all() const {
    check_update();
    check_substitute();
    check_cholesky();
    check_part();
    check_lu();
    check_swap_rows();
    check_reflect();
    check_join();
    check_permutation();
    check_rotate();
  }
};

#define OF_FIELD(field, T)                             \
  Kernels<T>{sconce_torch_solvers_update_##field,      \
             sconce_torch_solvers_substitute_##field,  \
             sconce_torch_solvers_cholesky_##field,    \
             sconce_torch_solvers_part_##field,        \
             sconce_torch_solvers_lu_##field,          \
             sconce_torch_solvers_swap_rows_##field,   \
             sconce_torch_solvers_reflect_##field,     \
             sconce_torch_solvers_join_##field,        \
             sconce_torch_solvers_permutation_##field, \
             sconce_torch_solvers_rotate_##field,      \
             #field}                                   \
      .check_all();

template <class T>
void check_divisors(const char* name, void (*kernel)(const T*, const T*, T*, const i64)) {
  what = std::string("gcd_") + name;
  cases++;
  const i64 count = drawn(1, 3000), least = (T)-1 < (T)0 ? -128 : 0;
  std::vector<T> first(count), second(count), result(count);
  for (i64 at = 0; at < count; at++) {
    first[at] = (T)drawn(least, 127), second[at] = (T)drawn(least, 127);
  }
  first[0] = std::numeric_limits<T>::min(), second[0] = (T)-1;
  run(tiles(count, 4 * THREADS), 1, 1, 0,
      [&] { kernel(first.data(), second.data(), result.data(), count); });
  for (i64 at = 1; at < count; at++) {
    i64 expected = std::gcd((i64)first[at], (i64)second[at]);
    // The smallest number of 8 bits has no absolute value.
    if (std::abs((i64)(T)expected) != expected) continue;
    near((double)std::abs((i64)result[at]), (double)expected, 0, "divisor");
  }
}

#define OF_INTEGER(integer, T) check_divisors<T>(#integer, sconce_torch_gcd_##integer);

}  // namespace

int main(int, char** arguments) {
  for (int round = std::atoi(arguments[1]); round > 0; round--) {
    SCONCE_FOR_FIELDS(OF_FIELD)
    FOR_INTEGERS(OF_INTEGER)
  }
  std::printf("%u cases\n", cases);
}
