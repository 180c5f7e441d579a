// Programs that would compile with another meaning than intended: numbers as flags of events,
// streams as conditions, guards without a name. The tests `refused_…` compile this file once for
// each case, and look for the compiler's message.
#include <sconce/sconce_all.hpp>
#include <vector>

// As in CUDA's headers, which are not needed here.
#define cudaEventDisableTiming 0x02

using namespace sconce::cuda;

void refused(const CUDAStream& stream, const std::vector<CUDAStream>& streams,
             const MemPool& pool) {
  (void)stream, (void)streams, (void)pool;
#if defined(CASE_event_of_cudas_flags)
  CUDAEvent event(cudaEventDisableTiming);
#elif defined(CASE_stream_as_condition)
  if (stream) {
  }
#elif defined(CASE_unnamed_objects)
  CUDAGuard(1);                                                                         // unnamed 1
  OptionalCUDAGuard(1);                                                                 // unnamed 2
  CUDAStreamGuard{stream};                                                              // unnamed 3
  OptionalCUDAStreamGuard{stream};                                                      // unnamed 4
  CUDAMultiStreamGuard{streams};                                                        // unnamed 5
  MemPoolGuard{pool};                                                                   // unnamed 6
  nvtx::Range("step");                                                                  // unnamed 7
  sconce::simulator::ManualScope();                                                     // unnamed 8
  CUDACachingAllocator::AttachedObserver(CUDACachingAllocator::OutOfMemoryObserver());  // unnamed 9
  DeviceBuffer(8);  // unnamed 10
  PinnedBuffer(8);  // unnamed 11
  MemPool();        // unnamed 12
  OpenedMemory();   // unnamed 13
  CUDAEvent();      // unnamed 14
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
