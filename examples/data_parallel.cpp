// The network of train_two_layers learns y = |x| on the devices of several processes, one a device:
// each process takes its part of the batch, and the gradients of all are added. So the losses are
// those of one process with the whole batch, whatever the number of processes:
//
//     scripts/launch --nproc-per-node 4 build/examples/data_parallel
//     torchrun --nproc-per-node 4 --no-python build/examples/data_parallel
//
// Alone it trains in two ways on all devices of the process: on one device, and with the forward
// pass of each batch on all of them (parallel_apply). Without a GPU: set SCONCE_BACKEND=sim.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <sconce/sconce.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace ag = sconce::autograd;
namespace cc = sconce::cuda;

namespace {

constexpr std::int64_t kBatch = 64;
constexpr int kEpochs = 60;

/// Adds tensors of all processes. They are small and few: they travel through the store, as bytes.
class Sum {
 public:
  explicit Sum(sconce::Job& job) : job_(job) {}

  sconce::Tensor operator()(const sconce::Tensor& tensor) {
    if (job_.world_size == 1) {
      return tensor;
    }
    const auto mine = tensor.reshape({-1}).to(sconce::kDouble).to_vector<double>();
    const std::string round = "sum" + std::to_string(round_++) + "/";
    job_.store.set(round + std::to_string(job_.rank),
                   {reinterpret_cast<const char*>(mine.data()), mine.size() * sizeof(double)});
    std::vector<double> all(mine.size(), 0.0);
    // In the order of the ranks, so that every process gets the same bits.
    for (std::int32_t rank = 0; rank < job_.world_size; ++rank) {
      const std::string theirs = job_.store.get(round + std::to_string(rank));
      if (theirs.size() != all.size() * sizeof(double)) {
        throw std::runtime_error("rank " + std::to_string(rank) + " has sent another size");
      }
      const auto* values = reinterpret_cast<const double*>(theirs.data());
      for (std::size_t index = 0; index < all.size(); ++index) {
        all[index] += values[index];
      }
    }
    return sconce::tensor(all, sconce::device(tensor.device()).dtype(tensor.dtype()))
        .reshape(tensor.sizes());
  }

 private:
  sconce::Job& job_;
  int round_ = 0;
};

/// The weights, the same in all processes.
std::vector<sconce::Tensor> weights(const sconce::Device& device) {
  cc::manual_seed_all(7);
  const auto on = sconce::device(device);
  return {sconce::randn({1, 16}, on), sconce::rand({16}, on), sconce::randn({16, 1}, on) * 0.25,
          sconce::zeros({1}, on)};
}

/// The whole batch, the same in all processes.
sconce::Tensor inputs(const sconce::Device& device) {
  return sconce::linspace(-1.0, 1.0, kBatch, sconce::device(device)).reshape({kBatch, 1});
}

/// Trains on this process's part of the batch; returns the losses of the whole one.
std::vector<double> train(sconce::Job& job) {
  const sconce::Device device(job.local_rank % cc::device_count());
  cc::set_device(device.index());
  Sum sum(job);
  const sconce::Tensor x = inputs(device).chunk(job.world_size)[static_cast<std::size_t>(job.rank)];
  const sconce::Tensor y = x.abs();
  const ag::Tape tape;
  std::vector<ag::Variable> variables;
  for (const sconce::Tensor& weight : weights(device)) {
    variables.push_back(tape.variable(weight));
  }
  std::vector<double> losses;
  for (int epoch = 0; epoch < kEpochs; ++epoch) {
    const auto hidden = relu(ag::matmul(x, variables[0]) + variables[1]);
    const auto error = ag::matmul(hidden, variables[2]) + variables[3] - y;
    const auto squares = ag::sum(error * error);
    squares.backward();
    for (const ag::Variable& variable : variables) {
      variable.value().sub_(sum(variable.grad()), 0.002);
      variable.zero_grad();
    }
    losses.push_back(sum(squares.value().reshape({1})).item<double>() / kBatch);
    tape.clear();
    if (job.rank == 0 && job.world_size > 1 && epoch % 10 == 0) {
      std::printf("epoch %3d  loss %.6f\n", epoch, losses.back());
    }
  }
  return losses;
}

/// Compares the forward pass on all devices with that on one.
bool forward_is_the_same() {
  std::vector<std::int32_t> devices;
  for (std::int32_t index = 0; index < cc::device_count(); ++index) {
    devices.push_back(index);
  }
  const auto module = [](const std::vector<sconce::Tensor>& w, const sconce::Tensor& x) {
    return sconce::matmul(sconce::relu(sconce::matmul(x, w[0]) + w[1]), w[2]) + w[3];
  };
  const auto parameters = weights(0);
  const auto whole = module(parameters, inputs(0));
  const auto spread = cc::data_parallel(parameters, inputs(0), devices, module);
  const bool same = sconce::allclose(spread, whole, 1e-5, 1e-6);
  std::printf("forward pass on %d device(s): %s\n", cc::device_count(),
              same ? "as on one" : "DIFFERENT");
  return same;
}

/// Trains once more, alone and on the whole batch, and compares the losses.
bool is_as_alone(const sconce::Job& job, const std::vector<double>& losses) {
  sconce::Job alone{job.store.prefixed("alone"), 0, 1, job.local_rank};
  const std::vector<double> wanted = train(alone);
  for (std::size_t epoch = 0; epoch < losses.size(); ++epoch) {
    if (std::abs(losses[epoch] - wanted[epoch]) > 1e-4 * wanted[epoch]) {
      std::printf("epoch %zu: loss %.6f, but %.6f in one process\n", epoch, losses[epoch],
                  wanted[epoch]);
      return false;
    }
  }
  std::printf("the losses are those of one process\n");
  return true;
}

int run() {
  if (std::getenv("WORLD_SIZE") == nullptr) {
    sconce::Job alone{sconce::Store::tcp_server("127.0.0.1"), 0, 1, 0};
    const std::vector<double> losses = train(alone);
    std::printf("loss %.6f -> %.6f in 1 process\n", losses.front(), losses.back());
    return forward_is_the_same() && losses.back() < losses.front() / 4 ? 0 : 1;
  }
  sconce::Job job = sconce::join_job();
  const std::vector<double> losses = train(job);
  if (job.rank == 0) {
    std::printf("loss %.6f -> %.6f in %d processes\n", losses.front(), losses.back(),
                job.world_size);
  }
  const bool same = job.rank != 0 || is_as_alone(job, losses);
  // Rank 0 may serve the store: it leaves when all others have said that they are done with it.
  job.store.add("done", 1);
  while (job.rank == 0 && job.store.add("done", 0) < job.world_size) {
    cc::getDefaultCUDAStream().synchronize();
  }
  return same && losses.back() < losses.front() / 4 ? 0 : 1;
}

}  // namespace

int main() {
  try {
    return run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
