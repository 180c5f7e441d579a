// The domains of complex numbers: how their numbers are loaded and stored, and what is done with
// them.
#pragma once

#include "complex.cuh"
#include "real_domain.cuh"

template <class R>
struct ComplexDomain {
  typedef Complex<R> Value;
  static constexpr int N = sizeof(R) == 4 ? 4 : 2;
  static constexpr int LARGEST = 16, LARGEST_STORED = 16;

  SCONCE_INLINE u32 of_long(u64, u32) { return 0; }

  SCONCE_INLINE Value constant(const u64* words) {
    return {(R)__longlong_as_double((i64)words[0]), (R)__longlong_as_double((i64)words[1])};
  }

  SCONCE_INLINE void decode(Value* v, const Raw& raw, u32 type, u32 compute) {
    switch (type) {
      case C64:
#pragma unroll
        for (int e = 0; e < N; e++)
          v[e] = {(R)__uint_as_float(raw.w[2 * e]), (R)__uint_as_float(raw.w[2 * e + 1])};
        break;
      case C128:
#pragma unroll
        for (int e = 0; e < N; e++)
          v[e] = {from_bits<R>(part_long(raw, 2 * e), F64),
                  from_bits<R>(part_long(raw, 2 * e + 1), F64)};
        break;
      case C32:
#pragma unroll
        for (int e = 0; e < N; e++)
          v[e] = {(R)half_float(raw.w[e] & 0xffff), (R)half_float(raw.w[e] >> 16)};
        break;
      default:
        decode_real<R, N>(raw, type, [&](int e, R value) { v[e] = {value, 0}; });
    }
    if (compute == C32 && type != C32) round_all(v);
  }

  SCONCE_INLINE void round_all(Value* v) {
#pragma unroll
    for (int e = 0; e < N; e++)
      v[e] = {(R)half_float(half_bits((float)v[e].re)), (R)half_float(half_bits((float)v[e].im))};
  }

  SCONCE_INLINE void encode(Raw& raw, const Value* v, u32 type, u32) {
    switch (type) {
      case C64:
#pragma unroll
        for (int e = 0; e < N; e++)
          raw.w[2 * e] = __float_as_uint((float)v[e].re),
                    raw.w[2 * e + 1] = __float_as_uint((float)v[e].im);
        return;
      case C128:
#pragma unroll
        for (int e = 0; e < N; e++)
          put_long(raw, 2 * e, (u64)__double_as_longlong((double)v[e].re)),
              put_long(raw, 2 * e + 1, (u64)__double_as_longlong((double)v[e].im));
        return;
      case C32:
#pragma unroll
        for (int e = 0; e < N; e++)
          raw.w[e] = half_bits((float)v[e].re) | half_bits((float)v[e].im) << 16;
        return;
      case BOOL:
        clear<1, N>(raw);
#pragma unroll
        for (int e = 0; e < N; e++) put<1>(raw, e, is_nonzero(v[e]));
        return;
      default:
        encode_real<R, N>(raw, type, [&](int e) { return v[e].re; });
    }
  }

  SCONCE_INLINE Value at_index(u64 index, u32 operation, const Launch<1>& launch, u32) {
    const bool is_range = operation == RANGE, is_first_half = is_range || index < launch.total / 2;
    const Value start = constant(launch.parameters), second = constant(launch.parameters + 2);
    const Value step = is_range ? second : constant(launch.parameters + 4);
    const Value from = is_first_half ? start : second;
    const R steps = is_first_half ? (R)index : -(R)(launch.total - 1 - index);
    return {real_fma(step.re, steps, from.re), real_fma(step.im, steps, from.im)};
  }

  SCONCE_INLINE void finish(Value* v, u32 operation, u32 compute) {
    if (compute == C32 && !is_predicate(operation)) round_all(v);
  }

  SCONCE_INLINE Value flag(bool is_true) { return {(R)is_true, 0}; }

  SCONCE_INLINE void unary(u32 operation, Value* v, u32) {
    const Value one = {1, 0};
    switch (operation) {
      case NEG:
        EACH(Value, N, (Value{-a.re, -a.im}))
      case ABS:
        LOOP(Value, N, (Value{real_hypot(a.re, a.im), 0}))
      case SIGN:
        LOOP(Value, N, complex_sign(a))
      case NOT:
        EACH(Value, N, flag(!is_nonzero(a)))
      case IS_NAN:
        EACH(Value, N, flag(a.re != a.re || a.im != a.im))
      case IS_FINITE:
        EACH(Value, N, flag(is_finite(a.re) && is_finite(a.im)))
      case SQRT:
        LOOP(Value, N, complex_sqrt(a))
      case RSQRT:
        LOOP(Value, N, divide(one, complex_sqrt(a)))
      case RECIPROCAL:
        LOOP(Value, N, divide(one, a))
      case EXP:
        LOOP(Value, N, complex_exp(a))
      case LOG:
        LOOP(Value, N, complex_log(a))
      case SIN:
        LOOP(Value, N, complex_sin(a))
      case COS:
        LOOP(Value, N, complex_cos(a))
      case TANH:
        LOOP(Value, N, complex_tanh(a))
      case SIGMOID:
        LOOP(Value, N, complex_sigmoid(a))
    }
  }

  SCONCE_INLINE Value add(Value a, Value b, Value alpha, bool is_plain) {
    const Value scaled = is_plain ? b : multiply(alpha, b);
    return {a.re + scaled.re, a.im + scaled.im};
  }

  SCONCE_INLINE void binary(u32 operation, Value* v, Value* u, const u64* parameters, u32) {
    switch (operation) {
      case ADD: {
        const Value alpha = constant(parameters);
        const bool is_plain = alpha.re == 1 && alpha.im == 0;
        EACH_OF_TWO(Value, N, add(a, b, alpha, is_plain))
      }
      case MUL:
        EACH_OF_TWO(Value, N, multiply(a, b))
      case DIV:
        LOOP_OF_TWO(Value, N, divide(a, b))
      case POW:
        LOOP_OF_TWO(Value, N, complex_pow(a, b))
      case EQ:
        EACH_OF_TWO(Value, N, flag(a.re == b.re && a.im == b.im))
      case NE:
        EACH_OF_TWO(Value, N, flag(a.re != b.re || a.im != b.im))
      case AND:
        EACH_OF_TWO(Value, N, flag(is_nonzero(a) && is_nonzero(b)))
      case OR:
        EACH_OF_TWO(Value, N, flag(is_nonzero(a) || is_nonzero(b)))
      case XOR:
        EACH_OF_TWO(Value, N, flag(is_nonzero(a) != is_nonzero(b)))
    }
  }

  SCONCE_INLINE void ternary(u32, Value* v, const Value* u, const Value* w, u32) {
#pragma unroll
    for (int e = 0; e < N; e++) v[e] = is_nonzero(v[e]) ? u[e] : w[e];
  }
};
