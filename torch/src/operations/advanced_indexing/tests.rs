//! `index` and `index_put` beside loops over all indices.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::{index, index_put, index_put_out};
use crate::abi::tensors::strides_of;
use crate::operations::testing::{Random, content, indices, scattered_tensor, tensor, values};
use crate::sconce::{Tensor, api};

const F32: i32 = api::SCONCE_DTYPE_F32;
const I64: i32 = api::SCONCE_DTYPE_I64;
const BOOL: i32 = api::SCONCE_DTYPE_BOOL;

/// Lists of indices for some dimensions, which are repeated to common sizes.
struct Case {
    sizes: Vec<i64>,
    common: Vec<i64>,
    /// By dimension: the sizes of the list and its values.
    lists: Vec<Option<(Vec<i64>, Vec<f64>)>>,
}

impl Case {
    fn new(random: &mut Random) -> Case {
        let rank = random.size(1, 4) as usize;
        let sizes = random.sizes(rank, 4);
        let common_rank = random.size(0, 2) as usize;
        let common = random.sizes(common_rank, 4);
        let mut lists: Vec<Option<(Vec<i64>, Vec<f64>)>> = Vec::new();
        for &size in &sizes {
            lists.push((random.below(3) != 0).then(|| {
                let own: Vec<i64> = common
                    .iter()
                    .map(|&size| if random.below(4) == 0 { 1 } else { size })
                    .collect();
                let below =
                    |random: &mut Random| random.below(2 * size as u64) as f64 - size as f64;
                let chosen = (0..own.iter().product()).map(|_: i64| below(random)).collect();
                (own, chosen)
            }));
        }
        // The sizes that the lists themselves have in common.
        let mut common = vec![1; common.len()];
        for (own, _) in lists.iter().flatten() {
            for (common, &own) in common.iter_mut().zip(own) {
                *common = own.max(*common);
            }
        }
        if lists.iter().all(Option::is_none) {
            common.clear();
        }
        Case { sizes, common, lists }
    }

    fn tensors(&self, random: &mut Random) -> Vec<Option<Tensor>> {
        let dtype = if random.below(3) == 0 { api::SCONCE_DTYPE_I32 } else { I64 };
        let made = |list: &Option<(Vec<i64>, Vec<f64>)>| {
            list.as_ref().map(|(sizes, values)| scattered_tensor(sizes, dtype, values, random))
        };
        self.lists.iter().map(made).collect()
    }

    /// The dimensions of the result: those of the table, or of the lists (none).
    fn order(&self) -> Vec<Option<usize>> {
        let indexed: Vec<usize> =
            (0..self.lists.len()).filter(|&dim| self.lists[dim].is_some()).collect();
        let of_lists = vec![None; self.common.len()];
        let plain = |dims: std::ops::Range<usize>| {
            dims.filter(|&dim| self.lists[dim].is_none()).map(Some).collect::<Vec<_>>()
        };
        let count = self.lists.len();
        match (indexed.first(), indexed.last()) {
            (Some(&first), Some(&last)) if last - first + 1 == indexed.len() => {
                [plain(0..first), of_lists, plain(first..count)].concat()
            }
            _ => [of_lists, plain(0..count)].concat(),
        }
    }

    /// The sizes of the result, and for each of its elements the table's.
    fn places(&self) -> (Vec<i64>, Vec<usize>) {
        let order = self.order();
        let mut of_common = self.common.iter();
        let sizes: Vec<i64> = order
            .iter()
            .map(|dim| dim.map_or_else(|| *of_common.next().unwrap(), |dim| self.sizes[dim]))
            .collect();
        let first_list = order.iter().position(Option::is_none).unwrap_or(0);
        let places = indices(&sizes)
            .iter()
            .map(|at| {
                let of_list = &at[first_list..first_list + self.common.len()];
                (0..self.sizes.len()).fold(0, |place, dim| {
                    let here = match &self.lists[dim] {
                        None => at[order.iter().position(|own| *own == Some(dim)).unwrap()],
                        Some((own, values)) => {
                            let flat = own.iter().zip(of_list).fold(0, |flat, (size, at)| {
                                flat * size + if *size == 1 { 0 } else { *at }
                            });
                            (values[flat as usize] as i64).rem_euclid(self.sizes[dim])
                        }
                    };
                    place * self.sizes[dim] as usize + here as usize
                })
            })
            .collect();
        (sizes, places)
    }
}

fn handles(tensors: &[Option<Tensor>]) -> Vec<Option<crate::sconce::tensor::TensorHandle>> {
    tensors.iter().map(|tensor| tensor.as_ref().map(Tensor::handle)).collect()
}

#[test]
fn lists_choose_elements_of_all_dimensions() {
    let random = &mut Random(11);
    for round in 0..300 {
        let case = Case::new(random);
        let dtype = [F32, api::SCONCE_DTYPE_F16, I64, api::SCONCE_DTYPE_U8][round % 4];
        let table = random.values(case.sizes.iter().product(), 100);
        let own = scattered_tensor(&case.sizes, dtype, &table, random);
        let lists = case.tensors(random);
        let found = index(own.handle(), &handles(&lists)).unwrap();
        let (sizes, places) = case.places();
        let expected: Vec<f64> = places.iter().map(|&place| table[place]).collect();
        assert_eq!(
            content(&found),
            (sizes, expected),
            "round {round}: {:?} {:?}",
            case.sizes,
            case.lists
        );
    }
}

#[test]
fn values_are_put_or_added_at_the_places() {
    let random = &mut Random(12);
    for round in 0..200 {
        let case = Case::new(random);
        let table = random.values(case.sizes.iter().product(), 9);
        let own = scattered_tensor(&case.sizes, F32, &table, random);
        let lists = case.tensors(random);
        let (sizes, places) = case.places();
        let source = random.values(places.len() as i64, 9);
        let source_tensor = scattered_tensor(&sizes, F32, &source, random);
        let (mut put, mut added) = (table.clone(), table.clone());
        for (&place, &value) in places.iter().zip(&source) {
            put[place] = value;
            added[place] += value;
        }
        for (accumulate, expected) in [(false, put), (true, added)] {
            let found =
                index_put(own.handle(), &handles(&lists), source_tensor.handle(), accumulate)
                    .unwrap();
            assert_eq!(content(&found), (case.sizes.clone(), expected), "round {round}");
        }
        assert_eq!(values(own.handle()), table, "the input stays as it is");
        // One value for all places, in place.
        let one = tensor(&[], F32, &[50.0]);
        index_put_out(own.handle(), own.handle(), &handles(&lists), one.handle(), false).unwrap();
        let mut expected = table;
        places.iter().for_each(|&place| expected[place] = 50.0);
        assert_eq!(values(own.handle()), expected, "round {round}");
    }
}

#[test]
fn a_mask_stands_for_the_places_where_it_is_true() {
    let table = tensor(&[2, 3], F32, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let mask = tensor(&[2, 3], BOOL, &[1.0, 0.0, 0.0, 0.0, 1.0, 1.0]);
    let found = index(table.handle(), &[Some(mask.handle())]).unwrap();
    assert_eq!(content(&found), (vec![3], vec![1.0, 5.0, 6.0]));
    let row = tensor(&[2], BOOL, &[0.0, 1.0]);
    let found = index(table.handle(), &[Some(row.handle())]).unwrap();
    assert_eq!(content(&found), (vec![1, 3], vec![4.0, 5.0, 6.0]));
    let column = tensor(&[3], BOOL, &[1.0, 0.0, 1.0]);
    let list = tensor(&[1], I64, &[-1.0]);
    let found = index(table.handle(), &[Some(list.handle()), Some(column.handle())]).unwrap();
    assert_eq!(content(&found), (vec![2], vec![4.0, 6.0]));
    let none = tensor(&[2], BOOL, &[0.0, 0.0]);
    let found = index(table.handle(), &[Some(none.handle())]).unwrap();
    assert_eq!(content(&found), (vec![0, 3], vec![]));
    let put =
        index_put(table.handle(), &[Some(mask.handle())], tensor(&[], F32, &[0.0]).handle(), false);
    assert_eq!(content(&put.unwrap()).1, [0.0, 2.0, 3.0, 4.0, 0.0, 0.0]);
}

#[test]
fn results_lie_in_the_order_of_the_table() {
    // Dimensions in the order 2, 0, 1 in memory, as torch's results of such tensors.
    let table = tensor(&[5, 2, 3], F32, &[0.0; 30]);
    let view = crate::sconce::operations::transpose(table.handle(), 0, 2).unwrap();
    let list = tensor(&[4], I64, &[0.0; 4]);
    let found = index(view.handle(), &[None, None, Some(list.handle())]).unwrap();
    assert_eq!(strides_of(found.handle()).unwrap(), [4, 12, 1]);
    let found = index(view.handle(), &[Some(list.handle())]).unwrap();
    // The dimension of the list has no stride to go by, and stays in front.
    assert_eq!(strides_of(found.handle()).unwrap(), [10, 1, 2]);
}

#[test]
fn empty_lists_and_dimensions_are_allowed_where_nothing_is_read() {
    let table = tensor(&[0, 3], F32, &[]);
    let none = tensor(&[0], I64, &[]);
    assert_eq!(
        content(&index(table.handle(), &[Some(none.handle())]).unwrap()),
        (vec![0, 3], vec![])
    );
    let one = tensor(&[1], I64, &[0.0]);
    assert_eq!(
        index(table.handle(), &[Some(one.handle())]).unwrap_err().message,
        "index is out of bounds for dimension 0 with size 0"
    );
}

#[test]
fn wrong_arguments_are_refused_with_words() {
    let table = tensor(&[3, 2], F32, &[0.0; 6]);
    let of = |lists: &[&Tensor]| {
        let lists: Vec<_> = lists.iter().map(|list| Some(list.handle())).collect();
        index(table.handle(), &lists).unwrap_err().message
    };
    for wrong in [3.0, -4.0] {
        assert_eq!(
            of(&[&tensor(&[1], I64, &[wrong])]),
            format!("index {wrong} is out of bounds for dimension 0 with size 3")
        );
    }
    let list = tensor(&[2], I64, &[0.0; 2]);
    assert_eq!(of(&[&list, &list, &list]), "too many indices for tensor of dimension 2 (got 3)");
    assert!(
        of(&[&list, &tensor(&[3], I64, &[0.0; 3])]).contains("could not be broadcast together")
    );
    assert!(of(&[&table]).contains("must be long, int, byte or bool tensors"));
    assert_eq!(
        of(&[&tensor(&[2], BOOL, &[1.0; 2])]),
        "The shape of the mask [2] at index 0 does not match the shape of the indexed tensor [3, 2] at dimension 0"
    );
    let put = |source: &Tensor| {
        index_put(table.handle(), &[Some(list.handle())], source.handle(), false)
            .unwrap_err()
            .message
    };
    assert!(
        put(&tensor(&[3, 2], F32, &[0.0; 6]))
            .contains("cannot be broadcast to indexing result of shape [2, 2]")
    );
    assert!(
        put(&tensor(&[], I64, &[0.0]))
            .contains("got float32 for the destination and int64 for the source")
    );
}
