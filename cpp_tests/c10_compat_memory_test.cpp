// Lines that code for c10 and ATen typically has, in our own words, each with what it must do. The
// numbers are those of the guide's page "Code written for c10"; missing ones are there, with what
// to write instead.
// Here: memory, random numbers, libraries.
#include <mutex>

#include "c10_compat_support.hpp"

using namespace c10_lines;  // NOLINT

namespace {

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
  // Of slices it knows the address, of the memory of others nothing.
  const auto stream = at::cuda::getCurrentCUDAStream();
  const auto noted = [&](void* pointer) {
    return at::cuda::CachingHostAllocator_recordEvent(pointer, nullptr, stream);
  };
  EXPECT_TRUE(noted(static_cast<char*>(staging.get()) + 100));
  int ordinary = 0;
  EXPECT_FALSE(noted(&ordinary));
  EXPECT_FALSE(noted(nullptr));
  const auto block = c10::cuda::CUDACachingAllocator::get()->allocate(512);
  EXPECT_FALSE(noted(block.get()));
  void* const freed = sconce::cuda::CachingHostAllocator::raw_alloc(128);
  EXPECT_TRUE(noted(freed));
  sconce::cuda::CachingHostAllocator::raw_delete(freed);
  EXPECT_EQ(status_of([&] { (void)noted(freed); }), SCONCE_ERROR_INVALID_ARGUMENT);
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
