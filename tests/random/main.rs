//! Random fills and generators.

mod calls;
mod capture;
mod golden;
mod statistics;
