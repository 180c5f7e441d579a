//! Who keeps memory alive: handles, storages, memory of others.

pub(crate) mod figures;
mod foreign;
mod handles;
mod lifetime;
mod threads;
