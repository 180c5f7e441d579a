//! What models call by name, beside results of PyTorch 2.11 and what is worked out by hand.

use super::{Value, counted, ints, one, refused, tensors, word};
use crate::abi::tensors::{dtype_of_tensor, sizes_of};
use crate::dispatcher::tests::call;
use crate::operations::views::{as_complex, as_real};
use crate::sconce::Tensor;
use crate::sconce::api::{
    SCONCE_DTYPE_BF16 as BF16, SCONCE_DTYPE_BOOL as BOOL, SCONCE_DTYPE_C64 as C64,
    SCONCE_DTYPE_F32 as F32, SCONCE_DTYPE_F64 as F64, SCONCE_DTYPE_I64 as I64,
};
use crate::testing::Dense;

const AA_LINEAR: [f64; 6] = [43.122452, 64.428574, 91.591843, 226.306122, 281.285706, 342.122467];
const AA_CUBIC: [f64; 6] = [25.959055, 45.852852, 73.066322, 235.13681, 297.902435, 367.987732];
const CUBIC: [f64; 6] = [-0.759847, 1.632243, 5.195312, 13.28125, 11.150471, 24.930256];
const KAISER: [f64; 5] = [5.3e-05, 0.10172, 0.792939, 0.792939, 0.10172];

fn line(values: &[f64]) -> Dense {
    Dense { sizes: vec![values.len() as i64], values: values.to_vec() }
}

fn assert_line(found: &Tensor, expected: &[f64], what: &str) {
    let flat = crate::sconce::operations::reshape(found.handle(), &[-1]).unwrap();
    line(expected).assert_near(flat.handle(), 2e-5, what);
}

/// Squares of the first whole numbers.
fn squares(sizes: &[i64]) -> Tensor {
    let mut next = -1.0;
    let values = Dense::build(sizes, |_| {
        next += 1.0;
        next * next
    });
    values.tensor(F32)
}

#[test]
fn images_become_larger_and_smaller() {
    counted(|| {
        let (small, large) = (squares(&[1, 1, 2, 3]), squares(&[1, 1, 4, 6]));
        let resampled = |name, image: &Tensor, size: &[i64], align| {
            one(name, "", vec![word(image), ints(size), Value::Bool(align)])
        };
        assert_line(
            &resampled("_upsample_bilinear2d_aa", &large, &[2, 3], false),
            &AA_LINEAR,
            "linear",
        );
        assert_line(
            &resampled("_upsample_bicubic2d_aa", &large, &[2, 3], false),
            &AA_CUBIC,
            "cubic",
        );
        let found = resampled("upsample_bilinear2d", &small, &[3, 2], true);
        assert_line(&found, &[0.0, 4.0, 4.5, 14.5, 9.0, 25.0], "between corners");
        assert_line(&resampled("upsample_bicubic2d", &small, &[3, 2], false), &CUBIC, "cubic");
        let line = squares(&[1, 1, 3]);
        let found = one("upsample_linear1d", "", vec![word(&line), ints(&[5]), Value::Bool(true)]);
        assert_line(&found, &[0.0, 0.5, 1.0, 2.5, 4.0], "a line");
        let wrong = vec![word(&small), ints(&[3]), Value::Bool(true)];
        refused("upsample_linear1d", "", wrong, "Non-empty 3D data tensor expected");
    });
}

/// Complex numbers of parts.
fn numbers(sizes: &[i64], parts: &[f64]) -> Tensor {
    let parts = Dense { sizes: [sizes, &[2]].concat(), values: parts.to_vec() };
    as_complex(parts.tensor(F64).handle()).unwrap()
}

fn assert_numbers(found: &Tensor, expected: &[f64], what: &str) {
    assert_line(&as_real(found.handle()).unwrap(), expected, what);
}

#[test]
fn complex_matrices_are_multiplied() {
    counted(|| {
        let first = numbers(&[1, 2], &[1.0, 2.0, 0.0, -1.0]);
        let second = numbers(&[2, 2], &[3.0, 0.0, 0.0, 1.0, 1.0, 1.0, 2.0, 0.0]);
        // (1 + 2i) 3 - i (1 + i), (1 + 2i) i - 2i
        let product = [4.0, 5.0, -2.0, -1.0];
        assert_numbers(&one("mm", "", vec![word(&first), word(&second)]), &product, "mm");
        assert_numbers(&one("matmul", "", vec![word(&first), word(&second)]), &product, "matmul");
        let vector = numbers(&[2], &[1.0, 2.0, 0.0, -1.0]);
        let found = one("matmul", "", vec![word(&vector), word(&second)]);
        assert_eq!(sizes_of(found.handle()).unwrap(), [2]);
        assert_numbers(&found, &product, "a vector");
        let added = numbers(&[2], &[f64::NAN, 0.0, 1.0, 1.0]);
        let of = |beta: i64| {
            let tensors = [&added, &first, &second].map(word);
            let words = tensors.into_iter().chain([Value::Int(beta), Value::Float(0.5)]);
            one("addmm", "", words.collect())
        };
        assert_numbers(&of(0), &[2.0, 2.5, -1.0, -0.5], "a NaN that counts for nothing");
        assert_numbers(&of(2), &[f64::NAN, 2.5, 1.0, 1.5], "addmm");
        let tensors = [&numbers(&[2], &[1.0, 0.0, 1.0, 1.0]), &first, &second].map(word);
        let factors = [Value::Complex(0.0, 1.0), Value::Float(0.5)];
        let sum = one("addmm", "", tensors.into_iter().chain(factors).collect());
        assert_numbers(&sum, &[2.0, 3.5, -2.0, 0.5], "a complex factor");
        let batch = |tensor: &Tensor| crate::sconce::operations::unsqueeze(tensor.handle(), 0);
        let (left, right) = (batch(&first).unwrap(), batch(&second).unwrap());
        assert_numbers(&one("bmm", "", vec![word(&left), word(&right)]), &product, "bmm");
        let words = vec![word(&numbers(&[1, 1, 1], &[1.0, 0.0])), word(&left), word(&right)];
        let sum = one("baddbmm", "", words);
        assert_numbers(&sum, &[5.0, 5.0, -1.0, -1.0], "baddbmm");
        refused("mm", "", vec![word(&second), word(&first)], "shapes cannot be multiplied");
        refused("bmm", "", vec![word(&first), word(&right)], "batch1 must be a 3D tensor");
        let real = squares(&[2, 2]);
        refused("mm", "", vec![word(&first), word(&real)], "to have the same dtype");
        let words = vec![word(&real), word(&real), word(&real), Value::Complex(0.0, 1.0)];
        refused("addmm", "", words, "beta and alpha must be real");
    });
}

#[test]
fn graphs_with_complex_numbers_call_others_by_name() {
    counted(|| {
        let infinity = f64::INFINITY;
        let given = numbers(&[3], &[0.0, 1.0, -infinity, 2.0, -1.0, 0.0]);
        let truths = one("isinf", "", vec![word(&given)]);
        assert_eq!(dtype_of_tensor(truths.handle()).unwrap(), BOOL);
        assert_line(&truths, &[0.0, 1.0, 0.0], "infinite");
        let whole = line(&[1.0, 2.0]).tensor(I64);
        assert_line(&one("isinf", "", vec![word(&whole)]), &[0.0, 0.0], "integers");
        let angles = one("angle", "", vec![word(&given)]);
        let pi = std::f64::consts::PI;
        assert_line(&angles, &[pi / 2.0, pi, pi], "angles");
        let powers = one("exp2", "", vec![word(&numbers(&[1], &[3.0, 0.0]))]);
        assert_numbers(&powers, &[8.0, 0.0], "complex powers of two");
        let powers = one("exp2", "", vec![word(&line(&[3.0, -1.0]).tensor(F32))]);
        assert_line(&powers, &[8.0, 0.5], "powers of two");
        let turned = one("prims::rev", "", vec![word(&given), ints(&[0])]);
        assert_numbers(&turned, &[-1.0, 0.0, -infinity, 2.0, 0.0, 1.0], "reversed");
        let code = Value::Code(9);
        let single = one("prims::convert_element_type", "", vec![word(&given), code]);
        assert_eq!(dtype_of_tensor(single.handle()).unwrap(), C64);
        let code = Value::Code(10);
        let same = one("prims::convert_element_type", "", vec![word(&given), code]);
        assert_ne!(same.handle(), given.handle(), "a copy");
        let table = squares(&[3, 2]);
        let index = Dense { sizes: vec![1, 2], values: vec![2.0, 0.0] }.tensor(I64);
        let rows = one("embedding", "", vec![word(&table), word(&index)]);
        assert_eq!(sizes_of(rows.handle()).unwrap(), [1, 2, 2]);
        assert_line(&rows, &[16.0, 25.0, 0.0, 1.0], "rows");
        refused(
            "embedding",
            "",
            vec![word(&line(&[1.0]).tensor(F32)), word(&index)],
            "must be 2-D",
        );
        let places = Value::List(vec![Value::None, word(&line(&[1.0]).tensor(I64))]);
        let found = one("_unsafe_index", "Tensor", vec![word(&table), places]);
        assert_line(&found, &[1.0, 9.0, 25.0], "a column");
        let windows =
            |size, step| vec![word(&table), Value::Int(0), Value::Int(size), Value::Int(step)];
        let found = one("unfold", "", windows(2, 1));
        assert_eq!(sizes_of(found.handle()).unwrap(), [2, 2, 2]);
        assert_line(&found, &[0.0, 4.0, 1.0, 9.0, 4.0, 16.0, 9.0, 25.0], "windows");
        refused("unfold", "", windows(4, 1), "size must be from 0 to 3");
        refused("unfold", "", windows(1, 0), "step more than 0");
    });
}

#[test]
fn values_that_differ_have_places_and_counts() {
    counted(|| {
        let given = line(&[3.0, 1.0, 1.0, 2.0, 3.0, 3.0]).tensor(I64);
        let flags = |count: usize| (0..count).map(|_| Value::Bool(true)).collect();
        let with = |mut first: Vec<Value>, rest: Vec<Value>| {
            first.extend(rest);
            first
        };
        let all = tensors(call("_unique2", "", with(vec![word(&given)], flags(3))).unwrap());
        for (found, expected) in all.iter().zip([
            &[1.0, 2.0, 3.0][..],
            &[2.0, 0.0, 0.0, 1.0, 2.0, 2.0],
            &[2.0, 1.0, 3.0],
        ]) {
            assert_line(found, expected, "sorted");
        }
        let runs =
            tensors(call("unique_consecutive", "", with(vec![word(&given)], flags(2))).unwrap());
        for (found, expected) in runs.iter().zip([
            &[3.0, 1.0, 2.0, 3.0][..],
            &[0.0, 1.0, 1.0, 2.0, 3.0, 3.0],
            &[1.0, 2.0, 1.0, 2.0],
        ]) {
            assert_line(found, expected, "runs");
        }
        let alone = tensors(call("_unique2", "", vec![word(&given)]).unwrap());
        assert_eq!(sizes_of(alone[1].handle()).unwrap(), [0], "no places are wanted");
        let rows =
            Dense { sizes: vec![3, 2], values: vec![2.0, 1.0, 1.0, 5.0, 2.0, 1.0] }.tensor(F32);
        let found = call("unique_dim", "", vec![word(&rows), Value::Int(0)]).unwrap();
        let found = tensors(found);
        assert_line(&found[0], &[1.0, 5.0, 2.0, 1.0], "rows");
        assert_line(&found[1], &[1.0, 0.0, 1.0], "their places");
        assert_line(&found[2], &[1.0, 2.0], "their counts");
        let bits = tensors(
            call("_unique2", "", vec![word(&line(&[1.0, 0.0, 1.0]).tensor(BOOL))]).unwrap(),
        );
        assert_eq!(dtype_of_tensor(bits[0].handle()).unwrap(), BOOL);

        let counts = one("bincount", "", vec![word(&given), Value::None, Value::Int(6)]);
        assert_line(&counts, &[0.0, 2.0, 1.0, 3.0, 0.0, 0.0], "counts");
        let weights = line(&[0.5; 6]).tensor(BF16);
        let sums = one("bincount", "", vec![word(&given), word(&weights)]);
        assert_eq!(dtype_of_tensor(sums.handle()).unwrap(), F64);
        assert_line(&sums, &[0.0, 1.0, 0.5, 1.5], "sums");
        for (tensor, words) in [
            (line(&[-1.0]).tensor(I64), "1-d non-negative integral"),
            (line(&[1.0]).tensor(F32), "1-d non-negative integral"),
        ] {
            refused("bincount", "", vec![word(&tensor)], words);
        }
        let nan = line(&[f64::NAN, 4.0, 1.0, f64::NAN, 2.0]).tensor(F32);
        let found = call("nanmedian", "dim", vec![word(&nan), Value::Int(0)]).unwrap();
        let found = tensors(found);
        assert_line(&found[0], &[2.0], "the median of numbers");
        assert_line(&found[1], &[4.0], "its place");
    });
}

#[test]
fn transforms_go_there_and_back_and_windows_have_pytorchs_numbers() {
    counted(|| {
        let values = [1.0, 2.0, 4.0, 8.0, 3.0];
        let given = line(&values).tensor(F32);
        let half =
            one("_fft_r2c", "", vec![word(&given), ints(&[0]), Value::Int(0), Value::Bool(true)]);
        assert_eq!(sizes_of(half.handle()).unwrap(), [3]);
        let back = |length| vec![word(&half), ints(&[0]), Value::Int(2), Value::Int(length)];
        assert_line(&one("_fft_c2r", "", back(5)), &values, "there and back");
        refused("_fft_c2r", "", back(8), "last_dim_size is 8");
        let window = |name, overload, arguments| one(name, overload, arguments);
        let periodic = |length, is| vec![Value::Int(length), Value::Bool(is)];
        assert_line(&window("kaiser_window", "", vec![Value::Int(5)]), &KAISER, "Kaiser");
        let blackman = window("blackman_window", "periodic", periodic(5, false));
        assert_line(&blackman, &[0.0, 0.34, 1.0, 0.34, 0.0], "Blackman");
        assert_line(
            &window("bartlett_window", "", vec![Value::Int(4)]),
            &[0.0, 0.5, 1.0, 0.5],
            "Bartlett",
        );
        let hamming = window("hamming_window", "", vec![Value::Int(4)]);
        assert_line(&hamming, &[0.08, 0.54, 1.0, 0.54], "Hamming");
        let hann = window("hann_window", "periodic", periodic(3, false));
        assert_line(&hann, &[0.0, 1.0, 0.0], "Hann");
        let alone = window("kaiser_window", "", vec![Value::Int(1)]);
        assert_eq!(dtype_of_tensor(alone.handle()).unwrap(), F32);
        let steps = one("fft_fftfreq", "", vec![Value::Int(5), Value::Float(0.5)]);
        assert_line(&steps, &[0.0, 0.4, 0.8, -0.8, -0.4], "frequencies");
        let steps = one("fft_rfftfreq", "", vec![Value::Int(5)]);
        assert_line(&steps, &[0.0, 0.2, 0.4], "frequencies of the half");
    });
}

#[test]
fn complex_numbers_have_parts_and_conjugates() {
    counted(|| {
        let (real, imaginary) = (line(&[1.0, 2.0]).tensor(F32), line(&[3.0, -4.0]).tensor(F32));
        let number = one("complex", "", vec![word(&real), word(&imaginary)]);
        assert_eq!(dtype_of_tensor(number.handle()).unwrap(), C64);
        let turned = one("_conj", "", vec![word(&number)]);
        let parts = one("view_as_real", "", vec![word(&turned)]);
        assert_line(&parts, &[1.0, -3.0, 2.0, 4.0], "the conjugates");
        assert_line(&one("imag", "", vec![word(&number)]), &[3.0, -4.0], "imaginary parts");
        refused("imag", "", vec![word(&real)], "non-complex");
        refused("complex", "", vec![word(&real), word(&line(&[1.0]).tensor(F64))], "of one type");
        let pairs = Dense { sizes: vec![2, 2], values: vec![3.0, 4.0, 0.0, -2.0] }.tensor(F32);
        let given = as_complex(pairs.handle()).unwrap();
        let copied = one("_to_copy", "", vec![word(&given)]);
        assert_ne!(copied.handle(), given.handle());
        let row = |at: &[i64]| at[1] as f64;
        let matrix = Dense::build(&[2, 3], row).tensor(F32);
        let pad = vec![word(&matrix), ints(&[1, -1, 0, 1]), Value::Float(9.0)];
        let padded = one("constant_pad_nd", "", pad);
        assert_line(&padded, &[9.0, 0.0, 1.0, 9.0, 0.0, 1.0, 9.0, 9.0, 9.0], "padded");
        let column = line(&[7.0, 8.0]).tensor(F32);
        let put = vec![word(&matrix), word(&column), Value::Int(1), Value::Int(-1)];
        let put = one("select_scatter", "", put);
        assert_line(&put, &[0.0, 1.0, 7.0, 0.0, 1.0, 8.0], "a column");
        assert_line(&matrix, &[0.0, 1.0, 2.0, 0.0, 1.0, 2.0], "the given one stays");
        let info = line(&[0.0, 2.0]).tensor(crate::sconce::api::SCONCE_DTYPE_I32);
        let check = vec![word(&info), Value::Str(b"linalg.inv".to_vec()), Value::Bool(false)];
        refused("_linalg_check_errors", "", check, "The diagonal element 2 is zero");
    });
}
