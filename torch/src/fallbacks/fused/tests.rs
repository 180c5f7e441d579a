//! Arguments as the ABI passes them.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls functions of C")]

use std::ffi::c_char;
use std::ptr::{null, null_mut};

use super::attributes::{Movement, function_of, spread};
use super::plain::{
    aoti_torch_cpu__linear_pointwise, aoti_torch_cpu__linear_pointwise_binary,
    aoti_torch_cpu__mkl_linear, aoti_torch_cpu_mkldnn__convolution_pointwise_binary_,
};
use crate::abi::arguments::{CText, Call, List};
use crate::operations::fused::activation::Activation;
use crate::sconce::api;
use crate::testing::{Cases, Dense, assert_refused, call, live, returned, returned_by};

const F32: i32 = api::SCONCE_DTYPE_F32;

#[test]
fn functions_and_their_numbers_are_read() {
    let (least, most) = (-1.5_f64, 2.5_f64);
    let read = |numbers: &[*const f64]| {
        // SAFETY: the array has its length, and its entries are NULL or addresses of numbers.
        unsafe {
            Vec::<Option<f64>>::of_c(
                numbers.as_ptr(),
                numbers.len() as i64,
                "scalars",
                &Call::started(),
            )
        }
    };
    let name = Some(CText::from(c"hardtanh"));
    let numbers = read(&[&raw const least, &raw const most]).unwrap();
    assert_eq!(function_of(name, &numbers, None).unwrap(), Activation::HardTanh(-1.5, 2.5));
    let missing = read(&[null(), &raw const most]).unwrap();
    let why = function_of(name, &missing, None).unwrap_err();
    assert!(why.message.contains("lack the one at 0"), "{why:?}");
    let nothing = read(&[]).unwrap();
    let none = function_of(Some(CText::none()), &nothing, None).unwrap();
    assert_eq!(none, Activation::None);
    // SAFETY: a list whose number of entries is refused is not read.
    let wrong = unsafe { Vec::<Option<f64>>::of_c(null(), -1, "scalars", &Call::started()) };
    assert!(wrong.unwrap_err().message.contains("scalars has -1 entries"));
}

#[test]
fn one_step_stands_for_all_dimensions() {
    let images = Dense::build(&[1, 1, 2, 2], |_| 1.0).tensor(F32);
    let moved = Movement::read(images.handle(), [&[2], &[1, 1], &[1, 1]], 1).unwrap();
    assert_eq!(moved.steps().stride, [2, 2]);
    assert_eq!(moved.steps().padding, [1, 1]);
    let why = spread(&[1; 3], 2, "padding").unwrap_err();
    assert!(why.message.contains("padding has 3 entries, but the images 2"), "{why:?}");
}

#[test]
fn functions_of_the_abi_agree_with_each_other() {
    let before = live();
    let mut cases = Cases::new(101);
    let input = Dense::quarters(&mut cases, &[2, 3, 4]).tensor(F32);
    let weights = Dense::quarters(&mut cases, &[5, 4]).tensor(F32);
    let bias = Dense::quarters(&mut cases, &[5]).tensor(F32);
    let other = Dense::quarters(&mut cases, &[6, 5]).tensor(F32);
    let of_bias = bias.handle();
    let (x, w, b) = (input.handle(), weights.handle(), &raw const of_bias);
    let no_algorithm: *const *const c_char = null();
    let name = |text: &'static std::ffi::CStr| text.as_ptr();
    let plain = returned_by!(aoti_torch_cpu__linear_pointwise(
        x,
        w,
        b,
        name(c"none"),
        null(),
        0,
        no_algorithm
    ));
    let packed = returned_by!(aoti_torch_cpu__mkl_linear(x, null_mut(), w, b, 6));
    assert_eq!(Dense::of(plain.handle()), Dense::of(packed.handle()));
    // Another tensor of as many elements counts, whatever its dimensions in front.
    let sum = returned_by!(aoti_torch_cpu__linear_pointwise_binary(
        x,
        other.handle(),
        w,
        b,
        name(c"sub")
    ));
    let (numbers, other_numbers) = (Dense::of(plain.handle()), Dense::of(other.handle()));
    let expected = Dense::build(&[2, 3, 5], |at| {
        numbers.at(at) - other_numbers.at(&[at[0] * 3 + at[1], at[2]])
    });
    expected.assert_near(sum.handle(), 1e-6, "sub");
    let status = call!(aoti_torch_cpu__linear_pointwise(
        x,
        w,
        b,
        name(c"mish"),
        null(),
        0,
        no_algorithm,
        null_mut()
    ));
    assert_refused(status, &["_linear_pointwise: ", "\"mish\""]);
    drop((input, weights, bias, other, plain, packed, sum));
    assert_eq!(live(), before);
}

#[test]
fn a_sum_in_place_is_in_the_other_tensor_and_returned() {
    let before = live();
    let images = Dense::build(&[1, 1, 2, 2], |at| (at[2] * 2 + at[3]) as f64).tensor(F32);
    let filter = Dense { sizes: vec![1, 1, 1, 1], values: vec![2.0] }.tensor(F32);
    let other = Dense::build(&[1, 1, 2, 2], |_| -3.0).tensor(F32);
    let (zeros, ones, alpha) = ([0_i64, 0], [1_i64, 1], [2.0_f64]);
    let relu = c"relu".as_ptr();
    let call = |alpha: *const f64, made| {
        call!(aoti_torch_cpu_mkldnn__convolution_pointwise_binary_(
            other.handle(),
            images.handle(),
            filter.handle(),
            null(),
            zeros.as_ptr(),
            2,
            ones.as_ptr(),
            2,
            ones.as_ptr(),
            2,
            1,
            c"add".as_ptr(),
            alpha,
            &relu,
            null(),
            0,
            null(),
            made
        ))
    };
    assert_refused(call(alpha.as_ptr(), null_mut()), &["alpha value should be none or 1.0"]);
    let made = returned(|made| call(null(), made));
    let expected = Dense { sizes: vec![1, 1, 2, 2], values: vec![0.0, 0.0, 1.0, 3.0] };
    expected.assert_near(other.handle(), 0.0, "the other tensor");
    expected.assert_near(made.handle(), 0.0, "the result");
    assert_ne!(made.handle(), other.handle());
    drop((images, filter, other, made));
    assert_eq!(live(), before);
}
