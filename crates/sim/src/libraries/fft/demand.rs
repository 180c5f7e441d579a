//! Which shapes are refused, and how much memory the others take.
//!
//! The numbers of the refusals were seen at cuFFT 12.0. The amounts of memory are made up and have
//! its character: nothing for short transforms, a copy of the data for long ones, and four for
//! those with large prime factors.
#![forbid(unsafe_code)]

use sconce_base::element::Dtype;
use sconce_driver::{FftLayout, FftShape, MOST_FFT_RANK};

/// The values of `cufftResult` that the simulator returns.
pub(crate) mod codes {
    pub(crate) const INVALID_PLAN: i32 = 1;
    pub(crate) const ALLOC_FAILED: i32 = 2;
    pub(crate) const INVALID_TYPE: i32 = 3;
    pub(crate) const INVALID_VALUE: i32 = 4;
    pub(crate) const INTERNAL_ERROR: i32 = 5;
    pub(crate) const INVALID_SIZE: i32 = 8;
    pub(crate) const INVALID_DEVICE: i32 = 11;
    pub(crate) const NO_WORKSPACE: i32 = 13;
    pub(crate) const NOT_SUPPORTED: i32 = 16;
}

/// Transforms up to this length need no memory while they run.
const SHORT: u64 = 4096;
/// The largest prime factor that is calculated with directly.
const LARGE_PRIME: u64 = 127;
/// The largest prime factor that is supported.
const LARGEST_PRIME: u64 = 1 << 30;
/// The most elements of one transform, far beyond what there is memory for.
const MOST_ELEMENTS: u64 = 1 << 40;
/// Tables are multiples of this.
const TABLE_STEP: u64 = 64 << 10;

/// The number with which a shape is refused.
pub(crate) fn check(shape: &FftShape) -> Result<(), i32> {
    if !(1..=MOST_FFT_RANK).contains(&shape.rank) {
        return Err(codes::INVALID_VALUE);
    }
    if shape.batch < 1 || shape.sizes[..shape.rank].iter().any(|size| *size < 1) {
        return Err(codes::INVALID_SIZE);
    }
    let elements = sizes(shape).try_fold(1_u64, u64::checked_mul);
    let all = elements.and_then(|elements| elements.checked_mul(shape.batch as u64));
    if all.is_none_or(|all| all > MOST_ELEMENTS) {
        return Err(codes::INVALID_SIZE);
    }
    match shape.element {
        Dtype::F16 if !sizes(shape).all(u64::is_power_of_two) => {
            return Err(codes::NOT_SUPPORTED);
        }
        Dtype::F16 | Dtype::F32 | Dtype::F64 => {}
        _ => return Err(codes::INVALID_TYPE),
    }
    // Embedded sizes and overlaps are not checked, as in cuFFT.
    let lies = |layout: &FftLayout| layout.stride > 0 && layout.distance > 0;
    if !lies(&shape.input) || !lies(&shape.output) {
        return Err(codes::INVALID_VALUE);
    }
    if sizes(shape).any(|size| largest_prime(size) > LARGEST_PRIME) {
        return Err(codes::INVALID_PLAN);
    }
    Ok(())
}

/// Bytes of the device that a plan holds.
pub(crate) fn table_bytes(shape: &FftShape) -> u64 {
    let bytes: u64 = sizes(shape).map(|size| complex_bytes(shape) * size * copies(size)).sum();
    bytes.next_multiple_of(TABLE_STEP)
}

/// Bytes of the device that an execution needs.
pub(crate) fn workspace_bytes(shape: &FftShape) -> usize {
    let elements: u64 = sizes(shape).product();
    if elements <= SHORT {
        return 0;
    }
    let most = sizes(shape).map(copies).max().unwrap_or(1);
    (elements * shape.batch as u64 * complex_bytes(shape) * most) as usize
}

fn sizes(shape: &FftShape) -> impl Iterator<Item = u64> {
    shape.sizes[..shape.rank].iter().map(|size| *size as u64)
}

fn complex_bytes(shape: &FftShape) -> u64 {
    2 * shape.element.bytes() as u64
}

fn copies(size: u64) -> u64 {
    if largest_prime(size) > LARGE_PRIME { 4 } else { 1 }
}

/// The largest prime factor; 1 of 1.
fn largest_prime(mut n: u64) -> u64 {
    let (mut largest, mut factor) = (1, 2);
    while factor * factor <= n {
        while n.is_multiple_of(factor) {
            (largest, n) = (factor, n / factor);
        }
        factor += 1;
    }
    largest.max(n)
}

#[cfg(test)]
mod tests {
    use sconce_driver::FftKind;

    use super::*;

    fn shape(element: Dtype, sizes: &[i64], batch: i64) -> FftShape {
        let mut all = [1; MOST_FFT_RANK];
        all[..sizes.len()].copy_from_slice(sizes);
        let layout = FftLayout { embed: all, stride: 1, distance: 1 << 40 };
        let rank = sizes.len();
        let kind = FftKind::C2C;
        FftShape { kind, element, rank, sizes: all, batch, input: layout, output: layout }
    }

    #[test]
    fn shapes_are_refused_as_cufft_refuses_them() {
        let refused = |element, sizes: &[i64], batch| check(&shape(element, sizes, batch));
        assert_eq!(refused(Dtype::F32, &[8], 1), Ok(()));
        assert_eq!(refused(Dtype::F64, &[1, 1, 1], 1), Ok(()));
        assert_eq!(refused(Dtype::F32, &[8], 0), Err(8));
        assert_eq!(refused(Dtype::F32, &[0], 1), Err(8));
        assert_eq!(refused(Dtype::F32, &[4, -1], 1), Err(8));
        assert_eq!(refused(Dtype::F16, &[16, 12], 1), Err(16));
        assert_eq!(refused(Dtype::F16, &[16, 32], 3), Ok(()));
        assert_eq!(refused(Dtype::Bf16, &[16], 1), Err(3));
        assert_eq!(refused(Dtype::F32, &[(1 << 31) - 1], 1), Err(1));
        assert_eq!(refused(Dtype::F32, &[1 << 30, 1 << 30, 1 << 30], 1), Err(8));
        let spoilt = |change: fn(&mut FftShape)| {
            let mut shape = shape(Dtype::F32, &[8], 2);
            change(&mut shape);
            check(&shape)
        };
        assert_eq!(spoilt(|shape| shape.input.stride = 0), Err(4));
        assert_eq!(spoilt(|shape| shape.output.distance = 0), Err(4));
        assert_eq!(spoilt(|shape| shape.input.distance = -8), Err(4));
        assert_eq!(spoilt(|shape| shape.input.distance = 1), Ok(()));
        assert_eq!(spoilt(|shape| shape.input.embed[0] = 2), Ok(()));
    }

    #[test]
    fn short_transforms_need_no_workspace_and_large_primes_much() {
        let bytes = |sizes: &[i64], batch| {
            let shape = shape(Dtype::F32, sizes, batch);
            (workspace_bytes(&shape), table_bytes(&shape))
        };
        assert_eq!(bytes(&[4096], 9), (0, 64 << 10));
        assert_eq!(bytes(&[65_536], 1), (8 * 65_536, 512 << 10));
        assert_eq!(bytes(&[64, 128], 3).0, 3 * 8 * 64 * 128);
        let (workspace, tables) = bytes(&[1_000_003], 1);
        assert_eq!((workspace, tables >> 20), (32 * 1_000_003, 30));
    }
}
