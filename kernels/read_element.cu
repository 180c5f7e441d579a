// The bytes of one element, written to pinned memory of the host: docs/design/copy.md.
//
// Each thread writes 4 bytes and, in the upper half of the same 64 bits, the tag that the host
// waits for. 64 bits arrive at once, so the host needs nothing but the tag to know that the bytes
// are there.

#include "types.cuh"

// These are in `kernels/read_element.rs` too.
constexpr u32 WORDS = 4;
constexpr u32 BYTES_OF_WORD = 4;

extern "C" __global__ void __launch_bounds__(WORDS)
    sconce_read_element(const unsigned char* src, u64 place, u32 bytes, u32 tag) {
  const u32 first = threadIdx.x * BYTES_OF_WORD;
  u32 word = 0;
#pragma unroll
  for (u32 i = 0; i < BYTES_OF_WORD; i++) {
    if (first + i < bytes) word |= (u32)src[first + i] << 8 * i;
  }
  const u64 both = (u64)tag << 32 | word;
  asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(place + 8 * threadIdx.x), "l"(both)
               : "memory");
}
