// Lines that code for c10 has of halves, accessors, checked arguments and checks without a
// semicolon; see c10_compat_test.cpp.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <sstream>
#include <unordered_map>
#include <vector>

#include "c10_compat_support.hpp"

using namespace c10_lines;  // NOLINT

namespace {

torch::Tensor on_the_cpu(const torch::Tensor& x) { return x.cpu(); }

// Elements by their indices.

LINE(78, PackedAccessorOfAKernelsParameter) {
  const auto x = ones({2, 3});
  auto a = x.t().packed_accessor32<float, 2, torch::RestrictPtrTraits>();
  EXPECT_EQ(a.data(), x.data_ptr<float>());
  EXPECT_EQ(std::vector<int>({a.size(0), a.size(1), a.stride(0), a.stride(1)}),
            std::vector<int>({3, 2, 1, 3}));
  EXPECT_EQ(a[2].stride(0), 3);
  EXPECT_EQ(&a[2][1], x.data_ptr<float>() + 5);
  static_assert(sizeof(x.packed_accessor64<float, 2>().size(0)) == sizeof(int64_t));
  EXPECT_EQ((x.packed_accessor<float, 2, at::DefaultPtrTraits, std::size_t>().size(1)), 3U);
  static_assert(std::is_trivially_copyable_v<decltype(a)>, "passed to a kernel by value");
  EXPECT_TRUE(contains(error_of([&] { (void)x.packed_accessor32<float, 3>(); }).what(),
                       "expected 3 dims but tensor has 2"));
  EXPECT_TRUE(contains(error_of([&] { (void)x.packed_accessor32<int, 2>(); }).what(), "Float"));
  const auto far = x.as_strided({1, 3}, {int64_t{1} << 40, 1});
  EXPECT_TRUE(contains(error_of([&] { (void)far.packed_accessor32<float, 2>(); }).what(),
                       "packed_accessor64"));
}
LINE(107, AccessorOfALoop) {
  const auto x = on_the_cpu(torch::arange(6, torch::kFloat).view({2, 3}));
  auto a = x.accessor<float, 2>();
  float sum = 0;
  for (int64_t i = 0; i < a.size(0); ++i) {
    for (int64_t j = 0; j < a.size(1); ++j) {
      sum += a[i][j];
    }
  }
  EXPECT_EQ(sum, 15);
  a[1][2] = 7;
  EXPECT_EQ(x[1][2].item<float>(), 7);
  const auto device = ones({2, 3});
  EXPECT_TRUE(contains(error_of([&] { (void)device.accessor<float, 2>(); }).what(), "cpu()"));
}

// Numbers of 16 bits.

LINE(108, HalvesAsNumbers) {
  c10::Half h(1.5F);
  h = h + h;
  h *= 2;
  EXPECT_EQ(static_cast<float>(h), 6.0F);
  EXPECT_EQ(h.x, 0x4600);
  const c10::BFloat16 b = 1.0F / 3;
  EXPECT_EQ(b.x, 0x3EAB);
  EXPECT_EQ(c10::Half(0x7C00, c10::Half::from_bits()), std::numeric_limits<float>::infinity());
  const auto x = torch::full({2}, 0.1, torch::dtype(torch::kHalf).device(torch::kCPU));
  EXPECT_EQ(x.data_ptr<c10::Half>()[0].x, c10::Half(0.1F).x);
}
LINE(109, EveryHalfIsItself) {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    const auto raw = static_cast<std::uint16_t>(bits);
    const c10::Half half(raw, c10::Half::from_bits());
    const c10::BFloat16 upper(raw, c10::BFloat16::from_bits());
    const float value = half;
    if (std::isnan(value)) {
      EXPECT_EQ(c10::Half(value).x & 0x7E00, 0x7E00);
    } else {
      ASSERT_EQ(c10::Half(value).x, raw);
      // The neighbours' middle goes to the even one, and what is beyond it to the other.
      if (raw < 0x7BFF) {
        const auto above = static_cast<std::uint16_t>(raw + 1);
        const float next = c10::Half(above, c10::Half::from_bits());
        const float middle = value + (next - value) / 2;
        ASSERT_EQ(c10::Half(middle).x, raw % 2 == 0 ? raw : above);
        ASSERT_EQ(c10::Half(std::nextafter(middle, next)).x, above);
        ASSERT_EQ(c10::Half(-std::nextafter(middle, value)).x, raw | 0x8000);
      }
    }
    if (!std::isnan(static_cast<float>(upper))) {
      ASSERT_EQ(c10::BFloat16(static_cast<float>(upper)).x, raw);
    }
  }
  EXPECT_EQ(c10::Half(65519.0F).x, 0x7BFF);
  EXPECT_EQ(c10::Half(65520.0F).x, 0x7C00);
  EXPECT_EQ(c10::BFloat16(std::numeric_limits<float>::quiet_NaN()).x, 0x7FC0);
}
LINE(110, ScalarTypesAsNumbers) {
  const double scale = 0.5;
  for (const auto type : {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16}) {
    AT_DISPATCH_FLOATING_TYPES_AND2(
        at::ScalarType::Half, at::ScalarType::BFloat16, type, "numbers", [&] {
          using acc_t = at::acc_type<scalar_t, true>;
          static_assert(sizeof(acc_t) >= 4);
          static_assert(std::is_same_v<at::opmath_type<scalar_t>, acc_t>);
          const auto x = static_cast<scalar_t>(scale);
          acc_t sum = 0;
          for (int i = 0; i < 4; ++i) {
            sum += x * static_cast<scalar_t>(i);
          }
          EXPECT_EQ(static_cast<double>(sum), 3.0);
        });
  }
  EXPECT_EQ(at::toAccumulateType(at::kHalf, true), at::kFloat);
  EXPECT_TRUE(at::isFloatingType(at::kBFloat16) && !at::isIntegralType(at::kBool, false));
}

// The limits of a format follow from its bits of exponent and mantissa.
template <class T>
void expect_limits(int exponent_bits, int mantissa_bits) {
  using limits = std::numeric_limits<T>;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const auto bits_of = [](T number) {
    std::uint16_t bits = 0;
    static_assert(sizeof(T) == sizeof bits);
    std::memcpy(&bits, &number, sizeof bits);
    return bits;
  };
  const auto value = [&](T number) {
    const unsigned bits = bits_of(number);
    const double sign = (bits & 0x8000U) != 0 ? -1 : 1;
    const int exponent = static_cast<int>((bits & 0x7FFFU) >> mantissa_bits);
    const double mantissa =
        std::ldexp(static_cast<double>(bits & ((1U << mantissa_bits) - 1)), -mantissa_bits);
    return exponent == 0 ? sign * std::ldexp(mantissa, 1 - bias)
                         : sign * std::ldexp(1 + mantissa, exponent - bias);
  };
  const double most = std::ldexp(2 - std::ldexp(1, -mantissa_bits), bias);
  const double least = std::ldexp(1, 1 - bias);
  EXPECT_EQ(value(limits::max()), most);
  EXPECT_EQ(value(limits::lowest()), -most);
  EXPECT_EQ(value(limits::min()), least);
  EXPECT_EQ(value(limits::denorm_min()), std::ldexp(least, -mantissa_bits));
  EXPECT_EQ(value(limits::epsilon()), std::ldexp(1, -mantissa_bits));
  EXPECT_EQ(value(limits::round_error()), 0.5);
  const auto infinite = static_cast<unsigned>(((1 << exponent_bits) - 1) << mantissa_bits);
  const unsigned quiet = 1U << (mantissa_bits - 1);
  EXPECT_EQ(bits_of(limits::infinity()), infinite);
  EXPECT_EQ(bits_of(limits::quiet_NaN()), infinite | quiet);
  const unsigned signalling = bits_of(limits::signaling_NaN());
  EXPECT_TRUE(signalling > infinite && (signalling & quiet) == 0 && signalling < 0x8000U);
  static_assert(limits::is_specialized && limits::is_signed && !limits::is_integer);
  static_assert(!limits::is_exact && limits::is_bounded && !limits::is_modulo);
  static_assert(limits::has_infinity && limits::has_quiet_NaN && limits::has_signaling_NaN);
  static_assert(limits::radix == 2 && limits::round_style == std::round_to_nearest);
  EXPECT_EQ(limits::is_iec559, exponent_bits == 5);
  EXPECT_EQ(limits::digits, mantissa_bits + 1);
  const double decimal = std::log10(2.0);
  EXPECT_EQ(limits::digits10, static_cast<int>(std::floor(mantissa_bits * decimal)));
  EXPECT_EQ(limits::max_digits10, static_cast<int>(std::ceil(1 + (mantissa_bits + 1) * decimal)));
  EXPECT_EQ(limits::max_exponent, bias + 1);
  EXPECT_EQ(limits::min_exponent, 2 - bias);
  EXPECT_EQ(limits::max_exponent10, static_cast<int>(std::floor(std::log10(most))));
  EXPECT_EQ(limits::min_exponent10, static_cast<int>(std::ceil(std::log10(least))));
  static_assert(std::numeric_limits<const T>::digits == limits::digits);
  constexpr T lowest = limits::lowest();
  (void)lowest;
}

TEST(Limits, OfEveryTypeOf16Bits) {
  expect_limits<c10::Half>(5, 10);
  expect_limits<sconce::cuda::Half>(5, 10);
  expect_limits<c10::BFloat16>(8, 7);
  expect_limits<sconce::cuda::BFloat16>(8, 7);
}

template <class T>
T most_of(std::initializer_list<float> numbers) {
  T most = std::numeric_limits<T>::lowest();
  for (const float number : numbers) {
    most = std::max(most, static_cast<T>(number));
  }
  return most;
}

TEST(Limits, TheLargestOfNegativeNumbersIsNegative) {
  EXPECT_EQ(static_cast<float>(most_of<c10::Half>({-3, -2, -5})), -2.0F);
  EXPECT_EQ(static_cast<float>(most_of<c10::BFloat16>({-3, -2, -5})), -2.0F);
}

template <class T>
void expect_hashes() {
  EXPECT_EQ(std::hash<T>()(T(0.0F)), std::hash<T>()(T(-0.0F)));
  EXPECT_NE(std::hash<T>()(T(1.0F)), std::hash<T>()(T(2.0F)));
  std::unordered_map<T, int> counts;
  for (const float number : {1.5F, 0.0F, -0.0F, 1.5F, -1.5F}) {
    ++counts[T(number)];
  }
  EXPECT_EQ(counts.size(), 3U);
  EXPECT_EQ(counts.at(T(0.0F)), 2);
  static_assert(c10::is_reduced_floating_point_v<T>);
  static_assert(c10::is_reduced_floating_point<T>::value);
}

TEST(Limits, HashesAndTraits) {
  expect_hashes<c10::Half>();
  expect_hashes<c10::BFloat16>();
  static_assert(!c10::is_reduced_floating_point_v<float>);
  static_assert(!c10::is_reduced_floating_point_v<double>);
}

// Checks.

LINE(111, ChecksWithoutASemicolon) {
  const auto x = ones({2, 3});
  TORCH_CHECK(x.dim() == 2, "x must be a matrix, not of ", x.dim(), " dimensions")
  TORCH_CHECK_VALUE(x.size(0) == 2, "two rows")
  TORCH_INTERNAL_ASSERT(x.defined())
  if (x.is_cuda()) TORCH_CHECK(x.device().index() == 0, x.device());
  EXPECT_THROW(TORCH_CHECK_WITH(ValueError, false, "no"), c10::ValueError);
  EXPECT_EQ(error_of([] { TORCH_CHECK_ARG(false, 2, "too large") }).msg(),
            "invalid argument 2: too large");
}
LINE(112, ArgumentsThatAreCheckedTogether) {
  SCONCE_NEED_DEVICES(2);
  const auto input = ones({2, 3});
  const auto rois = ones({4, 5});
  at::TensorArg input_t{input, "input", 1}, rois_t{rois, "rois", 2};
  at::CheckedFrom c = "roi_align_forward_kernel";
  at::checkAllSameGPU(c, {input_t, rois_t});
  at::checkAllSameType(c, {input_t, rois_t});
  const auto refused = [&](const torch::Tensor& other, const char* text) {
    const at::TensorArg other_t{other, "rois", 2};
    const auto error = error_of([&] {
      at::checkAllSameGPU(c, {input_t, other_t});
      at::checkAllSameType(c, {input_t, other_t});
      at::checkAllSameSize(c, {input_t, other_t});
    });
    EXPECT_TRUE(contains(error.what(), text)) << error.what();
    EXPECT_TRUE(contains(error.what(), "argument #2 'rois'")) << error.what();
    EXPECT_TRUE(contains(error.what(), c)) << error.what();
  };
  refused(on_the_cpu(rois), "on CPU");
  refused(rois.cuda(1), "device");
  refused(rois.to(at::kHalf), "does not equal CUDAHalfType");
  refused(rois, "[4, 5]");
  const torch::Tensor none;
  const at::TensorArg none_t{none, "mask", 3};
  at::checkAllSameGPU(c, {none_t, input_t, none_t});
  at::checkContiguous(c, input_t);
  at::checkDim(c, input_t, 2);
}
LINE(113, TypesInMessages) {
  const auto x = ones({2}).to(at::kHalf);
  const auto error = error_of([&] { TORCH_CHECK(false, "unsupported type ", x.scalar_type()); });
  EXPECT_EQ(error.msg(), "unsupported type Half");
  std::ostringstream text;
  text << x.dtype() << ' ' << c10::str(x.device(), '/', 2) << ' '
       << c10::DeviceTypeName(x.device().type());
  EXPECT_EQ(text.str(), "Half cuda:0/2 CUDA");
}

// What stands around kernels.

LINE(114, ListsOfTensors) {
  const auto total = [](at::TensorList tensors, at::OptionalIntArrayRef dims) {
    int64_t sum = 0;
    for (const auto& tensor : tensors) {
      sum += tensor.numel();
    }
    return sum + (dims ? dims->back() : 0) + at::cat(tensors).numel();
  };
  const std::vector<at::Tensor> several{ones({2}), ones({3})};
  EXPECT_EQ(total(several, c10::nullopt), 10);
  EXPECT_EQ(total({several[0], several[1]}, at::IntArrayRef({1, 2})), 12);
  EXPECT_THROW((void)at::TensorList(several).slice(1, 2), c10::IndexError);
}
LINE(115, ShapesOfImagesInMemory) {
  const auto x = ones({2, 3, 4, 4});
  const auto y = x.contiguous(at::MemoryFormat::ChannelsLast);
  EXPECT_EQ(x.suggest_memory_format(), at::MemoryFormat::Contiguous);
  EXPECT_EQ(y.suggest_memory_format(), at::MemoryFormat::ChannelsLast);
  EXPECT_EQ(ones({2, 1, 1, 1}).suggest_memory_format(), at::MemoryFormat::Contiguous);
  EXPECT_EQ(at::empty({2, 3, 4, 4}, x.options(), y.suggest_memory_format()).stride(1), 1);
  EXPECT_EQ(at::empty_like(y, y.options(), at::MemoryFormat::Contiguous).stride(3), 1);
  EXPECT_TRUE(at::zeros_like(y, LEGACY_CONTIGUOUS_MEMORY_FORMAT).is_contiguous());
}
LINE(116, DimensionsInPlace) {
  auto x = ones({2, 3});
  const auto same = x;
  x.unsqueeze_(0);
  EXPECT_EQ(same.sizes(), c10::IntArrayRef({1, 2, 3})) << "both are one tensor";
  x.squeeze_();
  x.transpose_(0, 1);
  EXPECT_EQ(x.strides(), c10::IntArrayRef({1, 3}));
  x.t_();
  auto other = x.detach();
  other.unsqueeze_(0);
  EXPECT_EQ(x.ndimension(), 2);
  other.fill_(2);
  EXPECT_EQ(x.sum().item<float>(), 12);
  x.addmm_(ones({2, 4}), ones({4, 3}), 0.0, 1.0);
  EXPECT_EQ(x.sum().item<float>(), 24);
  EXPECT_EQ(std::get<1>(x[0].sort(/*stable=*/true, 0, /*descending=*/true)).scalar_type(),
            at::kLong);
}
LINE(117, LaunchSizes) {
  const auto x = ones({2, 3});
  EXPECT_TRUE(at::cuda::detail::canUse32BitIndexMath(x));
  EXPECT_FALSE(at::cuda::detail::canUse32BitIndexMath(x.as_strided({1, 3}, {1, 1}), 2));
  EXPECT_EQ(at::cuda::detail::GET_BLOCKS(1025), 2);
  EXPECT_EQ(at::maybe_wrap_dim(-1, x.dim()), 1);
  EXPECT_THROW((void)at::maybe_wrap_dim(2, 2), c10::IndexError);
  EXPECT_EQ(c10::multiply_integers(x.sizes()), 6);
}
LINE(118, Modes) {
  torch::NoGradGuard no_grad;
  c10::InferenceMode inference;
  at::AutoDispatchBelowADInplaceOrView below;
  const auto x = ones({2});
  EXPECT_FALSE(x.requires_grad());
  const auto y = torch::empty({2}, x.options().requires_grad(false).layout(torch::kStrided));
  EXPECT_EQ(y.options().dtype(), x.options().dtype());
  EXPECT_EQ(y.options().device(), x.device());
  EXPECT_THROW((void)x.options().requires_grad(true), c10::NotImplementedError);
}
LINE(119, DeterministicAlgorithms) {
  at::globalContext().alertNotDeterministic("roi_align_backward_kernel");
  at::globalContext().setDeterministicAlgorithms(true);
  const auto error =
      error_of([] { at::globalContext().alertNotDeterministic("roi_align_backward_kernel"); });
  at::globalContext().setDeterministicAlgorithms(false);
  EXPECT_TRUE(contains(error.what(), "roi_align_backward_kernel"));
}
LINE(120, WaitsAndCaptures) {
  const auto stream = at::cuda::getStreamFromPool();
  at::cuda::stream_synchronize(stream);
  torch::cuda::synchronize();
  torch::cuda::synchronize(0);
  at::cuda::assertNotCapturing("waiting");
  at::cuda::CUDAGraph graph;
  at::cuda::CUDAStreamGuard guard(stream);
  graph.capture_begin();
  EXPECT_EQ(at::cuda::currentStreamCaptureStatus(), at::cuda::CaptureStatus::Active);
  EXPECT_TRUE(
      contains(error_of([] { at::cuda::assertNotCapturing("waiting"); }).what(), "waiting"));
  graph.capture_end();
}
LINE(121, AllocatorsByDevice) {
  auto device = c10::GetAllocator(c10::DeviceType::CUDA)->allocate(64);
  EXPECT_TRUE(device.device().is_cuda());
  auto host = c10::GetAllocator(c10::DeviceType::CPU)->allocate(64);
  std::memset(host.get(), 1, 64);
  const auto stats = c10::cuda::CUDACachingAllocator::getDeviceStats(0);
  const auto all = static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE);
  EXPECT_GE(stats.allocated_bytes[all].current, 64);
}
LINE(122, TablesByDevice) {
  std::unordered_map<c10::Device, int> streams;
  streams[c10::Device(c10::kCUDA, 1)] = 2;
  streams[c10::Device(c10::kCPU)] = 1;
  EXPECT_EQ(streams.at(torch::Device("cuda:1")), 2);
  c10::SmallVector<int64_t, 4> sizes;
  sizes.push_back(3);
  EXPECT_EQ(at::empty(sizes, at::kCUDA).size(0), 3);
  at::DimVector more(6, 1);
  more.push_back(2);
  EXPECT_EQ(at::empty(more, at::kCUDA).numel(), 2);
  float sum = 0;
  at::parallel_for(0, 10, 4, [&](int64_t begin, int64_t end) { sum += float(end - begin); });
  EXPECT_EQ(sum, 10);
  EXPECT_EQ(at::log(at::ones({2}, at::kCUDA)).sum().item().toInt(), 0);
}

}  // namespace
