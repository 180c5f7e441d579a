// A small libcuda for the loader's tests: enough of the driver to count contexts, follow what is
// current, and answer with codes of the test's choice. No memory of a device is behind it.
//
// Built once a variant, by -D:
//   INIT_CODE=n      cuInit answers n          DEVICE_COUNT=n   how many devices there are
//   MISSING="name"   that function is absent   EXPORT_SYMBOLS   no cuGetProcAddress at all
//   FREE_BYTES=n     what cuMemGetInfo answers
//   CAPABILITY=90    compute capability 9.0  REFUSED_MACHINE_CODE=n  loading a cubin fails with n
//   CAPACITY=n       device memory is counted, n bytes a device; see device_memory.h
//   DELAY_US=n       with CAPACITY, how long cuMemAlloc and cuMemFree take
//   PROC_ADDRESS_V1  only the 11.3 one         (else: cuGetProcAddress_v2 and nothing but it)

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef INIT_CODE
#define INIT_CODE 0
#endif
#ifndef DEVICE_COUNT
#define DEVICE_COUNT 2
#endif
#ifndef REFUSED_MACHINE_CODE
#define REFUSED_MACHINE_CODE 0
#endif
#ifndef FREE_BYTES
#define FREE_BYTES (1 << 20)
#endif
#ifndef CAPACITY
#define CAPACITY 0
#endif
#ifndef DELAY_US
#define DELAY_US 0
#endif
#ifndef MISSING
#define MISSING ""
#endif
#ifdef EXPORT_SYMBOLS
#define API
#else
#define API static
#endif

enum { OK = 0, INVALID_VALUE = 1, INVALID_DEVICE = 101, INVALID_CONTEXT = 201 };
enum { ALREADY_ENABLED = 704, INVALID_HANDLE = 400, NOT_FOUND = 500, NOT_READY = 600, TRAP = 9998 };

typedef struct {
  int device;
} Context;
typedef struct {
  Context* context;
  unsigned flags;
  int priority;
  uint64_t id;
  int destroyed, capturing;
} Stream;
typedef struct {
  Context* context;
  unsigned flags;
} Event;
typedef struct {
  char bytes[64];
} Ipc;

// The layouts of the driver's header, written again so that the test compares two sources.
typedef struct {
  unsigned type;
  int id;
} Location;
typedef struct {
  unsigned type, handle_types;
  Location location;
  void* win32;
  struct {
    unsigned char compression, rdma;
    unsigned short usage;
    unsigned char reserved[4];
  } flags;
} Properties;
typedef struct {
  Location location;
  unsigned flags;
} AccessDesc;

static Context contexts[DEVICE_COUNT + 1];
static int retained[DEVICE_COUNT + 1];

// Each thread's stack of current contexts.
static __thread Context* stack[8];
static __thread int depth;

// What tests read and set.
struct fake {
  long retains, set_current, get_current, records, synchronizes, frees, copies, bad_flags;
  long strict;   // handles that know their context want one current all the same
  long pending;  // events and streams are not ready
  long code;     // cuEventQuery, cuStreamDestroy_v2 and cuMemcpyAsync answer this
  long active;   // bit n: somebody else made the context of device n
  long waiting;  // cuCtxSynchronize answers this
  long words[8];
  long handles, mappings,
      ranges;        // physical memory, its mappings and reserved addresses that are live
  long rdma_access;  // cuMemSetAccess answers this for memory made for RDMA
  long all_access;   // and this for any memory
};
struct fake fake;

static Context* current(void) { return depth > 0 ? stack[depth - 1] : NULL; }
API int cuInit(unsigned flags) { return flags == 0 ? INIT_CODE : INVALID_VALUE; }
API int cuGetErrorName(int code, const char** name) {
  *name = code == 0     ? "CUDA_SUCCESS"
          : code == 1   ? "CUDA_ERROR_INVALID_VALUE"
          : code == 100 ? "CUDA_ERROR_NO_DEVICE"
          : code == 201 ? "CUDA_ERROR_INVALID_CONTEXT"
          : code == 500 ? "CUDA_ERROR_NOT_FOUND"
          : code == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS"
                        : NULL;
  return *name ? OK : INVALID_VALUE;
}

API int cuDeviceGetCount(int* count) { return *count = DEVICE_COUNT, OK; }
API int cuDeviceGet(int* device, int ordinal) { return *device = ordinal, OK; }
API int cuDeviceGetName(char* name, int length, int device) {
  const char text[] = {'F', 'a', 'k', 'e', ' ', (char)('0' + device), 0};
  if (length < (int)sizeof text) return INVALID_VALUE;
  memcpy(name, text, sizeof text);
  return OK;
}
API int cuDeviceGetAttribute(int* value, int attribute, int device) {
#ifdef CAPABILITY
  if (attribute == 75) return *value = CAPABILITY / 10, OK;
  if (attribute == 76) return *value = CAPABILITY % 10, OK;
#endif
  return *value = attribute * 10 + device, OK;
}
API int cuDeviceTotalMem_v2(size_t* bytes, int device) {
  return *bytes = CAPACITY ? CAPACITY : ((size_t)device + 1) << 33, OK;
}
API int cuDeviceGetUuid_v2(char* uuid, int device) { return memset(uuid, 0xA0 + device, 16), OK; }
API int cuDeviceGetPCIBusId(char* id, int length, int device) {
  if (length < 13) return INVALID_VALUE;
  memcpy(id, device == 0 ? "0000:0A:00.0" : "0000:0B:00.0", 13);
  return OK;
}
API int cuDeviceCanAccessPeer(int* can, int device, int peer) { return *can = device != peer, OK; }
API int cuCtxEnablePeerAccess(Context* peer, unsigned flags) {
  if (!current() || flags) return INVALID_VALUE;
  fake.words[0] = current()->device, fake.words[1] = peer->device;
  return ALREADY_ENABLED;
}

API int cuDevicePrimaryCtxRetain(Context** context, int device) {
  if (device < 0 || device >= DEVICE_COUNT) return INVALID_DEVICE;
  fake.retains++, retained[device]++;
  contexts[device].device = device;
  return *context = &contexts[device], OK;
}
API int cuDevicePrimaryCtxGetState(int device, unsigned* flags, int* active) {
  *flags = 0, *active = retained[device] > 0 || (fake.active >> device & 1);
  return OK;
}
int current_code;  // what cuCtxGetCurrent answers
API int cuCtxGetCurrent(Context** context) {
  return fake.get_current++, *context = current(), current_code;
}
API int cuCtxSetCurrent(Context* context) {
  fake.set_current++;
  if (context == NULL) return depth = depth > 0 ? depth - 1 : 0, OK;
  if (depth == 0) depth = 1;
  return stack[depth - 1] = context, OK;
}
API int cuCtxGetDevice(int* device) {
  return current() ? (*device = current()->device, OK) : INVALID_CONTEXT;
}
// What other libraries do to a thread.
int fake_push(int device) {
  contexts[device].device = device;
  return stack[depth++] = &contexts[device], depth;
}
int fake_current(void) { return current() ? current()->device : -1; }
int fake_depth(void) { return depth; }
long fake_retained(int device) { return retained[device]; }

API int cuThreadExchangeStreamCaptureMode(int* mode) {
  static __thread int own;
  const int previous = own;
  if (*mode < 0 || *mode > 2) return INVALID_VALUE;
  return own = *mode, *mode = previous, OK;
}
API int cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  return current() ? (*least = 0, *greatest = -5, OK) : INVALID_CONTEXT;
}

#include "device_memory.h"
API int cuMemHostAlloc(void** address, size_t bytes, unsigned flags) {
  if (!current()) return INVALID_CONTEXT;
  return *address = (void*)(1ull << 50 | (uint64_t)current()->device << 44),
         bytes && flags == 1 ? OK : INVALID_VALUE;
}
API int cuMemFreeHost(void* address) {
  if (!current()) return INVALID_CONTEXT;
  return fake.frees++, (uintptr_t)address == (1ull << 50 | (uint64_t)current()->device << 44)
                           ? OK
                           : INVALID_VALUE;
}
API int cuMemHostRegister_v2(void* address, size_t bytes, unsigned flags) {
  if (!current()) return INVALID_CONTEXT;
  return address && bytes && flags == 1 ? OK : INVALID_VALUE;
}
API int cuMemHostUnregister(void* address) {
  return !current() ? INVALID_CONTEXT : address ? OK : INVALID_VALUE;
}
API int cuPointerGetAttributes(unsigned count, unsigned* names, void** places, uint64_t address) {
  const int64_t device = (int64_t)(address >> 40) - 1, pinned = address >> 50 == 1;
  const int64_t known = pinned || (device >= 0 && device < DEVICE_COUNT), bytes = 4096;
  if (address == UINT64_MAX) return INVALID_VALUE;
  for (unsigned i = 0; i < count; i++) switch (names[i]) {
      case 2:
        *(unsigned*)places[i] = !known ? 0 : pinned ? 1 : 2;
        break;
      case 7:
        *(uint64_t*)places[i] = known ? address >> 12 : 0;
        break;
      case 8:
        *(char*)places[i] = 0;
        break;
      case 9:
        *(int*)places[i] = !known ? -2 : pinned ? (int)(address >> 44 & 15) : (int)device;
        break;
      case 11:
        *(uint64_t*)places[i] = known ? address & ~4095ull : 0;
        break;
      case 12:
        *(uint64_t*)places[i] = known ? bytes : 0;
        break;
      case 13:
        *(char*)places[i] = known && !(address >> 39 & 1);
        break;
      default:
        return INVALID_VALUE;
    }
  return OK;
}
// The upper half of a device's addresses is reserved, with nothing mapped.
API int cuMemGetAddressRange_v2(uint64_t* base, size_t* bytes, uint64_t address) {
  if (!current()) return INVALID_CONTEXT;
  if (address >> 39 & 1) return NOT_FOUND;
  return *base = address & ~(uint64_t)1023, *bytes = 1024, OK;
}

static int good(const Properties* p, unsigned handle_types) {
  return p->type == 1 && p->handle_types == handle_types && p->location.type == 1 &&
         p->location.id == 1 && !p->win32 && !p->flags.compression;
}
API int cuMemGetAllocationGranularity(size_t* bytes, const Properties* p, unsigned option) {
  return *bytes = 2 << 20, good(p, 0) && option == 0 ? OK : INVALID_VALUE;
}
API int cuMemAddressReserve(uint64_t* at, size_t bytes, size_t align, uint64_t hint, uint64_t f) {
  fake.ranges++;
  return *at = 3ull << 39, bytes && !align && !hint && !f ? OK : INVALID_VALUE;
}
API int cuMemAddressFree(uint64_t at, size_t n) {
  fake.ranges--;
  return at && n ? OK : INVALID_VALUE;
}
static int newest_has_rdma;
API int cuMemCreate(uint64_t* handle, size_t bytes, const Properties* p, uint64_t flags) {
  const int shareable = bytes == 4 << 20;  // by this the test tells which it asked for
  fake.words[5 + p->flags.rdma]++;
  if (fake.words[7] && p->flags.rdma) return (int)fake.words[7];
  if (!good(p, shareable) || flags) return INVALID_VALUE;
  newest_has_rdma = p->flags.rdma;
  return fake.handles++, *handle = 77, OK;
}
API int cuMemRelease(uint64_t handle) {
  fake.handles--;
  return handle == 77 ? OK : INVALID_VALUE;
}
API int cuMemRetainAllocationHandle(uint64_t* handle, void* at) {
  return *handle = 77, (uint64_t)at == 3ull << 39 ? OK : INVALID_VALUE;
}
API int cuMemMap(uint64_t at, size_t bytes, size_t offset, uint64_t handle, uint64_t flags) {
  fake.words[0] = at, fake.words[1] = bytes, fake.words[2] = offset, fake.words[3] = handle;
  fake.mappings++;
  return flags ? INVALID_VALUE : OK;
}
API int cuMemUnmap(uint64_t at, size_t bytes) {
  fake.mappings--;
  return at && bytes ? OK : INVALID_VALUE;
}
API int cuMemSetAccess(uint64_t at, size_t bytes, const AccessDesc* desc, size_t count) {
  fake.words[0] = desc->flags;
  if (fake.all_access) return (int)fake.all_access;
  if (fake.rdma_access && newest_has_rdma) return (int)fake.rdma_access;
  return at && bytes && count == 1 && desc->location.type == 1 && desc->location.id == 1
             ? OK
             : INVALID_VALUE;
}
int dup(int fd);
API int cuMemExportToShareableHandle(void* out, uint64_t handle, unsigned type, uint64_t flags) {
  return *(int*)out = dup(0), handle == 77 && type == 1 && !flags ? OK : INVALID_VALUE;
}
API int cuMemImportFromShareableHandle(uint64_t* handle, void* fd, unsigned type) {
  return *handle = 77, (intptr_t)fd < 1024 && type == 1 ? OK : INVALID_VALUE;
}

#include "streams.h"

API int cuMemcpyAsync(uint64_t to, uint64_t from, size_t bytes, Stream* stream) {
  if (!current() || context_of(stream) != current()) return INVALID_CONTEXT;
  fake.words[0] = to, fake.words[1] = from, fake.words[2] = bytes;
  return fake.copies++, (int)fake.code;
}
API int cuMemcpyPeerAsync(uint64_t to, Context* at, uint64_t from, Context* of, size_t n,
                          Stream* s) {
  fake.words[0] = to, fake.words[1] = at->device, fake.words[2] = from, fake.words[3] = of->device;
  return n && context_of(s) == current() ? OK : INVALID_VALUE;
}
API int cuMemsetD8Async(uint64_t to, unsigned char value, size_t bytes, Stream* stream) {
  fake.words[0] = to, fake.words[1] = value, fake.words[2] = bytes;
  return context_of(stream) == current() ? OK : INVALID_CONTEXT;
}
API int cuModuleLoadDataEx(void** module, const char* image, unsigned n, int* options, void** v) {
  if (!current() || n != 2 || options[0] != 5 || options[1] != 6) return INVALID_VALUE;
  const int machine_code = memcmp(image, "\177ELF", 4) == 0;
  fake.words[fake.words[5] ? 6 : 5] = machine_code ? 1 : 2;
  if (machine_code && REFUSED_MACHINE_CODE) return REFUSED_MACHINE_CODE;
  if (!machine_code && strstr(image, "bad")) {
    if ((size_t)v[1] < 32) return INVALID_VALUE;
    return strcpy(v[0], "line 1: bad instruction"), 218;
  }
  return *module = current(), OK;
}
API int cuModuleUnload(void* module) { return module == current() ? OK : INVALID_VALUE; }
API int cuModuleGetFunction(void** function, void* module, const char* name) {
  if (module != current() || strcmp(name, "kernel")) return NOT_FOUND;
  return *function = module, OK;
}
API int cuLaunchKernel(void* f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                       unsigned bz, unsigned shared, Stream* stream, void** args, void** extra) {
  if (f != current() || context_of(stream) != current() || extra) return INVALID_VALUE;
  fake.words[0] = gx * 100 + gy * 10 + gz, fake.words[1] = bx * 100 + by * 10 + bz;
  fake.words[2] = shared, fake.words[3] = *(uint64_t*)args[0], fake.words[4] = *(unsigned*)args[1];
  return OK;
}

API int cuIpcGetMemHandle(Ipc* handle, uint64_t address) {
  if (!current() || address >> 40 != (uint64_t)current()->device + 1) return INVALID_CONTEXT;
  return memset(handle, 0xE1, sizeof *handle), OK;
}
API int cuIpcOpenMemHandle_v2(uint64_t* address, Ipc handle, unsigned flags) {
  for (int i = 0; i < 64; i++)
    if (handle.bytes[i] != (char)(i + 200)) return INVALID_VALUE;
  return *address = 5, flags == 1 && current() ? OK : INVALID_CONTEXT;
}
API int cuIpcCloseMemHandle(uint64_t address) { return current() && address ? OK : INVALID_VALUE; }
API int cuIpcGetEventHandle(Ipc* handle, Event* event) {
  return memset(handle, 0xE2, sizeof *handle), event ? OK : INVALID_VALUE;
}
API int cuIpcOpenEventHandle(Event** event, Ipc handle) {
  for (int i = 0; i < 64; i++)
    if (handle.bytes[i] != (char)(i + 200)) return INVALID_VALUE;
  return cuEventCreate(event, 6);
}

#include "copy_rows.h"
#include "modules.h"
#include "proc_address.h"
