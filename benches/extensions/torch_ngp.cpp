#include "pair.hpp"

void sh_encode_forward(at::Tensor inputs, at::Tensor outputs, const uint32_t B, const uint32_t D,
                       const uint32_t C, at::optional<at::Tensor> dy_dx);

int main() {
  return pair::main([] {
    pair::Numbers numbers;
    const auto directions = numbers.real({500, 3}, -1, 1);
    for (const auto type : {torch::kFloat32, torch::kFloat16}) {
      const auto x = directions.to(type);
      pair::check(type == torch::kFloat32 ? "sh_encode" : "sh_encode_half", [&] {
        auto out = torch::zeros({500, 16}, x.options());
        auto gradient = torch::zeros({500, 48}, x.options());
        sh_encode_forward(x, out, 500, 3, 4, gradient);
        return std::vector<at::Tensor>{out, gradient};
      });
    }
  });
}
