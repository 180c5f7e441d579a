// Products, convolutions and transforms that must not compile. The tests `refused_…` compile this
// file once for each case, and look for the compiler's message.
#include <complex>
#include <sconce/sconce_all.hpp>
#include <vector>

struct Wide {
  float number;
};
struct ComplexWide {
  float real, imag, more;
};
struct ComplexBFloat16 {
  sconce::cuda::BFloat16 real, imag;
};

namespace sconce::cuda {
template <>
struct CppTypeToScalarType<Wide> : CppTypeToScalarType<Half> {};
template <>
struct scalar_value_type<ComplexWide> {
  using type = float;
};
template <>
struct scalar_value_type<ComplexBFloat16> {
  using type = BFloat16;
};
}  // namespace sconce::cuda

using namespace sconce::cuda;

void refused(float* singles, const float* read_only, double* doubles, int* integers,
             std::complex<float>* complexes, const std::complex<float>* read_only_complexes,
             DeviceBuffer& buffer, std::vector<float>& host, Half* halves, const Half* some_halves,
             BFloat16* bfloats, std::uint16_t* bits, Wide* wide, ComplexHalf* complex_halves,
             ComplexWide* complex_wide, ComplexBFloat16* complex_bfloats) {
  (void)singles, (void)read_only, (void)doubles, (void)integers, (void)complexes,
      (void)read_only_complexes, (void)buffer, (void)host, (void)halves, (void)some_halves,
      (void)bfloats, (void)bits, (void)wide, (void)complex_halves, (void)complex_wide,
      (void)complex_bfloats;
  const Matmul product{1, 1, 1};
  const Convolution convolution_1{};
  const FFT transform{};
#if defined(CASE_product_of_tensors)
  const sconce::Tensor tensor = sconce::zeros({4, 4});
  matmul(product, tensor, tensor, tensor);
#elif defined(CASE_product_of_mixed_types)
  matmul(product, singles, doubles, singles);
#elif defined(CASE_product_of_integers)
  matmul(product, integers, integers, integers);
#elif defined(CASE_product_of_plain_bits)
  matmul(product, bits, bits, bits);
#elif defined(CASE_product_of_two_halves)
  matmul(product, halves, halves, bfloats);
#elif defined(CASE_product_of_complex_halves)
  matmul(product, complex_halves, complex_halves, complex_halves);
#elif defined(CASE_product_of_complex_and_real_numbers)
  matmul(product, complexes, singles, complexes);
#elif defined(CASE_product_of_a_wrong_size)
  matmul(product, wide, wide, wide);
#elif defined(CASE_product_into_const)
  matmul(product, singles, singles, read_only);
#elif defined(CASE_product_of_a_buffer)
  matmul(product, singles, singles, buffer);
#elif defined(CASE_product_of_host_elements)
  matmul(product, singles, host, singles);
#elif defined(CASE_convolution_of_mixed_types)
  convolution(convolution_1, singles, singles, doubles);
#elif defined(CASE_gradient_into_const)
  convolution_backward_data(convolution_1, singles, singles, DeviceSpan<const float>(singles, 1));
#elif defined(CASE_complex_to_other_complex)
  fft_c2c(transform, complexes, DeviceSpan<std::complex<double>>());
#elif defined(CASE_real_to_real)
  fft_r2c(transform, singles, singles);
#elif defined(CASE_complex_to_complex_as_real)
  fft_c2r(transform, complexes, complexes);
#elif defined(CASE_half_to_complex_singles)
  fft_r2c(transform, halves, complexes);
#elif defined(CASE_complex_of_a_wrong_size)
  fft_c2c(transform, complex_wide, complex_wide);
#elif defined(CASE_transform_of_bfloat16)
  fft_c2c(transform, complex_bfloats, complex_bfloats);
#elif defined(CASE_transform_into_const)
  fft_r2c(transform, singles, read_only_complexes);
#elif defined(CASE_handle_of_another_library)
  cudnnContext* const handle = getCurrentCUDABlasHandle();
  (void)handle;
#else
  matmul(product, read_only, singles, singles);
  convolution(convolution_1, read_only, singles, singles);
  fft_r2c(transform, read_only, complexes);
  fft_c2c(transform, read_only_complexes, complexes);
  fft_c2r(transform, complexes, singles);
  matmul(product, some_halves, halves, halves);
  convolution(convolution_1, bfloats, bfloats, bfloats);
  fft_r2c(transform, some_halves, complex_halves);
  cublasContext* const handle = getCurrentCUDABlasHandle();
  (void)handle;
#endif
}
