//! Packages of compiled models: `.pt2`, a zip with the model's shared library, its kernels and its sources.
//!
//! | file | idea |
//! |---|---|
//! | `archive` | what is in a package, and writing it to a folder |
//! | `weights` | weights that a package keeps beside the library |
//! | `nodes` | the custom operators that a model calls |
//! | `json` | JSON |
//! | `folder` | private folders that are removed at unload or at exit |
//! | `source` | what the generated source says of inputs |
//! | `outputs` | what it says of outputs |

pub mod archive;
pub mod folder;
pub mod json;
pub mod nodes;
pub mod outputs;
pub mod source;
pub mod weights;
