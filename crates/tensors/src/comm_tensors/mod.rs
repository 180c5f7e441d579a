//! Tensors on several devices (`torch.cuda.comm`). See `docs/design/comm_tensors.md`.
//!
//! Each file uses only files above it.
//!
//! | file | idea |
//! |---|---|
//! | `lanes` | copies that arrive on streams of their own |
//! | `team` | communicators for large tensors on three or more devices |
//! | `flat` | many tensors as one, and back |
//! | `buckets` | which tensors travel together |
//! | `broadcast` | one tensor to all devices |
//! | `reduce` | a sum of one tensor of each device |
//! | `coalesced` | the same of many tensors |
//! | `scatter` | parts of a tensor to devices |
//! | `gather` | tensors of devices joined |
//! | `packed` | tensors of any order in memory, in calls of communicators |

mod broadcast;
mod buckets;
mod coalesced;
mod flat;
mod gather;
mod lanes;
mod packed;
mod reduce;
mod scatter;
mod team;

pub use broadcast::{broadcast, broadcast_out};
pub use coalesced::{broadcast_coalesced, reduce_add_coalesced};
pub use gather::{gather, gather_out};
pub use packed::{TensorUse, pack_for_calls};
pub use reduce::reduce_add;
pub use scatter::{ScatterTarget, scatter, scatter_out};

use sconce_base::error::{Error, Result};
use sconce_base::types::DeviceIndex;
use sconce_runtime::context::runtime;
use sconce_runtime::device;

use crate::tensor::{Place, Tensor};

/// The device with an index, which may not be negative here.
fn device_of(index: i32) -> Result<DeviceIndex> {
    if index < 0 {
        return Err(Error::invalid_argument(format!(
            "Expected non-negative device index, but got {index}"
        )));
    }
    device::checked(runtime()?, index)
}

/// Refuses tensors of the CPU. `which` names the tensors in torch's words.
fn check_on_devices(tensors: &[Tensor], which: [&str; 3]) -> Result<()> {
    let [all, one, verb] = which;
    match tensors.iter().enumerate().find(|(_, tensor)| tensor.place() == Place::Cpu) {
        None => Ok(()),
        Some((index, tensor)) => Err(Error::invalid_argument(format!(
            "Expected all {all} tensors to be CUDA tensors, but {one} at index {index} {verb} device {}",
            tensor.place()
        ))),
    }
}
