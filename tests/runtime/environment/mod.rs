//! What the environment shows: which devices, or none.

mod visible_devices;
mod without_device;
