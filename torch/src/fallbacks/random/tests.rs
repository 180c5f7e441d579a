//! Random numbers of the CPU beside those that PyTorch 2.11 draws for the seed 42, and what is refused.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls functions of the ABI")]
#![allow(
    clippy::multiple_unsafe_ops_per_block,
    reason = "calls of one kind, with the same promise"
)]

use std::ptr::{null, null_mut};

use super::dropout::aoti_torch_cpu_native_dropout;
use super::factories::{
    aoti_torch_cpu_rand, aoti_torch_cpu_rand_generator, aoti_torch_cpu_randint,
    aoti_torch_cpu_randint_generator, aoti_torch_cpu_randint_low, aoti_torch_cpu_randn,
    aoti_torch_cpu_randn_generator, aoti_torch_cpu_randperm,
};
use super::fills::{
    aoti_torch_cpu_bernoulli__Tensor, aoti_torch_cpu_bernoulli__float, aoti_torch_cpu_exponential,
    aoti_torch_cpu_normal_functional, aoti_torch_cpu_randint_low_out, aoti_torch_cpu_uniform,
};
use super::likes::{
    aoti_torch_cpu_rand_like, aoti_torch_cpu_rand_like_generator, aoti_torch_cpu_randint_like,
    aoti_torch_cpu_randint_like_low_dtype, aoti_torch_cpu_randn_like,
    aoti_torch_cpu_randn_like_generator,
};
use crate::abi::tensors::{dtype_of_tensor, sizes_of, strides_of};
use crate::sconce::api::{
    self, SCONCE_DTYPE_BF16 as BF16, SCONCE_DTYPE_F16 as F16, SCONCE_DTYPE_F32 as F32,
    SCONCE_DTYPE_F64 as F64, SCONCE_DTYPE_I32 as I32, SCONCE_DTYPE_I64 as I64,
};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, check};
use crate::testing::{Dense, assert_refused, call, live, returned};

/// The default generator of the CPU.
fn generator() -> *mut api::sconce_generator {
    let mut generator = null_mut();
    check(api::sconce_generator_get_default(api::SCONCE_DEVICE_CPU, &mut generator)).unwrap();
    generator
}

fn seed() {
    check(api::sconce_generator_set_seed(generator(), 42)).unwrap();
}

/// The result of a function of the ABI that is called after the generator was seeded.
fn drawn(call: impl FnOnce(*mut TensorHandle) -> i32) -> Tensor {
    seed();
    returned(call)
}

fn assert_near(tensor: &Tensor, dtype: i32, expected: &[f64]) {
    assert_eq!(dtype_of_tensor(tensor.handle()).unwrap(), dtype);
    let found = Dense::of(tensor.handle()).values;
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!(
            (found - expected).abs() <= 1e-6 * expected.abs().max(1.0),
            "{found} is not {expected}"
        );
    }
}

fn zeros(count: i64, dtype: i32) -> Tensor {
    Dense::build(&[count], |_| 0.0).tensor(dtype)
}

fn constant(count: i64, value: f64, dtype: i32) -> Tensor {
    Dense::build(&[count], |_| value).tensor(dtype)
}

const TENTHS: [f64; 3] = [0.8822692632675171, 0.9150039553642273, 0.38286375999450684];

/// What a function returns for one tensor, a number or two before what is left out.
macro_rules! like {
    ($function:ident, $tensor:expr $(, $number:expr)*) => {
        drawn(|made| {
            // SAFETY: the handle is valid, the place is valid for a write; other pointers are NULL.
            unsafe {
                $function(
                    $tensor.handle(), $($number,)* null(), null(), null(), -1, null(), null(), made,
                )
            }
        })
    };
}

#[test]
fn numbers_like_a_tensor_have_its_sizes_its_type_and_its_order() {
    let before = live();
    {
        let three = constant(3, 7.0, F32);
        assert_near(&like!(aoti_torch_cpu_rand_like, three), F32, &TENTHS);
        let default = generator();
        assert_near(&like!(aoti_torch_cpu_rand_like_generator, three, &default), F32, &TENTHS);
        let twenty = constant(20, 7.0, F64);
        let normal = like!(aoti_torch_cpu_randn_like, twenty);
        let same = like!(aoti_torch_cpu_randn_like_generator, twenty, null());
        assert_eq!(dtype_of_tensor(normal.handle()).unwrap(), F64);
        assert_eq!(Dense::of(normal.handle()), Dense::of(same.handle()));
        let five = constant(5, 7.0, I32);
        let whole = like!(aoti_torch_cpu_randint_like, five, 10);
        assert_near(&whole, I32, &[2.0, 7.0, 6.0, 4.0, 6.0]);
        let moved = like!(aoti_torch_cpu_randint_like_low_dtype, five, 5, 15);
        assert_near(&moved, I32, &[7.0, 12.0, 11.0, 9.0, 11.0]);
        // A matrix whose columns lie one after another, and c10's numbers of float64 and of the contiguous format.
        let turned = Dense::build(&[2, 3], |_| 0.0).tensor(F32);
        let turned = crate::sconce::operations::transpose(turned.handle(), 0, 1).unwrap();
        let kept = like!(aoti_torch_cpu_rand_like, turned);
        assert_eq!(strides_of(kept.handle()).unwrap(), [1, 3]);
        let chosen = drawn(|made| {
            call!(aoti_torch_cpu_rand_like(
                turned.handle(),
                &7,
                null(),
                null(),
                -1,
                null(),
                &0,
                made
            ))
        });
        assert_eq!(dtype_of_tensor(chosen.handle()).unwrap(), F64);
        assert_eq!(strides_of(chosen.handle()).unwrap(), [2, 1]);
        let mut none = null_mut();
        let status = call!(aoti_torch_cpu_randint_like_low_dtype(
            five.handle(),
            3,
            3,
            null(),
            null(),
            null(),
            -1,
            null(),
            null(),
            &mut none
        ));
        assert_refused(status, &["no number from low, 3"]);
    }
    assert_eq!(live(), before);
}

#[test]
fn factories_draw_torchs_numbers() {
    let before = live();
    let (three, five) = ([3_i64], [5_i64]);
    let default = generator();
    // SAFETY: the array has the length that is passed; the places are valid for writes; other pointers are NULL.
    unsafe {
        let rand = drawn(|made| {
            aoti_torch_cpu_rand(three.as_ptr(), 1, null(), null(), null(), -1, null(), made)
        });
        assert_near(&rand, F32, &TENTHS);
        let same = drawn(|made| {
            aoti_torch_cpu_rand_generator(
                three.as_ptr(),
                1,
                &default,
                null(),
                null(),
                null(),
                -1,
                null(),
                made,
            )
        });
        assert_near(&same, F32, &TENTHS);
        let normal = drawn(|made| {
            aoti_torch_cpu_randn([20].as_ptr(), 1, null(), null(), null(), -1, null(), made)
        });
        let again = drawn(|made| {
            aoti_torch_cpu_randn_generator(
                [20].as_ptr(),
                1,
                null(),
                null(),
                null(),
                null(),
                -1,
                null(),
                made,
            )
        });
        let values = Dense::of(normal.handle()).values;
        assert_eq!(values, Dense::of(again.handle()).values);
        for (at, expected) in
            [(0, 1.92691528), (1, 1.48728406), (17, -0.39571049), (19, -0.62159538)]
        {
            assert!((values[at] - expected).abs() < 1e-6, "{at}: {}", values[at]);
        }
        let whole = drawn(|made| {
            aoti_torch_cpu_randint(10, five.as_ptr(), 1, null(), null(), null(), -1, null(), made)
        });
        assert_near(&whole, I64, &[2.0, 7.0, 6.0, 4.0, 6.0]);
        // c10's number of int32.
        let narrow = drawn(|made| {
            aoti_torch_cpu_randint_generator(
                10,
                five.as_ptr(),
                1,
                null(),
                &3,
                null(),
                null(),
                -1,
                null(),
                made,
            )
        });
        assert_near(&narrow, I32, &[2.0, 7.0, 6.0, 4.0, 6.0]);
        let signed = drawn(|made| {
            aoti_torch_cpu_randint_low(
                -5,
                5,
                five.as_ptr(),
                1,
                null(),
                null(),
                null(),
                -1,
                null(),
                made,
            )
        });
        assert_near(&signed, I64, &[-3.0, 2.0, 1.0, -1.0, 1.0]);
        let order =
            drawn(|made| aoti_torch_cpu_randperm(8, null(), null(), null(), -1, null(), made));
        assert_near(&order, I64, &[6.0, 3.0, 0.0, 7.0, 2.0, 1.0, 4.0, 5.0]);
    }
    assert_eq!(live(), before);
}

#[test]
fn fills_draw_torchs_numbers() {
    let before = live();
    // SAFETY: the places are valid for writes; other pointers are NULL.
    unsafe {
        let like = zeros(3, F32);
        let uniform = drawn(|made| aoti_torch_cpu_uniform(like.handle(), -2.0, 3.0, null(), made));
        assert_near(&uniform, F32, &[2.411346435546875, 2.5750198364257812, -0.08568120002746582]);
        let exponential =
            drawn(|made| aoti_torch_cpu_exponential(like.handle(), 2.0, null(), made));
        assert_near(
            &exponential,
            F32,
            &[0.029957007616758347, 0.03248806297779083, 0.06595838814973831],
        );
        assert_near(&like, F32, &[0.0; 3]);
        let four = zeros(4, F32);
        let normal =
            drawn(|made| aoti_torch_cpu_normal_functional(four.handle(), 1.0, 2.0, null(), made));
        assert_near(
            &normal,
            F32,
            &[1.673380732536316, 1.25761878490448, 1.4689247608184814, 1.4606660604476929],
        );
        let ones = zeros(12, F32);
        seed();
        assert_eq!(aoti_torch_cpu_bernoulli__float(ones.handle(), 0.4, null()), 0);
        assert_near(&ones, F32, &[1., 1., 1., 1., 0., 0., 0., 0., 1., 1., 1., 1.]);
        for (dtype, expected) in [
            (F32, [0., 0., 1., 0., 1., 0., 1., 0.]),
            (BF16, [0., 0., 1., 0., 1., 0., 1., 0.]),
            (F64, [1., 1., 1., 1., 0., 0., 0., 0.]),
        ] {
            let (ones, p) = (zeros(8, F32), constant(8, 0.4, dtype));
            seed();
            assert_eq!(aoti_torch_cpu_bernoulli__Tensor(ones.handle(), p.handle(), null()), 0);
            assert_near(&ones, F32, &expected);
        }
        let out = zeros(1, I64);
        seed();
        assert_eq!(aoti_torch_cpu_randint_low_out(out.handle(), -5, 5, [5].as_ptr(), 1), 0);
        assert_near(&out, I64, &[-3.0, 2.0, 1.0, -1.0, 1.0]);
    }
    assert_eq!(live(), before);
}

#[test]
fn results_lie_in_memory_as_the_operand_does() {
    let made = Dense::build(&[3, 5], |_| 0.0).tensor(F64);
    let turned = crate::sconce::operations::transpose(made.handle(), 0, 1).unwrap();
    let uniform =
        drawn(|made| call!(aoti_torch_cpu_uniform(turned.handle(), 0.0, 1.0, null(), made)));
    assert_eq!(sizes_of(uniform.handle()).unwrap(), [5, 3]);
    assert_eq!(strides_of(uniform.handle()).unwrap(), [1, 5]);
    assert_eq!(dtype_of_tensor(uniform.handle()).unwrap(), F64);
}

fn dropped(input: &Tensor, p: f64, train: *const i32) -> (Tensor, Tensor) {
    let mut mask = null_mut();
    let kept = drawn(|made| {
        call!(aoti_torch_cpu_native_dropout(input.handle(), p, train, made, &mut mask))
    });
    (kept, Tensor::from_handle(mask))
}

#[test]
fn dropout_has_torchs_mask() {
    let before = live();
    {
        let ones = constant(12, 1.0, F32);
        let (kept, mask) = dropped(&ones, 0.3, null());
        let expected = [1., 1., 1., 1., 1., 1., 0., 0., 1., 1., 1., 1.];
        assert_near(&mask, api::SCONCE_DTYPE_BOOL, &expected);
        assert_near(&kept, F32, &expected.map(|one| one / 0.7));
        let halves = constant(3, 2.0, F16);
        let (kept, mask) = dropped(&halves, 0.3, &0);
        assert_near(&kept, F16, &[2.0; 3]);
        assert_near(&mask, api::SCONCE_DTYPE_BOOL, &[1.0; 3]);
        assert_near(&dropped(&ones, 1.0, &1).0, F32, &[0.0; 12]);
        assert_near(&dropped(&ones, 0.0, &1).0, F32, &[1.0; 12]);
        let none = zeros(0, F32);
        assert_eq!(sizes_of(dropped(&none, 0.5, null()).0.handle()).unwrap(), [0]);
    }
    assert_eq!(live(), before);
}

#[test]
fn wrong_arguments_are_refused_with_their_names() {
    let before = live();
    let mut made: TensorHandle = null_mut();
    let (floats, whole) = (zeros(3, F32), zeros(3, I64));
    // SAFETY: the array has the length that is passed; the places are valid for writes; other pointers are NULL.
    unsafe {
        let randint = aoti_torch_cpu_randint_low(
            3,
            3,
            [2].as_ptr(),
            1,
            null(),
            null(),
            null(),
            -1,
            null(),
            &mut made,
        );
        assert_refused(randint, &["randint_low", "low, 3", "high, 3"]);
        assert_refused(
            aoti_torch_cpu_randint_low_out(whole.handle(), 4, 3, [3].as_ptr(), 1),
            &["low, 4", "high, 3"],
        );
        assert_refused(
            aoti_torch_cpu_randperm(-1, null(), null(), null(), -1, null(), &mut made),
            &["randperm", "n"],
        );
        assert_refused(
            aoti_torch_cpu_rand([2].as_ptr(), -1, null(), null(), null(), -1, null(), &mut made),
            &["size"],
        );
        assert_refused(
            aoti_torch_cpu_uniform(floats.handle(), 3.0, -3.0, null(), &mut made),
            &["uniform"],
        );
        assert_refused(
            aoti_torch_cpu_uniform(whole.handle(), 0.0, 1.0, null(), &mut made),
            &["uniform"],
        );
        assert_refused(
            aoti_torch_cpu_normal_functional(floats.handle(), 0.0, -1.0, null(), &mut made),
            &["normal"],
        );
        assert_refused(
            aoti_torch_cpu_exponential(floats.handle(), 0.0, null(), &mut made),
            &["exponential"],
        );
        assert_refused(
            aoti_torch_cpu_bernoulli__float(floats.handle(), 1.5, null()),
            &["bernoulli", "p"],
        );
        assert_refused(
            aoti_torch_cpu_bernoulli__Tensor(
                floats.handle(),
                constant(3, 1.5, F32).handle(),
                null(),
            ),
            &["bernoulli", "p must have numbers from 0 to 1"],
        );
        assert_refused(
            aoti_torch_cpu_bernoulli__Tensor(
                floats.handle(),
                constant(3, f64::NAN, F32).handle(),
                null(),
            ),
            &["p must have numbers from 0 to 1"],
        );
        assert_refused(
            aoti_torch_cpu_bernoulli__Tensor(floats.handle(), whole.handle(), null()),
            &["floating-point"],
        );
        let dropout =
            aoti_torch_cpu_native_dropout(floats.handle(), 1.5, null(), &mut made, null_mut());
        assert_refused(dropout, &["native_dropout", "p must be from 0 to 1", "1.5"]);
    }
    drop((floats, whole));
    assert_eq!(live(), before);
}
