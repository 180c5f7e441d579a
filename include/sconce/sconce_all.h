/*
 * Sconce: PyTorch's CUDA runtime layer without PyTorch. The C API.
 *
 * Generated from tests/header_sync/layout.rs; do not edit. SCONCE_BLESS=1 cargo test --test header_sync
 * writes it anew.
 */

/**
 * @file
 * The whole C API.
 */

#ifndef SCONCE_SCONCE_ALL_H_
#define SCONCE_SCONCE_ALL_H_

#include <sconce/c/library.h>
#include <sconce/c/context.h>
#include <sconce/c/device.h>
#include <sconce/c/stream.h>
#include <sconce/c/event.h>
#include <sconce/c/memory.h>
#include <sconce/c/host_memory.h>
#include <sconce/c/dtype.h>
#include <sconce/c/copy.h>
#include <sconce/c/ipc.h>
#include <sconce/c/module.h>
#include <sconce/c/random.h>
#include <sconce/c/graph.h>
#include <sconce/c/nvtx.h>
#include <sconce/c/blas.h>
#include <sconce/c/dnn.h>
#include <sconce/c/fft.h>
#include <sconce/c/parallel.h>
#include <sconce/c/tensor.h>
#include <sconce/c/backward.h>
#include <sconce/c/dlpack.h>
#include <sconce/c/store.h>
#include <sconce/c/comm.h>
#include <sconce/c/comm_tensors.h>
#include <sconce/c/sanitizer.h>
#include <sconce/c/sim.h>

#endif  /* SCONCE_SCONCE_ALL_H_ */
