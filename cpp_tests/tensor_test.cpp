// Tensors: owners, options, factories, places and views.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <complex>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "fixture.hpp"

namespace sc = sconce;
namespace cc = sconce::cuda;
using sc::Tensor;
using support::contains;
using support::error_of;
using support::status_of;
using Sizes = std::vector<std::int64_t>;

namespace {

using TensorTest = support::DeviceFixture;

TEST_F(TensorTest, CopiesOwnTheSameTensor) {
  const std::size_t before = sconce_tensor_live_count();
  {
    Tensor a = sc::zeros({2, 3});
    const Tensor b = a;
    EXPECT_TRUE(a.is_same(b));
    EXPECT_EQ(sconce_tensor_live_count(), before + 1);
    const Tensor c = std::move(a);
    EXPECT_FALSE(a.defined());  // NOLINT: moved from, and undefined
    EXPECT_TRUE(c.is_same(b));
    a = b[0];
    EXPECT_TRUE(a.is_alias_of(b) && !a.is_same(b));
    EXPECT_EQ(sconce_tensor_live_count(), before + 2);
    Tensor adopted = Tensor::adopt(a.release());
    EXPECT_FALSE(a.defined());
    adopted.reset();
    EXPECT_EQ(sconce_tensor_live_count(), before + 1);
  }
  EXPECT_EQ(sconce_tensor_live_count(), before);
}

TEST_F(TensorTest, AnUndefinedTensorHasNothing) {
  const Tensor none;
  EXPECT_FALSE(none.defined());
  EXPECT_EQ(sc::to_string(none), "[ Tensor (undefined) ]");
  EXPECT_TRUE(Tensor(none).is_same(none));
  EXPECT_EQ(status_of([&] { (void)none.dim(); }), SCONCE_ERROR_INVALID_HANDLE);
  EXPECT_TRUE(contains(error_of([&] { (void)(none + 1); }).what(), "undefined tensor"));
  EXPECT_TRUE(contains(error_of([&] { (void)none.sum(); }).what(), "undefined Tensor"));
  EXPECT_EQ(status_of([&] { (void)none.exp(); }), SCONCE_ERROR_INVALID_HANDLE);
}

TEST_F(TensorTest, DevicesHaveTorchsNames) {
  EXPECT_EQ(sc::Device("cuda:1"), sc::Device(1));
  EXPECT_EQ(sc::Device("cpu"), sc::Device(sc::kCPU));
  EXPECT_EQ(sc::Device(cc::Device(2)), sc::Device(sc::kCUDA, 2));
  EXPECT_EQ(sc::Device("cuda").str(), "cuda");
  EXPECT_EQ(sc::Device(3).str(), "cuda:3");
  EXPECT_EQ(sc::Device(sc::kCPU).str(), "cpu");
  for (const char* name : {"", "gpu", "cuda:", "cuda:x", "cuda:-1", "cpu:1", "cuda:99999999999"}) {
    EXPECT_TRUE(contains(error_of([&] { (void)sc::Device(name); }).what(), "device string"))
        << name;
  }
  EXPECT_EQ(status_of([] { (void)sc::Device(-2); }), SCONCE_ERROR_INVALID_ARGUMENT);
}

TEST_F(TensorTest, RandpermIsAnOrderOfItsNumbers) {
  const Tensor order = sc::randperm(100);
  EXPECT_EQ(order.dtype(), sc::kLong);
  EXPECT_EQ(order.device(), sc::empty({1}).device());
  EXPECT_TRUE(std::get<0>(order.sort()).equal(sc::arange(0, 100, 1)));
  for (const sc::Device place : {sc::Device(sc::kCPU), sc::Device(sc::kCUDA, 0)}) {
    sc::manual_seed(3);
    const Tensor first = sc::randperm(50, sc::TensorOptions(sc::kInt).device(place));
    const Tensor second = sc::randperm(50, sc::TensorOptions(sc::kInt).device(place));
    EXPECT_FALSE(first.equal(second));
    sc::manual_seed(3);
    EXPECT_TRUE(first.equal(sc::randperm(50, std::nullopt, first.options())));
  }
  EXPECT_EQ(sc::randperm(0).numel(), 0);
  EXPECT_EQ(status_of([] { (void)sc::randperm(-1); }), SCONCE_ERROR_INVALID_ARGUMENT);
}

TEST_F(TensorTest, OptionsChooseTypeAndPlace) {
  const Tensor a = sc::empty({2, 3}, sc::device(0).dtype(sc::kFloat16));
  EXPECT_EQ(a.dtype(), sc::kHalf);
  EXPECT_EQ(a.device(), sc::Device(sc::kCUDA, 0));
  EXPECT_EQ(a.get_device(), 0);
  EXPECT_TRUE(a.is_cuda() && !a.is_cpu());
  EXPECT_EQ(a.nbytes(), 12);
  const Tensor b = sc::empty({4}, sc::dtype(sc::kLong).device(sc::kCPU).pinned_memory(true));
  EXPECT_TRUE(b.is_cpu() && b.is_pinned());
  EXPECT_EQ(b.get_device(), -1);
  EXPECT_EQ(sc::ones({1}).dtype(), sc::kFloat);
  EXPECT_EQ(sc::zeros({1}, sc::kBool).dtype(), sc::kBool);
  const Tensor c = sc::empty({1, 2, 3, 4}, sc::memory_format(sc::MemoryFormat::ChannelsLast));
  EXPECT_EQ(c.strides(), Sizes({24, 1, 8, 2}));
  EXPECT_TRUE(c.is_contiguous(sc::MemoryFormat::ChannelsLast) && !c.is_contiguous());
  EXPECT_TRUE(c.contiguous().is_contiguous());
  EXPECT_EQ(status_of([] { (void)sc::empty({1}, sc::device(0).pinned_memory(true)); }),
            SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(status_of([] { (void)sc::empty({1}, sc::device(1000)); }), SCONCE_ERROR_INVALID_DEVICE);
}

TEST_F(TensorTest, TheCpuHasGeneratorsOfItsOwn) {
  const auto on_cpu = sc::TensorOptions(sc::kFloat).device(sc::kCPU);
  sc::manual_seed(7);
  const Tensor first = sc::randn({20}, on_cpu);
  sc::Generator own = sc::createCPUGenerator();
  own.set_current_seed(7);
  const auto state = own.get_cpu_state();
  EXPECT_TRUE(sc::equal(sc::randn({20}, own, on_cpu), first));
  EXPECT_FALSE(sc::equal(sc::randn({20}, own, on_cpu), first));
  own.set_state(state.data(), state.size());
  EXPECT_TRUE(sc::equal(sc::randn({20}, own.clone(), on_cpu), first));
  EXPECT_TRUE(own.is_cpu());
  EXPECT_TRUE(sc::getDefaultCPUGenerator().is_cpu());
  EXPECT_FALSE(cc::getDefaultCUDAGenerator(0).is_cpu());
  EXPECT_THROW((void)own.device(), sc::Error);
}

TEST_F(TensorTest, ListsBecomeTensorsOfTorchsTypes) {
  EXPECT_EQ(sc::tensor({1, 2, 3}).dtype(), sc::kLong);
  EXPECT_EQ(sc::tensor({1.5, 2.0}).dtype(), sc::kFloat);
  EXPECT_EQ(sc::tensor({true, false}).dtype(), sc::kBool);
  EXPECT_EQ(sc::tensor({std::complex<float>(1, 2)}).dtype(), sc::kComplexFloat);
  EXPECT_EQ(sc::tensor({0.1}, sc::kDouble).item<double>(), 0.1);
  EXPECT_EQ(sc::tensor({0.1}).item<double>(), static_cast<double>(0.1F));
  EXPECT_EQ(sc::tensor({1, 2}, sc::kHalf).to_vector<float>(), std::vector<float>({1, 2}));
  EXPECT_EQ(sc::tensor(3.5).sizes(), Sizes());
  EXPECT_EQ(sc::tensor(3.5).item<float>(), 3.5F);
  EXPECT_EQ(sc::tensor({{1, 2, 3}, {4, 5, 6}}).sizes(), Sizes({2, 3}));
  EXPECT_EQ(sc::tensor({{{1}, {2}}}).sizes(), Sizes({1, 2, 1}));
  const std::vector<bool> truths = {true, false, true};
  EXPECT_EQ(sc::tensor(truths).to_vector<bool>(), truths);
  const std::array<std::int16_t, 2> shorts = {-1, 7};
  EXPECT_EQ(sc::tensor(cc::Span<const std::int16_t>(shorts)).to_vector<std::int64_t>(),
            Sizes({-1, 7}));
  EXPECT_TRUE(contains(error_of([] {
                         (void)sc::tensor({{1, 2}, {3}});
                       }).what(),
                       "expected sequence of length 2 at dim 1 (got 1)"));
}

TEST_F(TensorTest, SequencesAndMatrices) {
  EXPECT_EQ(sc::arange(5).to_vector<std::int64_t>(), Sizes({0, 1, 2, 3, 4}));
  EXPECT_EQ(sc::arange(1, 2.5, 0.5).to_vector<float>(), std::vector<float>({1, 1.5, 2}));
  EXPECT_EQ(sc::arange(2, 4).dtype(), sc::kLong);
  EXPECT_EQ(sc::linspace(0, 1, 3).to_vector<float>(), std::vector<float>({0, 0.5, 1}));
  EXPECT_EQ(sc::eye(2, 3).to_vector<float>(), std::vector<float>({1, 0, 0, 0, 1, 0}));
  EXPECT_EQ(sc::full({2}, 7).dtype(), sc::kLong);
  EXPECT_EQ(sc::full_like(sc::eye(2), 7).to_vector<int>(), std::vector<int>({7, 7, 7, 7}));
  EXPECT_EQ(sc::zeros_like(sc::arange(2)).dtype(), sc::kLong);
}

TEST_F(TensorTest, NewTensorsAreLikeTheTensor) {
  const Tensor a = sc::ones({2}, sc::device(sc::kCPU).dtype(sc::kDouble));
  for (const Tensor& b : {a.new_empty({3}), a.new_zeros({3}), a.new_ones({3}), a.new_full({3}, 5),
                          a.new_tensor({1, 2, 3}), a.new_empty_strided({3}, {2})}) {
    EXPECT_EQ(b.sizes(), Sizes({3}));
    EXPECT_EQ(b.dtype(), sc::kDouble);
    EXPECT_TRUE(b.is_cpu());
  }
  EXPECT_EQ(a.new_full({2}, 5, sc::kInt).to_vector<int>(), std::vector<int>({5, 5}));
  EXPECT_EQ(a.new_tensor({{1, 2}, {3, 4}}).sizes(), Sizes({2, 2}));
  EXPECT_EQ(a.new_tensor(std::vector<int>{4}).item<int>(), 4);
  EXPECT_TRUE(a.new_ones({1}, sc::device(0)).is_cuda());
}

TEST_F(TensorTest, TensorsMoveBetweenPlacesAndTypes) {
  const Tensor a = sc::tensor({1.5, 2.5});
  EXPECT_TRUE(a.to(sc::device(0)).is_same(a));
  EXPECT_TRUE(a.to(sc::kFloat).is_same(a));
  EXPECT_FALSE(a.to(sc::kFloat, false, true).is_same(a));
  EXPECT_EQ(a.to(sc::kCPU).device(), sc::Device("cpu"));
  EXPECT_EQ(a.to("cpu", sc::kInt).to_vector<int>(), std::vector<int>({1, 2}));
  EXPECT_EQ(a.cpu().cuda().get_device(), 0);
  EXPECT_EQ(a.to(sc::zeros({1}, sc::device(sc::kCPU).dtype(sc::kLong))).dtype(), sc::kLong);
}

TEST_F(TensorTest, ItemNeedsOneElement) {
  EXPECT_TRUE(contains(error_of([] { (void)sc::ones({2}).item(); }).what(),
                       "a Tensor with 2 elements cannot be converted to Scalar"));
  EXPECT_TRUE(sc::ones({1, 1}).item<bool>());
}

TEST_F(TensorTest, CudaMeansTheCurrentDevice) {
  SCONCE_NEED_DEVICES(2);
  const Tensor a = sc::ones({2}, sc::device(0));
  const cc::CUDAGuard guard(1);
  EXPECT_EQ(sc::ones({2}).get_device(), 1);
  EXPECT_EQ(a.get_device(), 0);
  EXPECT_EQ(a.cuda().get_device(), 1);
  EXPECT_EQ(a.to(sc::kCUDA).get_device(), 1);
  EXPECT_EQ(a.cuda(0).get_device(), 0);
  EXPECT_EQ((a + a).get_device(), 0);
  EXPECT_EQ(a.new_full({2}, 1).get_device(), 0);
  EXPECT_EQ(sc::ones_like(a).get_device(), 0);
  const sc::Error error = error_of([&] { (void)(a + sc::ones({2})); });
  EXPECT_EQ(error.status(), SCONCE_ERROR_CROSS_DEVICE);
  EXPECT_TRUE(contains(error.what(), "cuda:0"));
}

TEST_F(TensorTest, PinnedMemoryIsCopiedWithoutBlocking) {
  const Tensor host = sc::arange(1000, sc::device(sc::kCPU).dtype(sc::kFloat)).pin_memory();
  EXPECT_TRUE(host.is_pinned() && host.pin_memory().is_same(host));
  const cc::CUDAStream stream = cc::getStreamFromPool();
  Tensor result;
  {
    const cc::CUDAStreamGuard guard(stream);
    const Tensor device = host.cuda(0, true);
    const Tensor back = sc::empty({1000}, sc::device(sc::kCPU).pinned_memory(true));
    back.copy_(device * 2, true);
    result = back;
  }
  stream.synchronize();
  EXPECT_TRUE(result.equal(host * 2));
}

TEST_F(TensorTest, RecordedStreamsKeepMemory) {
  SCONCE_NEED_SIMULATOR();
  const cc::CUDAStream side = cc::getStreamFromPool();
  Tensor a = sc::ones({1024});
  void* address = a.data_ptr();
  cc::sleep(std::chrono::milliseconds(20), side);
  a.record_stream(side);
  a.reset();
  const Tensor b = sc::ones({1024});
  EXPECT_NE(b.data_ptr(), address);
  side.synchronize();
}

TEST_F(TensorTest, ViewsShareMemory) {
  const Tensor a = sc::arange(24).view({2, 3, 4});
  EXPECT_EQ(a[1][2].to_vector<std::int64_t>(), Sizes({20, 21, 22, 23}));
  EXPECT_EQ(a[-1].sizes(), Sizes({3, 4}));
  EXPECT_EQ(a.size(-1), 4);
  EXPECT_EQ(a.stride(0), 12);
  EXPECT_EQ(a.dim(), 3);
  EXPECT_EQ(a.numel(), 24);
  EXPECT_EQ(a.transpose(0, 2).sizes(), Sizes({4, 3, 2}));
  EXPECT_EQ(a.permute({2, 0, 1}).sizes(), Sizes({4, 2, 3}));
  EXPECT_EQ(a[0].t().strides(), Sizes({1, 4}));
  EXPECT_EQ(a.narrow(1, 1, 2).storage_offset(), 4);
  EXPECT_EQ(a.slice(2, 1, std::nullopt, 2).sizes(), Sizes({2, 3, 2}));
  EXPECT_EQ(a.slice(0, -1).sizes(), Sizes({1, 3, 4}));
  EXPECT_EQ(a.unsqueeze(0).squeeze().sizes(), a.sizes());
  EXPECT_EQ(a.unsqueeze(0).squeeze(0).sizes(), a.sizes());
  EXPECT_EQ(a.flatten().sizes(), Sizes({24}));
  EXPECT_EQ(a.flatten(1).sizes(), Sizes({2, 12}));
  EXPECT_EQ(a.unflatten(2, {2, -1}).sizes(), Sizes({2, 3, 2, 2}));
  EXPECT_EQ(a.view({-1, 2}).sizes(), Sizes({12, 2}));
  EXPECT_EQ(a.as_strided({2, 2}, {1, 2}, 3).to_vector<int>(), std::vector<int>({3, 5, 4, 6}));
  EXPECT_EQ(a[0].diagonal().to_vector<int>(), std::vector<int>({0, 5, 10}));
  EXPECT_EQ(sc::ones({1}).expand({3, -1}).strides(), Sizes({0, 1}));
  EXPECT_EQ(sc::ones({1}).expand_as(a).sizes(), a.sizes());
  EXPECT_TRUE(a.reshape({6, 4}).is_alias_of(a));
  EXPECT_FALSE(a.transpose(0, 1).reshape({6, 4}).is_alias_of(a));
  EXPECT_TRUE(contains(error_of([&] { (void)a.transpose(0, 1).view(24); }).what(), "view size"));
  EXPECT_TRUE(contains(error_of([&] { (void)a.t(); }).what(), "but self is 3D"));
  EXPECT_TRUE(contains(error_of([&] { (void)a.size(3); }).what(),
                       "expected to be in range of [-3, 2], but got 3"));
  EXPECT_EQ(status_of([&] { (void)a.as_strided({2}, {1, 2}); }), SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(status_of([&] { (void)a[1].as_strided({2}, {1}, -1); }), SCONCE_ERROR_INVALID_ARGUMENT);
}

TEST_F(TensorTest, PiecesCoverADimension) {
  const Tensor a = sc::arange(10);
  const auto sizes_of = [](const std::vector<Tensor>& pieces) {
    Sizes sizes;
    for (const Tensor& piece : pieces) {
      sizes.push_back(piece.numel());
    }
    return sizes;
  };
  EXPECT_EQ(sizes_of(a.chunk(3)), Sizes({4, 4, 2}));
  EXPECT_EQ(sizes_of(a.chunk(std::numeric_limits<std::int64_t>::max())), Sizes(10, 1));
  EXPECT_EQ(sizes_of(a.split(4)), Sizes({4, 4, 2}));
  EXPECT_EQ(sizes_of(a.split({1, 9})), Sizes({1, 9}));
  EXPECT_EQ(a.view({5, 2}).unbind(1)[1].to_vector<int>(), std::vector<int>({1, 3, 5, 7, 9}));
  EXPECT_EQ(sizes_of(a.narrow(0, 0, 0).split(4)), Sizes({0}));
  EXPECT_EQ(a.narrow(0, 0, 0).unbind().size(), 0U);
  EXPECT_EQ(status_of([&] { (void)a.split(0); }), SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(status_of([&] { (void)a.chunk(0); }), SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(status_of([&] { (void)a.split({1, 2}); }), SCONCE_ERROR_INVALID_ARGUMENT);
}

TEST_F(TensorTest, AssigningToAnIndexCopiesElements) {
  Tensor a = sc::zeros({2, 2});
  const Tensor kept = a;
  a[0] = 3;
  a[1] = sc::tensor({4.0, 5.0});
  EXPECT_EQ(kept.to_vector<int>(), std::vector<int>({3, 3, 4, 5}));
  const Tensor row = a[1];
  a[0] = row;
  EXPECT_EQ(kept.to_vector<int>(), std::vector<int>({4, 5, 4, 5}));
  a = row;
  EXPECT_EQ(kept.numel(), 4);
  EXPECT_EQ(a.numel(), 2);
}

TEST_F(TensorTest, NumbersAndTensorsAreIndices) {
  for (const auto device : {sc::kCPU, sc::kCUDA}) {
    const auto x = sc::arange(6, sc::device(device)).view({2, 3});
    EXPECT_EQ(x[sc::Scalar(1)].to_vector<int>(), std::vector<int>({3, 4, 5}));
    EXPECT_EQ(x[x[0][1]][-1].item<int>(), 5);
    EXPECT_TRUE(contains(error_of([&] { (void)x[sc::Scalar(0.5)]; }).what(), "integral scalars"));
    EXPECT_TRUE(contains(error_of([&] { (void)x[x[0]]; }).what(), "zero-dim"));
    EXPECT_TRUE(x[0].data_ptr() == x.data_ptr() && x[sc::Scalar(0)].data_ptr() == x.data_ptr());
  }
}

// Only memory of the CPU is page-locked, so the option alone names the CPU.
TEST_F(TensorTest, PinnedOptionsMeanTheCpu) {
  const auto pinned = sc::TensorOptions().pinned_memory(true);
  EXPECT_TRUE(pinned.device().is_cpu() && !pinned.device_opt());
  EXPECT_TRUE(sc::TensorOptions().pinned_memory(false).device().is_cuda());
  const auto near = sc::ones({2});
  for (const auto& x : {sc::empty({2}, pinned), sc::zeros({2}, pinned.dtype(sc::kLong)),
                        sc::arange(2, pinned), sc::full({2}, 3, sc::pinned_memory()),
                        sc::empty_like(near, pinned), near.new_empty({2}, pinned),
                        near.new_ones({2}, pinned), sc::empty({2}, pinned.device(sc::kCPU))}) {
    EXPECT_TRUE(x.is_cpu() && x.is_pinned()) << x;
  }
  EXPECT_TRUE(near.to(pinned.dtype(sc::kHalf)).is_cuda());
  EXPECT_TRUE(contains(error_of([&] { (void)sc::empty({2}, pinned.device(0)); }).what(),
                       "Only dense CPU tensors can be pinned"));
  EXPECT_TRUE(sc::ones({2}, sc::kCPU).pin_memory().is_pinned());
}

// The work that is queued first keeps the device busy, so that a copy that ran early would read
// zeros.
TEST_F(TensorTest, ConvertedCopiesOfPinnedMemoryFollowQueuedWork) {
  const auto ones = sc::ones({4, 2});
  for (const auto type : {sc::kFloat, sc::kLong, sc::kDouble, sc::kHalf, sc::kBool}) {
    for (const bool strided : {false, true}) {
      const auto pinned = sc::zeros({4, 2}, sc::pinned_memory());
      const auto source = strided ? pinned.select(1, 1) : pinned.view({8}).narrow(0, 2, 4);
      const auto target = sc::zeros({4}, type);
      sc::cuda::synchronize();
      sc::cuda::sleep(std::chrono::milliseconds(20));
      pinned.copy_(ones, true);
      target.copy_(source, true);
      const auto moved = source.to(sc::TensorOptions(sc::kCUDA).dtype(type), true);
      const auto near = source.cuda(-1, true);
      const auto waited = source.to(sc::TensorOptions(sc::kCUDA).dtype(type));
      for (const auto& x : {target, moved, near, waited}) {
        EXPECT_EQ(x.to(sc::kLong).to_vector<int>(), std::vector<int>(4, 1)) << type << strided;
      }
      EXPECT_EQ(source.to(sc::kLong).to_vector<int>(), std::vector<int>(4, 1));
    }
  }
}

TEST_F(TensorTest, AddressesHaveTheirType) {
  const Tensor a = sc::tensor({1.0, 2.0}, sc::device(sc::kCPU));
  EXPECT_EQ(a.data_ptr<float>()[1], 2.0F);
  EXPECT_EQ(a[1].data_ptr<const float>(), a.data_ptr<float>() + 1);
  EXPECT_TRUE(contains(error_of([&] { (void)a.data_ptr<double>(); }).what(),
                       "expected scalar type Double but found Float"));
}

TEST_F(TensorTest, ForeignMemoryIsGivenBackOnce) {
  std::array<float, 6> memory = {0, 1, 2, 3, 4, 5};
  std::vector<void*> freed;
  {
    Tensor a = sc::from_blob(memory.data(), {2, 3}, [&](void* data) { freed.push_back(data); });
    const Tensor view = a[1];
    EXPECT_TRUE(a.is_cpu());
    a.reset();
    EXPECT_TRUE(freed.empty());
    view.fill_(9);
    EXPECT_EQ(memory[5], 9.0F);
    EXPECT_EQ(memory[2], 2.0F);
  }
  EXPECT_EQ(freed, std::vector<void*>({memory.data()}));
  const auto refused = [&] {
    (void)sc::from_blob(
        memory.data(), {2}, [&](void* data) { freed.push_back(data); }, sc::device(1000));
  };
  EXPECT_NE(status_of(refused), SCONCE_OK);
  EXPECT_EQ(freed.size(), 1U);
  EXPECT_EQ(sc::from_blob(memory.data(), {2, 2}, {1, 2}).to_vector<int>(),
            std::vector<int>({0, 2, 1, 9}));
}

TEST_F(TensorTest, DeviceMemoryOfOthersIsATensor) {
  cc::DeviceBuffer buffer(64);
  const Tensor a = sc::from_blob(buffer.get(), {4}, sc::device(0).dtype(sc::kInt));
  a.fill_(-2);
  EXPECT_EQ(a.to_vector<int>(), std::vector<int>(4, -2));
  EXPECT_EQ(a.data_ptr(), buffer.get());
}

TEST_F(TensorTest, RandomTensorsHaveTorchsBits) {
  const cc::CUDAGenerator generator = cc::createCUDAGenerator(0);
  const auto drawn = [&](auto&& fill) {
    cc::CUDAGenerator(generator).set_current_seed(7);
    return fill(cc::OptionalGenerator(generator));
  };
  const auto values =
      drawn([](const auto& g) { return sc::rand({100}, g).template to_vector<float>(); });
  cc::DeviceBuffer buffer = cc::DeviceBuffer::of<float>(100);
  std::vector<float> expected(100);
  drawn([&](const auto& g) {
    cc::uniform_(buffer.span<float>(), 0.0, 1.0, g);
    cc::copy_(expected, buffer);
    return 0;
  });
  EXPECT_EQ(values, expected);
  const Tensor whole = sc::randint(3, 6, {1000});
  EXPECT_EQ(whole.dtype(), sc::kLong);
  EXPECT_EQ(whole.min().item<int>(), 3);
  EXPECT_EQ(whole.max().item<int>(), 5);
  EXPECT_EQ(sc::randint_like(whole, 2).sizes(), whole.sizes());
  EXPECT_NE(sc::randn({8}).to_vector<float>(), sc::randn({8}).to_vector<float>());
  EXPECT_EQ(sc::rand_like(sc::ones({2}, sc::kHalf)).dtype(), sc::kHalf);
}

}  // namespace
