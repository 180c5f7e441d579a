// Philox4x32-10: the counter-based generator of Salmon, Moraes, Dror and Shaw, "Parallel random
// numbers: as easy as 1, 2, 3" (SC 2011). A pure function from a 128-bit counter and a 64-bit key
// to four words: nothing is carried from draw to draw.
#pragma once

#include "machine.cuh"

struct Draw {
  u32 w[4];
};

struct Key {
  u32 low, high;
};

// The counter is (block, subsequence), each 64 bits; no subsequence used here needs more than 32.
SCONCE_INLINE Draw philox(u64 block, u32 subsequence, Key key) {
  u32 c0 = (u32)block, c1 = (u32)(block >> 32), c2 = subsequence, c3 = 0;
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    // Both halves of a product are written apart: the assembler makes one instruction of the two.
    const u32 high0 = high_product(0xD2511F53u, c0), low0 = 0xD2511F53u * c0;
    const u32 high1 = high_product(0xCD9E8D57u, c2), low1 = 0xCD9E8D57u * c2;
    c0 = high1 ^ c1 ^ key.low;
    c1 = low1;
    c2 = high0 ^ c3 ^ key.high;
    c3 = low0;
    key.low += 0x9E3779B9u;
    key.high += 0xBB67AE85u;
  }
  return {{c0, c1, c2, c3}};
}

// The two 64-bit draws in a block: the first word of each pair is the high one.
SCONCE_INLINE u64 wide_word(const Draw& draw, int j) {
  return (u64)draw.w[2 * j] << 32 | draw.w[2 * j + 1];
}

// Uniform in (0, 1]: the middle of the word's interval, rounded.
SCONCE_INLINE float unit_float(u32 word) { return fmaf((float)word, 0x1p-32f, 0x1p-33f); }

// The same from 53 of the pair's 64 bits. Multiplied and added by `scale` and `scale / 2`, which
// are 2^-53 and 2^-54 for (0, 1], and twice that for (0, 2].
SCONCE_INLINE double scaled_double(u32 low, u32 high, double scale) {
  return fma((double)((u64)low ^ (u64)high << 21), scale, scale * 0.5);
}
SCONCE_INLINE double unit_double(const Draw& draw, int j) {
  return scaled_double(draw.w[2 * j], draw.w[2 * j + 1], 0x1p-53);
}
