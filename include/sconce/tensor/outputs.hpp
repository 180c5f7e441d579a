/// \file
/// Operations that write their results to tensors of the caller, under ATen's names:
/// `add_out(out, a, b)`. `<sconce/tensor/tensor.hpp>` includes all headers of tensors.
///
/// `out` keeps its memory and strides if it has the result's shape. Otherwise it is resized, with a
/// warning if it has elements. An undefined `out` becomes a new tensor. `out` may be an operand,
/// and then is not resized. The result is converted to the type of `out`. Each function returns
/// `out`, and corresponds to the function of `at::` with the same name, and to that of `torch.`
/// with `out=`.
///
/// Each function throws an `Error`: `SCONCE_ERROR_INVALID_ARGUMENT` if the result cannot be
/// converted to the type of `out`, if `out` partly overlaps an operand in memory, or has several
/// elements in one place; `SCONCE_ERROR_CROSS_DEVICE` if `out` is on another device.
#ifndef SCONCE_TENSOR_OUTPUTS_HPP
#define SCONCE_TENSOR_OUTPUTS_HPP

#include <sconce/tensor/binary.hpp>
#include <sconce/tensor/factories.hpp>
#include <sconce/tensor/fft.hpp>
#include <sconce/tensor/fftn.hpp>
#include <sconce/tensor/ordering.hpp>
#include <sconce/tensor/products.hpp>
#include <sconce/tensor/reductions.hpp>
#include <sconce/tensor/unary.hpp>

#endif  // SCONCE_TENSOR_OUTPUTS_HPP
