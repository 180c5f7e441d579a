//! Products with weights of 4 bits beside loops over numbers.

use crate::operations::quantized::dynamic;
use crate::operations::quantized::four_bits::four_bit_weights;
use crate::operations::quantized::packing::Packing;
use crate::operations::quantized::tensor_cores::packed_for_tensor_cores;
use crate::sconce::api;
use crate::testing::{Cases, Dense, live};

const F32: i32 = api::SCONCE_DTYPE_F32;
const BF16: i32 = api::SCONCE_DTYPE_BF16;
const I32: i32 = api::SCONCE_DTYPE_I32;
const U8: i32 = api::SCONCE_DTYPE_U8;

/// Bits of weights, outputs times inputs, and what they stand for.
struct FourBits {
    bits: Dense,
    scales: Dense,
    group: i64,
}

impl FourBits {
    fn new(cases: &mut Cases, outputs: i64, inputs: i64, group: i64) -> FourBits {
        FourBits {
            bits: Dense::whole(cases, &[outputs, inputs], 0, 15),
            scales: Dense::build(&[inputs / group, outputs, 2], |_| cases.int(-8, 8) as f64 / 16.0),
            group,
        }
    }

    fn product(&self, input: &Dense) -> Dense {
        Dense::build(&[input.sizes[0], self.bits.sizes[0]], |at| {
            let weight = |k: i64| {
                let of = |part| self.scales.at(&[k / self.group, at[1], part]);
                (self.bits.at(&[at[1], k]) - 8.0) * of(0) + of(1)
            };
            (0..self.bits.sizes[1]).map(|k| input.at(&[at[0], k]) * weight(k)).sum()
        })
    }
}

#[test]
fn weights_of_four_bits_are_found_in_each_packing() {
    let before = live();
    let mut cases = Cases::new(93);
    for packing in [Packing::AVX512, Packing::AVX2, Packing::DEFAULT, Packing::NEON] {
        for outputs in [16, 48, 64, 80, 144] {
            let inputs = 64;
            let of = FourBits::new(&mut cases, outputs, inputs, 32);
            // As PyTorch's kernels write them: block by block, input by input.
            let mut bytes = vec![0_u8; (outputs * inputs / 2) as usize];
            for begin in (0..outputs).step_by(packing.block) {
                let count = (outputs - begin).min(packing.block as i64);
                for input in 0..inputs {
                    let line = (begin * inputs + input * count) / 2;
                    for byte in 0..count / 2 {
                        let whole = packing.halves && count == packing.block as i64;
                        let pair = match whole {
                            true => [byte, byte + count / 2],
                            false => [2 * byte, 2 * byte + 1],
                        };
                        let four = pair.map(|at| of.bits.at(&[begin + at, input]) as u8);
                        bytes[(line + byte) as usize] = four[0] | four[1] << 4;
                    }
                }
            }
            let packed = Dense {
                sizes: vec![outputs, inputs / 2],
                values: bytes.into_iter().map(f64::from).collect(),
            };
            // Few rows, and many.
            let rows = cases.one(&[1, 3, 16, 17]);
            let input = Dense::quarters(&mut cases, &[rows, inputs]);
            let (given, packed, scales) =
                (input.tensor(F32), packed.tensor(U8), of.scales.tensor(F32));
            let found =
                four_bit_weights(given.handle(), packed.handle(), 32, scales.handle(), packing)
                    .unwrap();
            let what = format!("{packing:?}, {outputs} outputs, {rows} rows");
            of.product(&input).assert_near(found.handle(), 1e-6, &what);
        }
    }
    assert_eq!(live(), before);
}

/// The numbers of `_convert_weight_to_int4pack`, thread by thread, as its kernel writes them.
fn for_tensor_cores(bits: &Dense, inner: i64) -> Dense {
    let (outputs, inputs) = (bits.sizes[0], bits.sizes[1]);
    Dense::build(&[outputs / 8, inputs / (inner * 16), 32, inner / 2], |at| {
        let (tile, step, thread, pair) = (at[0], at[1], at[2], at[3]);
        let first = (step * inner + 2 * pair) * 16 + thread % 4 * 2;
        let inputs = [0, 1, 8, 9, 16, 17, 24, 25].map(|more| first + more);
        let four = |index: usize| bits.at(&[tile * 8 + thread / 4, inputs[index]]) as u32;
        let order = [0, 2, 4, 6, 1, 3, 5, 7];
        let number = order.iter().rev().fold(0_u32, |number, &index| number << 4 | four(index));
        f64::from(number.cast_signed())
    })
}

#[test]
fn weights_for_tensor_cores_are_found() {
    let before = live();
    let mut cases = Cases::new(94);
    for inner in [2, 4, 8] {
        let of = FourBits::new(&mut cases, 24, 256, 64);
        let packed = for_tensor_cores(&of.bits, inner).tensor(I32);
        let input = Dense::quarters(&mut cases, &[2, 256]);
        let (given, scales) = (input.tensor(BF16), of.scales.tensor(BF16));
        let found =
            packed_for_tensor_cores(given.handle(), packed.handle(), 64, scales.handle()).unwrap();
        let expected = Dense::of(of.product(&input).tensor(BF16).handle());
        expected.assert_near(found.handle(), 1e-2, &format!("inner={inner}"));
    }
    assert_eq!(live(), before);
}

#[test]
fn rows_are_quantized_on_the_way() {
    let before = live();
    let mut cases = Cases::new(95);
    for (group, inputs) in [(32, 96), (64, 64), (6, 6)] {
        let outputs = 5;
        let bits = Dense::whole(&mut cases, &[outputs, inputs], 0, 15);
        let bytes = Dense::build(&[outputs, inputs / 2], |at| {
            let four = |half| bits.at(&[at[0], 2 * at[1] + half]);
            four(0) + 16.0 * four(1)
        });
        let scales = Dense::build(&[outputs, inputs / group], |_| cases.int(1, 9) as f64 / 8.0);
        let sizes = [group, inputs, outputs];
        let (bytes, of_scales) = (bytes.tensor(U8), scales.tensor(F32));
        let packed = dynamic::pack(bytes.handle(), of_scales.handle(), None, sizes).unwrap();
        // Numbers from -1 to 1 in steps of a 255th of 2 are integers without a rounding.
        let mut input = Dense::build(&[3, inputs], |_| cases.int(-127, 127) as f64 / 127.5);
        for row in 0..3 {
            input.values[(row * inputs) as usize] = -1.0;
            input.values[(row * inputs) as usize + 1] = 1.0;
        }
        let given = input.tensor(F32);
        let found = dynamic::matmul(given.handle(), packed.handle(), sizes).unwrap();
        let exact = Dense::build(&[3, outputs], |at| {
            let product = |k| {
                let weight = (bits.at(&[at[1], k]) - 8.0) * scales.at(&[at[1], k / group]);
                input.at(&[at[0], k]) * weight
            };
            (0..inputs).map(product).sum()
        });
        // Each number is within half a step.
        let most = inputs as f64 * 9.0 / 255.0;
        let apart = Dense::of(found.handle()).values;
        for (found, exact) in apart.iter().zip(&exact.values) {
            assert!((found - exact).abs() <= most, "{found} instead of {exact}");
        }
    }
    let other = Dense::build(&[7], |_| 0.0).tensor(F32);
    let given = Dense::build(&[2, 32], |_| 0.0).tensor(F32);
    let why = dynamic::matmul(given.handle(), other.handle(), [32, 32, 4]).unwrap_err();
    assert!(why.message.contains("with 7 elements, and not 68 of float32"), "{why:?}");
    let why = dynamic::matmul(given.handle(), other.handle(), [24, 32, 4]).unwrap_err();
    assert!(why.message.contains("Group size should be multiple 32 or in_features [32]"));
    drop((other, given));
    assert_eq!(live(), before);
}
