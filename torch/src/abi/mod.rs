//! PyTorch's ABI: what is not an operation.
//!
//! | file | idea |
//! |---|---|
//! | `objects/` | objects of the ABI that are no tensors |
//! | `arguments` | pointers of the caller: optional values, arrays, what a new tensor is to be |
//! | `bits` | values of which any bytes are one |
//! | `structs` | structs of the caller that begin with their size |
//! | `constants` | numbers of data types, devices, layouts, memory formats and tags of operators |
//! | `tensors` | what a tensor is |
//! | `handles` | new tensors and handles of tensors |
//! | `live` | bytes of the tensors that a run makes |
//! | `blobs` | tensors over memory of the caller |
//! | `pools` | parts of a tensor's memory as tensors of other types |
//! | `errors` | texts of failures, warnings, checks |
//! | `copies` | copies, and tensors of one element as numbers |
//! | `devices` | current devices and streams, guards |
//! | `streams` | streams as objects |
//! | `tracing` | what models report of themselves: ranges, printed tensors, checks |
//! | `parallel` | work on several threads of the CPU |

pub mod arguments;
pub mod bits;
pub mod blobs;
pub mod constants;
pub mod copies;
pub mod devices;
pub mod errors;
pub mod handles;
pub mod live;
pub mod objects;
pub mod parallel;
pub mod pools;
pub mod streams;
pub mod structs;
pub mod tensors;
pub mod tracing;
