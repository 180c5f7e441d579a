/// \file
/// Operations on tensors as functions, under torch's names. `log` is a method only: `sconce::log`
/// is the namespace of messages.
#ifndef SCONCE_TENSOR_FUNCTIONS_HPP
#define SCONCE_TENSOR_FUNCTIONS_HPP

#include <sconce/tensor/binary.hpp>
#include <sconce/tensor/convolutions.hpp>
#include <sconce/tensor/masks.hpp>
#include <sconce/tensor/ordering.hpp>
#include <sconce/tensor/products.hpp>
#include <sconce/tensor/reductions.hpp>
#include <sconce/tensor/unary.hpp>
#include <sconce/tensor/views.hpp>

#endif  // SCONCE_TENSOR_FUNCTIONS_HPP
