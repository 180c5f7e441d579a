/// \file
/// Forward declarations of the classes, and the inline namespace that holds the C++ side.
///
/// User code writes `sconce::` and `sconce::cuda::`. The symbols are in `sconce::v0`, an inline
/// namespace. Object files compiled with headers of another number have other symbols, so they fail
/// to link instead of sharing classes of different layouts. A forward declaration in user code
/// would be outside of that namespace: include this header instead.
#ifndef SCONCE_FWD_HPP
#define SCONCE_FWD_HPP

#if defined(__cplusplus) && __cplusplus < 201703L
#error \
    "Sconce's C++ headers need C++17 (-std=c++17); C and older C++ can include <sconce/sconce_all.h>"
#endif

#include <cstdint>

/// \cond
// Marks constructors of owners and guards: an object without a name is destroyed at once. GCC 9 and
// older warn about the attribute itself there.
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 10
#define SCONCE_NODISCARD_CTOR
#else
#define SCONCE_NODISCARD_CTOR [[nodiscard]]
#endif

namespace sconce {

// The number increases when a class changes its layout or an inline function its meaning. Every
// header writes it out: not every compiler finds the namespaces inside of it otherwise.
inline namespace v0 {

class BackwardGraph;
class Device;
class Error;
class IntArrayRef;
class NotSupportedError;
class OutOfMemoryError;
class Scalar;
class Store;
class Tensor;
class TensorBase;
class TensorOptions;
class TensorOrScalar;
enum class Backend : std::int32_t;
enum class DeviceType : std::int8_t;
struct Job;
struct Options;

namespace autograd {

class Tape;
class Variable;
struct OperandShape;

}  // namespace autograd

namespace distributed {

class Communicator;
class CommunicatorBase;
class GroupGuard;
class ReduceOp;
class Work;
struct AsyncOp;
struct CommOptions;
struct ProcessGroup;
struct SyncOp;
struct UniqueId;

}  // namespace distributed

namespace log {

enum class Level : std::int32_t;

}  // namespace log

namespace cuda {

class Context;
class CUDAEvent;
class CUDAGenerator;
class CUDAGraph;
class CUDAGuard;
class CUDAMultiStreamGuard;
class CUDAStream;
class CUDAStreamGuard;
class CuFFTPlanCache;
class Device;
class DeviceBuffer;
class DimVector;
class GraphGuard;
class Kernel;
class MemPool;
class MemPoolGuard;
class Module;
class OpenedMemory;
class OptionalCUDAGuard;
class OptionalCUDAStreamGuard;
class PinnedBuffer;
class ReplicaError;
enum class CaptureMode : std::int32_t;
enum class CaptureStatus : std::int32_t;
enum class EventFlags : std::uint32_t;
enum class FFTDirection : std::int32_t;
enum class FFTNorm : std::int32_t;
enum class Float32MatmulPrecision : std::int32_t;
enum class MemoryFormat : std::int8_t;
enum class ScalarType : std::int32_t;
struct BFloat16;
struct BestBlock;
struct ComplexHalf;
struct Convolution;
struct Dim3;
struct FFT;
struct Half;
struct IpcMemoryHandle;
struct LaunchConfig;
struct Matmul;
struct MemoryInfo;
struct MempoolId;
struct StreamData3;
template <class Input, class Result>
class GraphedCallable;
template <class... Params>
class TypedKernel;
template <class T>
class DeviceSpan;
template <class T>
class Rows;
template <class T>
class Span;
template <class T>
class Strided;
template <class T>
struct CppTypeToScalarType;
template <class T>
struct scalar_value_type;

namespace CUDACachingAllocator {

class AttachedObserver;
struct BlockInfo;
struct SegmentInfo;
struct SnapshotInfo;
struct TraceEntry;

}  // namespace CUDACachingAllocator

namespace nvtx {

class Range;

}  // namespace nvtx
}  // namespace cuda

namespace simulator {

class Block;
class DeviceMemory;
class ManualScope;
struct KernelFigures;
struct Thread;
template <class T>
class DevicePointer;
template <class T>
class Element;

}  // namespace simulator
}  // namespace v0
}  // namespace sconce
/// \endcond

#endif  // SCONCE_FWD_HPP
