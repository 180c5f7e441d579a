// The error and the speed of TF32: the table of PyTorch's notes on CUDA semantics. Two random
// matrices are multiplied in F64, and then in F32 with TF32 allowed and forbidden. The program
// prints the error of the F32 products and their time. The relative error is the largest error over
// the mean of |a @ b|.
//
//   tf32_table [N]      N by N matrices: 10240 on a GPU, 512 on the simulator
//
// Without a GPU: set SCONCE_BACKEND=sim. Simulated devices round as TF32 does, so that the errors
// are real; their times are those of the host.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <sconce/sconce_all.hpp>
#include <vector>

namespace cc = sconce::cuda;

namespace {

constexpr int kRuns = 5;

/// A square matrix of normally distributed numbers, drawn on the device.
cc::DeviceBuffer random_matrix(std::size_t elements) {
  auto matrix = cc::DeviceBuffer::of<double>(elements);
  cc::normal_(matrix.span<double>());
  return matrix;
}

template <class T>
std::vector<T> on_host(const cc::DeviceBuffer& matrix) {
  std::vector<T> elements(matrix.size<T>());
  cc::copy_(elements, matrix);
  return elements;
}

/// A copy of a matrix, converted to F32.
cc::DeviceBuffer narrowed(const cc::DeviceBuffer& matrix) {
  const auto wide = on_host<double>(matrix);
  std::vector<float> narrow(wide.size());
  std::transform(wide.begin(), wide.end(), narrow.begin(),
                 [](double number) { return static_cast<float>(number); });
  auto result = cc::DeviceBuffer::of<float>(narrow.size());
  cc::copy_(result, narrow);
  return result;
}

struct Row {
  double max_error = 0;
  double relative_error = 0;
  double milliseconds = 0;
};

class Table {
 public:
  explicit Table(std::int64_t n) : product_{n, n, n}, elements_(static_cast<std::size_t>(n * n)) {
    const cc::DeviceBuffer a = random_matrix(elements_);
    const cc::DeviceBuffer b = random_matrix(elements_);
    auto c = cc::DeviceBuffer::of<double>(elements_);
    cc::matmul(product_, a.span<double>(), b.span<double>(), c.span<double>());
    reference_ = on_host<double>(c);
    for (const double number : reference_) {
      mean_ += std::abs(number) / static_cast<double>(elements_);
    }
    a_ = narrowed(a);
    b_ = narrowed(b);
    c_ = cc::DeviceBuffer::of<float>(elements_);
  }

  [[nodiscard]] double mean() const { return mean_; }

  Row row(bool allow_tf32) {
    cc::globalContext().setAllowTF32CuBLAS(allow_tf32);
    multiply();  // The first product of a shape takes longer.
    cc::CUDAEvent start(cc::EventFlags::Timing);
    cc::CUDAEvent end(cc::EventFlags::Timing);
    start.record();
    for (int run = 0; run < kRuns; ++run) {
      multiply();
    }
    end.record();
    end.synchronize();

    Row row;
    row.milliseconds = static_cast<double>(start.elapsed_time(end)) / kRuns;
    const auto product = on_host<float>(c_);
    for (std::size_t i = 0; i < elements_; ++i) {
      const double error = std::abs(static_cast<double>(product[i]) - reference_[i]);
      row.max_error = std::max(row.max_error, error);
    }
    row.relative_error = row.max_error / mean_;
    return row;
  }

 private:
  void multiply() { cc::matmul(product_, a_.span<float>(), b_.span<float>(), c_.span<float>()); }

  cc::Matmul product_;
  std::size_t elements_;
  std::vector<double> reference_;
  double mean_ = 0;
  cc::DeviceBuffer a_;
  cc::DeviceBuffer b_;
  cc::DeviceBuffer c_;
};

void print(const char* name, const Row& row, std::int64_t n) {
  const double operations = 2 * std::pow(static_cast<double>(n), 3);
  std::printf("%-10s %12.6f %16.8f %12.3f %12.3g\n", name, row.max_error, row.relative_error,
              row.milliseconds, operations / row.milliseconds / 1e9);
}

}  // namespace

int main(int count, char** arguments) try {
  const bool simulated = sconce::active_backend() == sconce::Backend::Sim;
  const std::int64_t n = count > 1 ? std::atoll(arguments[1]) : simulated ? 512 : 10240;
  if (n < 1 || n > 40000) {
    std::fprintf(stderr, "usage: %s [N]      N by N matrices, 1 to 40000\n", arguments[0]);
    return 2;
  }
  cc::manual_seed(0);
  Table table(n);
  const Row on = table.row(true);
  const Row off = table.row(false);

  std::printf("%lld x %lld on %s; the mean of |a @ b| is %.4f\n\n", static_cast<long long>(n),
              static_cast<long long>(n), cc::get_device_name().c_str(), table.mean());
  std::printf("%-10s %12s %16s %12s %12s\n", "TF32", "max error", "relative error", "ms",
              "TFLOP/s");
  print("allowed", on, n);
  print("forbidden", off, n);
  // TF32 keeps 10 bits of a factor's mantissa where F32 keeps 23.
  if (on.max_error < 20 * off.max_error) {
    std::puts(
        "\nTF32 has made no difference. It takes a device of compute capability 8.0, and that");
    std::puts("NVIDIA_TF32_OVERRIDE is not 0.");
    return 1;
  }
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
