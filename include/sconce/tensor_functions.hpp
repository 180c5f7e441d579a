/// \file
/// Operations on tensors as functions, under torch's names. `log` is a method only: `sconce::log`
/// is the namespace of messages.
#ifndef SCONCE_TENSOR_FUNCTIONS_HPP
#define SCONCE_TENSOR_FUNCTIONS_HPP

#include <sconce/tensor_binary.hpp>
#include <sconce/tensor_convolutions.hpp>
#include <sconce/tensor_ordering.hpp>
#include <sconce/tensor_products.hpp>
#include <sconce/tensor_reductions.hpp>
#include <sconce/tensor_unary.hpp>
#include <sconce/tensor_views.hpp>

#endif  // SCONCE_TENSOR_FUNCTIONS_HPP
