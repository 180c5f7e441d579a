/* A profiling tool in small: takes NVTX 3's handshake and writes a line for everything it sees.
 *
 * FAKE_NVTX_LOG   the file to append to
 * FAKE_NVTX_MODE  full (default): takes every function; marks-only: takes MarkA alone;
 *                 refuse: takes every function, then says no
 * FAKE_NVTX_CALL  a file with the address of a function to call while attaching
 *
 * Depths are the tool's own, from 100, and ids from 1000, so that a test can tell them from others.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void (*Function)(void);
typedef struct {
  size_t struct_size;
  int (*get_module_function_table)(int module, Function*** out_table, unsigned* out_size);
} Callbacks;
typedef struct {
  size_t struct_size;
  uint32_t version;
  uint32_t reserved;
  void (*set_injection_version)(uint32_t version);
} Version;
typedef const void* (*GetExportTable)(uint32_t id);

static __thread int open_ranges;
static uint64_t started_ranges;

static void say(const char* what, const char* message, long long number) {
  FILE* file = fopen(getenv("FAKE_NVTX_LOG"), "a");
  if (!file) abort();
  fprintf(file, "%s %s %lld\n", what, message, number);
  fclose(file);
}

static void mark(const char* message) { say("mark", message, 0); }

static int range_push(const char* message) {
  say("push", message, 100 + open_ranges);
  return 100 + open_ranges++;
}

static int range_pop(void) {
  int depth = open_ranges > 0 ? 100 + --open_ranges : -7;
  say("pop", "-", depth);
  return depth;
}

static uint64_t range_start(const char* message) {
  uint64_t id = 1000 + __atomic_fetch_add(&started_ranges, 1, __ATOMIC_SEQ_CST);
  say("start", message, (long long)id);
  return id;
}

static void range_end(uint64_t id) { say("end", "-", (long long)id); }

static void wrong(void) { say("wrong", "slot", -1); }

static void call_back(const char* path) {
  FILE* file = fopen(path, "r");
  unsigned long long address = 0;
  if (!file || fscanf(file, "%llu", &address) != 1) abort();
  fclose(file);
  ((Function)(uintptr_t)address)();
}

int InitializeInjectionNvtx2(GetExportTable get_export_table) {
  const char* mode = getenv("FAKE_NVTX_MODE");
  const Callbacks* callbacks = get_export_table(1);
  const Version* version = get_export_table(3);
  if (!callbacks || !version) return 0;
  say("attach", "version", version->version);
  say("attach", "callbacks", (long long)callbacks->struct_size);
  say("attach", "versions", (long long)version->struct_size);
  say("attach", "unknown-export", get_export_table(2) != NULL || get_export_table(99) != NULL);
  version->set_injection_version(3);

  /* Every module of version 3, and the numbers beside them. */
  for (int module = -1; module <= 8; ++module) {
    char text[32];
    Function** table = NULL;
    unsigned size = 0;
    int known = callbacks->get_module_function_table(module, &table, &size);
    snprintf(text, sizeof text, "module%d", module);
    say("attach", text, known ? (long long)size : -1);
    if (!known) continue;
    if (table[0] || table[size]) say("wrong", "guards", module);
    for (unsigned id = 1; id < size; ++id) {
      if (!table[id] || *table[id]) say("wrong", "slot", (long long)id);
    }
  }
  if (callbacks->get_module_function_table(1, NULL, NULL) != 1) say("wrong", "null", 0);

  Function** core = NULL;
  if (!callbacks->get_module_function_table(1, &core, NULL)) return 0;
  *core[2] = (Function)mark;
  if (!mode || strcmp(mode, "marks-only") != 0) {
    for (unsigned id = 1; id < 16; ++id) *core[id] = wrong;
    *core[2] = (Function)mark;
    *core[5] = (Function)range_start;
    *core[7] = (Function)range_end;
    *core[9] = (Function)range_push;
    *core[11] = (Function)range_pop;
  }
  if (getenv("FAKE_NVTX_CALL")) call_back(getenv("FAKE_NVTX_CALL"));
  return !mode || strcmp(mode, "refuse") != 0;
}
