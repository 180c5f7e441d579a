//! Transforms through the C API, and what they must give: sums taken directly, in F64.

use std::f64::consts::TAU;
use std::ffi::c_void;

use crate::numbers::{decode_all, encode_all, width};
use sconce::sconce_status::SCONCE_OK;
use sconce::*;
use sconce_base::types::DeviceIndex;

/// A description with packed sides.
pub fn desc(kind: i32, dtype: i32, sizes: &[i64], batch: i64) -> sconce_fft_desc {
    let mut all = [-1; SCONCE_FFT_MOST_RANK];
    all[..sizes.len()].copy_from_slice(sizes);
    let inverse = kind == SCONCE_FFT_C2R;
    sconce_fft_desc {
        struct_size: size_of::<sconce_fft_desc>() as u32,
        kind,
        dtype,
        direction: if inverse { SCONCE_FFT_INVERSE } else { SCONCE_FFT_FORWARD },
        normalization: SCONCE_FFT_NORM_NONE,
        rank: sizes.len() as i32,
        sizes: all,
        batch,
        in_batch_stride: 0,
        in_strides: [0; SCONCE_FFT_MOST_RANK],
        out_batch_stride: 0,
        out_strides: [0; SCONCE_FFT_MOST_RANK],
        may_overwrite_input: false.into(),
    }
}

/// Complex transforms of packed F32 in rows.
pub fn rows(n: i64, batch: i64) -> sconce_fft_desc {
    desc(SCONCE_FFT_C2C, SCONCE_DTYPE_F32, &[n], batch)
}

pub fn run(desc: &sconce_fft_desc, input: *mut c_void, output: *mut c_void) -> sconce_status {
    // SAFETY: the descriptor is whole.
    unsafe { sconce_fft(desc, input, output) }
}

pub fn stats(device: i32) -> sconce_fft_cache_stats {
    let mut stats = sconce_fft_cache_stats {
        struct_size: size_of::<sconce_fft_cache_stats>() as u32,
        size: 0,
        max_size: 0,
        bytes: 0,
        plan_bytes: 0,
        workspace_bytes: 0,
        max_bytes: 0,
        hits: 0,
        misses: 0,
        evictions: 0,
    };
    // SAFETY: a good place with its size.
    let status = unsafe { sconce_fft_cache_get_stats(device, &raw mut stats) };
    assert_eq!(status, SCONCE_OK);
    stats
}

/// A device's cache as it is at first.
pub fn fresh(device: i32) {
    assert_eq!(sconce_fft_cache_clear(device), SCONCE_OK);
    assert_eq!(sconce_fft_cache_set_max_size(device, 4096), SCONCE_OK);
    assert_eq!(sconce_fft_cache_set_max_bytes(device, i64::MAX), SCONCE_OK);
    assert_eq!(sconce_fft_cache_reset_stats(device), SCONCE_OK);
}

/// What the driver has left of a device.
pub fn free_bytes(device: i32) -> usize {
    // Work that is queued keeps what it uses.
    assert_eq!(sconce_device_synchronize(device), SCONCE_OK);
    let driver = sconce_runtime::context::runtime().unwrap().driver();
    driver.memory_info(DeviceIndex::new(device).unwrap()).unwrap().free_bytes
}

/// Where the elements of one side lie: the batch, then dimensions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Side {
    pub sizes: Vec<i64>,
    pub strides: Vec<i64>,
    pub complex: bool,
}

impl Side {
    pub fn of(desc: &sconce_fft_desc, output: bool) -> Side {
        let rank = desc.rank as usize;
        let real = desc.kind == if output { SCONCE_FFT_C2R } else { SCONCE_FFT_R2C };
        let mut sizes = vec![desc.batch];
        sizes.extend(&desc.sizes[..rank]);
        if desc.kind != SCONCE_FFT_C2C && !real {
            sizes[rank] = sizes[rank] / 2 + 1;
        }
        let (batch, strides) = if output {
            (desc.out_batch_stride, &desc.out_strides[..rank])
        } else {
            (desc.in_batch_stride, &desc.in_strides[..rank])
        };
        let mut all = vec![batch];
        all.extend(strides);
        if all.iter().all(|stride| *stride == 0) {
            let mut next = 1;
            for axis in (0..=rank).rev() {
                all[axis] = next;
                next *= sizes[axis];
            }
        }
        Side { sizes, strides: all, complex: !real }
    }

    /// Numbers in one element.
    pub fn reals(&self) -> usize {
        if self.complex { 2 } else { 1 }
    }

    pub fn elements(&self) -> usize {
        self.sizes.iter().product::<i64>() as usize
    }

    /// The lowest and the highest element, from the one with the indices 0.
    pub fn range(&self) -> (i64, i64) {
        let reach = |axis: usize| (self.sizes[axis] - 1) * self.strides[axis];
        let all: Vec<i64> = (0..self.sizes.len()).map(reach).collect();
        (all.iter().map(|reach| *reach.min(&0)).sum(), all.iter().map(|reach| *reach.max(&0)).sum())
    }

    /// Where each element is, in the order of the indices, from the lowest one.
    pub fn places(&self) -> Vec<usize> {
        let low = self.range().0;
        (0..self.elements())
            .map(|mut index| {
                let mut at = -low;
                for axis in (0..self.sizes.len()).rev() {
                    let size = self.sizes[axis] as usize;
                    at += (index % size) as i64 * self.strides[axis];
                    index /= size;
                }
                at as usize
            })
            .collect()
    }

    /// How many bytes the range has.
    pub fn bytes(&self, dtype: i32) -> usize {
        let (low, high) = self.range();
        (high - low + 1) as usize * self.reals() * width(dtype)
    }

    /// How many bytes the first element is from the lowest.
    pub fn start(&self, dtype: i32) -> usize {
        (-self.range().0) as usize * self.reals() * width(dtype)
    }
}

pub type Complex = (f64, f64);

/// The elements of a side whose range begins with `bytes`.
pub fn gather(bytes: &[u8], side: &Side, dtype: i32) -> Vec<Complex> {
    let numbers = decode_all(dtype, bytes);
    let element = |place: usize| {
        if side.complex {
            (numbers[2 * place], numbers[2 * place + 1])
        } else {
            (numbers[place], 0.0)
        }
    };
    side.places().into_iter().map(element).collect()
}

/// Sets the elements of a side.
pub fn scatter(elements: &[Complex], side: &Side, dtype: i32, bytes: &mut [u8]) {
    let each = side.reals() * width(dtype);
    for (place, element) in side.places().into_iter().zip(elements) {
        let numbers = [element.0, element.1];
        let encoded = encode_all(dtype, &numbers[..side.reals()]);
        bytes[place * each..][..each].copy_from_slice(&encoded);
    }
}

/// One dimension of a batch of complex numbers, by the definition.
fn dimension(data: &mut [Complex], sizes: &[usize], axis: usize, sign: f64) {
    let n = sizes[axis];
    let inner: usize = sizes[axis + 1..].iter().product();
    let roots: Vec<Complex> = (0..n)
        .map(|k| (sign * TAU * k as f64 / n as f64).sin_cos())
        .map(|(sin, cos)| (cos, sin))
        .collect();
    for start in (0..data.len()).filter(|at| (at / inner).is_multiple_of(n)) {
        let line: Vec<Complex> = (0..n).map(|i| data[start + i * inner]).collect();
        for k in 0..n {
            let mut sum = (0.0, 0.0);
            for (i, value) in line.iter().enumerate() {
                let root = roots[i * k % n];
                sum.0 += value.0 * root.0 - value.1 * root.1;
                sum.1 += value.0 * root.1 + value.1 * root.0;
            }
            data[start + k * inner] = sum;
        }
    }
}

/// What a transform gives, in the order of the indices.
pub fn expected(desc: &sconce_fft_desc, input: &[Complex]) -> Vec<Complex> {
    let rank = desc.rank as usize;
    let mut sizes = vec![desc.batch as usize];
    sizes.extend(desc.sizes[..rank].iter().map(|size| *size as usize));
    let n = sizes[rank];
    let half = n / 2 + 1;
    let mut data = match desc.kind {
        SCONCE_FFT_C2R => whole(input, &sizes, half),
        _ => input.to_vec(),
    };
    let sign = if desc.direction == SCONCE_FFT_FORWARD { -1.0 } else { 1.0 };
    for axis in 1..=rank {
        dimension(&mut data, &sizes, axis, sign);
    }
    let elements: f64 = sizes[1..].iter().map(|size| *size as f64).product();
    let factor = match desc.normalization {
        SCONCE_FFT_NORM_BY_N => 1.0 / elements,
        SCONCE_FFT_NORM_BY_ROOT_N => 1.0 / elements.sqrt(),
        _ => 1.0,
    };
    for value in &mut data {
        *value = (value.0 * factor, value.1 * factor);
    }
    match desc.kind {
        SCONCE_FFT_R2C => data.chunks(n).flat_map(|row| &row[..half]).copied().collect(),
        SCONCE_FFT_C2R => data.iter().map(|value| (value.0, 0.0)).collect(),
        _ => data,
    }
}

/// The other half of what a C2R transform reads: the conjugates of what it has.
fn whole(input: &[Complex], sizes: &[usize], half: usize) -> Vec<Complex> {
    let rank = sizes.len() - 1;
    let n = sizes[rank];
    (0..sizes.iter().product())
        .map(|at: usize| {
            let column = at % n;
            let mirrored = column >= half;
            let mut rest = at / n;
            let (mut row, mut scale) = (0, 1);
            for axis in (0..rank).rev() {
                let (size, index) = (sizes[axis], rest % sizes[axis]);
                let index = if mirrored && axis > 0 { (size - index) % size } else { index };
                row += index * scale;
                scale *= size;
                rest /= size;
            }
            let column = if mirrored { n - column } else { column };
            let value = input[row * half + column];
            if mirrored { (value.0, -value.1) } else { value }
        })
        .collect()
}

/// Numbers that differ, from -1 to 1.
pub fn numbers(seed: u64, count: usize) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    (0..count)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
        })
        .collect()
}

/// Fails unless two results are as near as rounding lets them be.
#[track_caller]
pub fn assert_near(found: &[Complex], expected: &[Complex], dtype: i32, what: &str) {
    assert_eq!(found.len(), expected.len());
    let largest = expected.iter().fold(1e-3, |most: f64, v| most.max(v.0.abs()).max(v.1.abs()));
    let tolerance = largest
        * match dtype {
            SCONCE_DTYPE_F16 => 1e-2,
            SCONCE_DTYPE_F64 => 1e-12,
            _ => 1e-5,
        };
    for (at, (found, expected)) in found.iter().zip(expected).enumerate() {
        let apart = (found.0 - expected.0).abs().max((found.1 - expected.1).abs());
        assert!(apart <= tolerance, "{what}: element {at} is {found:?}, not {expected:?}");
    }
}

/// Makes the imaginary parts zero that a real result needs so: a transform may read them or not.
pub fn make_hermitian(input: &mut [Complex], desc: &sconce_fft_desc) {
    let real = sconce_fft_desc { kind: SCONCE_FFT_R2C, direction: SCONCE_FFT_FORWARD, ..*desc };
    let side = Side::of(&real, false);
    let numbers = numbers(input.len() as u64, side.elements());
    let of_reals: Vec<Complex> = numbers.into_iter().map(|number| (number, 0.0)).collect();
    let whole = sconce_fft_desc { normalization: SCONCE_FFT_NORM_BY_ROOT_N, ..real };
    input.copy_from_slice(&expected(&whole, &of_reals));
}
