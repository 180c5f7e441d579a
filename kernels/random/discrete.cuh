// Discrete distributions: from uniform numbers (geometric, Bernoulli) and from the words themselves
// (integers in a range and over the whole of a type). As in torch, the remainder's bias is
// accepted: ranges of 2^28 and more take 64-bit draws.
#pragma once

#include "element.cuh"
#include "philox.cuh"
#include "real.cuh"

// What torch computes in for an element: double for double, float for everything else.
template <class Element>
struct DiscreteReal {
  typedef float Real;
  static constexpr u32 DRAWS = 4;
};
template <>
struct DiscreteReal<F64> {
  typedef double Real;
  static constexpr u32 DRAWS = 2;
};

SCONCE_INLINE float log_of_complement(float p) { return fast_log(1.0f - p); }
SCONCE_INLINE double log_of_complement(double p) { return log1p(-p); }

// ceil(log(u) / log(1 - p)): tries up to and with the first success.
template <class Element>
struct Geometric : DiscreteReal<Element> {
  typedef DiscreteReal<Element> Base;
  typename Base::Real divisor;
  SCONCE_INLINE_MEMBER Geometric(double p, double)
      : divisor(log_of_complement((typename Base::Real)p)) {}
  SCONCE_INLINE_MEMBER void draw(const Draw& draw, typename Element::Lane* lanes) const {
    typename Base::Real u[Base::DRAWS];
    uniforms(draw, u);
#pragma unroll
    for (u32 j = 0; j < Base::DRAWS; ++j) {
      lanes[j] = Element::encode(ceil(fast_log(u[j]) / divisor));
    }
  }
};

// 1 where u < p, else 0.
template <class Element>
struct Bernoulli : DiscreteReal<Element> {
  typedef DiscreteReal<Element> Base;
  typename Base::Real p;
  SCONCE_INLINE_MEMBER Bernoulli(double p_, double) : p((typename Base::Real)p_) {}
  SCONCE_INLINE_MEMBER void draw(const Draw& draw, typename Element::Lane* lanes) const {
    typename Base::Real u[Base::DRAWS];
    uniforms(draw, u);
#pragma unroll
    for (u32 j = 0; j < Base::DRAWS; ++j) lanes[j] = u[j] < p ? Element::encode(1) : 0;
  }
};

// word mod divisor for a divisor known only at the launch: the quotient by the reciprocal is right
// or one too small.
template <class Word>
struct Remainder {
  Word divisor, reciprocal;
  SCONCE_INLINE_MEMBER explicit Remainder(Word divisor_)
      : divisor(divisor_), reciprocal((Word) ~(Word)0 / divisor_) {}
  SCONCE_INLINE_MEMBER Word operator()(Word word) const {
    const Word rest = word - high_product(word, reciprocal) * divisor;
    return rest >= divisor ? rest - divisor : rest;
  }
};

// base + word mod range, for ranges below 2^28.
template <class Element>
struct Integers {
  static constexpr u32 DRAWS = 4;
  Remainder<u32> remainder;
  i64 base;
  SCONCE_INLINE_MEMBER Integers(u64 range, i64 base_) : remainder((u32)range), base(base_) {}
  SCONCE_INLINE_MEMBER void draw(const Draw& draw, typename Element::Lane* lanes) const {
#pragma unroll
    for (u32 j = 0; j < DRAWS; ++j) {
      lanes[j] = encode_integer<Element>((i64)remainder(draw.w[j]) + base);
    }
  }
};

// The same for any range, from 64-bit draws; the sum wraps.
template <class Element>
struct IntegersWide {
  static constexpr u32 DRAWS = 2;
  Remainder<u64> remainder;
  i64 base;
  SCONCE_INLINE_MEMBER IntegersWide(u64 range, i64 base_) : remainder(range), base(base_) {}
  SCONCE_INLINE_MEMBER void draw(const Draw& draw, typename Element::Lane* lanes) const {
#pragma unroll
    for (u32 j = 0; j < DRAWS; ++j) {
      lanes[j] = encode_integer<Element>((i64)(remainder(wide_word(draw, j)) + (u64)base));
    }
  }
};

// From 0 to the largest integer up to which a type holds them all: word mod (that + 1).
template <class Element>
struct FullRangeOf;
template <>
struct FullRangeOf<I8> {
  static constexpr u32 COUNT = 1u << 7;
};
template <>
struct FullRangeOf<U8> {
  static constexpr u32 COUNT = 1u << 8;
};
template <>
struct FullRangeOf<I16> {
  static constexpr u32 COUNT = 1u << 15;
};
template <>
struct FullRangeOf<I32> {
  static constexpr u32 COUNT = 1u << 31;
};
template <>
struct FullRangeOf<Bool> {
  static constexpr u32 COUNT = 2;
};
template <>
struct FullRangeOf<F16> {
  static constexpr u32 COUNT = (1u << 11) + 1;
};
template <>
struct FullRangeOf<BF16> {
  static constexpr u32 COUNT = (1u << 8) + 1;
};
template <>
struct FullRangeOf<F32> {
  static constexpr u32 COUNT = (1u << 24) + 1;
};
template <>
struct FullRangeOf<I64> {
  static constexpr u64 COUNT = 1ull << 63;
};
template <>
struct FullRangeOf<F64> {
  static constexpr u64 COUNT = (1ull << 53) + 1;
};

template <class Element>
struct FullRange {
  static constexpr u32 DRAWS = sizeof(FullRangeOf<Element>::COUNT) == 8 ? 2 : 4;
  SCONCE_INLINE_MEMBER FullRange(u64, i64) {}
  SCONCE_INLINE_MEMBER void draw(const Draw& draw, typename Element::Lane* lanes) const {
#pragma unroll
    for (u32 j = 0; j < DRAWS; ++j) {
      const u64 word = DRAWS == 2 ? wide_word(draw, j) : draw.w[j];
      lanes[j] = encode_integer<Element>((i64)(word % FullRangeOf<Element>::COUNT));
    }
  }
};
