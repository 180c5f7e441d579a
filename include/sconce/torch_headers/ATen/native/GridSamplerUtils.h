// Stands for PyTorch's header of this path.
#include <sconce/compat/kernels/grid_sampler.cuh>  // IWYU pragma: export
#include <sconce/compat/torch.hpp>                 // IWYU pragma: export
