// The text of tensors.
#include <sstream>

#include "fixture.hpp"

namespace sc = sconce;
using sc::Tensor;

namespace {

using TensorTextTest = support::DeviceFixture;

TEST_F(TensorTextTest, PrintsAsTorchDoes) {
  const auto cpu = sc::device(sc::kCPU);
  EXPECT_EQ(sc::to_string(sc::tensor({{0.1, 1.2}, {2.2, 3.1}}, cpu)),
            "tensor([[0.1000, 1.2000],\n        [2.2000, 3.1000]])");
  EXPECT_EQ(sc::to_string(sc::tensor({1, -20}, sc::device(0))),
            "tensor([  1, -20], device='cuda:0')");
  EXPECT_EQ(sc::to_string(sc::ones({2}, sc::device(0).dtype(sc::kHalf))),
            "tensor([1., 1.], device='cuda:0', dtype=torch.float16)");
  EXPECT_EQ(sc::to_string(sc::empty({0, 3}, sc::device(0))),
            "tensor([], device='cuda:0', size=(0, 3))");
  EXPECT_EQ(sc::to_string(sc::tensor({true, false}, cpu)), "tensor([ True, False])");
  std::ostringstream text;
  text << sc::arange(1001, cpu) << ' ' << sc::Device(1);
  EXPECT_EQ(text.str(), "tensor([   0,    1,    2,  ...,  998,  999, 1000]) cuda:1");
}

TEST_F(TensorTextTest, OnlyTheEdgesOfLargeTensorsArePrinted) {
  const char* const expected =
      "tensor([[   0,    1,    2,  ...,   37,   38,   39],\n"
      "        [  40,   41,   42,  ...,   77,   78,   79],\n"
      "        [  80,   81,   82,  ...,  117,  118,  119],\n"
      "        ...,\n"
      "        [1480, 1481, 1482,  ..., 1517, 1518, 1519],\n"
      "        [1520, 1521, 1522,  ..., 1557, 1558, 1559],\n"
      "        [1560, 1561, 1562,  ..., 1597, 1598, 1599]], device='cuda:0')";
  EXPECT_EQ(sc::to_string(sc::arange(1600, sc::device(0)).view({40, 40})), expected);
  // A view in another order has the same text.
  const Tensor turned = sc::arange(1600, sc::device(0)).view({40, 40}).t().contiguous().t();
  EXPECT_EQ(sc::to_string(turned), expected);
}

}  // namespace
