//! Compiled models.
//!
//! | file | idea |
//! |---|---|
//! | `functions` | the functions that a model's library exports |
//! | `description` | what a model takes and returns, its constants |
//! | `words` | a loaded model in words |
//! | `inspection` | what a model is and needs, without loading it |
//! | `check` | inputs and outputs in words |
//! | `inputs` | what the inputs of a run are, compared with what the model takes |
//! | `device` | the device of a model |
//! | `constant_state` | the two sets of constants: which have values, and what keeps these |
//! | `captures` | one capture at a time, on a stream of its own; the graphs that a model has |
//! | `results` | what a run returns: handles of their own, copies in tensors of the caller |
//! | `loaded` | a loaded model, and runs |
//! | `constants` | constants replaced and swapped, and those that a package keeps beside the library |
//! | `operators` | the custom operators that a model calls |
//! | `graphs` | runs as CUDA graphs, one for each set of shapes |
//! | `memory` | what memory a model takes |
//! | `table` | handles of models |

mod captures;
pub mod check;
mod constant_state;
pub mod constants;
pub mod description;
mod device;
pub mod functions;
pub mod graphs;
mod inputs;
pub mod inspection;
pub mod loaded;
pub mod memory;
pub mod operators;
pub mod results;
pub mod table;
mod words;
