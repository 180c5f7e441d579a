//! Recurrent networks, made of products and operations on elements of libsconce.so.
//!
//! | file | idea |
//! |---|---|
//! | `cell` | a step of an LSTM |
//! | `layers/` | layers, directions and sequences, step by step |

pub mod cell;
pub mod layers;
