//! Memory with a type and a shape: tensors, backward order, DLPack.
//!
//! | module | what it is |
//! |---|---|
//! | [`backward`] | the order of a backward pass |
//! | [`comm_tensors`] | tensors copied to, and collected from, several devices |
//! | [`dlpack`] | tensors exchanged with other libraries |
//! | [`tensor`] | tensors |

pub mod backward;
pub mod comm_tensors;
pub mod dlpack;
pub mod tensor;
