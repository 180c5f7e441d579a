// Copies that must not compile. The tests `refused_…` compile this file once for each case, and
// look for the compiler's message.
#include <sconce/sconce_all.hpp>
#include <string>
#include <vector>

using namespace sconce::cuda;

void refused(DeviceBuffer& device, PinnedBuffer& pinned, std::vector<float>& host,
             std::vector<int>& ints, const std::vector<float>& read_only, float* elements,
             void* bytes, std::vector<bool>& bits, std::vector<std::string>& texts) {
  (void)device, (void)pinned, (void)host, (void)ints, (void)read_only, (void)elements, (void)bytes,
      (void)bits, (void)texts;
#if defined(CASE_copy_of_tensors)
  copy_(sconce::zeros({4}), sconce::zeros({4}));
#elif defined(CASE_copy_of_a_tensor_to_memory)
  copy_(host, sconce::zeros({4}));
#elif defined(CASE_set_tensor)
  memory_set(sconce::zeros({4}), 0);
#elif defined(CASE_const_destination)
  copy_(read_only, device);
#elif defined(CASE_const_buffer)
  const PinnedBuffer& view = pinned;
  copy_(view, device);
#elif defined(CASE_const_span)
  copy_(DeviceSpan<const float>(elements, 1), host);
#elif defined(CASE_temporary_destination)
  copy_(std::vector<float>(4), device);
#elif defined(CASE_other_elements)
  copy_(host, ints);
#elif defined(CASE_pointer_without_size)
  copy_(elements, host);
#elif defined(CASE_pointers_without_size)
  copy_(bytes, elements, true);
#elif defined(CASE_typed_pointer_with_number)
  copy_(device.get(), elements, 4);
#elif defined(CASE_number_beside_sides)
  copy_(device, host, 4);
#elif defined(CASE_swapped_arguments)
  copy_(bytes, bytes, true, 4);
#elif defined(CASE_bits)
  copy_(device, bits);
#elif defined(CASE_not_trivial)
  copy_(device, texts);
#elif defined(CASE_set_typed_pointer)
  memory_set(elements, 0, 4);
#elif defined(CASE_set_const)
  memory_set(read_only, 0);
#elif defined(CASE_set_to_a_fraction)
  memory_set(device, 1.0F);
#elif defined(CASE_rows_of_other_elements)
  copy_2d_(Rows(Span(host), 1, 1), Rows(Span(ints), 1, 1));
#elif defined(CASE_rows_of_a_buffer)
  (void)Rows(device, 1, 1);
#elif defined(CASE_rows_of_a_pitched_buffer)
  (void)Rows<float>(pinned, 1, 1, 2);
#elif defined(CASE_strided_buffer)
  (void)as_strided(device, {1}, {1});
#elif defined(CASE_strided_const)
  copy_strided_(as_strided(Span(read_only), {1}, {1}), as_strided(Span(host), {1}, {1}));
#elif defined(CASE_buffer_of_texts)
  (void)DeviceBuffer::of<std::string>(1);
#elif defined(CASE_following_a_device_address)
  (void)device.span<float>()[0];
#else
  copy_(device, host);
#endif
}
