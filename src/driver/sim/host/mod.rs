//! Memory of the host process by address, and calls of users' functions: the simulator's unsafe code, but
//! for the products of matrices in `libraries/products.rs`.
//!
//! | file | idea |
//! |---|---|
//! | `pages` | memory files, address windows, pinned pages, pages shared by processes |
//! | `place` | addresses that may be read and written |
//! | `host_call` | calls of the functions that users queue |

#[allow(unsafe_code, reason = "calls the functions that users queue")]
pub(super) mod host_call;
#[allow(unsafe_code, reason = "mmap, memory files and counters in shared pages")]
pub(super) mod pages;
#[allow(unsafe_code, reason = "reads and writes simulated device memory by address")]
pub(super) mod place;
