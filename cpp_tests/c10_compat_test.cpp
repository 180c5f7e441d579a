// Lines that code for c10 and ATen typically has, in our own words, each with what it must do. The
// numbers are those of the guide's page "Code written for c10"; missing ones are there, with what
// to write instead.
#define SCONCE_C10_COMPAT_NO_CUDA_RUNTIME
#include <cstdint>
#include <mutex>
#include <sconce/c10_compat.hpp>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "fixture.hpp"

namespace c10 = sconce::compat::c10;
namespace at = sconce::compat::at;
namespace torch = sconce::compat::torch;

// What such code has from CUDA's own headers, on top of this library.
using cudaStream_t = CUstream_st*;
using cudaEvent_t = CUevent_st*;
enum cudaError_t { cudaSuccess = 0, cudaErrorInvalidValue = 1, cudaErrorLaunchFailure = 719 };
enum cudaStreamCaptureMode { cudaStreamCaptureModeRelaxed = 2 };
enum : unsigned { cudaEventDefault = 0, cudaEventBlockingSync = 1, cudaEventDisableTiming = 2 };
struct cudaIpcEventHandle_t {
  char reserved[64];
};
struct dim3 {
  explicit dim3(unsigned x_) : x(x_) {}
  unsigned x;
};
using cublasLtHandle_t = cublasLtContext*;
using cublasHandle_t = cublasContext*;

namespace {

cudaError_t last_error = cudaSuccess;
cudaError_t cudaGetLastError() { return std::exchange(last_error, cudaSuccess); }
cudaError_t cudaMemsetAsync(void* ptr, int value, std::size_t bytes, cudaStream_t stream) {
  sconce::cuda::memory_set(ptr, static_cast<std::uint8_t>(value), bytes,
                           sconce::cuda::getStreamFromExternal(stream));
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  sconce::cuda::getStreamFromExternal(stream).synchronize();
  return cudaSuccess;
}

using support::contains;
using support::error_of;
using support::status_of;

static_assert(std::is_same_v<at::cuda::CUDAGraph, sconce::cuda::CUDAGraph>);

class C10CompatTest : public support::WorkFixture {};

/// The status of the error that `action` throws; `SCONCE_OK` if it throws none.
template <class Action>
sconce::Status status_or_ok(Action&& action) {
  try {
    action();
  } catch (const sconce::Error& error) {
    return error.status();
  }
  return SCONCE_OK;
}

/// A line of such code: its number in the guide's list, and a title.
#define LINE(number, title) TEST_F(C10CompatTest, Line##number##_##title)

torch::Tensor ones(std::initializer_list<std::int64_t> sizes) {
  return torch::full(sizes, 1.0,
                     torch::TensorOptions().dtype(torch::kFloat32).device(torch::kCUDA));
}

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
}
LINE(6, GuardOfTheCpuIsRefused) {
  EXPECT_EQ(status_of([] { const c10::cuda::CUDAGuard guard(c10::Device(c10::kCPU)); }),
            SCONCE_ERROR_INVALID_ARGUMENT);
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

// Memory.

LINE(58, RawAllocationOnAStream) {
  const cudaStream_t stream = at::cuda::getStreamFromPool();
  void* workspace = c10::cuda::CUDACachingAllocator::raw_alloc_with_stream(1 << 12, stream);
  C10_CUDA_CHECK(cudaMemsetAsync(workspace, 0, 1 << 12, stream));
  c10::cuda::CUDACachingAllocator::raw_delete(workspace);
}
LINE(59, AllocateThroughTheAllocator) {
  const auto before = sconce::cuda::memory_allocated();
  {
    auto workspace = c10::cuda::CUDACachingAllocator::get()->allocate(1 << 20);
    EXPECT_NE(workspace.get(), nullptr);
    EXPECT_EQ(workspace.device(), c10::Device(c10::kCUDA, 0));
    EXPECT_GT(sconce::cuda::memory_allocated(), before);
  }
  EXPECT_EQ(sconce::cuda::memory_allocated(), before);
}
LINE(60, DataPtrGivesUpAndTakesBack) {
  auto* allocator = at::cuda::getCUDADeviceAllocator();
  c10::DataPtr pointer = allocator->allocate(512);
  c10::DataPtr moved = std::move(pointer);
  void* raw = moved.release_context();
  EXPECT_EQ(moved.get(), raw);
  allocator->raw_deallocate(raw);
}
LINE(61, RecordStreamOfADataPtr) {
  SCONCE_NEED_SIMULATOR();
  auto pointer = c10::cuda::CUDACachingAllocator::get()->allocate(512);
  const auto side = c10::cuda::getStreamFromPool();
  sconce::simulator::set_manual(true);
  sconce::cuda::memory_set(pointer.get(), 1, 512, side);
  c10::cuda::CUDACachingAllocator::recordStream(pointer, side);
  void* address = pointer.get();
  pointer.clear();
  void* next = c10::cuda::CUDACachingAllocator::raw_alloc(512);
  EXPECT_NE(next, address) << "work of the side stream still uses it";
  c10::cuda::CUDACachingAllocator::raw_delete(next);
  sconce::simulator::run_until_idle();
}
LINE(62, FiguresAsArrays) {
  using c10::cuda::CUDACachingAllocator::StatType;
  const auto block = c10::cuda::CUDACachingAllocator::get()->allocate(4096);
  const auto large_block = c10::cuda::CUDACachingAllocator::get()->allocate(4 << 20);
  const auto stats = c10::cuda::CUDACachingAllocator::getDeviceStats(0);
  const auto bytes = [&](StatType type) {
    return stats.allocated_bytes[static_cast<std::size_t>(type)].current;
  };
  EXPECT_GE(bytes(StatType::AGGREGATE), 4096 + (4 << 20));
  EXPECT_GE(bytes(StatType::LARGE_POOL), 4 << 20);
  EXPECT_EQ(bytes(StatType::AGGREGATE), bytes(StatType::SMALL_POOL) + bytes(StatType::LARGE_POOL));
  const auto& reserved = stats.reserved_bytes[0];
  EXPECT_GE(reserved.peak, reserved.current);
}
LINE(63, EmptyCache) {
  (void)c10::cuda::CUDACachingAllocator::get()->allocate(1 << 20);
  c10::cuda::CUDACachingAllocator::emptyCache();
  EXPECT_EQ(sconce::cuda::memory_reserved(), 0U);
}
LINE(64, PinnedMemory) {
  auto staging = at::cuda::getCachingHostAllocator()->allocate(256);
  EXPECT_TRUE(sconce::cuda::CachingHostAllocator::isPinned(staging.get()));
  static_cast<char*>(staging.get())[255] = 1;
  EXPECT_TRUE(at::cuda::CachingHostAllocator_recordEvent(staging.get(), staging.get_context(),
                                                         at::cuda::getCurrentCUDAStream()));
}
LINE(65, ADeleterOfTheProgram) {
  int freed = 0;
  {
    c10::DataPtr pointer(
        &freed, &freed, [](void* c) { ++*static_cast<int*>(c); }, c10::kCPU);
  }
  EXPECT_EQ(freed, 1);
}
LINE(66, MemoryPoolOfAScope) {
  c10::cuda::MemPool pool;
  {
    const c10::cuda::MemPoolContext context(&pool);
    EXPECT_EQ(c10::cuda::MemPoolContext::getActiveMemPool(), &pool);
    const auto block = c10::cuda::CUDACachingAllocator::get()->allocate(512);
  }
  EXPECT_EQ(c10::cuda::MemPoolContext::getActiveMemPool(), nullptr);
  EXPECT_GT(pool.trim(), 0U) << "the block came from the pool";
}
LINE(67, TensorsAsWorkspace) {
  const auto x = ones({4});
  auto workspace = torch::empty({1024}, x.options().dtype(torch::kUInt8));
  EXPECT_EQ(workspace.nbytes(), 1024);
  EXPECT_NE(workspace.data_ptr<std::uint8_t>(), nullptr);
  EXPECT_EQ(at::empty_like(x).numel(), 4);
}

// Random numbers.

LINE(68, PhiloxOfTheDefaultGenerator) {
  auto gen = at::get_generator_or_default<at::CUDAGeneratorImpl>(
      c10::nullopt, at::cuda::detail::getDefaultCUDAGenerator());
  gen->set_current_seed(42);
  at::PhiloxCudaState rng;
  {
    const std::lock_guard<std::mutex> lock(gen->mutex_);
    rng = gen->philox_cuda_state(5);
  }
  const auto [seed, offset] = at::cuda::philox::unpack(rng);
  EXPECT_EQ(seed, 42U);
  EXPECT_EQ(offset, 0U);
  EXPECT_EQ(gen->get_offset(), 8U) << "5 rounded up to a multiple of 4";
}
LINE(69, GeneratorsOfTheProgram) {
  auto gen = at::cuda::detail::createCUDAGenerator();
  gen.set_current_seed(7);
  auto* impl = at::check_generator<at::CUDAGeneratorImpl>(gen);
  EXPECT_EQ(impl->philox_engine_inputs(4), std::make_pair(std::uint64_t{7}, std::uint64_t{0}));
  EXPECT_THROW((void)at::check_generator<at::CUDAGeneratorImpl>(c10::nullopt), c10::Error);
}
LINE(70, ManualSeed) {
  const auto& gen = at::cuda::detail::getDefaultCUDAGenerator(0);
  const_cast<at::Generator&>(gen).set_current_seed(3);
  EXPECT_EQ(gen.current_seed(), 3U);
  EXPECT_EQ(sconce::cuda::getDefaultCUDAGenerator(0).current_seed(), 3U);
}

// Libraries and settings.

LINE(71, CublasHandles) {
  const cublasHandle_t handle = at::cuda::getCurrentCUDABlasHandle();
  const cublasLtHandle_t lt = at::cuda::getCurrentCUDABlasLtHandle();
  EXPECT_EQ(static_cast<void*>(lt), static_cast<void*>(handle));
}
LINE(72, CudnnHandle) {
  const auto status = status_or_ok([] { EXPECT_NE(at::native::getCudnnHandle(), nullptr); });
  EXPECT_TRUE(status == SCONCE_OK || status == SCONCE_ERROR_LIBRARY_NOT_FOUND);
}
LINE(73, GlobalContext) {
  const bool before = at::globalContext().allowTF32CuBLAS();
  at::globalContext().setAllowTF32CuBLAS(!before);
  EXPECT_EQ(at::globalContext().allowTF32CuBLAS(), !before);
  at::globalContext().setAllowTF32CuBLAS(before);
  EXPECT_FALSE(at::globalContext().deterministicCuDNN());
}

// Arithmetic of launches.

LINE(74, CeilDiv) {
  const std::int64_t n = 1000;
  const dim3 grid(static_cast<unsigned>(at::ceil_div(n, std::int64_t{256})));
  EXPECT_EQ(grid.x, 4U);
  EXPECT_EQ(at::cuda::ATenCeilDiv(9, 4), 3);
  EXPECT_EQ(at::round_up(9, 4), 12);
}
LINE(75, RangesOfIntegers) {
  std::int64_t sum = 0;
  for (const auto i : c10::irange(std::int64_t{2}, std::int64_t{5})) {
    sum += i;
  }
  for ([[maybe_unused]] const auto i : c10::irange(-3)) {
    sum = -1;
  }
  EXPECT_EQ(sum, 9);
}

LINE(76, ConstAndMutableAddresses) {
  const auto x = ones({4});
  float* written = x.mutable_data_ptr<float>();
  const float* read = x.const_data_ptr<float>();
  EXPECT_EQ(written, read);
  EXPECT_EQ(x.const_data_ptr(), x.mutable_data_ptr());
}

}  // namespace
