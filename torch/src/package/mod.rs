//! Packages of compiled models: `.pt2`, a zip with the model's shared library, its kernels and its sources.
//!
//! | file | idea |
//! |---|---|
//! | `archive` | the zip: which models it has, and reading its files |
//! | `packaged` | a model of a package: what the package says of it, and the files that it opens itself |
//! | `weights` | weights that a package keeps beside the library |
//! | `nodes` | the custom operators that a model calls |
//! | `json` | JSON |
//! | `folder` | private folders, for kernels that a model opens later |
//! | `unnamed` | files of libraries, which have no name |
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
pub mod packaged;
pub mod unnamed;
pub mod weights;
