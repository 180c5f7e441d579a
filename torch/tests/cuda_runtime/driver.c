// A small libcuda with the functions that the own CUDA runtime calls. It has two devices, whose
// memory is the host's, and writes down every call.
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OK = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, INVALID_DEVICE = 101, NO_CONTEXT = 201 };
enum { NOT_FOUND = 500, NOT_READY = 600 };

static char text[1 << 14];
static __thread int current = -1;

// Calls since the last time, and their numbers.
const char* fake_calls(void) {
  static char taken[sizeof text];
  memcpy(taken, text, sizeof text);
  text[0] = 0;
  return taken;
}

static int note(const char* format, ...) {
  const size_t length = strlen(text);
  va_list numbers;
  va_start(numbers, format);
  vsnprintf(text + length, sizeof text - length, format, numbers);
  va_end(numbers);
  return OK;
}

int cuInit(unsigned flags) { return flags == 0 ? OK : INVALID_VALUE; }
int cuDriverGetVersion(int* version) {
  *version = 13000;
  return OK;
}
int cuGetErrorString(int code, const char** found) {
  *found = code == OUT_OF_MEMORY ? "out of memory" : NULL;
  return *found == NULL ? INVALID_VALUE : OK;
}
int cuGetErrorName(int code, const char** found) {
  *found = code == OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY" : NULL;
  return *found == NULL ? INVALID_VALUE : OK;
}
int cuDeviceGetCount(int* count) {
  *count = 2;
  return OK;
}
int cuDeviceGet(int* device, int index) {
  *device = index;
  return index >= 0 && index < 2 ? OK : INVALID_DEVICE;
}
int cuDeviceGetAttribute(int* value, int attribute, int device) {
  *value = attribute * 10 + device;
  return OK;
}
int cuDevicePrimaryCtxRetain(void** context, int device) {
  *context = (void*)(size_t)(device + 1);
  return note("retain %d;", device);
}
int cuCtxGetCurrent(void** context) {
  *context = current < 0 ? NULL : (void*)(size_t)(current + 1);
  return OK;
}
int cuCtxSetCurrent(void* context) {
  current = (int)(size_t)context - 1;
  return note("current %d;", current);
}
int cuCtxGetDevice(int* device) {
  *device = current;
  return current < 0 ? NO_CONTEXT : OK;
}
int cuCtxSynchronize(void) { return note("synchronize %d;", current); }
int cuMemAlloc_v2(size_t* address, size_t bytes) {
  if (bytes > 1 << 20) {
    return OUT_OF_MEMORY;
  }
  *address = (size_t)malloc(bytes);
  return note("allocate %zu;", bytes);
}
int cuMemFree_v2(size_t address) {
  free((void*)address);
  return note("free;");
}
int cuMemAllocAsync(size_t* address, size_t bytes, void* stream) {
  *address = (size_t)malloc(bytes);
  return note("allocate %zu on %zu;", bytes, (size_t)stream);
}
int cuMemFreeAsync(size_t address, void* stream) {
  free((void*)address);
  return note("free on %zu;", (size_t)stream);
}
int cuMemHostAlloc(void** address, size_t bytes, unsigned flags) {
  *address = malloc(bytes);
  return note("host %zu flags %u;", bytes, flags);
}
int cuMemFreeHost(void* address) {
  free(address);
  return note("free host;");
}
int cuMemGetInfo_v2(size_t* is_free, size_t* total) {
  *is_free = 3;
  *total = 4;
  return OK;
}
int cuMemcpy(size_t into, size_t from, size_t bytes) {
  memmove((void*)into, (const void*)from, bytes);
  return note("copy %zu;", bytes);
}
int cuMemcpyAsync(size_t into, size_t from, size_t bytes, void* stream) {
  memmove((void*)into, (const void*)from, bytes);
  return note("copy %zu on %zu;", bytes, (size_t)stream);
}
int cuMemsetD8_v2(size_t into, unsigned char value, size_t bytes) {
  memset((void*)into, value, bytes);
  return note("fill %zu;", bytes);
}
int cuMemsetD8Async(size_t into, unsigned char value, size_t bytes, void* stream) {
  memset((void*)into, value, bytes);
  return note("fill %zu on %zu;", bytes, (size_t)stream);
}
int cuStreamCreateWithPriority(void** stream, unsigned flags, int priority) {
  *stream = (void*)0x100;
  return note("stream %u %d;", flags, priority);
}
int cuStreamDestroy_v2(void* stream) { return note("stream %zu ends;", (size_t)stream); }
int cuStreamSynchronize(void* stream) { return note("wait for stream %zu;", (size_t)stream); }
int cuStreamQuery(void* stream) { return stream == NULL ? OK : NOT_READY; }
int cuStreamWaitEvent(void* stream, void* event, unsigned flags) {
  return note("stream %zu waits for %zu, %u;", (size_t)stream, (size_t)event, flags);
}
int cuStreamIsCapturing(void* stream, int* status) {
  *status = stream != NULL;
  return OK;
}
int cuThreadExchangeStreamCaptureMode(int* mode) {
  static __thread int own = 1;
  const int before = own;
  own = *mode;
  *mode = before;
  return note("mode %d;", own);
}
int cuEventCreate(void** event, unsigned flags) {
  *event = (void*)0x200;
  return note("event %u;", flags);
}
int cuEventDestroy_v2(void* event) { return note("event %zu ends;", (size_t)event); }
int cuEventQuery(void* event) { return event == NULL ? INVALID_VALUE : NOT_READY; }
int cuEventRecord(void* event, void* stream) {
  return note("record %zu on %zu;", (size_t)event, (size_t)stream);
}
int cuEventSynchronize(void* event) { return note("wait for event %zu;", (size_t)event); }
int cuEventElapsedTime(float* milliseconds, void* start, void* end) {
  *milliseconds = start == end ? 0.0F : 2.5F;
  return OK;
}
int cuLibraryLoadData(void** library, const void* code, const int* options, void** values,
                      unsigned count, const int* more, void** more_values, unsigned more_count) {
  if (options != NULL || values != NULL || more != NULL || more_values != NULL ||
      count + more_count != 0 || code == NULL) {
    return INVALID_VALUE;
  }
  *library = (void*)code;
  return note("load %s;", (const char*)code);
}
int cuLibraryUnload(void* library) { return note("unload %s;", (const char*)library); }
int cuLibraryGetKernel(void** kernel, void* library, const char* name) {
  if (strcmp(name, "scale") != 0) {
    return NOT_FOUND;
  }
  *kernel = library;
  return note("kernel %s;", name);
}
int cuKernelGetFunction(void** function, void* kernel) {
  *function = (char*)kernel + 1;
  return OK;
}
int cuFuncSetAttribute(void* function, int attribute, int value) {
  return note("function %s attribute %d is %d;", (const char*)function, attribute, value);
}
int cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, void* function, int threads,
                                                         size_t shared, unsigned flags) {
  (void)function;
  *blocks = threads + (int)shared + (int)flags;
  return OK;
}
int cuLaunchKernel(void* function, unsigned x, unsigned y, unsigned z, unsigned block_x,
                   unsigned block_y, unsigned block_z, unsigned shared, void* stream,
                   void** arguments, void** extra) {
  if (extra != NULL) {
    return INVALID_VALUE;
  }
  return note("launch %s %u %u %u by %u %u %u, %u bytes on %zu with %d;", (const char*)function, x,
              y, z, block_x, block_y, block_z, shared, (size_t)stream, *(int*)arguments[0]);
}

int cuFuncGetAttribute(int* value, int attribute, void* function) {
  (void)function;
  *value = 1000 + attribute;
  return attribute == 14 ? INVALID_VALUE : OK;
}
struct config {
  unsigned grid[3], block[3], shared;
  void* stream;
  const int* attributes;
  unsigned count;
};
int cuLaunchKernelEx(const struct config* config, void* function, void** arguments, void** extra) {
  return extra != NULL
             ? INVALID_VALUE
             : note("launch %s %u %u %u by %u %u %u, %u bytes on %zu with %d, %u attributes, %d;",
                    (const char*)function, config->grid[0], config->grid[1], config->grid[2],
                    config->block[0], config->block[1], config->block[2], config->shared,
                    (size_t)config->stream, *(int*)arguments[0], config->count,
                    config->attributes[0]);
}
int cuLaunchCooperativeKernel(void* function, unsigned x, unsigned y, unsigned z, unsigned block_x,
                              unsigned block_y, unsigned block_z, unsigned shared, void* stream,
                              void** arguments) {
  return note("launch %s %u %u %u by %u %u %u together, %u bytes on %zu with %d;",
              (const char*)function, x, y, z, block_x, block_y, block_z, shared, (size_t)stream,
              *(int*)arguments[0]);
}
int cuLibraryGetGlobal(size_t* address, size_t* bytes, void* library, const char* name) {
  static char variable[4];
  (void)library;
  if (strcmp(name, "variable") != 0) {
    return NOT_FOUND;
  }
  *address = (size_t)variable;
  *bytes = sizeof variable;
  return OK;
}
struct side {
  size_t first_byte, first_row;
  unsigned kind;
  size_t host, device;
  void* array;
  size_t pitch;
};
struct rows {
  struct side from, into;
  size_t width, count;
};
int cuMemcpy2DAsync_v2(const struct rows* copy, void* stream) {
  const size_t from = copy->from.kind == 1 ? copy->from.host : copy->from.device;
  const size_t into = copy->into.kind == 1 ? copy->into.host : copy->into.device;
  if (copy->from.array != NULL || copy->into.array != NULL) {
    return INVALID_VALUE;
  }
  for (size_t row = 0; row < copy->count; ++row) {
    memmove((char*)into + row * copy->into.pitch, (const char*)from + row * copy->from.pitch,
            copy->width);
  }
  return note("copy %zu rows of %zu from %u to %u on %zu;", copy->count, copy->width,
              copy->from.kind, copy->into.kind, (size_t)stream);
}
int cuMemHostGetDevicePointer_v2(size_t* address, void* host, unsigned flags) {
  *address = (size_t)host + 1;
  return flags == 0 ? OK : INVALID_VALUE;
}
// Odd addresses are of the device 1, those that four divides are managed, others are unknown.
int cuPointerGetAttributes(unsigned count, const int* attributes, void* const* values,
                           size_t address) {
  const int known = address % 2 == 1 || address % 4 == 0;
  for (unsigned at = 0; at < count; ++at) {
    switch (attributes[at]) {
      case 2:
        *(int*)values[at] = known ? 2 : 0;
        break;
      case 3:
        *(size_t*)values[at] = known ? address : 0;
        break;
      case 4:
        *(size_t*)values[at] = known ? address + 2 : 0;
        break;
      case 8:
        *(unsigned char*)values[at] = address % 4 == 0;
        break;
      case 9:
        *(int*)values[at] = known ? 1 : -2;
        break;
      default:
        return INVALID_VALUE;
    }
  }
  return OK;
}
struct handle {
  char bytes[64];
};
int cuIpcGetMemHandle(struct handle* handle, size_t address) {
  memset(handle, 7, sizeof *handle);
  memcpy(handle->bytes + 56, &address, 8);
  return OK;
}
int cuIpcOpenMemHandle_v2(size_t* address, struct handle handle, unsigned flags) {
  memcpy(address, handle.bytes + 56, 8);
  return handle.bytes[0] == 7 ? note("open memory, flags %u;", flags) : INVALID_VALUE;
}
int cuIpcCloseMemHandle(size_t address) { return note("close memory %zu;", address); }
int cuDeviceGetName(char* name, int capacity, int device) {
  snprintf(name, (size_t)capacity, "a device, number %d", device);
  return OK;
}
int cuDeviceTotalMem_v2(size_t* bytes, int device) {
  *bytes = (size_t)80 << 30 | (size_t)device;
  return OK;
}
int cuDeviceGetUuid_v2(char* uuid, int device) {
  memset(uuid, 3 + device, 16);
  return OK;
}
int cuGetProcAddress_v2(const char* name, void** address, int version, unsigned long long flags,
                        int* found) {
  *address = (void*)name;
  if (found != NULL) {
    *found = 0;
  }
  return note("address of %s, %d, %llu;", name, version, flags);
}
