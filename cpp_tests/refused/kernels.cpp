// Arguments that no kernel can take. The tests `refused_…` compile this file once for each case,
// and look for the compiler's message.
#include <sconce/sconce_all.hpp>
#include <string>
#include <vector>

using namespace sconce::cuda;

void refused(const Kernel& kernel, const TypedKernel<float*, int>& typed, DeviceBuffer& buffer,
             const DeviceBuffer& const_buffer, std::vector<float>& host) {
  (void)kernel, (void)typed, (void)buffer, (void)const_buffer, (void)host;
  const LaunchConfig config;
#if defined(CASE_argument_in_host_memory)
  kernel.launch(config, Span<float>(host));
#elif defined(CASE_argument_of_texts)
  kernel.launch(config, std::string("text"));
#elif defined(CASE_argument_that_owns)
  kernel.launch(config, host);
#elif defined(CASE_argument_array)
  const float numbers[3] = {1, 2, 3};
  kernel.launch(config, numbers);
#elif defined(CASE_argument_const_buffer)
  typed.launch(config, const_buffer, 1);
#elif defined(CASE_argument_const_span)
  typed.launch(config, const_buffer.span<float>(), 1);
#elif defined(CASE_argument_missing)
  typed.launch(config, buffer);
#elif defined(CASE_argument_of_another_type)
  typed.launch(config, buffer, "1");
#else
  typed.launch(config, buffer, 1);
  typed.launch(config, buffer.span<float>(), 1);
  kernel.launch(config, const_buffer, buffer.span<float>(), 1, nullptr);
#endif
}
