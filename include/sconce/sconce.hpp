/// \file
/// The runtime: devices, guards, streams, events, memory, copies, kernels, random numbers, graphs.
/// `<sconce/sconce_all.hpp>` also includes libraries, tensors, collectives and the simulator. Each
/// header can be included alone.
#ifndef SCONCE_SCONCE_HPP
#define SCONCE_SCONCE_HPP

#include <sconce/cuda/backend.hpp>
#include <sconce/cuda/buffer.hpp>
#include <sconce/cuda/context.hpp>
#include <sconce/cuda/copy.hpp>
#include <sconce/cuda/copy_shapes.hpp>
#include <sconce/cuda/device.hpp>
#include <sconce/cuda/device_type.hpp>
#include <sconce/cuda/error.hpp>
#include <sconce/cuda/event.hpp>
#include <sconce/cuda/generator.hpp>
#include <sconce/cuda/graph.hpp>
#include <sconce/cuda/guard.hpp>
#include <sconce/cuda/host_memory.hpp>
#include <sconce/cuda/ipc.hpp>
#include <sconce/cuda/kernel.hpp>
#include <sconce/cuda/log.hpp>
#include <sconce/cuda/memory.hpp>
#include <sconce/cuda/memory_pool.hpp>
#include <sconce/cuda/memory_sleep.hpp>
#include <sconce/cuda/memory_snapshot.hpp>
#include <sconce/cuda/memory_stats.hpp>
#include <sconce/cuda/nvtx.hpp>
#include <sconce/cuda/random.hpp>
#include <sconce/cuda/sanitizer.hpp>
#include <sconce/cuda/scalar_type.hpp>
#include <sconce/cuda/span.hpp>
#include <sconce/cuda/stream.hpp>

#endif  // SCONCE_SCONCE_HPP
