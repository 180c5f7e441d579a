// A small NVRTC: makes the same code of every source, and keeps what it was given for the test.
// Variants, by -D:
//   ARCHITECTURES=a,b   which architectures it knows
// A source with the word "error" does not compile, and one with "warning" compiles with a log.

#define _GNU_SOURCE
#include <stdio.h>

#include "fake_library.h"

#ifndef ARCHITECTURES
#define ARCHITECTURES 75, 80, 90
#endif

// Programs are these; the test reads the first one's texts.
struct program {
  char source[8192];
  char name[64];
  char headers[32768];
  char options[1024];
  char expressions[1024];
  char log[256];
  char ptx[4096];
  char entries[8][64];
  int expression_count;
};
struct program last;
static int live;

int live_programs(void) { return live; }
const struct program* last_program(void) { return &last; }

static const int known[] = {ARCHITECTURES};

int nvrtcGetNumSupportedArchs(int* count) {
  *count = (int)(sizeof known / sizeof *known);
  return NOTE(nvrtcGetNumSupportedArchs, 0);
}
int nvrtcGetSupportedArchs(int* list) {
  memcpy(list, known, sizeof known);
  return NOTE(nvrtcGetSupportedArchs, 0);
}
int nvrtcCreateProgram(struct program** program, const char* source, const char* name, int count,
                       const char* const* headers, const char* const* names) {
  const int code = NOTE(nvrtcCreateProgram, count);
  if (code) return code;
  memset(&last, 0, sizeof last);
  snprintf(last.source, sizeof last.source, "%s", source);
  snprintf(last.name, sizeof last.name, "%s", name);
  for (int i = 0; i < count; ++i) {
    const size_t used = strlen(last.headers);
    snprintf(last.headers + used, sizeof last.headers - used, "%s=%s\n", names[i], headers[i]);
  }
  *program = &last;
  ++live;
  return 0;
}
int nvrtcAddNameExpression(struct program* program, const char* expression) {
  const int code = NOTE(nvrtcAddNameExpression, 0);
  if (code) return code;
  strcat(strcat(program->expressions, expression), ";");
  snprintf(program->entries[program->expression_count % 8], sizeof program->entries[0], "%s",
           expression);
  ++program->expression_count;
  return 0;
}
int nvrtcCompileProgram(struct program* program, int count, const char* const* options) {
  for (int i = 0; i < count; ++i) strcat(strcat(program->options, options[i]), ";");
  const int code = NOTE(nvrtcCompileProgram, count);
  if (code) return code;
  if (strstr(program->source, "error")) {
    snprintf(program->log, sizeof program->log, "%s(1): error: this is wrong\n", program->name);
    return 6;
  }
  if (strstr(program->source, "warning")) {
    snprintf(program->log, sizeof program->log, "%s(1): warning: this is odd\n", program->name);
  }
  snprintf(program->ptx, sizeof program->ptx,
           ".version 8.0\n.target sm_75\n.visible .entry kernel() {}\n// %s\n", program->options);
  return 0;
}
int nvrtcGetProgramLogSize(struct program* program, size_t* bytes) {
  *bytes = strlen(program->log) + 1;
  return NOTE(nvrtcGetProgramLogSize, 0);
}
int nvrtcGetProgramLog(struct program* program, char* log) {
  strcpy(log, program->log);
  return NOTE(nvrtcGetProgramLog, 0);
}
int nvrtcGetPTXSize(struct program* program, size_t* bytes) {
  *bytes = strlen(program->ptx) + 1;
  return NOTE(nvrtcGetPTXSize, 0);
}
int nvrtcGetPTX(struct program* program, char* ptx) {
  strcpy(ptx, program->ptx);
  return NOTE(nvrtcGetPTX, 0);
}
// An ELF file of a header and one empty section; none for a virtual architecture.
enum { ELF_BYTES = 128 };
int nvrtcGetCUBINSize(struct program* program, size_t* bytes) {
  *bytes = strstr(program->options, "=sm_") ? ELF_BYTES : 0;
  return NOTE(nvrtcGetCUBINSize, 0);
}
int nvrtcGetCUBIN(struct program* program, char* code) {
  (void)program;
  static const unsigned char head[] = {0x7f, 'E', 'L', 'F', 2, 1};
  memset(code, 0, ELF_BYTES);
  memcpy(code, head, sizeof head);
  code[18] = (char)190, code[40] = 64, code[58] = 64, code[60] = 1;
  return NOTE(nvrtcGetCUBIN, 0);
}
int nvrtcGetLoweredName(struct program* program, const char* expression, const char** entry) {
  static char entries[8][80];
  for (int i = 0; i < program->expression_count % 8; ++i) {
    if (!strcmp(program->entries[i], expression)) {
      snprintf(entries[i], sizeof entries[i], "_Z%d", i);
      *entry = entries[i];
      return NOTE(nvrtcGetLoweredName, i);
    }
  }
  NOTE(nvrtcGetLoweredName, -1);
  return 10;
}
int nvrtcDestroyProgram(struct program** program) {
  *program = NULL;
  --live;
  return NOTE(nvrtcDestroyProgram, 0);
}
