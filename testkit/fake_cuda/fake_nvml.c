// A small NVML: PROCESSES of them on the device at 0000:0B:00.0, none elsewhere. Variants, by -D:
//   PROCESSES=n  how many     INIT_CODE=n  what nvmlInit_v2 answers
//   ONLY_V2      an older library, with version 2 of the list     WITHOUT_LIST  with none
//   EARLY_535    version 2 of the list, and a version 3 that fills a larger struct
//   MACHINE=n    how many devices     DIVIDED  the last one is divided (MIG)
//   WITHOUT_UUID  an older library, which names no devices
// Every second process does not tell its memory.

#include <stdio.h>
#include <string.h>

#ifndef PROCESSES
#define PROCESSES 2
#endif
#ifndef INIT_CODE
#define INIT_CODE 0
#endif

enum { OK = 0, UNINITIALIZED = 1, NOT_FOUND = 6, INSUFFICIENT_SIZE = 7 };

typedef struct {
  unsigned pid;
  unsigned long long used;
  unsigned gpu_instance, compute_instance;
} Process;

#ifndef MACHINE
#define MACHINE 2
#endif

static int initialised;
static int devices[2];

int nvmlInit_v2(void) { return initialised = INIT_CODE == 0, INIT_CODE; }
const char* nvmlErrorString(int code) {
  return code == 9 ? "Driver Not Loaded" : code == NOT_FOUND ? "Not Found" : "Unknown Error";
}
int nvmlDeviceGetHandleByPciBusId_v2(const char* id, int** device) {
  if (!initialised) return UNINITIALIZED;
  if (strncmp(id, "0000:0", 6)) return NOT_FOUND;
  return *device = &devices[id[6] == 'B'], OK;
}

int nvmlDeviceGetCount_v2(unsigned* count) {
  return initialised ? (*count = MACHINE, OK) : UNINITIALIZED;
}
static int places[64];
int nvmlDeviceGetHandleByIndex_v2(unsigned index, int** device) {
  if (!initialised) return UNINITIALIZED;
  return index < MACHINE ? (*device = &places[index], OK) : NOT_FOUND;
}
#ifndef WITHOUT_UUID
int nvmlDeviceGetUUID(const int* device, char* text, unsigned bytes) {
  const int index = (int)(device - places);
  return snprintf(text, bytes, "GPU-%08X-0000-0000-0000-000000000000", 0xABC + index), OK;
}
#endif
int nvmlDeviceGetMigMode(const int* device, unsigned* current, unsigned* pending) {
#ifdef DIVIDED
  if (device == &places[MACHINE - 1]) return *current = *pending = 1, OK;
#endif
  return (void)device, *current = *pending = 0, OK;
}

static int list(const int* device, unsigned* count, Process* processes) {
  const unsigned there = device == &devices[1] ? PROCESSES : 0, room = *count;
  *count = there;
  if (there > room) return INSUFFICIENT_SIZE;
  for (unsigned i = 0; i < there; i++)
    processes[i] = (Process){1000 + i, i % 2 ? ~0ull : (i + 1) * 1048576ull, ~0u, ~0u};
  return OK;
}

#ifdef EARLY_535
typedef struct {
  Process info;
  unsigned long long protected_memory;
} LargerProcess;
int nvmlDeviceGetComputeRunningProcesses_v3(int* device, unsigned* count, LargerProcess* p) {
  const unsigned there = device == &devices[1] ? PROCESSES : 0, room = *count;
  *count = there;
  if (there > room) return INSUFFICIENT_SIZE;
  for (unsigned i = 0; i < there; i++)
    p[i] = (LargerProcess){{1000 + i, i % 2 ? ~0ull : (i + 1) * 1048576ull, ~0u, ~0u}, ~0ull};
  return OK;
}
#endif

#if defined ONLY_V2 || defined EARLY_535
int nvmlDeviceGetComputeRunningProcesses_v2(int* d, unsigned* n, Process* p) {
  return list(d, n, p);
}
#elif !defined WITHOUT_LIST
int nvmlDeviceGetComputeRunningProcesses_v3(int* d, unsigned* n, Process* p) {
  return list(d, n, p);
}
#else
int (*const unused)(const int*, unsigned*, Process*) = list;
#endif
