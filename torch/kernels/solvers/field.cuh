// Real and complex numbers with the same arithmetic, and batches of matrices with strides.
#pragma once

#include "types.cuh"

// This is in `operations/solvers/steps.rs` too: a block's threads, and the columns of a panel.
constexpr u32 THREADS = 256;
constexpr u32 PANEL = 32;

template <class R>
struct Complex {
  R re, im;
};

template <class T>
struct Field {
  typedef T Real;
  SCONCE_INLINE T of(Real value) { return value; }
};

template <class R>
struct Field<Complex<R>> {
  typedef R Real;
  SCONCE_INLINE Complex<R> of(R value) { return {value, 0}; }
};

template <class T>
using Real = typename Field<T>::Real;

SCONCE_INLINE float root(float value) { return sqrtf(value); }
SCONCE_INLINE double root(double value) { return sqrt(value); }

template <class R>
SCONCE_INLINE R absolute(R value) {
  return value < 0 ? -value : value;
}

template <class R>
SCONCE_INLINE Complex<R> operator+(Complex<R> a, Complex<R> b) {
  return {a.re + b.re, a.im + b.im};
}
template <class R>
SCONCE_INLINE Complex<R> operator-(Complex<R> a, Complex<R> b) {
  return {a.re - b.re, a.im - b.im};
}
template <class R>
SCONCE_INLINE Complex<R> operator*(Complex<R> a, Complex<R> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
// Scaled by the larger part of the divisor, so that nothing overflows on the way (Smith).
template <class R>
SCONCE_INLINE Complex<R> operator/(Complex<R> a, Complex<R> b) {
  if (absolute(b.re) >= absolute(b.im)) {
    const R ratio = b.im / b.re, scale = b.re + b.im * ratio;
    return {(a.re + a.im * ratio) / scale, (a.im - a.re * ratio) / scale};
  }
  const R ratio = b.re / b.im, scale = b.re * ratio + b.im;
  return {(a.re * ratio + a.im) / scale, (a.im * ratio - a.re) / scale};
}

SCONCE_INLINE float conjugate(float value) { return value; }
SCONCE_INLINE double conjugate(double value) { return value; }
template <class R>
SCONCE_INLINE Complex<R> conjugate(Complex<R> value) {
  return {value.re, -value.im};
}

SCONCE_INLINE float real_part(float value) { return value; }
SCONCE_INLINE double real_part(double value) { return value; }
template <class R>
SCONCE_INLINE R real_part(Complex<R> value) {
  return value.re;
}

SCONCE_INLINE float imaginary_part(float) { return 0; }
SCONCE_INLINE double imaginary_part(double) { return 0; }
template <class R>
SCONCE_INLINE R imaginary_part(Complex<R> value) {
  return value.im;
}

// The sum of the parts' absolute values, by which LAPACK chooses pivots.
template <class T>
SCONCE_INLINE Real<T> size_of_parts(T value) {
  return absolute(real_part(value)) + absolute(imaginary_part(value));
}

// The square of the absolute value.
template <class T>
SCONCE_INLINE Real<T> square_of(T value) {
  return real_part(value) * real_part(value) + imaginary_part(value) * imaginary_part(value);
}

// The absolute value. The square of a small number has few digits, or none.
template <class T>
SCONCE_INLINE Real<T> length_of(T value) {
  const Real<T> re = absolute(real_part(value)), im = absolute(imaginary_part(value));
  const Real<T> most = re > im ? re : im, least = re > im ? im : re;
  if (most == 0) return 0;
  const Real<T> ratio = least / most;
  return most * root(1 + ratio * ratio);
}

template <class T>
SCONCE_INLINE T zero() {
  return Field<T>::of(0);
}

template <class T>
SCONCE_INLINE T negative(T value) {
  return zero<T>() - value;
}

// `View` in `operations/solvers/matrices.rs`: matrices with strides, which may be negative.
template <class T>
struct View {
  T* data;
  i64 row, column, batch;

  __device__ __forceinline__ T& at(i64 i, i64 j) const { return data[i * row + j * column]; }
  // The matrix of one entry of the batch.
  __device__ __forceinline__ View of(i64 entry) const {
    return {data + entry * batch, row, column, batch};
  }
  // Whether threads in a row should read along a column.
  __device__ __forceinline__ bool is_by_column() const { return row == 1 || row == -1; }
};

// All kernels, for each type.
#define SCONCE_FOR_FIELDS(KERNELS) \
  KERNELS(f32, float)              \
  KERNELS(f64, double)             \
  KERNELS(c64, Complex<float>)     \
  KERNELS(c128, Complex<double>)
