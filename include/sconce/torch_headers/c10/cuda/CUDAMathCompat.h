// Stands for PyTorch's header of this path.
#include <sconce/compat/kernels/device_math_names.hpp>  // IWYU pragma: export
#include <sconce/compat/torch.hpp>                      // IWYU pragma: export
