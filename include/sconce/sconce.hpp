/// \file
/// Everything of the C++ side. Each header can also be included alone.
#ifndef SCONCE_SCONCE_HPP
#define SCONCE_SCONCE_HPP

#include <sconce/backend.hpp>
#include <sconce/blas.hpp>
#include <sconce/buffer.hpp>
#include <sconce/context.hpp>
#include <sconce/copy.hpp>
#include <sconce/copy_shapes.hpp>
#include <sconce/device.hpp>
#include <sconce/dim_vector.hpp>
#include <sconce/dlpack.hpp>
#include <sconce/dnn.hpp>
#include <sconce/error.hpp>
#include <sconce/event.hpp>
#include <sconce/fft.hpp>
#include <sconce/fwd.hpp>
#include <sconce/generator.hpp>
#include <sconce/guard.hpp>
#include <sconce/host_memory.hpp>
#include <sconce/int_array_ref.hpp>
#include <sconce/ipc.hpp>
#include <sconce/log.hpp>
#include <sconce/memory.hpp>
#include <sconce/memory_format.hpp>
#include <sconce/memory_pool.hpp>
#include <sconce/memory_snapshot.hpp>
#include <sconce/memory_stats.hpp>
#include <sconce/nvtx.hpp>
#include <sconce/operand.hpp>
#include <sconce/random.hpp>
#include <sconce/scalar.hpp>
#include <sconce/scalar_type.hpp>
#include <sconce/simulator.hpp>
#include <sconce/span.hpp>
#include <sconce/stream.hpp>
#include <sconce/tensor.hpp>
#include <sconce/tensor_base.hpp>
#include <sconce/tensor_body.hpp>
#include <sconce/tensor_factories.hpp>
#include <sconce/tensor_functions.hpp>
#include <sconce/tensor_operators.hpp>
#include <sconce/tensor_options.hpp>

#endif  // SCONCE_SCONCE_HPP
