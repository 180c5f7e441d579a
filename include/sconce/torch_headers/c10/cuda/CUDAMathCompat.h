// Stands for PyTorch's header of this path.
#include <sconce/compat/kernels/device_math.cuh>  // IWYU pragma: export
#include <sconce/compat/torch.hpp>                // IWYU pragma: export

namespace sconce {
inline namespace v0 {
namespace compat {
namespace device_math {}
}  // namespace compat
}  // namespace v0
}  // namespace sconce
namespace c10 {
namespace cuda {
namespace compat {
using namespace ::sconce::compat::device_math;
}  // namespace compat
}  // namespace cuda
}  // namespace c10
