#include "pair.hpp"

namespace kaolin {
void sided_distance_forward_cuda_impl(const at::Tensor p1, const at::Tensor p2, at::Tensor dist,
                                      at::Tensor idx);
at::Tensor packed_simple_sum_cuda_kernel_launcher(at::Tensor packed_tensor,
                                                  at::Tensor shape_per_tensor, at::Tensor output);
}  // namespace kaolin

int main() {
  return pair::main([] {
    pair::Numbers numbers;
    const auto p1 = numbers.real({2, 400, 3}), p2 = numbers.real({2, 600, 3});
    pair::check("sided_distance", [&] {
      auto distance = torch::zeros({2, 400}, p1.options());
      auto index = torch::zeros({2, 400}, p1.options().dtype(torch::kInt64));
      kaolin::sided_distance_forward_cuda_impl(p1, p2, distance, index);
      return std::vector<at::Tensor>{distance, index};
    });
  });
}
