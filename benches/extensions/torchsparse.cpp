#include "pair.hpp"

at::Tensor hash_cuda(const at::Tensor idx);
at::Tensor kernel_hash_cuda(const at::Tensor idx, const at::Tensor kernel_offset);

int main() {
  return pair::main([] {
    pair::Numbers numbers;
    const auto index = numbers.whole<int>({2000, 4}, 100, torch::kInt32);
    const auto offsets = numbers.whole<int>({27, 3}, 3, torch::kInt32);
    pair::check("hash", [&] { return std::vector<at::Tensor>{hash_cuda(index)}; });
    pair::check("kernel_hash",
                [&] { return std::vector<at::Tensor>{kernel_hash_cuda(index, offsets)}; });
  });
}
