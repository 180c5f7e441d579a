// The network of train_two_layers learns y = |x| on several devices: each takes its part of the
// batch, and an all_reduce averages the gradients. So the losses are those of one device with the
// whole batch, whatever the number of devices. One process a device:
//
//     scripts/launch --nproc-per-node 4 build/examples/data_parallel
//     torchrun --nproc-per-node 4 --no-python build/examples/data_parallel
//
// Alone the program trains one model on all devices of the process, a thread each, and runs the
// forward pass of a batch on all of them (data_parallel). Without a GPU: set SCONCE_BACKEND=sim and
// SCONCE_SIM_DEVICES to as many devices as there are processes.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <numeric>
#include <sconce/sconce_all.hpp>
#include <vector>

namespace ag = sconce::autograd;
namespace cc = sconce::cuda;
namespace dist = sconce::distributed;

namespace {

constexpr std::int64_t kBatch = 120;
constexpr int kEpochs = 60;

/// The weights, the same for all ranks.
std::vector<sconce::Tensor> weights(const sconce::Device& device) {
  cc::manual_seed(7);  // of this device: other threads use theirs
  const auto on = sconce::device(device);
  return {sconce::randn({1, 16}, on), sconce::rand({16}, on), sconce::randn({16, 1}, on) * 0.25,
          sconce::zeros({1}, on)};
}

/// The whole batch, the same for all ranks.
sconce::Tensor inputs(const sconce::Device& device) {
  return sconce::linspace(-1.0, 1.0, kBatch, sconce::device(device)).reshape({kBatch, 1});
}

/// Trains on the part of the batch of a rank; returns the losses of the whole batch. Ranks are
/// processes or threads. Without a communicator the part is the whole batch.
std::vector<double> train(const dist::Communicator* comm, std::int32_t device) {
  const std::int32_t rank = comm == nullptr ? 0 : comm->rank();
  const std::int32_t ranks = comm == nullptr ? 1 : comm->size();
  cc::set_device(device);
  const sconce::Tensor x = inputs(device).chunk(ranks)[static_cast<std::size_t>(rank)];
  const sconce::Tensor y = x.abs();
  const auto rows = static_cast<double>(x.size(0));
  const ag::Tape tape;
  std::vector<ag::Variable> variables;
  for (const sconce::Tensor& weight : weights(device)) {
    if (comm != nullptr) {
      comm->broadcast(weight, 0);  // All begin with the same, whatever their generators are.
    }
    variables.push_back(tape.variable(weight));
  }
  std::vector<sconce::Tensor> losses;
  for (int epoch = 0; epoch < kEpochs; ++epoch) {
    const auto hidden = relu(ag::matmul(x, variables[0]) + variables[1]);
    const auto error = ag::matmul(hidden, variables[2]) + variables[3] - y;
    const auto squares = ag::sum(error * error);
    squares.backward();
    losses.push_back(squares.value() / rows);
    std::vector<dist::Work> works;
    if (comm != nullptr) {
      // The parts are of one size, so the average of their means is the mean of the whole batch.
      // The calls run on the communicator's stream; an update waits for its gradient only.
      for (const ag::Variable& variable : variables) {
        works.push_back(comm->all_reduce(variable.grad(), dist::ReduceOp::AVG, dist::async_op));
      }
      comm->all_reduce(losses.back(), dist::ReduceOp::AVG);
    }
    for (std::size_t index = 0; index < variables.size(); ++index) {
      if (comm != nullptr) {
        works[index].wait();
      }
      variables[index].value().sub_(variables[index].grad(), 0.128 / rows);
      variables[index].zero_grad();
    }
    tape.clear();
  }
  std::vector<double> values;
  for (const sconce::Tensor& loss : losses) {
    values.push_back(loss.item<double>());
  }
  return values;
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

/// Whether losses are those of one device with the whole batch, apart from roundings.
bool is_as_alone(const std::vector<double>& losses, const std::vector<double>& alone) {
  for (std::size_t epoch = 0; epoch < losses.size(); ++epoch) {
    if (!(std::abs(losses[epoch] - alone[epoch]) <= 1e-4 * alone[epoch])) {
      std::printf("epoch %zu: loss %.6f, but %.6f on one device\n", epoch, losses[epoch],
                  alone[epoch]);
      return false;
    }
  }
  return losses.back() < losses.front() / 4;
}

void report(const std::vector<double>& losses, const char* who, std::int32_t count) {
  for (std::size_t epoch = 0; epoch < losses.size(); epoch += 20) {
    std::printf("epoch %3zu  loss %.6f\n", epoch, losses[epoch]);
  }
  std::printf("loss %.6f -> %.6f on %d %s\n", losses.front(), losses.back(), count, who);
}

/// One model on all devices of this process: a thread and a rank for each.
bool trains_on_all_devices() {
  // The batch is cut into parts of one size.
  std::int32_t count = cc::device_count();
  while (kBatch % count != 0) {
    --count;
  }
  std::vector<std::int32_t> devices(static_cast<std::size_t>(count));
  std::iota(devices.begin(), devices.end(), 0);
  const auto comms = dist::Communicator::init_all(devices);
  const auto losses = cc::parallel_apply(
      devices, [&](std::size_t rank) { return train(&comms[rank], devices[rank]); });
  report(losses.front(), "device(s) of one process", count);
  const bool same = is_as_alone(losses.front(), train(nullptr, 0));
  std::printf("%s\n", same ? "the losses are those of one device" : "the losses are DIFFERENT");
  return same;
}

/// One process of a job.
bool trains_in_a_job() {
  const auto member = dist::init_process_group();
  if (kBatch % member.job.world_size != 0) {
    std::fprintf(stderr, "the batch of %d has no %d parts of one size\n", static_cast<int>(kBatch),
                 member.job.world_size);
    return false;
  }
  const std::vector<double> losses = train(&member.comm, member.comm.device());
  const bool same = is_as_alone(losses, train(nullptr, member.comm.device()));
  if (member.job.rank == 0) {
    report(losses, "device(s), a process each", member.job.world_size);
    std::printf("%s\n", same ? "the losses are those of one process" : "the losses are DIFFERENT");
  }
  return same;
}

}  // namespace

int main() {
  try {
    if (std::getenv("WORLD_SIZE") != nullptr) {
      return trains_in_a_job() ? 0 : 1;
    }
    return trains_on_all_devices() && forward_is_the_same() ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
