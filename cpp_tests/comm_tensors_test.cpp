// Tensors on several devices: results beside a naive model on the CPU, torch's texts, and the order
// of streams.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <random>
#include <sconce/sconce_all.hpp>
#include <string>
#include <vector>

#include "fixture.hpp"

namespace {

using namespace sconce::cuda;
using sconce::kCPU;
using sconce::Tensor;
using support::contains;
using support::error_of;

/// As many simulated devices as the largest machine has; on GPUs those that are there.
class CommTensorsTest : public support::WorkFixture {
 protected:
  void SetUp() override {
    support::simulated_devices = 8;
    support::WorkFixture::SetUp();
    if (!IsSkipped()) {
      SCONCE_NEED_DEVICES(2);
    }
  }
};

std::mt19937_64& random() {
  static std::mt19937_64 engine(20261122);
  return engine;
}

std::int64_t number(std::int64_t least, std::int64_t most) {
  return std::uniform_int_distribution<std::int64_t>(least, most)(random());
}

/// Whole numbers, so that sums are exact in any order.
Tensor values(sconce::IntArrayRef sizes, sconce::ScalarType type) {
  const Tensor numbers = sconce::randint(-8, 9, sizes, sconce::device(kCPU).dtype(sconce::kLong));
  return numbers.to(type);
}

std::vector<std::int64_t> random_sizes(std::int64_t least_rank) {
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(number(least_rank, 4)));
  for (std::int64_t& size : sizes) {
    size = number(0, 9);
  }
  return sizes;
}

sconce::ScalarType random_type() {
  const sconce::ScalarType types[] = {sconce::kFloat, sconce::kDouble, sconce::kLong, sconce::kHalf,
                                      sconce::kInt};
  return types[number(0, 4)];
}

std::vector<std::int32_t> all_devices() {
  std::vector<std::int32_t> devices;
  for (std::int32_t device = 0; device < device_count(); ++device) {
    devices.push_back(device);
  }
  return devices;
}

std::vector<std::int32_t> some_devices() {
  std::vector<std::int32_t> devices = all_devices();
  std::shuffle(devices.begin(), devices.end(), random());
  devices.resize(static_cast<std::size_t>(number(1, static_cast<std::int64_t>(devices.size()))));
  return devices;
}

void expect_same(const Tensor& seen, const Tensor& wanted, std::int32_t device) {
  EXPECT_EQ(seen.device().index(), device);
  EXPECT_EQ(seen.dtype(), wanted.dtype());
  ASSERT_EQ(seen.sizes(), wanted.sizes());
  EXPECT_TRUE(seen.cpu().equal(wanted));
}

TEST_F(CommTensorsTest, ABroadcastIsTheTensorOnEachDevice) {
  for (int round = 0; round < 30; ++round) {
    const auto devices = some_devices();
    const Tensor host = values(random_sizes(0), random_type());
    const bool from_host = round % 5 == 0;
    const Tensor source =
        from_host ? host : host.cuda(static_cast<DeviceIndex>(number(0, device_count() - 1)));
    const auto copies = comm::broadcast(source, devices);
    ASSERT_EQ(copies.size(), devices.size());
    for (std::size_t at = 0; at < devices.size(); ++at) {
      expect_same(copies[at], host, devices[at]);
      if (source.device() == copies[at].device()) {
        EXPECT_EQ(copies[at].get(), source.get()) << "its own device has the tensor itself";
      }
    }
    std::vector<Tensor> out;
    for (const std::int32_t device : devices) {
      out.push_back(sconce::zeros(host.sizes(), sconce::device(device).dtype(host.dtype())));
    }
    comm::broadcast_out(source, out);
    for (std::size_t at = 0; at < devices.size(); ++at) {
      expect_same(out[at], host, devices[at]);
    }
  }
}

TEST_F(CommTensorsTest, ACoalescedBroadcastKeepsOrderAndSharesBlocks) {
  for (int round = 0; round < 20; ++round) {
    const auto devices = some_devices();
    std::vector<Tensor> host;
    std::vector<Tensor> source;
    for (std::int64_t left = number(0, 40); left > 0; --left) {
      host.push_back(values(random_sizes(0), random_type()));
      source.push_back(host.back().cuda(devices[0]));
    }
    const auto all =
        comm::broadcast_coalesced(source, devices, static_cast<std::size_t>(number(1, 4000)));
    ASSERT_EQ(all.size(), devices.size());
    for (std::size_t at = 0; at < devices.size(); ++at) {
      ASSERT_EQ(all[at].size(), host.size());
      for (std::size_t index = 0; index < host.size(); ++index) {
        expect_same(all[at][index], host[index], devices[at]);
        if (at == 0) {
          EXPECT_EQ(all[0][index].get(), source[index].get());
        }
      }
    }
  }
  const auto options = sconce::device(0).dtype(sconce::kFloat);
  const std::vector<Tensor> two = {sconce::ones({3}, options), sconce::ones({5}, options)};
  const auto copies = comm::broadcast_coalesced(two, {0, 1});
  EXPECT_EQ(copies[1][1].storage_offset(), 3);
  EXPECT_EQ(static_cast<const float*>(copies[1][0].data_ptr()) + 3, copies[1][1].data_ptr());
  const auto before = memory_stats(0).allocation.all.allocated;
  (void)comm::broadcast_coalesced(two, {0});
  EXPECT_EQ(memory_stats(0).allocation.all.allocated, before) << "for one device nothing is joined";
}

TEST_F(CommTensorsTest, SumsAreThoseOfTheModel) {
  for (int round = 0; round < 30; ++round) {
    const auto devices = some_devices();
    const auto sizes = random_sizes(0);
    const sconce::ScalarType type = random_type();
    std::vector<std::vector<Tensor>> lists;
    std::vector<Tensor> sums;
    for (const std::int32_t device : devices) {
      lists.emplace_back();
      for (std::size_t index = 0; index < 3; ++index) {
        const Tensor host = values(sizes, index == 1 ? sconce::kDouble : type);
        lists.back().push_back(host.cuda(device));
        if (sums.size() <= index) {
          sums.push_back(host);
        } else {
          sums[index] = sums[index] + host;
        }
      }
    }
    const std::int32_t destination =
        devices[static_cast<std::size_t>(number(0, static_cast<std::int64_t>(devices.size()) - 1))];
    std::vector<Tensor> firsts;
    for (const auto& list : lists) {
      firsts.push_back(list[0]);
    }
    const Tensor sum = comm::reduce_add(firsts, destination);
    expect_same(sum, sums[0], destination);
    if (devices.size() == 1) {
      EXPECT_EQ(sum.get(), firsts[0].get()) << "one input is the result";
    }
    const auto all =
        comm::reduce_add_coalesced(lists, destination, static_cast<std::size_t>(number(1, 3000)));
    for (std::size_t index = 0; index < 3; ++index) {
      expect_same(all[index], sums[index], destination);
    }
  }
}

/// The second copy of a device must not arrive where the first one is still being added.
TEST_F(CommTensorsTest, LargeInputsOfOneDeviceAreAddedOneAfterAnother) {
  const auto first = sconce::device(0).dtype(sconce::kFloat);
  const auto second = sconce::device(1).dtype(sconce::kFloat);
  const std::int64_t count = 1 << 18;
  const std::vector<Tensor> inputs = {sconce::full({count}, 1, first),
                                      sconce::full({count}, 10, second),
                                      sconce::full({count}, 100, second)};
  for (int round = 0; round < 8; ++round) {
    const Tensor sum = comm::reduce_add(inputs, 0);
    EXPECT_EQ((sum - 111).abs().max().item<float>(), 0.0F) << round;
  }
}

TEST_F(CommTensorsTest, LargeSumsAndJoinsAreThoseOfTheModel) {
  // More than one part of 16 MiB, and a last part that is smaller.
  const std::int64_t count = (17 << 20) / 8 + 123;
  const auto devices = all_devices();
  const std::size_t used = std::min<std::size_t>(devices.size(), 3);
  std::vector<Tensor> inputs;
  std::vector<Tensor> wanted;
  for (std::size_t at = 0; at < used; ++at) {
    const auto on = sconce::device(devices[at]).dtype(sconce::kDouble);
    inputs.push_back(sconce::arange(count, on) * static_cast<double>(at + 1));
    wanted.push_back(inputs.back().cpu());
  }
  Tensor sum = wanted[0];
  for (std::size_t at = 1; at < used; ++at) {
    sum = sum + wanted[at];
  }
  expect_same(comm::reduce_add(inputs, 0), sum, 0);
  expect_same(comm::gather(inputs, 0, 1), sconce::cat(wanted), 1);
}

TEST_F(CommTensorsTest, ScatterAndGatherAreInverse) {
  for (int round = 0; round < 40; ++round) {
    const auto devices = some_devices();
    const Tensor host = values(random_sizes(1), random_type());
    const std::int64_t dim = number(-host.dim(), host.dim() - 1);
    const Tensor source = round % 4 == 0 ? host : host.cuda(devices[0]);
    const auto parts = comm::scatter(source, devices, std::nullopt, dim);
    const auto model = host.chunk(static_cast<std::int64_t>(devices.size()), dim);
    ASSERT_EQ(parts.size(), model.size());
    for (std::size_t at = 0; at < parts.size(); ++at) {
      expect_same(parts[at], model[at], devices[at]);
    }
    expect_same(comm::gather(parts, dim, devices[0]), host, devices[0]);
    expect_same(comm::gather(parts, dim, kCPU), host, -1);

    // Sizes of the caller's choice, and tensors of the caller.
    std::vector<std::int64_t> sizes(devices.size(), 0);
    for (std::int64_t left = host.size(dim); left > 0; --left) {
      ++sizes[static_cast<std::size_t>(number(0, static_cast<std::int64_t>(sizes.size()) - 1))];
    }
    const auto chosen = comm::scatter(source, devices, sizes, dim);
    std::vector<Tensor> out;
    for (std::size_t at = 0; at < chosen.size(); ++at) {
      EXPECT_EQ(chosen[at].size(dim), sizes[at]);
      out.push_back(
          sconce::zeros(chosen[at].sizes(), sconce::device(devices[at]).dtype(host.dtype())));
    }
    comm::scatter_out(source, out, dim);
    const Tensor whole =
        sconce::zeros(host.sizes(), sconce::device(devices.back()).dtype(host.dtype()));
    comm::gather_out(out, whole, dim);
    expect_same(whole, host, devices.back());
  }
}

TEST_F(CommTensorsTest, APartThatIsThereIsAView) {
  const Tensor source = sconce::zeros({4, 2}, sconce::device(0));
  const auto parts = comm::scatter(source, {0, 1});
  parts[0].fill_(7);
  EXPECT_EQ(source[0][0].item<float>(), 7.0F);
  EXPECT_EQ(source[2][0].item<float>(), 0.0F);
}

TEST_F(CommTensorsTest, ChannelsStayLast) {
  const auto last = sconce::MemoryFormat::ChannelsLast;
  const Tensor image = sconce::rand({2, 3, 4, 5}, sconce::device(0)).contiguous(last);
  const Tensor joined = comm::gather({image, image.cuda(1)}, 0, 0);
  EXPECT_TRUE(joined.is_contiguous(last));
  EXPECT_FALSE(comm::gather({image, image.cuda(1).contiguous()}, 0, 0).is_contiguous(last));
}

/// Work on streams that are not the default ones: what is late is waited for, on both sides.
TEST_F(CommTensorsTest, CopiesFollowTheCurrentStreams) {
  const auto late = std::chrono::milliseconds(30);
  const std::int64_t sizes[] = {1000, 1 << 18};
  for (const std::int64_t count : sizes) {
    const CUDAStream on_first = getStreamFromPool(false, 0);
    const CUDAStream on_second = getStreamFromPool(false, 1);
    const CUDAMultiStreamGuard guard({on_first, on_second});
    const auto first = sconce::device(0).dtype(sconce::kFloat);
    const auto second = sconce::device(1).dtype(sconce::kFloat);
    // The sources are written late, and results are read at once.
    const Tensor a = sconce::zeros({count}, first);
    const Tensor b = sconce::zeros({count}, second);
    sleep(late, on_first);
    a.fill_(1);
    sleep(late, on_second);
    b.fill_(2);
    const Tensor sum = comm::reduce_add({a, b}, 0);
    const Tensor joined = comm::gather({a, b}, 0, 1);
    const auto copies = comm::broadcast(a, {1});
    // What follows on the sources' streams does not change what was sent.
    a.fill_(5);
    b.fill_(5);
    EXPECT_EQ((sum - 3).abs().max().item<float>(), 0.0F) << count;
    EXPECT_EQ((copies[0] - 1).abs().max().item<float>(), 0.0F) << count;
    EXPECT_EQ(joined.sum().item<float>(), 3.0F * static_cast<float>(count));
    EXPECT_EQ(getCurrentCUDAStream(0), on_first);
    EXPECT_EQ(getCurrentCUDAStream(1), on_second);
  }
}

/// The same work without the order that the current stream gives reads what was there before: the
/// test above can fail.
TEST_F(CommTensorsTest, AStreamOutsideOfTheOrderSeesOldValues) {
  SCONCE_NEED_SIMULATOR();
  const Tensor target = sconce::zeros({1000}, sconce::device(1).dtype(sconce::kFloat));
  const Tensor source = sconce::ones({1000}, sconce::device(0).dtype(sconce::kFloat));
  getDefaultCUDAStream(0).synchronize();
  getDefaultCUDAStream(1).synchronize();
  const CUDAStream other = getStreamFromPool(false, 1);
  sleep(std::chrono::milliseconds(50), getCurrentCUDAStream(0));
  comm::broadcast_out(source, {target});
  float seen = -1.0F;
  {
    const CUDAStreamGuard guard(other);
    seen = target.sum().item<float>();
  }
  EXPECT_EQ(seen, 0.0F);
  EXPECT_EQ(target.sum().item<float>(), 1000.0F);
}

TEST_F(CommTensorsTest, AStreamOfScatterTakesThePlaceOfTheCurrentOne) {
  // Streams of the pool: on a GPU a copy of a default stream holds up those of both devices.
  const CUDAMultiStreamGuard guard({getStreamFromPool(false, 0), getStreamFromPool(false, 1)});
  const CUDAStream lane = getStreamFromPool(false, 1);
  const Tensor source = sconce::ones({10}, sconce::device(0));
  // The first copy between devices takes long on a GPU.
  (void)comm::scatter(source, {0, 1});
  getCurrentCUDAStream(1).synchronize();
  sleep(std::chrono::milliseconds(100), lane);
  const auto parts = comm::scatter(source, {0, 1}, std::nullopt, 0, {std::nullopt, lane});
  EXPECT_FALSE(lane.query()) << "the part is behind the lane's work";
  EXPECT_TRUE(getCurrentCUDAStream(1).query());
  lane.synchronize();
  EXPECT_EQ(parts[1].sum().item<float>(), 5.0F);
  const sconce::Error error = error_of([&] {
    (void)comm::scatter(source, {0, 1}, std::nullopt, 0, {std::nullopt, getDefaultCUDAStream(0)});
  });
  EXPECT_TRUE(contains(error.what(),
                       "stream at index 1 (was 0) to match the device supplied at that "
                       "index (expected 1)"))
      << error.what();
}

}  // namespace
