// The fixture of the tests of transforms.
#ifndef SCONCE_CPP_TESTS_FFT_SUPPORT_HPP
#define SCONCE_CPP_TESTS_FFT_SUPPORT_HPP

#include <complex>
#include <sconce/sconce_all.hpp>

#include "fixture.hpp"

namespace support {

inline sconce::cuda::FFT of_sizes(const sconce::cuda::DimVector& sizes) {
  sconce::cuda::FFT what;
  what.sizes = sizes;
  return what;
}

/// Skips without cuFFT; begins with an empty cache.
class FFTFixture : public WorkFixture {
 protected:
  void SetUp() override {
    WorkFixture::SetUp();
    if (IsSkipped() || !wants_cuda()) {
      return;
    }
    try {
      auto memory = sconce::cuda::DeviceBuffer::of<std::complex<float>>(1);
      sconce::cuda::memory_set(memory, 0);
      const auto all = memory.span<std::complex<float>>();
      sconce::cuda::fft_c2c(of_sizes({1}), all, all);
      sconce::cuda::cufft_plan_cache().clear();
      sconce::cuda::cufft_plan_cache().reset_stats();
    } catch (const sconce::Error& error) {
      if (error.status() != SCONCE_ERROR_LIBRARY_NOT_FOUND) {
        throw;
      }
      GTEST_SKIP() << error.what();
    }
  }
};

}  // namespace support

#endif  // SCONCE_CPP_TESTS_FFT_SUPPORT_HPP
