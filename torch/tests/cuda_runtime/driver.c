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
