// Runs of one compiled model as a graph, on streams in turns and from several threads: each run has
// its own inputs' results, though all runs share the graph's tensors.
//
//   model_graph MODEL.pt2      a model for CUDA with one input of floats; without it, the first
//   model
//                              `mlp.pt2` in SCONCE_TEST_MODELS
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sconce/sconce_all.hpp>
#include <sconce/torch.hpp>
#include <string>
#include <thread>
#include <vector>

#include "program.hpp"

namespace {

using gpu::expect;
using sconce::Tensor;
using sconce::cuda::CUDAStream;
using sconce::cuda::CUDAStreamGuard;

constexpr std::size_t kInputs = 6;
constexpr std::size_t kRuns = 120;

std::vector<char> bytes_of(const Tensor& tensor) {
  std::vector<char> bytes(static_cast<std::size_t>(tensor.nbytes()));
  gpu::check(sconce_tensor_to_values(tensor.get(), bytes.data(), bytes.size()));
  return bytes;
}

/// Inputs that differ, and what the graph returns for each of them alone.
struct Cases {
  std::vector<Tensor> inputs;
  std::vector<std::vector<char>> expected;
  Tensor like;
};

Cases cases_of(const sconce::torch::Model& model) {
  std::vector<std::int64_t> sizes;
  for (const auto& [least, most] : model.input(0).sizes) {
    sizes.push_back(least);
  }
  Cases cases;
  for (std::size_t i = 0; i < kInputs; ++i) {
    cases.inputs.push_back(sconce::randn(sizes, sconce::device(model.device())));
    const Tensor result = model.run_graph({cases.inputs.back()}).front();
    cases.like = sconce::empty_like(result);
    cases.expected.push_back(bytes_of(result));
  }
  return cases;
}

/// Work that keeps a stream busy for a while.
void delay() {
  static const Tensor matrix = sconce::randn({3072, 3072}, sconce::device(0));
  static_cast<void>(matrix.matmul(matrix));
}

void on_streams_in_turns(const sconce::torch::Model& model, const Cases& cases) {
  const std::vector<CUDAStream> streams = {sconce::cuda::getStreamFromPool(),
                                           sconce::cuda::getStreamFromPool(),
                                           sconce::cuda::getDefaultCUDAStream()};
  sconce::cuda::device_synchronize();
  std::vector<Tensor> results;
  for (std::size_t run = 0; run < kRuns; ++run) {
    const CUDAStreamGuard guard(streams[run % streams.size()]);
    if (run % 3 == 0) {
      delay();
    }
    results.push_back(sconce::empty_like(cases.like));
    model.run_graph_into({cases.inputs[run % kInputs]}, {results.back()});
  }
  sconce::cuda::device_synchronize();
  int wrong = 0;
  for (std::size_t run = 0; run < kRuns; ++run) {
    wrong += bytes_of(results[run]) == cases.expected[run % kInputs] ? 0 : 1;
  }
  expect(wrong == 0,
         std::to_string(kRuns) + " runs on three streams, " + std::to_string(wrong) + " wrong");
}

void from_threads(const sconce::torch::Model& model, const Cases& cases) {
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (std::size_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      const CUDAStreamGuard guard(sconce::cuda::getStreamFromPool());
      for (std::size_t run = 0; run < kRuns; ++run) {
        const std::size_t at = (run + thread) % kInputs;
        const Tensor result = sconce::empty_like(cases.like);
        model.run_graph_into({cases.inputs[at]}, {result});
        wrong += bytes_of(result) == cases.expected[at] ? 0 : 1;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  expect(wrong == 0, "runs of four threads, " + std::to_string(wrong) + " wrong");
}

/// Replaces a constant while three threads run the graph: each result is that of one constant or of
/// the other.
void while_constants_change(const sconce::torch::Model& model, const std::string& name,
                            const std::vector<std::int64_t>& sizes) {
  const auto replace = [&](double value) {
    model.update_constants({{name, sconce::full(sizes, value, sconce::device(model.device()))}});
  };
  replace(0.25);
  const Cases first = cases_of(model);
  replace(-0.5);
  std::vector<std::vector<char>> second;
  for (const Tensor& input : first.inputs) {
    second.push_back(bytes_of(model.run_graph({input}).front()));
  }
  std::atomic<bool> done{false};
  std::atomic<int> wrong{0};
  std::atomic<int> runs{0};
  std::vector<std::thread> threads;
  for (std::size_t thread = 0; thread < 3; ++thread) {
    threads.emplace_back([&, thread] {
      const CUDAStreamGuard guard(sconce::cuda::getStreamFromPool());
      for (std::size_t run = thread; !done; ++run) {
        const std::size_t at = run % kInputs;
        const Tensor result = sconce::empty_like(first.like);
        try {
          model.run_graph_into({first.inputs[at]}, {result});
        } catch (const std::exception& error) {
          std::cerr << error.what() << std::endl;
          ++wrong;
          return;
        }
        const std::vector<char> bytes = bytes_of(result);
        wrong += bytes == first.expected[at] || bytes == second[at] ? 0 : 1;
        ++runs;
      }
    });
  }
  std::string failure;
  try {
    for (int turn = 0; turn < 40; ++turn) {
      replace(turn % 2 == 0 ? 0.25 : -0.5);
    }
  } catch (const std::exception& error) {
    failure = error.what();
  }
  done = true;
  for (std::thread& thread : threads) {
    thread.join();
  }
  expect(failure.empty(), "a constant is replaced while graphs run and are captured " + failure);
  expect(wrong == 0, std::to_string(runs) + " runs while a constant is replaced, " +
                         std::to_string(wrong) + " wrong");
}

/// What the model says of its memory, with one graph.
void memory(const sconce::torch::Model& model, const Cases& cases) {
  const sconce::torch::ModelMemory memory = model.memory();
  const auto result = static_cast<std::uint64_t>(cases.like.nbytes());
  const auto input = static_cast<std::uint64_t>(cases.inputs[0].nbytes());
  expect(memory.constant_device_bytes > 0 && memory.constant_host_bytes == 0,
         "constants take " + std::to_string(memory.constant_device_bytes) + " bytes of the device");
  expect(memory.graph_count == 1 && memory.graph_input_bytes == input,
         "a graph with " + std::to_string(memory.graph_input_bytes) + " bytes of inputs");
  expect(memory.graph_pool_bytes >= result,
         "its pool has " + std::to_string(memory.graph_pool_bytes) + " bytes");
  expect(memory.run_bytes >= result,
         "a run makes " + std::to_string(memory.run_bytes) + " bytes of tensors at a time");
}

int work(const std::string& path) {
  {
    const sconce::torch::Model model(path);
    expect(model.memory().graph_count == 0, "no graph before the first run");
    const Cases cases = cases_of(model);
    memory(model, cases);
    on_streams_in_turns(model, cases);
    from_threads(model, cases);
    const sconce::torch::ModelConstant constant = model.constant(0);
    // The weight of the first product: a row for each of its results.
    const std::int64_t columns = cases.inputs.front().size(-1);
    const std::int64_t rows = static_cast<std::int64_t>(constant.bytes / 4) / columns;
    while_constants_change(model, constant.name, {rows, columns});
  }
  return gpu::verdict("model_graph");
}

}  // namespace

int main(int argc, char** argv) {
  std::string path = argc > 1 ? argv[1] : "";
  if (const char* folder = std::getenv("SCONCE_TEST_MODELS"); path.empty() && folder != nullptr) {
    path = std::string(folder) + "/mlp.pt2";
  }
  if (path.empty() || !std::filesystem::exists(path)) {
    std::cout << "skipped: there is no model; name one, or set SCONCE_TEST_MODELS" << std::endl;
    return gpu::kSkipped;
  }
  return gpu::program("model_graph", [&] { return work(path); });
}
