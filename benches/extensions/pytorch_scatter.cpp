#include "pair.hpp"

std::tuple<torch::Tensor, std::optional<torch::Tensor>> scatter_cuda(
    torch::Tensor src, torch::Tensor index, int64_t dim, std::optional<torch::Tensor> optional_out,
    std::optional<int64_t> dim_size, std::string reduce);
std::tuple<torch::Tensor, std::optional<torch::Tensor>> segment_csr_cuda(
    torch::Tensor src, torch::Tensor indptr, std::optional<torch::Tensor> optional_out,
    std::string reduce);
torch::Tensor gather_csr_cuda(torch::Tensor src, torch::Tensor indptr,
                              std::optional<torch::Tensor> optional_out);

int main() {
  return pair::main([] {
    pair::Numbers numbers;
    // Whole numbers: their sums do not depend on the order of additions.
    const auto whole = numbers.whole<std::int64_t>({1000, 8}, 100, torch::kInt64);
    const auto real = whole.to(torch::kFloat32);
    const auto row = numbers.whole<std::int64_t>({1000, 1}, 50, torch::kInt64);
    const auto index = row.expand({1000, 8});
    for (const char* reduce : {"sum", "mean", "min", "max"}) {
      pair::check(reduce, [&] {
        const auto [out, arg] = scatter_cuda(real, index, 0, std::nullopt, 50, reduce);
        return std::vector<at::Tensor>{out};
      });
    }
    pair::check("sized_by_index", [&] {
      const auto [out, arg] = scatter_cuda(whole, index, 0, std::nullopt, std::nullopt, "sum");
      return std::vector<at::Tensor>{out};
    });
    std::vector<std::int64_t> begins{0};
    for (int i = 1; i < 40; ++i) begins.push_back(i * 25);
    begins.push_back(1000);
    const auto indptr = pair::of<std::int64_t>(begins, {41}, torch::kInt64);
    pair::check("segment_csr", [&] {
      const auto [out, arg] = segment_csr_cuda(real, indptr, std::nullopt, "max");
      return std::vector<at::Tensor>{out, arg.value()};
    });
    const auto sums = real.slice(0, 0, 40).contiguous();
    pair::check("gather_csr", [&] {
      return std::vector<at::Tensor>{gather_csr_cuda(sums, indptr, std::nullopt)};
    });
  });
}
