// A small cuFFT. Plans are numbers from 71 on; each takes WORKSPACE bytes. Variants, by -D:
//   WORKSPACE=n   how much workspace a plan takes     VERSION=n   what cufftGetVersion tells

#include "fake_library.h"

#ifndef WORKSPACE
#define WORKSPACE 4096
#endif
#ifndef VERSION
#define VERSION 12000
#endif

typedef int Plan;
typedef long long Number;

static int plans = 70;

int cufftCreate(Plan* plan) {
  const int code = NOTE(cufftCreate, 0);
  if (!code) *plan = ++plans;
  return code;
}
int cufftSetAutoAllocation(Plan plan, int automatic) {
  return NOTE(cufftSetAutoAllocation, plan, automatic);
}
// Embeds are noted as whether there are any, and if so the numbers that a transform depends on.
int cufftXtMakePlanMany(Plan plan, int rank, Number* n, Number* in, Number in_stride,
                        Number in_distance, int in_type, Number* out, Number out_stride,
                        Number out_distance, int out_type, Number batch, size_t* workspace,
                        int type) {
#define AT(p, i) ((p) && (i) < rank ? (p)[i] : 0)
  *workspace = WORKSPACE;
  return NOTE(cufftXtMakePlanMany, plan, rank, n[0], AT(n, 1), AT(n, 2), batch, in != NULL,
              AT(in, 1), AT(in, 2), in_stride, in_distance, in_type, out != NULL, AT(out, 1),
              AT(out, 2), out_stride, out_distance, out_type, type);
}
int cufftSetStream(Plan plan, void* stream) { return NOTE(cufftSetStream, plan, (int64_t)stream); }
int cufftSetWorkArea(Plan plan, void* at) { return NOTE(cufftSetWorkArea, plan, (int64_t)at); }
int cufftXtExec(Plan plan, void* input, void* output, int direction) {
  return NOTE(cufftXtExec, plan, (int64_t)input, (int64_t)output, direction);
}
int cufftDestroy(Plan plan) { return NOTE(cufftDestroy, plan); }
int cufftGetVersion(int* version) { return *version = VERSION, NOTE(cufftGetVersion, 0); }
