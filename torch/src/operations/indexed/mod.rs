//! Elements at indices: reads (index, gather), writes (index_put, scatter) and writes that combine.
//!
//! | file | idea |
//! |---|---|
//! | `cpu` | the loop on the CPU |
//! | `device` | the launch on a device |
//! | `along` | one list of indices along one dimension: gather, scatter, index_select, index_reduce |

mod along;
mod cpu;
mod device;
#[cfg(test)]
mod tests;

use std::ffi::c_void;

pub(in crate::operations) use along::{begin_with, is_wide};
pub use along::{gather, index_reduce, scatter, scatter_reduce, scatter_value};

use crate::error::Result;
use crate::sconce::api;

/// How a write combines with what is there. The numbers are in `torch/kernels/indexed.cu`, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Combine {
    /// The sum; "or" of truth values.
    Sum = 0,
    /// The product; "and" of truth values.
    Product = 1,
    /// The larger one, NaN before all.
    Most = 2,
    /// The smaller one, NaN before all.
    Least = 3,
}

/// What is done with each element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// The table's element is copied to the other operand.
    Get,
    /// The other operand's element is copied to the table. Of several for one place any may win on a device, the last
    /// on the CPU.
    Put,
    /// The table's element and that of the other operand become one.
    Combine(Combine),
}

/// An operand: its first element, and the elements from one to the next along each dimension of the loop.
#[derive(Clone, Debug)]
pub struct StridedOperand {
    /// The address of the first element.
    pub data: *mut c_void,
    /// Elements from one to the next along each dimension of the loop.
    pub strides: Vec<i64>,
}

/// A dimension of the table at which indices choose.
#[derive(Clone, Debug)]
pub struct IndexList {
    /// The first index.
    pub data: *const c_void,
    /// The dimension, for messages.
    pub dim: usize,
    /// Its size.
    pub size: i64,
    /// Elements from one index's to those of the next.
    pub step: i64,
}

/// A loop over elements of a table that indices choose, beside another operand.
#[derive(Clone, Debug)]
pub struct Indexed {
    /// Sconce's device.
    pub device: i32,
    /// Sconce's type of the elements of both operands.
    pub dtype: i32,
    /// The sizes of the loop.
    pub sizes: Vec<i64>,
    /// Where indices choose; its strides are 0 along chosen dimensions.
    pub table: StridedOperand,
    /// Where elements go or come from.
    pub other: StridedOperand,
    /// The lists of indices, whose elements lie in the same order.
    pub lists: Vec<IndexList>,
    /// Elements from one index to the next along each dimension of the loop.
    pub index_strides: Vec<i64>,
    /// Whether indices are I64, else I32.
    pub wide: bool,
    /// Whether negative indices count from the end.
    pub from_end: bool,
}

impl Indexed {
    /// Runs the loop: at once on the CPU, else on the calling thread's current stream of the device.
    ///
    /// # Safety
    /// The operands have the elements that sizes and strides reach, which live until the loop is done, and no one else
    /// uses those that are written.
    #[allow(unsafe_code, reason = "reads and writes elements")]
    pub unsafe fn run(&self, access: Access) -> Result<()> {
        if self.sizes.contains(&0) {
            return Ok(());
        }
        if self.device == api::SCONCE_DEVICE_CPU {
            // SAFETY: this function demands what `cpu::run` does, and the memory is that of the CPU.
            return unsafe { cpu::run(self, access) };
        }
        // SAFETY: this function demands what `device::run` does, and the memory is that of the device.
        unsafe { device::run(self, access) }
    }
}
