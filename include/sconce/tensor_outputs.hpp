/// \file
/// Operations whose results go to tensors of the caller's choice, under ATen's names:
/// `add_out(out, a, b)`. `<sconce/tensor.hpp>` has all of tensors.
///
/// `out` keeps its memory and strides if it has the result's shape. Otherwise it is resized, with a
/// warning if it has elements; an undefined one becomes a new tensor. It may be an operand, which
/// is not resized. The result is converted to its type. Each function returns `out`, and
/// corresponds to `at::` with the same name, and to `torch.` with `out=`.
///
/// Each function throws an `Error`: `SCONCE_ERROR_INVALID_ARGUMENT` if the result cannot be
/// converted to the type of `out`, if `out` shares a part of its memory with an operand, or has
/// several elements in one place; `SCONCE_ERROR_CROSS_DEVICE` if it is on another device.
#ifndef SCONCE_TENSOR_OUTPUTS_HPP
#define SCONCE_TENSOR_OUTPUTS_HPP

#include <sconce/tensor_binary.hpp>
#include <sconce/tensor_factories.hpp>
#include <sconce/tensor_fft.hpp>
#include <sconce/tensor_fftn.hpp>
#include <sconce/tensor_ordering.hpp>
#include <sconce/tensor_products.hpp>
#include <sconce/tensor_reductions.hpp>
#include <sconce/tensor_unary.hpp>

#endif  // SCONCE_TENSOR_OUTPUTS_HPP
