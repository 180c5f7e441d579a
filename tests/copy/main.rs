//! Copies between memory of every kind.

mod capture;
mod faults;
mod kinds;
mod order;
mod peers;
mod pinned;
mod shapes;
mod shapes_order;
mod staged;
mod strided;
