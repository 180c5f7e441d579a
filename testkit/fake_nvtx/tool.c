/* A profiling tool in small: takes NVTX 3's handshake and writes a line for everything it sees.
 *
 * FAKE_NVTX_LOG   the file to append to
 * FAKE_NVTX_MODE  full (default): takes every function; marks-only: takes MarkA alone;
 *                 refuse: takes every function, then says no; refuse-memory: the memory extension
 * alone FAKE_NVTX_CALL  a file with the address of a function to call while attaching
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

/* The memory extension: what is registered, and where. */
typedef struct {
  size_t bytes;
  const void* start;
} Range;
typedef struct {
  uint16_t compatibility;
  uint16_t struct_size;
  uint32_t reserved;
  uint32_t usage;
  uint32_t type;
  size_t description_size;
  const Range* description;
  uint32_t category;
  uint32_t message_type;
  union {
    const char* ascii;
    const void* registered;
  } message;
} HeapDescription;
typedef struct {
  uint16_t compatibility;
  uint16_t struct_size;
  uint32_t type;
  void* heap;
  size_t count;
  size_t description_size;
  const Range* descriptions;
  void** out_handles;
} Registration;
typedef struct {
  uint16_t compatibility;
  uint16_t struct_size;
  uint32_t reference_type;
  size_t count;
  size_t reference_size;
  const void* const* references;
} Unregistration;
typedef struct {
  size_t id;
  size_t slot_count;
  intptr_t* slots;
} Segment;
typedef struct {
  uint16_t version;
  uint16_t struct_size;
  uint16_t id;
  uint16_t compatibility;
  size_t segment_count;
  Segment* segments;
  intptr_t (*get_export_function)(uint32_t id);
  const void* information;
} Module;

enum { DOMAIN = 0xd0, COMPATIBILITY = 0x0102 };

static void say_at(const char* what, const void* address, size_t bytes) {
  char text[32];
  snprintf(text, sizeof text, "%llu", (unsigned long long)(uintptr_t)address);
  say(what, text, (long long)bytes);
}

static void* domain_create(const char* name) {
  if (strcmp(name, "sconce") != 0) say("wrong", "domain", 0);
  return (void*)(uintptr_t)DOMAIN;
}

static void check(const void* domain, int compatibility, size_t struct_size, size_t expected) {
  if ((uintptr_t)domain != DOMAIN) say("wrong", "domain", (long long)(uintptr_t)domain);
  if (compatibility != COMPATIBILITY) say("wrong", "compatibility", compatibility);
  if (struct_size != expected) say("wrong", "size", (long long)struct_size);
}

/* Handles are not the addresses. */
static void* heap_register(void* domain, const HeapDescription* heap) {
  check(domain, heap->compatibility, heap->struct_size, sizeof *heap);
  if (heap->usage != 1 || heap->type != 1 || heap->description_size != sizeof(Range))
    say("wrong", "heap", 0);
  say_at("heap", heap->description->start, heap->description->bytes);
  return (char*)heap->description->start + 1;
}

static void heap_unregister(void* domain, void* heap) {
  check(domain, COMPATIBILITY, 0, 0);
  say_at("heap-gone", (char*)heap - 1, 0);
}

static void regions_register(void* domain, const Registration* it) {
  check(domain, it->compatibility, it->struct_size, sizeof *it);
  if (it->type != 1 || it->count != 1 || it->description_size != sizeof(Range))
    say("wrong", "region", 0);
  say_at("region", it->descriptions->start, it->descriptions->bytes);
}

static void regions_unregister(void* domain, const Unregistration* it) {
  check(domain, it->compatibility, it->struct_size, sizeof *it);
  if (it->reference_type != 1 || it->count != 1 || it->reference_size != sizeof(void*))
    say("wrong", "reference", 0);
  say_at("region-gone", it->references[0], 0);
}

int InitializeInjectionNvtxExtension(Module* module) {
  const char* mode = getenv("FAKE_NVTX_MODE");
  say("attach", "extension", module->id);
  if (module->version != 3 || module->struct_size != sizeof *module || module->id != 1 ||
      module->compatibility != COMPATIBILITY || module->segment_count != 1 ||
      module->segments[0].id != 1 || module->segments[0].slot_count != 16 ||
      module->get_export_function(7) != 0) {
    say("wrong", "module", 0);
    return 0;
  }
  intptr_t* slots = module->segments[0].slots;
  for (int at = 0; at < 16; ++at) {
    if (slots[at]) say("wrong", "slot", at);
    slots[at] = (intptr_t)wrong;
  }
  slots[0] = (intptr_t)heap_register;
  slots[1] = (intptr_t)heap_unregister;
  slots[3] = (intptr_t)regions_register;
  slots[5] = (intptr_t)regions_unregister;
  return !mode || strcmp(mode, "refuse-memory") != 0;
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
    Function** core2 = NULL;
    if (!callbacks->get_module_function_table(5, &core2, NULL)) return 0;
    *core2[12] = (Function)domain_create;
  }
  if (getenv("FAKE_NVTX_CALL")) call_back(getenv("FAKE_NVTX_CALL"));
  return !mode || strcmp(mode, "refuse") != 0;
}
