// Runs the kernels of functions of real and complex numbers on the CPU, and compares them with the
// C library.
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "solvers/field.cuh"

#define DECLARED(name, T) \
  extern "C" void sconce_torch_transcendental_##name(T*, const i64, const u32);
SCONCE_FOR_FIELDS(DECLARED)

namespace {

typedef std::complex<double> Number;

std::mt19937 generator(1);
unsigned cases = 0;

const double INFINITE = std::numeric_limits<double>::infinity();
const double NAN_ = std::numeric_limits<double>::quiet_NaN();
const double SPECIAL[] = {0.0, -0.0, 1.0,  -1.0,  0.5,   -0.5,  2.0,      -2.0,      1e-8,
                          1e8, -1e8, 30.0, -30.0, 100.0, 1e-20, INFINITE, -INFINITE, NAN_};

double drawn() {
  if (generator() % 3 == 0) return SPECIAL[generator() % (sizeof(SPECIAL) / sizeof(double))];
  const double size = std::exp2(std::uniform_real_distribution<double>(-12, 4)(generator));
  return generator() % 2 ? size : -size;
}

Number expected(u32 function, Number z) {
  const double x = z.real(), y = z.imag();
  switch (function) {
    case 0:
      return std::acos(z);
    case 1:
      return std::acosh(z);
    case 2:
      return std::asin(z);
    case 3:
      return std::asinh(z);
    case 4:
      return std::atan(z);
    case 5:
      return std::atanh(z);
    case 6:
      return std::cosh(z);
    case 7:
      return {std::expm1(x) * std::cos(y) - 2 * std::pow(std::sin(y / 2), 2),
              std::exp(x) * std::sin(y)};
    case 8:
      return std::log(z) / std::log(10.0);
    case 9:
      return std::log(Number(x + 1, y));
    case 10:
      return std::log(z) / std::log(2.0);
    case 11:
      return std::sinh(z);
    default:
      return std::tan(z);
  }
}

double expected(u32 function, double x) {
  double (*const functions[])(double) = {std::acos,  std::acosh, std::asin,  std::asinh, std::atan,
                                         std::atanh, std::cosh,  std::expm1, std::log10, std::log1p,
                                         std::log2,  std::sinh,  std::tan};
  return functions[function](x);
}

const char* const NAMES[] = {"acos",  "acosh", "asin",  "asinh", "atan", "atanh", "cosh",
                             "expm1", "log10", "log1p", "log2",  "sinh", "tan"};

// Both are NaN, or the same infinity, or zeros of one sign, or near.
bool are_near(double found, double wanted, double within, bool has_signs) {
  if (std::isnan(wanted)) return std::isnan(found);
  if (std::isinf(wanted))
    return has_signs ? found == wanted : std::fabs(found) == std::fabs(wanted);
  if (has_signs && wanted == 0 && found == 0) return std::signbit(found) == std::signbit(wanted);
  return std::fabs(found - wanted) <= within * std::fmax(1e-2, std::fabs(wanted));
}

void compare(u32 function, Number from, Number found, Number wanted, double within) {
  // C leaves some signs open where a part of the result is NaN; and log(1 + z) has no digits where
  // z is small.
  const bool has_signs = !std::isnan(wanted.real()) && !std::isnan(wanted.imag()) && function != 9;
  if (are_near(found.real(), wanted.real(), within, has_signs) &&
      are_near(found.imag(), wanted.imag(), within, has_signs)) {
    return;
  }
  std::fprintf(stderr, "%s(%g%+gi): %.17g%+.17gi instead of %.17g%+.17gi\n", NAMES[function],
               from.real(), from.imag(), found.real(), found.imag(), wanted.real(), wanted.imag());
  std::exit(1);
}

template <class T>
struct Of {
  static T drawn() { return (T)::drawn(); }
  static Number number(T value) { return value; }
  static Number wanted(u32 function, T value) { return (T)expected(function, (double)value); }
};
template <class R>
struct Of<Complex<R>> {
  static Complex<R> drawn() { return {(R)::drawn(), (R)::drawn()}; }
  static Number number(Complex<R> value) { return {value.re, value.im}; }
  static Number wanted(u32 function, Complex<R> value) {
    const Number found = expected(function, number(value));
    return {(R)found.real(), (R)found.imag()};
  }
};

template <class T>
struct Launch {
  void (*kernel)(T*, const i64, const u32);
  T* data;
  i64 count;
  u32 function;
};

template <class T>
void check(void (*kernel)(T*, const i64, const u32)) {
  const double within = sizeof(Real<T>) == 4 ? 1e-6 : 1e-11;
  for (u32 function = 0; function < 13; function++, cases++) {
    std::vector<T> from(generator() % 3000 + 1);
    for (T& value : from) value = Of<T>::drawn();
    std::vector<T> found = from;
    // What is behind the end stays.
    found.push_back(from[0]);
    Launch<T> launch = {kernel, found.data(), (i64)from.size(), function};
    run_blocks((u32)((from.size() + 4 * THREADS - 1) / (4 * THREADS)), THREADS, 0, generator(),
               [](const void* passed) {
                 const Launch<T>& of = *(const Launch<T>*)passed;
                 of.kernel(of.data, of.count, of.function);
               },
               &launch);
    for (size_t at = 0; at < from.size(); at++) {
      compare(function, Of<T>::number(from[at]), Of<T>::number(found[at]),
              Of<T>::wanted(function, from[at]), within);
    }
    if (std::memcmp(&found.back(), &from[0], sizeof(T)) != 0) fail("behind the end");
  }
}

}  // namespace

#define CHECKED(name, T) check<T>(sconce_torch_transcendental_##name);

int main(int, char** arguments) {
  for (int round = std::atoi(arguments[1]); round > 0; round--) {
    SCONCE_FOR_FIELDS(CHECKED)
  }
  std::printf("%u cases\n", cases);
}
