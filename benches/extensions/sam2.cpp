#include "pair.hpp"

std::vector<torch::Tensor> get_connected_componnets(const torch::Tensor& inputs);

int main() {
  return pair::main([] {
    pair::Numbers numbers;
    const auto mask = numbers.whole<std::uint8_t>({2, 1, 64, 96}, 2, torch::kUInt8);
    pair::check("connected_components", [&] { return get_connected_componnets(mask); });
  });
}
