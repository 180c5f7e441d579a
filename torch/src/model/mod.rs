//! Compiled models.
//!
//! | file | idea |
//! |---|---|
//! | `functions` | the functions that a model's library exports |
//! | `description` | what a model takes and returns, its constants |
//! | `check` | inputs that a model does not take, in words |
//! | `loaded` | a loaded model, and runs |
//! | `constants` | constants replaced and swapped |
//! | `graphs` | runs as CUDA graphs, one for each set of shapes |
//! | `table` | handles of models |

pub mod check;
pub mod constants;
pub mod description;
pub mod functions;
pub mod graphs;
pub mod loaded;
pub mod table;
