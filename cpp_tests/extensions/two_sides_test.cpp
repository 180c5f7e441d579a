// One program has object files with PyTorch's class at::Tensor and with ours. Had functions of both
// one mangled name, the linker would keep one, and the other side's tensors would be misread.
#include <torch/extension.h>

#include <cstdint>
#include <vector>

#include "fixture.hpp"
#include "foreign.hpp"

namespace at {
namespace native {
// Of the same name and with the same arguments as the other side's.
std::int64_t counted(const std::vector<Tensor>& tensors) {
  std::int64_t all = 0;
  for (const Tensor& tensor : tensors) {
    all += tensor.numel();
  }
  return all;
}
}  // namespace native
}  // namespace at

namespace {

class TwoSides : public support::DeviceFixture {};

TEST_F(TwoSides, EachCountsItsOwnTensors) {
  std::vector<at::Tensor> ours;
  for (int i = 0; i < 9; ++i) {
    ours.push_back(torch::zeros({2, 3}, torch::kCPU));
  }
  EXPECT_EQ(at::native::counted(ours), 54);
  EXPECT_EQ(foreign_count(9), 63);
  EXPECT_EQ(at::native::counted(ours), 54);
}

TEST_F(TwoSides, EachDestroysItsOwnTensors) {
  const int before = foreign_destroyed;
  {
    std::vector<at::Tensor> ours(5, torch::ones({4}, torch::kCPU));
    ours.resize(3);
    EXPECT_EQ(ours.back().numel(), 4);
  }
  EXPECT_EQ(foreign_destroyed, before);
  EXPECT_EQ(foreign_count(1), 7);
  EXPECT_EQ(foreign_destroyed, before + 1);
}

}  // namespace
