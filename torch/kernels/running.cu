// Running maxima, minima and logarithms of sums along contiguous lines (cummax, cummin,
// logcumsumexp).

#include "element.cuh"

// This is in `operations/running.rs` too: a block's threads. A block has a line.
constexpr u32 THREADS = 256;

template <typename T>
SCONCE_INLINE bool is_nan(T value) {
  return value != value;
}

// The extreme of what is in front and a later element: the later one of two that are equal, and a
// NaN for ever.
template <typename W>
struct Extreme {
  W value;
  i64 index;

  SCONCE_INLINE Extreme of(const Extreme& front, const Extreme& back, u32 most) {
    const bool later =
        is_nan(back.value) ||
        (!is_nan(front.value) && (most ? back.value >= front.value : back.value <= front.value));
    return later ? back : front;
  }
};

// What a scan has in front of a line's thread: every thread's part is combined with those before.
template <typename State, typename Combine>
SCONCE_INLINE State scanned(State own, State* shared, Combine combine) {
  const u32 at = threadIdx.x;
  shared[at] = own;
  __syncthreads();
#pragma unroll 1
  for (u32 step = 1; step < THREADS; step *= 2) {
    const bool takes = at >= step;
    State front;
    if (takes) front = shared[at - step];
    __syncthreads();
    if (takes) own = combine(front, own), shared[at] = own;
    __syncthreads();
  }
  return own;
}

template <typename T>
SCONCE_INLINE void extremes(const T* input, T* values, i64* indices, i64 length, u32 most) {
  typedef Extreme<Wide<T>> State;
  __shared__ State shared[THREADS];
  const i64 begin = (i64)blockIdx.x * length;
  const auto combine = [most](const State& front, const State& back) {
    return State::of(front, back, most);
  };
  State carry;
  for (i64 first = 0; first < length; first += THREADS) {
    const i64 at = first + threadIdx.x;
    const bool is_there = at < length;
    // Behind the end, an element that changes nothing that is read.
    State own = {is_there ? wide(input[begin + at]) : wide(input[begin + length - 1]), at};
    own = scanned(own, shared, combine);
    if (first != 0) own = combine(carry, own);
    if (is_there) {
      values[begin + at] = narrow<T>(own.value);
      indices[begin + at] = own.index;
    }
    // The last thread's state is that of all.
    shared[threadIdx.x] = own;
    __syncthreads();
    carry = shared[THREADS - 1];
    __syncthreads();
  }
}

SCONCE_INLINE float log1p_of(float value) { return log1pf(value); }
SCONCE_INLINE double log1p_of(double value) { return log1p(value); }
SCONCE_INLINE float exp_of(float value) { return expf(value); }
SCONCE_INLINE double exp_of(double value) { return exp(value); }

// The logarithm of the sum of two exponentials.
template <typename W>
SCONCE_INLINE W log_sum(W first, W second) {
  if (is_nan(first) || is_nan(second)) return first + second;
  const W least = first < second ? first : second, most = first < second ? second : first;
  // Also where both are the same infinity, whose difference is no number.
  if (least == most) return most + log1p_of((W)1);
  return most + log1p_of(exp_of(least - most));
}

template <typename T>
SCONCE_INLINE void log_sums(const T* input, T* values, i64 length) {
  typedef Wide<T> State;
  __shared__ State shared[THREADS];
  const i64 begin = (i64)blockIdx.x * length;
  const auto combine = [](State front, State back) { return log_sum(front, back); };
  State carry = 0;
  for (i64 first = 0; first < length; first += THREADS) {
    const i64 at = first + threadIdx.x;
    const bool is_there = at < length;
    State own = wide(input[begin + (is_there ? at : length - 1)]);
    own = scanned(own, shared, combine);
    if (first != 0) own = combine(carry, own);
    if (is_there) values[begin + at] = narrow<T>(own);
    shared[threadIdx.x] = own;
    __syncthreads();
    carry = shared[THREADS - 1];
    __syncthreads();
  }
}

#define EXTREMES(name, T)                                                            \
  extern "C" __global__ void __launch_bounds__(THREADS) sconce_torch_running_##name( \
      const T* input, T* values, i64* indices, const i64 length, const u32 most) {   \
    extremes<T>(input, values, indices, length, most);                               \
  }

#define LOG_SUMS(name, T)                                                         \
  extern "C" __global__ void __launch_bounds__(THREADS)                           \
      sconce_torch_log_sums_##name(const T* input, T* values, const i64 length) { \
    log_sums<T>(input, values, length);                                           \
  }

EXTREMES(f32, float)
EXTREMES(f64, double)
EXTREMES(f16, Half)
EXTREMES(bf16, Brain)
EXTREMES(i8, i8)
EXTREMES(i16, i16)
EXTREMES(i32, i32)
EXTREMES(i64, i64)
EXTREMES(u8, u8)
EXTREMES(bool, u8)

LOG_SUMS(f32, float)
LOG_SUMS(f64, double)
LOG_SUMS(f16, Half)
LOG_SUMS(bf16, Brain)
