//! Constants that PyTorch packed for oneDNN when it compiled a model: read once into ordinary tensors.
//!
//! | file | idea |
//! |---|---|
//! | `description` | oneDNN's description of how the elements lie, as a model contains it |
//! | `unpack` | the elements in the order of their dimensions, and which tensors were made so |

pub mod description;
pub mod unpack;
