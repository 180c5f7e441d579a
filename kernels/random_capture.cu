// Generators that live on the device, for CUDA graphs: docs/design/random.md.

#include "types.cuh"

// Takes the next `increment` of a captured generator's sequence, so that nothing else gets it, and
// notes in `slot` where it begins, as {seed, offset}; the fill behind it draws from there.
//
// `record` is {change of the seed, how far the offset has come}, differences to `seed` and
// `offset`, which are what the generator had when its record began as zeros.
extern "C" __global__ void sconce_random_take(u64 record, u64 increment, u64 slot, u64 seed,
                                              u64 offset) {
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    u64* const state = (u64*)record;
    const u64 taken = atomicAdd(state + 1, increment);
    u64* const out = (u64*)slot;
    out[0] = seed ^ state[0];
    out[1] = offset + taken;
  }
}
