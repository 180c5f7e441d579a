// Programs with tensors that would compile with another meaning than intended. The tests
// `refused_…` compile this file once for each case, and look for the compiler's message.
#include <sconce/sconce_all.hpp>
#include <string>
#include <vector>

using sconce::Tensor;

void refused(const Tensor& a, const Tensor& b) {
  (void)a, (void)b;
#if defined(CASE_condition_of_a_comparison)
  if (a == b) {
  }
#elif defined(CASE_condition_of_a_tensor)
  while (a) {
  }
#elif defined(CASE_number_as_tensor)
  Tensor number = 1.0;
#elif defined(CASE_number_as_device)
  (void)sconce::empty({2}, 1);
#elif defined(CASE_unused_result)
  a.to(sconce::kCPU);
#elif defined(CASE_address_of_texts)
  (void)a.data_ptr<std::string>();
#elif defined(CASE_texts_as_values)
  (void)sconce::tensor(std::vector<std::string>{"1"});
#elif defined(CASE_sizes_of_fractions)
  (void)sconce::empty({2.5});
#else
  if (equal(a, b) || a.item<bool>()) {
  }
  Tensor number = sconce::tensor(1.0);
  (void)sconce::empty({2}, sconce::device(1));
  number = a.to(sconce::kCPU);
  (void)a.data_ptr<float>();
  (void)sconce::tensor(std::vector<double>{1});
#endif
}
