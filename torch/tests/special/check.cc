// Runs the kernels of special functions on the CPU, and compares them with the functions of one
// element that operations call there.
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "element.cuh"

#define FOR_FUNCTIONS(OF)            \
  OF(airy_ai)                        \
  OF(digamma)                        \
  OF(i0e)                            \
  OF(i1e)                            \
  OF(modified_bessel_k0)             \
  OF(modified_bessel_k1)             \
  OF(ndtri)                          \
  OF(polygamma)                      \
  OF(scaled_modified_bessel_k0)      \
  OF(scaled_modified_bessel_k1)      \
  OF(spherical_bessel_j0)            \
  OF(zeta)                           \
  OF(igamma)                         \
  OF(igammac)                        \
  OF(chebyshev_polynomial_t)         \
  OF(chebyshev_polynomial_u)         \
  OF(chebyshev_polynomial_v)         \
  OF(chebyshev_polynomial_w)         \
  OF(hermite_polynomial_h)           \
  OF(hermite_polynomial_he)          \
  OF(laguerre_polynomial_l)          \
  OF(legendre_polynomial_p)          \
  OF(shifted_chebyshev_polynomial_t) \
  OF(shifted_chebyshev_polynomial_u) \
  OF(shifted_chebyshev_polynomial_v) \
  OF(shifted_chebyshev_polynomial_w)

typedef double Value(double, double, bool);
typedef void Kernel(const void*, const i64, const void*, const i64, const double, void*, const i64,
                    const u32);

#define DECLARED(name)                                  \
  extern "C" Value sconce_torch_special_##name##_value; \
  extern "C" Kernel sconce_torch_special_##name;
FOR_FUNCTIONS(DECLARED)

namespace {

constexpr u32 THREADS = 256, EACH = 4;

std::mt19937 generator(1);
unsigned cases = 0;

i64 drawn(i64 least, i64 most) {
  return std::uniform_int_distribution<i64>(least, most)(generator);
}

// Numbers of several sizes, whole ones, and those at edges.
double operand() {
  static const double edges[] = {0, -0.0, 1, -1, 0.5, INFINITY, -INFINITY, NAN, 8, 2, 1e4, -20};
  switch (drawn(0, 5)) {
    case 0:
      return edges[drawn(0, sizeof edges / sizeof *edges - 1)];
    case 1:
      return (double)drawn(-2, 30);
    case 2:
      return std::uniform_real_distribution<double>(0, 1)(generator);
    default:
      return 4 * std::normal_distribution<double>()(generator);
  }
}

template <class T>
T from(double value) {
  return narrow<T>((Wide<T>)value);
}
template <class T>
double to(T value) {
  return (double)wide(value);
}
inline double wide(double value) { return value; }

[[noreturn]] void differ(const char* name, const char* type, double found, double expected) {
  std::fprintf(stderr, "%s of %s: %.17g instead of %.17g\n", name, type, found, expected);
  std::exit(1);
}

template <class T>
void check(const char* name, const char* type, u32 number_of_type, Kernel* kernel, Value* value) {
  constexpr i64 ROOM = 3;
  const i64 count = drawn(0, 2) ? drawn(1, 300) : drawn(1, 2500);
  const i64 steps[] = {drawn(0, 2) != 0, drawn(0, 2) != 0};
  const bool has_second = drawn(0, 3) != 0;
  std::vector<T> first, second, result(count + ROOM, from<T>(77));
  for (i64 at = 0; at < (steps[0] ? count : 1); at++) first.push_back(from<T>(operand()));
  for (i64 at = 0; at < (steps[1] ? count : 1); at++) second.push_back(from<T>(operand()));
  const double number = (double)drawn(0, 5);
  std::function<void()> run = [&] {
    kernel(first.data(), steps[0], has_second ? second.data() : nullptr, steps[1], number,
           result.data(), count, number_of_type);
  };
  run_blocks((unsigned)((count + THREADS * EACH - 1) / (THREADS * EACH)), THREADS, 0, generator(),
             [](const void* passed) { (*(const std::function<void()>*)passed)(); }, &run);
  for (i64 at = 0; at < count + ROOM; at++) {
    double expected = 77;
    if (at < count) {
      const double y = has_second ? to(second[at * steps[1]]) : number;
      expected = to(from<T>(value(to(first[at * steps[0]]), y, number_of_type == F64)));
    }
    const double found = to(result[at]);
    if (found != expected && !(found != found && expected != expected))
      differ(name, type, found, expected);
  }
  cases++;
}

}  // namespace

int main(int, char** arguments) {
  for (int round = std::atoi(arguments[1]); round > 0; round--) {
#define CHECKED(name)                                            \
  check<float>(#name, "f32", F32, sconce_torch_special_##name,   \
               sconce_torch_special_##name##_value);             \
  check<double>(#name, "f64", F64, sconce_torch_special_##name,  \
                sconce_torch_special_##name##_value);            \
  check<Half>(#name, "f16", F16, sconce_torch_special_##name,    \
              sconce_torch_special_##name##_value);              \
  check<Brain>(#name, "bf16", BF16, sconce_torch_special_##name, \
               sconce_torch_special_##name##_value);
    FOR_FUNCTIONS(CHECKED)
  }
  std::printf("%u cases\n", cases);
}
