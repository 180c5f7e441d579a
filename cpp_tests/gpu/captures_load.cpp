// The first use of each kernel of the library is inside a capture: its image is loaded there, the
// capture survives, and the graph computes the right result.
//
//   captures_load global|thread_local      the mode of the captures
#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <iostream>
#include <sconce/sconce_all.hpp>
#include <string>
#include <utility>
#include <vector>

#include "program.hpp"

namespace {

using namespace sconce::cuda;
using gpu::check;
using gpu::expect;

/// Bytes of the memory that a kernel writes.
constexpr std::size_t kBytes = 64 * 1024;
/// Elements of a random fill. The largest element has 8 bytes.
constexpr std::size_t kElements = 1001;

using Bytes = std::vector<unsigned char>;

Bytes contents(const gpu::Memory& memory) {
  Bytes bytes(kBytes);
  memory.read(bytes.data(), bytes.size());
  return bytes;
}

void fill(const gpu::Memory& memory, const Bytes& bytes) {
  gpu::synchronize();
  gpu::call("cuMemcpyHtoD_v2", gpu::kCopyIn, reinterpret_cast<gpu::Pointer>(memory.get()),
            static_cast<const void*>(bytes.data()), bytes.size());
}

/// Bytes that are all different from their neighbours.
Bytes pattern() {
  Bytes bytes(kBytes);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<unsigned char>(i * 7 + i / 256);
  }
  return bytes;
}

/// Captures streams in one mode.
struct Captures {
  CUDAStream stream;
  int mode;

  /// Captures the first use of a kernel, launches the graph, and compares its result with that of
  /// the same call outside of a capture.
  void first_use(const std::string& name, const std::function<void(void*)>& queue) const {
    first_use(name, queue, queue);
  }

  void first_use(const std::string& name, const std::function<void(void*)>& captured,
                 const std::function<void(void*)>& ordinary) const {
    const gpu::Memory by_graph(kBytes);
    const gpu::Memory by_call(kBytes);
    const Bytes before = pattern();
    fill(by_graph, before);
    fill(by_call, before);
    try {
      const gpu::Graph graph(
          stream.stream(), [&] { captured(by_graph.get()); }, mode);
      expect(contents(by_graph) == before, name + ": capturing it writes nothing");
      graph.launch(stream.stream());
      ordinary(by_call.get());
      const Bytes written = contents(by_graph);
      expect(written != before && written == contents(by_call),
             name + ": a graph of the first use writes the same as a call");
    } catch (const std::exception& error) {
      expect(false, name + ": " + error.what());
    }
  }
};

void sleeps(const Captures& captures) {
  using Clock = std::chrono::steady_clock;
  constexpr auto kTime = std::chrono::milliseconds(20);
  try {
    const gpu::Graph graph(
        captures.stream.stream(), [&] { sleep(kTime, captures.stream); }, captures.mode);
    gpu::synchronize();
    const auto start = Clock::now();
    graph.launch(captures.stream.stream());
    gpu::synchronize();
    expect(Clock::now() - start >= kTime, "sleep: a graph of the first use takes its time");
  } catch (const std::exception& error) {
    expect(false, std::string("sleep: ") + error.what());
  }
}

void copies(const Captures& captures) {
  const gpu::Memory source(kBytes);
  fill(source, Bytes(kBytes, 0xE1));
  const auto* const from = static_cast<const unsigned char*>(source.get());
  // Kernels for cells of 1, 2, 4, 8 and 16 bytes: addresses, pitches and widths that allow no more.
  for (std::size_t cell = 1; cell <= 16; cell *= 2) {
    const std::string width = std::to_string(cell) + " bytes at once";
    captures.first_use("rows, " + width, [&](void* to) {
      check(sconce_copy_2d(to, 96 * cell, from, 64 * cell, 33 * cell, 20, true));
    });
    captures.first_use("strides, " + width, [&](void* to) {
      sconce_strided_copy shape{};
      shape.struct_size = sizeof shape;
      shape.rank = 2;
      shape.element_bytes = cell;
      shape.sizes[0] = 13, shape.sizes[1] = 17;
      shape.dst_strides[0] = 1, shape.dst_strides[1] = 15;
      shape.src_strides[0] = 19, shape.src_strides[1] = 1;
      check(sconce_copy_strided(&shape, to, from, true));
    });
  }
}

void fills(const Captures& captures) {
  using Fill = std::function<void(void*, const CUDAGenerator&)>;
  const std::vector<std::pair<std::string, Fill>> all = {
      {"uniform",
       [](void* to, const auto& g) { uniform_(to, kElements, ScalarType::Float, 0, 1, g); }},
      {"uniform of doubles",
       [](void* to, const auto& g) { uniform_(to, kElements, ScalarType::Double, 0, 1, g); }},
      {"normal",
       [](void* to, const auto& g) { normal_(to, kElements, ScalarType::Float, 0, 1, g); }},
      {"log_normal",
       [](void* to, const auto& g) { log_normal_(to, kElements, ScalarType::Float, 1, 2, g); }},
      {"exponential",
       [](void* to, const auto& g) { exponential_(to, kElements, ScalarType::Float, 1, g); }},
      {"cauchy",
       [](void* to, const auto& g) { cauchy_(to, kElements, ScalarType::Float, 0, 1, g); }},
      {"geometric",
       [](void* to, const auto& g) { geometric_(to, kElements, ScalarType::Float, 0.25, g); }},
      {"bernoulli",
       [](void* to, const auto& g) { bernoulli_(to, kElements, ScalarType::Float, 0.5, g); }},
      {"integers",
       [](void* to, const auto& g) { random_(to, kElements, ScalarType::Int, -5, 100, g); }},
      {"integers of a wide range",
       [](void* to, const auto& g) {
         random_(to, kElements, ScalarType::Long, 0, std::int64_t{1} << 40, g);
       }},
      {"the full range",
       [](void* to, const auto& g) { random_(to, kElements, ScalarType::Long, g); }},
  };
  for (const auto& [name, queue] : all) {
    CUDAGenerator captured = createCUDAGenerator();
    captured.set_current_seed(1234);
    const CUDAGenerator plain = captured.clone();
    captures.first_use(
        name, [&, &queue = queue](void* to) { queue(to, captured); },
        [&, &queue = queue](void* to) { queue(to, plain); });
  }
}

/// Division of a transform's results: the kernels for F32 and F64.
void divisions(const Captures& captures) {
  constexpr std::int64_t kPoints = 64;
  const gpu::Memory in(kBytes);
  std::vector<double> doubles(2 * kPoints);
  std::vector<float> singles(2 * kPoints);
  for (std::size_t i = 0; i < doubles.size(); ++i) {
    doubles[i] = static_cast<double>(i % 11) - 5;
    singles[i] = static_cast<float>(doubles[i]);
  }
  const auto queue = [&](std::int32_t dtype, void* to) {
    sconce_fft_desc desc{};
    desc.struct_size = sizeof desc;
    desc.kind = SCONCE_FFT_C2C;
    desc.dtype = dtype;
    desc.direction = SCONCE_FFT_INVERSE;
    desc.normalization = SCONCE_FFT_NORM_BY_N;
    desc.rank = 1;
    desc.sizes[0] = kPoints;
    desc.batch = 1;
    check(sconce_fft(&desc, in.get(), to));
  };
  const auto with = [&](const std::string& name, std::int32_t dtype, const void* numbers,
                        std::size_t bytes) {
    Bytes input(kBytes, 0);
    std::memcpy(input.data(), numbers, bytes);
    fill(in, input);
    captures.first_use(name, [&](void* to) { queue(dtype, to); });
  };
  with("division of F32", SCONCE_DTYPE_F32, singles.data(), singles.size() * sizeof(float));
  with("division of F64", SCONCE_DTYPE_F64, doubles.data(), doubles.size() * sizeof(double));
}

/// The driver's answer to loading a module without the relaxed mode. Nothing depends on it; it
/// shows whether this driver requires the relaxed mode.
void note_what_the_driver_allows(const Captures& captures) {
  const char* const image =
      ".version 6.3\n.target sm_75\n.address_size 64\n.visible .entry nothing() { ret; }\n";
  void* const stream = captures.stream.stream();
  void* module = nullptr;
  void* graph = nullptr;
  gpu::call("cuStreamBeginCapture_v2", gpu::kBegin, stream, captures.mode);
  const int loaded = gpu::symbol<int(void**, const void*)>("cuModuleLoadData")(&module, image);
  const int ended = gpu::symbol<int(void*, void**)>("cuStreamEndCapture")(stream, &graph);
  std::cout << "note     a load that is not relaxed: " << loaded << "; the capture ends with "
            << ended << std::endl;
  if (graph != nullptr) {
    gpu::call("cuGraphDestroy", gpu::kHandle, graph);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "global";
  if (mode != "global" && mode != "thread_local") {
    std::cerr << "captures_load: the mode is global or thread_local, not " << mode << std::endl;
    return 2;
  }
  return gpu::program("captures_load", [&] {
    const CUDAStream stream = getStreamFromPool();
    const CUDAStreamGuard guard(stream);
    const Captures captures{stream, mode == "global" ? gpu::kGlobal : gpu::kThreadLocal};
    sleeps(captures);
    copies(captures);
    fills(captures);
    try {
      divisions(captures);
    } catch (const sconce::Error& error) {
      expect(false, std::string("division: ") + error.what());
    }
    note_what_the_driver_allows(captures);
    return gpu::verdict("captures load (" + mode + ")");
  });
}
