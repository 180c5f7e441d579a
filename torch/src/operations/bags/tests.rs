#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;
use crate::testing::{Cases, Dense, live};

const F64: i32 = api::SCONCE_DTYPE_F64;
const I64: i32 = api::SCONCE_DTYPE_I64;

/// A table and bags of rows of it.
struct Case {
    table: Dense,
    indices: Dense,
    offsets: Dense,
    factors: Option<Dense>,
    mode: BagMode,
    padding: i64,
    has_last_offset: bool,
    bags: i64,
}

impl Case {
    fn new(cases: &mut Cases) -> Case {
        let (rows, columns, count) = (cases.int(1, 6), cases.int(1, 3), cases.int(0, 9));
        let (bags, has_last_offset) = (cases.int(1, 4), cases.int(0, 1) == 1);
        let mut offsets: Vec<i64> = (1..bags).map(|_| cases.int(0, count)).collect();
        offsets.push(0);
        offsets.sort_unstable();
        if has_last_offset {
            offsets.push(count);
        }
        let mode = cases.one(&[BagMode::Sum, BagMode::Mean, BagMode::Max]);
        let has_factors = mode == BagMode::Sum && cases.int(0, 1) == 1;
        Case {
            table: Dense::quarters(cases, &[rows, columns]),
            indices: Dense::whole(cases, &[count], 0, rows - 1),
            offsets: Dense::build(&[offsets.len() as i64], |at| offsets[at[0] as usize] as f64),
            factors: has_factors.then(|| Dense::quarters(cases, &[count])),
            mode,
            padding: cases.int(-1, rows - 1),
            has_last_offset,
            bags,
        }
    }

    /// The indices of a bag that count, with their places.
    fn of_bag(&self, bag: i64) -> Vec<(i64, i64)> {
        let (count, offsets) = (self.indices.sizes[0], &self.offsets.values);
        let begin = offsets[bag as usize] as i64;
        let end = if bag + 1 < self.bags { offsets[bag as usize + 1] as i64 } else { count };
        let all = (begin..end).map(|at| (at, self.indices.at(&[at]) as i64));
        all.filter(|(_, row)| *row != self.padding).collect()
    }

    fn factor(&self, at: i64) -> f64 {
        self.factors.as_ref().map_or(1.0, |factors| factors.at(&[at]))
    }

    /// The row of each bag, written out.
    fn rows(&self) -> Dense {
        let columns = self.table.sizes[1];
        Dense::build(&[self.bags, columns], |at| {
            let bag = self.of_bag(at[0]);
            let values =
                bag.iter().map(|(place, row)| self.factor(*place) * self.table.at(&[*row, at[1]]));
            match self.mode {
                BagMode::Sum => values.sum(),
                BagMode::Mean => values.sum::<f64>() / bag.len().max(1) as f64,
                BagMode::Max => values.reduce(f64::max).unwrap_or(0.0),
            }
        })
    }

    /// The gradient of the table, written out.
    fn gradient(&self, of_rows: &Dense, by_frequency: bool) -> Dense {
        let mut table = Dense::build(&self.table.sizes, |_| 0.0);
        let columns = self.table.sizes[1];
        for bag in 0..self.bags {
            let indices = self.of_bag(bag);
            for column in 0..columns {
                let gradient = of_rows.at(&[bag, column]);
                let mut add = |row: i64, value: f64| {
                    table.values[(row * columns + column) as usize] += value;
                };
                if self.mode == BagMode::Max {
                    let value = |row: i64| self.table.at(&[row, column]);
                    let rows: Vec<i64> = indices.iter().map(|(_, row)| *row).collect();
                    // The first of equal ones.
                    let better =
                        |best: i64, row: i64| if value(row) > value(best) { row } else { best };
                    if let Some(best) = rows.into_iter().reduce(better) {
                        add(best, gradient);
                    }
                    continue;
                }
                for (place, row) in &indices {
                    let mut share = gradient * self.factor(*place);
                    if self.mode == BagMode::Mean {
                        share /= indices.len() as f64;
                    }
                    if by_frequency {
                        let same = |other: &&f64| **other as i64 == *row;
                        share /= self.indices.values.iter().filter(same).count() as f64;
                    }
                    add(*row, share);
                }
            }
        }
        table
    }
}

#[test]
fn bags_and_their_gradients_agree_with_loops() {
    let before = live();
    let mut cases = Cases::new(11);
    for _ in 0..200 {
        let case = Case::new(&mut cases);
        let by_frequency = cases.int(0, 1) == 1;
        let (table, indices) = (case.table.either(&mut cases, F64), case.indices.tensor(I64));
        let offsets = case.offsets.tensor(I64);
        let factors = case.factors.as_ref().map(|factors| factors.tensor(F64));
        let factors = factors.as_ref().map(Tensor::handle);
        let bags = Bags {
            table: table.handle(),
            indices: indices.handle(),
            offsets: offsets.handle(),
            mode: case.mode,
            factors,
            has_last_offset: case.has_last_offset,
            padding: case.padding,
        };
        let found = bags.embed(true).unwrap();
        case.rows().assert_near(found.rows.handle(), 1e-12, "rows");
        let of_rows = Dense::quarters(&mut cases, &[case.bags, case.table.sizes[1]]);
        let gradient = of_rows.either(&mut cases, F64);
        let count = case.indices.sizes[0];
        let bag_of_index = bags_of_indices(offsets.handle(), case.bags, count).unwrap();
        let table_gradient = Gradient {
            rows: gradient.handle(),
            indices: indices.handle(),
            bag_of_index: bag_of_index.handle(),
            counts: found.counts.handle(),
            chosen: found.chosen.handle(),
            mode: case.mode,
            by_frequency,
            factors,
            padding: case.padding,
        };
        let made = table_gradient.of_table(case.table.sizes[0]).unwrap();
        case.gradient(&of_rows, by_frequency).assert_near(made.handle(), 1e-12, "gradient");
        if case.mode == BagMode::Sum {
            let handles = [indices.handle(), offsets.handle(), found.bag_of_index.handle()];
            let (rows, mode) = (gradient.handle(), case.mode);
            let made = of_factors(rows, table.handle(), handles, mode, case.padding).unwrap();
            let mut expected = Dense::build(&[count], |_| 0.0);
            for bag in 0..case.bags {
                for (place, row) in case.of_bag(bag) {
                    expected.values[place as usize] = (0..case.table.sizes[1])
                        .map(|column| of_rows.at(&[bag, column]) * case.table.at(&[row, column]))
                        .sum();
                }
            }
            expected.assert_near(made.handle(), 1e-12, "gradient of factors");
        }
    }
    assert_eq!(live(), before);
}

#[test]
fn what_is_no_bag_is_refused() {
    let whole =
        |values: &[f64]| Dense { sizes: vec![values.len() as i64], values: values.to_vec() };
    let table = Dense::build(&[3, 2], |_| 1.0).tensor(F64);
    let refused = |indices: &[f64], offsets: &[f64], change: &dyn Fn(&mut Bags), words: &str| {
        let (indices, offsets) = (whole(indices).tensor(I64), whole(offsets).tensor(I64));
        let mut bags = Bags {
            table: table.handle(),
            indices: indices.handle(),
            offsets: offsets.handle(),
            mode: BagMode::Sum,
            factors: None,
            has_last_offset: false,
            padding: -1,
        };
        change(&mut bags);
        let error = bags.embed(true).err().expect("a failure");
        assert!(error.message.contains(words), "{}", error.message);
    };
    refused(&[0.0], &[1.0], &|_| (), "offsets[0] has to be 0");
    refused(&[0.0], &[0.0, 2.0], &|_| (), "offsets[-1] can not be greater");
    refused(&[3.0], &[0.0], &|_| (), "out of");
    refused(&[0.0], &[], &|bags| bags.has_last_offset = true, "at least 1");
    refused(&[0.0], &[0.0], &|bags| bags.table = bags.indices, "int64");
    refused(&[0.0], &[0.0], &|bags| bags.indices = bags.table, "int64 or int32");
    let factors = whole(&[1.0, 2.0]).tensor(F64);
    refused(&[0.0], &[0.0], &|bags| bags.factors = Some(factors.handle()), "sizes of the indices");
    let mean = |bags: &mut Bags| {
        bags.factors = Some(factors.handle());
        bags.mode = BagMode::Mean;
    };
    refused(&[0.0, 0.0], &[0.0], &mean, "only supported with mode='sum'");
    assert!(BagMode::new(3).unwrap_err().message.contains("mode is 3"));
}
