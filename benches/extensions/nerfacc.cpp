#include "pair.hpp"

torch::Tensor inclusive_sum(torch::Tensor chunk_starts, torch::Tensor chunk_cnts,
                            torch::Tensor inputs, bool normalize, bool backward);
torch::Tensor exclusive_sum(torch::Tensor chunk_starts, torch::Tensor chunk_cnts,
                            torch::Tensor inputs, bool normalize, bool backward);
torch::Tensor inclusive_prod_forward(torch::Tensor chunk_starts, torch::Tensor chunk_cnts,
                                     torch::Tensor inputs);

int main() {
  return pair::main([] {
    pair::Numbers numbers;
    std::vector<std::int64_t> starts, counts;
    std::int64_t total = 0;
    for (int i = 0; i < 400; ++i) {
      starts.push_back(total);
      counts.push_back(static_cast<std::int64_t>(60 * numbers.unit()));
      total += counts.back();
    }
    const auto begin = pair::of<std::int64_t>(starts, {400}, torch::kInt64);
    const auto count = pair::of<std::int64_t>(counts, {400}, torch::kInt64);
    const auto x = numbers.real({total}, 0.5, 1);
    pair::check("inclusive_sum", [&] {
      return std::vector<at::Tensor>{inclusive_sum(begin, count, x, false, false)};
    });
    pair::check("normalized_sum", [&] {
      return std::vector<at::Tensor>{inclusive_sum(begin, count, x, true, false)};
    });
    pair::check("exclusive_sum", [&] {
      return std::vector<at::Tensor>{exclusive_sum(begin, count, x, false, false)};
    });
    pair::check("inclusive_prod",
                [&] { return std::vector<at::Tensor>{inclusive_prod_forward(begin, count, x)}; });
  });
}
