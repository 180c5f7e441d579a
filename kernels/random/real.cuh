// Real distributions, as torch computes them: in float for float and the halves, in double for
// double, with the multiply-adds its compiler fuses written out. The `fast_` functions of float are
// torch's choice (`__logf` and its kin); those of double come from CUDA's math library.
#pragma once

#include "element.cuh"
#include "philox.cuh"

SCONCE_INLINE float fused(float a, float b, float c) { return fmaf(a, b, c); }
SCONCE_INLINE double fused(double a, double b, double c) { return fma(a, b, c); }

// Four (float) or two (double) uniform numbers in (0, 1].
SCONCE_INLINE void uniforms(const Draw& draw, float* u) {
#pragma unroll
  for (int j = 0; j < 4; ++j) u[j] = unit_float(draw.w[j]);
}
SCONCE_INLINE void uniforms(const Draw& draw, double* u) {
#pragma unroll
  for (int j = 0; j < 2; ++j) u[j] = unit_double(draw, j);
}

// 2 logf(x), in logf's bits, for x in [2^-33, 1], where it needs no special cases: a polynomial in
// f = m - 1 for the mantissa m in [2/3, 4/3), plus the exponent times log 2. Factors that are
// powers of two are exact, so the 2 needs no product: the steps are logf's in g = 2f, each with its
// coefficient scaled to suit.
SCONCE_INLINE float twice_log_of_unit(float x) {
  const u32 bits = float_bits(x);
  const u32 exponent = (bits - 0x3f2aaaabu) & 0xff800000u;
  const float g = fmaf(bits_float(bits - exponent), 2.0f, -2.0f);
  float p = 0x1p-9f * bits_float(0xbe055027u);
  p = fmaf(p, g, 0x1p-8f * bits_float(0x3e1039f6u));
  p = fmaf(p, g, 0x1p-7f * bits_float(0xbdf8cdccu));
  p = fmaf(p, g, 0x1p-6f * bits_float(0x3e0f2955u));
  p = fmaf(p, g, 0x1p-5f * bits_float(0xbe2ad8b9u));
  p = fmaf(p, g, 0x1p-4f * bits_float(0x3e4ced0bu));
  p = fmaf(p, g, 0x1p-3f * bits_float(0xbe7fff22u));
  p = fmaf(p, g, 0x1p-2f * bits_float(0x3eaaaa78u));
  p = fmaf(p, g, 0x1p-1f * -0.5f);
  // 2^-23 brings the exponent field down.
  return fmaf((float)(int)exponent, 0x1p-22f * bits_float(0x3f317218u), fmaf(p * g, g, g));
}

// sqrtf's bits (correctly rounded) for x = -0 or 2^-23 <= x < 64, by one step from the estimate.
SCONCE_INLINE float root_of_small(float x) {
  const float estimate = fast_reciprocal_root(fmaxf(x, 0x1p-30f));
  const float root = x * estimate;
  return fmaf(fmaf(-root, root, x), 0.5f * estimate, root);
}

// Box and Muller, "A note on the generation of random normal deviates" (1958).
SCONCE_INLINE void normal_pair(u32 x, u32 y, float* z) {
  const float radius = root_of_small(-twice_log_of_unit(unit_float(x)));
  const float angle = fmaf((float)y, bits_float(0x30c90fdbu), bits_float(0x30490fdbu));
  float sine, cosine;
  fast_sin_cos(angle, &sine, &cosine);
  z[0] = sine * radius;
  z[1] = cosine * radius;
}
SCONCE_INLINE void normals(const Draw& draw, float* z) {
  normal_pair(draw.w[0], draw.w[1], z);
  normal_pair(draw.w[2], draw.w[3], z + 2);
}
SCONCE_INLINE void normals(const Draw& draw, double* z) {
  const double radius = sqrt(-2.0 * log(unit_double(draw, 0)));
  double sine, cosine;
  sincospi(scaled_double(draw.w[2], draw.w[3], 0x1p-52), &sine, &cosine);
  z[0] = sine * radius;
  z[1] = cosine * radius;
}

template <class Element>
struct RealDistribution {
  typedef typename Element::Real Real;
  typedef typename Element::Lane Lane;
  static constexpr u32 DRAWS = sizeof(Real) == 8 ? 2 : 4;
};

// In [low, high): what rounds to `high` becomes `low`.
template <class Element>
struct Uniform : RealDistribution<Element> {
  typedef RealDistribution<Element> Base;
  typename Base::Real low, high, range;
  SCONCE_INLINE_MEMBER Uniform(double low_, double high_) {
    // The bounds and their difference are elements, so rounded as such.
    low = Element::decode(Element::encode((typename Base::Real)low_));
    high = Element::decode(Element::encode((typename Base::Real)high_));
    range = Element::decode(Element::encode(high - low));
  }
  SCONCE_INLINE_MEMBER void draw(const Draw& draw, typename Base::Lane* lanes) const {
    typename Base::Real u[Base::DRAWS];
    uniforms(draw, u);
#pragma unroll
    for (u32 j = 0; j < Base::DRAWS; ++j) {
      const typename Base::Lane lane = Element::encode_finite(fused(u[j], range, low));
      lanes[j] = Element::decode(lane) == high ? Element::encode_finite(low) : lane;
    }
  }
};

// Those that map uniform numbers one by one: u -> f(u).
template <class Element, class Map>
struct MappedUniform : RealDistribution<Element> {
  typedef RealDistribution<Element> Base;
  Map map;
  SCONCE_INLINE_MEMBER MappedUniform(double a, double b) : map(a, b) {}
  SCONCE_INLINE_MEMBER void draw(const Draw& draw, typename Base::Lane* lanes) const {
    typename Base::Real u[Base::DRAWS];
    uniforms(draw, u);
#pragma unroll
    for (u32 j = 0; j < Base::DRAWS; ++j) lanes[j] = Element::encode(map(u[j]));
  }
};
template <class Element, class Map>
struct MappedNormal : RealDistribution<Element> {
  typedef RealDistribution<Element> Base;
  Map map;
  SCONCE_INLINE_MEMBER MappedNormal(double a, double b) : map(a, b) {}
  SCONCE_INLINE_MEMBER void draw(const Draw& draw, typename Base::Lane* lanes) const {
    typename Base::Real z[Base::DRAWS];
    normals(draw, z);
#pragma unroll
    for (u32 j = 0; j < Base::DRAWS; ++j) lanes[j] = Element::encode(map(z[j]));
  }
};

// There are no fast versions for double.
SCONCE_INLINE double fast_log(double x) { return log(x); }
SCONCE_INLINE double fast_exp(double x) { return exp(x); }

template <class Real>
struct ScaleAndShift {
  Real mean, std;
  SCONCE_INLINE_MEMBER ScaleAndShift(double mean_, double std_)
      : mean((Real)mean_), std((Real)std_) {}
  SCONCE_INLINE_MEMBER Real operator()(Real z) const { return fused(z, std, mean); }
};
template <class Real>
struct ExponentialOfNormal : ScaleAndShift<Real> {
  SCONCE_INLINE_MEMBER ExponentialOfNormal(double mean, double std)
      : ScaleAndShift<Real>(mean, std) {}
  SCONCE_INLINE_MEMBER Real operator()(Real z) const {
    return fast_exp(ScaleAndShift<Real>::operator()(z));
  }
};

// -log(u)/lambda, where the logarithm of a u next to 1 is kept from being 0.
template <class Real>
struct NegativeLog {
  static constexpr Real HALF_ULP = sizeof(Real) == 8 ? (Real)0x1p-53 : (Real)0x1p-24;
  Real factor;
  SCONCE_INLINE_MEMBER NegativeLog(double lambda, double) : factor((Real)-1 / (Real)lambda) {}
  SCONCE_INLINE_MEMBER Real operator()(Real u) const {
    return factor * (u >= (Real)1 - HALF_ULP ? -HALF_ULP : fast_log(u));
  }
};

// median + sigma * tan(pi * (u - 1/2)); the fast tangent needs u away from 0 and 1.
template <class Real>
struct TangentOfUniform {
  Real median, sigma;
  SCONCE_INLINE_MEMBER TangentOfUniform(double median_, double sigma_)
      : median((Real)median_), sigma((Real)sigma_) {}
  SCONCE_INLINE_MEMBER float operator()(float u) const {
    u = fminf(fmaxf(u, 0x1p-23f), 1.0f - 0x1p-23f);
    return fused(sigma, (Real)fast_tan(bits_float(0x40490fdbu) * (u - 0.5f)), median);
  }
  SCONCE_INLINE_MEMBER double operator()(double u) const {
    return fused(sigma, (Real)tan(0x1.921fb54442d18p+1 * (u - 0.5)), median);
  }
};

template <class Element>
using Normal = MappedNormal<Element, ScaleAndShift<typename Element::Real>>;
template <class Element>
using LogNormal = MappedNormal<Element, ExponentialOfNormal<typename Element::Real>>;
template <class Element>
using Exponential = MappedUniform<Element, NegativeLog<typename Element::Real>>;
template <class Element>
using Cauchy = MappedUniform<Element, TangentOfUniform<typename Element::Real>>;
