// A small cuDNN: keeps descriptors and what they are set to, refuses what cuDNN would refuse, lists
// the engines of the test's choice, and fails at the call of the test's choice. Numbers are those
// of cudnn_graph.h. A function is left out by renaming it: -DcudnnGetVersion=gone.

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#ifndef VERSION
#define VERSION 91400
#endif

enum {
  CONVOLUTION = 1,
  ENGINE,
  CONFIG,
  HEURISTIC,
  PLAN,
  FORWARD = 10,
  FILTER,
  DATA,
  GRAPH = 15,
  PACK,
  TENSOR
};
enum {
  T_HANDLE = 0,
  T_DATA_TYPE,
  T_INT64 = 3,
  T_FLOAT,
  T_DOUBLE,
  T_POINTER,
  T_CONVOLUTION_MODE,
  T_HEURISTIC_MODE,
  T_NOTE = 11,
  T_DESCRIPTOR = 15
};
enum {
  MOST_DESCRIPTORS = 4096,
  MOST_ATTRIBUTES = 8,
  MOST_VALUES = 5,
  MOST_ENGINES = 16,
  MOST_NOTES = 4
};
enum { BAD_PARAM = 2000, NULL_POINTER = 2002, NOT_FINALIZED = 2004, WRONG_TYPE = 2010 };

// Which attributes a descriptor must have before it is finalised. `most` is 0 for those that are
// read.
static const struct rule {
  int kind, attribute, type, most;
} rules[] = {
    {TENSOR, 900, T_INT64, 1},
    {TENSOR, 901, T_DATA_TYPE, 1},
    {TENSOR, 902, T_INT64, 5},
    {TENSOR, 903, T_INT64, 5},
    {TENSOR, 906, T_INT64, 1},
    {CONVOLUTION, 100, T_DATA_TYPE, 1},
    {CONVOLUTION, 101, T_CONVOLUTION_MODE, 1},
    {CONVOLUTION, 102, T_INT64, 3},
    {CONVOLUTION, 103, T_INT64, 3},
    {CONVOLUTION, 104, T_INT64, 3},
    {CONVOLUTION, 105, T_INT64, 3},
    {CONVOLUTION, 106, T_INT64, 1},
    {FORWARD, 700, -1, 1},
    {FORWARD, 701, -1, 1},
    {FORWARD, 702, T_DESCRIPTOR, 1},
    {FORWARD, 703, T_DESCRIPTOR, 1},
    {FORWARD, 704, T_DESCRIPTOR, 1},
    {FORWARD, 705, T_DESCRIPTOR, 1},
    {DATA, 706, -1, 1},
    {DATA, 707, -1, 1},
    {DATA, 708, T_DESCRIPTOR, 1},
    {DATA, 709, T_DESCRIPTOR, 1},
    {DATA, 710, T_DESCRIPTOR, 1},
    {DATA, 711, T_DESCRIPTOR, 1},
    {FILTER, 712, -1, 1},
    {FILTER, 713, -1, 1},
    {FILTER, 714, T_DESCRIPTOR, 1},
    {FILTER, 715, T_DESCRIPTOR, 1},
    {FILTER, 716, T_DESCRIPTOR, 1},
    {FILTER, 717, T_DESCRIPTOR, 1},
    {GRAPH, 800, T_HANDLE, 1},
    {GRAPH, 801, T_DESCRIPTOR, 1},
    {HEURISTIC, 200, T_HEURISTIC_MODE, 1},
    {HEURISTIC, 201, T_DESCRIPTOR, 1},
    {HEURISTIC, 202, T_DESCRIPTOR, 0},
    {CONFIG, 300, T_DESCRIPTOR, 0},
    {ENGINE, 1303, T_NOTE, 0},
    {PLAN, 400, T_HANDLE, 1},
    {PLAN, 401, T_DESCRIPTOR, 1},
    {PLAN, 402, T_INT64, 0},
    {PACK, 1000, T_INT64, 3},
    {PACK, 1001, T_POINTER, 3},
    {PACK, 1003, T_POINTER, 1},
};
enum { RULES = sizeof rules / sizeof *rules };

struct attribute {
  int attribute, type;
  int64_t count, values[MOST_VALUES];
};
struct descriptor {
  int kind, live, finalized, count, engine;
  struct descriptor* of;  // a configuration's graph, a plan's configuration
  struct attribute attributes[MOST_ATTRIBUTES];
};
static struct descriptor descriptors[MOST_DESCRIPTORS];

struct engine {
  int64_t mode, workspace, plan_code, note_count, notes[MOST_NOTES];
};
struct cudnn {
  int64_t calls;      // since `fake_reset`, except for the version and the last words
  int64_t fail_at;    // the call that fails, from 1
  int64_t fail_code;  // and how
  int64_t live;       // descriptors
  int64_t made;       // descriptors since `fake_reset`
  int64_t faults;     // misuses that cuDNN would or might not have borne
  int64_t elsewhere;  // calls without the context of `device`
  int64_t device;
  int64_t streams;  // calls of cudnnSetStream
  int64_t stream;   // the last
  int64_t executions;
  int64_t executed[6];    // of the last: engine, addresses, workspace, stream
  int64_t mode_codes[4];  // how finalising a heuristic of a mode fails
  int64_t extra;          // how many engines more a list promises than it gives
  int64_t engine_count;
  struct engine engines[MOST_ENGINES];
};
struct cudnn cudnn;
int (*current_device)(void);
char fault[200];

static char words[200];
static int handle;

static int refused(int code, const char* why) {
  snprintf(words, sizeof words, "%s\n  (%d)", why, code);
  return code;
}
static int misused(int code, const char* why) {
  if (!cudnn.faults++) snprintf(fault, sizeof fault, "%s", why);
  return refused(code, why);
}
// A call that needs no context begins here.
static int begin_anywhere(void) {
  return ++cudnn.calls == cudnn.fail_at ? refused((int)cudnn.fail_code, "the test wants it") : 0;
}
// Every other call begins here.
static int begin(void) {
  if (current_device && current_device() != cudnn.device) cudnn.elsewhere++;
  return begin_anywhere();
}
static int is_live(const void* d) {
  const struct descriptor* one = d;
  return one >= descriptors && one < descriptors + MOST_DESCRIPTORS && one->live;
}
static const struct rule* rule_of(const struct descriptor* d, int attribute) {
  for (int i = 0; i < RULES; i++)
    if (rules[i].kind == d->kind && rules[i].attribute == attribute) return &rules[i];
  return NULL;
}
static struct attribute* find(struct descriptor* d, int attribute) {
  for (int i = 0; i < d->count; i++)
    if (d->attributes[i].attribute == attribute) return &d->attributes[i];
  return NULL;
}
static struct descriptor* named(struct descriptor* d, int attribute) {
  return (struct descriptor*)find(d, attribute)->values[0];
}

// For the test.
void fake_reset(void) {
  memset(descriptors, 0, sizeof descriptors);
  cudnn.calls = cudnn.fail_at = cudnn.live = cudnn.made = cudnn.faults = cudnn.elsewhere = 0;
  cudnn.executions = cudnn.streams = 0;
  fault[0] = words[0] = 0;
}
// What the nth descriptor of a kind was set to, or how many there were (attribute < 0).
int64_t fake_attribute(int kind, int nth, int attribute, int64_t type_and_values[1 + MOST_VALUES]) {
  int seen = 0;
  for (int i = 0; i < cudnn.made; i++) {
    struct descriptor* d = &descriptors[i];
    if (d->kind != kind || seen++ != nth || attribute < 0) continue;
    const struct attribute* a = find(d, attribute);
    if (!a) return -1;
    type_and_values[0] = a->type;
    memcpy(type_and_values + 1, a->values, sizeof a->values);
    // A descriptor is reported as its place among its kind.
    if (a->type == T_DESCRIPTOR) {
      const struct descriptor* other = (struct descriptor*)a->values[0];
      int place = 0;
      for (const struct descriptor* o = descriptors; o < other; o++)
        place += o->kind == other->kind;
      type_and_values[1] = other->kind * 100 + place;
    }
    return a->count;
  }
  return attribute < 0 ? seen : -2;
}

size_t cudnnGetVersion(void) { return VERSION; }
void cudnnGetLastErrorString(char* to, size_t most) {
  snprintf(to, most, "%s", words);
  words[0] = 0;
}
int cudnnCreate(void** to) {
  const int code = begin();
  if (!code) *to = &handle;
  return code;
}
int cudnnSetStream(void* h, void* stream) {
  cudnn.streams++;
  const int code = begin();
  if (code) return code;
  if (h != &handle) return misused(NULL_POINTER, "no handle");
  cudnn.stream = (int64_t)stream;
  return 0;
}
int cudnnGetStream(void* h, void** stream) {
  const int code = begin_anywhere();
  if (code) return code;
  if (h != &handle) return misused(NULL_POINTER, "no handle");
  *stream = (void*)cudnn.stream;
  return 0;
}
int cudnnBackendCreateDescriptor(int kind, void** to) {
  const int code = begin();
  if (code) return code;
  if (cudnn.made == MOST_DESCRIPTORS) return misused(BAD_PARAM, "too many descriptors");
  struct descriptor* d = &descriptors[cudnn.made++];
  d->kind = kind;
  d->live = 1;
  cudnn.live++;
  *to = d;
  return 0;
}
int cudnnBackendDestroyDescriptor(void* descriptor) {
  const int code = begin();
  if (!is_live(descriptor)) return misused(BAD_PARAM, "destroyed twice");
  ((struct descriptor*)descriptor)->live = 0;
  cudnn.live--;
  return code;
}
int cudnnBackendSetAttribute(void* descriptor, int attribute, int type, int64_t count,
                             const void* array) {
  const int code = begin();
  if (code) return code;
  struct descriptor* d = descriptor;
  if (!is_live(d)) return misused(BAD_PARAM, "set: no descriptor");
  if (d->finalized) return misused(BAD_PARAM, "set after it was finalised");
  const struct rule* rule = rule_of(d, attribute);
  if (!rule || !rule->most) return misused(BAD_PARAM, "not an attribute of it");
  if (type != rule->type && !(rule->type < 0 && (type == T_FLOAT || type == T_DOUBLE)))
    return misused(WRONG_TYPE, "an attribute of another type");
  if (count < 1 || count > rule->most) return misused(BAD_PARAM, "too many or too few elements");
  if (find(d, attribute)) return misused(BAD_PARAM, "set twice");
  struct attribute* a = &d->attributes[d->count++];
  a->attribute = attribute;
  a->type = type;
  a->count = count;
  const int narrow = type == T_DATA_TYPE || type == T_CONVOLUTION_MODE || type == T_HEURISTIC_MODE;
  for (int64_t i = 0; i < count; i++) {
    if (narrow)
      a->values[i] = ((const int32_t*)array)[i];
    else if (type == T_FLOAT) {
      const double wide = ((const float*)array)[i];
      memcpy(&a->values[i], &wide, sizeof wide);
    } else
      memcpy(&a->values[i], (const char*)array + 8 * i, 8);
    if (type == T_HANDLE && a->values[i] != (int64_t)&handle)
      return misused(NULL_POINTER, "no handle");
    if (type == T_DESCRIPTOR) {
      const struct descriptor* other = (struct descriptor*)a->values[i];
      if (!is_live(other) || !other->finalized)
        return misused(NOT_FINALIZED, "names one that is not finalised");
    }
  }
  return 0;
}
int cudnnBackendFinalize(void* descriptor) {
  const int code = begin();
  if (code) return code;
  struct descriptor* d = descriptor;
  if (!is_live(d)) return misused(BAD_PARAM, "finalize: no descriptor");
  if (d->finalized) return misused(BAD_PARAM, "finalised twice");
  for (int i = 0; i < RULES; i++)
    if (rules[i].kind == d->kind && rules[i].most && !find(d, rules[i].attribute))
      return misused(BAD_PARAM, "an attribute is missing");
  if (d->kind == ENGINE || d->kind == CONFIG)
    return misused(BAD_PARAM, "is finalised by being read");
  if (d->kind == TENSOR && find(d, 902)->count != find(d, 903)->count)
    return misused(BAD_PARAM, "ranks differ");
  if (d->kind == CONVOLUTION)
    for (int a = 102; a <= 105; a++)
      if (find(d, a)->count != find(d, 106)->values[0]) return misused(BAD_PARAM, "ranks differ");
  if (d->kind == HEURISTIC) {
    const int failure = (int)cudnn.mode_codes[find(d, 200)->values[0]];
    if (failure) return refused(failure, "this list is not to be had");
  }
  if (d->kind == PLAN) {
    d->of = named(d, 401);
    d->engine = d->of->engine;
    if (!is_live(d->of->of)) return misused(BAD_PARAM, "the graph is gone before the plan is made");
    const int failure = (int)cudnn.engines[d->engine].plan_code;
    if (failure) return refused(failure, "this engine cannot");
  }
  d->finalized = 1;
  return 0;
}
static int list(struct descriptor* d, int64_t room, int64_t* count, void** array) {
  const int64_t mode = find(d, 200)->values[0];
  int64_t given = 0;
  for (int i = 0; i < cudnn.engine_count; i++) {
    if (cudnn.engines[i].mode != mode) continue;
    if (given < room) {
      struct descriptor* config = array[given];
      if (!is_live(config) || config->kind != CONFIG)
        return misused(BAD_PARAM, "no place for a configuration");
      config->finalized = 1;
      config->engine = i;
      config->of = named(d, 201);
    }
    given++;
  }
  *count = room ? (given < room ? given : room) : given + (given ? cudnn.extra : 0);
  return 0;
}
int cudnnBackendGetAttribute(void* descriptor, int attribute, int type, int64_t room,
                             int64_t* count, void* array) {
  const int code = begin();
  if (code) return code;
  struct descriptor* d = descriptor;
  if (!is_live(d)) return misused(BAD_PARAM, "get: no descriptor");
  if (!d->finalized) return misused(NOT_FINALIZED, "asked before it was finalised");
  const struct rule* rule = rule_of(d, attribute);
  if (!rule || rule->most) return misused(BAD_PARAM, "not an attribute to be read");
  if (type != rule->type) return misused(WRONG_TYPE, "an attribute of another type");
  if (d->kind == HEURISTIC) return list(d, room, count, array);
  if (room < 1) return misused(BAD_PARAM, "no room");
  if (d->kind == CONFIG) {
    struct descriptor* engine = *(void**)array;
    if (!is_live(engine) || engine->kind != ENGINE)
      return misused(BAD_PARAM, "no place for an engine");
    engine->finalized = 1;
    engine->engine = d->engine;
    *count = 1;
  } else if (d->kind == ENGINE) {
    const struct engine* engine = &cudnn.engines[d->engine];
    *count = engine->note_count;
    for (int i = 0; i < engine->note_count && i < room; i++)
      ((int32_t*)array)[i] = (int32_t)engine->notes[i];
  } else {
    *(int64_t*)array = cudnn.engines[d->engine].workspace;
    *count = 1;
  }
  return 0;
}
int cudnnBackendExecute(void* h, void* plan, void* pack) {
  const int code = begin();
  if (code) return code;
  struct descriptor *p = plan, *v = pack;
  if (h != &handle) return misused(NULL_POINTER, "no handle");
  if (!is_live(p) || p->kind != PLAN || !p->finalized) return misused(NOT_FINALIZED, "no plan");
  if (!is_live(p->of)) return misused(BAD_PARAM, "the configuration is gone before the plan");
  if (!is_live(v) || v->kind != PACK || !v->finalized) return misused(NOT_FINALIZED, "no pack");
  cudnn.executions++;
  cudnn.executed[0] = p->engine;
  for (int i = 0; i < 3; i++) {
    const int64_t name = find(v, 1000)->values[i];
    if (name < 1 || name > 3) return misused(BAD_PARAM, "a tensor that is not in the graph");
    cudnn.executed[name] = find(v, 1001)->values[i];
  }
  cudnn.executed[4] = find(v, 1003)->values[0];
  cudnn.executed[5] = cudnn.stream;
  return 0;
}
