// The domain of integers and booleans, in 64 bits.
#pragma once

#include "real_domain.cuh"

struct IntegerDomain {
  typedef i64 Value;
  static constexpr int N = 8;
  static constexpr int LARGEST = 8, LARGEST_STORED = 8;

  SCONCE_INLINE u32 of_long(u64, u32) { return 0; }

  SCONCE_INLINE i64 constant(const u64* words) { return (i64)words[0]; }

  // What the type of the computation makes of a real number.
  static __device__ __noinline__ i64 of_real(double value, u32 type, u32 compute) {
    if (compute == BOOL) return value != 0;
    if (compute == I64) return type == F64 ? (i64)value : (i64)(float)value;
    if (compute == U64) return type == F64 ? (i64)(u64)value : (i64)(u64)(float)value;
    const u32 bits =
        type == F64 ? small_integer(value, compute) : small_integer((float)value, compute);
    return wrap((int)bits, compute);
  }

  SCONCE_INLINE void decode(i64* v, const Raw& raw, u32 type, u32 compute) {
    switch (type) {
      case I8:
#pragma unroll
        for (int e = 0; e < N; e++) v[e] = (signed char)part<1>(raw, e);
        break;
      case U8:
#pragma unroll
        for (int e = 0; e < N; e++) v[e] = part<1>(raw, e);
        break;
      case BOOL:
#pragma unroll
        for (int e = 0; e < N; e++) v[e] = part<1>(raw, e) != 0;
        break;
      case I16:
#pragma unroll
        for (int e = 0; e < N; e++) v[e] = (short)part<2>(raw, e);
        break;
      case U16:
#pragma unroll
        for (int e = 0; e < N; e++) v[e] = part<2>(raw, e);
        break;
      case I32:
#pragma unroll
        for (int e = 0; e < N; e++) v[e] = (int)raw.w[e];
        break;
      case U32:
#pragma unroll
        for (int e = 0; e < N; e++) v[e] = raw.w[e];
        break;
      case I64:
      case U64:
#pragma unroll
        for (int e = 0; e < N; e++) v[e] = (i64)part_long(raw, e);
        break;
      default:
        // Only truth and rare conversions come from real numbers.
        decode_real<double, N>(raw, type,
                               [&](int e, double value) { v[e] = of_real(value, type, compute); });
        return;
    }
    if (compute != type) wrap_all(v, compute);
  }

  SCONCE_INLINE void wrap_all(i64* v, u32 compute) {
    if (compute == I64 || compute == U64) return;
#pragma unroll
    for (int e = 0; e < N; e++) v[e] = wrap(v[e], compute);
  }

  SCONCE_INLINE void encode(Raw& raw, const i64* v, u32 type, u32 compute) {
    switch (type) {
      case I8:
      case U8:
        clear<1, N>(raw);
#pragma unroll
        for (int e = 0; e < N; e++) put<1>(raw, e, (u32)v[e]);
        return;
      case BOOL:
        clear<1, N>(raw);
#pragma unroll
        for (int e = 0; e < N; e++) put<1>(raw, e, v[e] != 0);
        return;
      case I16:
      case U16:
        clear<2, N>(raw);
#pragma unroll
        for (int e = 0; e < N; e++) put<2>(raw, e, (u32)v[e]);
        return;
      case I32:
      case U32:
#pragma unroll
        for (int e = 0; e < N; e++) raw.w[e] = (u32)v[e];
        return;
      case I64:
      case U64:
#pragma unroll
        for (int e = 0; e < N; e++) put_long(raw, e, (u64)v[e]);
        return;
      case F64:
#pragma unroll
        for (int e = 0; e < N; e++)
          put_long(raw, e,
                   (u64)__double_as_longlong(compute == U64 ? (double)(u64)v[e] : (double)v[e]));
        return;
      default:
        encode_real<float, N>(
            raw, type, [&](int e) { return compute == U64 ? (float)(u64)v[e] : (float)v[e]; });
    }
  }

  SCONCE_INLINE i64 at_index(u64 index, u32, const Launch<1>& launch, u32) {
    return (i64)(launch.parameters[0] + index * launch.parameters[2]);
  }

  SCONCE_INLINE void finish(i64* v, u32 operation, u32 compute) {
    if (!is_predicate(operation)) wrap_all(v, compute);
  }

  SCONCE_INLINE void unary(u32 operation, i64* v, u32 compute) {
    const bool is_unsigned = compute == U64;
    switch (operation) {
      case NEG:
        EACH(i64, N, (i64)(0 - (u64)a))
      case ABS:
        EACH(i64, N, a < 0 && !is_unsigned ? (i64)(0 - (u64)a) : a)
      case SIGN:
        EACH(i64, N, a == 0 ? 0 : a > 0 || is_unsigned ? 1 : -1)
      case RELU:
        EACH(i64, N, a < 0 && !is_unsigned ? 0 : a)
      case NOT:
        EACH(i64, N, compute == BOOL ? a ^ 1 : ~a)
      case IS_NAN:
        EACH(i64, N, (i64)(a != a))
      case IS_FINITE:
        EACH(i64, N, (i64)(a == a))
    }
  }

  // A division by 0 gives -1 and leaves the dividend.
  SCONCE_INLINE i64 divide(i64 a, i64 b, bool is_unsigned, i64& rest) {
    const bool is_negative = a < 0 && !is_unsigned, by_negative = b < 0 && !is_unsigned;
    const u64 size = is_negative ? 0 - (u64)a : (u64)a, by = by_negative ? 0 - (u64)b : (u64)b;
    if (by == 0) {
      rest = a;
      return -1;
    }
    u64 times;
    if ((size | by) >> 32)
      times = size / by;
    else
      times = (u32)size / (u32)by;
    const u64 left = size - times * by;
    rest = (i64)(is_negative ? 0 - left : left);
    return (i64)(is_negative != by_negative ? 0 - times : times);
  }

  SCONCE_INLINE i64 quotient_of(i64 a, i64 b, u32 operation, bool is_unsigned) {
    i64 rest;
    const i64 quotient = divide(a, b, is_unsigned, rest);
    const bool is_below = !is_unsigned && rest != 0 && b != 0 && (rest < 0) != (b < 0);
    if (operation == REMAINDER) return is_below ? rest + b : rest;
    return operation == FLOOR_DIVIDE && is_below ? quotient - 1 : quotient;
  }

  // Repeated multiplication. With a negative exponent only 1 and -1 have powers that are not 0.
  SCONCE_INLINE i64 power(i64 base, i64 exponent, bool is_unsigned) {
    if (exponent < 0 && !is_unsigned) return base == 1 ? 1 : base != -1 ? 0 : exponent & 1 ? -1 : 1;
    u64 factor = (u64)base, result = 1;
#pragma unroll 1
    for (u64 rest = (u64)exponent; rest != 0; rest >>= 1) {
      if (rest & 1) result *= factor;
      factor *= factor;
    }
    return (i64)result;
  }

  SCONCE_INLINE bool below(i64 a, i64 b, u64 flip) { return (i64)(a ^ flip) < (i64)(b ^ flip); }

  SCONCE_INLINE void binary(u32 operation, i64* v, i64* u, const u64* parameters, u32 compute) {
    const bool is_unsigned = compute == U64;
    const u64 flip = is_unsigned ? 1ull << 63 : 0;
    switch (operation) {
      case ADD: {
        const u64 alpha = parameters[0];
        if (alpha == 1) EACH_OF_TWO(i64, N, (i64)((u64)a + (u64)b))
        EACH_OF_TWO(i64, N, (i64)((u64)a + alpha * (u64)b))
      }
      case MUL:
        EACH_OF_TWO(i64, N, (i64)((u64)a * (u64)b))
      case FLOOR_DIVIDE:
      case TRUNC_DIVIDE:
      case REMAINDER:
        LOOP_OF_TWO(i64, N, quotient_of(a, b, operation, is_unsigned))
      case POW:
        LOOP_OF_TWO(i64, N, power(a, b, is_unsigned))
      case MINIMUM:
        EACH_OF_TWO(i64, N, below(b, a, flip) ? b : a)
      case MAXIMUM:
        EACH_OF_TWO(i64, N, below(a, b, flip) ? b : a)
      case EQ:
        EACH_OF_TWO(i64, N, a == b)
      case NE:
        EACH_OF_TWO(i64, N, a != b)
      case LT:
        EACH_OF_TWO(i64, N, below(a, b, flip))
      case LE:
        EACH_OF_TWO(i64, N, !below(b, a, flip))
      case AND:
        EACH_OF_TWO(i64, N, a & b)
      case OR:
        EACH_OF_TWO(i64, N, a | b)
      case XOR:
        EACH_OF_TWO(i64, N, a ^ b)
    }
  }

  SCONCE_INLINE void ternary(u32 operation, i64* v, const i64* u, const i64* w, u32 compute) {
    const u64 flip = compute == U64 ? 1ull << 63 : 0;
#pragma unroll
    for (int e = 0; e < N; e++) {
      const i64 raised = below(v[e], u[e], flip) ? u[e] : v[e];
      const i64 clamped = below(w[e], raised, flip) ? w[e] : raised;
      v[e] = operation == WHERE ? (v[e] != 0 ? u[e] : w[e]) : clamped;
    }
  }
};
