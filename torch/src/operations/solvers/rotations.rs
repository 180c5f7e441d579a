//! The step that makes columns orthogonal: rotations of pairs of columns (one-sided Jacobi).

#![allow(unsafe_code, reason = "launches kernels")]

use super::cpu::Matrix;
use super::field::Field;
use super::matrices::{Matrices, View, real_type};
use super::steps::{Step, THREADS, at, unless_on_a_device};
use crate::error::{Result, ensure};
use crate::kernels::images;

// These are in `torch/kernels/solvers_jacobi.cu` too.
const MOST_SWEEPS: u32 = 40;
/// A product of columns that is smaller has fewer digits than a rotation needs. The largest element of a matrix is 1.
const LEAST: f64 = 1e-292;

// SAFETY: `KERNELS` of `torch/kernels/solvers_jacobi.cu` gives `rotate` these parameters.
pub(super) static ROTATE: Step<(View, View, i64, i64)> =
    unsafe { Step::new(&images::SOLVERS_JACOBI, "rotate") };

/// Rotates pairs of columns of `w` until all are orthogonal, and the columns of `v` with them.
pub fn rotate(w: Matrices, v: Matrices) -> Result<()> {
    ensure!(w.columns == v.columns && v.rows == v.columns && w.is_like(&v));
    unless_on_a_device!(w, T => {
        let epsilon = match real_type(w.dtype) {
            api::SCONCE_DTYPE_F32 => f64::from(f32::EPSILON),
            _ => f64::EPSILON,
        };
        for entry in 0..w.count {
            let (own, other) = (Matrix::<T>::of(&w, entry), Matrix::<T>::of(&v, entry));
            on_cpu(own, other, [w.rows, w.columns], epsilon);
        }
    });
    let parameters = |entry| (at(&w, entry), at(&v, entry), w.rows, w.columns);
    // SAFETY: `w` has so many rows and columns and `v` as many columns and rows as that; both have one type and device,
    // and their tensors live.
    unsafe { ROTATE.launch(&w, [0, 0], |_| 32 * THREADS + 16, parameters) }
}

/// The rotation of a pair, or nothing if it is orthogonal enough.
struct Turn<T> {
    cosine: T,
    sine: T,
    phase: T,
}

impl<T: Field> Turn<T> {
    fn of(w: Matrix<T>, rows: i64, low: i64, high: i64, limit: f64) -> Option<Turn<T>> {
        let (mut first, mut second, mut both) = (0.0, 0.0, (0.0, 0.0));
        for i in 0..rows {
            let (a, b) = (w.get(i, low), w.get(i, high));
            first += a.real() * a.real() + a.imaginary() * a.imaginary();
            second += b.real() * b.real() + b.imaginary() * b.imaginary();
            both.0 += a.real() * b.real() + a.imaginary() * b.imaginary();
            both.1 += a.real() * b.imaginary() - a.imaginary() * b.real();
        }
        let size = f64::hypot(both.0, both.1);
        // Not a number is not turned, either.
        if size.is_nan() || size <= LEAST || size <= limit * first.sqrt() * second.sqrt() {
            return None;
        }
        let zeta = (second - first) / (2.0 * size);
        let tangent = f64::copysign(1.0, zeta) / (zeta.abs() + zeta.hypot(1.0));
        let cosine = 1.0 / tangent.hypot(1.0);
        Some(Turn {
            cosine: T::of(cosine, 0.0),
            sine: T::of(cosine * tangent, 0.0),
            phase: T::of(both.0 / size, -both.1 / size),
        })
    }

    fn apply(&self, to: Matrix<T>, rows: i64, low: i64, high: i64) {
        for i in 0..rows {
            let (old, turned) = (to.get(i, low), self.phase * to.get(i, high));
            to.set(i, low, self.cosine * old - self.sine * turned);
            to.set(i, high, self.sine * old + self.cosine * turned);
        }
    }
}

fn on_cpu<T: Field>(w: Matrix<T>, v: Matrix<T>, [rows, columns]: [i64; 2], epsilon: f64) {
    let limit = epsilon * (rows as f64).sqrt();
    for _ in 0..MOST_SWEEPS {
        let mut is_orthogonal = true;
        for low in 0..columns {
            for high in low + 1..columns {
                if let Some(turn) = Turn::of(w, rows, low, high, limit) {
                    is_orthogonal = false;
                    turn.apply(w, rows, low, high);
                    turn.apply(v, columns, low, high);
                }
            }
        }
        if is_orthogonal {
            break;
        }
    }
}
