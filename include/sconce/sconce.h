/*
 * Sconce: PyTorch's CUDA runtime layer without PyTorch. The C API.
 *
 * Generated from tests/header_sync/layout.rs; do not edit. SCONCE_BLESS=1 cargo test --test header_sync
 * writes it anew.
 */

/**
 * @file
 * The C API of the runtime: devices, streams, events, memory, copies, modules, random numbers, graphs. What
 * holds for every function is said in sconce/c/library.h. sconce_all.h has the rest, and each header in
 * sconce/c can be included alone.
 */

#ifndef SCONCE_SCONCE_H_
#define SCONCE_SCONCE_H_

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
#include <sconce/c/sanitizer.h>

#endif  /* SCONCE_SCONCE_H_ */
