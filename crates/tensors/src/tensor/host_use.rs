//! What the processor reads and writes of tensors, for a backend that follows it: page-locked memory may be in use by a
//! device at the same time.

use sconce_base::element::Dtype;
use sconce_driver::{Driver, HostElements};
use sconce_runtime::context::opened;

use crate::tensor::Tensor;

/// Elements in host memory that are about to be read, or written.
#[derive(Clone, Copy)]
pub(crate) struct HostUse<'a> {
    pub(crate) address: usize,
    pub(crate) element: usize,
    pub(crate) sizes: &'a [i64],
    pub(crate) strides: &'a [i64],
    pub(crate) writes: bool,
}

impl<'a> HostUse<'a> {
    pub(crate) fn reads(tensor: &'a Tensor) -> HostUse<'a> {
        let (address, element) = (tensor.address(), tensor.element());
        HostUse {
            address,
            element,
            sizes: tensor.sizes(),
            strides: tensor.strides(),
            writes: false,
        }
    }

    pub(crate) fn writes(tensor: &'a Tensor) -> HostUse<'a> {
        HostUse { writes: true, ..HostUse::reads(tensor) }
    }

    /// An operand with its strides over the sizes of the work.
    pub(crate) fn operand(
        address: usize,
        dtype: Dtype,
        sizes: &'a [i64],
        strides: &'a [i64],
    ) -> HostUse<'a> {
        HostUse { address, element: dtype.bytes(), sizes, strides, writes: false }
    }
}

impl Tensor {
    /// Where the elements lie.
    pub fn elements(&self) -> HostElements<'_> {
        let (address, element) = (self.address(), self.element());
        HostElements { address, element, sizes: self.sizes(), strides: self.strides() }
    }
}

/// The backend, if it follows the host.
fn follower() -> Option<&'static dyn Driver> {
    opened().map(|runtime| runtime.driver()).filter(|driver| driver.observes_host())
}

/// Tells the backend, if it follows the host.
pub(crate) fn note<'a>(uses: impl IntoIterator<Item = HostUse<'a>>) {
    let Some(driver) = follower() else { return };
    for HostUse { address, element, sizes, strides, writes } in uses {
        driver.host_used(&HostElements { address, element, sizes, strides }, writes);
    }
}

/// Tells the backend, if it follows the host, of an operand whose size along one axis is not that of the work.
pub(crate) fn note_resized(of: &HostUse<'_>, axis: usize, size: i64) {
    if follower().is_some() {
        let sizes: Vec<i64> = of
            .sizes
            .iter()
            .enumerate()
            .map(|(at, of)| if at == axis { size } else { *of })
            .collect();
        note([HostUse { sizes: &sizes, ..*of }]);
    }
}
