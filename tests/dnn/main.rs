//! Convolutions.

mod calls;
mod choice;
mod faults;
mod threads;
mod values;
