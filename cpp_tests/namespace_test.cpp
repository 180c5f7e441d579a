// The inline namespace: user code and its forward declarations do not name it, symbols contain it.
#include <sconce/fwd.hpp>

// A user's header, which includes only the forward declarations.
namespace user {
bool is_before(const sconce::cuda::CUDAStream& a, const sconce::cuda::CUDAStream& b);
bool has(const sconce::cuda::DeviceSpan<float>& span, sconce::cuda::ScalarType type);
bool failed(const sconce::Error& error, const sconce::Options& options);
struct Number;
}  // namespace user

#include <gtest/gtest.h>

#include <sconce/sconce_all.hpp>
#include <string>
#include <type_traits>
#include <typeinfo>

// A forward declaration in user code, after any header of the library.
namespace sconce::cuda {
class CUDAEvent;
template <class T>
class Rows;
}  // namespace sconce::cuda

struct user::Number {
  float value;
};

// Names of torch's, as a ported program spells them.
namespace at {
namespace cuda = ::sconce::cuda;
}  // namespace at

// A specialisation in user code.
template <>
struct at::cuda::CppTypeToScalarType<user::Number> : at::cuda::CppTypeToScalarType<float> {};

namespace user {
bool is_before(const sconce::cuda::CUDAStream& a, const sconce::cuda::CUDAStream& b) {
  return a < b;
}
bool has(const sconce::cuda::DeviceSpan<float>& span, sconce::cuda::ScalarType type) {
  return !span.empty() && type == sconce::cuda::ScalarType::Float;
}
bool failed(const sconce::Error& error, const sconce::Options& options) {
  return error.status() != SCONCE_OK && options.backend == sconce::Backend::None;
}
}  // namespace user

namespace {

template <class T>
std::string symbol_of() {
  return typeid(T*).name();
}

TEST(NamespaceTest, ForwardDeclarationsNameTheClassesOfTheLibrary) {
  const sconce::cuda::CUDAStream stream(sconce_stream{0, 0, 0});
  EXPECT_FALSE(user::is_before(stream, stream));
  EXPECT_FALSE(user::has({}, sconce::cuda::ScalarType::Float));
  EXPECT_TRUE(user::failed(sconce::Error(SCONCE_ERROR_IO, "disk"), sconce::Options()));
  static_assert(std::is_same_v<at::cuda::CUDAEvent, sconce::v0::cuda::CUDAEvent>);
  static_assert(sconce::detail::scalar_type_v<user::Number> == sconce::cuda::ScalarType::Float);
}

// A header without the inline namespace would have symbols without it.
TEST(NamespaceTest, SymbolsCarryTheNumber) {
  using namespace sconce;
  for (const std::string& symbol : {
           symbol_of<Backend>(),
           symbol_of<Options>(),
           symbol_of<Error>(),
           symbol_of<OutOfMemoryError>(),
           symbol_of<Device>(),
           symbol_of<IntArrayRef>(),
           symbol_of<Scalar>(),
           symbol_of<Tensor>(),
           symbol_of<TensorBase>(),
           symbol_of<TensorOptions>(),
           symbol_of<TensorOrScalar>(),
           symbol_of<log::Level>(),
           symbol_of<simulator::ManualScope>(),
           symbol_of<detail::FreeDeviceMemory>(),
           symbol_of<detail::Filled>(),
           symbol_of<detail::Operand<float>>(),
           symbol_of<cuda::nvtx::Range>(),
           symbol_of<cuda::Context>(),
           symbol_of<cuda::CUDAEvent>(),
           symbol_of<cuda::CUDAGenerator>(),
           symbol_of<cuda::CUDAGuard>(),
           symbol_of<cuda::CUDAStream>(),
           symbol_of<cuda::CUDACachingAllocator::AttachedObserver>(),
           symbol_of<cuda::CUDACachingAllocator::SnapshotInfo>(),
           symbol_of<cuda::Convolution>(),
           symbol_of<cuda::CuFFTPlanCache>(),
           symbol_of<cuda::Device>(),
           symbol_of<cuda::DeviceBuffer>(),
           symbol_of<cuda::DimVector>(),
           symbol_of<cuda::Matmul>(),
           symbol_of<cuda::MemPool>(),
           symbol_of<cuda::OpenedMemory>(),
           symbol_of<cuda::Rows<float>>(),
           symbol_of<cuda::ScalarType>(),
           symbol_of<cuda::Span<int>>(),
       }) {
    EXPECT_NE(symbol.find("6sconce2v0"), std::string::npos) << symbol;
  }
  EXPECT_NE(symbol_of<cuda::CUDAStream>().find("6sconce2v04cuda10CUDAStream"), std::string::npos);
}

}  // namespace
