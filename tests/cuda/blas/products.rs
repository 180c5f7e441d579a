//! What a product looks like to cuBLAS: which function, which numbers, which types.

use super::*;

#[test]
fn products_keep_their_numbers_and_get_the_types_of_their_elements() {
    let (_fake, library, mut handle) = fake();
    for (element, data, compute) in
        [(Dtype::F16, 2, 68), (Dtype::Bf16, 14, 68), (Dtype::F32, 0, 68), (Dtype::F64, 1, 70)]
    {
        for (transpose, operations) in [
            ([false, false], [0, 0]),
            ([false, true], [0, 1]),
            ([true, false], [1, 0]),
            ([true, true], [1, 1]),
        ] {
            handle.gemm(&Gemm { transpose, ..product(element) }).unwrap();
            let calls = library.calls();
            let call = calls.iter().find(|call| call.name == GEMM).unwrap();
            let expected = [
                HANDLE,
                operations[0],
                operations[1],
                3,
                5,
                7,
                1.5_f64.to_bits() as i64,
                0x1000,
                data,
                13,
                1 << 40,
                0x2000,
                data,
                17,
                -19,
                (-0.25_f64).to_bits() as i64,
                0x3000,
                data,
                23,
                29,
                11,
                compute,
                -1,
            ];
            assert_eq!(call.words[..expected.len()], expected, "{element:?} {transpose:?}");
        }
    }
}

#[test]
fn a_single_product_goes_to_the_function_for_one() {
    let (_fake, library, mut handle) = fake();
    for (element, name) in SINGLE {
        for (transpose, [op_a, op_b]) in
            [([false, true], [0, 1]), ([true, false], [1, 0]), ([true, true], [1, 1])]
        {
            handle.gemm(&Gemm { transpose, batch: 1, ..product(element) }).unwrap();
            let calls = library.calls();
            let made: Vec<_> = calls.iter().filter(|call| call.name.contains("emm")).collect();
            assert_eq!(made.len(), 1);
            assert_eq!((made[0].name.as_str(), made[0].device), (name, 1));
            let [alpha, beta] = [1.5_f64, -0.25].map(|factor| factor.to_bits() as i64);
            let expected = match element {
                Dtype::F32 | Dtype::F64 | Dtype::C64 | Dtype::C128 => vec![
                    HANDLE, op_a, op_b, 3, 5, 7, alpha, 0x1000, 13, 0x2000, 17, beta, 0x3000, 23,
                ],
                _ => {
                    let data = if element == Dtype::F16 { 2 } else { 14 };
                    vec![
                        HANDLE, op_a, op_b, 3, 5, 7, alpha, 0x1000, data, 13, 0x2000, data, 17,
                        beta, 0x3000, data, 23, 68, 99,
                    ]
                }
            };
            assert_eq!(made[0].words[..expected.len()], expected, "{element:?} {transpose:?}");
        }
        // Each size that 32 bits do not hold goes to the function that takes it.
        for index in 0..6 {
            let wide = Gemm { element, batch: 1, ..with_size(index, WIDE) };
            handle.gemm(&wide).unwrap();
            assert!(library.names().contains(&GEMM_64.to_owned()), "{element:?} {index}");
        }
        library.fail(name, 15);
        let error = handle.gemm(&Gemm { batch: 1, ..product(element) }).unwrap_err();
        assert_eq!(error.status(), Status::NotSupported);
        assert!(error.message().contains(name), "{error}");
        library.fail("", 0);
        library.calls();
    }
}

#[test]
fn a_batch_of_complex_products_goes_to_the_function_for_its_type() {
    let (_fake, library, mut handle) = fake();
    for (element, name, alpha) in [
        (Dtype::C64, "cublasCgemmStridedBatched", f64::from(0.1_f32)),
        (Dtype::C128, "cublasZgemmStridedBatched", 0.1),
    ] {
        handle.gemm(&Gemm { alpha: 0.1, transpose: [true, false], ..product(element) }).unwrap();
        let call = library.calls().remove(0);
        assert_eq!((call.name.as_str(), call.device), (name, 1));
        let [alpha, beta] = [alpha, -0.25].map(|factor: f64| factor.to_bits() as i64);
        let expected = [
            HANDLE,
            1,
            0,
            3,
            5,
            7,
            alpha,
            0x1000,
            13,
            1 << 40,
            0x2000,
            17,
            -19,
            beta,
            0x3000,
            23,
            29,
            11,
        ];
        assert_eq!(call.words[..expected.len()], expected, "{element:?}");
        handle.gemm(&Gemm { element, ..with_size(0, WIDE) }).unwrap();
        assert_eq!(library.names(), [GEMM_64]);
        library.fail(name, 15);
        assert!(handle.gemm(&product(element)).unwrap_err().message().contains(name));
        library.fail("", 0);
        library.calls();
    }
}

/// Sums over nothing: what is left is that the result's parts are multiplied by a real number.
#[test]
fn complex_products_without_a_sum_scale_real_numbers() {
    let (_fake, library, mut handle) = fake();
    let beta = (-0.25_f64).to_bits() as i64;
    for (element, data, compute, one) in
        [(Dtype::C64, 0, 68, "cublasSgemm_v2"), (Dtype::C128, 1, 70, "cublasDgemm_v2")]
    {
        for (k, alpha) in [(0, 1.5), (7, 0.0)] {
            let gemm = Gemm { k, alpha, transpose: [true, true], ..product(element) };
            let alpha = alpha.to_bits() as i64;
            handle.gemm(&gemm).unwrap();
            let call = library.calls().remove(0);
            assert_eq!(call.name, GEMM);
            let expected = [
                HANDLE, 0, 0, 6, 5, 0, alpha, 0x3000, data, 46, 0, 0x3000, data, 1, 0, beta,
                0x3000, data, 46, 58, 11, compute, -1,
            ];
            assert_eq!(call.words[..expected.len()], expected, "{element:?}");
            handle.gemm(&Gemm { batch: 1, ..gemm }).unwrap();
            let call = library.calls().remove(0);
            assert_eq!(call.name, one);
            let expected = [HANDLE, 0, 0, 6, 5, 0, alpha, 0x3000, 46, 0x3000, 1, beta, 0x3000, 46];
            assert_eq!(call.words[..expected.len()], expected, "{element:?}");
        }
    }
}

#[test]
fn factors_have_the_precision_of_the_sums() {
    let (_fake, library, mut handle) = fake();
    let mut factors = |element| {
        handle.gemm(&Gemm { alpha: 0.1, beta: 1e-300, ..product(element) }).unwrap();
        let calls = library.calls();
        let call = calls.iter().find(|call| call.name == GEMM).unwrap();
        [6, 15].map(|word| f64::from_bits(call.words[word] as u64))
    };
    assert_eq!(factors(Dtype::F64), [0.1, 1e-300]);
    for element in [Dtype::F16, Dtype::Bf16, Dtype::F32] {
        assert_eq!(factors(element), [f64::from(0.1_f32), 0.0]);
    }
}

#[test]
fn sums_of_narrow_types_stay_whole_for_that_product_only() {
    let (_fake, library, mut handle) = fake();
    let told = || -> Vec<(String, i64)> {
        library.calls().into_iter().map(|call| (call.name, call.words[1])).collect()
    };
    let mode = |mode| ("cublasSetMathMode".to_owned(), mode);
    let product_of = || (GEMM.to_owned(), 0);
    for (asked, number) in [(None, 0), (Some(MathMode::Tf32), 3), (Some(MathMode::Ieee), 0)] {
        if let Some(asked) = asked {
            handle.set_math_mode(asked).unwrap();
            assert_eq!(told(), [mode(number)]);
        }
        for element in [Dtype::F16, Dtype::Bf16] {
            handle.gemm(&product(element)).unwrap();
            assert_eq!(told(), [mode(16), product_of(), mode(number)]);
        }
        for element in [Dtype::F32, Dtype::F64] {
            handle.gemm(&product(element)).unwrap();
            assert_eq!(told(), [product_of()]);
        }
    }
    library.fail(GEMM, 13);
    handle.gemm(&product(Dtype::F16)).unwrap_err();
    assert_eq!(told(), [mode(16), product_of(), mode(0)], "also after a failure");
    library.fail("cublasSetMathMode", 1);
    handle.gemm(&product(Dtype::F16)).unwrap_err();
    assert_eq!(told(), [mode(16)]);
    assert!(handle.set_math_mode(MathMode::Tf32).is_err());
    library.fail("", 0);
    told();
    handle.gemm(&product(Dtype::F16)).unwrap();
    assert_eq!(told(), [mode(16), product_of(), mode(0)], "a mode that failed is not taken over");
}

/// Where the fake notes it.
const WORDS: [usize; 7] = [3, 4, 5, 9, 13, 18, 20];

#[test]
fn sizes_that_32_bits_do_not_hold_go_to_the_other_function() {
    let (_fake, library, mut handle) = fake();
    handle.gemm(&product(Dtype::F32)).unwrap();
    let plain = library.calls().remove(0);
    for (index, word) in WORDS.into_iter().enumerate() {
        for (size, name) in [(WIDE - 1, GEMM), (WIDE, GEMM_64), (i64::MAX, GEMM_64)] {
            handle.gemm(&with_size(index, size)).unwrap();
            let call = library.calls().remove(0);
            assert_eq!((call.name.as_str(), call.words[word]), (name, size), "{index}");
            let mut expected = plain.words;
            expected[word] = size;
            assert_eq!(call.words, expected, "{index}");
        }
    }
}

#[test]
fn an_old_library_refuses_large_sizes_and_says_which() {
    let (fake, library) = beside(&[&format!("{GEMM_64}=gone")], &[]);
    let mut handle = fake.driver.blas_create(device()).unwrap();
    library.calls();
    for index in 0..WORDS.len() {
        handle.gemm(&with_size(index, WIDE - 1)).unwrap();
        assert_eq!(library.names(), [GEMM]);
        let error = handle.gemm(&with_size(index, WIDE)).unwrap_err();
        assert_eq!(error.status(), Status::NotSupported);
        for part in ["2147483648", "32 bits", "cuBLAS", GEMM_64] {
            assert!(error.message().contains(part), "{part}: {error}");
        }
        assert_eq!(library.names(), [""; 0]);
    }
}
