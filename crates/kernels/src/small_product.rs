//! What the kernels of `kernels/small_product.cu` are launched with.

use sconce_base::element::Dtype;
use sconce_base::types::DevicePtr;
use sconce_driver::{Dim3, KernelArguments, LaunchShape};

use super::signature::SMALL_PRODUCT;

/// Rows and columns of a block's tile; `kernels/product/launch.cuh` has it too.
const TILE: u32 = 16;
const THREADS: u32 = TILE * TILE;
/// Groups that share the steps of a sum in singles; `kernels/product/tile.cuh` has it too. Step `s` is that of group
/// `s % SUM_GROUPS`.
pub const SUM_GROUPS: usize = 16;
/// The most blocks along y and along z.
const MOST_BLOCKS: u32 = 65535;

/// Batches of matrices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProductMatrix {
    /// The first element of the first matrix.
    pub address: DevicePtr,
    /// In elements: from one matrix to the next, from one row and from one column to the next.
    pub strides: [i64; 3],
}

/// Products `c = alpha * a @ b + beta * c` of batches of matrices.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SmallProductLaunch {
    pub a: ProductMatrix,
    pub b: ProductMatrix,
    pub c: ProductMatrix,
    /// Rows of `a`, columns of `b`, columns of `a`. With 0 columns nothing of the factors is read.
    pub sizes: [u32; 3],
    pub batch: u32,
    pub alpha: f64,
    /// With 0 nothing of `c` is read.
    pub beta: f64,
}

/// The number of the kernel for a type among [`SMALL_PRODUCT_KERNELS`]; `None` for a type that is not multiplied.
pub fn small_product_index(dtype: Dtype) -> Option<usize> {
    SMALL_PRODUCT_TYPES.iter().position(|own| *own == dtype)
}

/// The types, and the names of their kernels.
const SMALL_PRODUCT_TYPES: [Dtype; 4] = [Dtype::F16, Dtype::Bf16, Dtype::F32, Dtype::F64];
pub const SMALL_PRODUCT_KERNELS: [&str; 4] = [
    "sconce_small_product_f16",
    "sconce_small_product_bf16",
    "sconce_small_product_f32",
    "sconce_small_product_f64",
];

impl SmallProductLaunch {
    /// Whether one launch holds so many rows and products.
    pub fn holds(rows: u64, batch: u64) -> bool {
        rows <= u64::from(MOST_BLOCKS * TILE) && batch <= u64::from(MOST_BLOCKS)
    }

    /// Grid and arguments.
    pub fn launch(&self) -> (LaunchShape, KernelArguments) {
        let [m, n, k] = self.sizes;
        let mut packing = SMALL_PRODUCT.pack();
        for matrix in [self.a, self.b, self.c] {
            packing.add(matrix.address.0);
            for stride in matrix.strides {
                packing.add(stride as u64);
            }
        }
        let pair = |first: u32, second: u32| u64::from(first) | u64::from(second) << 32;
        packing.add(pair(m, n));
        packing.add(pair(k, self.batch));
        let arguments = packing.f64(self.alpha).f64(self.beta).finish();
        let grid = Dim3 { x: n.div_ceil(TILE), y: m.div_ceil(TILE), z: self.batch };
        (LaunchShape { grid, block: Dim3::line(THREADS), shared_bytes: 0 }, arguments)
    }

    /// Reads the slots of a launch.
    pub fn read(slots: &[u64]) -> Option<SmallProductLaunch> {
        let (matrices, rest) = slots.split_at_checked(12)?;
        let &[sizes, k_and_batch, alpha, beta] = rest else { return None };
        let matrix = |at: usize| ProductMatrix {
            address: DevicePtr(matrices[at]),
            strides: [1, 2, 3].map(|next| matrices[at + next] as i64),
        };
        Some(SmallProductLaunch {
            a: matrix(0),
            b: matrix(4),
            c: matrix(8),
            sizes: [sizes as u32, (sizes >> 32) as u32, k_and_batch as u32],
            batch: (k_and_batch >> 32) as u32,
            alpha: f64::from_bits(alpha),
            beta: f64::from_bits(beta),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_launch_is_read_as_it_was_packed() {
        let matrix = |at: u64, strides| ProductMatrix { address: DevicePtr(at), strides };
        let launch = SmallProductLaunch {
            a: matrix(0x100, [0, 7, 1]),
            b: matrix(0x200, [1 << 40, 1, 9]),
            c: matrix(0x300, [99, 33, 1]),
            sizes: [17, 33, 5],
            batch: 6,
            alpha: 0.5,
            beta: -2.0,
        };
        let (shape, arguments) = launch.launch();
        assert_eq!(shape.grid, Dim3 { x: 3, y: 2, z: 6 });
        assert_eq!(SmallProductLaunch::read(arguments.slots()), Some(launch));
        assert_eq!(SmallProductLaunch::read(&arguments.slots()[1..]), None);
    }

    #[test]
    fn every_type_has_the_kernel_of_its_name() {
        for (index, name) in SMALL_PRODUCT_KERNELS.iter().enumerate() {
            let dtype = SMALL_PRODUCT_TYPES[index];
            assert_eq!(small_product_index(dtype), Some(index));
            assert_eq!(*name, format!("{}{}", SMALL_PRODUCT.family, dtype.suffix()));
        }
        assert_eq!(small_product_index(Dtype::I32), None);
    }
}
