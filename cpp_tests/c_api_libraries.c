/*
 * Products, convolutions and transforms from plain C99. Each is left out on a machine with a GPU
 * that lacks the library.
 */
#include "c_api.h"

/* Whether there is the library that a call needs. */
static bool there(sconce_status status) {
  HOLDS(status == SCONCE_OK || status == SCONCE_ERROR_LIBRARY_NOT_FOUND);
  return status == SCONCE_OK;
}

static void products(void) {
  static const double a[] = {1, 2, 3, 4, 5, 6};
  static const double b[] = {1, 0, 0, 1, 1, 1};
  double c[] = {1, 1, 1, 1};
  static const sconce_matmul_desc zeroed = {.struct_size = sizeof zeroed};
  sconce_matmul_desc desc = SCONCE_MATMUL_DESC_INIT;
  void* handle = NULL;
  void* device_a = NULL;
  void* device_b = NULL;
  void* device_c = NULL;

  if (!there(sconce_blas_get_handle(&handle))) {
    return;
  }
  HOLDS(handle != NULL);
  OK(sconce_memory_alloc(sizeof a, &device_a));
  OK(sconce_memory_alloc(sizeof b, &device_b));
  OK(sconce_memory_alloc(sizeof c, &device_c));
  OK(sconce_copy(device_a, a, sizeof a, false));
  OK(sconce_copy(device_b, b, sizeof b, false));
  OK(sconce_copy(device_c, c, sizeof c, false));

  desc.dtype = SCONCE_DTYPE_F64;
  desc.m = 2;
  desc.n = 2;
  desc.k = 3;
  HOLDS(desc.batch == 1 && desc.alpha == 1);
  desc.alpha = 2;
  desc.beta = -1;
  OK(sconce_matmul(&desc, device_a, device_b, device_c));
  OK(sconce_copy(c, device_c, sizeof c, false));
  HOLDS(c[0] == 7 && c[1] == 9 && c[2] == 19 && c[3] == 21);
  HOLDS(sconce_matmul(&zeroed, device_a, device_b, device_c) == SCONCE_ERROR_INVALID_ARGUMENT);
  HOLDS(strstr(sconce_last_error_message(), "SCONCE_MATMUL_DESC_INIT") != NULL);
  desc.m = -1;
  HOLDS(sconce_matmul(&desc, device_a, device_b, device_c) == SCONCE_ERROR_INVALID_ARGUMENT);
  HOLDS(strstr(sconce_last_error_message(), "desc.m") != NULL);

  OK(sconce_blas_clear_workspaces());
  OK(sconce_memory_free(device_a));
  OK(sconce_memory_free(device_b));
  OK(sconce_memory_free(device_c));
}

static void convolutions(void) {
  static const float image[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  static const float filter[] = {1, 0, 0, -1};
  float output[4];
  int64_t sizes[SCONCE_CONVOLUTION_MOST_SPATIAL] = {0, 0, 0};
  int64_t version = 0;
  sconce_convolution_desc desc = SCONCE_CONVOLUTION_DESC_INIT;
  void* device_image = NULL;
  void* device_filter = NULL;
  void* device_output = NULL;
  int i;

  desc.dtype = SCONCE_DTYPE_F32;
  desc.operation = SCONCE_CONVOLUTION_FORWARD;
  desc.in_channels = 1;
  desc.out_channels = 1;
  for (i = 0; i < 2; ++i) {
    desc.input_sizes[i] = 3;
    desc.filter_sizes[i] = 2;
  }
  OK(sconce_convolution_get_output_sizes(&desc, sizes));
  HOLDS(sizes[0] == 2 && sizes[1] == 2);
  if (!there(sconce_dnn_get_version(&version))) {
    return;
  }
  HOLDS(version >= 80000);
  OK(sconce_memory_alloc(sizeof image, &device_image));
  OK(sconce_memory_alloc(sizeof filter, &device_filter));
  OK(sconce_memory_alloc(sizeof output, &device_output));
  OK(sconce_copy(device_image, image, sizeof image, false));
  OK(sconce_copy(device_filter, filter, sizeof filter, false));
  OK(sconce_convolution(&desc, device_image, device_filter, device_output));
  OK(sconce_copy(output, device_output, sizeof output, false));
  HOLDS(output[0] == -4 && output[1] == -4 && output[2] == -4 && output[3] == -4);
  OK(sconce_convolution_clear_plans());
  OK(sconce_memory_free(device_image));
  OK(sconce_memory_free(device_filter));
  OK(sconce_memory_free(device_output));
}

static void transforms(void) {
  static const double samples[] = {1, 0, 0, 0, 1, 0, 0, 0};
  double spectrum[10];
  sconce_fft_desc desc = SCONCE_FFT_DESC_INIT;
  sconce_fft_cache_stats stats = SCONCE_FFT_CACHE_STATS_INIT;
  size_t plans = 0;
  void* input = NULL;
  void* output = NULL;

  desc.kind = SCONCE_FFT_R2C;
  desc.dtype = SCONCE_DTYPE_F64;
  desc.sizes[0] = 8;
  OK(sconce_memory_alloc(sizeof samples, &input));
  OK(sconce_memory_alloc(sizeof spectrum, &output));
  OK(sconce_copy(input, samples, sizeof samples, false));
  if (there(sconce_fft(&desc, input, output))) {
    OK(sconce_copy(spectrum, output, sizeof spectrum, false));
    /* Two pulses half a turn apart: 2 at even frequencies, 0 at odd ones. */
    HOLDS(spectrum[0] == 2 && spectrum[2] == 0 && spectrum[4] == 2 && spectrum[8] == 2);

    OK(sconce_fft_cache_get_size(-1, &plans));
    HOLDS(plans == 1);
    OK(sconce_fft_cache_get_stats(0, &stats));
    HOLDS(stats.size == 1 && stats.misses == 1 && stats.hits == 0);
    HOLDS(sconce_fft_cache_set_max_size(0, -1) == SCONCE_ERROR_INVALID_ARGUMENT);
    OK(sconce_fft_cache_clear(0));
  }
  OK(sconce_memory_free(input));
  OK(sconce_memory_free(output));
}

void libraries(void) {
  products();
  convolutions();
  transforms();
}
