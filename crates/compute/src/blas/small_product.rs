//! Products of small matrices by kernels of this library.

use sconce_base::collections::per_device::PerDevice;
use sconce_base::element::Dtype;
use sconce_base::error::{Error, Result};
use sconce_base::sync::shared_static;
use sconce_base::types::DevicePtr;
use sconce_kernels::images::SMALL_PRODUCT;
use sconce_kernels::{
    ProductMatrix, SMALL_PRODUCT_KERNELS, SmallProductLaunch, small_product_index,
};
use sconce_runtime::context::Runtime;
use sconce_runtime::kernel_loader::LoadedKernels;
use sconce_runtime::stream::Stream;

use super::matmul::{Matmul, refuse_unpredictable};

shared_static! {
    static KERNELS: PerDevice<LoadedKernels<{ SMALL_PRODUCT_KERNELS.len() }>> =
        sconce_base::collections::per_device::per_device!(LoadedKernels::new());
}

/// The largest products that the kernels calculate; `docs/design/blas.md` has the measurements.
struct Limits {
    /// Rows, and columns of the second factor.
    side: i64,
    /// Columns of the first factor.
    inner: i64,
    /// Multiplications of all products.
    work: i64,
}

const SINGLES: Limits = Limits { side: 1024, inner: 512, work: 1 << 24 };
const OTHERS: Limits = Limits { side: 128, inner: 128, work: 1 << 21 };

/// Whether [`small_product`] is the faster way: the host's time counts for more than the device's. There are no such
/// kernels for complex numbers.
pub fn is_small(request: &Matmul) -> bool {
    let Matmul { m, n, k, batch, element, .. } = *request;
    let limits = match element {
        Dtype::C64 | Dtype::C128 => return false,
        Dtype::F32 => SINGLES,
        _ => OTHERS,
    };
    m.max(n) <= limits.side
        && k <= limits.inner
        && SmallProductLaunch::holds(m as u64, batch as u64)
        && (m * n * k.max(1)).checked_mul(batch).is_some_and(|work| work <= limits.work)
}

/// Queues products of one element or more for which [`is_small`] is true. The caller knows that every element
/// lies in memory that the stream's device can use, and that `c` overlaps neither itself nor a factor. Strides
/// are taken as they are.
pub fn small_product(
    runtime: &Runtime,
    stream: Stream,
    request: &Matmul,
    [a, b, c]: [usize; 3],
) -> Result<()> {
    refuse_unpredictable()?;
    let index = small_product_index(request.element)
        .ok_or_else(|| Error::invalid_state("a product of a type that is not multiplied"))?;
    let matrix =
        |address: usize, strides| ProductMatrix { address: DevicePtr(address as u64), strides };
    // What is multiplied by 0 is not read.
    let inner = if request.alpha == 0.0 { 0 } else { request.k };
    let launch = SmallProductLaunch {
        a: matrix(a, request.a_strides),
        b: matrix(b, request.b_strides),
        c: matrix(c, request.c_strides),
        sizes: [request.m, request.n, inner].map(|size| size as u32),
        batch: request.batch as u32,
        alpha: request.alpha,
        beta: request.beta,
    };
    let (shape, arguments) = launch.launch();
    let stream = stream.driver_ref();
    let name = || SMALL_PRODUCT_KERNELS[index];
    let kernel = KERNELS[stream.device].get(runtime, stream.device, &SMALL_PRODUCT, index, name)?;
    runtime.driver().kernel_launch(kernel, shape, &arguments, stream)
}
