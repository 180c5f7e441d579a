//! Tensors whose elements lie in another order than that of their dimensions, in calls of communicators: elements are
//! sent in the order of the dimensions, so that they arrive right whatever order the other ranks' tensors have.

use sconce_base::error::{Error, Result, Status};
use sconce_compute::collectives::{self, Key, StagedCopies};
use sconce_runtime::memory;
use sconce_runtime::stream::{self, Stream};

use crate::tensor::transfer::copy_into;
use crate::tensor::{Place, Tensor, TensorOptions, refuse_unwritable};

/// What calls do with a tensor.
#[derive(Clone, Copy, Debug)]
pub struct TensorUse {
    pub is_read: bool,
    pub is_written: bool,
    /// Whether the calls run on the communicator's stream.
    pub is_async: bool,
}

/// A tensor, and contiguous memory that stands for it.
struct PackedTensor {
    tensor: Tensor,
    packed: Tensor,
    usage: TensorUse,
}

impl StagedCopies for PackedTensor {
    fn copy_in(&self, stream: Stream) -> Result<()> {
        if !self.usage.is_read {
            return Ok(());
        }
        stream::on(stream, || copy_into(&self.packed, &self.tensor, true))
    }

    fn copy_out(&self, stream: Stream) -> Result<()> {
        if !self.usage.is_written {
            return Ok(());
        }
        // A program may free the tensor before it waits for the work.
        let address = self.tensor.address();
        if self.usage.is_async && memory::block_at(address).is_some() {
            memory::record_stream(address, stream)?;
        }
        stream::on(stream, || copy_into(&self.tensor, &self.packed, true))
    }
}

/// The address of a tensor's elements in the order of its dimensions, for calls of the thread's group. If the tensor's
/// own elements lie in another order, that is memory of the group's: they are copied there before the calls are queued,
/// and back behind them.
pub fn pack_for_calls(
    comm: Key,
    tensor: Tensor,
    stream: Stream,
    usage: TensorUse,
) -> Result<usize> {
    collectives::check_stage(comm, stream)?;
    let device = collectives::device(comm)?;
    if tensor.place() != Place::Device(device) {
        return Err(Error::new(
            Status::CrossDevice,
            format!(
                "tensor is on {}, but the communicator works on device {device}",
                tensor.place()
            ),
        ));
    }
    if usage.is_written {
        refuse_unwritable(&tensor)?;
    }
    if tensor.is_contiguous() {
        return Ok(tensor.address());
    }
    let packed = stream::on(stream, || TensorOptions::of(&tensor).empty(tensor.sizes()))?;
    let address = packed.address();
    let copies = Box::new(PackedTensor { tensor, packed, usage });
    collectives::stage(comm, stream, usage.is_async, copies)?;
    Ok(address)
}
