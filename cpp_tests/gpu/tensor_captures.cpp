// Operations on tensors inside captures: each becomes part of a graph whose launch has the result
// of the ordinary call, or is refused with words; the capture survives both. The first use of each
// is inside a capture, too.
//
//   tensor_captures global|thread_local      the mode of the captures
#include <cstdint>
#include <functional>
#include <iostream>
#include <sconce/sconce_all.hpp>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "program.hpp"

namespace {

using gpu::expect;
using sconce::Tensor;
using sconce::cuda::CUDAStream;

using Bytes = std::vector<unsigned char>;

/// The elements of a tensor in row-major order.
Bytes bytes_of(const Tensor& tensor) {
  Bytes bytes(static_cast<std::size_t>(tensor.nbytes()));
  gpu::check(sconce_tensor_to_values(tensor.get(), bytes.data(), bytes.size()));
  return bytes;
}

/// What the operations work on. It lives longer than all graphs.
struct Operands {
  Tensor matrix = sconce::arange(16).to(sconce::kFloat).view({4, 4}) / 8;
  Tensor turned = matrix.t();
  Tensor second = (matrix * 3 - 2).contiguous();
  Tensor batch = sconce::stack({matrix, second});
  Tensor image = sconce::arange(50).to(sconce::kFloat).view({1, 2, 5, 5}) / 16;
  Tensor filter = sconce::arange(54).to(sconce::kFloat).view({3, 2, 3, 3}) / 32;
  Tensor index = sconce::tensor({2, 0, 3});
  Tensor truths = matrix > 1;
  Tensor written = sconce::zeros({4, 4});
  Tensor ordinary = sconce::ones({4, 4}, sconce::device(sconce::kCPU));
  Tensor pinned = ordinary.pin_memory();
};

struct Operation {
  std::string name;
  std::function<Tensor()> call;
};

std::vector<Operation> elementwise(const Operands& t) {
  return {
      {"add", [&] { return t.turned + t.second; }},
      {"sub", [&] { return t.turned - t.second; }},
      {"mul", [&] { return t.turned * t.second; }},
      {"div", [&] { return t.turned / (t.second + 9); }},
      {"pow", [&] { return t.turned.pow(2.5); }},
      {"minimum", [&] { return t.turned.minimum(t.second); }},
      {"remainder", [&] { return t.turned.remainder(0.75); }},
      {"eq", [&] { return t.turned.eq(t.second); }},
      {"lt", [&] { return t.turned.lt(0.5); }},
      {"logical_xor", [&] { return t.turned.logical_xor(t.second); }},
      {"neg", [&] { return t.turned.neg(); }},
      {"exp", [&] { return t.turned.exp(); }},
      {"gelu", [&] { return t.turned.gelu(); }},
      {"silu", [&] { return t.turned.silu(); }},
      {"clamp", [&] { return t.turned.clamp(0.5, 1.0); }},
      {"where", [&] { return sconce::where(t.truths, t.turned, t.second); }},
      {"a cast", [&] { return t.turned.to(sconce::kHalf); }},
      {"in place", [&] { return t.written.fill_(1).add_(t.turned, 2); }},
  };
}

std::vector<Operation> factories(const Operands& t) {
  return {
      {"zeros",
       [&] {
         return sconce::zeros({5, 3});
       }},
      {"full",
       [&] {
         return sconce::full({3, 3}, 2.5);
       }},
      {"full_like", [&] { return sconce::full_like(t.turned, 7); }},
      {"arange", [&] { return sconce::arange(0, 9, 2); }},
      {"linspace", [&] { return sconce::linspace(0, 1, 7); }},
      {"eye", [&] { return sconce::eye(3, 4); }},
      {"clone", [&] { return t.turned.clone(sconce::MemoryFormat::Contiguous); }},
      {"contiguous", [&] { return t.turned.contiguous(); }},
      {"reshape",
       [&] {
         return t.turned.reshape({2, 8});
       }},
      {"a view",
       [&] {
         return t.matrix.view({2, 8}).narrow(1, 2, 3).t();
       }},
      {"copy_", [&] { return t.written.copy_(t.turned); }},
      {"copy_ from pinned memory", [&] { return t.written.copy_(t.pinned, true); }},
  };
}

std::vector<Operation> others(const Operands& t) {
  return {
      {"sum", [&] { return t.turned.sum(); }},
      {"mean", [&] { return t.turned.mean({0}); }},
      {"prod", [&] { return t.turned.prod(); }},
      {"amax", [&] { return t.turned.amax({1}, true); }},
      {"argmin", [&] { return t.turned.argmin(0); }},
      {"any", [&] { return t.truths.any(); }},
      {"softmax", [&] { return t.turned.softmax(0); }},
      {"log_softmax", [&] { return t.turned.log_softmax(1); }},
      {"cumsum", [&] { return t.turned.cumsum(0); }},
      {"cumprod", [&] { return t.turned.cumprod(1); }},
      {"cat",
       [&] {
         return sconce::cat({t.turned, t.second}, 1);
       }},
      {"cat of two types",
       [&] {
         return sconce::cat({t.turned, t.index.view({3, 1}).expand({3, 4})});
       }},
      {"stack",
       [&] {
         return sconce::stack({t.turned, t.second});
       }},
      {"index_select", [&] { return t.turned.index_select(0, t.index); }},
      {"sort", [&] { return std::get<1>(t.turned.sort(0, true)); }},
      {"matmul", [&] { return t.turned.matmul(t.second); }},
      {"bmm", [&] { return t.batch.bmm(t.batch); }},
      {"addmm", [&] { return t.matrix.addmm(t.turned, t.second); }},
      {"convolution",
       [&] {
         return sconce::detail::tensor_of([&](sconce_tensor** out) {
           const std::int64_t steps[] = {1, 1};
           const std::int64_t padding[] = {0, 1};
           return ::sconce_tensor_convolution(t.image.get(), t.filter.get(), nullptr, steps,
                                              padding, steps, 2, 1, out);
         });
       }},
      {"a transform",
       [&] {
         return sconce::detail::tensor_of([&](sconce_tensor** out) {
           const std::int64_t dims[] = {0, 1};
           return ::sconce_tensor_fft(t.turned.get(), SCONCE_FFT_R2C, SCONCE_FFT_FORWARD,
                                      SCONCE_FFT_NORM_NONE, dims, 2, -1, out);
         });
       }},
  };
}

/// What waits for the device, or reads and writes ordinary memory.
std::vector<std::pair<std::string, std::function<void()>>> refused(const Operands& t) {
  return {
      {"item", [&] { (void)t.matrix.select(0, 0).select(0, 0).item<float>(); }},
      {"cpu", [&] { (void)t.matrix.cpu(); }},
      {"to_values", [&] { (void)bytes_of(t.matrix); }},
      {"printing", [&] { (void)sconce::to_string(t.matrix); }},
      {"equal", [&] { (void)t.matrix.equal(t.second); }},
      {"allclose", [&] { (void)t.matrix.allclose(t.second); }},
      {"a copy from ordinary memory", [&] { t.written.copy_(t.ordinary); }},
      {"a tensor of values",
       [&] {
         (void)sconce::tensor({1.0, 2.0});
       }},
  };
}

/// Captures the first use of an operation, launches the graph, and compares with the ordinary call.
void first_use(const Operation& operation, const CUDAStream& stream, int mode) {
  try {
    Tensor result;
    const gpu::Graph graph(
        stream.stream(), [&] { result = operation.call(); }, mode);
    graph.launch(stream.stream());
    gpu::synchronize();
    const Bytes by_graph = bytes_of(result);
    expect(by_graph == bytes_of(operation.call()),
           operation.name + ": a graph has the values of the call");
  } catch (const std::exception& error) {
    expect(false, operation.name + ": " + error.what());
  }
}

/// The capture takes work before and behind the refused call, and its graph has the values of both.
void is_refused(const std::string& name, const std::function<void()>& call, const Operands& t,
                const CUDAStream& stream, int mode) {
  try {
    std::string words;
    Tensor before;
    Tensor behind;
    const gpu::Graph graph(
        stream.stream(),
        [&] {
          before = t.turned + 1;
          try {
            call();
          } catch (const std::exception& error) {
            words = error.what();
          }
          behind = before * 2;
        },
        mode);
    expect(words.find("captured") != std::string::npos, name + " is refused: " + words);
    graph.launch(stream.stream());
    gpu::synchronize();
    expect(bytes_of(behind) == bytes_of((t.turned + 1) * 2),
           name + " leaves the capture as it was");
    call();
  } catch (const std::exception& error) {
    expect(false, name + ": " + error.what());
  }
}

/// Random fills draw other numbers at each launch.
void draws(const CUDAStream& stream, int mode) {
  try {
    Tensor result;
    const gpu::Graph graph(
        stream.stream(), [&] { result = sconce::rand({1000}); }, mode);
    Bytes last;
    for (int launch = 0; launch < 2; ++launch) {
      graph.launch(stream.stream());
      gpu::synchronize();
      const Bytes drawn = bytes_of(result);
      expect(drawn != last && result.amin().item<float>() >= 0 && result.amax().item<float>() < 1,
             "rand: launch " + std::to_string(launch) + " draws new numbers between 0 and 1");
      last = drawn;
    }
  } catch (const std::exception& error) {
    expect(false, std::string("rand: ") + error.what());
  }
}

int work(int mode) {
  const CUDAStream stream = sconce::cuda::getStreamFromPool();
  const sconce::cuda::CUDAStreamGuard guard(stream);
  const Operands operands;
  gpu::synchronize();
  for (const auto& group : {factories(operands), elementwise(operands), others(operands)}) {
    for (const Operation& operation : group) {
      first_use(operation, stream, mode);
    }
  }
  draws(stream, mode);
  for (const auto& [name, call] : refused(operands)) {
    is_refused(name, call, operands, stream, mode);
  }
  return gpu::verdict("tensor_captures");
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode != "global" && mode != "thread_local") {
    std::cerr << "tensor_captures global|thread_local" << std::endl;
    return 2;
  }
  return gpu::program("tensor_captures",
                      [&] { return work(mode == "global" ? gpu::kGlobal : gpu::kThreadLocal); });
}
