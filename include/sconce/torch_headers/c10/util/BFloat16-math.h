// Stands for PyTorch's header of this path.
#include <sconce/compat/numbers/half_math.hpp>  // IWYU pragma: export
#include <sconce/compat/torch.hpp>              // IWYU pragma: export
