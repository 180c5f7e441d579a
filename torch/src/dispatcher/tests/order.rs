//! Elements in another order, repeated, joined, split and chosen.

use super::{call, counted, ints, one, refused, tensors, word};
use crate::abi::tensors::data_of;
use crate::registry::value::Value;
use crate::sconce::api::{
    SCONCE_DTYPE_BF16 as BF16, SCONCE_DTYPE_BOOL as BOOL, SCONCE_DTYPE_F32 as F32,
    SCONCE_DTYPE_I16 as I16, SCONCE_DTYPE_I32 as I32, SCONCE_DTYPE_I64 as I64,
};
use crate::testing::{Cases, Dense};

#[test]
fn dimensions_are_flipped_and_rolled() {
    counted(|| {
        let mut cases = Cases::new(1);
        for turn in 0..40 {
            let sizes = cases.sizes(4, 4);
            let rank = sizes.len() as i64;
            let values = Dense::quarters(&mut cases, &sizes);
            let dtype = cases.one(&[F32, BF16, I64]);
            let values =
                if dtype == I64 { Dense::whole(&mut cases, &sizes, -99, 99) } else { values };
            let x = values.either(&mut cases, dtype);
            let dims: Vec<i64> = (0..rank).filter(|_| cases.int(0, 1) == 1).collect();
            let named: Vec<i64> = dims
                .iter()
                .map(|dim| if cases.int(0, 1) == 1 { dim - rank } else { *dim })
                .collect();
            let found = one("flip", "", vec![word(&x), ints(&named)]);
            Dense::build(&sizes, |index| {
                let mut index = index.to_vec();
                for dim in &dims {
                    index[*dim as usize] = sizes[*dim as usize] - 1 - index[*dim as usize];
                }
                values.at(&index)
            })
            .assert_near(found.handle(), 0.0, &format!("flip, turn {turn}"));

            if !dims.is_empty() {
                let shifts: Vec<i64> = dims.iter().map(|_| cases.int(-9, 9)).collect();
                let found = one("roll", "", vec![word(&x), ints(&shifts), ints(&named)]);
                Dense::build(&sizes, |index| {
                    let mut index = index.to_vec();
                    for (dim, shift) in dims.iter().zip(&shifts) {
                        let at = *dim as usize;
                        index[at] = (index[at] - shift).rem_euclid(sizes[at]);
                    }
                    values.at(&index)
                })
                .assert_near(found.handle(), 0.0, &format!("roll, turn {turn}"));
            }
            let shift = cases.int(-9, 9);
            let count = values.values.len() as i64;
            let found = one("roll", "", vec![word(&x), ints(&[shift])]);
            let mut flat = values.clone();
            for (at, value) in values.values.iter().enumerate() {
                flat.values[(at as i64 + shift).rem_euclid(count) as usize] = *value;
            }
            flat.assert_near(found.handle(), 0.0, "roll of all");
        }
        let x = Dense { sizes: vec![2, 2], values: vec![1.0; 4] }.tensor(F32);
        refused("flip", "", vec![word(&x), ints(&[0, -2])], "dimension -2 is named twice");
        refused("flip", "", vec![word(&x), ints(&[2])], "dim is 2, but must be from -2 to 1");
        refused("roll", "", vec![word(&x), ints(&[1, 2])], "shifts has 2 entries and dims 0");
        refused("roll", "", vec![word(&x), ints(&[1]), ints(&[5])], "dim is 5");
    });
}

#[test]
fn planes_are_turned_by_quarters() {
    counted(|| {
        // 0 1 2 / 3 4 5, turned once: 2 5 / 1 4 / 0 3.
        let x = Dense { sizes: vec![2, 3], values: (0..6).map(f64::from).collect() };
        let wanted = Dense { sizes: vec![3, 2], values: vec![2.0, 5.0, 1.0, 4.0, 0.0, 3.0] };
        let found = one("rot90", "", vec![word(&x.tensor(F32))]);
        wanted.assert_near(found.handle(), 0.0, "rot90");

        let mut cases = Cases::new(3);
        for turn in 0..40 {
            let sizes: Vec<i64> = (0..cases.int(2, 4)).map(|_| cases.int(1, 4)).collect();
            let rank = sizes.len() as i64;
            let values = Dense::quarters(&mut cases, &sizes);
            let x = values.either(&mut cases, F32);
            let first = cases.int(0, rank - 1);
            let second = (first + cases.int(1, rank - 1)).rem_euclid(rank);
            let turns = cases.int(-5, 5);
            let named = [first, if cases.int(0, 1) == 1 { second - rank } else { second }];
            let found = one("rot90", "", vec![word(&x), Value::Int(turns), ints(&named)]);
            let (first, second) = (first as usize, second as usize);
            // A quarter turn moves what is at (i, j) to (last - j, i).
            let mut turned = values.clone();
            for _ in 0..turns.rem_euclid(4) {
                let before = turned.clone();
                let mut swapped = before.sizes.clone();
                swapped.swap(first, second);
                turned = Dense::build(&swapped, |index| {
                    let mut index = index.to_vec();
                    let (i, j) = (index[first], index[second]);
                    (index[first], index[second]) = (j, before.sizes[second] - 1 - i);
                    before.at(&index)
                });
            }
            turned.assert_near(found.handle(), 0.0, &format!("rot90, turn {turn}"));
        }
        let x = Dense { sizes: vec![2, 2], values: vec![1.0; 4] }.tensor(F32);
        let turned = |dims: &[i64]| vec![word(&x), Value::Int(1), ints(dims)];
        refused("rot90", "", turned(&[0]), "dims has 1 entries");
        refused("rot90", "", turned(&[0, -2]), "dimension -2 is named twice");
        refused("rot90", "", turned(&[0, 2]), "dim is 2, but must be from -2 to 1");
    });
}

#[test]
fn a_result_never_shares_memory_with_its_operand() {
    counted(|| {
        let x = Dense { sizes: vec![1, 3], values: vec![1.0, 2.0, 3.0] }.tensor(F32);
        for (name, overload, values) in [
            ("flip", "", vec![word(&x), ints(&[0])]),
            ("rot90", "", vec![word(&x), Value::Int(4)]),
            ("rot90", "", vec![word(&x), Value::Int(1)]),
            ("roll", "", vec![word(&x), ints(&[0])]),
            ("roll", "", vec![word(&x), ints(&[3]), ints(&[1])]),
            ("repeat", "", vec![word(&x), ints(&[1, 1])]),
            ("repeat_interleave", "self_int", vec![word(&x), Value::Int(1), Value::Int(0)]),
        ] {
            let made = one(name, overload, values);
            let (made, own) = (data_of(made.handle()).unwrap(), data_of(x.handle()).unwrap());
            assert_ne!(made, own, "{name}");
        }
    });
}

#[test]
fn tensors_are_repeated() {
    counted(|| {
        let mut cases = Cases::new(2);
        for _ in 0..30 {
            let sizes = cases.sizes(3, 3);
            let values = Dense::quarters(&mut cases, &sizes);
            let x = values.either(&mut cases, F32);
            let new = cases.int(0, 2) as usize;
            let repeats: Vec<i64> = (0..sizes.len() + new).map(|_| cases.int(0, 3)).collect();
            let mut whole = vec![1; new];
            whole.extend(&sizes);
            let whole: Vec<i64> =
                whole.iter().zip(&repeats).map(|(size, count)| size * count).collect();
            let found = one("repeat", "", vec![word(&x), ints(&repeats)]);
            Dense::build(&whole, |index| {
                let own: Vec<i64> =
                    index[new..].iter().zip(&sizes).map(|(place, size)| place % size).collect();
                values.at(&own)
            })
            .assert_near(found.handle(), 0.0, "repeat");

            if sizes.is_empty() {
                continue;
            }
            let dim = cases.int(0, sizes.len() as i64 - 1);
            let at = dim as usize;
            let count = cases.int(0, 3);
            let mut longer = sizes.clone();
            longer[at] *= count;
            let values_of = |longer: &[i64], position: &dyn Fn(i64) -> i64| {
                Dense::build(longer, |index| {
                    let mut index = index.to_vec();
                    index[at] = position(index[at]);
                    values.at(&index)
                })
            };
            let arguments = vec![word(&x), Value::Int(count), Value::Int(dim)];
            let found = one("repeat_interleave", "self_int", arguments);
            values_of(&longer, &|place| place / count).assert_near(found.handle(), 0.0, "self_int");

            let counts = Dense::whole(&mut cases, &[sizes[at]], 0, 3);
            let positions: Vec<i64> = (0..sizes[at])
                .flat_map(|place| std::iter::repeat_n(place, counts.at(&[place]) as usize))
                .collect();
            longer[at] = positions.len() as i64;
            let dtype = cases.one(&[I32, I64]);
            let repeats = counts.either(&mut cases, dtype);
            let arguments = vec![word(&x), word(&repeats), Value::Int(dim)];
            let found = one("repeat_interleave", "self_Tensor", arguments);
            values_of(&longer, &|place| positions[place as usize]).assert_near(
                found.handle(),
                0.0,
                "self_Tensor",
            );
            let found = one("repeat_interleave", "Tensor", vec![word(&repeats)]);
            Dense::build(&[positions.len() as i64], |index| positions[index[0] as usize] as f64)
                .assert_near(found.handle(), 0.0, "repeats alone");
        }
        let x = Dense { sizes: vec![2], values: vec![1.0, 2.0] }.tensor(F32);
        let three = Dense { sizes: vec![3], values: vec![1.0; 3] }.tensor(I64);
        let negative = Dense { sizes: vec![2], values: vec![1.0, -1.0] }.tensor(I64);
        let interleave = |repeats, words| {
            refused("repeat_interleave", "self_Tensor", vec![word(&x), repeats], words);
        };
        interleave(word(&three), "repeats has 3 entries; dimension 0 has 2");
        interleave(word(&negative), "repeats[1] is -1, but must not be negative");
        interleave(word(&x), "repeats must have int64 or int32 elements");
        let arguments = vec![word(&three), Value::Int(7)];
        refused(
            "repeat_interleave",
            "Tensor",
            arguments,
            "output_size is 7, but the repeats add up to 3",
        );
        let arguments = vec![word(&x), Value::Int(-1)];
        refused("repeat_interleave", "self_int", arguments, "repeats is -1");
        refused("repeat", "", vec![word(&x), ints(&[])], "repeats has 0 entries");
        refused("repeat", "", vec![word(&x), ints(&[-1])], "repeats[0] is -1");
    });
}

#[test]
fn indices_and_masks_choose() {
    counted(|| {
        let mut cases = Cases::new(4);
        for _ in 0..30 {
            let sizes: Vec<i64> = (0..cases.int(1, 3)).map(|_| cases.int(1, 4)).collect();
            let values = Dense::whole(&mut cases, &sizes, -99, 99);
            let dtype = cases.one(&[F32, I16, I64]);
            let x = values.either(&mut cases, dtype);
            let dim = cases.int(0, sizes.len() as i64 - 1);
            let (at, size) = (dim as usize, sizes[dim as usize]);
            let count = cases.int(0, 4);
            let index = Dense::whole(&mut cases, &[count], 0, size - 1);
            let i = index.either(&mut cases, I64);
            let mut shorter = sizes.clone();
            shorter[at] = index.values.len() as i64;
            let found = one("index_select", "", vec![word(&x), Value::Int(dim), word(&i)]);
            Dense::build(&shorter, |place| {
                let mut place = place.to_vec();
                place[at] = index.values[place[at] as usize] as i64;
                values.at(&place)
            })
            .assert_near(found.handle(), 0.0, "index_select");

            let found = one("nonzero", "", vec![word(&x)]);
            let mut rows = Vec::new();
            Dense::build(&sizes, |place| {
                if values.at(place) != 0.0 {
                    rows.extend(place.iter().map(|at| *at as f64));
                }
                0.0
            });
            let rank = sizes.len() as i64;
            Dense { sizes: vec![rows.len() as i64 / rank, rank], values: rows }.assert_near(
                found.handle(),
                0.0,
                "nonzero",
            );

            let mask = Dense::whole(&mut cases, &sizes, 0, 1);
            let m = mask.either(&mut cases, BOOL);
            let found = one("masked_select", "", vec![word(&x), word(&m)]);
            let mut chosen = Vec::new();
            Dense::build(&sizes, |place| {
                if mask.at(place) != 0.0 {
                    chosen.push(values.at(place));
                }
                0.0
            });
            Dense { sizes: vec![chosen.len() as i64], values: chosen }.assert_near(
                found.handle(),
                0.0,
                "masked_select",
            );

            // Negative indices count from the end.
            let negative = Dense::build(&index.sizes, |place| index.at(place) - size as f64);
            let i = negative.tensor(I64);
            let seven = Dense { sizes: vec![], values: vec![7.0] }.tensor(F32);
            let arguments = vec![word(&x), Value::Int(dim), word(&i), word(&seven)];
            let found = one("index_fill_", "int_Tensor", arguments);
            assert_eq!(found.handle(), x.handle());
            Dense::build(&sizes, |place| {
                if index.values.contains(&(place[at] as f64)) { 7.0 } else { values.at(place) }
            })
            .assert_near(x.handle(), 0.0, "index_fill_");
        }
        let x = Dense { sizes: vec![2, 2], values: vec![1.0; 4] }.tensor(F32);
        let seven = Dense { sizes: vec![], values: vec![7.0] }.tensor(F32);
        let far = Dense { sizes: vec![1], values: vec![2.0] }.tensor(I64);
        let fill = |index, value, words| {
            refused(
                "index_fill_",
                "int_Tensor",
                vec![word(&x), Value::Int(0), index, value],
                words,
            );
        };
        fill(word(&far), word(&seven), "index 2 is out of range of the 2 of dimension 0");
        fill(word(&far), word(&x), "value must be a tensor without dimensions");
        fill(word(&x), word(&seven), "index must be a vector");
    });
}

#[test]
fn tensors_are_joined_and_split() {
    counted(|| {
        let mut cases = Cases::new(6);
        for _ in 0..20 {
            let sizes: Vec<i64> = (0..cases.int(1, 3)).map(|_| cases.int(1, 5)).collect();
            let values = Dense::quarters(&mut cases, &sizes);
            let x = values.either(&mut cases, F32);
            let dim = cases.int(0, sizes.len() as i64 - 1);
            let size = cases.int(1, 3);
            let of = |name: &str, overload: &str, size: Value| {
                let mut results =
                    call(name, overload, vec![word(&x), size, Value::Int(dim)]).unwrap();
                let Some(Value::List(parts)) = results.pop() else { panic!("no list") };
                let parts = tensors(parts);
                let list = parts.iter().map(word).collect();
                let joined = one("cat", "", vec![Value::List(list), Value::Int(dim)]);
                values.assert_near(joined.handle(), 0.0, name);
                parts.len() as i64
            };
            let length = sizes[dim as usize];
            assert_eq!(of("split", "Tensor", Value::Int(size)), (length + size - 1) / size);
            assert!(of("chunk", "", Value::Int(size)) <= size);
            let cut = cases.int(0, length);
            assert_eq!(of("split_with_sizes", "", ints(&[cut, length - cut])), 2);

            let mut results = call("unbind", "int", vec![word(&x), Value::Int(dim)]).unwrap();
            let Some(Value::List(parts)) = results.pop() else { panic!("no list") };
            assert_eq!(parts.len() as i64, length);
            let stacked = one("stack", "", vec![Value::List(parts), Value::Int(dim)]);
            values.assert_near(stacked.handle(), 0.0, "stack");
        }
        let x = Dense { sizes: vec![4], values: vec![1.0; 4] }.tensor(F32);
        let arguments = vec![word(&x), ints(&[1, 2])];
        refused("split_with_sizes", "", arguments, "does not add up to the 4 of dimension 0");
        refused("cat", "", vec![Value::List(Vec::new())], "expected a non-empty list");
    });
}

#[test]
fn views_share_memory_and_have_the_shapes_of_torch() {
    counted(|| {
        let values = Dense::build(&[2, 3], |index| (index[0] * 3 + index[1]) as f64);
        let x = values.tensor(F32);
        let own = data_of(x.handle()).unwrap();
        let wide = Dense { sizes: vec![4, 2, 3], values: vec![0.0; 24] }.tensor(F32);
        let column = Dense { sizes: vec![6, 1], values: vec![0.0; 6] }.tensor(F32);
        for (name, overload, more, expected) in [
            ("t", "", vec![], Dense::build(&[3, 2], |index| (index[1] * 3 + index[0]) as f64)),
            ("detach", "", vec![], values.clone()),
            ("alias", "", vec![], values.clone()),
            (
                "expand_as",
                "",
                vec![word(&wide)],
                Dense::build(&[4, 2, 3], |index| values.repeated_at(index)),
            ),
            ("view_as", "", vec![word(&column)], Dense { sizes: vec![6, 1], ..values.clone() }),
            (
                "unflatten",
                "int",
                vec![Value::Int(-1), ints(&[3, 1])],
                Dense { sizes: vec![2, 3, 1], ..values.clone() },
            ),
            ("diagonal", "", vec![], Dense { sizes: vec![2], values: vec![0.0, 4.0] }),
        ] {
            let mut arguments = vec![word(&x)];
            arguments.extend(more);
            let view = one(name, overload, arguments);
            expected.assert_near(view.handle(), 0.0, name);
            assert_eq!(data_of(view.handle()).unwrap(), own, "{name}");
        }
        refused("t", "", vec![word(&wide)], "self must have at most 2 dimensions, but has 3");
        let resized = one("resize_", "", vec![word(&column), ints(&[2, 5])]);
        assert_eq!(Dense::of(resized.handle()).sizes, [2, 5]);
    });
}
