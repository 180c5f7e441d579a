/// \file
/// The class `Tensor` with the definitions of its methods, and its text.
/// `<sconce/tensor/tensor.hpp>` includes all headers of tensors.
#ifndef SCONCE_TENSOR_BODY_HPP
#define SCONCE_TENSOR_BODY_HPP

#include <sconce/tensor/binary.hpp>
#include <sconce/tensor/class.hpp>
#include <sconce/tensor/copies.hpp>
#include <sconce/tensor/fills.hpp>
#include <sconce/tensor/masks.hpp>
#include <sconce/tensor/ordering.hpp>
#include <sconce/tensor/products.hpp>
#include <sconce/tensor/reductions.hpp>
#include <sconce/tensor/text.hpp>
#include <sconce/tensor/unary.hpp>
#include <sconce/tensor/values.hpp>
#include <sconce/tensor/views.hpp>

#endif  // SCONCE_TENSOR_BODY_HPP
