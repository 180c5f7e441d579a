/// \file
/// Tensors with torch's names: memory of a device or of the CPU with a type and a shape.
///
/// \code
/// auto a = sconce::ones({2, 3}, sconce::device(1));  // on device 1
/// auto b = a * 2.0 + sconce::rand_like(a);           // on device 1, on its current stream
/// std::cout << b.to(sconce::kCPU) << '\n';
/// \endcode
#ifndef SCONCE_TENSOR_TENSOR_HPP
#define SCONCE_TENSOR_TENSOR_HPP

#include <sconce/tensor/body.hpp>
#include <sconce/tensor/factories.hpp>
#include <sconce/tensor/fft.hpp>
#include <sconce/tensor/fftn.hpp>
#include <sconce/tensor/functions.hpp>
#include <sconce/tensor/operators.hpp>
#include <sconce/tensor/outputs.hpp>

#endif  // SCONCE_TENSOR_TENSOR_HPP
