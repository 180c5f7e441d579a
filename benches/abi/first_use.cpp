// The time of the first use of each kernel image, in a process whose context exists: the cost of
// loading, and of compiling where the image has no machine code. Prints a line `first_NAME
// MILLISECONDS` for each image; the time includes the wait for the device. Run it with
// CUDA_CACHE_DISABLE=1, or the driver's cache on disk hides the compiler.
#include <chrono>
#include <cstdio>
#include <sconce/sconce_all.hpp>

namespace cc = sconce::cuda;

namespace {

template <class Call>
void first(const char* name, Call&& call) {
  const auto begin = std::chrono::steady_clock::now();
  call();
  cc::device_synchronize();
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  std::printf("first_%s %.2f\n", name, took.count());
}

}  // namespace

int main() try {
  constexpr std::size_t kCount = 1 << 16;
  auto a = cc::DeviceBuffer::of<float>(kCount);
  auto b = cc::DeviceBuffer::of<float>(kCount);
  cc::memory_set(a, 0);
  cc::copy_(b, a, true);
  cc::device_synchronize();
  (void)cc::getDefaultCUDAGenerator();
  void* const ptr = a.get();
  const auto real = cc::ScalarType::Float;
  first("uniform", [&] { cc::uniform_(ptr, kCount, real); });
  first("normal", [&] { cc::normal_(ptr, kCount, real); });
  first("log_normal", [&] { cc::log_normal_(ptr, kCount, real); });
  first("exponential", [&] { cc::exponential_(ptr, kCount, real); });
  first("cauchy", [&] { cc::cauchy_(ptr, kCount, real); });
  first("geometric", [&] { cc::geometric_(ptr, kCount, real, 0.5); });
  first("bernoulli", [&] { cc::bernoulli_(ptr, kCount, real); });
  first("integers", [&] { cc::random_(ptr, kCount, real, 0, 100); });
  first("full_range", [&] { cc::random_(ptr, kCount, real); });
  first("sleep", [] { cc::sleep(std::chrono::nanoseconds(1)); });
  // A transposition, and rows of an odd pitch.
  const auto from = a.span<float>();
  const auto to = b.span<float>();
  first("strided", [&] {
    cc::copy_strided_(cc::as_strided(to, {256, 256}, {1, 256}),
                      cc::as_strided(from, {256, 256}, {256, 1}), true);
  });
  first("rows",
        [&] { cc::copy_2d_(cc::Rows(to, 100, 100, 101), cc::Rows(from, 100, 100, 103), true); });
  return 0;
} catch (const sconce::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
