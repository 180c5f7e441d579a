//! The C boundary, called with what no program should pass.

mod initialisers;
mod misuse;
mod misuse_structs;
