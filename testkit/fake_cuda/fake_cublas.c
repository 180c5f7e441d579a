// A small cuBLAS: its handles are numbers from 0xB1A50001 on. The factors are read, as cuBLAS reads
// them, as floats or doubles by the type of the calculation, and noted as the bits of a double.

#include "fake_library.h"

typedef void* Handle;

enum { FIRST = 0xB1A50001, MOST_HANDLES = 8 };

static int64_t handles = FIRST - 1;
// What each is set to.
static struct {
  void* stream;
  int mode;
} set[MOST_HANDLES];
#define OF(handle) set[((int64_t)(handle)-FIRST) % MOST_HANDLES]

static int64_t factor(const void* at, int compute) {
  const double value = compute == 70 ? *(const double*)at : *(const float*)at;
  int64_t bits;
  return memcpy(&bits, &value, sizeof bits), bits;
}

int cublasCreate_v2(Handle* handle) {
  const int code = NOTE(cublasCreate_v2, 0);
  if (!code) *handle = (Handle)++handles;
  return code;
}
int cublasSetStream_v2(Handle h, void* stream) {
  const int code = NOTE(cublasSetStream_v2, (int64_t)h, (int64_t)stream);
  if (!code) OF(h).stream = stream;
  return code;
}
int cublasGetStream_v2(Handle h, void** stream) {
  const int code = NOTE(cublasGetStream_v2, (int64_t)h);
  if (!code) *stream = OF(h).stream;
  return code;
}
int cublasSetWorkspace_v2(Handle h, void* at, size_t bytes) {
  return NOTE(cublasSetWorkspace_v2, (int64_t)h, (int64_t)at, (int64_t)bytes);
}
int cublasSetMathMode(Handle h, int mode) {
  const int code = NOTE(cublasSetMathMode, (int64_t)h, mode);
  if (!code) OF(h).mode = mode;
  return code;
}
int cublasGetMathMode(Handle h, int* mode) {
  const int code = NOTE(cublasGetMathMode, (int64_t)h);
  if (!code) *mode = OF(h).mode;
  return code;
}

int cublasSgemm_v2(Handle h, int op_a, int op_b, int m, int n, int k, const float* alpha,
                   const void* a, int lda, const void* b, int ldb, const float* beta, void* c,
                   int ldc) {
  return NOTE(cublasSgemm_v2, (int64_t)h, op_a, op_b, m, n, k, factor(alpha, 68), (int64_t)a, lda,
              (int64_t)b, ldb, factor(beta, 68), (int64_t)c, ldc);
}
int cublasDgemm_v2(Handle h, int op_a, int op_b, int m, int n, int k, const double* alpha,
                   const void* a, int lda, const void* b, int ldb, const double* beta, void* c,
                   int ldc) {
  return NOTE(cublasDgemm_v2, (int64_t)h, op_a, op_b, m, n, k, factor(alpha, 70), (int64_t)a, lda,
              (int64_t)b, ldb, factor(beta, 70), (int64_t)c, ldc);
}
// Of the factors only the real parts are noted.
int cublasCgemm_v2(Handle h, int op_a, int op_b, int m, int n, int k, const float* alpha,
                   const void* a, int lda, const void* b, int ldb, const float* beta, void* c,
                   int ldc) {
  return NOTE(cublasCgemm_v2, (int64_t)h, op_a, op_b, m, n, k, factor(alpha, 68), (int64_t)a, lda,
              (int64_t)b, ldb, factor(beta, 68), (int64_t)c, ldc);
}
int cublasZgemm_v2(Handle h, int op_a, int op_b, int m, int n, int k, const double* alpha,
                   const void* a, int lda, const void* b, int ldb, const double* beta, void* c,
                   int ldc) {
  return NOTE(cublasZgemm_v2, (int64_t)h, op_a, op_b, m, n, k, factor(alpha, 70), (int64_t)a, lda,
              (int64_t)b, ldb, factor(beta, 70), (int64_t)c, ldc);
}
#define COMPLEX_BATCH(name, real, compute)                                                      \
  int name(Handle h, int op_a, int op_b, int m, int n, int k, const real* alpha, const void* a, \
           int lda, long long a_stride, const void* b, int ldb, long long b_stride,             \
           const real* beta, void* c, int ldc, long long c_stride, int count) {                 \
    return NOTE(name, (int64_t)h, op_a, op_b, m, n, k, factor(alpha, compute), (int64_t)a, lda, \
                a_stride, (int64_t)b, ldb, b_stride, factor(beta, compute), (int64_t)c, ldc,    \
                c_stride, count);                                                               \
  }
COMPLEX_BATCH(cublasCgemmStridedBatched, float, 68)
COMPLEX_BATCH(cublasZgemmStridedBatched, double, 70)
int cublasGemmEx(Handle h, int op_a, int op_b, int m, int n, int k, const void* alpha,
                 const void* a, int a_type, int lda, const void* b, int b_type, int ldb,
                 const void* beta, void* c, int c_type, int ldc, int compute, int algorithm) {
  return NOTE(cublasGemmEx, (int64_t)h, op_a, op_b, m, n, k, factor(alpha, compute), (int64_t)a,
              a_type, lda, (int64_t)b, b_type, ldb, factor(beta, compute), (int64_t)c, c_type, ldc,
              compute, algorithm);
}

#define GEMM(name, size)                                                                           \
  int name(Handle h, int op_a, int op_b, size m, size n, size k, const void* alpha, const void* a, \
           int a_type, size lda, long long a_stride, const void* b, int b_type, size ldb,          \
           long long b_stride, const void* beta, void* c, int c_type, size ldc,                    \
           long long c_stride, size count, int compute, int algorithm) {                           \
    return NOTE(name, (int64_t)h, op_a, op_b, m, n, k, factor(alpha, compute), (int64_t)a, a_type, \
                lda, a_stride, (int64_t)b, b_type, ldb, b_stride, factor(beta, compute),           \
                (int64_t)c, c_type, ldc, c_stride, count, compute, algorithm);                     \
  }
GEMM(cublasGemmStridedBatchedEx, int)
GEMM(cublasGemmStridedBatchedEx_64, int64_t)
