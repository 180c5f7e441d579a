// cuMemAlloc and its neighbours. Part of fake_cuda.c.
//
// Without CAPACITY every allocation is at (device + 1) << 40, and nothing is counted: page-locked
// memory is at 1 << 50 and (device << 44) more, all of one size. With CAPACITY allocations are
// multiples of 2 MiB at the lowest free address, so that a freed address is handed out again at
// once; one that would exceed the capacity is refused. Any thread may call.

#if CAPACITY

#include <pthread.h>
#include <time.h>

enum { OUT_OF_MEMORY = 2, GRAIN = 2 << 20, MOST_RANGES = 1 << 16 };

// The allocations of a device, in the order of addresses.
static struct {
  size_t count;
  uint64_t bytes;
  struct {
    uint64_t at, bytes;
  } range[MOST_RANGES];
} memory[DEVICE_COUNT + 1];
static pthread_mutex_t memory_lock = PTHREAD_MUTEX_INITIALIZER;

static void take_time(void) {
  const struct timespec time = {0, DELAY_US * 1000L};
  if (DELAY_US) nanosleep(&time, NULL);
}

// Bytes of a device that are allocated.
uint64_t fake_live_bytes(int device) {
  pthread_mutex_lock(&memory_lock);
  const uint64_t bytes = memory[device].bytes;
  return pthread_mutex_unlock(&memory_lock), bytes;
}

API int cuMemGetInfo_v2(size_t* free_bytes, size_t* total) {
  if (!current()) return INVALID_CONTEXT;
  return *free_bytes = (CAPACITY)-fake_live_bytes(current()->device), *total = CAPACITY, OK;
}
API int cuMemAlloc_v2(uint64_t* address, size_t bytes) {
  if (!current()) return INVALID_CONTEXT;
  if (!bytes) return INVALID_VALUE;
  take_time();
  const int device = current()->device;
  const uint64_t rounded = (bytes + GRAIN - 1) / GRAIN * GRAIN;
  uint64_t at = ((uint64_t)device + 1) << 40;
  pthread_mutex_lock(&memory_lock);
  int code = OUT_OF_MEMORY;
  if (rounded >= bytes && rounded <= (CAPACITY)-memory[device].bytes &&
      memory[device].count < MOST_RANGES) {
    size_t place = 0;
    for (; place < memory[device].count; place++) {
      if (memory[device].range[place].at - at >= rounded) break;
      at = memory[device].range[place].at + memory[device].range[place].bytes;
    }
    memmove(&memory[device].range[place + 1], &memory[device].range[place],
            (memory[device].count - place) * sizeof memory[device].range[0]);
    memory[device].range[place].at = at, memory[device].range[place].bytes = rounded;
    memory[device].count++, memory[device].bytes += rounded;
    *address = at, code = OK;
  }
  return pthread_mutex_unlock(&memory_lock), code;
}
API int cuMemFree_v2(uint64_t address) {
  if (!current()) return INVALID_CONTEXT;
  take_time();
  const int device = (int)(address >> 40) - 1;
  if (device < 0 || device >= DEVICE_COUNT) return INVALID_VALUE;
  pthread_mutex_lock(&memory_lock);
  int code = INVALID_VALUE;
  for (size_t place = 0; place < memory[device].count; place++) {
    if (memory[device].range[place].at != address) continue;
    memory[device].count--, memory[device].bytes -= memory[device].range[place].bytes;
    memmove(&memory[device].range[place], &memory[device].range[place + 1],
            (memory[device].count - place) * sizeof memory[device].range[0]);
    fake.frees++, code = OK;
    break;
  }
  return pthread_mutex_unlock(&memory_lock), code;
}

#else

API int cuMemGetInfo_v2(size_t* free_bytes, size_t* total) {
  if (!current()) return INVALID_CONTEXT;
  *free_bytes = FREE_BYTES, *total = ((size_t)current()->device + 1) << 33;
  return OK;
}
API int cuMemAlloc_v2(uint64_t* address, size_t bytes) {
  if (!current()) return INVALID_CONTEXT;
  return *address = ((uint64_t)current()->device + 1) << 40, bytes ? OK : INVALID_VALUE;
}
API int cuMemFree_v2(uint64_t address) {
  if (!current() || address >> 40 != (uint64_t)current()->device + 1) return INVALID_CONTEXT;
  return fake.frees++, OK;
}

#endif
