//! `copy_` between every two kinds of memory, of every two types, with shapes of every kind.

use sconce::*;
use testkit::numbers::Random;
use testkit::places::alone;

use super::spot::{DTYPES, SPOTS, Spot};
use crate::api::{CPU, Handle, options};
use crate::create::{from_bytes, from_i32};
use crate::storage::figures::Figures;

/// Numbers that every type holds, or makes true.
const NUMBERS: [f64; 6] = [1.0, 2.0, 4.0, 1.0, 4.0, 2.0];

/// The numbers in a type, on the CPU; `None` if nothing is converted to the type.
pub(super) fn numbers_in(dtype: i32) -> Option<Handle> {
    let bytes: Vec<u8> = NUMBERS.iter().flat_map(|number| number.to_le_bytes()).collect();
    let doubles = from_bytes(&bytes, &[2, 3], SCONCE_DTYPE_F64, CPU).unwrap();
    doubles.to(&options(dtype, -1), false).ok()
}

/// The same elements seen in another shape: as they are, turned, with gaps, or repeated.
fn shaped(shape: i64, tensor: &Handle) -> Handle {
    match shape {
        0 => tensor.view(&[2, 3]),
        1 => tensor.view(&[3, 2]).unwrap().transpose(0, 1),
        2 => tensor.view(&[6]).unwrap().as_strided(&[2, 3], &[1, 2], 0),
        _ => tensor.view(&[2, 3]).unwrap().select(1, 1).unwrap().unsqueeze(1),
    }
    .unwrap()
}

/// Conversions between all types give the same bytes between all places as on the CPU, where numbers that both
/// types hold stay what they are.
#[test]
fn every_type_to_every_type_between_all_places() {
    let _one = alone();
    let start = Figures::now();
    let mut random = Random(5);
    for (from, to) in DTYPES.flat_map(|from| DTYPES.map(move |to| (from, to))) {
        let Some(numbers) = numbers_in(from) else {
            assert_eq!(from, SCONCE_DTYPE_F4_E2M1FN_X2);
            continue;
        };
        let target = Spot::Ordinary.empty(&[2, 3], to);
        let shape = random.below(4);
        let expected = target.copy_from(&shaped(shape, &numbers), false);
        if to == SCONCE_DTYPE_F4_E2M1FN_X2 {
            assert!(expected.is_err());
        } else {
            expected.as_ref().unwrap();
        }
        if expected.is_ok() && from != SCONCE_DTYPE_BOOL && to != SCONCE_DTYPE_BOOL && shape < 3 {
            let again = shaped(shape, &numbers).to(&options(SCONCE_DTYPE_F64, -1), false).unwrap();
            let back = target.to(&options(SCONCE_DTYPE_F64, -1), false).unwrap();
            assert_eq!(back.bytes().unwrap(), again.bytes().unwrap(), "{from} to {to}");
        }
        for (at, of) in SPOTS.into_iter().flat_map(|at| SPOTS.map(move |of| (at, of))) {
            let source = shaped(shape, &of.holding(&numbers));
            let here = at.empty(&[3, 2], to).transpose(0, 1).unwrap();
            let result = here.copy_from(&source, random.below(2) == 0);
            let context = format!("{from} on {of:?} to {to} on {at:?}, shape {shape}");
            match (&result, &expected) {
                (Ok(()), Ok(())) => {
                    sconce_runtime::device::synchronize(0).unwrap();
                    sconce_runtime::device::synchronize(1).unwrap();
                    assert_eq!(here.bytes().unwrap(), target.bytes().unwrap(), "{context}");
                }
                (Err(ours), Err(theirs)) => assert_eq!(ours.status, theirs.status, "{context}"),
                _ => panic!("{context}: {result:?}, on the CPU {expected:?}"),
            }
        }
    }
    start.assert_unchanged();
}

/// Places of a storage, in a random shape with gaps and in a random order of dimensions.
struct Layout {
    sizes: Vec<i64>,
    strides: Vec<i64>,
    offset: i64,
}

impl Layout {
    fn new(random: &mut Random, sizes: &[i64]) -> Layout {
        let mut order: Vec<usize> = (0..sizes.len()).collect();
        for at in (1..order.len()).rev() {
            order.swap(at, random.below(at as u64 + 1) as usize);
        }
        let (mut strides, mut next) = (vec![0; sizes.len()], 1 + random.below(2));
        for dim in order {
            strides[dim] = next;
            next = next * sizes[dim] + random.below(3);
        }
        Layout { sizes: sizes.to_vec(), strides, offset: random.below(4) }
    }

    fn extent(&self) -> i64 {
        let steps = self.sizes.iter().zip(&self.strides);
        self.offset + 1 + steps.map(|(size, stride)| (size - 1) * stride).sum::<i64>()
    }

    fn places(&self) -> Vec<i64> {
        crate::views::strided(&self.sizes, &self.strides, self.offset)
    }

    fn of(&self, storage: &Handle) -> Handle {
        storage.as_strided(&self.sizes, &self.strides, self.offset).unwrap()
    }
}

/// Each element arrives, and nothing between them is touched.
#[test]
fn shapes_of_every_kind() {
    let _one = alone();
    let start = Figures::now();
    let mut random = Random(9);
    for round in 0..600 {
        let rank = random.below(8);
        let sizes: Vec<i64> = (0..rank).map(|_| random.one_of(&[1, 2, 2, 3])).collect();
        let (to, from) = (random.one_of(&SPOTS), random.one_of(&SPOTS));
        // Some dimensions of the source are repeated, some of the first missing.
        let repeated: Vec<bool> = sizes.iter().map(|_| random.below(5) == 0).collect();
        let missing = repeated.iter().take_while(|repeated| **repeated).count();
        let own: Vec<i64> =
            sizes.iter().zip(&repeated).map(|(size, one)| if *one { 1 } else { *size }).collect();
        let source_layout = Layout::new(&mut random, &own[missing..]);
        let target_layout = Layout::new(&mut random, &sizes);
        let values: Vec<i32> = (0..source_layout.extent() as i32).map(|at| at + 1000).collect();
        let source = from.holding(&from_i32(&values, &[values.len() as i64], CPU));
        let before: Vec<i32> = (0..target_layout.extent() as i32 + 3).collect();
        let target = to.holding(&from_i32(&before, &[before.len() as i64], CPU));
        let (written, read) = (target_layout.of(&target), source_layout.of(&source));
        written.copy_from(&read, random.below(2) == 0).unwrap();
        for device in [0, 1] {
            sconce_runtime::device::synchronize(device).unwrap();
        }
        let model = crate::views::Model { sizes: own.clone(), places: source_layout.places() };
        let mut expected = before;
        for (place, of) in target_layout.places().iter().zip(model.expand(&sizes).places) {
            expected[*place as usize] = values[of as usize];
        }
        assert_eq!(target.i32s(), expected, "round {round}: {from:?} to {to:?}, {sizes:?}");
    }
    start.assert_unchanged();
}
