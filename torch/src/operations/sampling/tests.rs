//! Sampling beside plain loops, and gradients beside differences of it.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::{Interpolation, Padding, Sampling};
use crate::sconce::{Tensor, api, operations};
use crate::testing::{Cases, Dense, live};

const F64: i32 = api::SCONCE_DTYPE_F64;

/// One place along one dimension: elements with their shares.
fn shares(how: &Sampling, coordinate: f64, size: i64) -> Vec<(i64, f64)> {
    let last = (size - 1) as f64;
    let place = match how.align_corners {
        true => (coordinate + 1.0) / 2.0 * last,
        false => ((coordinate + 1.0) * size as f64 - 1.0) / 2.0,
    };
    let padded = |place: f64| match how.padding {
        Padding::Zeros => place,
        Padding::Border => place.clamp(0.0, last),
        Padding::Reflection => {
            // A triangle wave.
            let (low, high) = if how.align_corners { (0.0, last) } else { (-0.5, last + 0.5) };
            let span: f64 = high - low;
            if span == 0.0 {
                return 0.0;
            }
            let along = (place - low).rem_euclid(2.0 * span);
            (low + along.min(2.0 * span - along)).clamp(0.0, last)
        }
    };
    let mut found = Vec::new();
    match how.interpolation {
        Interpolation::Nearest => found.push((padded(place).round_ties_even() as i64, 1.0)),
        Interpolation::Linear => {
            let place = padded(place);
            let part = place - place.floor();
            found.push((place.floor() as i64, 1.0 - part));
            found.push((place.floor() as i64 + 1, part));
        }
        Interpolation::Cubic => {
            for number in -1..=2 {
                let element = place.floor() + f64::from(number);
                let d = (place - element).abs();
                let share = match d <= 1.0 {
                    true => (1.25 * d - 2.25) * d * d + 1.0,
                    false => ((-0.75 * d + 3.75) * d - 6.0) * d + 3.0,
                };
                found.push((padded(element) as i64, share));
            }
        }
    }
    found.retain(|(element, _)| (0..size).contains(element));
    found
}

/// What [`Sampling::sample`] returns.
fn sampled(how: &Sampling, image: &Dense, grid: &Dense) -> Dense {
    let dims = how.dims;
    let sizes = [&image.sizes[..2], &grid.sizes[1..=dims]].concat();
    Dense::build(&sizes, |at| {
        let mut read = vec![(vec![at[0], at[1]], 1.0)];
        for dim in 0..dims {
            let place = [&[at[0]], &at[2..], &[(dims - 1 - dim) as i64]].concat();
            let shares = shares(how, grid.at(&place), image.sizes[2 + dim]);
            read = read
                .iter()
                .flat_map(|(element, share)| {
                    shares.iter().map(move |(next, factor)| {
                        ([&element[..], &[*next]].concat(), share * factor)
                    })
                })
                .collect();
        }
        read.iter().map(|(element, share)| image.at(element) * share).sum()
    })
}

struct Case {
    how: Sampling,
    image: Dense,
    grid: Dense,
}

fn case(cases: &mut Cases) -> Case {
    let dims = cases.int(2, 3) as usize;
    let mode = cases.int(0, if dims == 2 { 2 } else { 1 });
    let how = Sampling::new(dims, mode, cases.int(0, 2), cases.int(0, 1) == 1).unwrap();
    let batch = cases.int(1, 2);
    let mut image = vec![batch, cases.int(1, 3)];
    image.extend((0..dims).map(|_| cases.int(1, 5)));
    let mut grid = vec![batch];
    grid.extend((0..dims).map(|_| cases.int(1, 4)));
    grid.push(dims as i64);
    // Places that are no borders between elements, some of them outside.
    let grid = Dense::build(&grid, |_| cases.int(-1500, 1500) as f64 / 1000.0 + 1.0 / 7777.0);
    let image = Dense::quarters(cases, &image);
    Case { how, image, grid }
}

#[test]
fn images_are_read_where_the_grid_says() {
    let before = live();
    let mut cases = Cases::new(23);
    for _ in 0..150 {
        let Case { how, image, grid } = case(&mut cases);
        let (of_image, of_grid) = (image.either(&mut cases, F64), grid.either(&mut cases, F64));
        let found = how.sample(of_image.handle(), of_grid.handle()).unwrap();
        sampled(&how, &image, &grid).assert_near(found.handle(), 1e-9, &format!("{how:?}"));
    }
    assert_eq!(live(), before);
}

#[test]
fn gradients_are_differences() {
    const STEP: f64 = 1e-6;
    let before = live();
    let mut cases = Cases::new(29);
    for _ in 0..60 {
        let Case { how, image, grid } = case(&mut cases);
        let expected = sampled(&how, &image, &grid);
        let gradient = Dense::quarters(&mut cases, &expected.sizes);
        let weighed = |image: &Dense, grid: &Dense| -> f64 {
            let sampled = sampled(&how, image, grid);
            sampled.values.iter().zip(&gradient.values).map(|(one, two)| one * two).sum()
        };
        let difference = |values: &Dense, of: &dyn Fn(&Dense) -> f64| {
            let mut slopes = values.clone();
            for at in 0..values.values.len() {
                let [mut more, mut less] = [values.clone(), values.clone()];
                more.values[at] += STEP;
                less.values[at] -= STEP;
                slopes.values[at] = (of(&more) - of(&less)) / (2.0 * STEP);
            }
            slopes
        };
        let tensors = [&gradient, &image, &grid].map(|values| values.either(&mut cases, F64));
        let [of_gradient, of_image, of_grid] = tensors.each_ref().map(Tensor::handle);
        let found = how.gradients(of_gradient, of_image, of_grid, [true, true]).unwrap();
        let image_slopes = difference(&image, &|image| weighed(image, &grid));
        image_slopes.assert_near(found.image.unwrap().handle(), 1e-5, &format!("{how:?} image"));
        let grid_slopes = difference(&grid, &|grid| weighed(&image, grid));
        grid_slopes.assert_near(found.grid.unwrap().handle(), 1e-4, &format!("{how:?} grid"));
        let none = how.gradients(of_gradient, of_image, of_grid, [false, false]).unwrap();
        assert!(none.image.is_none() && none.grid.is_none());
    }
    assert_eq!(live(), before);
}

#[test]
fn short_types_are_calculated_in_single_precision() {
    let mut cases = Cases::new(31);
    let how = Sampling::new(3, 0, 1, false).unwrap();
    let image = Dense::quarters(&mut cases, &[1, 2, 3, 4, 5]);
    let grid = Dense::build(&[1, 2, 2, 2, 3], |_| cases.int(-16, 16) as f64 / 16.0);
    for dtype in [api::SCONCE_DTYPE_F16, api::SCONCE_DTYPE_BF16, api::SCONCE_DTYPE_F32] {
        let (image_tensor, grid_tensor) = (image.tensor(dtype), grid.tensor(dtype));
        let found = how.sample(image_tensor.handle(), grid_tensor.handle()).unwrap();
        let within = if dtype == api::SCONCE_DTYPE_BF16 { 8e-3 } else { 1e-3 };
        sampled(&how, &image, &grid).assert_near(found.handle(), within, "short");
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let of = |sizes: &[i64]| Dense::build(sizes, |_| 0.5).tensor(F64);
    let how = Sampling::new(2, 0, 0, false).unwrap();
    let [image, grid] = [of(&[1, 2, 3, 4]), of(&[1, 5, 6, 2])];
    let refused = |image: &Tensor, grid: &Tensor, words: &str| {
        let message = how.sample(image.handle(), grid.handle()).err().unwrap().message;
        assert!(message.contains(words), "{message}");
    };
    refused(&of(&[1, 2, 3]), &grid, "expected 4D input and grid");
    refused(&image, &of(&[2, 5, 6, 2]), "same batch size");
    refused(&image, &of(&[1, 5, 6, 3]), "size 2 in last dimension");
    refused(&of(&[1, 2, 0, 4]), &grid, "non-empty spatial dimensions");
    let single = operations::to_dtype(grid.handle(), api::SCONCE_DTYPE_F32).unwrap();
    refused(&image, &single, "same dtype");
    let whole = operations::to_dtype(image.handle(), api::SCONCE_DTYPE_I64).unwrap();
    refused(&whole, &grid, "int64");
    let gradient = of(&[1, 2, 5, 5]);
    let error = how.gradients(gradient.handle(), image.handle(), grid.handle(), [true, true]);
    assert!(error.err().unwrap().message.contains("[1, 2, 5, 6]"));
    for (dims, mode, padding, words) in [
        (3, 2, 0, "only supports 4D"),
        (2, 3, 0, "interpolation_mode is 3"),
        (2, 0, 3, "padding_mode is 3"),
    ] {
        let message = Sampling::new(dims, mode, padding, false).err().unwrap().message;
        assert!(message.contains(words), "{message}");
    }
}
