// What PyTorch writes in a model's source of its input and output: matrices of F32 on the CPU with
// 2 to 64 rows of 256 numbers. Packages of tests have it as the source of model.cpp. It is read,
// and never compiled.
static void check_input_0(AtenTensorHandle* input_handles) {
  int32_t x_expected_dtype = aoti_torch_dtype_float32();
  if (x_size[0] < 2) {
  }
  if (x_size[0] > 64) {
  }
  if (256 != x_size[1]) {
  }
  if (256 != x_stride[0]) {
  }
  if (1 != x_stride[1]) {
  }
  int32_t x_expected_device_type = 0;
}

void AOTInductorModel::run_impl(AtenTensorHandle* input_handles, AtenTensorHandle* output_handles) {
  auto x = std::move(inputs[0]);
  int64_t s0 = x_size[0];
  const int64_t int_array_0[] = {s0, 256L};
  aoti_torch_empty_strided(2, int_array_0, steps, cached_torch_dtype_float32, 0, 0, &y_handle);
  output_handles[0] = y.release();
}
