// Tensors on several devices: what is refused, in torch's words, and what a failure leaves.
#include <cstdint>
#include <functional>
#include <sconce/sconce_all.hpp>
#include <vector>

#include "comm_support.hpp"

namespace {

using namespace sconce::cuda;
using sconce::kCPU;
using sconce::Tensor;
using support::contains;
using support::error_of;
using support::status_of;

class CommTensorsRefusalsTest : public support::CommFixture {};

TEST_F(CommTensorsRefusalsTest, WhatIsWrongIsSaidInTorchsWords) {
  const Tensor host = sconce::zeros({4}, sconce::device(kCPU));
  const Tensor zero = sconce::zeros({4}, sconce::device(0));
  const Tensor one = sconce::zeros({4}, sconce::device(1));
  const Tensor large = sconce::zeros({5}, sconce::device(1));
  const Tensor matrix = sconce::zeros({4, 2}, sconce::device(1));
  const Tensor scalar = sconce::zeros({}, sconce::device(0));
  const auto refused = [](const std::function<void()>& action, const char* words) {
    const sconce::Error error = error_of(action);
    EXPECT_EQ(error.status(), SCONCE_ERROR_INVALID_ARGUMENT) << words;
    EXPECT_TRUE(contains(error.what(), words)) << error.what() << "\nexpected: " << words;
  };
  refused(
      [&] {
        (void)comm::broadcast(zero, {0, -1});
      },
      "Expected non-negative device index, but got -1");
  refused(
      [&] {
        comm::broadcast_out(zero, {one, host});
      },
      "Expected all output tensors to be CUDA tensors, but output tensor at index 1 has device "
      "cpu");
  refused(
      [&] { comm::broadcast_out(zero, {large}); },
      "Expected all output tensors to have same shape as the source tensor [4], but output tensor "
      "at index 0 has shape [5]");
  refused(
      [&] {
        (void)comm::broadcast_coalesced({zero, one}, {0, 1});
      },
      "All tensors must be on devices[0]: 0");
  refused(
      [&] {
        (void)comm::reduce_add({zero, host}, 0);
      },
      "reduce_add expects all inputs to be on GPUs, but input 1 is on CPU");
  refused(
      [&] {
        (void)comm::reduce_add({zero, matrix}, 0);
      },
      "input 1 has invalid size: got 4x2, but expected 4");
  refused(
      [&] {
        (void)comm::reduce_add({one, one}, 0);
      },
      "reduce_add expects destination to be on the same GPU with one of the tensors");
  refused([&] { (void)comm::scatter(zero, {}); }, "Expected at least one device to scatter to");
  refused(
      [&] {
        (void)comm::scatter(zero, {0, 1}, std::vector<std::int64_t>{4});
      },
      "Expected devices and chunk_sizes to be of same length, but got len(devices) = 2 and "
      "len(chunk_sizes) = 1");
  refused(
      [&] {
        (void)comm::scatter(zero, {0, 1}, std::vector<std::int64_t>{4, 1});
      },
      "expects split_sizes to sum exactly to 4");
  refused([&] { comm::scatter_out(zero, {}); },
          "Expected at least one output tensor to scatter to");
  refused([&] { comm::scatter_out(zero, {matrix}); },
          "Output tensor at index 0 has incorrect shape: [4, 2]. Expected same shape except for "
          "scatter dim 0 as the source tensor: [4]");
  refused(
      [&] { comm::scatter_out(zero, {large}); },
      "Total size for output tensors along scatter dim 0 does not match the source tensor size at "
      "dim 0. Expected 4, but got total size 5");
  refused([&] { (void)comm::gather({}); }, "Expected at least one tensor to gather from");
  refused(
      [&] {
        (void)comm::gather({zero, host});
      },
      "Expected all input tensors to be CUDA tensors, but tensor at index 1 has device cpu");
  refused(
      [&] {
        (void)comm::gather({zero, matrix});
      },
      "Expected all input tensors to have the same number of dimensions, but tensor at index 1 has "
      "2 dimensions, (expected 1)");
  refused(
      [&] {
        (void)comm::gather({matrix, sconce::zeros({4, 3}, sconce::device(0))});
      },
      "Input tensor at index 1 has invalid shape [4, 3], but expected [4, 2]");
  refused(
      [&] {
        comm::gather_out({zero, one}, large);
      },
      "Expected out tensor to have shape [8], but got [5]");
  refused([&] { (void)comm::gather({scalar}); }, "cannot be gathered");
  refused([&] { (void)comm::scatter(scalar, {0}); }, "at least a 1-dimensional tensor");
  EXPECT_EQ(status_of([&] { (void)comm::broadcast(zero, {0, 99}); }), SCONCE_ERROR_INVALID_DEVICE);
}

TEST_F(CommTensorsRefusalsTest, AFailureLeavesNoTensorAndNoOpenLane) {
  SCONCE_NEED_SIMULATOR();
  const Tensor a = sconce::ones({1 << 18}, sconce::device(0));
  const Tensor b = sconce::ones({1 << 18}, sconce::device(1));
  const std::size_t before = sconce_tensor_live_count();
  // Every driver call of a sum fails once.
  for (const char* call :
       {"event_record", "stream_wait_event", "copy_peer_async", "kernel_launch"}) {
    for (std::uint64_t nth = 1; nth < 6; ++nth) {
      sconce::simulator::inject_fault(call, nth, 2);
      try {
        const Tensor sum = comm::reduce_add({a, b}, 0);
        EXPECT_EQ(sum.sum().item<float>(), 2.0F * static_cast<float>(1 << 18));
      } catch (const sconce::Error&) {
      }
      sconce::simulator::clear_faults();
      EXPECT_EQ(sconce_tensor_live_count(), before) << call << " " << nth;
    }
  }
  EXPECT_EQ(comm::reduce_add({a, b}, 0).sum().item<float>(), 2.0F * static_cast<float>(1 << 18));
}

}  // namespace
