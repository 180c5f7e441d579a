/// \file
/// Tensors in NumPy's files (.npy, versions 1 to 3).
#ifndef SCONCE_TOOLS_RUN_NPY_HPP
#define SCONCE_TOOLS_RUN_NPY_HPP

#include <cstdint>
#include <sconce/tensor/tensor.hpp>
#include <string>

/// Reads a tensor to memory of the CPU. An array in column-major order keeps it.
///
/// `wanted` is the type that is needed (`SCONCE_DTYPE_…`), or -1. It matters for types that NumPy
/// does not have: floating-point types of 8 bits and BF16. Arrays of other floating-point types are
/// converted to them, and the bytes that `ml_dtypes` saves (`V1`, `V2`) are taken as they are.
/// Throws std::runtime_error, which names the file, for what is no such file or is damaged, and for
/// other types and byte orders.
sconce::Tensor read_npy(const std::string& path, std::int32_t wanted = -1);

/// Writes a tensor of any device. Floating-point types that NumPy does not have are written as F32,
/// which represents all their numbers.
void write_npy(const std::string& path, const sconce::Tensor& tensor);

#endif  // SCONCE_TOOLS_RUN_NPY_HPP
