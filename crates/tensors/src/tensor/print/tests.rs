//! Texts as torch prints them in Python.

use sconce_base::element::Dtype;
use sconce_math::arithmetic::AnyNumber;

use super::excerpt::{EDGE, Excerpt};
use super::layout::{INDENT, brackets, with_suffixes};
use super::numbers::Texts;
use crate::tensor::{Dims, Place, Tensor, TensorOptions};

fn shown(dtype: Dtype, sizes: &[i64], cut: &[bool], numbers: &[AnyNumber]) -> String {
    let excerpt = Excerpt {
        sizes: Dims::from_slice(sizes),
        is_cut: cut.iter().copied().collect(),
        numbers: numbers.to_vec(),
    };
    let texts = Texts::of(dtype, &excerpt.numbers);
    brackets(&excerpt, &texts, INDENT)
}

fn floats(sizes: &[i64], values: &[f32]) -> String {
    let numbers: Vec<AnyNumber> = values.iter().map(|value| AnyNumber::Single(*value)).collect();
    shown(Dtype::F32, sizes, &vec![false; sizes.len()], &numbers)
}

fn vector(values: &[f32]) -> String {
    floats(&[values.len() as i64], values)
}

fn integers(sizes: &[i64], cut: &[bool], values: impl Iterator<Item = i64>) -> String {
    let numbers: Vec<AnyNumber> = values.map(AnyNumber::Signed).collect();
    shown(Dtype::I64, sizes, cut, &numbers)
}

#[test]
fn numbers_have_four_digits_and_one_width() {
    let matrix = [0.1, 1.2, 2.2, 3.1, 4.9, 5.2];
    assert_eq!(
        floats(&[3, 2], &matrix),
        "[[0.1000, 1.2000],\n        [2.2000, 3.1000],\n        [4.9000, 5.2000]]"
    );
    assert_eq!(vector(&[-10.0, -5.0, 0.0, 5.0, 10.0]), "[-10.,  -5.,   0.,   5.,  10.]");
    assert_eq!(vector(&[1.0, 1.5, 2.0]), "[1.0000, 1.5000, 2.0000]");
    assert_eq!(vector(&[-1.5, 100.25]), "[ -1.5000, 100.2500]");
    assert_eq!(floats(&[], &[3.241_592_7]), "3.2416");
    assert_eq!(integers(&[3], &[false], [-10, 3, 100].into_iter()), "[-10,   3, 100]");
}

#[test]
fn ties_are_rounded_to_even_digits() {
    assert_eq!(vector(&[0.031_25, 0.093_75]), "[0.0312, 0.0938]");
}

#[test]
fn numbers_far_apart_very_large_or_very_small_are_scientific() {
    assert_eq!(
        vector(&[1e-10, 1e-5, 1.0, 1e5, 1e10]),
        "[1.0000e-10, 1.0000e-05, 1.0000e+00, 1.0000e+05, 1.0000e+10]"
    );
    assert_eq!(vector(&[1.0, 1000.0]), "[   1., 1000.]");
    assert_eq!(vector(&[1.0, 1001.0]), "[1.0000e+00, 1.0010e+03]");
    assert_eq!(vector(&[1e8, 2e8]), "[1.0000e+08, 2.0000e+08]");
    assert_eq!(vector(&[1e8]), "[100000000.]");
    assert_eq!(vector(&[0.0, -1e-5]), "[ 0.0000e+00, -1.0000e-05]");
    assert_eq!(vector(&[f32::INFINITY, 1e-5]), "[       inf, 1.0000e-05]");
}

#[test]
fn zeros_infinities_and_nan_do_not_set_the_width() {
    assert_eq!(vector(&[0.0, -0.0]), "[0., -0.]");
    assert_eq!(vector(&[0.0, f32::INFINITY]), "[0., inf]");
    assert_eq!(vector(&[1.0, f32::NAN, f32::NEG_INFINITY]), "[1., nan, -inf]");
    assert_eq!(vector(&[1.5, f32::NAN, f32::NEG_INFINITY]), "[1.5000,    nan,   -inf]");
}

#[test]
fn truth_values_and_bytes_have_their_own_texts() {
    let truths = [1, 0, 1].map(AnyNumber::Unsigned);
    assert_eq!(shown(Dtype::Bool, &[3], &[false], &truths), "[ True, False,  True]");
    let most = [AnyNumber::Unsigned(u64::MAX)];
    assert_eq!(shown(Dtype::U64, &[1], &[false], &most), "[18446744073709551615]");
}

#[test]
fn parts_of_complex_numbers_have_a_style_each() {
    let pairs = [[-1.0, 1.5], [-2.0, -2.25], [30.0, 0.0]].map(AnyNumber::ComplexSingle);
    assert_eq!(
        shown(Dtype::C64, &[3], &[false], &pairs),
        "[-1.+1.5000j, -2.-2.2500j, 30.+0.0000j]"
    );
    let ones = [AnyNumber::ComplexSingle([1.0, 1.0]); 11];
    let line = ["1.+1.j"; 10].join(", ");
    assert_eq!(shown(Dtype::C64, &[11], &[false], &ones), format!("[{line},\n        1.+1.j]"));
}

#[test]
fn lines_break_at_eighty_characters() {
    let values: Vec<f32> = (0_u8..15).map(f32::from).collect();
    assert_eq!(
        vector(&values),
        "[ 0.,  1.,  2.,  3.,  4.,  5.,  6.,  7.,  8.,  9., 10., 11., 12., 13.,\n        14.]"
    );
}

#[test]
fn an_empty_line_separates_matrices() {
    assert_eq!(
        floats(&[2, 2, 2], &[0.0; 8]),
        "[[[0., 0.],\n         [0., 0.]],\n\n        [[0., 0.],\n         [0., 0.]]]"
    );
}

#[test]
fn edges_stand_for_long_dimensions() {
    let edges = |size: i64| (0..EDGE).chain(size - EDGE..size);
    assert_eq!(integers(&[6], &[true], edges(1001)), "[   0,    1,    2,  ...,  998,  999, 1000]");
    let rows = edges(40).flat_map(|row| edges(40).map(move |column| row * 40 + column));
    assert_eq!(
        integers(&[6, 6], &[true, true], rows),
        "[[   0,    1,    2,  ...,   37,   38,   39],\n        \
         [  40,   41,   42,  ...,   77,   78,   79],\n        \
         [  80,   81,   82,  ...,  117,  118,  119],\n        \
         ...,\n        \
         [1480, 1481, 1482,  ..., 1517, 1518, 1519],\n        \
         [1520, 1521, 1522,  ..., 1557, 1558, 1559],\n        \
         [1560, 1561, 1562,  ..., 1597, 1598, 1599]]"
    );
}

fn on_host(dtype: Dtype, sizes: &[i64]) -> Tensor {
    TensorOptions { dtype, place: Place::Cpu, pinned: false }.empty(sizes).unwrap()
}

#[test]
fn shape_and_type_follow_where_elements_do_not_tell_them() {
    let text = |dtype, sizes: &[i64], elements| with_suffixes(&on_host(dtype, sizes), elements);
    assert_eq!(text(Dtype::F32, &[1], "[0.]"), "tensor([0.])");
    assert_eq!(text(Dtype::I64, &[1], "[0]"), "tensor([0])");
    assert_eq!(text(Dtype::C64, &[1], "[0.+0.j]"), "tensor([0.+0.j])");
    assert_eq!(text(Dtype::F16, &[1], "[0.]"), "tensor([0.], dtype=torch.float16)");
    assert_eq!(text(Dtype::F32, &[0], "[]"), "tensor([])");
    assert_eq!(text(Dtype::I64, &[0], "[]"), "tensor([], dtype=torch.int64)");
    assert_eq!(text(Dtype::F64, &[0, 3], "[]"), "tensor([], size=(0, 3), dtype=torch.float64)");
    // Up to 50 characters, 28 of prefix and suffix and 2 of torch's fill the line.
    let row = format!("[{}]", "0".repeat(48));
    assert_eq!(text(Dtype::F64, &[1], &row), format!("tensor({row}, dtype=torch.float64)"));
    let row = format!("[{}]", "0".repeat(49));
    assert_eq!(text(Dtype::F64, &[1], &row), format!("tensor({row},\n       dtype=torch.float64)"));
}

#[test]
fn tensors_without_elements_are_printed_without_a_device() {
    let text = |tensor: &Tensor| super::to_text(tensor).unwrap();
    assert_eq!(text(&Tensor::default()), "[ Tensor (undefined) ]");
    assert_eq!(text(&on_host(Dtype::F32, &[2, 0])), "tensor([], size=(2, 0))");
}
