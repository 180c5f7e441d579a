// Pooling: the largest element or the mean of each window, and the gradients of both
// (docs/design/torch_operations.md). A thread makes one element of the result: of a window, or, of
// a gradient, of an input, which sums over the windows that have it. So nothing is added by
// several.
//
// Operands are a batch of channels of planes with three dimensions; strides are in elements.

#include "element.cuh"

// These are in `operations/pooling/` too.
constexpr u32 THREADS = 128;

struct Axis {
  i32 input, output;
  i32 kernel;  // 0: windows share the inputs evenly
  i32 stride, padding, dilation;
};

struct Operand {
  u64 data;
  i64 strides[5];  // batch, channels, depth, height, width
};

struct Pool {
  Operand large, small, indices;
  i64 divisor;  // 0: of each window
  Axis axes[3];
  u32 order[5], sizes[5];  // of the result, from the innermost dimension to the outermost
  u32 count;
  u32 count_padding;
};

struct Span {
  i32 begin, end, step;
};

// The inputs of a window that exist.
SCONCE_INLINE Span window(const Axis& axis, i32 output) {
  if (axis.kernel == 0) {
    const i64 first = (i64)output * axis.input;
    return {(i32)(first / axis.output), (i32)((first + axis.input + axis.output - 1) / axis.output),
            1};
  }
  const i32 first = output * axis.stride - axis.padding;
  const i32 last = first + (axis.kernel - 1) * axis.dilation + 1;
  const i32 skipped = first < 0 ? (-first + axis.dilation - 1) / axis.dilation : 0;
  return {first + skipped * axis.dilation, last < axis.input ? last : axis.input, axis.dilation};
}

// The places of a window for a mean that counts padding.
SCONCE_INLINE i32 places(const Axis& axis, i32 output) {
  if (axis.kernel == 0) {
    const Span span = window(axis, output);
    return span.end - span.begin;
  }
  const i32 first = output * axis.stride - axis.padding;
  const i32 last = first + axis.kernel, most = axis.input + axis.padding;
  return (last < most ? last : most) - first;
}

// Outputs that include all whose windows have an input.
SCONCE_INLINE Span outputs_of(const Axis& axis, i32 input) {
  if (axis.kernel == 0) {
    const i64 first = (i64)input * axis.output;
    return {(i32)(first / axis.input), (i32)((first + axis.output + axis.input - 1) / axis.input),
            1};
  }
  const i32 at = input + axis.padding;
  const i32 before = at - (axis.kernel - 1) * axis.dilation;
  const i32 end = at / axis.stride + 1;
  return {before > 0 ? (before + axis.stride - 1) / axis.stride : 0,
          end < axis.output ? end : axis.output, 1};
}

// The element of the result that the thread makes: batch, channel, depth, height, width. False
// behind the last one.
SCONCE_INLINE bool find(const Pool& pool, i32 (&at)[5]) {
  u32 rest = blockIdx.x * THREADS + threadIdx.x;
  if (rest >= pool.count) return false;
#pragma unroll
  for (u32 k = 0; k < 5; k++) {
    u32 here = rest;
    if (k < 4) {
      const u32 next = rest / pool.sizes[k];
      here = rest - next * pool.sizes[k];
      rest = next;
    }
    // Not `at[pool.order[k]] = here`, which would put the array into local memory.
#pragma unroll
    for (u32 dim = 0; dim < 5; dim++) {
      if (pool.order[k] == dim) at[dim] = (i32)here;
    }
  }
  return true;
}

template <typename T>
SCONCE_INLINE T* channel(const Operand& operand, const i32 (&at)[5]) {
  return (T*)operand.data + at[0] * operand.strides[0] + at[1] * operand.strides[1];
}

template <typename T>
SCONCE_INLINE T* element(const Operand& operand, T* channel, i32 depth, i32 height, i32 width) {
  return channel + depth * operand.strides[2] + height * operand.strides[3] +
         width * operand.strides[4];
}

template <typename Visit>
SCONCE_INLINE void each(const Span (&spans)[3], Visit visit) {
#pragma unroll 1
  for (i32 depth = spans[0].begin; depth < spans[0].end; depth += spans[0].step) {
#pragma unroll 1
    for (i32 height = spans[1].begin; height < spans[1].end; height += spans[1].step) {
#pragma unroll 4
      for (i32 width = spans[2].begin; width < spans[2].end; width += spans[2].step) {
        visit(depth, height, width);
      }
    }
  }
}

SCONCE_INLINE i64 number(const Pool& pool, i32 depth, i32 height, i32 width) {
  return ((i64)depth * pool.axes[1].input + height) * pool.axes[2].input + width;
}

// What the sum of a window is divided by; 0 if the window has no inputs.
SCONCE_INLINE i64 divisor(const Pool& pool, i32 depth, i32 height, i32 width) {
  const i32 at[3] = {depth, height, width};
  i64 counted = 1, found = 1;
#pragma unroll
  for (u32 k = 0; k < 3; k++) {
    const Span span = window(pool.axes[k], at[k]);
    found *= span.end > span.begin ? span.end - span.begin : 0;
    counted *= places(pool.axes[k], at[k]);
  }
  if (found == 0) return 0;
  if (pool.divisor != 0) return pool.divisor;
  return pool.count_padding ? counted : found;
}

template <typename T>
SCONCE_INLINE void max_pool(const Pool& pool) {
  i32 at[5];
  if (!find(pool, at)) return;
  const Span spans[3] = {window(pool.axes[0], at[2]), window(pool.axes[1], at[3]),
                         window(pool.axes[2], at[4])};
  const T* inputs = channel<const T>(pool.large, at);
  bool is_first = true;
  T best = T();
  i64 found = 0;
  each(spans, [&](i32 depth, i32 height, i32 width) {
    const T value = *element(pool.large, inputs, depth, height, width);
    // The last NaN counts, and nothing is larger than one.
    if (is_first || wide(value) > wide(best) || wide(value) != wide(value)) {
      best = value, found = number(pool, depth, height, width);
      is_first = false;
    }
  });
  *element(pool.small, channel<T>(pool.small, at), at[2], at[3], at[4]) = best;
  *element(pool.indices, channel<i64>(pool.indices, at), at[2], at[3], at[4]) = found;
}

template <typename T>
SCONCE_INLINE void mean_pool(const Pool& pool) {
  i32 at[5];
  if (!find(pool, at)) return;
  const Span spans[3] = {window(pool.axes[0], at[2]), window(pool.axes[1], at[3]),
                         window(pool.axes[2], at[4])};
  const T* inputs = channel<const T>(pool.large, at);
  Wide<T> sum = 0;
  each(spans, [&](i32 depth, i32 height, i32 width) {
    sum += wide(*element(pool.large, inputs, depth, height, width));
  });
  const i64 by = divisor(pool, at[2], at[3], at[4]);
  *element(pool.small, channel<T>(pool.small, at), at[2], at[3], at[4]) =
      narrow<T>(by == 0 ? (Wide<T>)0 : sum / (Wide<T>)by);
}

template <typename T>
SCONCE_INLINE void max_pool_backward(const Pool& pool) {
  i32 at[5];
  if (!find(pool, at)) return;
  const Span spans[3] = {outputs_of(pool.axes[0], at[2]), outputs_of(pool.axes[1], at[3]),
                         outputs_of(pool.axes[2], at[4])};
  const T* gradients = channel<const T>(pool.small, at);
  const i64* indices = channel<const i64>(pool.indices, at);
  const i64 own = number(pool, at[2], at[3], at[4]);
  Wide<T> sum = 0;
  each(spans, [&](i32 depth, i32 height, i32 width) {
    if (*element(pool.indices, indices, depth, height, width) == own) {
      sum += wide(*element(pool.small, gradients, depth, height, width));
    }
  });
  *element(pool.large, channel<T>(pool.large, at), at[2], at[3], at[4]) = narrow<T>(sum);
}

template <typename T>
SCONCE_INLINE void mean_pool_backward(const Pool& pool) {
  i32 at[5];
  if (!find(pool, at)) return;
  const Span spans[3] = {outputs_of(pool.axes[0], at[2]), outputs_of(pool.axes[1], at[3]),
                         outputs_of(pool.axes[2], at[4])};
  const T* gradients = channel<const T>(pool.small, at);
  Wide<T> sum = 0;
  each(spans, [&](i32 depth, i32 height, i32 width) {
    sum += wide(*element(pool.small, gradients, depth, height, width)) /
           (Wide<T>)divisor(pool, depth, height, width);
  });
  *element(pool.large, channel<T>(pool.large, at), at[2], at[3], at[4]) = narrow<T>(sum);
}

#define KERNEL(kind, name, T)                                           \
  extern "C" __global__ void __launch_bounds__(THREADS)                 \
      sconce_torch_##kind##_##name(const __grid_constant__ Pool pool) { \
    kind<T>(pool);                                                      \
  }

#define KERNELS(name, T)             \
  KERNEL(max_pool, name, T)          \
  KERNEL(mean_pool, name, T)         \
  KERNEL(max_pool_backward, name, T) \
  KERNEL(mean_pool_backward, name, T)

KERNELS(f32, float)
KERNELS(f64, double)
KERNELS(f16, Half)
KERNELS(bf16, Brain)
