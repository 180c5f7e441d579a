// The numbers of compat/numbers on a device: operations beside those of the host, and atomic
// operations. Needs nvcc and a GPU, and no library: scripts/gpu-check compiles and runs it.
//
//   c10_numbers          compares, and prints a hash of each row of results, bits of NaNs included
//
// With -DNUMBERS_OF_PYTORCH and the headers of PyTorch it does the same with c10's own numbers. The
// rows of both have to be equal: kernels then give the same bits.
#ifdef NUMBERS_OF_PYTORCH
#include <c10/cuda/CUDAMathCompat.h>
#include <c10/util/Float8_e4m3fn.h>
#include <c10/util/Float8_e4m3fnuz.h>
#include <c10/util/Float8_e5m2.h>
#include <c10/util/Float8_e5m2fnuz.h>
#include <c10/util/complex.h>

#include <ATen/cuda/Atomic.cuh>
#include <ATen/native/cuda/GridSampler.cuh>
#include <ATen/native/cuda/KernelUtils.cuh>
#else
#include <sconce/compat/kernels/device_math.cuh>
#include <sconce/compat/kernels/grid_sampler.cuh>
#include <sconce/compat/numbers/atomic.cuh>
namespace c10 = sconce::compat::c10;
namespace at = sconce::compat::at;
namespace device_math = sconce::compat::device_math;
#endif
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#ifdef NUMBERS_OF_PYTORCH
namespace device_math = c10::cuda::compat;
#endif

namespace {

using Word = unsigned long long;

int wrong = 0;

void expect(bool condition, const std::string& what) {
  if (!condition && ++wrong <= 20) {
    std::printf("does not hold: %s\n", what.c_str());
  }
}

void check(cudaError_t code, const char* call) {
  if (code != cudaSuccess) {
    std::printf("%s: %s\n", call, cudaGetErrorString(code));
    std::exit(1);
  }
}
#define CHECK(call) check(call, #call)

/// Elements on the device.
template <class T>
class Elements {
 public:
  explicit Elements(const std::vector<T>& values) : count_(values.size()) {
    CHECK(cudaMalloc(&data_, count_ * sizeof(T)));
    CHECK(cudaMemcpy(data_, values.data(), count_ * sizeof(T), cudaMemcpyHostToDevice));
  }
  explicit Elements(std::size_t count) : count_(count) {
    CHECK(cudaMalloc(&data_, count_ * sizeof(T)));
    CHECK(cudaMemset(data_, 0, count_ * sizeof(T)));
  }
  Elements(const Elements&) = delete;
  Elements& operator=(const Elements&) = delete;
  ~Elements() { cudaFree(data_); }
  [[nodiscard]] T* data() const { return data_; }
  [[nodiscard]] std::vector<T> read() const {
    std::vector<T> values(count_);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(values.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
  }

 private:
  T* data_ = nullptr;
  std::size_t count_;
};

/// The bits of a result; those of what is not a number only if they are asked for.
template <class T>
__host__ __device__ Word bits_of(T value, bool exact) {
  if (!exact && value != value) {
    return ~Word{0};
  }
  Word bits = 0;
  memcpy(&bits, &value, sizeof value);
  return bits;
}
template <class T>
__host__ __device__ T number(unsigned bits) {
  T value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

void print_row(const std::string& name, const std::vector<Word>& results, std::size_t first,
               std::size_t step) {
  Word hash = 0xCBF29CE484222325ULL;
  for (std::size_t i = first; i < results.size(); i += step) {
    for (int byte = 0; byte < 8; ++byte) {
      hash = (hash ^ (results[i] >> (8 * byte) & 0xFFU)) * 0x100000001B3ULL;
    }
  }
  std::printf("%s %016llx\n", name.c_str(), hash);
}

// Operations.

constexpr int kOperations = 18;
const char* const kNames[kOperations] = {"+",       "-",         "*",        "/",       "negated",
                                         "+=",      "*=",        "+ float",  "float -", "* double",
                                         "/ int",   "int64_t *", "float +=", "to int",  "compared",
                                         "chained", "to half",   "_isnan"};

/// All operations on two numbers.
template <class T>
__host__ __device__ void compute(T a, T b, bool exact, Word* results) {
  T sum = a;
  sum += b;
  T product = a;
  product *= b;
  const auto single = static_cast<float>(b);
  float added = 1.5F;
  added += a;
  const bool small = a < 100 && a > -100;
  const Word compared = (a == b ? 1U : 0U) | (a != b ? 2U : 0U) | (a < b ? 4U : 0U) |
                        (a <= b ? 8U : 0U) | (a > b ? 16U : 0U) | (a >= b ? 32U : 0U) |
                        (a < 1 ? 64U : 0U) | (a == single ? 128U : 0U) | (2.0 > b ? 256U : 0U);
  const Word values[kOperations] = {bits_of(a + b, exact),
                                    bits_of(a - b, exact),
                                    bits_of(a * b, exact),
                                    bits_of(a / b, exact),
                                    bits_of(-a, exact),
                                    bits_of(sum, exact),
                                    bits_of(product, exact),
                                    bits_of(a + single, exact),
                                    bits_of(single - a, exact),
                                    bits_of(a * (static_cast<double>(single) + 0.1), false),
                                    bits_of(a / 3, exact),
                                    bits_of(std::int64_t{5} * b, exact),
                                    bits_of(added, exact),
                                    bits_of(small ? static_cast<int>(a) : 0, exact),
                                    compared,
                                    bits_of(a * b + a - b / T(2), exact),
                                    bits_of(c10::Half(static_cast<float>(a)), exact),
                                    at::_isnan(a) ? Word{1} : Word{0}};
  for (int i = 0; i < kOperations; ++i) {
    results[i] = values[i];
  }
}

__host__ __device__ unsigned other(unsigned first, unsigned i) {
  unsigned mixed = (first * 64U + i) * 2654435761U;
  mixed ^= mixed >> 15;
  return i % 2 == 0 ? mixed : first ^ (mixed & 0x0FFFU);
}

template <class T>
__global__ void compute_all(unsigned count, unsigned others, bool exact, Word* results) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count * others) {
    const unsigned first = i / others;
    const unsigned second = sizeof(T) == 1 ? i % others : other(first, i % others) & 0xFFFFU;
    compute(number<T>(first), number<T>(second), exact,
            results + static_cast<std::size_t>(i) * kOperations);
  }
}
template <class T>
__global__ void convert_all(const float* singles, unsigned count, bool exact, Word* results) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) {
    results[i] = bits_of(T(singles[i]), exact);
  }
}
template <class T>
__global__ void widen_all(unsigned count, bool exact, Word* results) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) {
    results[i] = bits_of(static_cast<float>(number<T>(i)), exact);
  }
}

unsigned blocks(std::size_t threads) { return static_cast<unsigned>((threads + 255) / 256); }

template <class T>
void operations(const std::string& name) {
  const unsigned count = 1U << (8 * sizeof(T));
  const unsigned others = sizeof(T) == 1 ? 256 : 16;
  const std::size_t pairs = static_cast<std::size_t>(count) * others;
  const Elements<Word> results(pairs * kOperations);
  compute_all<T><<<blocks(pairs), 256>>>(count, others, false, results.data());
  const std::vector<Word> computed = results.read();
  for (std::size_t i = 0; i < pairs; ++i) {
    const auto first = static_cast<unsigned>(i / others);
    const auto column = static_cast<unsigned>(i % others);
    const unsigned second = sizeof(T) == 1 ? column : other(first, column) & 0xFFFFU;
    Word expected[kOperations];
    compute(number<T>(first), number<T>(second), false, expected);
    for (int k = 0; k < kOperations; ++k) {
      expect(computed[i * kOperations + k] == expected[k], name + " " + kNames[k] + " of " +
                                                               std::to_string(first) + " and " +
                                                               std::to_string(second));
    }
  }
  compute_all<T><<<blocks(pairs), 256>>>(count, others, true, results.data());
  const std::vector<Word> exact = results.read();
  for (int k = 0; k < kOperations; ++k) {
    print_row(name + " " + kNames[k], exact, static_cast<std::size_t>(k), kOperations);
  }

  std::vector<float> singles;
  for (unsigned upper = 0; upper < 0x10000; ++upper) {
    for (const unsigned lower :
         {0x0000U, 0x0001U, 0x0FFFU, 0x1000U, 0x1001U, 0x7FFFU, 0x8000U, 0x8001U, 0xFFFFU}) {
      singles.push_back(number<float>(upper << 16 | lower));
    }
  }
  const Elements<float> sources(singles);
  const auto all = static_cast<unsigned>(singles.size());
  const Elements<Word> converted(all);
  convert_all<T><<<blocks(all), 256>>>(sources.data(), all, false, converted.data());
  const std::vector<Word> bits = converted.read();
  for (std::size_t i = 0; i < singles.size(); ++i) {
    expect(bits[i] == bits_of(T(singles[i]), false),
           name + " from the float " + std::to_string(singles[i]));
  }
  convert_all<T><<<blocks(all), 256>>>(sources.data(), all, true, converted.data());
  print_row(name + " from float", converted.read(), 0, 1);

  const Elements<Word> widened(count);
  widen_all<T><<<blocks(count), 256>>>(count, false, widened.data());
  const std::vector<Word> wide = widened.read();
  for (unsigned i = 0; i < count; ++i) {
    expect(wide[i] == bits_of(static_cast<float>(number<T>(i)), false),
           name + " to float of " + std::to_string(i));
  }
  widen_all<T><<<blocks(count), 256>>>(count, true, widened.data());
  print_row(name + " to float", widened.read(), 0, 1);
}

// CUDA's own types, the cache for constant data, limits.

// A template, because c10 declares its __ldg for the device's compilation alone.
template <class Half, class BFloat16>
__global__ void among_types(const Half* halves, const BFloat16* uppers, Word* results) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const Half half = __ldg(halves + i);
  const BFloat16 upper = __ldg(uppers + i);
  const __half cudas = half;
  const auto cudas_upper = static_cast<__nv_bfloat16>(upper);
  const Half back = cudas;
  const BFloat16 back_upper = cudas_upper;
  unsigned short raw = 0;
  unsigned short raw_upper = 0;
  memcpy(&raw, &cudas, sizeof raw);
  memcpy(&raw_upper, &cudas_upper, sizeof raw_upper);
  results[i] = back.x | static_cast<Word>(raw) << 16 | static_cast<Word>(back_upper.x) << 32 |
               static_cast<Word>(raw_upper) << 48;
}
template <class T>
__global__ void limits_of(T* limits) {
  limits[0] = std::numeric_limits<T>::max();
  limits[1] = std::numeric_limits<T>::lowest();
  limits[2] = std::numeric_limits<T>::min();
  limits[3] = std::numeric_limits<T>::epsilon();
  limits[4] = std::numeric_limits<T>::quiet_NaN();
  limits[5] = std::numeric_limits<T>::denorm_min();
}
template <class T>
void limits(const std::string& name) {
  const Elements<T> results(6);
  limits_of<<<1, 1>>>(results.data());
  const std::vector<T> computed = results.read();
  const T expected[] = {std::numeric_limits<T>::max(),       std::numeric_limits<T>::lowest(),
                        std::numeric_limits<T>::min(),       std::numeric_limits<T>::epsilon(),
                        std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::denorm_min()};
  for (int i = 0; i < 6; ++i) {
    expect(computed[i].x == expected[i].x, name + " limit " + std::to_string(i));
  }
}
void types() {
  std::vector<c10::Half> halves(0x10000);
  std::vector<c10::BFloat16> uppers(0x10000);
  for (unsigned i = 0; i < 0x10000; ++i) {
    halves[i] = number<c10::Half>(i);
    uppers[i] = number<c10::BFloat16>(i ^ 0xFFFFU);
  }
  const Elements<c10::Half> first(halves);
  const Elements<c10::BFloat16> second(uppers);
  const Elements<Word> results(0x10000);
  among_types<<<256, 256>>>(first.data(), second.data(), results.data());
  const std::vector<Word> computed = results.read();
  for (Word i = 0; i < 0x10000; ++i) {
    const Word upper = i ^ 0xFFFFU;
    expect(computed[i] == (i | i << 16 | upper << 32 | upper << 48),
           "CUDA's types have the bits of " + std::to_string(i));
  }
  limits<c10::Half>("Half");
  limits<c10::BFloat16>("BFloat16");
  limits<c10::Float8_e4m3fn>("Float8_e4m3fn");
  limits<c10::Float8_e5m2>("Float8_e5m2");
}

// Atomic operations.

template <class T>
__global__ void add_ones(T* sums, int count, bool fast) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) % count;
  if (fast) {
    at::native::fastAtomicAdd(sums, i, count, T(1), true);
  } else {
    gpuAtomicAddNoReturn(sums + i, T(1));
  }
}
/// Each element of a few that share words gets as many ones as there are threads for it.
template <class T>
void sums(const std::string& name) {
  constexpr int kCount = 5;
  constexpr int kEach = 100;
  for (const bool fast : {false, true}) {
    for (const std::size_t first : {std::size_t{0}, std::size_t{1}}) {  // the second is not aligned
      const Elements<T> elements(kCount + 3);
      add_ones<<<kCount * kEach / 20, 20>>>(elements.data() + first, kCount, fast);
      const std::vector<T> computed = elements.read();
      for (std::size_t i = 0; i < computed.size(); ++i) {
        const bool is_sum = i >= first && i < first + kCount;
        expect(static_cast<double>(computed[i]) == (is_sum ? kEach : 0),
               name + " sum " + std::to_string(i) + (fast ? " fast" : ""));
      }
    }
  }
}

template <class T>
__global__ void extremes(T* elements) {
  const int i = static_cast<int>(threadIdx.x);
  gpuAtomicMax(elements, static_cast<T>(i));
  gpuAtomicMin(elements + 1, static_cast<T>(i + 1));
  gpuAtomicMul(elements + 2, static_cast<T>(i < 3 ? 2 : 1));
}
template <class T>
void other_operations(const std::string& name) {
  const Elements<T> elements(std::vector<T>{T(0), T(100), T(3), T(7)});
  extremes<<<1, 64>>>(elements.data());
  const std::vector<T> computed = elements.read();
  expect(static_cast<double>(computed[0]) == 63, name + " maximum");
  expect(static_cast<double>(computed[1]) == 1, name + " minimum");
  expect(static_cast<double>(computed[2]) == 24, name + " product");
  expect(static_cast<double>(computed[3]) == 7, name + " neighbour");
}

__global__ void others(c10::Half* halves, c10::complex<float>* complexes, bool* flags,
                       signed char* bytes, std::int64_t* longs, float* before) {
  atomicAdd(halves, c10::Half(0.5F));
  gpuAtomicAdd(complexes, c10::complex<float>(1, 2));
  gpuAtomicAdd(flags + 1, true);
  gpuAtomicAdd(flags, false);
  atomicAdd(reinterpret_cast<std::int8_t*>(bytes) + 1, std::int8_t{-3});
  atomicAdd(longs, std::int64_t{-1} << 33);
  if (threadIdx.x == 0) {
    before[0] = gpuAtomicMax(before + 1, 5.0F);
    before[2] = gpuAtomicMax(before + 3, NAN);
    before[4] = static_cast<float>(gpuAtomicAdd(halves + 1, c10::Half(2)));
    gpuAtomicMin(before + 5, 1.0F);
  }
}
void atomic_operations() {
  sums<c10::Half>("Half");
  sums<c10::BFloat16>("BFloat16");
  sums<float>("float");
  sums<double>("double");
  sums<std::uint8_t>("uint8_t");
  sums<std::int8_t>("int8_t");
  sums<std::int16_t>("int16_t");
  sums<std::int32_t>("int32_t");
  sums<std::int64_t>("int64_t");
  other_operations<c10::Half>("Half");
  other_operations<c10::BFloat16>("BFloat16");
  other_operations<float>("float");
  other_operations<double>("double");
  other_operations<std::uint8_t>("uint8_t");
  other_operations<std::int8_t>("int8_t");
  other_operations<std::int16_t>("int16_t");
  other_operations<std::int32_t>("int32_t");
  other_operations<std::int64_t>("int64_t");

  const Elements<c10::Half> halves({c10::Half(0.0F), c10::Half(3)});
  const Elements<c10::complex<float>> complexes({c10::complex<float>(0, 0)});
  const Elements<unsigned char> flags(4);
  const Elements<signed char> bytes({0, 0, 7, 7});
  const Elements<std::int64_t> longs(std::vector<std::int64_t>(1));
  const Elements<float> before({0, 3, 0, 3, 0, NAN});
  others<<<1, 64>>>(halves.data(), complexes.data(), reinterpret_cast<bool*>(flags.data()),
                    bytes.data(), longs.data(), before.data());
  expect(static_cast<float>(halves.read()[0]) == 32 && static_cast<float>(halves.read()[1]) == 5,
         "atomicAdd of halves");
  expect(complexes.read()[0] == c10::complex<float>(64, 128), "sums of complex numbers");
  expect(flags.read() == std::vector<unsigned char>({0, 1, 0, 0}), "sums of truth values");
  expect(bytes.read() == std::vector<signed char>({0, 64, 7, 7}), "sums of bytes wrap");
  expect(longs.read()[0] == -(std::int64_t{64} << 33), "sums of 64 bits");
  const std::vector<float> seen = before.read();
  expect(seen[0] == 3 && seen[1] == 5 && seen[2] == 3 && seen[4] == 3, "what was there before");
  expect(std::isnan(seen[3]) && std::isnan(seen[5]), "what is not a number is the extreme");
}

// Complex numbers: Thrust's functions, and products that the compiler may fuse. The rows tell
// whether they are those of c10; here they are only near.

constexpr int kFunctions = 14;

template <class T>
__host__ __device__ void functions(c10::complex<T> x, c10::complex<T> y, c10::complex<T>* results) {
  results[0] = x + y;
  results[1] = x - y * T(2);
  results[2] = x * y;
  results[3] = x / y;
  results[4] = std::exp(x);
  results[5] = std::log(x);
  results[6] = std::sqrt(x);
  results[7] = std::pow(x, y);
  results[8] = std::sin(x) + std::cos(y);
  results[9] = std::tanh(x);
  results[10] = std::log1p(x);
  results[11] = std::expm1(x);
  results[12] = c10::complex<T>(std::abs(x), std::arg(x));
  results[13] = std::conj(x) * 2 - 1 / y;
}
template <class T>
__global__ void all_functions(c10::complex<T>* results, int side) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < side * side) {
    const c10::complex<T> x(T(i % side) / 4 - 2, T(i / side) / 8 - 1);
    functions(x, c10::complex<T>(T(0.75), x.real() + T(0.1)), results + i * kFunctions);
  }
}
template <class T>
void complex_numbers(const std::string& name, double tolerance) {
  constexpr int kSide = 17;
  const Elements<c10::complex<T>> results(kSide * kSide * kFunctions);
  all_functions<<<blocks(kSide * kSide), 256>>>(results.data(), kSide);
  const std::vector<c10::complex<T>> computed = results.read();
  std::vector<Word> bits;
  for (int i = 0; i < kSide * kSide; ++i) {
    const c10::complex<T> x(T(i % kSide) / 4 - 2, T(i / kSide) / 8 - 1);
    c10::complex<T> expected[kFunctions];
    functions(x, c10::complex<T>(T(0.75), x.real() + T(0.1)), expected);
    for (int k = 0; k < kFunctions; ++k) {
      const c10::complex<T> value = computed[i * kFunctions + k];
      bits.push_back(bits_of(value.real(), true));
      bits.push_back(bits_of(value.imag(), true));
      const double scale = 1 + std::abs(expected[k]);
      // At 0 the logarithm is infinite.
      const bool near = std::abs(value - expected[k]) <= tolerance * scale || std::isinf(scale);
      expect(near || expected[k] != expected[k],
             name + " function " + std::to_string(k) + " of point " + std::to_string(i));
    }
  }
  print_row(name + " functions", bits, 0, 1);
}

// Where a point of a grid lies, and functions with one name for singles and doubles.

constexpr int kPlaces = 12;

template <class T>
__global__ void places_kernel(T* results, int count) {
  using at::native::detail::GridSamplerPadding;
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count) {
    return;
  }
  const T coord = static_cast<T>(i - count / 2) / 97;
  T* result = results + i * kPlaces;
  for (int mode = 0; mode < 6; ++mode) {
    const auto padding = mode / 2 == 0   ? GridSamplerPadding::Zeros
                         : mode / 2 == 1 ? GridSamplerPadding::Border
                                         : GridSamplerPadding::Reflection;
    T slope = 0;
    const T place = at::native::grid_sampler_compute_source_index_set_grad(coord, 7, padding,
                                                                           mode % 2 == 1, &slope);
    const T same = at::native::grid_sampler_compute_source_index(coord, 7, padding, mode % 2 == 1);
    result[mode] = same == place ? place + 1000 * slope : NAN;
  }
  at::native::get_cubic_coefficients_grad(result + 6, coord);
  T sine = 0;
  T cosine = 0;
  device_math::sincos(coord, &sine, &cosine);
  result[10] = device_math::max(device_math::tanh(coord), sine) - device_math::abs(cosine);
  result[11] = device_math::rsqrt(device_math::exp(coord)) + device_math::normcdf(coord);
}
template <class T>
void places(const std::string& name, double tolerance) {
  constexpr int kCount = 2000;
  const Elements<T> results(static_cast<std::size_t>(kCount) * kPlaces);
  places_kernel<<<blocks(kCount), 256>>>(results.data(), kCount);
  const std::vector<T> computed = results.read();
  std::vector<Word> bits;
  for (int i = 0; i < kCount; ++i) {
    const T* result = computed.data() + static_cast<std::size_t>(i) * kPlaces;
    for (int k = 0; k < kPlaces; ++k) {
      bits.push_back(bits_of(result[k], true));
    }
    // Without padding the pixels are those of a line through the image.
    const double coord = static_cast<double>(static_cast<T>(i - kCount / 2) / 97);
    const auto near = [&](int k, double expected) {
      expect(std::fabs(static_cast<double>(result[k]) - expected) <= tolerance * 4000,
             name + " place " + std::to_string(k) + " of " + std::to_string(i));
    };
    near(0, ((coord + 1) * 7 - 1) / 2 + 3500);
    near(1, (coord + 1) / 2 * 6 + 3000);
    const double clipped = std::fmin(6, std::fmax(0, (coord + 1) / 2 * 6));
    const bool inside = (coord + 1) / 2 * 6 > 0 && (coord + 1) / 2 * 6 < 6;
    near(3, clipped + (inside ? 3000 : 0));
    near(10, std::fmax(std::tanh(coord), std::sin(coord)) - std::fabs(std::cos(coord)));
  }
  print_row(name + " places", bits, 0, 1);
}

}  // namespace

int main() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::printf("skipped: needs a GPU\n");
    return 77;
  }
  operations<c10::Half>("Half");
  operations<c10::BFloat16>("BFloat16");
  operations<c10::Float8_e4m3fn>("Float8_e4m3fn");
  operations<c10::Float8_e5m2>("Float8_e5m2");
  operations<c10::Float8_e4m3fnuz>("Float8_e4m3fnuz");
  operations<c10::Float8_e5m2fnuz>("Float8_e5m2fnuz");
  types();
  atomic_operations();
  complex_numbers<float>("complex<float>", 1e-5);
  complex_numbers<double>("complex<double>", 1e-13);
  places<float>("float", 1e-6);
  places<double>("double", 1e-13);
  std::printf(wrong == 0 ? "numbers for c10 hold on a device\n" : "%d do not hold\n", wrong);
  return wrong == 0 ? 0 : 1;
}
