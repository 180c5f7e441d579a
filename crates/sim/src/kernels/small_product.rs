//! Products of small matrices. Every element's range is checked, and that it is aligned. Sums are those of the
//! kernels, to the bit.
#![forbid(unsafe_code)]

use sconce_base::element::{bf16_bits, bf16_value, f16_bits, f16_value};
use sconce_kernels::{
    ProductMatrix, SMALL_PRODUCT, SMALL_PRODUCT_KERNELS, SUM_GROUPS, SmallProductLaunch,
};

use super::kernel::Kernel;
use crate::codes;
use crate::memory::{DeviceMemoryView, Intent, MemoryAccess};

macro_rules! products {
    ($($index:literal $bytes:literal $number:ty, $read:expr, $write:expr;)*) => {
        &[$(Kernel {
            name: SMALL_PRODUCT_KERNELS[$index],
            parameters: SMALL_PRODUCT.slots(),
            duration_ns: |_, latency| latency,
            accesses: |arguments| accesses(arguments, $bytes),
            run: |memory, _, arguments| multiply::<$number, $bytes>(memory, arguments, $read, $write),
        },)*]
    };
}

pub(crate) const KERNELS: &[Kernel] = products! {
    0 2 f32, |bytes| f16_value(u16::from_le_bytes(bytes)), |sum| f16_bits(sum).to_le_bytes();
    1 2 f32, |bytes| bf16_value(u16::from_le_bytes(bytes)), |sum| bf16_bits(sum).to_le_bytes();
    2 4 f32, f32::from_le_bytes, f32::to_le_bytes;
    3 8 f64, f64::from_le_bytes, f64::to_le_bytes;
};

/// What sums are kept in.
trait Sum: Copy {
    const ZERO: Self;
    /// Groups that share the steps of a sum.
    const GROUPS: usize;
    fn of(value: f64) -> Self;
    fn is_zero(self) -> bool;
    fn plus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    /// `self * other + sum`, rounded once.
    fn fused(self, other: Self, sum: Self) -> Self;
}

macro_rules! sum {
    ($number:ty, $groups:expr) => {
        impl Sum for $number {
            const ZERO: Self = 0.0;
            const GROUPS: usize = $groups;
            fn of(value: f64) -> Self {
                value as $number
            }
            fn is_zero(self) -> bool {
                self == 0.0
            }
            fn plus(self, other: Self) -> Self {
                self + other
            }
            fn times(self, other: Self) -> Self {
                self * other
            }
            fn fused(self, other: Self, sum: Self) -> Self {
                self.mul_add(other, sum)
            }
        }
    };
}

sum!(f32, SUM_GROUPS);
sum!(f64, 1);

fn accesses(arguments: &[u64], width: u64) -> Vec<MemoryAccess> {
    let Some(launch) = SmallProductLaunch::read(arguments) else { return Vec::new() };
    let [m, n, k] = launch.sizes.map(u64::from);
    let all = |intent, matrix: ProductMatrix, sizes: [u64; 2]| {
        let [batch, rows, columns] = matrix.strides.map(|stride| stride.wrapping_mul(width as i64));
        let axes = [(sizes[1], columns), (sizes[0], rows), (u64::from(launch.batch), batch)];
        MemoryAccess::strided(intent, matrix.address.0, width, axes)
    };
    let mut accesses = vec![
        all(Intent::Read, launch.a, [m, k]),
        all(Intent::Read, launch.b, [k, n]),
        all(Intent::Write, launch.c, [m, n]),
    ];
    if launch.beta != 0.0 {
        accesses.push(all(Intent::Read, launch.c, [m, n]));
    }
    accesses
}

/// The address of an element.
fn place(matrix: ProductMatrix, index: [u32; 3], width: usize) -> Result<u64, i32> {
    let elements = index.into_iter().zip(matrix.strides).fold(0_i64, |sum, (index, stride)| {
        sum.wrapping_add(i64::from(index).wrapping_mul(stride))
    });
    let at = matrix.address.0.wrapping_add_signed(elements.wrapping_mul(width as i64));
    at.is_multiple_of(width as u64).then_some(at).ok_or(codes::MISALIGNED_ADDRESS)
}

fn multiply<S: Sum, const BYTES: usize>(
    memory: &DeviceMemoryView<'_>,
    arguments: &[u64],
    read: fn([u8; BYTES]) -> S,
    write: fn(S) -> [u8; BYTES],
) -> Result<(), i32> {
    let launch = SmallProductLaunch::read(arguments).ok_or(codes::INVALID_VALUE)?;
    let [m, n, k] = launch.sizes;
    let element = |matrix: ProductMatrix, index: [u32; 3]| {
        let mut bytes = [0; BYTES];
        memory.read(place(matrix, index, BYTES)?, &mut bytes)?;
        Ok::<S, i32>(read(bytes))
    };
    let (alpha, beta) = (S::of(launch.alpha), S::of(launch.beta));
    for batch in 0..launch.batch {
        let all = |matrix: ProductMatrix, rows: u32, columns: u32| {
            let places =
                (0..rows).flat_map(|row| (0..columns).map(move |column| [batch, row, column]));
            places.map(|index| element(matrix, index)).collect::<Result<Vec<S>, i32>>()
        };
        let (a, b) = (all(launch.a, m, k)?, all(launch.b, k, n)?);
        for (row, column) in (0..m).flat_map(|row| (0..n).map(move |column| (row, column))) {
            // A group takes each `GROUPS`th step; the sums of all groups are added in their order.
            let group = |first: usize| {
                (first..k as usize).step_by(S::GROUPS).fold(S::ZERO, |sum, at| {
                    let left = a[row as usize * k as usize + at];
                    left.fused(b[at * n as usize + column as usize], sum)
                })
            };
            let sum = (1..S::GROUPS).fold(group(0), |sum, first| sum.plus(group(first)));
            let index = [batch, row, column];
            let result = if beta.is_zero() {
                alpha.times(sum)
            } else {
                alpha.fused(sum, beta.times(element(launch.c, index)?))
            };
            memory.write(place(launch.c, index, BYTES)?, &write(result))?;
        }
    }
    Ok(())
}
