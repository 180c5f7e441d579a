//! Layers beside steps that are written out.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;
use crate::testing::{Cases, Dense};

const F64: i32 = api::SCONCE_DTYPE_F64;

/// Layers of both directions with biases.
fn layers<'a>(kind: CellKind, weights: &'a [TensorHandle], batch_sizes: &'a [i64]) -> Layers<'a> {
    Layers {
        kind,
        weights,
        weights_each: 4,
        layers: 1,
        directions: 2,
        hidden: 2,
        projected: 0,
        batch_sizes,
        is_batch_first: false,
    }
}

/// A step of one sequence.
fn plain_step(kind: CellKind, weights: &[Dense], input: &[f64], before: &[f64]) -> Vec<f64> {
    let gate = |part: usize, at: usize, of: usize, from: &[f64]| -> f64 {
        let row = (part * 2 + at) as i64;
        let products = from.iter().enumerate();
        let sum: f64 = products.map(|(k, value)| weights[of].at(&[row, k as i64]) * value).sum();
        sum + weights[of + 2].at(&[row])
    };
    let sigmoid = |value: f64| 1.0 / (1.0 + (-value).exp());
    let both = |part, at| gate(part, at, 0, input) + gate(part, at, 1, before);
    (0..2)
        .map(|at| match kind {
            CellKind::Relu => both(0, at).max(0.0),
            CellKind::Gru => {
                let (reset, update) = (sigmoid(both(0, at)), sigmoid(both(1, at)));
                let new = gate(2, at, 0, input) + reset * gate(2, at, 1, before);
                (1.0 - update) * new.tanh() + update * before[at]
            }
            _ => both(0, at).tanh(),
        })
        .collect()
}

#[test]
fn sequences_of_several_lengths_are_read_from_both_ends() {
    for (turn, kind) in [CellKind::Relu, CellKind::Tanh, CellKind::Gru].into_iter().enumerate() {
        let mut cases = Cases::new(61 + turn as u64);
        // Three sequences, of 3, 2 and 1 elements: the lines of each step begin here.
        let (lengths, sizes, begins) = ([3, 2, 1], [3, 2, 1], [0, 3, 5]);
        let gates = kind.gates() * 2;
        let input = Dense::quarters(&mut cases, &[6, 3]);
        let hidden = Dense::quarters(&mut cases, &[2, 3, 2]);
        let weights: Vec<Dense> = [[gates, 3].as_slice(), &[gates, 2], &[gates], &[gates]]
            .repeat(2)
            .into_iter()
            .map(|sizes| Dense::quarters(&mut cases, sizes))
            .collect();
        let tensors: Vec<Tensor> = weights.iter().map(|dense| dense.tensor(F64)).collect();
        let handles: Vec<TensorHandle> = tensors.iter().map(Tensor::handle).collect();
        let (x, h) = (input.strided(F64), hidden.strided(F64));
        let found = layers(kind, &handles, &sizes).run(x.handle(), h.handle(), None).unwrap();
        let (output, last) = (Dense::of(found.output.handle()), Dense::of(found.hidden.handle()));
        assert_eq!((&output.sizes[..], &last.sizes[..]), (&[6, 4][..], &[2, 3, 2][..]));
        for (sequence, length) in lengths.into_iter().enumerate() {
            for direction in 0..2 {
                let at = |dim: i64| hidden.at(&[direction as i64, sequence as i64, dim]);
                let mut state = vec![at(0), at(1)];
                for turn in 0..length {
                    let time = if direction == 0 { turn } else { length - 1 - turn };
                    let line = (begins[time] + sequence) as i64;
                    let numbers: Vec<f64> = (0..3).map(|k| input.at(&[line, k])).collect();
                    let own = &weights[direction * 4..direction * 4 + 4];
                    state = plain_step(kind, own, &numbers, &state);
                    for (dim, value) in state.iter().enumerate() {
                        let got = output.at(&[line, (direction * 2 + dim) as i64]);
                        assert!((got - value).abs() < 1e-12, "{kind:?}: {got} for {value}");
                    }
                }
                for (dim, value) in state.iter().enumerate() {
                    let got = last.at(&[direction as i64, sequence as i64, dim as i64]);
                    assert!((got - value).abs() < 1e-12, "{kind:?}: {got} for {value} at last");
                }
            }
        }
    }
}

#[test]
fn what_does_not_fit_is_named() {
    let of = |sizes: &[i64]| Dense::build(sizes, |_| 1.0).tensor(F64);
    let tensors = [of(&[2, 3]), of(&[2, 2]), of(&[2]), of(&[2])];
    let handles: Vec<TensorHandle> = tensors.iter().chain(&tensors).map(Tensor::handle).collect();
    let (input, hidden) = (of(&[6, 3]), of(&[2, 3, 2]));
    let refused = |kind, weights: &[TensorHandle], sizes: &[i64], hidden: &Tensor| {
        let layers = layers(kind, weights, sizes);
        layers.run(input.handle(), hidden.handle(), None).err().unwrap().message
    };
    let sizes = [3, 2, 1];
    assert!(refused(CellKind::Tanh, &handles, &[3, 2], &hidden).contains("of 6 lines in all"));
    assert!(refused(CellKind::Tanh, &handles, &[], &hidden).contains("expected steps, batch"));
    assert!(refused(CellKind::Tanh, &handles[1..], &sizes, &hidden).contains("7 entries"));
    assert!(refused(CellKind::Lstm, &handles, &sizes, &hidden).contains("needs cx"));
    assert!(refused(CellKind::Gru, &handles, &sizes, &hidden).contains("expected [6, 2]"));
    assert!(
        refused(CellKind::Tanh, &handles, &sizes, &of(&[2, 3, 3])).contains("hx has the sizes")
    );
    assert!(CellKind::of(4).unwrap_err().message.contains("mode is 4"));
}

#[test]
fn numbers_that_no_weights_have_are_refused_in_words() {
    let of = |sizes: &[i64]| Dense::build(sizes, |_| 1.0).tensor(F64);
    let tensors = [of(&[2, 3]), of(&[2, 2]), of(&[2]), of(&[2])];
    let handles: Vec<TensorHandle> = tensors.iter().chain(&tensors).map(Tensor::handle).collect();
    let (input, hidden) = (of(&[6, 3]), of(&[2, 3, 2]));
    let huge = [i64::MIN, -1, 0, 1 << 32, i64::MAX / 2, i64::MAX];
    // Each number of the caller in turn, with what the refusal names.
    type Change = fn(&mut Layers<'_>, i64);
    let changes: [(&str, Change); 5] = [
        ("weight_stride0", |layers, number| layers.weights_each = number),
        ("", |layers, number| layers.layers = number),
        ("directions", |layers, number| layers.directions = number),
        ("", |layers, number| layers.hidden = number),
        ("", |layers, number| layers.projected = if number == 0 { -2 } else { number }),
    ];
    for kind in [CellKind::Relu, CellKind::Gru, CellKind::Lstm] {
        for number in huge {
            for (named, change) in changes {
                let mut changed = layers(kind, &handles, &[3, 2, 1]);
                change(&mut changed, number);
                let cells = Some(hidden.handle());
                let why = changed.run(input.handle(), hidden.handle(), cells).err().unwrap();
                assert_eq!(why.status, api::SCONCE_ERROR_INVALID_ARGUMENT, "{}", why.message);
                assert!(why.message.contains(named), "{}", why.message);
            }
        }
    }
    for sizes in [[0, i64::MAX - 1, 1 << 31], [i64::MAX; 3], [i64::MIN; 3], [i64::MAX, 7, 1]] {
        let layers = layers(CellKind::Tanh, &handles, &sizes);
        let why = layers.run(input.handle(), hidden.handle(), None).err().unwrap().message;
        assert!(why.contains("batch_sizes is ["), "{why}");
    }
}
