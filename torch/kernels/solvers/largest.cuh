// The largest of what the threads of a block bring.
#pragma once

#include "solvers/field.cuh"

// A place with a value that is compared.
template <class R>
struct Found {
  R value;
  i64 at;
};

// The largest of what all threads bring; the lower place of two that are equal. `shared` has an
// entry for each thread.
template <class R>
SCONCE_INLINE Found<R> largest(Found<R> own, Found<R>* shared) {
  shared[threadIdx.x] = own;
  __syncthreads();
#pragma unroll 1
  for (u32 half = THREADS / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      const Found<R> other = shared[threadIdx.x + half];
      Found<R>& mine = shared[threadIdx.x];
      if (other.value > mine.value || (other.value == mine.value && other.at < mine.at)) {
        mine = other;
      }
    }
    __syncthreads();
  }
  const Found<R> found = shared[0];
  __syncthreads();
  return found;
}
