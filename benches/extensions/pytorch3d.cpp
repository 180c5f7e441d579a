#include "pair.hpp"

std::tuple<at::Tensor, at::Tensor> KNearestNeighborIdxCuda(const at::Tensor& p1,
                                                           const at::Tensor& p2,
                                                           const at::Tensor& lengths1,
                                                           const at::Tensor& lengths2, int norm,
                                                           int K, int version);
std::tuple<at::Tensor, at::Tensor> FaceAreasNormalsForwardCuda(at::Tensor verts, at::Tensor faces);

int main() {
  return pair::main([] {
    pair::Numbers numbers;
    const auto p1 = numbers.real({2, 500, 3}), p2 = numbers.real({2, 700, 3});
    const auto lengths1 = pair::of<std::int64_t>({500, 411}, {2}, torch::kInt64);
    const auto lengths2 = pair::of<std::int64_t>({700, 650}, {2}, torch::kInt64);
    for (const int norm : {1, 2}) {
      pair::check(norm == 1 ? "knn_l1" : "knn_l2", [&] {
        const auto [index, distance] =
            KNearestNeighborIdxCuda(p1, p2, lengths1, lengths2, norm, 4, -1);
        return std::vector<at::Tensor>{index, distance};
      });
    }
    const auto verts = numbers.real({300, 3});
    const auto faces = numbers.whole<std::int64_t>({600, 3}, 300, torch::kInt64);
    pair::check("face_areas", [&] {
      const auto [areas, normals] = FaceAreasNormalsForwardCuda(verts, faces);
      return std::vector<at::Tensor>{areas, normals};
    });
  });
}
