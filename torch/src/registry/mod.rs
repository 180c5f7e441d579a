//! PyTorch's ABI: libraries, schemas and kernels that kernel libraries register, and calls of them. See
//! `docs/design/kernel_libraries.md`.
//!
//! | file | idea |
//! |---|---|
//! | `schema` | what an operator takes and returns |
//! | `parser` | schemas from texts |
//! | `value` | values, and which of them fit a type |
//! | `word` | the words that the ABI passes values as, with what they own |
//! | `defaults` | values of the defaults in schemas |
//! | `table` | what is registered |
//! | `resolved` | operators that were found, kept for further calls |
//! | `exports` | the functions that static initialisers call |
//! | `call` | calls of operators |
//! | `uses` | what operators read and write, for the sanitizer |

pub mod call;
pub mod defaults;
pub mod exports;
pub mod parser;
pub mod resolved;
pub mod schema;
pub mod table;
pub mod uses;
pub mod value;
pub mod word;
