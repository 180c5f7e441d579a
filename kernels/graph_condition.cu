// Conditions of conditional nodes of graphs: docs/design/graph.md.

typedef unsigned long long u64;

// The driver has this function; it is linked when the driver compiles the PTX. The assemblers of a
// toolkit do not have it, so there is no machine code of this image.
extern "C" __device__ void cudaGraphSetConditional(u64 condition, unsigned value);

// Sets a condition to an integer without a sign of 1, 4 or 8 bytes in memory. A larger number than
// a condition holds becomes the largest.
extern "C" __global__ void sconce_graph_set_condition(u64 condition, u64 address, unsigned bytes) {
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    u64 value;
    if (bytes == 1) {
      value = *(const unsigned char*)address;
    } else if (bytes == 4) {
      value = *(const unsigned*)address;
    } else {
      value = *(const u64*)address;
    }
    cudaGraphSetConditional(condition, value > 0xffffffffULL ? 0xffffffffU : (unsigned)value);
  }
}
