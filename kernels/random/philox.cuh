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
//
// After two of the ten rounds the words still are the exclusive-or of one part that depends on the
// subsequence (and on the block's high word) and one that depends on the block's low word. So a
// thread that stays with its subsequences keeps the first, and shares the second among them.
struct SubsequencePart {
  u32 c0, c2, c3;
};
struct BlockPart {
  u32 c0, c1, c2;
};

constexpr u32 PHILOX_M0 = 0xD2511F53u, PHILOX_M1 = 0xCD9E8D57u;
constexpr u32 PHILOX_W0 = 0x9E3779B9u, PHILOX_W1 = 0xBB67AE85u;

SCONCE_INLINE SubsequencePart subsequence_part(u32 subsequence, u32 block_high, Key key) {
  const u32 word = high_product(PHILOX_M1, subsequence) ^ block_high ^ key.low;
  return {(PHILOX_M1 * subsequence) ^ (key.low + PHILOX_W0),
          high_product(PHILOX_M0, word) ^ (key.high + PHILOX_W1), PHILOX_M0 * word};
}

SCONCE_INLINE BlockPart block_part(u32 block_low, Key key) {
  const u32 word = high_product(PHILOX_M0, block_low) ^ key.high;
  return {high_product(PHILOX_M1, word), PHILOX_M1 * word, PHILOX_M0 * block_low};
}

SCONCE_INLINE Draw philox(const SubsequencePart& subsequence, const BlockPart& block, Key key) {
  u32 c0 = subsequence.c0 ^ block.c0, c1 = block.c1;
  u32 c2 = subsequence.c2 ^ block.c2, c3 = subsequence.c3;
#pragma unroll
  for (u32 round = 2; round < 10; ++round) {
    // Both halves of a product are written apart: the assembler makes one instruction of the two.
    const u32 high0 = high_product(PHILOX_M0, c0), low0 = PHILOX_M0 * c0;
    const u32 high1 = high_product(PHILOX_M1, c2), low1 = PHILOX_M1 * c2;
    c0 = high1 ^ c1 ^ (key.low + round * PHILOX_W0);
    c1 = low1;
    c2 = high0 ^ c3 ^ (key.high + round * PHILOX_W1);
    c3 = low0;
  }
  return {{c0, c1, c2, c3}};
}

SCONCE_INLINE Draw philox(u64 block, u32 subsequence, Key key) {
  return philox(subsequence_part(subsequence, (u32)(block >> 32), key), block_part((u32)block, key),
                key);
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
