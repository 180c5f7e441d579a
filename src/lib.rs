//! Sconce: PyTorch's CUDA runtime layer without PyTorch, behind a C API.
//!
//! The C API is the product (`include/sconce/sconce.h`, made from [`ffi`]); this crate's Rust
//! surface exists for its own tests and benchmarks and may change at any time.
//!
//! # The map
//!
//! Dependencies point one way: `ffi → nouns → context → driver ← cuda | sim`, with the ground floor
//! below all of them (`tests/layering` checks it).
//!
//! | room | what it is for |
//! |---|---|
//! | [`error`], [`types`], [`element`], [`folding`], [`log`], [`config`], [`philox`], [`kernels`], [`sha256`], `announcements`, `arithmetic`, `convolutions`, `fourier`, `mersenne`, `parallel`, `products`, `unfolding`, `sync`, `dynlib`, `entropy`, `graph_shared`, `collections`, `lock`, `process`, `program_code`, `strided`, `thread_state` | the ground floor |
//! | [`driver`] | the contract of a GPU driver |
//! | [`cuda`] | the driver over `libcuda` |
//! | `lazy_handle` | a driver's handle that is made at first use |
//! | [`context`] | the process: backend, start-up, fork, global switches |
//! | [`device`] | current devices, properties, peers |
//! | [`stream`] | pools, current streams, streams from outside |
//! | [`event`] | records, waits, elapsed time |
//! | [`random`] | generators and random fills |
//! | `caching` | what the two allocators below share |
//! | [`module`] | the program's own kernels |
//! | [`memory`] | device memory: the caching allocator |
//! | [`host_memory`] | pinned host memory: the caching allocator |
//! | [`sleep`] | pools of device memory that sleep: where their bytes are |
//! | [`sleep_kernel`] | a kernel that keeps a stream busy |
//! | [`copy`] | copies and sets, and when they return |
//! | [`ordering`] | sorts, selections by index, and tensors joined along an axis |
//! | [`graph`] | captures and graphs |
//! | [`pointwise`] | element-wise operations |
//! | [`reduction`] | reductions, softmax and running sums |
//! | [`ipc`] | memory between processes |
//! | `kernel_loader` | loading of the library's own kernels |
//! | `operand` | the check of the memory that a call is given |
//! | `library_handles` | the handles of libraries, pooled |
//! | [`collectives`] | communicators: ranks that compute together |
//! | [`blas`] | matrix products |
//! | [`dnn`] | convolutions |
//! | [`fft`] | Fourier transforms and the cache of their plans |
//! | `tensor` | tensors: memory with a type and a shape |
//! | `backward` | the order of backward passes |
//! | `comm_tensors` | tensors on several devices |
//! | [`dlpack`] | tensors exchanged with other libraries |
//! | [`store`] | keys and values that the processes of a job share |
//! | [`nvtx`] | profiling marks |
//! | [`sim`] | the simulated device, a driver that needs no GPU |
//! | [`ffi`] | the C functions |

mod announcements;
mod arithmetic;
mod backward;
mod caching;
mod collections;
mod comm_tensors;
mod convolutions;
#[allow(unsafe_code, reason = "dlopen and dlsym")]
mod dynlib;
mod entropy;
mod fourier;
mod graph_shared;
mod kernel_loader;
mod lazy_handle;
mod library_handles;
#[cfg_attr(debug_assertions, allow(unsafe_code, reason = "implements the traits of locks"))]
mod lock;
mod mersenne;
mod operand;
mod parallel;
#[allow(unsafe_code, reason = "pthread_atfork and getauxval")]
mod process;
mod products;
mod program_code;
mod strided;
mod sync;
mod tensor;
mod thread_state;
mod unfolding;

pub mod blas;
pub mod collectives;
pub mod config;
pub mod context;
pub mod copy;
#[allow(unsafe_code, reason = "calls into libcuda and NVML through function pointers")]
pub mod cuda;
pub mod device;
pub mod dlpack;
pub mod dnn;
pub mod driver;
pub mod element;
pub mod error;
pub mod event;
#[allow(unsafe_code, reason = "the C boundary")]
#[allow(rustdoc::broken_intra_doc_links, reason = "the C header and Doxygen write [out]")]
pub mod ffi;
pub mod fft;
pub mod folding;
pub mod graph;
pub mod host_memory;
pub mod ipc;
pub mod kernels;
pub mod log;
pub mod memory;
pub mod module;
pub mod nvtx;
pub mod ordering;
pub mod philox;
pub mod pointwise;
pub mod random;
pub mod reduction;
pub mod sha256;
pub mod sim;
pub mod sleep;
pub mod sleep_kernel;
pub mod store;
pub mod stream;
pub mod types;
