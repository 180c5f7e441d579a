// Matrix products and handles of cuBLAS: the handles of threads, the meaning of descriptions,
// refusals. gpu/libraries_products.cpp compares products of many shapes.
#include <complex>
#include <sconce/cuda/blas.hpp>
#include <sconce/cuda/context.hpp>
#include <sconce/cuda/copy.hpp>
#include <sconce/cuda/guard.hpp>
#include <sconce/cuda/memory_stats.hpp>
#include <sconce/sim/simulator.hpp>
#include <thread>
#include <type_traits>
#include <vector>

#include "fixture.hpp"
#include "library_references.hpp"

namespace {

using namespace sconce::cuda;
using support::contains;
using support::error_of;
using support::Numbers;
using support::OnDevice;
using support::random_numbers;
using support::status_of;

// The type as cublas_api.h declares it.
using cublasHandle_t = struct cublasContext*;
static_assert(std::is_same_v<decltype(getCurrentCUDABlasHandle()), cublasHandle_t>,
              "a handle is a cublasHandle_t");

class BlasTest : public support::WorkFixture {
 protected:
  void SetUp() override {
    WorkFixture::SetUp();
    if (IsSkipped()) {
      return;
    }
    try {
      (void)getCurrentCUDABlasHandle();
    } catch (const sconce::Error& error) {
      if (error.status() != SCONCE_ERROR_LIBRARY_NOT_FOUND || !support::wants_cuda()) {
        throw;
      }
      GTEST_SKIP() << error.what();
    }
  }
};

/// Multiplies random numbers on the device and on the host.
/// \returns the largest error as a fraction of the summed magnitudes
double error_of_product(const Matmul& what, ScalarType type, std::size_t a_count,
                        std::size_t b_count, std::size_t c_count, int bits = support::kFewBits) {
  const Numbers a = random_numbers(a_count, 1, bits);
  const Numbers b = random_numbers(b_count, 2, bits);
  const Numbers c = random_numbers(c_count, 3, bits);
  OnDevice device_a(a, type);
  OnDevice device_b(b, type);
  OnDevice device_c(c, type);
  matmul(what, type, device_a.get(), device_b.get(), device_c.get());
  return support::worst_error(device_c.read(), support::multiplied(what, a, b, c));
}

TEST_F(BlasTest, AThreadKeepsItsHandle) {
  cublasHandle_t const handle = getCurrentCUDABlasHandle();
  EXPECT_NE(handle, nullptr);
  const CUDAStreamGuard guard(getStreamFromPool());
  EXPECT_EQ(getCurrentCUDABlasHandle(), handle) << "a handle follows the stream";
}

TEST_F(BlasTest, ThreadsHaveHandlesOfTheirOwnAndLeaveThemToOthers) {
  cublasHandle_t const mine = getCurrentCUDABlasHandle();
  cublasHandle_t first = nullptr;
  cublasHandle_t second = nullptr;
  std::thread([&] { first = getCurrentCUDABlasHandle(); }).join();
  std::thread([&] { second = getCurrentCUDABlasHandle(); }).join();
  EXPECT_NE(first, mine);
  EXPECT_EQ(second, first) << "the handle of a thread that has ended is used again";
  EXPECT_EQ(getCurrentCUDABlasHandle(), mine);
}

TEST_F(BlasTest, DevicesHaveHandlesOfTheirOwn) {
  SCONCE_NEED_DEVICES(2);
  cublasHandle_t const first = getCurrentCUDABlasHandle();
  const CUDAGuard guard(1);
  EXPECT_NE(getCurrentCUDABlasHandle(), first);
}

TEST_F(BlasTest, WorkspacesAreOfTheCachingAllocatorAndGoBackToIt) {
  clearCublasWorkspaces();
  (void)getCurrentCUDABlasHandle();
  const std::size_t with = memory_allocated();
  clearCublasWorkspaces();
  // A handle that is in use returns its workspace when it is next requested, and takes a new one.
  (void)getCurrentCUDABlasHandle();
  EXPECT_EQ(memory_allocated(), with);
  std::thread([&] {
    (void)getCurrentCUDABlasHandle();
    EXPECT_GT(memory_allocated(), with) << "a handle that was given out has its own";
  }).join();
  EXPECT_EQ(memory_allocated(), with) << "the workspaces of a thread that has ended go back";
  clearCublasWorkspaces();
  EXPECT_LE(memory_allocated(), with);
}

TEST_F(BlasTest, WorkspacesHaveFiguresAndALimit) {
  clearCublasWorkspaces();
  EXPECT_EQ(cublas_workspace_stats().count, 0U);
  (void)getCurrentCUDABlasHandle();
  const auto stats = cublas_workspace_stats();
  EXPECT_EQ(stats.count, 1U);
  EXPECT_GT(stats.bytes, 0U);
  EXPECT_EQ(stats.idle_bytes, 0U) << "the caller may use it at any time";
  EXPECT_EQ(stats.max_bytes, static_cast<std::uint64_t>(INT64_MAX));
  clearCublasWorkspaces();
  set_cublas_workspace_max_bytes(0);
  (void)getCurrentCUDABlasHandle();
  EXPECT_EQ(cublas_workspace_stats().count, 0U);
  EXPECT_EQ(cublas_workspace_stats().num_without, stats.num_without + 1);
  EXPECT_LE(error_of_product({3, 4, 5}, ScalarType::Float, 15, 20, 12), 4e-6);
  set_cublas_workspace_max_bytes(INT64_MAX);
  (void)getCurrentCUDABlasHandle();
  EXPECT_EQ(cublas_workspace_stats().bytes, 0U) << "nothing has changed for the handle";
  const CUDAStreamGuard guard(getStreamFromPool());
  (void)getCurrentCUDABlasHandle();
  EXPECT_EQ(cublas_workspace_stats().bytes, stats.bytes);
  EXPECT_THROW(set_cublas_workspace_max_bytes(-1), sconce::Error);
}

TEST_F(BlasTest, ADescriptionSaysWhatIsUnusual) {
  EXPECT_LE(error_of_product({3, 4, 5}, ScalarType::Float, 15, 20, 12), 4e-6);

  Matmul what{3, 4, 5};
  what.batch = 2;
  what.alpha = -2;
  what.beta = 0.5;
  what.transpose_a = true;
  EXPECT_LE(error_of_product(what, ScalarType::Double, 30, 40, 24), 1e-14);
  what.transpose_b = true;
  EXPECT_LE(error_of_product(what, ScalarType::Double, 30, 40, 24), 1e-14);
}

TEST_F(BlasTest, StridesPlaceMatrices) {
  Matmul what{3, 4, 5};
  what.batch = 2;
  what.beta = 1;
  what.a_strides = {0, 5, 1};   // the same factor twice
  what.b_strides = {40, 1, 6};  // columns that lie together, with gaps between them
  what.c_strides = {30, 7, 1};  // rows with gaps between them
  EXPECT_LE(error_of_product(what, ScalarType::Double, 15, 80, 60), 1e-14);
  what.c_strides = {50, 11, 2};  // no elements that lie together
  EXPECT_LE(error_of_product(what, ScalarType::Double, 15, 80, 100), 1e-14);
}

TEST_F(BlasTest, EveryTypeIsMultiplied) {
  for (const ScalarType type :
       {ScalarType::Half, ScalarType::BFloat16, ScalarType::Float, ScalarType::Double}) {
    EXPECT_LE(error_of_product({8, 16, 32}, type, 256, 512, 128), support::tolerance(type))
        << "type " << static_cast<int>(type);
  }
}

// A half type with the layout of CUDA's headers, and none of this library's types.
struct ForeignHalf {
  std::uint16_t bits;
};

/// Multiplies views of a type. \returns the largest error as a fraction of the summed magnitudes
template <class T>
double error_of_typed_product(ScalarType type) {
  const Numbers a = random_numbers(6, 1, support::kFewBits);
  const Numbers b = random_numbers(12, 2, support::kFewBits);
  OnDevice device_a(a, type);
  OnDevice device_b(b, type);
  OnDevice c(Numbers(8, 1), type);
  const Matmul what{2, 4, 3};
  const DeviceSpan<const T> view = device_a.span<T>();
  matmul(what, view, device_b.span<T>().data(), c.span<T>());
  const sconce::Error error =
      error_of([&] { matmul(what, view.first(5), device_b.span<T>(), c.span<T>()); });
  EXPECT_TRUE(contains(error.what(), "a has 5 elements, and the description reaches 6"));
  return support::worst_error(c.read(), support::multiplied(what, a, b, Numbers(8)));
}

}  // namespace

namespace sconce::cuda {
template <>
struct CppTypeToScalarType<ForeignHalf> : CppTypeToScalarType<Half> {};
}  // namespace sconce::cuda

namespace {

TEST_F(BlasTest, HalfPrecisionIsOfATypeToo) {
  EXPECT_LE(error_of_typed_product<Half>(ScalarType::Half), support::tolerance(ScalarType::Half));
  EXPECT_LE(error_of_typed_product<BFloat16>(ScalarType::BFloat16),
            support::tolerance(ScalarType::BFloat16));
  EXPECT_LE(error_of_typed_product<ForeignHalf>(ScalarType::Half),
            support::tolerance(ScalarType::Half));
}

template <class Complex>
void expect_complex_product() {
  const std::vector<Complex> a{{1, 2}, {3, 0}, {0, 0}, {0, -1}};
  const std::vector<Complex> b{{2, 0}, {0, 1}, {1, -1}, {4, 0}};
  const std::vector<Complex> product{{5, 1}, {10, 1}, {-1, -1}, {0, -4}};
  const std::size_t bytes = a.size() * sizeof(Complex);
  DeviceBuffer on_a(bytes);
  DeviceBuffer on_b(bytes);
  DeviceBuffer on_c(bytes);
  copy_(on_a.span<Complex>(), a);
  copy_(on_b.span<Complex>(), b);
  matmul(Matmul{2, 2, 2}, on_a.span<Complex>(), on_b.span<Complex>(), on_c.span<Complex>());
  std::vector<Complex> c(a.size());
  copy_(c, on_c.span<Complex>());
  EXPECT_EQ(c, product);
}

TEST_F(BlasTest, ComplexNumbersAreMultiplied) {
  expect_complex_product<std::complex<float>>();
  expect_complex_product<std::complex<double>>();
}

TEST_F(BlasTest, NothingIsTheSumOfNoProducts) {
  Matmul what{2, 3, 0};
  what.beta = 2;
  EXPECT_EQ(error_of_product(what, ScalarType::Float, 0, 0, 6), 0);
  what.beta = 0;
  EXPECT_EQ(error_of_product(what, ScalarType::Float, 0, 0, 6), 0);
  // Without elements, addresses are not checked.
  matmul({0, 3, 4}, ScalarType::Float, nullptr, nullptr, nullptr);
  what.batch = 0;
  matmul(what, ScalarType::Float, nullptr, nullptr, nullptr);
}

TEST_F(BlasTest, PointersAndViewsAreOperands) {
  const Numbers a = random_numbers(6, 1);
  const Numbers b = random_numbers(6, 2);
  OnDevice device_a(a, ScalarType::Float);
  OnDevice device_b(b, ScalarType::Float);
  OnDevice c(Numbers(4), ScalarType::Float);
  const Matmul what{2, 2, 3};
  const auto reference = support::multiplied(what, a, b, Numbers(4));
  const DeviceSpan<const float> view = device_a.span<float>();
  globalContext().setAllowTF32CuBLAS(false);
  matmul(what, view, device_b.span<float>().data(), c.span<float>());
  EXPECT_LE(support::worst_error(c.read(), reference), 4e-6);
}

TEST_F(BlasTest, AViewMustHaveWhatADescriptionReaches) {
  OnDevice memory(Numbers(100), ScalarType::Double);
  const auto all = memory.span<double>();
  Matmul what{4, 5, 6};
  const sconce::Error short_a = error_of([&] { matmul(what, all.first(23), all, all.last(20)); });
  EXPECT_EQ(short_a.status(), SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(contains(short_a.what(), "a has 23 elements, and the description reaches 24"));
  EXPECT_TRUE(contains(error_of([&] { matmul(what, all, all.first(29), all); }).what(),
                       "b has 29 elements, and the description reaches 30"));
  what.c_strides = {0, 6, 1};
  EXPECT_TRUE(contains(error_of([&] { matmul(what, all, all, all.first(22)); }).what(),
                       "c has 22 elements, and the description reaches 23"));
  what.c_strides = {6, 1};
  EXPECT_TRUE(contains(error_of([&] { matmul(what, all, all, all); }).what(),
                       "c_strides has 2 numbers; it needs 3"));
}

TEST_F(BlasTest, WhatTheLibraryRefusesItNames) {
  OnDevice memory(Numbers(100), ScalarType::Float);
  const auto refusal = [&](const Matmul& what, const void* a, void* c) {
    const sconce::Error error =
        error_of([&] { matmul(what, ScalarType::Float, a, memory.get(), c); });
    EXPECT_EQ(error.status(), SCONCE_ERROR_INVALID_ARGUMENT);
    return std::string(error.what());
  };
  const std::vector<float> host(100);
  EXPECT_TRUE(contains(refusal({-1, 2, 2}, memory.get(), memory.get()), "desc.m"));
  EXPECT_TRUE(contains(refusal({2, 2, 2}, memory.get(), memory.get()), "c"));
  EXPECT_TRUE(contains(refusal({2, 2, 2}, nullptr, memory.get()), "a"));
  EXPECT_TRUE(contains(refusal({2, 2, 2}, host.data(), memory.get()), "a"));
  EXPECT_EQ(status_of([&] {
              matmul({2, 2, 2}, ScalarType::Long, memory.get(), memory.get(), memory.get());
            }),
            SCONCE_ERROR_NOT_SUPPORTED);
}

TEST_F(BlasTest, OperandsLieOnOneDevice) {
  SCONCE_NEED_DEVICES(2);
  OnDevice a(Numbers(4), ScalarType::Float);
  OnDevice c(Numbers(4), ScalarType::Float);
  const CUDAGuard guard(1);
  OnDevice b(Numbers(4), ScalarType::Float);
  EXPECT_EQ(status_of([&] {
              matmul({2, 2, 2}, ScalarType::Float, a.get(), b.get(), c.get());
            }),
            SCONCE_ERROR_CROSS_DEVICE);
  // Operands that are all on another device than the current one are multiplied there.
  OnDevice other(Numbers(4), ScalarType::Float);
  OnDevice product(Numbers{1, 1, 1, 1}, ScalarType::Float);
  set_device(0);
  matmul({2, 2, 2}, ScalarType::Float, b.get(), other.get(), product.get());
  getCurrentCUDAStream(1).synchronize();
  EXPECT_EQ(product.read(), Numbers(4));
}

TEST_F(BlasTest, ProductsObeyTheSwitchAsItIsAtTheCall) {
  SCONCE_NEED_SIMULATOR();
  const Matmul what{32, 32, 64};
  const auto error = [&](bool allow) {
    globalContext().setAllowTF32CuBLAS(allow);
    return error_of_product(what, ScalarType::Float, 2048, 2048, 1024, 24);
  };
  const double with = error(true);
  EXPECT_GT(with, 2e-5);
  EXPECT_LE(with, support::tolerance(ScalarType::Float, true));
  EXPECT_LE(error(false), support::tolerance(ScalarType::Float));
  globalContext().setFloat32MatmulPrecision("high");
  EXPECT_GT(error_of_product(what, ScalarType::Float, 2048, 2048, 1024, 24), 2e-5);
}

TEST_F(BlasTest, ProductsRunOnTheCurrentStream) {
  SCONCE_NEED_SIMULATOR();
  OnDevice a({1, 2, 3, 4}, ScalarType::Double);
  OnDevice c(Numbers(4), ScalarType::Double);
  device_synchronize();
  const CUDAStream stream = getStreamFromPool();
  const sconce::simulator::ManualScope manual;
  {
    const CUDAStreamGuard guard(stream);
    matmul({2, 2, 2}, ScalarType::Double, a.get(), a.get(), c.get());
  }
  EXPECT_GE(sconce::simulator::pending(stream), 1U) << "a product only queues";
  (void)sconce::simulator::run_until_idle();
  sconce::simulator::set_manual(false);
  EXPECT_EQ(c.read(), (Numbers{7, 10, 15, 22}));
}

TEST_F(BlasTest, DeterministicAlgorithmsWantAWorkspaceOfAKnownSize) {
  SCONCE_NEED_SIMULATOR();
  ASSERT_EQ(std::getenv("CUBLAS_WORKSPACE_CONFIG"), nullptr);
  globalContext().setDeterministicAlgorithms(true);
  const sconce::Error error = error_of([] {
    (void)error_of_product({2, 2, 2}, ScalarType::Float, 4, 4, 4);
  });
  globalContext().setDeterministicAlgorithms(false);
  EXPECT_EQ(error.status(), SCONCE_ERROR_INVALID_STATE);
  EXPECT_TRUE(contains(error.what(), "CUBLAS_WORKSPACE_CONFIG"));
  EXPECT_TRUE(contains(error.what(), ":4096:8"));
  EXPECT_TRUE(contains(error.what(), ":16:8"));
}

class BlasFailureTest : public support::WorkFixture {};

TEST_F(BlasFailureTest, AMissingLibraryIsAStatusOfItsOwn) {
  SCONCE_NEED_SIMULATOR();
  sconce::simulator::inject_fault("blas_create", 1, -1);
  EXPECT_EQ(status_of([] { (void)getCurrentCUDABlasHandle(); }), SCONCE_ERROR_LIBRARY_NOT_FOUND);
  EXPECT_NE(getCurrentCUDABlasHandle(), nullptr) << "it is looked for again";
}

TEST_F(BlasFailureTest, TheLibrarysNumberIsTold) {
  SCONCE_NEED_SIMULATOR();
  (void)getCurrentCUDABlasHandle();
  sconce::simulator::inject_fault("blas_gemm", 1, 13);
  const sconce::Error error = error_of([] {
    (void)error_of_product({2, 2, 2}, ScalarType::Float, 4, 4, 4);
  });
  EXPECT_EQ(error.backend_code(), 13);
  EXPECT_LE(error_of_product({2, 2, 2}, ScalarType::Float, 4, 4, 4), 4e-6);
}

}  // namespace
