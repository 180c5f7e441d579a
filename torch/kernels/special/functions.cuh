// Special functions by name: `x` and `y` are the operands, of which most functions have one.
#pragma once

#include "special/bessel.cuh"
#include "special/gamma.cuh"
#include "special/normal.cuh"
#include "special/polygamma.cuh"
#include "special/polynomials.cuh"

#define SCONCE_SPECIAL_FUNCTIONS(OF)                \
  OF(airy_ai, airy_ai(x))                           \
  OF(digamma, digamma(x))                           \
  OF(i0e, bessel_i0e(x))                            \
  OF(i1e, bessel_i1e(x))                            \
  OF(modified_bessel_k0, bessel_k0(x, false))       \
  OF(modified_bessel_k1, bessel_k1(x, false))       \
  OF(ndtri, normal_quantile(x))                     \
  OF(polygamma, polygamma((i64)y, x))               \
  OF(scaled_modified_bessel_k0, bessel_k0(x, true)) \
  OF(scaled_modified_bessel_k1, bessel_k1(x, true)) \
  OF(spherical_bessel_j0, spherical_bessel_j0(x))   \
  OF(zeta, zeta(x, y))

#define SCONCE_SPECIAL_GAMMAS(OF) \
  OF(igamma, igamma(x, y))        \
  OF(igammac, igammac(x, y))

// The orders beside Chebyshev's polynomials are those from which torch computes them by angles.
#define SCONCE_SPECIAL_POLYNOMIALS(OF)                                              \
  OF(chebyshev_polynomial_t, chebyshev_polynomial(FIRST, x, y, 6))                  \
  OF(chebyshev_polynomial_u, chebyshev_polynomial(SECOND, x, y, 8))                 \
  OF(chebyshev_polynomial_v, chebyshev_polynomial(THIRD, x, y, 8))                  \
  OF(chebyshev_polynomial_w, chebyshev_polynomial(FOURTH, x, y, 8))                 \
  OF(hermite_polynomial_h, hermite_polynomial(x, y, 2, is_f64))                     \
  OF(hermite_polynomial_he, hermite_polynomial(x, y, 1, is_f64))                    \
  OF(laguerre_polynomial_l, laguerre_polynomial(x, y))                              \
  OF(legendre_polynomial_p, legendre_polynomial(x, y))                              \
  OF(shifted_chebyshev_polynomial_t, chebyshev_polynomial(FIRST, 2 * x - 1, y, 6))  \
  OF(shifted_chebyshev_polynomial_u, chebyshev_polynomial(SECOND, 2 * x - 1, y, 6)) \
  OF(shifted_chebyshev_polynomial_v, chebyshev_polynomial(THIRD, 2 * x - 1, y, 6))  \
  OF(shifted_chebyshev_polynomial_w, chebyshev_polynomial(FOURTH, 2 * x - 1, y, 4))

// All functions of a list with the same signature.
#define SCONCE_SPECIAL_DEFINED(name, value)                              \
  SCONCE_INLINE double special_##name(double x, double y, bool is_f64) { \
    (void)y, (void)is_f64;                                               \
    return value;                                                        \
  }
SCONCE_SPECIAL_FUNCTIONS(SCONCE_SPECIAL_DEFINED)
SCONCE_SPECIAL_GAMMAS(SCONCE_SPECIAL_DEFINED)
SCONCE_SPECIAL_POLYNOMIALS(SCONCE_SPECIAL_DEFINED)
