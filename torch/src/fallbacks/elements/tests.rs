//! Elementwise operations, views and transforms beside plainer loops, and what they refuse.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls functions of the ABI")]

use super::views::*;
use super::*;
use crate::abi::tensors::{offset_of, sizes_of, strides_of};
use crate::error::newest;
use crate::fallbacks::transforms::{aoti_torch_cpu__fft_c2c, aoti_torch_cpu__fft_r2c};
use crate::sconce::Tensor;
use crate::sconce::api::{SCONCE_DTYPE_F32 as F32, SCONCE_DTYPE_F64 as F64};
use crate::testing::{Cases, Dense, live};

/// The tensor that a function returns.
fn made(run: impl FnOnce(*mut TensorHandle) -> i32) -> Tensor {
    let mut handle = std::ptr::null_mut();
    assert_eq!(run(&mut handle), 0, "{:?}", newest());
    Tensor::from_handle(handle)
}

fn refused(status: i32, words: &str) {
    assert_ne!(status, 0, "{words}");
    let why = newest().unwrap();
    assert!(why.contains(words), "expected {words:?} in {why:?}");
}

#[test]
fn sums_products_and_powers_agree_with_loops() {
    let before = live();
    let mut cases = Cases::new(71);
    for _ in 0..40 {
        let sizes = [cases.int(1, 4), cases.int(1, 4)];
        let (a, b) =
            (Dense::quarters(&mut cases, &sizes), Dense::quarters(&mut cases, &sizes[1..]));
        let (x, y) = (a.either(&mut cases, F64), b.either(&mut cases, F64));
        let check = |name: &str, expected: &dyn Fn(f64, f64) -> f64, found: Tensor| {
            let expected = Dense::build(&sizes, |at| expected(a.at(at), b.repeated_at(at)));
            expected.assert_near(found.handle(), 1e-12, name);
        };
        let (x, y) = (x.handle(), y.handle());
        // SAFETY: any numbers may be passed as handles, here and below.
        let found = made(|ret| unsafe { aoti_torch_cpu_add_Tensor(x, y, 3.0, ret) });
        check("add", &|a, b| a + 3.0 * b, found);
        // SAFETY: as above.
        let found = made(|ret| unsafe { aoti_torch_cpu_add_Scalar(x, 0.5, 2.0, ret) });
        check("add_Scalar", &|a, _| a + 1.0, found);
        // SAFETY: as above.
        let found = made(|ret| unsafe { aoti_torch_cpu_mul_Tensor(x, y, ret) });
        check("mul", &|a, b| a * b, found);
        // SAFETY: as above.
        let found = made(|ret| unsafe { aoti_torch_cpu_pow_Scalar(2.0, x, ret) });
        check("pow_Scalar", &|a, _| a.exp2(), found);
        // SAFETY: as above.
        let found = made(|ret| unsafe { aoti_torch_cpu_pow_Tensor_Scalar(x, 2.0, ret) });
        check("pow_Tensor_Scalar", &|a, _| a * a, found);
        // SAFETY: as above.
        let found = made(|ret| unsafe { aoti_torch_cpu_angle(x, ret) });
        check("angle", &|a, _| if a < 0.0 { std::f64::consts::PI } else { 0.0 }, found);
        // SAFETY: as above.
        let turned = made(|ret| unsafe { aoti_torch_cpu_polar(x, y, ret) });
        // SAFETY: as above.
        let parts = made(|ret| unsafe { aoti_torch_cpu_view_as_real(turned.handle(), ret) });
        let expected = Dense::build(&[sizes[0], sizes[1], 2], |at| {
            let (size, angle) = (a.at(&at[..2]), b.at(&at[1..2]));
            if at[2] == 0 { size * angle.cos() } else { size * angle.sin() }
        });
        expected.assert_near(parts.handle(), 1e-12, "polar");
        // SAFETY: as above.
        let slope =
            made(|ret| unsafe { aoti_torch_cpu_soft_margin_loss_backward(x, x, y, 2, ret) });
        let loss = |a: f64, b: f64| -a * b * (-a * b).exp() / (1.0 + (-a * b).exp());
        check("soft_margin_loss_backward", &loss, slope);
    }
    assert_eq!(live(), before);
}

#[test]
fn views_show_the_same_memory() {
    let before = live();
    let x = Dense::build(&[2, 4], |at| (at[0] * 4 + at[1]) as f64).tensor(F32);
    // SAFETY: any numbers may be passed as handles, and the pointers are valid, here and below.
    let part = made(|ret| unsafe { aoti_torch_cpu_slice_Tensor(x.handle(), 1, &2, &4, 1, ret) });
    // SAFETY: as above.
    let complex = made(|ret| unsafe { aoti_torch_cpu_view_as_complex(part.handle(), ret) });
    assert_eq!(strides_of(complex.handle()).unwrap(), [2]);
    assert_eq!(offset_of(complex.handle()).unwrap(), 1);
    // SAFETY: as above.
    let real = made(|ret| unsafe { aoti_torch_cpu_view_as_real(complex.handle(), ret) });
    // SAFETY: as above.
    assert_eq!(unsafe { aoti_torch_cpu_fill__Scalar(x.handle(), 5.0) }, 0);
    assert_eq!(Dense::of(real.handle()).values, [5.0; 4]);
    // SAFETY: as above.
    let bytes = made(|ret| unsafe { aoti_torch_cpu_view_dtype(x.handle(), 0, ret) });
    assert_eq!(sizes_of(bytes.handle()).unwrap(), [2, 16]);
    // SAFETY: as above.
    assert_eq!(unsafe { aoti_torch_cpu_resize_(x.handle(), [1, 3, 1, 2].as_ptr(), 4, &2) }, 0);
    assert_eq!(strides_of(x.handle()).unwrap(), [6, 1, 6, 3]);
    // SAFETY: as above.
    assert_eq!(unsafe { aoti_torch_cpu_set__source_Tensor(x.handle(), part.handle()) }, 0);
    assert_eq!((sizes_of(x.handle()).unwrap(), offset_of(x.handle()).unwrap()), (vec![2, 2], 2));
    drop((x, part, complex, real, bytes));
    assert_eq!(live(), before);
}

#[test]
fn transforms_agree_with_sums_of_waves() {
    let values = Dense::build(&[3, 5], |at| (at[0] * 7 % 5 + at[1] * at[1]) as f64);
    let x = values.tensor(F64);
    let expected = |rows: i64, columns: i64| {
        Dense::build(&[rows, columns, 2], |at| {
            let mut sum = 0.0;
            for (i, j) in (0..3).flat_map(|i| (0..5).map(move |j| (i, j))) {
                let turn = (i * at[0]) as f64 / 3.0 + (j * at[1]) as f64 / 5.0;
                let angle = -2.0 * std::f64::consts::PI * turn;
                let wave = if at[2] == 0 { angle.cos() } else { angle.sin() };
                sum += values.at(&[i, j]) * wave;
            }
            sum / 15.0
        })
    };
    for (onesided, columns) in [(1, 3), (0, 5)] {
        let found = made(|ret| {
            // SAFETY: any numbers may be passed as handles; the list has two entries.
            unsafe { aoti_torch_cpu__fft_r2c(x.handle(), [0, 1].as_ptr(), 2, 2, onesided, ret) }
        });
        // SAFETY: any number may be passed as a handle.
        let parts = made(|ret| unsafe { aoti_torch_cpu_view_as_real(found.handle(), ret) });
        expected(3, columns).assert_near(parts.handle(), 1e-12, "r2c");
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let before = live();
    let x = Dense::build(&[2, 3], |_| 1.0).tensor(F32);
    let wide = Dense::build(&[2, 3], |_| 1.0).tensor(F64);
    let (h, mut none) = (x.handle(), std::ptr::null_mut());
    let ret = &raw mut none;
    // A call whose handles are any numbers, and whose pointers are valid.
    macro_rules! refuse {
        ($call:expr, $words:literal $(,)?) => {
            // SAFETY: as above.
            refused(unsafe { $call }, $words);
        };
    }
    refuse!(aoti_torch_cpu_view_as_real(h, ret), "self must be complex");
    refuse!(aoti_torch_cpu_view_as_complex(h, ret), "size 2 and stride 1");
    refuse!(aoti_torch_cpu_view_dtype(h, 4, ret), "the last size of self is 3");
    refuse!(aoti_torch_cpu_resize_(h, [2].as_ptr(), 1, &2), "memory_format needs 4");
    refuse!(aoti_torch_cpu_resize_(h, [2].as_ptr(), 1, &1), "no memory format preserve");
    refuse!(aoti_torch_cpu_soft_margin_loss_backward(h, h, h, 3, ret), "reduction is 3");
    refuse!(aoti_torch_cpu__fft_c2c(h, [0].as_ptr(), 1, 0, 1, ret), "self must be complex");
    refuse!(aoti_torch_cpu__fft_r2c(h, [0, 0].as_ptr(), 2, 0, 1, ret), "at most once");
    refuse!(aoti_torch_cpu__fft_r2c(h, [0].as_ptr(), 1, 3, 1, ret), "normalization is 3");
    refuse!(aoti_torch_cpu_polar(h, wide.handle(), ret), "of float32 and float64");
    drop((x, wide));
    assert_eq!(live(), before);
}
