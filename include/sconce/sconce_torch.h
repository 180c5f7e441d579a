/* clang-format off */
/*
 * Sconce: compiled models and kernel libraries of PyTorch without PyTorch. The C API of libsconce_torch.
 *
 * Generated from torch/src by cbindgen; do not edit. SCONCE_BLESS=1 cargo test -p sconce-torch --test header_sync
 * writes it anew.
 */

/**
 * @file
 * The C API of libsconce_torch.
 *
 * What sconce.h states once for all functions holds here, too, with one difference: the text of a failure of this
 * library is `sconce_torch_last_error_message()`. Tensors are those of libsconce: `sconce_tensor`.
 */

#ifndef SCONCE_SCONCE_TORCH_H_
#define SCONCE_SCONCE_TORCH_H_

#include "sconce/sconce.h"

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * Returns the text of the calling thread's newest failed call of libsconce_torch. It names the argument, the model or
 * the operation, and the remedy.
 *
 * Never NULL: the text is empty before the first failure. A successful call leaves it as it is.
 *
 * - Ownership: borrowed, until the thread's next call of this function, or its end.
 * - torch: the text of the exception that torch would throw.
 */
const char *sconce_torch_last_error_message(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* SCONCE_SCONCE_TORCH_H_ */
