// Special functions of one element on the CPU: the source of the kernels, compiled by the build
// script. Declared for Rust in functions.rs.
#define SCONCE_SPECIAL_ON_CPU
#include "special/functions.cuh"

#define EXPORTED(name, value)                                                   \
  extern "C" double sconce_torch_special_##name##_value(double x, double y,     \
                                                        bool is_f64) noexcept { \
    return special_##name(x, y, is_f64);                                        \
  }
SCONCE_SPECIAL_FUNCTIONS(EXPORTED)
SCONCE_SPECIAL_GAMMAS(EXPORTED)
SCONCE_SPECIAL_POLYNOMIALS(EXPORTED)
