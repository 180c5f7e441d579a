// Any reduction of any types and strides, an element an access: what the other kernels do not take.
#pragma once

#include "extreme.cuh"
#include "launch.cuh"

constexpr u32 GENERAL_THREADS = 256;

// A float as an integer of a type, towards zero.
__device__ __forceinline__ i64 truncated(double value, u32 type) {
  switch (type) {
    case I8:
    case I16:
    case I32:
      return wrap((i32)value, type);
    case U16:
    case U32:
      return wrap((u32)value, type);
    case U64:
      return (i64)(u64)value;
    case BOOL:
      return value != 0;
    default:
      return wrap((i64)value, type);
  }
}

__device__ __forceinline__ i64 load_integer(const void* data, u32 type, i64 at) {
  switch (type) {
    case I8:
      return ((const i8*)data)[at];
    case I16:
      return ((const i16*)data)[at];
    case I32:
      return ((const i32*)data)[at];
    case U8:
      return ((const u8*)data)[at];
    case U16:
      return ((const u16*)data)[at];
    case U32:
      return ((const u32*)data)[at];
    case BOOL:
      return ((const u8*)data)[at] != 0;
    default:
      return ((const i64*)data)[at];
  }
}

// A type's kind: integer, float or complex.
__device__ __forceinline__ bool is_complex(u32 type) {
  return type == C64 || type == C128 || type == C32;
}

__device__ __forceinline__ bool is_float(u32 type) { return type <= BF16; }

// A real float, or the real part of a complex number, in double precision.
__device__ __forceinline__ double load_float(const void* data, u32 type, i64 at) {
  switch (type) {
    case F32:
      return ((const float*)data)[at];
    case F64:
      return ((const double*)data)[at];
    case F16:
      return wide(((const Half*)data)[at]);
    case BF16:
      return wide(((const Brain*)data)[at]);
    case C64:
      return ((const Complex32*)data)[at].re;
    case C32:
      return wide(((const Half*)data)[2 * at]);
    default:
      return ((const Complex64*)data)[at].re;
  }
}

// The imaginary part of a complex number; 0 for real ones.
__device__ __forceinline__ double load_imaginary(const void* data, u32 type, i64 at) {
  switch (type) {
    case C64:
      return ((const Complex32*)data)[at].im;
    case C32:
      return wide(((const Half*)data)[2 * at + 1]);
    case C128:
      return ((const Complex64*)data)[at].im;
    default:
      return 0;
  }
}

__device__ __forceinline__ bool is_nonzero(const void* data, u32 type, i64 at) {
  if (!is_float(type) && !is_complex(type)) return load_integer(data, type, at) != 0;
  return load_float(data, type, at) != 0 || load_imaginary(data, type, at) != 0;
}

// A single rounded to the type that is calculated in.
__device__ __forceinline__ float rounded(float value, u32 type) {
  if (type == F16 || type == C32) return wide(to_half(value));
  if (type == BF16) return wide(to_brain(value));
  return value;
}

template <typename A>
struct Loader;

template <>
struct Loader<float> {
  static __device__ __forceinline__ float load(const void* data, u32 type, u32 compute, i64 at) {
    float value;
    if (type == F32)
      value = ((const float*)data)[at];
    else if (type == F16)
      value = wide(((const Half*)data)[at]);
    else if (type == BF16)
      value = wide(((const Brain*)data)[at]);
    else if (is_float(type) || is_complex(type))
      value = (float)load_float(data, type, at);
    else if (type == U64)
      value = (float)((const u64*)data)[at];
    else
      value = (float)load_integer(data, type, at);
    return rounded(value, compute);
  }
};

template <>
struct Loader<double> {
  static __device__ __forceinline__ double load(const void* data, u32 type, u32, i64 at) {
    if (is_float(type) || is_complex(type)) return load_float(data, type, at);
    if (type == U64) return (double)((const u64*)data)[at];
    return (double)load_integer(data, type, at);
  }
};

template <>
struct Loader<i64> {
  static __device__ __forceinline__ i64 load(const void* data, u32 type, u32 compute, i64 at) {
    if (is_float(type) || is_complex(type)) return truncated(load_float(data, type, at), compute);
    return wrap(load_integer(data, type, at), compute);
  }
};

template <typename C, typename F>
struct ComplexLoader {
  static __device__ __forceinline__ C load(const void* data, u32 type, u32 compute, i64 at) {
    C value;
    value.re = Loader<F>::load(data, type, compute, at);
    value.im = (F)load_imaginary(data, type, at);
    if (compute == C32) value.im = wide(to_half((float)value.im));
    return value;
  }
};

template <>
struct Loader<Complex32> : ComplexLoader<Complex32, float> {};
template <>
struct Loader<Complex64> : ComplexLoader<Complex64, double> {};

__device__ __forceinline__ void store_integer(void* data, u32 type, i64 at, i64 value) {
  switch (type) {
    case I8:
    case U8:
      ((u8*)data)[at] = (u8)value;
      break;
    case BOOL:
      ((u8*)data)[at] = value != 0;
      break;
    case I16:
    case U16:
      ((u16*)data)[at] = (u16)value;
      break;
    case I32:
    case U32:
      ((u32*)data)[at] = (u32)value;
      break;
    default:
      ((i64*)data)[at] = value;
  }
}

// Writes a number in any type; of a complex one `im` is the imaginary part.
__device__ __forceinline__ void store_float(void* data, u32 type, i64 at, double value, double im) {
  switch (type) {
    case F64:
      ((double*)data)[at] = value;
      break;
    case C64:
      ((Complex32*)data)[at] = Complex32{(float)value, (float)im};
      break;
    case C128:
      ((Complex64*)data)[at] = Complex64{value, im};
      break;
    case C32:
      ((Half*)data)[2 * at] = to_half((float)value);
      ((Half*)data)[2 * at + 1] = to_half((float)im);
      break;
    case F32:
    case F16:
    case BF16:
      write_float(data, type, at, (float)value);
      break;
    case BOOL:
      ((u8*)data)[at] = value != 0 || im != 0;
      break;
    default:
      store_integer(data, type, at, truncated(value, type));
  }
}

__device__ __forceinline__ void store(void* data, u32 type, u32, i64 at, float value) {
  store_float(data, type, at, value, 0);
}

__device__ __forceinline__ void store(void* data, u32 type, u32, i64 at, double value) {
  store_float(data, type, at, value, 0);
}

__device__ __forceinline__ void store(void* data, u32 type, u32 compute, i64 at, i64 value) {
  if (!is_float(type) && !is_complex(type))
    store_integer(data, type, at, value);
  else
    store_float(data, type, at, compute == U64 ? (double)(u64)value : (double)value, 0);
}

__device__ __forceinline__ void store(void* data, u32 type, u32, i64 at, Complex32 value) {
  store_float(data, type, at, value.re, value.im);
}

__device__ __forceinline__ void store(void* data, u32 type, u32, i64 at, Complex64 value) {
  store_float(data, type, at, value.re, value.im);
}

template <typename A>
__device__ __forceinline__ A sum_of(A a, A b) {
  return a + b;
}

template <typename A>
__device__ __forceinline__ A product_of(A a, A b) {
  return a * b;
}

#define COMPLEX(C, F)                                                                   \
  __device__ __forceinline__ C sum_of(C a, C b) { return C{a.re + b.re, a.im + b.im}; } \
  __device__ __forceinline__ C product_of(C a, C b) {                                   \
    return C{a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};                     \
  }                                                                                     \
  __device__ __forceinline__ C scaled(C a, double by) { return C{a.re * (F)by, a.im * (F)by}; }

COMPLEX(Complex32, float)
COMPLEX(Complex64, double)

template <typename A>
__device__ __forceinline__ A scaled(A a, double by) {
  return a * (A)by;
}

// Integers: a mean is calculated in a float type, so this is not reached.
__device__ __forceinline__ i64 scaled(i64 a, double) { return a; }

// A small number, or the bits of one.
template <typename A>
struct Constant {
  static __device__ __forceinline__ A of(u32 value) { return (A)value; }
};
template <>
struct Constant<Complex32> {
  static __device__ __forceinline__ Complex32 of(u32 value) { return Complex32{(float)value, 0}; }
};
template <>
struct Constant<Complex64> {
  static __device__ __forceinline__ Complex64 of(u32 value) { return Complex64{(double)value, 0}; }
};

// Joins what has an index: what has none stands for nothing.
template <typename A>
__device__ __forceinline__ void join_noted(Indexed<A>& into, const Indexed<A>& other) {
  if (other.index == NO_INDEX) return;
  if (into.index == NO_INDEX)
    into = other;
  else
    join_indexed(into, other);
}

template <typename A, bool ORDERED, bool COUNTS>
struct General {
  typedef Indexed<A> Accumulator;
  const Reduction& r;

  __device__ __forceinline__ bool compares() const { return r.op >= AMAX && r.op <= ARGMIN; }

  __device__ __forceinline__ Accumulator none() const {
    return Accumulator{Constant<A>::of(r.op == PROD), NO_INDEX};
  }

  __device__ __forceinline__ Accumulator load(i64 at, i64 index) const {
    Accumulator loaded;
    loaded.index = (u64)index;
    const void* input = (const void*)r.input;
    if constexpr (COUNTS) {
      if (r.op >= ALL) {
        loaded.value = is_nonzero(input, r.input_type, at);
        return loaded;
      }
    }
    loaded.value = Loader<A>::load(input, r.input_type, r.compute, at);
    if constexpr (ORDERED) {
      if (compares()) loaded.value = turned(loaded.value, r.mask);
    }
    return loaded;
  }

  __device__ __forceinline__ void join(Accumulator& into, const Accumulator& other) const {
    if (r.op == PROD) {
      into.value = product_of(into.value, other.value);
    } else if (!compares()) {
      into.value = sum_of(into.value, other.value);
    } else if constexpr (ORDERED) {
      join_noted(into, other);
    }
  }

  __device__ __forceinline__ void write(i64 at, Accumulator result, u64 elements) const {
    void* output = (void*)r.output;
    if constexpr (ORDERED) {
      if (r.op == ARGMAX || r.op == ARGMIN) {
        if (result.index != NO_INDEX) result.index += r.start;
        write_index(r, at, result);
        return;
      }
      if (compares()) {
        // Of nothing the host knows the least number of the type.
        if (result.index == NO_INDEX) {
          if (is_float(r.compute))
            store_float(output, r.output_type, at, __longlong_as_double(r.start), 0);
          else
            store(output, r.output_type, r.compute, at, (i64)r.start);
          return;
        }
        result.value = turned(result.value, r.mask);
      }
    }
    if constexpr (COUNTS) {
      if (r.op == ALL) result.value = (u64)result.value == elements;
      if (r.op == ANY) result.value = result.value != 0;
    }
    if (r.op == MEAN) result.value = scaled(result.value, r.factor);
    store(output, r.output_type, r.compute, at, result.value);
  }
};

// A group of threads reduces the elements of a result; neighbouring threads belong to one result,
// or to neighbouring results.
template <typename A, bool ORDERED, bool COUNTS>
__device__ __forceinline__ void reduce_general(const Reduction& r) {
  typedef General<A, ORDERED, COUNTS> Op;
  typedef typename Op::Accumulator Accumulator;
  __shared__ alignas(16) u8 bytes[GENERAL_THREADS * sizeof(Accumulator)];
  Accumulator* shared = (Accumulator*)bytes;
  const Op op{r};
  const u32 size = 1u << r.lanes_log2, rows = 1u << r.rows_log2;
  const bool kept_first = r.flags & KEPT_FIRST;
  const u32 row = kept_first ? threadIdx.x % rows : threadIdx.x / size;
  const u32 lane = kept_first ? threadIdx.x / rows : threadIdx.x % size;
  // Where the next lane's accumulator is.
  const u32 next = kept_first ? rows : 1;
  const Part part = part_of(r);
  for (u64 base = (u64)blockIdx.x * rows; base < r.outputs; base += (u64)gridDim.x * rows) {
    Accumulator value = op.none();
    Place place{0, 0};
    if (base + row < r.outputs) {
      place = place_of(r.axes, r.kept, base + row);
#pragma unroll 1
      for (u64 number = part.begin + lane; number < part.end; number += size) {
        const Place further = place_of(r.axes + r.kept, r.reduced, number);
        op.join(value, op.load(place.by_stride + further.by_stride, further.by_other));
      }
    }
    shared[threadIdx.x] = value;
#pragma unroll 1
    for (u32 half = size / 2; half > 0; half /= 2) {
      __syncthreads();
      if (lane < half) {
        op.join(value, shared[threadIdx.x + half * next]);
        shared[threadIdx.x] = value;
      }
    }
    if (lane == 0 && base + row < r.outputs)
      op.write(place.by_other + (i64)blockIdx.y * r.split, value, part.end - part.begin);
    // The next round writes where this one reads.
    __syncthreads();
  }
}

// The second launch of indices: a warp joins the pairs of a result.
template <typename A>
__device__ __forceinline__ void reduce_pairs(const Reduction& r) {
  const u64 row = (u64)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  if (row >= r.outputs) return;
  // From one result to the next, and from one part to the next.
  const Axis steps = r.axes[r.kept];
  const IndexPair* pairs = (const IndexPair*)r.input + (i64)row * steps.other;
  Indexed<A> best{A(), NO_INDEX};
  for (u64 i = threadIdx.x % 32; i < r.count; i += 32) {
    Indexed<A> other;
    *(u64*)&other.value = pairs[(i64)i * steps.stride].value;
    other.index = pairs[(i64)i * steps.stride].index;
    join_noted(best, other);
  }
#pragma unroll 1
  for (u32 mask = 16; mask > 0; mask /= 2) {
    const Indexed<A> other = from_lane_xor(best, mask);
    join_noted(best, other);
  }
  if (threadIdx.x % 32 == 0) write_index(r, place_of(r.axes, r.kept, row).by_other, best);
}
