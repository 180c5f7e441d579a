/// \file
/// Names of ATen around tensors that Sconce's own headers lack. Part of `<sconce/compat/c10.hpp>`.
#ifndef SCONCE_COMPAT_TENSOR_TENSOR_HPP
#define SCONCE_COMPAT_TENSOR_TENSOR_HPP

#include <sconce/compat/tensor/arguments.hpp>
#include <sconce/compat/tensor/autograd.hpp>
#include <sconce/compat/tensor/dispatch_v2.hpp>
#include <sconce/compat/tensor/factories.hpp>
#include <sconce/compat/tensor/functional.hpp>
#include <sconce/compat/tensor/indexing.hpp>
#include <sconce/compat/tensor/intrusive_ptr.hpp>
#include <sconce/compat/tensor/ivalue.hpp>
#include <sconce/compat/tensor/kernels.hpp>
#include <sconce/compat/tensor/lists.hpp>
#include <sconce/compat/tensor/modes.hpp>
#include <sconce/compat/tensor/operations.hpp>
#include <sconce/compat/tensor/types.hpp>

#endif  // SCONCE_COMPAT_TENSOR_TENSOR_HPP
