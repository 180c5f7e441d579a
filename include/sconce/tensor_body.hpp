/// \file
/// The class `Tensor` with the definitions of its methods, and its text. `<sconce/tensor.hpp>`
/// includes all headers of tensors.
#ifndef SCONCE_TENSOR_BODY_HPP
#define SCONCE_TENSOR_BODY_HPP

#include <sconce/tensor_binary.hpp>
#include <sconce/tensor_class.hpp>
#include <sconce/tensor_copies.hpp>
#include <sconce/tensor_fills.hpp>
#include <sconce/tensor_ordering.hpp>
#include <sconce/tensor_products.hpp>
#include <sconce/tensor_reductions.hpp>
#include <sconce/tensor_text.hpp>
#include <sconce/tensor_unary.hpp>
#include <sconce/tensor_values.hpp>
#include <sconce/tensor_views.hpp>

#endif  // SCONCE_TENSOR_BODY_HPP
