//! Packages of compiled models: `.pt2`, a zip with the model's shared library, its kernels and its sources.
//!
//! | file | idea |
//! |---|---|
//! | `archive` | what is in a package, and writing it to a folder |
//! | `weights` | weights that a package keeps beside the library |
//! | `nodes` | the custom operators that a model calls |
//! | `json` | JSON |
//! | `folder` | private folders that are removed at unload or at exit |
//! | `lines` | the lines of the generated source |
//! | `expressions` | sizes as arithmetic over symbols |
//! | `inputs` | what the source says of inputs |
//! | `constants` | what it says of constants |
//! | `outputs` | what it says of outputs |

pub mod archive;
pub mod constants;
pub mod expressions;
pub mod folder;
pub mod inputs;
pub mod json;
mod lines;
pub mod nodes;
pub mod outputs;
pub mod weights;
