// Programs that would compile and mean something else: numbers as flags of events, streams as
// conditions, guards without a name. The tests `refused_…` compile it once for each case, and look
// for the words in which it is refused.
#include <sconce/sconce.hpp>
#include <vector>

// As in CUDA's headers, which are not needed here.
#define cudaEventDisableTiming 0x02
enum CUDAsFlags { CU_EVENT_DISABLE_TIMING = 2 };

using namespace sconce::cuda;

void refused(const CUDAStream& stream, const std::vector<CUDAStream>& streams,
             const MemPool& pool) {
  (void)stream, (void)streams, (void)pool;
#if defined(CASE_event_of_cudas_flags)
  CUDAEvent event(cudaEventDisableTiming);
#elif defined(CASE_event_of_the_drivers_flags)
  CUDAEvent event{CU_EVENT_DISABLE_TIMING};
#elif defined(CASE_event_of_the_c_api)
  CUDAEvent event(SCONCE_EVENT_TIMING | SCONCE_EVENT_BLOCKING_SYNC);
#elif defined(CASE_event_of_zero)
  CUDAEvent event(0);
#elif defined(CASE_event_of_a_bool)
  CUDAEvent event(true);
#elif defined(CASE_stream_as_condition)
  if (stream) {
  }
#elif defined(CASE_stream_negated)
  (void)!stream;
#elif defined(CASE_unnamed_device_guard)
  CUDAGuard(1);
#elif defined(CASE_unnamed_optional_device_guard)
  OptionalCUDAGuard(1);
#elif defined(CASE_unnamed_stream_guard)
  CUDAStreamGuard{stream};
#elif defined(CASE_unnamed_optional_stream_guard)
  OptionalCUDAStreamGuard{stream};
#elif defined(CASE_unnamed_streams_guard)
  CUDAMultiStreamGuard{streams};
#elif defined(CASE_unnamed_pool_guard)
  MemPoolGuard{pool};
#elif defined(CASE_unnamed_range)
  nvtx::Range("step");
#elif defined(CASE_unnamed_manual_scope)
  sconce::simulator::ManualScope();
#elif defined(CASE_unnamed_observer)
  CUDACachingAllocator::AttachedObserver(CUDACachingAllocator::OutOfMemoryObserver());
#elif defined(CASE_unnamed_buffer)
  DeviceBuffer(8);
#elif defined(CASE_unnamed_pinned_buffer)
  PinnedBuffer(8);
#elif defined(CASE_unnamed_pool)
  MemPool();
#elif defined(CASE_guard_declared_by_accident)
  CUDAStreamGuard(getDefaultCUDAStream);
#else
  CUDAEvent event(EventFlags::Timing | EventFlags::BlockingSync);
  CUDAEvent cudas(fromCUDAEventFlags(cudaEventDisableTiming));
  const CUDAGuard guard(1);
  const CUDAStreamGuard stream_guard(stream);
  (void)(stream == getDefaultCUDAStream() || stream.stream() == nullptr);
#endif
}
