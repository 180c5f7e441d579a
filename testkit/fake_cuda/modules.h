// What a driver tells of a kernel, and launches with attributes. Kernels have two parameters, of 8
// and 4 bytes.

API int cuFuncGetAttribute(int* value, int attribute, void* function) {
  return *value = attribute * 10, function && function == current() ? OK : INVALID_CONTEXT;
}
API int cuFuncSetAttribute(void* function, int attribute, int value) {
  fake.words[0] = attribute, fake.words[1] = value;
  return function && function == current() ? OK : INVALID_CONTEXT;
}
API int cuFuncGetParamInfo(void* function, size_t index, size_t* offset, size_t* bytes) {
  if (!function || function != current()) return INVALID_CONTEXT;
  if (index > 1) return INVALID_VALUE;
  return *offset = index * 8, *bytes = index == 0 ? 8 : 4, OK;
}
API int cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, void* function, int threads,
                                                    size_t shared) {
  fake.words[0] = threads, fake.words[1] = (long)shared;
  return *blocks = 6, function == current() ? OK : INVALID_CONTEXT;
}
API int cuOccupancyMaxPotentialBlockSize(int* blocks, int* threads, void* function, void* sizes,
                                         size_t shared, int most) {
  fake.words[0] = (long)shared, fake.words[1] = most;
  return *blocks = 264, *threads = 512,
         sizes                   ? INVALID_VALUE
         : function == current() ? OK
                                 : INVALID_CONTEXT;
}
API int cuLaunchCooperativeKernel(void* f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                  unsigned by, unsigned bz, unsigned shared, Stream* stream,
                                  void** args) {
  fake.words[7] = 2;
  return cuLaunchKernel(f, gx, gy, gz, bx, by, bz, shared, stream, args, NULL);
}

// The layouts of the driver's header, written again so that the test compares two sources.
typedef struct {
  int id;
  char pad[4];
  union {
    char whole[64];
    int cooperative, early;
    struct {
      unsigned x, y, z;
    } cluster;
  } value;
} LaunchAttribute;
typedef struct {
  unsigned gx, gy, gz, bx, by, bz, shared;
  Stream* stream;
  LaunchAttribute* attributes;
  unsigned count;
} LaunchConfig;

API int cuLaunchKernelEx(const LaunchConfig* c, void* f, void** args, void** extra) {
  if (c->count == 1 && c->attributes[0].id == 6 && c->attributes[0].value.early == 1) {
    fake.words[7] = 20;
    return cuLaunchKernel(f, c->gx, c->gy, c->gz, c->bx, c->by, c->bz, c->shared, c->stream, args,
                          extra);
  }
  if (c->count < 1 || c->attributes[0].id != 4) return INVALID_VALUE;
  if (c->count > 1 && (c->attributes[1].id != 2 || c->attributes[1].value.cooperative != 1))
    return INVALID_VALUE;
  const int code = cuLaunchKernel(f, c->gx, c->gy, c->gz, c->bx, c->by, c->bz, c->shared, c->stream,
                                  args, extra);
  fake.words[5] = c->attributes[0].value.cluster.x * 100 + c->attributes[0].value.cluster.y * 10 +
                  c->attributes[0].value.cluster.z;
  return fake.words[7] = 10 + c->count, code;
}
