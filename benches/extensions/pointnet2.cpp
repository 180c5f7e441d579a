#include "pair.hpp"

at::Tensor ball_query(at::Tensor new_xyz, at::Tensor xyz, const float radius, const int nsample);
at::Tensor gather_points(at::Tensor points, at::Tensor idx);
at::Tensor furthest_point_sampling(at::Tensor points, const int nsamples);
at::Tensor group_points(at::Tensor points, at::Tensor idx);
std::vector<at::Tensor> three_nn(at::Tensor unknowns, at::Tensor knows);
at::Tensor three_interpolate(at::Tensor points, at::Tensor idx, at::Tensor weight);

int main() {
  return pair::main([] {
    pair::Numbers numbers;
    const auto xyz = numbers.real({2, 1024, 3}), centres = numbers.real({2, 128, 3});
    const auto features = numbers.real({2, 16, 1024});
    pair::check("furthest_point_sampling",
                [&] { return std::vector<at::Tensor>{furthest_point_sampling(xyz, 128)}; });
    const auto chosen = furthest_point_sampling(xyz, 128);
    pair::check("gather_points",
                [&] { return std::vector<at::Tensor>{gather_points(features, chosen)}; });
    pair::check("ball_query",
                [&] { return std::vector<at::Tensor>{ball_query(centres, xyz, 0.2F, 16)}; });
    const auto near = ball_query(centres, xyz, 0.2F, 16);
    pair::check("group_points",
                [&] { return std::vector<at::Tensor>{group_points(features, near)}; });
    pair::check("three_nn", [&] { return three_nn(xyz, centres); });
    const auto index = three_nn(xyz, centres)[1];
    const auto weight = numbers.real({2, 1024, 3});
    const auto few = numbers.real({2, 16, 128});
    pair::check("three_interpolate",
                [&] { return std::vector<at::Tensor>{three_interpolate(few, index, weight)}; });
  });
}
