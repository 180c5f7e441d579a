/// \file
/// Tensors with torch's names: memory of a device or of the CPU with a type and a shape.
///
/// \code
/// auto a = sconce::ones({2, 3}, sconce::device(1));  // on device 1
/// auto b = a * 2.0 + sconce::rand_like(a);           // on device 1, on its current stream
/// std::cout << b.to(sconce::kCPU) << '\n';
/// \endcode
#ifndef SCONCE_TENSOR_HPP
#define SCONCE_TENSOR_HPP

#include <sconce/tensor_body.hpp>
#include <sconce/tensor_factories.hpp>
#include <sconce/tensor_fft.hpp>
#include <sconce/tensor_fftn.hpp>
#include <sconce/tensor_functions.hpp>
#include <sconce/tensor_operators.hpp>
#include <sconce/tensor_outputs.hpp>

#endif  // SCONCE_TENSOR_HPP
