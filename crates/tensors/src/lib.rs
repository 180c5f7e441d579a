//! Memory with a type and a shape, and operations on it.
//!
//! | module | what it is |
//! |---|---|
//! | [`backward`] | the order and the streams of a backward pass |
//! | [`comm_tensors`] | tensors copied to several devices, and collected from them |
//! | [`dlpack`] | tensors exchanged with other libraries: structs, owners, streams |
//! | [`tensor`] | tensors: storages, handles, views, operations |

pub mod backward;
pub mod comm_tensors;
pub mod dlpack;
pub mod tensor;
