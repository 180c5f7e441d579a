// Names of ATen around tensors, types and kernels: types as objects, masks, lists, checks of
// arguments, index arithmetic of kernels, operations with a backward function of their own.
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "c10_compat_support.hpp"

namespace {

using support::contains;
using support::error_of;
using support::status_of;

class C10NamesTest : public support::DeviceFixture {};

torch::TensorOptions on_device(at::ScalarType type = torch::kFloat) {
  return torch::TensorOptions().dtype(type).device(torch::kCUDA);
}

std::vector<float> floats(const torch::Tensor& tensor) { return tensor.to_vector<float>(); }

TEST_F(C10NamesTest, TypeIsAnObject) {
  const torch::Tensor x = torch::ones({2}, on_device(torch::kHalf));
  EXPECT_EQ(x.type().scalarType(), at::ScalarType::Half);
  EXPECT_TRUE(x.type().is_cuda());
  EXPECT_FALSE(x.cpu().type().is_cuda());
  EXPECT_EQ(x.type().toString(), "CUDAHalfType");
  EXPECT_EQ(x.cpu().toString(), "CPUHalfType");
  EXPECT_EQ(torch::Tensor().toString(), "UndefinedType");
  EXPECT_EQ(x.type(), torch::zeros({1}, on_device(torch::kHalf)).type());
  EXPECT_NE(x.type(), x.cpu().type());
  EXPECT_EQ(torch::zeros({1}, x.type().options()).device().type(), torch::kCUDA);
  const torch::Tensor like = torch::empty({1}, x.type());
  EXPECT_EQ(like.type(), x.type());
  const std::string name = AT_DISPATCH_FLOATING_TYPES_AND_HALF(x.type(), "name", [&] {
    return std::string(c10::toString(c10::CppTypeToScalarType<scalar_t>::value));
  });
  EXPECT_EQ(name, "Half");
  const torch::Dtype dtype = torch::typeMetaToScalarType(x.dtype());
  EXPECT_EQ(dtype, torch::kFloat16);
}

TEST_F(C10NamesTest, KindsOfTensorsThatDoNotExist) {
  const torch::Tensor x = torch::ones({2, 3}, on_device());
  EXPECT_FALSE(x.is_meta() || x.is_quantized() || x.is_privateuseone() || x.device().is_meta());
  EXPECT_EQ(status_of([] {
              static_cast<void>(at::Device(at::DeviceType::COMPILE_TIME_MAX_DEVICE_TYPES));
            }),
            SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_FALSE(x.set_requires_grad(false).requires_grad());
  EXPECT_EQ(status_of([&] { x.set_requires_grad(true); }), SCONCE_ERROR_NOT_SUPPORTED);
  EXPECT_FALSE(x.grad().defined());
  EXPECT_EQ(x.data<float>(), x.data_ptr<float>());
  EXPECT_TRUE(x.is_non_overlapping_and_dense());
  EXPECT_TRUE(x.t().is_non_overlapping_and_dense());
  EXPECT_FALSE(x.slice(1, 0, 2).is_non_overlapping_and_dense());
  EXPECT_FALSE(x.select(0, 0).expand({2, 3}).is_non_overlapping_and_dense());
}

TEST_F(C10NamesTest, StorageIsTheWholeMemory) {
  const torch::Tensor x = torch::ones({4}, on_device());
  const torch::Tensor part = x.slice(0, 1);
  EXPECT_EQ(part.storage().data(), x.data_ptr());
  EXPECT_EQ(part.storage().data_ptr().get(), x.data_ptr());
  EXPECT_EQ(part.storage().nbytes(), 4 * sizeof(float));
  EXPECT_TRUE(part.storage().is_alias_of(x.storage()));
  EXPECT_EQ(part.storage().device(), x.device());
}

TEST_F(C10NamesTest, FactoriesMakeTensorsOfTheCpu) {
  for (const torch::Tensor& made :
       {torch::empty({2}), torch::zeros({2}, torch::kInt), torch::ones({2}), torch::full({2}, 3),
        torch::arange(3), torch::arange(1, 3), torch::arange(0, 1, 0.5), torch::linspace(0, 1, 3),
        torch::eye(2), torch::rand({2}), torch::randn({2}), torch::randint(5, {2}),
        torch::randperm(4), torch::tensor({1, 2}), torch::tensor({{1.5}, {2.5}}),
        torch::tensor(2.5), torch::scalar_tensor(1), at::empty_strided({2}, {1}),
        torch::empty({1, 1, 1, 1}, {}, at::MemoryFormat::ChannelsLast)}) {
    EXPECT_TRUE(made.is_cpu()) << made.toString();
  }
  EXPECT_TRUE(torch::zeros({2}, torch::kCUDA).is_cuda());
  EXPECT_TRUE(torch::zeros({2}, on_device()).is_cuda());
  EXPECT_EQ(torch::scalar_tensor(1).dtype(), torch::kFloat);
  EXPECT_EQ(torch::full({2}, 3).dtype(), torch::kLong);
  const torch::Tensor x = torch::ones({2}, on_device());
  const auto options = torch::TensorOptions().dtype(torch::kLong);
  // Calls without a namespace find sconce's functions by their arguments; ATen's are preferred.
  using namespace sconce::compat::at;  // NOLINT
  EXPECT_TRUE(zeros({2}, options).is_cpu());
  EXPECT_TRUE(empty({2}, x.options()).is_cuda());
}

TEST_F(C10NamesTest, MasksChooseElements) {
  const torch::Tensor x = torch::arange(6, on_device()).view({2, 3});
  const torch::Tensor mask = x.remainder(2).eq(0);
  EXPECT_EQ(floats(x.masked_select(mask)), (std::vector<float>{0, 2, 4}));
  EXPECT_EQ(floats(at::masked_select(x, mask.select(0, 0))), (std::vector<float>{0, 2, 3, 5}))
      << "the mask is broadcast";
  EXPECT_EQ(floats(x.masked_fill(mask, -1)), (std::vector<float>{-1, 1, -1, 3, -1, 5}));
  EXPECT_EQ(floats(x), (std::vector<float>{0, 1, 2, 3, 4, 5}));
  x.masked_fill_(mask, torch::scalar_tensor(7, on_device()));
  EXPECT_EQ(floats(x), (std::vector<float>{7, 1, 7, 3, 7, 5}));
  const torch::Tensor large =
      torch::full({2}, (std::int64_t{1} << 60) + 1, on_device(torch::kLong));
  large.masked_fill_(large.lt(0), 0.5);
  EXPECT_EQ(large[0].item<std::int64_t>(), (std::int64_t{1} << 60) + 1) << "no real number between";
  EXPECT_TRUE(contains(error_of([&] { static_cast<void>(x.masked_fill(x, 1)); }).msg(),
                       "only supports boolean masks"));
  EXPECT_TRUE(contains(error_of([&] { static_cast<void>(x.masked_select(x)); }).msg(),
                       "expected BoolTensor for mask"));
  const torch::Tensor row = x.select(0, 0);
  EXPECT_TRUE(contains(error_of([&] { row.masked_fill_(mask, 1); }).msg(),
                       "output with shape [3] doesn't match the broadcast shape [2, 3]"));
  EXPECT_TRUE(contains(error_of([&] { x.masked_fill_(mask, x); }).msg(),
                       "only supports a 0-dimensional value tensor, but got tensor with 2"));
  EXPECT_EQ(
      torch::ones({}, on_device()).masked_select(torch::ones({}, on_device(torch::kBool))).dim(),
      1);
}

TEST_F(C10NamesTest, RepeatedBoundedAndDivided) {
  const torch::Tensor x = torch::tensor({{1, 2}, {3, 4}}, on_device());
  const torch::Tensor repeated = x.repeat({2, 1, 2});
  EXPECT_EQ(repeated.sizes(), (std::vector<std::int64_t>{2, 2, 4}));
  EXPECT_EQ(floats(repeated.select(0, 1)), (std::vector<float>{1, 2, 1, 2, 3, 4, 3, 4}));
  EXPECT_TRUE(repeated.is_contiguous());
  EXPECT_EQ(x.repeat({0, 1}).sizes(), (std::vector<std::int64_t>{0, 2}));
  EXPECT_FALSE(x.repeat({1, 1}).is_alias_of(x));
  EXPECT_TRUE(contains(error_of([&] { static_cast<void>(x.repeat({2})); }).msg(),
                       "can not be smaller than number of dimensions"));
  EXPECT_EQ(status_of([&] {
              static_cast<void>(x.repeat({2, -1}));
            }),
            SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(floats(x.clamp_min(2)), (std::vector<float>{2, 2, 3, 4}));
  EXPECT_EQ(floats(at::clamp_max(x, 3)), (std::vector<float>{1, 2, 3, 3}));
  EXPECT_EQ(floats(x.square()), (std::vector<float>{1, 4, 9, 16}));
  EXPECT_EQ(at::true_divide(x.to(torch::kLong), 2).dtype(), torch::kFloat);
  const torch::Tensor halves = x.clone();
  halves.div_(torch::full({}, 2, on_device()), "floor");
  EXPECT_EQ(floats(halves), (std::vector<float>{0, 1, 1, 2}));
  x.true_divide_(2).clamp_min_(1).clamp_max_(1.5);
  EXPECT_EQ(floats(x), (std::vector<float>{1, 1, 1.5, 1.5}));
  const torch::Tensor other = torch::empty({0}, on_device());
  EXPECT_EQ(other.resize_as_(x).sizes(), x.sizes());
  EXPECT_TRUE(other.set_(x).is_alias_of(x));
}

TEST_F(C10NamesTest, Lists) {
  const std::int64_t sizes[] = {2, 3};
  EXPECT_EQ(torch::zeros(sizes).sizes(), (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(at::IntArrayRef(sizes, sizes + 1).size(), 1U);
  c10::List<std::int64_t> list({1, 2});
  list.set(0, 5);
  list.push_back(7);
  EXPECT_EQ(list.get(0) + list.get(2), 12);
  EXPECT_EQ(list.vec(), (std::vector<std::int64_t>{5, 2, 7}));
  EXPECT_THROW(static_cast<void>(list.get(3)), std::out_of_range);
  const torch::Tensor flat = torch::utils::flatten_dense_tensors(
      {torch::tensor({{1, 2}, {3, 4}}, on_device()), torch::tensor({5}, on_device())});
  EXPECT_EQ(floats(flat), (std::vector<float>{1, 2, 3, 4, 5}));
  const auto parts = torch::utils::unflatten_dense_tensors(
      flat, {torch::empty({1, 2}, on_device()), torch::empty({3}, on_device())});
  EXPECT_EQ(parts[0].sizes(), (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(floats(parts[1]), (std::vector<float>{3, 4, 5}));
  EXPECT_TRUE(parts[1].is_alias_of(flat));
  at::DimVector grown(at::IntArrayRef({1, 2}));
  grown.append(2, 7);
  grown.append({8});
  grown.append(grown.begin(), grown.begin() + 1);
  EXPECT_EQ(grown.pop_back_val(), 1);
  EXPECT_EQ(grown, (std::vector<std::int64_t>{1, 2, 7, 7, 8}));
  EXPECT_EQ(torch::zeros(grown).dim(), 5);
  const at::IntList numbers = {1, 2};
  EXPECT_EQ(numbers.size(), 2U);
}

TEST_F(C10NamesTest, ArgumentsAreChecked) {
  const torch::Tensor x = torch::ones({2, 3}, on_device());
  const torch::Tensor y = torch::ones({4}, on_device(torch::kInt));
  const torch::Tensor host = x.cpu();
  const torch::Tensor none;
  const at::TensorArg x_arg{x, "x", 1}, y_arg{y, "y", 2}, host_arg{host, "host", 0},
      none_arg{none, "none", 3};
  const auto words = [](auto&& check) { return error_of(check).msg(); };
  at::checkAllDefined("f", {x_arg, y_arg});
  EXPECT_EQ(words([&] {
              at::checkAllDefined("f", {x_arg, none_arg});
            }),
            "Expected tensor for argument #3 'none' to be non-null, but it was undefined  (while "
            "checking arguments for f)");
  EXPECT_EQ(
      words([&] { at::checkSameType("f", x_arg, y_arg); }),
      "Expected tensor for argument #1 'x' to have the same type as tensor for argument #2 'y'; "
      "but type CUDAFloatType does not equal CUDAIntType (while checking arguments for f)");
  at::checkSize("f", x_arg, {2, 3});
  EXPECT_EQ(
      words([&] {
        at::checkSize("f", x_arg, {3, 2});
      }),
      "Expected tensor of size [3, 2], but got tensor of size [2, 3] for argument #1 'x' (while "
      "checking arguments for f)");
  EXPECT_EQ(
      words([&] { at::checkSize("f", y_arg, 0, 5); }),
      "Expected tensor to have size 5 at dimension 0, but got size 4 for argument #2 'y' (while "
      "checking arguments for f)");
  EXPECT_EQ(
      words([&] {
        at::checkSize("f", y_arg, {4, 1});
      }),
      "Expected 2-dimensional tensor, but got 1-dimensional tensor for argument #2 'y' (while "
      "checking arguments for f)");
  EXPECT_EQ(
      words([&] { at::checkNumel("f", y_arg, 3); }),
      "Expected tensor for argument #2 'y' to have 3 elements; but it actually has 4 elements "
      "(while checking arguments for f)");
  EXPECT_EQ(
      words([&] { at::checkSameGPU("f", x_arg, host_arg); }),
      "Tensor for 'host' is on CPU, but expected it to be on GPU (while checking arguments for f)");
  EXPECT_EQ(
      words([&] { at::checkScalarType("f", x_arg, torch::kInt); }),
      "Expected tensor for argument #1 'x' to have scalar type Int; but got CUDAFloatType instead "
      "(while checking arguments for f)");
  at::checkScalarTypes("f", y_arg, {torch::kLong, torch::kInt});
  EXPECT_EQ(
      words([&] {
        at::checkScalarTypes("f", x_arg, {torch::kLong, torch::kInt});
      }),
      "Expected tensor for argument #1 'x' to have one of the following scalar types: Long, Int; "
      "but got CUDAFloatType instead (while checking arguments for f)");
  EXPECT_EQ(words([&] { at::checkDimRange("f", y_arg, 2, 4); }),
            "Expected 2 to 3 dimensions, but got 1-dimensional tensor for argument #2 'y' (while "
            "checking arguments for f)");
  EXPECT_EQ(
      words([&] { at::checkSameDim("f", x_arg, y_arg); }),
      "Expected tensor for argument #1 'x' to have the same dimension as tensor for argument #2 "
      "'y'; but 2 does not equal 1 (while checking arguments for f)");
  EXPECT_EQ(
      words([&] {
        at::checkAllSameNumel("f", {x_arg, none_arg, y_arg});
      }),
      "Expected tensor for argument #1 'x' to have same number of elements as tensor for argument "
      "#2 'y'; but 6 does not equal 4 (while checking arguments for f)");
  EXPECT_TRUE(at::cuda::check_device({x, y}));
  EXPECT_FALSE(at::cuda::check_device({x, host}));
  const torch::Tensor turned = x.t();
  EXPECT_EQ(words([&] {
              at::checkAllContiguous("f", {x_arg, {turned, "t", 2}});
            }),
            "Expected contiguous tensor, but got non-contiguous tensor for argument #2 't' (while "
            "checking arguments for f)");
  EXPECT_EQ(
      words([&] {
        at::checkDeviceType("f", {x, host}, torch::kCUDA);
      }),
      "Expected tensor to have cuda DeviceType, but got tensor with cpu DeviceType (while checking "
      "arguments for f)");
  EXPECT_EQ(words([&] { at::check_dim_size(x, 2, 1, 4); }),
            "Expected a tensor of dimension 2 and tensor.size[1] == 4 but got : dimension 2 and "
            "tensor.size[1] = 3");
}

TEST_F(C10NamesTest, TensorInfoOfAKernel) {
  using at::cuda::detail::getTensorInfo;
  using at::cuda::detail::IndexToOffset;
  const torch::Tensor x = torch::arange(24, on_device()).view({2, 3, 4});
  auto info = getTensorInfo<float, int>(x.transpose(0, 2));
  ASSERT_EQ(info.dims, 3);
  EXPECT_EQ(info.data, x.data_ptr<float>());
  std::vector<float> found;
  for (int i = 0; i < 24; ++i) {
    found.push_back(static_cast<float>(IndexToOffset<float, int, -1>::get(i, info)));
    EXPECT_EQ(found.back(), (static_cast<float>(IndexToOffset<float, int, 3>::get(i, info))));
  }
  EXPECT_EQ(found, floats(x.transpose(0, 2))) << "the offset of a contiguous tensor is the element";
  auto whole = getTensorInfo<float, std::int64_t>(x);
  EXPECT_FALSE(whole.isContiguous());
  EXPECT_EQ(whole.collapseDims(), -1);
  EXPECT_TRUE(whole.isContiguous());
  EXPECT_EQ(whole.sizes[0], 24);
  auto middle = getTensorInfo<float, std::int64_t>(x);
  EXPECT_EQ(middle.collapseDims(1), 1);
  EXPECT_EQ(middle.dims, 3);
  auto first = getTensorInfo<float, std::int64_t>(x);
  EXPECT_EQ(first.collapseDims(0), 0);
  EXPECT_EQ(first.dims, 2);
  EXPECT_EQ(first.sizes[1], 12);
  EXPECT_EQ(first.strides[0], 12);
  auto ones = getTensorInfo<float, int>(torch::zeros({1, 3, 1, 2, 1}, on_device()).transpose(1, 3));
  EXPECT_EQ(ones.collapseDims(), -1);
  EXPECT_EQ(ones.dims, 2);
  EXPECT_EQ(ones.strides[1], 2);
  auto single = getTensorInfo<float, int>(torch::zeros({1, 1}, on_device()));
  EXPECT_EQ(single.collapseDims(1), 0);
  EXPECT_TRUE(single.isContiguous());
  middle.reduceDim(2);
  EXPECT_EQ(middle.sizes[2], 1);
  EXPECT_EQ(status_of([&] { middle.reduceDim(3); }), SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(status_of([&] { static_cast<void>(getTensorInfo<double, int>(x)); }),
            SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(status_of([&] {
              static_cast<void>(getTensorInfo<float, int>(
                  torch::zeros(std::vector<std::int64_t>(26, 1), on_device())));
            }),
            SCONCE_ERROR_INVALID_ARGUMENT);
}

TEST_F(C10NamesTest, DispatchOverAList) {
  const auto name = [](at::ScalarType type) {
    return AT_DISPATCH_V2(type, "name", AT_WRAP([&] {
                            const std::pair<int, int> both{1, 2};
                            return both.second * static_cast<int>(sizeof(scalar_t));
                          }),
                          AT_EXPAND(AT_ALL_TYPES), torch::kHalf, torch::kBool);
  };
  EXPECT_EQ(name(torch::kByte), 2);
  EXPECT_EQ(name(torch::kHalf), 4);
  EXPECT_EQ(name(torch::kDouble), 16);
  EXPECT_EQ(name(torch::kBool), 2);
  EXPECT_TRUE(contains(error_of([&] { static_cast<void>(name(torch::kBFloat16)); }).msg(),
                       "\"name\" not implemented for 'BFloat16'"));
}

struct Counted : torch::CustomClassHolder {
  explicit Counted(int& alive_) : alive(alive_) { ++alive; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  ~Counted() override { --alive; }
  int& alive;
};
struct Derived : Counted {
  using Counted::Counted;
};

TEST_F(C10NamesTest, IntrusivePointersCountOwners) {
  int alive = 0;
  {
    auto first = c10::make_intrusive<Derived>(alive);
    c10::intrusive_ptr<Counted> base = first;
    EXPECT_EQ(base.use_count(), 2U);
    EXPECT_TRUE(base);
    c10::intrusive_ptr<Counted> moved = std::move(base);
    EXPECT_FALSE(base.defined());  // NOLINT: what a moved-from owner promises
    EXPECT_EQ(moved.use_count(), 2U);
    Counted* raw = moved.release();
    EXPECT_EQ(first.use_count(), 2U);
    auto again = c10::intrusive_ptr<Counted>::reclaim(raw);
    EXPECT_EQ(again.get(), first.get());
    first.reset();
    EXPECT_TRUE(again.unique());
    EXPECT_EQ(alive, 1);
    again = c10::intrusive_ptr<Counted>::make(alive);
    EXPECT_EQ(alive, 1) << "the one before is gone";
    const auto copy = again;
    EXPECT_EQ(copy, again);
    EXPECT_EQ(std::hash<c10::intrusive_ptr<Counted>>()(copy),
              std::hash<c10::intrusive_ptr<Counted>>()(again));
  }
  EXPECT_EQ(alive, 0);
}

TEST_F(C10NamesTest, OwnedOrBorrowed) {
  const torch::Tensor x = torch::ones({2}, on_device());
  const std::optional<torch::Tensor> given = x;
  const auto borrowed = at::borrow_from_optional_tensor(given);
  EXPECT_TRUE(borrowed.unsafeIsBorrowed());
  EXPECT_TRUE(borrowed->is_same(x));
  EXPECT_FALSE((*at::borrow_from_optional_tensor(std::nullopt)).defined());
  EXPECT_FALSE(c10::MaybeOwned<torch::Tensor>::owned(x).unsafeIsBorrowed());
}

TEST_F(C10NamesTest, ValuesOfAnyKind) {
  const c10::IValue sizes = torch::ones({2, 3}, on_device()).sizes();
  EXPECT_EQ(sizes.toIntVector(), (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(c10::IValue(3).toInt(), 3);
  EXPECT_TRUE(c10::IValue(true).toBool());
  EXPECT_EQ(c10::IValue(1.5).toDouble(), 1.5);
  EXPECT_EQ(c10::IValue("a").toStringRef(), "a");
  EXPECT_TRUE(c10::IValue().isNone());
  EXPECT_TRUE(c10::IValue(std::optional<double>()).isNone());
  EXPECT_EQ(c10::IValue(torch::kHalf).toScalarType(), torch::kHalf);
  EXPECT_TRUE(c10::IValue(std::vector<torch::Tensor>(2)).isTensorList());
  EXPECT_EQ(c10::IValue(3).to<int>(), 3);
  EXPECT_EQ(sizes.to<std::vector<std::int64_t>>(), (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(c10::IValue("b").to<std::string>(), "b");
  EXPECT_TRUE(contains(error_of([&] { static_cast<void>(sizes.toInt()); }).msg(),
                       "Expected Int but got IntList"));
}

// x * y ** n, of which y is a constant and n a number; and the sign of x.
struct Scaled : torch::autograd::Function<Scaled> {
  static torch::autograd::variable_list forward(torch::autograd::AutogradContext* ctx,
                                                torch::Tensor x, const torch::Tensor& y,
                                                std::int64_t n) {
    ctx->save_for_backward({y});
    ctx->saved_data["n"] = n;
    ctx->saved_data["sizes"] = x.sizes();
    ctx->saved_data["needed"] = ctx->needs_input_grad(0);
    torch::Tensor sign = x.sign();
    ctx->mark_non_differentiable({sign});
    return {x * y.pow(n), sign};
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list gradients) {
    const auto saved = ctx->get_saved_variables();
    EXPECT_EQ(ctx->saved_data["sizes"].toIntVector(), gradients[0].sizes().vec());
    EXPECT_TRUE(ctx->saved_data["needed"].toBool());
    EXPECT_TRUE(gradients[1].defined()) << "missing gradients are zeros";
    EXPECT_EQ(gradients[1].sum().item<float>(), 0);
    return {gradients[0] * saved[0].pow(ctx->saved_data["n"].toInt()), torch::Tensor(),
            torch::Tensor()};
  }
};

struct Wrong : torch::autograd::Function<Wrong> {
  static torch::Tensor forward(torch::autograd::AutogradContext*, torch::Tensor x) { return x * 2; }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext*,
                                                 const torch::autograd::variable_list&) {
    return {};
  }
};

TEST_F(C10NamesTest, FunctionsWithABackwardFunction) {
  const torch::Tensor x = torch::tensor({1, -2}, on_device());
  const torch::Tensor y = torch::tensor({3, 4}, on_device());
  const torch::autograd::variable_list plain = Scaled::apply(x, y, 2);
  ASSERT_EQ(plain.size(), 2U);
  EXPECT_EQ(floats(plain[0]), (std::vector<float>{9, -32}));
  EXPECT_FALSE(torch::autograd::any_variable_requires_grad(plain));

  const sconce::autograd::Tape tape;
  const auto variable = tape.variable(x);
  const std::vector<sconce::autograd::Variable> recorded = Scaled::apply(variable, y, 2);
  ASSERT_EQ(recorded.size(), 2U);
  EXPECT_EQ(floats(recorded[0].value()), floats(plain[0]));
  EXPECT_EQ(recorded[1].graph(), nullptr) << "marked as without a gradient";
  sconce::autograd::sum(recorded[0]).backward();
  EXPECT_EQ(floats(variable.grad()), (std::vector<float>{9, 16}));

  const sconce::autograd::Variable wrong = Wrong::apply(variable);
  EXPECT_TRUE(contains(error_of([&] { sconce::autograd::sum(wrong).backward(); }).msg(),
                       "incorrect number of gradients (expected 1, got 0)"));
}

TEST_F(C10NamesTest, ModesAndRanges) {
  const torch::AutoGradMode mode(false);
  const at::AutoDispatchBelowADInplaceOrView below;
  EXPECT_FALSE(at::GradMode::is_enabled());
  int evaluated = 0;
  [[maybe_unused]] const auto inputs = [&] {
    ++evaluated;
    return std::vector<c10::IValue>();
  };
  RECORD_FUNCTION("names", inputs());
  { RECORD_USER_SCOPE("inner"); }
  EXPECT_EQ(evaluated, 0) << "arguments are not recorded";
}

}  // namespace
