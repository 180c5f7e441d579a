//! Who keeps memory alive: handles, storages, memory of others; and short forms of functions that make tensors.

pub(crate) mod figures;
mod foreign;
mod handles;
mod lifetime;
mod short_forms;
mod threads;
