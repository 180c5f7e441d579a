//! The library's own C API, `sconce_torch.h`: what is not part of PyTorch's ABI. Functions are written out by hand,
//! as the header generator does not see macros.
//!
//! | file | idea |
//! |---|---|
//! | `last_error` | the text of the thread's newest failure |

pub mod last_error;
