// The domains of real numbers: how their numbers are loaded and stored, and what is done with them.
#pragma once

#include "kernel.cuh"
#include "real.cuh"

template <class R>
SCONCE_INLINE R from_bits(u64 bits, u32 type) {
  if (type == F64) return (R)__longlong_as_double((i64)bits);
  if (type == U64) return (R)bits;
  return (R)(i64)bits;
}

// Elements of any real type.
template <class R, int N, class F>
SCONCE_INLINE void decode_real(const Raw& raw, u32 type, F set) {
  switch (type) {
    case F32:
#pragma unroll
      for (int e = 0; e < N; e++) set(e, (R)__uint_as_float(raw.w[e]));
      return;
    case F16:
#pragma unroll
      for (int e = 0; e < N; e++) set(e, (R)half_float(part<2>(raw, e)));
      return;
    case BF16:
#pragma unroll
      for (int e = 0; e < N; e++) set(e, (R)brain_float(part<2>(raw, e)));
      return;
    case I8:
#pragma unroll
      for (int e = 0; e < N; e++) set(e, (R)(signed char)part<1>(raw, e));
      return;
    case U8:
#pragma unroll
      for (int e = 0; e < N; e++) set(e, (R)part<1>(raw, e));
      return;
    case BOOL:
#pragma unroll
      for (int e = 0; e < N; e++) set(e, (R)(part<1>(raw, e) != 0));
      return;
    case I16:
#pragma unroll
      for (int e = 0; e < N; e++) set(e, (R)(short)part<2>(raw, e));
      return;
    case U16:
#pragma unroll
      for (int e = 0; e < N; e++) set(e, (R)part<2>(raw, e));
      return;
    case I32:
#pragma unroll
      for (int e = 0; e < N; e++) set(e, (R)(int)raw.w[e]);
      return;
    case U32:
#pragma unroll
      for (int e = 0; e < N; e++) set(e, (R)raw.w[e]);
      return;
    case F64:
    case I64:
    case U64:
#pragma unroll
      for (int e = 0; e < N; e++) set(e, from_bits<R>(part_long(raw, e), type));
      return;
    default:
#pragma unroll
      for (int e = 0; e < N; e++) set(e, (R)narrow_float(part<1>(raw, e), type));
  }
}

// The bits of numbers, converted to any real type. `get` is a number.
template <class R, int N, class F>
SCONCE_INLINE void encode_real(Raw& raw, u32 type, F get) {
  switch (type) {
    case F32:
#pragma unroll
      for (int e = 0; e < N; e++) raw.w[e] = __float_as_uint((float)get(e));
      return;
    case F64:
#pragma unroll
      for (int e = 0; e < N; e++) put_long(raw, e, (u64)__double_as_longlong((double)get(e)));
      return;
    case I64:
#pragma unroll
      for (int e = 0; e < N; e++) put_long(raw, e, (u64)(i64)get(e));
      return;
    case U64:
#pragma unroll
      for (int e = 0; e < N; e++) put_long(raw, e, (u64)get(e));
      return;
    case F16:
      clear<2, N>(raw);
#pragma unroll
      for (int e = 0; e < N; e++) put<2>(raw, e, half_bits((float)get(e)));
      return;
    case BF16:
      clear<2, N>(raw);
#pragma unroll
      for (int e = 0; e < N; e++) put<2>(raw, e, brain_bits((float)get(e)));
      return;
    case I16:
    case U16:
      clear<2, N>(raw);
#pragma unroll
      for (int e = 0; e < N; e++) put<2>(raw, e, small_integer(get(e), type));
      return;
    case I32:
    case U32:
#pragma unroll
      for (int e = 0; e < N; e++) raw.w[e] = small_integer(get(e), type);
      return;
    case I8:
    case U8:
    case BOOL:
      clear<1, N>(raw);
#pragma unroll
      for (int e = 0; e < N; e++) put<1>(raw, e, small_integer(get(e), type));
      return;
    default:
      clear<1, N>(raw);
#pragma unroll
      for (int e = 0; e < N; e++) put<1>(raw, e, narrow_bits((float)get(e), type));
  }
}

template <class R>
struct RealDomain {
  typedef R Value;
  static constexpr int N = sizeof(R) == 4 ? 8 : 4;
  static constexpr int LARGEST = sizeof(R), LARGEST_STORED = 8;

  SCONCE_INLINE R of_long(u64 bits, u32 type) { return from_bits<R>(bits, type); }

  SCONCE_INLINE R constant(const u64* words) {
    const double value = __longlong_as_double((i64)words[0]);
    return (R)value;
  }

  SCONCE_INLINE void decode(R* v, const Raw& raw, u32 type, u32 compute) {
    const bool is_long = LARGEST < 8 && bytes_of(type) == 8;
    decode_real<R, N>(raw, is_long ? F32 : type, [&](int e, R value) { v[e] = value; });
    if (sizeof(R) == 4 && compute != F32 && compute != type) round_all(v, compute);
  }

  SCONCE_INLINE void encode(Raw& raw, const R* v, u32 type, u32) {
    encode_real<R, N>(raw, type, [&](int e) { return v[e]; });
  }

  SCONCE_INLINE void round_all(R* v, u32 compute) {
#pragma unroll
    for (int e = 0; e < N; e++) v[e] = round_to(v[e], compute);
  }

  SCONCE_INLINE R at_index(u64 index, u32 operation, const Launch<1>& launch, u32 compute) {
    const R parameters[3] = {constant(launch.parameters), constant(launch.parameters + 2),
                             constant(launch.parameters + 4)};
    if (operation == RANGE) return real_fma(parameters[1], (R)index, parameters[0]);
    return linspace(index, launch.total, parameters, compute);
  }

  SCONCE_INLINE void finish(R* v, u32 operation, u32 compute) {
    if (sizeof(R) == 4 && compute != F32 && !is_predicate(operation)) round_all(v, compute);
  }

  SCONCE_INLINE void unary(u32 operation, R* v, u32) {
    switch (operation) {
      case NEG:
        EACH(R, N, -a)
      case ABS:
        EACH(R, N, real_abs(a))
      case SIGN:
        EACH(R, N, (R)((a > 0) - (a < 0)))
      case RELU:
        EACH(R, N, relu(a))
      case IS_NAN:
        EACH(R, N, (R)(a != a))
      case IS_FINITE:
        EACH(R, N, (R)is_finite(a))
      case FLOOR:
        EACH(R, N, real_floor(a))
      case CEIL:
        EACH(R, N, real_ceil(a))
      case ROUND:
        EACH(R, N, real_round(a))
      case TRUNC:
        EACH(R, N, real_trunc(a))
      case SQRT:
        LOOP(R, N, real_sqrt(a))
      case RSQRT:
        LOOP(R, N, real_rsqrt(a))
      case RECIPROCAL:
        LOOP(R, N, (R)1 / a)
      case EXP:
        LOOP(R, N, real_exp(a))
      case LOG:
        LOOP(R, N, real_log(a))
      case SIN:
        LOOP(R, N, real_sin(a))
      case COS:
        LOOP(R, N, real_cos(a))
      case TANH:
        LOOP(R, N, real_tanh(a))
      case SIGMOID:
        LOOP(R, N, sigmoid(a))
      case SILU:
        LOOP(R, N, silu(a))
      case ERF:
        LOOP(R, N, real_erf(a))
      case GELU_ERF:
        LOOP(R, N, gelu_erf(a))
      case GELU_TANH:
        LOOP(R, N, gelu_tanh(a))
    }
  }

  // torch rounds the quotient to the type of the computation before it cuts it.
  SCONCE_INLINE R trunc_divide(R a, R b, u32 compute) {
    const R quotient = a / b;
    return real_trunc(sizeof(R) == 4 && compute != F32 ? round_to(quotient, compute) : quotient);
  }

  SCONCE_INLINE void binary(u32 operation, R* v, R* u, const u64* parameters, u32 compute) {
    switch (operation) {
      case ADD: {
        const R alpha = constant(parameters);
        EACH_OF_TWO(R, N, real_fma(alpha, b, a))
      }
      case MUL:
        EACH_OF_TWO(R, N, a * b)
      case DIV:
        LOOP_OF_TWO(R, N, a / b)
      case FLOOR_DIVIDE:
        LOOP_OF_TWO(R, N, floor_divide(a, b))
      case TRUNC_DIVIDE:
        LOOP_OF_TWO(R, N, trunc_divide(a, b, compute))
      case REMAINDER:
        LOOP_OF_TWO(R, N, remainder_of(a, b))
      case POW:
        LOOP_OF_TWO(R, N, real_pow(a, b))
      case MINIMUM:
        EACH_OF_TWO(R, N, minimum(a, b))
      case MAXIMUM:
        EACH_OF_TWO(R, N, maximum(a, b))
      case EQ:
        EACH_OF_TWO(R, N, (R)(a == b))
      case NE:
        EACH_OF_TWO(R, N, (R)(a != b))
      case LT:
        EACH_OF_TWO(R, N, (R)(a < b))
      case LE:
        EACH_OF_TWO(R, N, (R)(a <= b))
    }
  }

  SCONCE_INLINE void ternary(u32 operation, R* v, const R* u, const R* w, u32) {
#pragma unroll
    for (int e = 0; e < N; e++)
      v[e] = operation == WHERE ? (v[e] != 0 ? u[e] : w[e]) : clamp(v[e], u[e], w[e]);
  }
};
