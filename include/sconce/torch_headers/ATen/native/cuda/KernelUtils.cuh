// Stands for PyTorch's header of this path.
#include <sconce/compat/numbers/atomic.cuh>  // IWYU pragma: export
#include <sconce/compat/torch.hpp>           // IWYU pragma: export
