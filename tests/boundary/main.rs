//! The C boundary, called with what no program should pass.

mod calls;
mod descriptions;
mod handle_kinds;
mod huge_tensors;
mod initialisers;
mod limits;
mod misuse;
mod misuse_structs;
mod ordinary;
mod settings;
mod sizes;
mod world;
