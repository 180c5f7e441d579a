//! DLPack 1.3: tensors exchanged with other libraries without a copy. See `docs/design/dlpack.md`.
//!
//! Each file uses only files above it.
//!
//! | file | idea |
//! |---|---|
//! | `layout` | the structs of `dlpack.h` |
//! | `device` | devices and streams by DLPack's numbers |
//! | `export` | a tensor as a struct that shares its memory |
//! | `loan` | memory of a producer, and the order in which it goes back |
//! | `import` | a struct as a tensor over its memory |
//! | `allocate` | new tensors by a prototype |

pub mod allocate;
mod device;
#[allow(unsafe_code, reason = "structs that other libraries delete")]
mod export;
#[allow(unsafe_code, reason = "takes memory of other libraries over")]
mod import;
mod layout;
mod loan;

pub use allocate::{Prototype, allocate};
pub use device::{current_stream, named_stream};
pub use export::{DlpackExport, export_stream};
pub use import::{Offer, check};
pub use layout::VERSION;
pub use layout::{
    DlpackDeleter, DlpackDevice, DlpackExchangeApi, DlpackExchangeHeader, DlpackManaged,
    DlpackManagedHead, DlpackManagedVersioned, DlpackSetError, DlpackTensor, DlpackVersion,
};
