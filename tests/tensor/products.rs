//! Products of small matrices: values to the bit, what is read, and what the driver is asked for.

use sconce::*;
use testkit::numbers::{Random, decode_all, encode_all};
use testkit::places::{alone, calls};

use crate::api::{CPU, Handle, Outcome, options, returned};
use crate::create::{from_bytes, from_f32};
use crate::operations::{bmm, matmul};

const TYPES: [i32; 4] = [SCONCE_DTYPE_F32, SCONCE_DTYPE_F64, SCONCE_DTYPE_F16, SCONCE_DTYPE_BF16];

/// A batch of matrices as numbers, row by row.
struct Numbers {
    sizes: [i64; 3],
    of: Vec<f64>,
}

impl Numbers {
    fn of(tensor: &Handle) -> Numbers {
        let sizes = match tensor.sizes()[..] {
            [rows, columns] => [1, rows, columns],
            [batch, rows, columns] => [batch, rows, columns],
            _ => panic!("no matrices"),
        };
        Numbers { sizes, of: decode_all(tensor.dtype(), &tensor.bytes().unwrap()) }
    }

    fn at(&self, batch: i64, row: i64, column: i64) -> f64 {
        let [batches, rows, columns] = self.sizes;
        self.of[(((batch % batches) * rows + row) * columns + column) as usize]
    }
}

/// Groups that share the steps of a sum in singles.
const GROUPS: i64 = 16;

/// `alpha * a @ b + beta * c`, each step and the end rounded once: summed in the order of k in doubles; in singles, step
/// `s` belongs to group `s % GROUPS`, and the sums of all groups are added in their order.
fn expected(dtype: i32, [a, b]: [&Numbers; 2], [alpha, beta]: [f64; 2], c: &[f64]) -> Vec<u8> {
    let ([batch, m, k], n) = (a.sizes, b.sizes[2]);
    let mut results = Vec::new();
    for (i, row, column) in
        (0..batch).flat_map(|i| (0..m).flat_map(move |row| (0..n).map(move |j| (i, row, j))))
    {
        let old = if beta == 0.0 { 0.0 } else { c[results.len()] };
        let result = if dtype == SCONCE_DTYPE_F64 {
            let step = |sum: f64, at| a.at(i, row, at).mul_add(b.at(i, at, column), sum);
            let sum = (0..k).fold(0.0, step);
            if beta == 0.0 { alpha * sum } else { alpha.mul_add(sum, beta * old) }
        } else {
            let step =
                |sum: f32, at| (a.at(i, row, at) as f32).mul_add(b.at(i, at, column) as f32, sum);
            let group = |first: i64| (first..k).step_by(GROUPS as usize).fold(0.0_f32, step);
            let sum = (1..GROUPS).fold(group(0), |sum, first| sum + group(first));
            let (alpha, beta) = (alpha as f32, beta as f32);
            f64::from(if beta == 0.0 { alpha * sum } else { alpha.mul_add(sum, beta * old as f32) })
        };
        results.push(result);
    }
    encode_all(dtype, &results)
}

/// Matrices with random numbers, of which some are parts of larger ones, or transposed.
fn matrices(random: &mut Random, dtype: i32, sizes: [i64; 3]) -> Handle {
    matrices_on(0, random, dtype, sizes)
}

/// As [`matrices`], on a device or on the CPU.
fn matrices_on(
    device: i32,
    random: &mut Random,
    dtype: i32,
    [batch, rows, columns]: [i64; 3],
) -> Handle {
    let (more_rows, more_columns) = (random.below(3), random.below(3));
    let is_turned = random.below(2) == 1;
    let mut sizes = [batch, rows + more_rows, columns + more_columns];
    if is_turned {
        sizes.swap(1, 2);
    }
    let count = sizes.iter().product::<i64>();
    let numbers: Vec<f64> = (0..count).map(|_| random.unit() * 4.0).collect();
    let all = from_bytes(&encode_all(dtype, &numbers), &sizes, dtype, device).unwrap();
    let all = if is_turned { all.transpose(1, 2).unwrap() } else { all };
    all.narrow(1, more_rows, rows).unwrap().narrow(2, more_columns, columns).unwrap()
}

fn addmm(c: &Handle, [a, b]: [&Handle; 2], [alpha, beta]: [f64; 2]) -> Outcome<Handle> {
    // SAFETY: a writable place.
    returned(|out| unsafe { sconce_tensor_addmm(c.raw(), a.raw(), b.raw(), beta, alpha, out) })
}

#[test]
fn small_products_are_sums_in_order() {
    let _one = alone();
    let mut random = Random(7);
    for round in 0..160 {
        let dtype = TYPES[round % 4];
        let [m, n] = [0, 1].map(|_| random.one_of(&[1, 2, 5, 15, 16, 17, 33, 128]));
        let k = random.one_of(&[1, 3, 31, 32, 33, 128]);
        // No more multiplications than the kernels calculate: cuBLAS adds in another order.
        let batch = random.one_of(&[1, 1, 2, 5]).min((1 << 21) / (m * n * k)).max(1);
        let a = matrices(&mut random, dtype, [batch, m, k]);
        let b = matrices(&mut random, dtype, [batch, k, n]);
        let product = if round % 2 == 0 { bmm(&a, &b) } else { matmul(&a, &b) }.unwrap();
        let numbers = [&a, &b].map(Numbers::of);
        let [left, right] = [&numbers[0], &numbers[1]];
        let wanted = expected(dtype, [left, right], [1.0, 0.0], &[]);
        assert_eq!(product.sizes(), [batch, m, n]);
        assert!(product.bytes().unwrap() == wanted, "{dtype}: {batch} of {m} x {k} x {n}");
        if batch == 1 {
            let [a, b] = [&a, &b].map(|tensor| tensor.squeeze(&[0]).unwrap());
            let c = matrices(&mut random, dtype, [1, m, n]).squeeze(&[0]).unwrap();
            let factors = [random.one_of(&[1.0, 0.5, -3.0]), random.one_of(&[1.0, 0.0, 2.5])];
            let sum = addmm(&c, [&a, &b], factors).unwrap();
            let wanted = expected(dtype, [left, right], factors, &Numbers::of(&c).of);
            assert!(sum.bytes().unwrap() == wanted, "{dtype}: {m} x {k} x {n} {factors:?}");
        }
    }
}

/// On the CPU factors are read where they are, and one that the whole batch has is read once.
#[test]
fn products_on_the_cpu_agree_with_sums() {
    let mut random = Random(9);
    for round in 0..120 {
        let dtype = TYPES[round % 4];
        let [batch, m, n, k] = [5, 9, 9, 40].map(|most| 1 + random.below(most));
        let mut factor = |rows, columns| {
            let repeats = random.below(2) == 1;
            let own = matrices_on(
                CPU,
                &mut random,
                dtype,
                [if repeats { 1 } else { batch }, rows, columns],
            );
            own.expand(&[batch, rows, columns]).unwrap()
        };
        let (a, b) = (factor(m, k), factor(k, n));
        let product = bmm(&a, &b).unwrap();
        assert_eq!((product.sizes(), product.strides()), (vec![batch, m, n], vec![m * n, n, 1]));
        let numbers = [&a, &b].map(Numbers::of);
        let [left, right] = [&numbers[0], &numbers[1]];
        let within = if dtype == SCONCE_DTYPE_BF16 { 0.02 } else { 2e-3 };
        let check = |found: &Handle, factors: [f64; 2], c: &[f64]| {
            let wanted = decode_all(dtype, &expected(dtype, [left, right], factors, c));
            for (found, wanted) in Numbers::of(found).of.iter().zip(&wanted) {
                let near = within * (1.0 + wanted.abs());
                assert!(
                    (found - wanted).abs() <= near,
                    "{dtype} {batch} {m} {k} {n}: {found} {wanted}"
                );
            }
        };
        check(&product, [1.0, 0.0], &[]);
        if batch == 1 {
            let [a, b] = [&a, &b].map(|tensor| tensor.squeeze(&[0]).unwrap());
            let c = matrices_on(CPU, &mut random, dtype, [1, m, n]).squeeze(&[0]).unwrap();
            let factors = [random.one_of(&[1.0, 0.5]), random.one_of(&[1.0, 0.0, 2.5])];
            check(&addmm(&c, [&a, &b], factors).unwrap(), factors, &Numbers::of(&c).of);
        }
    }
}

#[test]
fn a_factor_that_is_repeated_stays_where_it_is() {
    let _one = alone();
    let row = from_f32(&[1.0, 2.0, 3.0], &[1, 1, 3], 0).expand(&[4, 2, 3]).unwrap();
    let one = from_f32(&[2.0], &[1, 1, 1], 0).expand(&[4, 3, 2]).unwrap();
    let before = calls("kernel_launch");
    let product = bmm(&row, &one).unwrap();
    assert_eq!(calls("kernel_launch"), before + 1);
    assert_eq!(product.f32s(), [12.0; 16]);
}

#[test]
fn what_is_multiplied_by_0_is_not_read() {
    let _one = alone();
    let nan = from_f32(&[f32::NAN; 4], &[2, 2], 0);
    let two = from_f32(&[1.0, 2.0, 3.0, 4.0], &[2, 2], 0);
    assert_eq!(addmm(&nan, [&two, &two], [1.0, 0.0]).unwrap().f32s(), [7.0, 10.0, 15.0, 22.0]);
    assert_eq!(addmm(&two, [&nan, &nan], [0.0, 2.0]).unwrap().f32s(), [2.0, 4.0, 6.0, 8.0]);
    let none = from_f32(&[], &[2, 0], 0);
    let product = matmul(&none, &none.transpose(0, 1).unwrap()).unwrap();
    assert_eq!(product.f32s(), [0.0; 4]);
}

/// One launch, and nothing of cuBLAS; TF32 changes nothing. A large product does both.
#[test]
fn a_small_product_is_one_launch_in_full_precision() {
    let _one = alone();
    sconce_context_set_allow_tf32_cublas(true.into());
    let fine = 1.0 + 2.0_f32.powi(-20);
    let ones = |rows: i64, columns: i64, value: f32| {
        from_f32(&vec![value; (rows * columns) as usize], &[rows, columns], 0)
    };
    let (a, b) = (ones(16, 8, fine), ones(8, 16, 1.0));
    matmul(&a, &b).unwrap();
    assert_eq!(sconce_sim_reset_call_counts(), sconce_status::SCONCE_OK);
    let product = matmul(&a, &b).unwrap();
    assert_eq!(calls("kernel_launch"), 1);
    assert_eq!(calls("blas_gemm"), 0);
    assert_eq!(product.f32s(), [8.0 * fine; 256]);
    let large = matmul(&ones(1100, 8, fine), &ones(8, 100, 1.0)).unwrap();
    sconce_context_set_allow_tf32_cublas(false.into());
    assert_eq!(calls("kernel_launch"), 1);
    assert_eq!(large.f32s(), [8.0; 110_000]);
}

/// A device and the CPU compute the same values, except for the order of a sum.
#[test]
fn products_of_the_device_are_near_those_of_the_cpu() {
    let _one = alone();
    sconce_context_set_allow_tf32_cublas(false.into());
    let mut random = Random(3);
    for sizes in
        [[1, 128, 128], [2, 128, 128], [3, 129, 20], [1, 20, 129], [1, 1, 300], [500, 40, 16]]
    {
        let [batch, m, k] = sizes;
        let a = matrices(&mut random, SCONCE_DTYPE_F32, [batch, m, k]);
        let b = matrices(&mut random, SCONCE_DTYPE_F32, [batch, k, 30]);
        let on_device = matmul(&a, &b).unwrap().f32s();
        let [a, b] = [&a, &b].map(|tensor| tensor.to(&options(-1, CPU), false).unwrap());
        for (one, other) in on_device.into_iter().zip(matmul(&a, &b).unwrap().f32s()) {
            assert!((one - other).abs() < 1e-3, "{sizes:?}: {one} {other}");
        }
    }
}
