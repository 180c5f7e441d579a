// Many pieces of bytes joined in one range: docs/design/ordering.md.
//
// A block copies from one piece, whose number is the block's y; blocks beyond a short piece's end
// have nothing to do. The pieces are a parameter, as many as the smallest limit of all drivers
// takes.

#include "types.cuh"

// These are in `crates/kernels/src/ordering/many.rs` too: pieces, a block's threads, and a thread's
// units.
constexpr u32 MOST_PIECES = 253;
constexpr u32 THREADS = 256;
constexpr u32 EACH = 4;

struct Piece {
  const char* src;
  u32 start;  // from the beginning of the range
  u32 bytes;
};

struct Pieces {
  char* dst;
  u64 count;  // the grid has no blocks for other pieces
  Piece of[MOST_PIECES];
};

template <typename T>
SCONCE_INLINE void copy(char* dst, const char* src, u32 bytes) {
  const u32 n = bytes / sizeof(T), first = blockIdx.x * (THREADS * EACH) + threadIdx.x;
  T values[EACH];
  // All loads before all stores, so that they are under way together.
#pragma unroll
  for (u32 k = 0; k < EACH; k++) {
    const u32 at = first + k * THREADS;
    if (at < n) values[k] = *((const T*)src + at);
  }
#pragma unroll
  for (u32 k = 0; k < EACH; k++) {
    const u32 at = first + k * THREADS;
    if (at < n) *((T*)dst + at) = values[k];
  }
}

extern "C" __global__ void __launch_bounds__(THREADS)
    sconce_join_many(const __grid_constant__ Pieces pieces) {
  const Piece piece = pieces.of[blockIdx.y];
  char* const dst = pieces.dst + piece.start;
  // The widest unit of which both addresses and the size are multiples; the same in a whole block.
  const u32 all = (u32)(u64)dst | (u32)(u64)piece.src | piece.bytes;
  if (all % 16 == 0) {
    copy<uint4>(dst, piece.src, piece.bytes);
  } else if (all % 8 == 0) {
    copy<u64>(dst, piece.src, piece.bytes);
  } else if (all % 4 == 0) {
    copy<u32>(dst, piece.src, piece.bytes);
  } else if (all % 2 == 0) {
    copy<u16>(dst, piece.src, piece.bytes);
  } else {
    copy<u8>(dst, piece.src, piece.bytes);
  }
}
