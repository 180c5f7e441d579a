#include "pair.hpp"

torch::Tensor fps_cuda(torch::Tensor src, torch::Tensor ptr, torch::Tensor ratio,
                       bool random_start);
torch::Tensor radius_cuda(const torch::Tensor x, const torch::Tensor y,
                          std::optional<torch::Tensor> ptr_x, std::optional<torch::Tensor> ptr_y,
                          const double r, const int64_t max_num_neighbors,
                          const bool ignore_same_index);

int main() {
  return pair::main([] {
    pair::Numbers numbers;
    const auto x = numbers.real({800, 3});
    const auto ptr = pair::of<std::int64_t>({0, 300, 800}, {3}, torch::kInt64);
    const auto ratio = pair::of<float>({0.25F, 0.1F}, {2}, torch::kFloat32);
    pair::check("fps", [&] { return std::vector<at::Tensor>{fps_cuda(x, ptr, ratio, false)}; });
    const auto y = numbers.real({100, 3});
    const auto ptr_y = pair::of<std::int64_t>({0, 40, 100}, {3}, torch::kInt64);
    pair::check("radius", [&] {
      return std::vector<at::Tensor>{radius_cuda(x, y, ptr, ptr_y, 0.2, 16, false)};
    });
  });
}
