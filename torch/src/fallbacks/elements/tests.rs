//! Elementwise operations, views and transforms beside plainer loops, and what they refuse.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls functions of the ABI")]

use super::views::*;
use super::*;
use crate::abi::tensors::{offset_of, sizes_of, strides_of};
use crate::fallbacks::transforms::{aoti_torch_cpu__fft_c2c, aoti_torch_cpu__fft_r2c};
use crate::sconce::Tensor;
use crate::sconce::api::{SCONCE_DTYPE_F32 as F32, SCONCE_DTYPE_F64 as F64};
use crate::testing::{Cases, Dense, assert_refused, call, live, returned, returned_by};

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
        let found = returned_by!(aoti_torch_cpu_add_Tensor(x, y, 3.0));
        check("add", &|a, b| a + 3.0 * b, found);
        let found = returned_by!(aoti_torch_cpu_add_Scalar(x, 0.5, 2.0));
        check("add_Scalar", &|a, _| a + 1.0, found);
        let found = returned_by!(aoti_torch_cpu_mul_Tensor(x, y));
        check("mul", &|a, b| a * b, found);
        let found = returned_by!(aoti_torch_cpu_pow_Scalar(2.0, x));
        check("pow_Scalar", &|a, _| a.exp2(), found);
        let found = returned_by!(aoti_torch_cpu_pow_Tensor_Scalar(x, 2.0));
        check("pow_Tensor_Scalar", &|a, _| a * a, found);
        let found = returned_by!(aoti_torch_cpu_mul_Scalar(x, -1.5));
        check("mul_Scalar", &|a, _| a * -1.5, found);
        let bases = returned_by!(aoti_torch_cpu_pow_Scalar(2.0, x));
        let found = returned_by!(aoti_torch_cpu_pow_Tensor_Tensor(bases.handle(), y));
        check("pow_Tensor_Tensor", &|a, b| a.exp2().powf(b), found);
        let found = returned_by!(aoti_torch_cpu_angle(x));
        check("angle", &|a, _| if a < 0.0 { std::f64::consts::PI } else { 0.0 }, found);
        let turned = returned_by!(aoti_torch_cpu_polar(x, y));
        let parts = returned_by!(aoti_torch_cpu_view_as_real(turned.handle()));
        let expected = Dense::build(&[sizes[0], sizes[1], 2], |at| {
            let (size, angle) = (a.at(&at[..2]), b.at(&at[1..2]));
            if at[2] == 0 { size * angle.cos() } else { size * angle.sin() }
        });
        expected.assert_near(parts.handle(), 1e-12, "polar");
        let slope = returned_by!(aoti_torch_cpu_soft_margin_loss_backward(x, x, y, 2));
        let loss = |a: f64, b: f64| -a * b * (-a * b).exp() / (1.0 + (-a * b).exp());
        check("soft_margin_loss_backward", &loss, slope);
    }
    assert_eq!(live(), before);
}

#[test]
fn views_show_the_same_memory() {
    let before = live();
    let x = Dense::build(&[2, 4], |at| (at[0] * 4 + at[1]) as f64).tensor(F32);
    let part = returned_by!(aoti_torch_cpu_slice_Tensor(x.handle(), 1, &2, &4, 1));
    let complex = returned_by!(aoti_torch_cpu_view_as_complex(part.handle()));
    assert_eq!(strides_of(complex.handle()).unwrap(), [2]);
    assert_eq!(offset_of(complex.handle()).unwrap(), 1);
    let real = returned_by!(aoti_torch_cpu_view_as_real(complex.handle()));
    assert_eq!(call!(aoti_torch_cpu_fill__Scalar(x.handle(), 5.0)), 0);
    assert_eq!(Dense::of(real.handle()).values, [5.0; 4]);
    let bytes = returned_by!(aoti_torch_cpu_view_dtype(x.handle(), 0));
    assert_eq!(sizes_of(bytes.handle()).unwrap(), [2, 16]);
    assert_eq!(call!(aoti_torch_cpu_resize_(x.handle(), [1, 3, 1, 2].as_ptr(), 4, &2)), 0);
    assert_eq!(strides_of(x.handle()).unwrap(), [6, 1, 6, 3]);
    assert_eq!(call!(aoti_torch_cpu_set__source_Tensor(x.handle(), part.handle())), 0);
    assert_eq!((sizes_of(x.handle()).unwrap(), offset_of(x.handle()).unwrap()), (vec![2, 2], 2));
    drop((x, part, complex, real, bytes));
    assert_eq!(live(), before);
}

#[test]
fn views_have_other_dimensions() {
    let before = live();
    let x = Dense::build(&[2, 1, 3], |at| (at[0] * 3 + at[2]) as f64).tensor(F32);
    let turned = returned_by!(aoti_torch_cpu_permute(x.handle(), [2, 0, 1].as_ptr(), 3));
    assert_eq!(sizes_of(turned.handle()).unwrap(), [3, 2, 1]);
    assert_eq!(Dense::of(turned.handle()).values, [0.0, 3.0, 1.0, 4.0, 2.0, 5.0]);
    let flat = returned_by!(aoti_torch_cpu_squeeze_dim(x.handle(), -2));
    assert_eq!(sizes_of(flat.handle()).unwrap(), [2, 3]);
    let kept = returned_by!(aoti_torch_cpu_squeeze_dim(x.handle(), 0));
    assert_eq!(sizes_of(kept.handle()).unwrap(), [2, 1, 3]);
    let (other, none) = (Dense::build(&[5], |_| 7.0).tensor(F32), std::ptr::null());
    assert_eq!(call!(aoti_torch_cpu_resize_as_(other.handle(), x.handle(), none)), 0);
    assert_eq!(sizes_of(other.handle()).unwrap(), [2, 1, 3]);
    assert_eq!(Dense::of(other.handle()).values[..5], [7.0; 5]);
    let zeros = returned_by!(aoti_torch_cpu__efficientzerotensor(
        [2, 2].as_ptr(),
        2,
        none,
        none,
        none,
        -1,
        none
    ));
    assert_eq!(Dense::of(zeros.handle()).values, [0.0; 4]);
    drop((x, turned, flat, kept, other, zeros));
    assert_eq!(live(), before);
}

#[test]
fn channels_stay_innermost_in_memory() {
    let before = live();
    let rows = Dense::build(&[2, 4, 5, 3], |_| 1.0).tensor(F32);
    let images = returned_by!(aoti_torch_cpu_permute(rows.handle(), [0, 3, 1, 2].as_ptr(), 4));
    let larger = Dense::build(&[120], |_| 0.0).tensor(F32);
    let status = call!(aoti_torch_cpu_resize_as_(larger.handle(), images.handle(), &1));
    assert_eq!(status, 0, "{:?}", crate::error::newest());
    assert_eq!(strides_of(larger.handle()).unwrap(), [60, 1, 15, 3]);
    let none = std::ptr::null();
    let padded = returned(|ret| {
        // SAFETY: any numbers may be handles; arrays have the lengths that are passed, and places are variables of
        // the test.
        unsafe {
            let mode = c"constant".as_ptr();
            pad::aoti_torch_cpu_pad(images.handle(), [1, 1].as_ptr(), 2, mode, none, ret)
        }
    });
    assert_eq!(sizes_of(padded.handle()).unwrap(), [2, 3, 4, 7]);
    assert_eq!(strides_of(padded.handle()).unwrap(), [84, 1, 21, 3]);
    drop((rows, images, larger, padded));
    assert_eq!(live(), before);
}

#[test]
fn three_factors_are_multiplied_and_summed() {
    let mut cases = Cases::new(72);
    for _ in 0..20 {
        let (i, j, k) = (cases.int(1, 3), cases.int(1, 3), cases.int(1, 3));
        let (a, b) = (Dense::quarters(&mut cases, &[i, j]), Dense::quarters(&mut cases, &[j, k]));
        let c = Dense::quarters(&mut cases, &[i, k]);
        let [x, y, z] = [&a, &b, &c].map(|one| one.either(&mut cases, F64));
        // Each factor lacks one of three dimensions; the middle one is summed.
        let found = returned(|ret| {
            let [first, second, third] = [[2_i64], [0], [1]];
            call!(aoti_torch_cpu__trilinear(
                x.handle(),
                y.handle(),
                z.handle(),
                first.as_ptr(),
                1,
                second.as_ptr(),
                1,
                third.as_ptr(),
                1,
                [1].as_ptr(),
                1,
                1,
                ret
            ))
        });
        let expected = Dense::build(&[i, k], |at| {
            (0..j).map(|m| a.at(&[at[0], m]) * b.at(&[m, at[1]]) * c.at(at)).sum()
        });
        expected.assert_near(found.handle(), 1e-12, "_trilinear");
    }
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
        let found =
            returned_by!(aoti_torch_cpu__fft_r2c(x.handle(), [0, 1].as_ptr(), 2, 2, onesided));
        let parts = returned_by!(aoti_torch_cpu_view_as_real(found.handle()));
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
            // SAFETY: any numbers may be handles; arrays have the lengths that are passed, and places are variables
            // of the test.
            assert_refused(unsafe { $call }, &[$words]);
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

#[test]
fn windows_parts_and_sizes_agree_with_formulas() {
    let before = live();
    let mut cases = Cases::new(31);
    for _ in 0..20 {
        let sizes = [cases.int(1, 4), cases.int(2, 5)];
        let a = Dense::quarters(&mut cases, &sizes);
        let tensor = a.either(&mut cases, F64);
        let x = tensor.handle();
        let found = returned_by!(aoti_torch_cpu_abs(x));
        Dense::build(&sizes, |at| a.at(at).abs()).assert_near(found.handle(), 0.0, "abs");
        let found = returned_by!(aoti_torch_cpu_narrow(x, -1, 1, sizes[1] - 1));
        let expected = Dense::build(&[sizes[0], sizes[1] - 1], |at| a.at(&[at[0], at[1] + 1]));
        expected.assert_near(found.handle(), 0.0, "narrow");
        let wanted = [sizes[1], -1];
        let found = returned_by!(aoti_torch_cpu_reshape(x, wanted.as_ptr(), 2));
        let expected = Dense { sizes: vec![sizes[1], sizes[0]], values: a.values.clone() };
        expected.assert_near(found.handle(), 0.0, "reshape");
        let length = cases.int(0, 12);
        let null = std::ptr::null();
        // PyTorch's number of float64.
        let double = 7;
        let found = returned_by!(aoti_torch_cpu_hann_window(length, &double, null, null, 0, null));
        let expected = Dense::build(&[length], |at| {
            let turn = std::f64::consts::TAU * at[0] as f64 / length as f64;
            if length == 1 { 1.0 } else { 0.5 - 0.5 * turn.cos() }
        });
        expected.assert_near(found.handle(), 1e-15, "hann_window");
    }
    assert_eq!(live(), before);
    let (null, mut place) = (std::ptr::null(), std::ptr::null_mut());
    let status = call!(aoti_torch_cpu_hann_window(-1, null, null, null, 0, null, &mut place));
    assert_refused(status, &["non-negative window_length"]);
}
