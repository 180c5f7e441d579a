// Random permutations: docs/design/random.md.

#include "random/philox.cuh"

// Gives neighbours of equal keys a random order, as torch's randperm does after it has sorted
// random keys. `keys` are sorted, of 8 bytes if `wide` is not 0, else of 4; `values` of 8 bytes
// belong to them. The thread of the first of equal keys shuffles their values, from the end, with
// draws of a subsequence of its own. `state` is the address of a captured state, {seed, offset} to
// which `offset` is added, or 0.
extern "C" __global__ void __launch_bounds__(256)
    sconce_random_permute(u64 keys, u64 values, u64 count, u64 wide, u64 seed, u64 offset,
                          u64 state) {
  const u64 first = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (first + 1 >= count) {
    return;
  }
  const auto key = [=](u64 index) -> u64 {
    return wide ? ((const u64*)keys)[index] : ((const u32*)keys)[index];
  };
  const u64 own = key(first);
  if (key(first + 1) != own || (first != 0 && key(first - 1) == own)) {
    return;
  }
  u64 size = 2;
  while (first + size < count && key(first + size) == own) {
    ++size;
  }
  if (state != 0) {
    seed = ((const u64*)state)[0];
    offset += ((const u64*)state)[1];
  }
  u64* const island = (u64*)values + first;
  const Key philox_key = {(u32)seed, (u32)(seed >> 32)};
  Draw draw;
  for (u64 last = size - 1, drawn = 0; last > 0; --last, ++drawn) {
    if (drawn % 4 == 0) {
      draw = philox(offset / 4 + drawn / 4, (u32)first, philox_key);
    }
    const u64 other = draw.w[drawn % 4] % (u32)(last + 1);
    const u64 value = island[last];
    island[last] = island[other];
    island[other] = value;
  }
}
