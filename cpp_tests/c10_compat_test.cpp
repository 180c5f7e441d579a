// Lines that code for c10 and ATen typically has, in our own words, each with what it must do. The
// numbers are those of the guide's page "Code written for c10"; missing ones are there, with what
// to write instead.
// Here: devices, streams, events, checks.
#include <unordered_map>
#include <vector>

#include "c10_compat_support.hpp"

using namespace c10_lines;  // NOLINT

namespace {

// Devices and guards.

LINE(1, GuardOfATensorsDevice) {
  SCONCE_NEED_DEVICES(2);
  const auto x =
      torch::full({4}, 1.0, torch::TensorOptions().device(torch::Device(torch::kCUDA, 1)));
  {
    const at::cuda::OptionalCUDAGuard device_guard(device_of(x));
    EXPECT_EQ(c10::cuda::current_device(), 1);
  }
  EXPECT_EQ(c10::cuda::current_device(), 0);
}
LINE(2, GuardOfADevice) {
  const auto x = ones({4});
  const c10::cuda::CUDAGuard guard(x.device());
  EXPECT_EQ(guard.current_device().index(), 0);
}
LINE(3, GuardOfAnIndexFromGetDevice) {
  const auto x = ones({4});
  at::cuda::CUDAGuard guard{static_cast<c10::DeviceIndex>(x.get_device())};
  EXPECT_EQ(guard.original_device(), c10::Device(c10::kCUDA, 0));
}
LINE(4, ASignedCharAsAnIndex) {
  const auto x = ones({4});
  at::cuda::CUDAGuard guard{static_cast<char>(x.get_device())};
  EXPECT_EQ(guard.current_device().index(), 0);
}
LINE(5, GuardForAnyDevice) {
  const auto x = ones({4});
  const c10::OptionalDeviceGuard guard(device_of(x));
  const c10::DeviceGuard other(x.device());
  EXPECT_TRUE(guard.current_device().has_value());
  // Of the CPU they do nothing.
  const auto y = torch::ones({4}, torch::TensorOptions().device(torch::kCPU));
  const c10::OptionalDeviceGuard of_the_cpu(device_of(y));
  const c10::DeviceGuard of_the_cpu_too(y.device());
  EXPECT_EQ(of_the_cpu.current_device(), c10::Device(c10::kCPU));
  EXPECT_EQ(of_the_cpu_too.original_device(), c10::Device(c10::kCPU));
}
// c10 refuses the CPU here.
LINE(6, GuardOfTheCpuDoesNothing) {
  const auto before = c10::cuda::current_device();
  const c10::cuda::CUDAGuard guard(c10::Device(c10::kCPU));
  const at::cuda::OptionalCUDAGuard other(c10::Device(c10::kCPU));
  EXPECT_EQ(c10::cuda::current_device(), before);
}
LINE(7, CountAndCurrent) {
  const c10::DeviceIndex count = c10::cuda::device_count();
  EXPECT_GE(count, 1);
  EXPECT_LT(c10::cuda::current_device(), count);
}
LINE(8, SetDeviceAndBack) {
  const auto previous = c10::cuda::ExchangeDevice(0);
  c10::cuda::MaybeExchangeDevice(previous);
  c10::cuda::set_device(previous);
  EXPECT_EQ(c10::cuda::current_device(), previous);
}
LINE(9, DeviceSynchronize) { c10::cuda::device_synchronize(); }
LINE(10, DevicesAreCompared) {
  const auto a = ones({2});
  const auto b = ones({2});
  TORCH_CHECK(a.device() == b.device(), "a and b must be on one device");
  EXPECT_EQ(c10::Device("cuda:0").index(), 0);
}
LINE(11, DeviceTypes) {
  const auto a = ones({2});
  EXPECT_TRUE(a.device().type() == at::kCUDA && a.is_cuda());
  EXPECT_EQ(a.device().type(), c10::DeviceType::CUDA);
}
LINE(12, MultiProcessorCount) {
  const int sms = at::cuda::getCurrentDeviceProperties()->multiProcessorCount;
  EXPECT_GT(sms, 0);
  EXPECT_EQ(at::cuda::getDeviceProperties(0)->multiProcessorCount, sms);
}
LINE(13, ComputeCapability) {
  auto* properties = at::cuda::getCurrentDeviceProperties();
  EXPECT_GE(properties->major * 10 + properties->minor, 75);
}
LINE(14, SharedMemoryOfABlock) {
  const auto bytes = at::cuda::getCurrentDeviceProperties()->sharedMemPerBlockOptin;
  EXPECT_GE(bytes, at::cuda::getCurrentDeviceProperties()->sharedMemPerBlock);
}
LINE(15, WarpSize) { EXPECT_EQ(at::cuda::warp_size(), 32); }
LINE(16, PeerAccess) {
  SCONCE_NEED_DEVICES(2);
  (void)at::cuda::canDeviceAccessPeer(0, 1);
}

// Streams.

LINE(17, HandleOfTheCurrentStream) {
  const cudaStream_t stream = at::cuda::getCurrentCUDAStream();
  EXPECT_EQ(stream, at::cuda::getCurrentCUDAStream().stream());
}
LINE(18, CurrentStreamOfATensorsDevice) {
  const auto x = ones({4});
  const auto stream = at::cuda::getCurrentCUDAStream(x.device().index()).stream();
  C10_CUDA_CHECK(cudaMemsetAsync(x.data_ptr(), 0, 16, stream));
  C10_CUDA_CHECK(cudaStreamSynchronize(stream));
  EXPECT_EQ(x.cpu().data_ptr<float>()[3], 0);
}
LINE(19, StreamGuardOfAPooledStream) {
  const auto stream = c10::cuda::getStreamFromPool(/*isHighPriority=*/true);
  c10::cuda::CUDAStreamGuard guard(stream);
  EXPECT_EQ(c10::cuda::getCurrentCUDAStream(), stream);
}
LINE(20, OptionalStreamGuard) {
  c10::cuda::OptionalCUDAStreamGuard guard;
  guard.reset_stream(at::cuda::getStreamFromPool(false, 0));
  EXPECT_TRUE(guard.current_stream().has_value());
}
LINE(21, MultiStreamGuard) {
  SCONCE_NEED_DEVICES(2);
  std::vector<c10::cuda::CUDAStream> streams;
  for (const auto i : c10::irange(2)) {
    streams.push_back(c10::cuda::getStreamFromPool(false, static_cast<c10::DeviceIndex>(i)));
  }
  const at::cuda::CUDAMultiStreamGuard guard(streams);
  EXPECT_EQ(at::cuda::getCurrentCUDAStream(1), streams[1]);
}
LINE(22, SetCurrentStream) {
  const auto stream = at::cuda::getStreamFromPool();
  at::cuda::setCurrentCUDAStream(stream);
  EXPECT_EQ(at::cuda::getCurrentCUDAStream(), stream);
}
LINE(23, StreamFromOutside) {
  const cudaStream_t raw = at::cuda::getStreamFromPool().stream();
  const auto stream = c10::cuda::getStreamFromExternal(raw, c10::cuda::current_device());
  EXPECT_EQ(stream.stream(), raw);
}
LINE(24, DefaultStream) {
  EXPECT_EQ(c10::cuda::getDefaultCUDAStream().stream(), nullptr);
  EXPECT_EQ(c10::cuda::getDefaultCUDAStream(), c10::cuda::getCurrentCUDAStream());
}
LINE(25, PackAndUnpack) {
  const auto stream = c10::cuda::getStreamFromPool();
  const c10::StreamData3 data = stream.pack3();
  EXPECT_EQ(data.device_type, c10::DeviceType::CUDA);
  EXPECT_EQ(c10::cuda::CUDAStream::unpack3(data.stream_id, data.device_index, data.device_type),
            stream);
}
LINE(26, StreamIdAndPriority) {
  const auto [least, greatest] = c10::cuda::CUDAStream::priority_range();
  EXPECT_LE(greatest, least);
  EXPECT_GT(c10::cuda::getStreamFromPool(-1).id(), c10::StreamId{0});
}
LINE(27, QueryAndSynchronize) {
  auto stream = at::cuda::getCurrentCUDAStream();
  stream.synchronize();
  EXPECT_TRUE(stream.query());
}
LINE(28, SideStreamWaitsForTheCurrentOne) {
  const auto side = c10::cuda::getStreamFromPool();
  at::cuda::CUDAEvent ready;
  ready.record(c10::cuda::getCurrentCUDAStream());
  ready.block(side);
  side.synchronize();
  EXPECT_TRUE(ready.query());
}
LINE(29, CaptureModeGuard) {
  const c10::cuda::CUDAStreamCaptureModeGuard guard{cudaStreamCaptureModeRelaxed};
  std::int32_t mode = -1;
  ASSERT_EQ(sconce_stream_exchange_capture_mode(2, &mode), SCONCE_OK);
  EXPECT_EQ(mode, 2);
}
LINE(30, CaptureStatus) {
  EXPECT_EQ(c10::cuda::currentStreamCaptureStatusMayInitCtx(), c10::cuda::CaptureStatus::None);
}
LINE(31, StreamsAsKeys) {
  std::unordered_map<c10::cuda::CUDAStream, int> uses;
  ++uses[c10::cuda::getCurrentCUDAStream()];
  EXPECT_EQ(uses.size(), 1U);
}

// Events.

LINE(32, EventWithoutTime) {
  at::cuda::CUDAEvent event(cudaEventDisableTiming);
  event.record();
  event.synchronize();
  EXPECT_EQ(event.flags(), sconce::cuda::EventFlags::None);
}
LINE(33, EventsMeasureTime) {
  at::cuda::CUDAEvent start(cudaEventDefault);
  at::cuda::CUDAEvent end(cudaEventDefault);
  start.record(at::cuda::getCurrentCUDAStream());
  end.record(at::cuda::getCurrentCUDAStream());
  end.synchronize();
  EXPECT_GE(start.elapsed_time(end), 0.0F);
}
LINE(34, HandleOfAnEvent) {
  at::cuda::CUDAEvent event;
  EXPECT_EQ(event.event(), nullptr);
  event.record();
  const cudaEvent_t raw = event.event();
  EXPECT_NE(raw, nullptr);
  EXPECT_EQ(static_cast<cudaEvent_t>(event), raw);
}
LINE(35, BlockingSyncAndDefaultFlags) {
  const at::cuda::CUDAEvent event(cudaEventBlockingSync | cudaEventDisableTiming);
  EXPECT_EQ(event.flags(), sconce::cuda::EventFlags::BlockingSync);
}
LINE(36, RecordOnce) {
  at::cuda::CUDAEvent event;
  event.recordOnce(at::cuda::getCurrentCUDAStream());
  const auto* raw = event.event();
  event.recordOnce(at::cuda::getStreamFromPool());
  EXPECT_EQ(event.event(), raw);
}
LINE(37, EventsInAVector) {
  std::vector<at::cuda::CUDAEvent> events(3);
  events.emplace_back(cudaEventDisableTiming);
  for (auto& event : events) {
    event.record();
  }
  EXPECT_TRUE(events.back().isCreated());
}

// Checks.

LINE(38, CudaCheckPasses) { C10_CUDA_CHECK(cudaSuccess); }
LINE(39, CudaCheckThrows) {
  const auto error = error_of([] { C10_CUDA_CHECK(cudaErrorInvalidValue); });
  EXPECT_EQ(error.backend_code(), 1);
#ifdef SCONCE_TEST_CUDA_HEADERS
  EXPECT_TRUE(contains(error.what(), "invalid argument")) << "the runtime's words";
#endif
  EXPECT_TRUE(contains(error.what(), "cudaErrorInvalidValue"));
}
LINE(40, LaunchCheck) {
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  last_error = cudaErrorLaunchFailure;
  EXPECT_THROW(C10_CUDA_KERNEL_LAUNCH_CHECK(), c10::Error);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}
LINE(41, AtCudaCheck) { EXPECT_THROW(AT_CUDA_CHECK(cudaErrorInvalidValue), c10::Error); }
LINE(42, DriverAndBlasChecks) {
  C10_CUDA_DRIVER_CHECK(0);
  EXPECT_THROW(TORCH_CUDABLAS_CHECK(7), c10::Error);
  EXPECT_THROW(AT_CUDNN_CHECK(3), c10::Error);
}
LINE(43, WarnsAndGoesOn) {
  testing::internal::CaptureStderr();
  C10_CUDA_CHECK_WARN(cudaErrorInvalidValue);
  EXPECT_TRUE(contains(testing::internal::GetCapturedStderr(), "cudaErrorInvalidValue"));
}
LINE(44, TorchCheckWithAMessage) {
  const auto error =
      error_of([] { TORCH_CHECK(1 > 2, "expected ", 3, " rows but got ", 4.5, " in x"); });
  EXPECT_TRUE(contains(error.what(), "expected 3 rows but got 4.5 in x"));
}
LINE(45, TorchCheckWithoutAMessage) {
  EXPECT_TRUE(contains(error_of([] { TORCH_CHECK(false); }).what(), "Expected false to be true"));
}
LINE(46, ShapesAreChecked) {
  const auto x = ones({3, 4});
  TORCH_CHECK(x.dim() == 2 && x.size(-1) == 4, "bad shape ", x.size(0));
  TORCH_CHECK(x.is_contiguous(), "x must be contiguous");
  TORCH_CHECK_EQ(x.stride(0), 4);
}
LINE(47, TypesAreChecked) {
  const auto x = ones({3});
  TORCH_CHECK(x.scalar_type() == at::ScalarType::Float, "x must be float");
  TORCH_CHECK(x.dtype() == torch::kFloat32);
}
LINE(48, InternalAssert) {
  TORCH_INTERNAL_ASSERT(true);
  EXPECT_EQ(status_of([] { TORCH_INTERNAL_ASSERT(false, "a defect"); }), SCONCE_ERROR_INTERNAL);
}
LINE(49, AtErrorAndAssertM) {
  AT_ASSERTM(true, "never");
  AT_ASSERT(true);
  AT_ASSERT(true, "a message", 1);
  EXPECT_THROW(AT_ERROR("no kernel for ", "this"), c10::Error);
}
LINE(50, WarnOnce) {
  testing::internal::CaptureStderr();
  for (int i = 0; i < 3; ++i) {
    TORCH_WARN_ONCE("deprecated ", i);
  }
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(contains(text, "deprecated 0"));
  EXPECT_FALSE(contains(text, "deprecated 1"));
}
LINE(51, NotImplemented) {
  EXPECT_THROW(TORCH_CHECK_NOT_IMPLEMENTED(false, "no int8"), c10::NotImplementedError);
}
LINE(52, OutOfMemoryIsCaught) {
  SCONCE_NEED_SIMULATOR();
  EXPECT_THROW((void)c10::cuda::CUDACachingAllocator::raw_alloc(std::size_t{1} << 50),
               c10::OutOfMemoryError);
}

// Dispatch.

LINE(53, DispatchOverFloatingTypes) {
  const auto x = ones({2});
  std::size_t bytes = 0;
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "kernel", [&] { bytes = sizeof(scalar_t); });
  EXPECT_EQ(bytes, 4U);
}
LINE(54, DispatchOverHalfToo) {
  const auto size =
      AT_DISPATCH_FLOATING_TYPES_AND2(at::ScalarType::Half, at::ScalarType::BFloat16, at::kBFloat16,
                                      "kernel", [&]() -> std::size_t { return sizeof(scalar_t); });
  EXPECT_EQ(size, 2U);
}
LINE(55, DispatchRefusesOtherTypes) {
  const auto error = error_of([] { AT_DISPATCH_FLOATING_TYPES(at::kInt, "nms_kernel", [] {}); });
  EXPECT_TRUE(contains(error.what(), "\"nms_kernel\" not implemented for 'Int'"));
}
LINE(56, DispatchOverIndices) {
  const bool is_long = AT_DISPATCH_INDEX_TYPES(
      at::kLong, "index", [&] { return std::is_same_v<index_t, std::int64_t>; });
  EXPECT_TRUE(is_long);
}
LINE(57, DispatchOverAllTypes) {
  int calls = 0;
  for (const auto type : {at::kByte, at::kChar, at::kShort, at::kInt, at::kLong, at::kDouble}) {
    AT_DISPATCH_ALL_TYPES(type, "fill",
                          [&] { calls += sizeof(scalar_t) == at::elementSize(type) ? 1 : 0; });
  }
  EXPECT_EQ(calls, 6);
}

}  // namespace
