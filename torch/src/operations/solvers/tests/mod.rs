//! Solutions and factors beside what defines them: products that are written out.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod equations;
mod factors;
mod kernels;
mod others;
mod spectra;
mod symmetric;

use super::field::{Complex, Field};
use super::matrices::real_type;
use crate::abi::tensors::{device_of_tensor, sizes_of};
use crate::operations::views::{as_complex, as_real};
use crate::sconce::operations::to_dtype;
use crate::sconce::{Tensor, api};
use crate::testing::{Cases, Dense, live};

type Number = Complex<f64>;

const TYPES: [i32; 4] =
    [api::SCONCE_DTYPE_F32, api::SCONCE_DTYPE_F64, api::SCONCE_DTYPE_C64, api::SCONCE_DTYPE_C128];

fn is_complex(dtype: i32) -> bool {
    matches!(dtype, api::SCONCE_DTYPE_C64 | api::SCONCE_DTYPE_C128)
}

fn within(dtype: i32) -> f64 {
    if matches!(dtype, api::SCONCE_DTYPE_F32 | api::SCONCE_DTYPE_C64) { 2e-4 } else { 1e-11 }
}

/// A batch of matrices as numbers.
#[derive(Clone, Debug)]
struct Batch {
    sizes: [i64; 3],
    values: Vec<Number>,
}

impl Batch {
    fn build(sizes: [i64; 3], mut value: impl FnMut(i64, i64, i64) -> Number) -> Batch {
        let [count, rows, columns] = sizes;
        let mut values = Vec::new();
        for entry in 0..count {
            for i in 0..rows {
                for j in 0..columns {
                    values.push(value(entry, i, j));
                }
            }
        }
        Batch { sizes, values }
    }

    fn random(cases: &mut Cases, sizes: [i64; 3], dtype: i32) -> Batch {
        let mut part = || cases.int(-16, 16) as f64 / 8.0;
        Batch::build(sizes, |_, _, _| Number {
            re: part(),
            im: if is_complex(dtype) { part() } else { 0.0 },
        })
    }

    fn identity(sizes: [i64; 3]) -> Batch {
        Batch::build(sizes, |_, i, j| if i == j { Number::ONE } else { Number::ZERO })
    }

    fn at(&self, entry: i64, i: i64, j: i64) -> Number {
        let [_, rows, columns] = self.sizes;
        self.values[((entry * rows + i) * columns + j) as usize]
    }

    fn times(&self, other: &Batch) -> Batch {
        let ([count, rows, inner], columns) = (self.sizes, other.sizes[2]);
        assert_eq!(inner, other.sizes[1]);
        Batch::build([count, rows, columns], |entry, i, j| {
            (0..inner)
                .fold(Number::ZERO, |sum, k| sum + self.at(entry, i, k) * other.at(entry, k, j))
        })
    }

    fn transposed(&self) -> Batch {
        let [count, rows, columns] = self.sizes;
        Batch::build([count, columns, rows], |entry, i, j| self.at(entry, j, i))
    }

    fn adjoint(&self) -> Batch {
        let [count, rows, columns] = self.sizes;
        Batch::build([count, columns, rows], |entry, i, j| self.at(entry, j, i).conjugate())
    }

    /// With what is not in a triangle replaced: 0 outside, 1 on the diagonal if it counts as that.
    fn triangle(&self, is_upper: bool, is_unit: bool) -> Batch {
        Batch::build(self.sizes, |entry, i, j| match () {
            () if i == j && is_unit => Number::ONE,
            () if i == j || (i < j) == is_upper => self.at(entry, i, j),
            () => Number::ZERO,
        })
    }

    /// Triangles of it have no large inverse.
    fn dominated(cases: &mut Cases, sizes: [i64; 3], dtype: i32) -> Batch {
        let random = Batch::random(cases, sizes, dtype);
        Batch::build(sizes, |entry, i, j| {
            let value = random.at(entry, i, j);
            let scale = Number::of(0.5 / (sizes[2] as f64).sqrt(), 0.0);
            if i == j { Number::of(1.5 + value.re.abs(), 0.0) } else { value * scale }
        })
    }

    fn dense(&self) -> Dense {
        let [count, rows, columns] = self.sizes;
        let parts = |value: &Number| [value.re, value.im];
        Dense {
            sizes: vec![count, rows, columns, 2],
            values: self.values.iter().flat_map(parts).collect(),
        }
    }

    fn tensor(&self, cases: &mut Cases, dtype: i32) -> Tensor {
        if is_complex(dtype) {
            let real = real_type(dtype);
            return as_complex(self.dense().tensor(real).handle()).unwrap();
        }
        let values = self.values.iter().map(|value| value.re).collect();
        Dense { sizes: self.sizes.to_vec(), values }.either(cases, dtype)
    }

    fn of(tensor: &Tensor) -> Batch {
        let sizes = sizes_of(tensor.handle()).unwrap();
        let complex = to_dtype(tensor.handle(), api::SCONCE_DTYPE_C128).unwrap();
        let parts = Dense::of(as_real(complex.handle()).unwrap().handle()).values;
        let values = parts.chunks(2).map(|pair| Number { re: pair[0], im: pair[1] }).collect();
        Batch { sizes: sizes.try_into().unwrap(), values }
    }

    fn assert_near(&self, found: &Batch, dtype: i32, what: &str) {
        assert_eq!(self.sizes, found.sizes, "{what}");
        let most = self.values.iter().map(|value| value.size_of_parts()).fold(1.0, f64::max);
        for (at, (own, other)) in self.values.iter().zip(&found.values).enumerate() {
            let apart = (*own - *other).size_of_parts();
            assert!(apart <= within(dtype) * most, "{what}: {other:?} instead of {own:?} at {at}");
        }
    }
}

/// Mostly a panel and a part of one; sometimes nothing at all.
fn size(cases: &mut Cases) -> i64 {
    match cases.int(0, 9) {
        0 => 0,
        1..=5 => cases.int(1, 8),
        _ => cases.int(30, 70),
    }
}

fn run(seed: u64, rounds: usize, mut case: impl FnMut(&mut Cases, i32)) {
    let before = live();
    let mut cases = Cases::new(seed);
    for round in 0..rounds {
        case(&mut cases, TYPES[round % 4]);
    }
    assert_eq!(live(), before, "tensors are left");
}
