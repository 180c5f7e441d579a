/* A libcuda whose calls do nothing and succeed: what is counted over it is Sconce's own work, on
 * the paths that a GPU gets. One device of compute capability 9.0; streams, events and kernels are
 * numbers; memory of the device is addresses alone; page-locked memory is the host's.
 * `SCONCE_LIBCUDA` names it.
 */
#define _GNU_SOURCE
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { OK = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2 };

/* Of the objects streams alone are captured. */
typedef struct {
  int is_captured;
} Object;

static Object context;
static Object objects[4096];
static size_t made;
static uint64_t next_address = (uint64_t)1 << 40;
static __thread void* current;
static __thread int capture_mode;

/* A handle that no other object has. */
static int make(void** handle) {
  if (made == sizeof objects / sizeof objects[0]) {
    return OUT_OF_MEMORY;
  }
  *handle = &objects[made++];
  return OK;
}

/* Whether a stream is none of the default ones. */
static int is_named(const void* stream) { return (uintptr_t)stream > 2; }

int cuInit(unsigned flags) { return flags == 0 ? OK : INVALID_VALUE; }
int cuGetErrorName(int code, const char** name) {
  *name = code == OK ? "CUDA_SUCCESS" : "CUDA_ERROR";
  return OK;
}
int cuDeviceGetCount(int* count) { return *count = 1, OK; }
int cuDeviceGet(int* device, int ordinal) { return *device = ordinal, OK; }
int cuDeviceGetName(char* name, int length, int device) {
  (void)device;
  if (length < 5) {
    return INVALID_VALUE;
  }
  memcpy(name, "null", 5);
  return OK;
}
int cuDeviceGetAttribute(int* value, int attribute, int device) {
  (void)device;
  switch (attribute) {
    case 1: /* threads of a block */
    case 2: /* along x */
    case 3: /* along y */
      return *value = 1024, OK;
    case 4: /* along z */
      return *value = 64, OK;
    case 8: /* shared memory of a block */
      return *value = 48 << 10, OK;
    case 10: /* threads of a warp */
      return *value = 32, OK;
    case 16: /* multiprocessors */
      return *value = 132, OK;
    case 39: /* threads of a multiprocessor */
      return *value = 2048, OK;
    case 75: /* compute capability */
      return *value = 9, OK;
    case 76:
      return *value = 0, OK;
    case 97: /* shared memory of a block on request */
      return *value = 227 << 10, OK;
    default:
      return *value = 1, OK;
  }
}
int cuDeviceTotalMem_v2(size_t* bytes, int device) {
  (void)device;
  return *bytes = (size_t)80 << 30, OK;
}
int cuDeviceGetUuid_v2(char* uuid, int device) { return memset(uuid, device, 16), OK; }
int cuDeviceGetPCIBusId(char* id, int length, int device) {
  (void)device;
  if (length < 13) {
    return INVALID_VALUE;
  }
  memcpy(id, "0000:00:00.0", 13);
  return OK;
}
int cuDevicePrimaryCtxRetain(void** out, int device) { return (void)device, *out = &context, OK; }
int cuDevicePrimaryCtxGetState(int device, unsigned* flags, int* active) {
  (void)device;
  return *flags = 0, *active = 1, OK;
}
int cuCtxGetCurrent(void** out) { return *out = current, OK; }
int cuCtxSetCurrent(void* wanted) { return current = wanted, OK; }
int cuCtxGetDevice(int* device) { return *device = 0, OK; }
int cuCtxSynchronize(void) { return OK; }
int cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  return *least = 0, *greatest = -5, OK;
}
int cuThreadExchangeStreamCaptureMode(int* mode) {
  const int previous = capture_mode;
  return capture_mode = *mode, *mode = previous, OK;
}

int cuMemGetInfo_v2(size_t* unused, size_t* total) {
  return *unused = *total = (size_t)80 << 30, OK;
}
int cuMemAlloc_v2(uint64_t* address, size_t bytes) {
  *address = next_address;
  next_address += (bytes + (2 << 20) - 1) / (2 << 20) * (2 << 20);
  return OK;
}
int cuMemFree_v2(uint64_t address) { return (void)address, OK; }
int cuMemHostAlloc(void** address, size_t bytes, unsigned flags) {
  (void)flags;
  return posix_memalign(address, 4096, bytes) == 0 ? OK : OUT_OF_MEMORY;
}
int cuMemFreeHost(void* address) { return free(address), OK; }
/* Memory of the device begins at 1 << 40, in allocations of 1 TiB; what lies below is the host's
 * own. */
int cuPointerGetAttributes(unsigned count, unsigned* names, void** places, uint64_t address) {
  const int of_device = address >> 40 != 0 && address < next_address;
  unsigned i;
  for (i = 0; i < count; ++i) {
    switch (names[i]) {
      case 2: /* the type */
        *(unsigned*)places[i] = of_device ? 2 : 0;
        break;
      case 7: /* the allocation */
        *(uint64_t*)places[i] = of_device;
        break;
      case 9: /* the device */
        *(int*)places[i] = of_device ? 0 : -2;
        break;
      case 11: /* the range */
        *(uint64_t*)places[i] = of_device ? (uint64_t)1 << 40 : 0;
        break;
      case 12:
        *(size_t*)places[i] = of_device ? (size_t)1 << 40 : 0;
        break;
      default: /* managed, mapped */
        *(char*)places[i] = 0;
    }
  }
  return OK;
}

int cuStreamCreateWithPriority(void** stream, unsigned flags, int priority) {
  (void)flags, (void)priority;
  return make(stream);
}
int cuStreamDestroy_v2(void* stream) { return (void)stream, OK; }
int cuStreamQuery(void* stream) { return (void)stream, OK; }
int cuStreamSynchronize(void* stream) { return (void)stream, OK; }
int cuStreamWaitEvent(void* stream, void* event, unsigned flags) {
  return (void)stream, (void)event, (void)flags, OK;
}
int cuStreamWriteValue32_v2(void* stream, uint64_t address, uint32_t value, unsigned flags) {
  (void)stream, (void)flags;
  *(volatile uint32_t*)(uintptr_t)address = value;
  return OK;
}
int cuStreamIsCapturing(void* stream, int* status) {
  return *status = is_named(stream) && ((Object*)stream)->is_captured, OK;
}
int cuEventCreate(void** event, unsigned flags) { return (void)flags, make(event); }
int cuEventDestroy_v2(void* event) { return (void)event, OK; }
int cuEventRecord(void* event, void* stream) { return (void)event, (void)stream, OK; }
int cuEventQuery(void* event) { return (void)event, OK; }
int cuEventSynchronize(void* event) { return (void)event, OK; }
int cuEventElapsedTime(float* ms, void* start, void* end) {
  (void)start, (void)end;
  return *ms = 0, OK;
}

int cuMemcpyAsync(uint64_t to, uint64_t from, size_t bytes, void* stream) {
  (void)to, (void)from, (void)bytes, (void)stream;
  return OK;
}
int cuMemsetD8Async(uint64_t to, unsigned char value, size_t bytes, void* stream) {
  (void)to, (void)value, (void)bytes, (void)stream;
  return OK;
}
int cuModuleLoadDataEx(void** module, const void* code, unsigned count, int* options, void** v) {
  (void)code, (void)count, (void)options, (void)v;
  return make(module);
}
int cuModuleUnload(void* module) { return (void)module, OK; }
int cuModuleGetFunction(void** function, void* module, const char* name) {
  (void)module, (void)name;
  return make(function);
}
int cuFuncGetAttribute(int* value, int attribute, void* function) {
  (void)function;
  return *value = attribute == 0 ? 1024 : attribute == 8 ? 48 << 10 : 0, OK;
}
int cuFuncSetAttribute(void* function, int attribute, int value) {
  return (void)function, (void)attribute, (void)value, OK;
}
/* Every kernel has the parameters of `kernel_launch`. */
int cuFuncGetParamInfo(void* function, size_t index, size_t* offset, size_t* bytes) {
  static const size_t sizes[] = {8, 4, 4};
  (void)function;
  if (index > 2) {
    return INVALID_VALUE;
  }
  return *offset = index == 0 ? 0 : 4 + index * 4, *bytes = sizes[index], OK;
}
int cuLaunchKernel(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned shared, void* stream, void** arguments, void** extra) {
  (void)function, (void)gx, (void)gy, (void)gz, (void)bx, (void)by, (void)bz;
  (void)shared, (void)stream, (void)arguments, (void)extra;
  return OK;
}
int cuLaunchKernelEx(const void* config, void* function, void** arguments, void** extra) {
  (void)config, (void)function, (void)arguments, (void)extra;
  return OK;
}

/* One graph and one executable graph stand for all. */
static Object only_graph;
static Object only_executable_graph;
static int set_captured(void* stream, int is_captured) {
  if (!is_named(stream)) {
    return INVALID_VALUE;
  }
  return ((Object*)stream)->is_captured = is_captured, OK;
}
int cuStreamBeginCapture_v2(void* stream, int mode) { return (void)mode, set_captured(stream, 1); }
int cuStreamEndCapture(void* stream, void** graph) {
  return *graph = &only_graph, set_captured(stream, 0);
}
int cuStreamGetCaptureInfo_v2(void* stream, int* status, unsigned long long* id, void** graph,
                              const void** nodes, size_t* count) {
  (void)graph, (void)nodes, (void)count;
  *status = is_named(stream) && ((Object*)stream)->is_captured;
  return *id = 1, OK;
}
int cuGraphGetNodes(void* graph, void** nodes, size_t* count) {
  return (void)graph, (void)nodes, *count = 1, OK;
}
int cuGraphDestroy(void* graph) { return (void)graph, OK; }
int cuGraphInstantiateWithFlags(void** exec, void* graph, unsigned long long flags) {
  (void)graph, (void)flags;
  return *exec = &only_executable_graph, OK;
}
int cuGraphLaunch(void* exec, void* stream) { return (void)exec, (void)stream, OK; }
int cuGraphExecDestroy(void* exec) { return (void)exec, OK; }
