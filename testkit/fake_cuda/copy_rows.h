// Copies and fills of rows: what the fake notes of their shapes.

// As the driver's header has it, written again.
typedef struct {
  size_t src_x, src_y;
  unsigned src_type;
  const void* src_host;
  uint64_t src_device;
  void* src_array;
  size_t src_pitch, dst_x, dst_y;
  unsigned dst_type;
  void* dst_host;
  uint64_t dst_device;
  void* dst_array;
  size_t dst_pitch, width, height;
} Rows;
// An address of host memory (type 1) lies in one place, of any other (4) in the other.
static int64_t side(unsigned type, const void* host, uint64_t device) {
  return type == 1 && !device ? (int64_t)host : type == 4 && !host ? (int64_t)device : -1;
}
API int cuMemcpy2DAsync_v2(const Rows* r, Stream* stream) {
  if (!current() || context_of(stream) != current()) return INVALID_CONTEXT;
  if (r->src_x || r->src_y || r->src_array || r->dst_x || r->dst_y || r->dst_array) return TRAP;
  fake.words[0] = side(r->dst_type, r->dst_host, r->dst_device), fake.words[1] = r->dst_pitch;
  fake.words[2] = side(r->src_type, r->src_host, r->src_device), fake.words[3] = r->src_pitch;
  fake.words[4] = r->width, fake.words[5] = r->height,
  fake.words[6] = r->dst_type * 10 + r->src_type;
  return fake.copies++, (int)fake.code;
}
API int cuMemsetD2D8Async(uint64_t to, size_t pitch, unsigned char value, size_t width,
                          size_t height, Stream* stream) {
  fake.words[0] = to, fake.words[1] = pitch, fake.words[2] = value;
  fake.words[3] = width, fake.words[4] = height;
  return context_of(stream) == current() ? OK : INVALID_CONTEXT;
}
