// cuBLAS's own call for one product of floats, without a library between, found at run time:
// nothing of CUDA is needed to build this.
#ifndef SCONCE_BENCHES_LIBRARIES_BARE_BLAS_HPP
#define SCONCE_BENCHES_LIBRARIES_BARE_BLAS_HPP

#include <dlfcn.h>

#include <array>
#include <cstdint>
#include <cstdlib>

namespace library_bench {

class BareBlas {
 public:
  /// Functions for one product of floats. The last one is for batches.
  enum class Function { single, mixed, batched };

  BareBlas() {
    const char* chosen = std::getenv("SCONCE_LIBCUBLAS");
    const std::array<const char*, 4> names = {chosen, "libcublas.so.13", "libcublas.so.12",
                                              "libcublas.so.11"};
    for (const char* name : names) {
      if (library_ == nullptr && name != nullptr && *name != '\0') {
        library_ = dlopen(name, RTLD_NOW | RTLD_LOCAL);
      }
    }
    usable_ = library_ != nullptr && load("cublasSgemm_v2", single_) &&
              load("cublasGemmEx", mixed_) && load("cublasGemmStridedBatchedEx", batched_);
  }

  [[nodiscard]] bool usable() const { return usable_; }

  /// The product of square matrices of floats, on the stream and with the settings of the handle.
  bool multiply(Function function, void* handle, int n, const void* a, const void* b,
                void* c) const {
    constexpr int plain = 0;           // CUBLAS_OP_N
    constexpr int floats = 0;          // CUDA_R_32F
    constexpr int sums = 68;           // CUBLAS_COMPUTE_32F
    constexpr int any_algorithm = -1;  // CUBLAS_GEMM_DEFAULT
    const float one = 1;
    const float zero = 0;
    switch (function) {
      case Function::single:
        return single_(handle, plain, plain, n, n, n, &one, a, n, b, n, &zero, c, n) == 0;
      case Function::mixed:
        return mixed_(handle, plain, plain, n, n, n, &one, a, floats, n, b, floats, n, &zero, c,
                      floats, n, sums, any_algorithm) == 0;
      case Function::batched:
        return batched_(handle, plain, plain, n, n, n, &one, a, floats, n, 0, b, floats, n, 0,
                        &zero, c, floats, n, 0, 1, sums, any_algorithm) == 0;
    }
    return false;
  }

 private:
  template <class Pointer>
  bool load(const char* name, Pointer& function) {
    function = reinterpret_cast<Pointer>(dlsym(library_, name));
    return function != nullptr;
  }

  bool usable_ = false;
  void* library_ = nullptr;
  int (*single_)(void*, int, int, int, int, int, const void*, const void*, int, const void*, int,
                 const void*, void*, int) = nullptr;
  int (*mixed_)(void*, int, int, int, int, int, const void*, const void*, int, int, const void*,
                int, int, const void*, void*, int, int, int, int) = nullptr;
  int (*batched_)(void*, int, int, int, int, int, const void*, const void*, int, int, long long,
                  const void*, int, int, long long, const void*, void*, int, int, long long, int,
                  int, int) = nullptr;
};

}  // namespace library_bench

#endif  // SCONCE_BENCHES_LIBRARIES_BARE_BLAS_HPP
