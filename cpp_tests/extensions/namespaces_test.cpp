// The namespaces at, c10 and torch are real: code reopens them, declares classes of them forward,
// and names things in them that are also in the library.
#include <ATen/ATen.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/extension.h>

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "fixture.hpp"

namespace at {
class Tensor;
namespace native {
Tensor doubled(const Tensor& tensor) { return tensor * 2; }
// Also a function of the library; here it is this one.
std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b + 1000; }
std::int64_t blocks_for(std::int64_t elements) { return ceil_div(elements, 10); }
}  // namespace native
}  // namespace at
namespace c10 {
struct Half;
namespace cuda {
int index_of(const CUDAStream& stream) { return stream.device_index(); }
}  // namespace cuda
}  // namespace c10
namespace torch {
namespace cuda {
bool own_function() { return true; }
}  // namespace cuda
}  // namespace torch

// What kernels' files begin with.
using namespace at;

namespace {

// Namespaces of the library must not be visible beside these.
namespace simulator {
constexpr int mine = 3;
}
double log_of(double value) { return log(value); }

static_assert(std::is_same_v<at::Tensor, torch::Tensor>);
static_assert(std::is_same_v<at::ScalarType, c10::ScalarType>);
static_assert(TORCH_VERSION_MAJOR >= 2);

class Namespaces : public support::DeviceFixture {};

TEST_F(Namespaces, AreReopened) {
  const torch::Tensor x = torch::ones({3}, torch::kCPU);
  EXPECT_EQ(at::native::doubled(x).sum().item<float>(), 6);
  EXPECT_EQ(at::native::blocks_for(15), 1002);
  EXPECT_EQ(at::ceil_div(std::int64_t{15}, std::int64_t{10}), 2);
  EXPECT_TRUE(torch::cuda::own_function());
}

TEST_F(Namespaces, DirectivesFindOneOfEach) {
  EXPECT_EQ(simulator::mine, 3);
  EXPECT_DOUBLE_EQ(log_of(std::exp(2.0)), 2);
  const Tensor x = zeros({2}, kFloat);
  EXPECT_EQ(x.numel(), 2);
  EXPECT_EQ(torch::full({2}, 3, torch::kCPU).sum().item<double>(), 6);
}

TEST_F(Namespaces, StreamsAndGuardsHaveTheirNames) {
  const c10::cuda::CUDAGuard guard(0);
  const at::cuda::CUDAStream stream = at::cuda::getCurrentCUDAStream();
  EXPECT_EQ(c10::cuda::index_of(stream), 0);
  EXPECT_EQ(at::cuda::getCurrentDeviceProperties()->warpSize, C10_WARP_SIZE);
}

torch::Tensor bound(const torch::Tensor& tensor, double by) { return tensor * by; }
struct Bound {
  explicit Bound(int number) : value(number) {}
  [[nodiscard]] int get() const { return value; }
  int value;
};

}  // namespace

// Parses, and is never called.
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.doc() = "text";
  m.def("bound", &bound, "text", py::arg("tensor"), py::arg("by") = 1.0,
        py::call_guard<py::gil_scoped_release>());
  py::class_<Bound, std::shared_ptr<Bound>>(m, "Bound")
      .def(py::init<int>())
      .def("get", &Bound::get)
      .def_readwrite("value", &Bound::value);
  py::enum_<at::ScalarType>(m, "Type").value("Float", at::ScalarType::Float).export_values();
}
