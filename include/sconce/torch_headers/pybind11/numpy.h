// Stands for PyTorch's header of this path.
#include <sconce/compat/torch.hpp>  // IWYU pragma: export
