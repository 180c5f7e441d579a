// Fills that must not compile. The tests `refused_…` compile this file once for each case, and look
// for the compiler's message.
#include <complex>
#include <sconce/sconce_all.hpp>
#include <vector>

struct Wide {
  float number;
};

namespace sconce::cuda {
template <>
struct CppTypeToScalarType<Wide> : CppTypeToScalarType<Half> {};
}  // namespace sconce::cuda

using namespace sconce::cuda;

void refused(DeviceBuffer& buffer, const DeviceBuffer& read_only, PinnedBuffer& pinned,
             std::vector<float>& host, float* elements, void* bytes, const CUDAStream& stream) {
  (void)buffer, (void)read_only, (void)pinned, (void)host, (void)elements, (void)bytes,
      (void)stream;
#if defined(CASE_fill_of_a_tensor)
  normal_(sconce::zeros({4}));
#elif defined(CASE_fill_of_const)
  uniform_(read_only.span<float>());
#elif defined(CASE_fill_of_a_const_buffer)
  normal_(read_only, ScalarType::Float);
#elif defined(CASE_fill_of_a_buffer)
  uniform_(buffer, 0, 1);
#elif defined(CASE_fill_of_a_temporary_buffer)
  uniform_(DeviceBuffer(8), ScalarType::Float);
#elif defined(CASE_fill_of_a_pointer)
  random_(elements, 0, 10);
#elif defined(CASE_fill_of_a_pointer_with_number)
  exponential_(elements, 10);
#elif defined(CASE_fill_of_host_elements)
  bernoulli_(host, 0.5);
#elif defined(CASE_fill_of_a_host_span)
  cauchy_(Span(host));
#elif defined(CASE_fill_of_pinned_memory)
  uniform_(pinned, ScalarType::Float);
#elif defined(CASE_fill_of_bytes)
  random_(buffer.span<std::byte>());
#elif defined(CASE_fill_of_complex_halves)
  uniform_(buffer.span<ComplexHalf>());
#elif defined(CASE_fill_of_a_wrong_size)
  log_normal_(buffer.span<Wide>());
#elif defined(CASE_fill_with_two_types)
  geometric_(buffer.span<float>(), ScalarType::Double, 0.5);
#elif defined(CASE_fill_with_two_sizes)
  uniform_(buffer.span<float>(), 10, ScalarType::Float);
#elif defined(CASE_recorded_host_span)
  CUDACachingAllocator::recordStream(Span(host), stream);
#elif defined(CASE_recorded_device_span)
  CachingHostAllocator::recordStream(buffer.span<float>(), stream);
#else
  uniform_(buffer.span<float>());
  uniform_(buffer.span<std::complex<double>>(), 0, 1);
  normal_(DeviceSpan(elements, 2), 0, 1, getDefaultCUDAGenerator());
  random_(buffer.span<std::int64_t>().first(1));
  random_(buffer.span<bool>(), 2);
  random_(buffer, ScalarType::Long, 2, 4);
  uniform_(elements, 2, ScalarType::Float);
  uniform_(bytes, 2, ScalarType::Float, 0, 1, getDefaultCUDAGenerator());
  CUDACachingAllocator::recordStream(read_only.span<float>(), stream);
  CUDACachingAllocator::recordStream(read_only, stream);
  CUDACachingAllocator::recordStream(bytes, stream);
  CachingHostAllocator::recordStream(Span(host), stream);
  CachingHostAllocator::recordStream(pinned, stream);
#endif
}
