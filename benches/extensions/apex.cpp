#include "pair.hpp"

std::vector<at::Tensor> welford_mean_var_CUDA(const at::Tensor input);
void cuda_layer_norm(at::Tensor& output, at::Tensor& mean, at::Tensor& invvar,
                     const at::Tensor& input, int n1, int n2, at::IntArrayRef normalized_shape,
                     const std::optional<at::Tensor>& gamma, const std::optional<at::Tensor>& beta,
                     double epsilon);

int main() {
  return pair::main([] {
    pair::Numbers numbers;
    const auto image = numbers.real({4, 16, 20, 20}, -1, 1);
    pair::check("welford", [&] { return welford_mean_var_CUDA(image); });
    pair::check("welford_half", [&] { return welford_mean_var_CUDA(image.to(torch::kFloat16)); });
    const auto real = numbers.real({64, 512}, -2, 2);
    for (const auto type : {torch::kFloat32, torch::kFloat16, torch::kBFloat16}) {
      const auto x = real.to(type);
      const auto gamma = numbers.real({512}).to(type), beta = numbers.real({512}).to(type);
      pair::check(type == torch::kFloat32   ? "layer_norm"
                  : type == torch::kFloat16 ? "layer_norm_half"
                                            : "layer_norm_bf16",
                  [&] {
                    auto output = at::empty_like(x);
                    auto mean = at::empty({64}, x.options().dtype(torch::kFloat32));
                    auto invvar = at::empty_like(mean);
                    cuda_layer_norm(output, mean, invvar, x, 64, 512, {512}, gamma, beta, 1e-5);
                    return std::vector<at::Tensor>{output, mean, invvar};
                  });
    }
  });
}
