// cuFFT's own calls, without a library between, found at run time: nothing of CUDA is needed to
// build this.
#ifndef SCONCE_BENCHES_LIBRARIES_BARE_FFT_HPP
#define SCONCE_BENCHES_LIBRARIES_BARE_FFT_HPP

#include <dlfcn.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace library_bench {

class BareFft {
 public:
  BareFft() {
    const char* chosen = std::getenv("SCONCE_LIBCUFFT");
    const std::array<const char*, 4> names = {chosen, "libcufft.so.12", "libcufft.so.11",
                                              "libcufft.so.10"};
    for (const char* name : names) {
      if (library_ == nullptr && name != nullptr && *name != '\0') {
        library_ = dlopen(name, RTLD_NOW | RTLD_LOCAL);
      }
    }
    usable_ = library_ != nullptr && load("cufftCreate", create_) &&
              load("cufftSetAutoAllocation", set_auto_) && load("cufftXtMakePlanMany", make_) &&
              load("cufftSetStream", set_stream_) && load("cufftSetWorkArea", set_work_area_) &&
              load("cufftXtExec", execute_);
  }

  [[nodiscard]] bool usable() const { return usable_; }

  /// A plan for complex singles, with its work area left to the caller; negative if there is none.
  int plan(std::int64_t n, std::int64_t batch, std::size_t* out_work_area) const {
    constexpr int complex_single = 4;  // CUDA_C_32F
    int plan = -1;
    long long sizes[1] = {n};
    if (create_(&plan) != 0 || set_auto_(plan, 0) != 0 ||
        make_(plan, 1, sizes, nullptr, 1, n, complex_single, nullptr, 1, n, complex_single, batch,
              out_work_area, complex_single) != 0) {
      return -1;
    }
    return plan;
  }
  bool set(int plan, void* stream, void* work_area) const {
    return set_stream_(plan, stream) == 0 &&
           (work_area == nullptr || set_work_area_(plan, work_area) == 0);
  }
  bool execute(int plan, void* in, void* out) const { return execute_(plan, in, out, -1) == 0; }

 private:
  template <class Function>
  bool load(const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(library_, name));
    return function != nullptr;
  }

  bool usable_ = false;
  void* library_ = nullptr;
  int (*create_)(int*) = nullptr;
  int (*set_auto_)(int, int) = nullptr;
  int (*make_)(int, int, long long*, long long*, long long, long long, int, long long*, long long,
               long long, int, long long, std::size_t*, int) = nullptr;
  int (*set_stream_)(int, void*) = nullptr;
  int (*set_work_area_)(int, void*) = nullptr;
  int (*execute_)(int, void*, void*, int) = nullptr;
};

}  // namespace library_bench

#endif  // SCONCE_BENCHES_LIBRARIES_BARE_FFT_HPP
