/// \file
/// Tensors in NumPy's files (.npy, versions 1 to 3).
#ifndef SCONCE_TOOLS_RUN_NPY_HPP
#define SCONCE_TOOLS_RUN_NPY_HPP

#include <sconce/tensor.hpp>
#include <string>

/// Reads a tensor to memory of the CPU. Throws std::runtime_error, which names the file, for what
/// is no such file and for arrays in column-major order or of other byte orders.
sconce::Tensor read_npy(const std::string& path);

/// Writes a tensor of any device. BF16 is written as F32, since NumPy has no such type.
void write_npy(const std::string& path, const sconce::Tensor& tensor);

#endif  // SCONCE_TOOLS_RUN_NPY_HPP
