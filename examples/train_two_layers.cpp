// A network of two layers learns y = |x|: the first layer on device 0, the second one on device 1
// if there are two. The backward pass runs on one thread for each device, and every gradient is
// ready on the stream that was current when backward was called. Without a GPU: set
// SCONCE_BACKEND=sim.
#include <cstdio>
#include <sconce/sconce_all.hpp>

namespace ag = sconce::autograd;

namespace {

/// Half a step against the gradient: gradients are on the current stream's order.
void step(const ag::Variable& weight, double rate) {
  weight.value().sub_(weight.grad(), rate);
  weight.zero_grad();
}

int train() {
  const sconce::Device first(0);
  const sconce::Device second(sconce::cuda::device_count() > 1 ? 1 : 0);
  sconce::cuda::manual_seed_all(7);
  const auto on_first = sconce::device(first);
  const auto on_second = sconce::device(second);

  const sconce::Tensor x = sconce::rand({64, 1}, on_first) * 2.0 - 1.0;
  const sconce::Tensor y = x.abs().to(second);

  const ag::Tape tape;
  const auto w1 = tape.variable(sconce::randn({1, 16}, on_first), "w1");
  const auto b1 = tape.variable(sconce::rand({16}, on_first), "b1");
  const auto w2 = tape.variable(sconce::randn({16, 1}, on_second) * 0.25, "w2");
  const auto b2 = tape.variable(sconce::zeros({1}, on_second), "b2");

  float before = 0.0F;
  float loss = 0.0F;
  for (int epoch = 0; epoch < 150; ++epoch) {
    const auto hidden = relu(ag::matmul(x, w1) + b1);
    const auto error = ag::matmul(ag::to(hidden, second), w2) + b2 - y;
    const auto squares = ag::sum(error * error);
    squares.backward();
    for (const auto& weight : {w1, b1, w2, b2}) {
      step(weight, 0.002);
    }
    tape.clear();
    loss = squares.value().item<float>() / 64.0F;
    before = epoch == 0 ? loss : before;
    if (epoch % 30 == 0) {
      std::printf("epoch %3d  loss %.5f\n", epoch, static_cast<double>(loss));
    }
  }
  std::printf("loss %.5f -> %.5f on %d device(s)\n", static_cast<double>(before),
              static_cast<double>(loss), second == first ? 1 : 2);
  return loss < before / 10.0F ? 0 : 1;
}

}  // namespace

int main() {
  try {
    return train();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
