//! Attention of positions that come before heads, of windows, and of sequences of several lengths.

use super::{BATCH, HEADS, KEYS, QUERIES, WIDTH, assert_near, expected, sizes, tensor, values};
use crate::abi::tensors::sizes_of;
use crate::error::newest;
use crate::fallbacks::attention::sequences::efficient::{
    aoti_torch_cuda__efficient_attention_backward as efficient_backward,
    aoti_torch_cuda__efficient_attention_forward as efficient_forward,
};
use crate::fallbacks::attention::sequences::flash_backward::aoti_torch_cuda__flash_attention_backward as flash_backward;
use crate::fallbacks::attention::sequences::flash_forward::aoti_torch_cuda__flash_attention_forward as flash_forward;
use crate::sconce::operations::{contiguous, narrow, reshape, squeeze, transpose, unsqueeze};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, api};
use crate::testing::{Dense, assert_refused, call, live};

const NONE: *const TensorHandle = std::ptr::null();

/// Query, keys and values of one width, and the gradient of the result: positions before heads.
struct Case {
    /// Batch, positions, heads, width.
    tensors: [Tensor; 4],
    /// Heads before positions.
    numbers: [Vec<f64>; 4],
}

fn case() -> Case {
    let made = [(QUERIES, 1), (KEYS, 2), (KEYS, 3), (QUERIES, 4)]
        .map(|(positions, seed)| tensor(&sizes(HEADS, positions, WIDTH), seed));
    let tensors = made.each_ref().map(|(tensor, _)| transpose(tensor.handle(), 1, 2).unwrap());
    Case { tensors, numbers: made.map(|(_, numbers)| numbers) }
}

/// Attention of one width, as sums that are written out: `expected` has two numbers in a value.
fn plain(numbers: &[Vec<f64>; 4], adds: impl Fn(usize, usize) -> f64) -> Vec<f64> {
    let [query, key, value, _] = numbers;
    let column = |dim: usize| {
        let taken: Vec<f64> = value.chunks(WIDTH).flat_map(|one| [one[dim], 0.0]).collect();
        expected([query, key, &taken], HEADS, &adds).0
    };
    let columns: Vec<Vec<f64>> = (0..WIDTH).map(column).collect();
    (0..BATCH * HEADS * QUERIES * WIDTH).map(|at| columns[at % WIDTH][at / WIDTH * 2]).collect()
}

/// The numbers of a tensor of positions before heads, heads first.
fn heads_first(tensor: &Tensor) -> Vec<f64> {
    values(&transpose(tensor.handle(), 1, 2).unwrap())
}

fn flash<const N: usize>(
    [query, key, value]: [&Tensor; 3],
    bounds: Option<[&Tensor; 2]>,
    is_causal: bool,
    window: [i64; 2],
) -> [Tensor; N] {
    let mut handles = [std::ptr::null_mut(); 5];
    let [a, b, c, d, e] = handles.each_mut().map(std::ptr::from_mut);
    let bounds = bounds.map(|both| both.map(Tensor::handle));
    let [queries, keys] = match &bounds {
        Some([queries, keys]) => [std::ptr::from_ref(queries), std::ptr::from_ref(keys)],
        None => [NONE; 2],
    };
    let [before, behind] = &window;
    let (q, k, v) = (query.handle(), key.handle(), value.handle());
    let scale = std::ptr::null();
    // SAFETY: the handles are alive, and the places valid for writes.
    let status = unsafe {
        let causal = i32::from(is_causal);
        flash_forward(
            q, k, v, queries, keys, 9, 9, 0.0, causal, 0, scale, before, behind, NONE, NONE, a, b,
            c, d, e,
        )
    };
    assert_eq!(status, 0, "{:?}", newest());
    let mut all = handles.map(Tensor::from_handle).into_iter();
    [(); N].map(|()| all.next().unwrap())
}

#[test]
fn windows_and_causal_attention_agree_with_sums() {
    let before = live();
    let case = case();
    let [query, key, value, _] = &case.tensors;
    for (is_causal, window) in
        [(false, [-1, -1]), (true, [-1, -1]), (false, [1, 2]), (true, [2, -1]), (false, [-1, 1])]
    {
        let [output] = flash([query, key, value], None, is_causal, window);
        // The last query has the place of the last key.
        let shift = (KEYS - QUERIES) as i64;
        let adds = |row: usize, column: usize| {
            let ahead = column as i64 - row as i64 - shift;
            let [left, right] = [window[0], if is_causal { 0 } else { window[1] }];
            let meets = (left < 0 || ahead >= -left) && (right < 0 || ahead <= right);
            if meets { 0.0 } else { f64::NEG_INFINITY }
        };
        assert_near(&heads_first(&output), &plain(&case.numbers, adds), 1e-5);
    }
    drop(case);
    assert_eq!(live(), before);
}

/// Two sequences of two and three queries, and of four and two keys, from the first batch of a case.
fn cut(case: &Case) -> ([Tensor; 4], [Tensor; 2]) {
    let flat = case.tensors.each_ref().map(|tensor| {
        let first = squeeze(narrow(tensor.handle(), 0, 0, 1).unwrap().handle(), 0).unwrap();
        contiguous(first.handle()).unwrap()
    });
    let bounds = [[0.0, 2.0, 5.0], [0.0, 4.0, 6.0]].map(|places| {
        let dense = Dense { sizes: vec![3], values: places.to_vec() };
        dense.tensor(api::SCONCE_DTYPE_I32)
    });
    (flat, bounds)
}

/// One of the sequences of [`cut`] as a batch.
fn piece(tensor: &Tensor, [begin, length]: [i64; 2]) -> Tensor {
    unsqueeze(narrow(tensor.handle(), 0, begin, length).unwrap().handle(), 0).unwrap()
}

const PIECES: [[[i64; 2]; 2]; 2] = [[[0, 2], [0, 4]], [[2, 3], [4, 2]]];

#[test]
fn sequences_have_attention_of_their_own() {
    let before = live();
    let case = case();
    let ([query, key, value, gradient], bounds) = cut(&case);
    let window = [-1, 1];
    let both = Some([&bounds[0], &bounds[1]]);
    let [output, log_sums] = flash([&query, &key, &value], both, false, window);
    assert_eq!(sizes_of(output.handle()).unwrap(), [5, HEADS as i64, WIDTH as i64]);
    assert_eq!(sizes_of(log_sums.handle()).unwrap(), [HEADS as i64, 5]);
    let none = std::ptr::null_mut();
    let [limit, other] = &window;
    let backward = |tensors: [&Tensor; 6], bounds: [TensorHandle; 2]| {
        let [g, q, k, v, o, l] = tensors.map(Tensor::handle);
        let mut handles = [std::ptr::null_mut(); 3];
        let [a, b, c] = handles.each_mut().map(std::ptr::from_mut);
        let scale = std::ptr::null();
        let status = call!(flash_backward(
            g, q, k, v, o, l, bounds[0], bounds[1], 9, 9, 0.0, 0, none, none, scale, limit, other,
            a, b, c
        ));
        assert_eq!(status, 0, "{:?}", newest());
        handles.map(Tensor::from_handle)
    };
    let all = backward(
        [&gradient, &query, &key, &value, &output, &log_sums],
        bounds.each_ref().map(Tensor::handle),
    );
    for [queries, keys] in PIECES {
        let (q, k, v) = (piece(&query, queries), piece(&key, keys), piece(&value, keys));
        let [alone, lines] = flash([&q, &k, &v], None, false, window);
        assert_near(&values(&piece(&output, queries)), &values(&alone), 1e-6);
        let part = narrow(log_sums.handle(), 1, queries[0], queries[1]).unwrap();
        assert_near(&values(&part), &values(&lines), 1e-6);
        let g = piece(&gradient, queries);
        let own = backward([&g, &q, &k, &v, &alone, &lines], [none; 2]);
        for ((whole, own), span) in all.iter().zip(&own).zip([queries, keys, keys]) {
            assert_near(&values(&piece(whole, span)), &values(own), 1e-6);
        }
    }
    drop((case, query, key, value, gradient, bounds, output, log_sums, all));
    assert_eq!(live(), before);
}

/// Results of `_efficient_attention_forward`, and the numbers that it returns.
fn efficient(
    [query, key, value]: [&Tensor; 3],
    bias: Option<&Tensor>,
    bounds: Option<[&Tensor; 2]>,
    mask_type: i64,
) -> ([Tensor; 2], [i64; 2]) {
    let (mut handles, mut lengths) = ([std::ptr::null_mut(); 4], [0; 2]);
    let [a, b, c, d] = handles.each_mut().map(std::ptr::from_mut);
    let [e, f] = lengths.each_mut().map(std::ptr::from_mut);
    let (bias, bounds) = (bias.map(Tensor::handle), bounds.map(|both| both.map(Tensor::handle)));
    let bias = bias.as_ref().map_or(NONE, std::ptr::from_ref);
    let [queries, keys] = match &bounds {
        Some([queries, keys]) => [std::ptr::from_ref(queries), std::ptr::from_ref(keys)],
        None => [NONE; 2],
    };
    let longest = bounds.map(|_| [3_i64, 4]);
    let [most, other] = match &longest {
        Some([most, other]) => [std::ptr::from_ref(most), std::ptr::from_ref(other)],
        None => [std::ptr::null(); 2],
    };
    let (q, k, v) = (query.handle(), key.handle(), value.handle());
    let (scale, window) = (std::ptr::null(), std::ptr::null());
    let status = call!(efficient_forward(
        q, k, v, bias, queries, keys, most, other, 0.0, mask_type, 1, scale, NONE, window, a, b, c,
        d, e, f
    ));
    assert_eq!(status, 0, "{:?}", newest());
    let [output, log_sums, _, _] = handles.map(Tensor::from_handle);
    ([output, log_sums], lengths)
}

#[test]
fn masks_and_biases_agree_with_sums() {
    let case = case();
    let [query, key, value, gradient] = &case.tensors;
    let lines = [QUERIES as i64, KEYS as i64];
    let (bias, added) = tensor(&lines, 7);
    let shift = KEYS - QUERIES;
    for mask_type in [0, 1, 2] {
        let adds = |row: usize, column: usize| {
            let last = [KEYS, row, row + shift][mask_type];
            if column > last { f64::NEG_INFINITY } else { added[row * KEYS + column] }
        };
        let (found, lengths) = efficient([query, key, value], Some(&bias), None, mask_type as i64);
        let [output, log_sums] = found;
        assert_near(&heads_first(&output), &plain(&case.numbers, adds), 1e-5);
        assert_eq!(sizes_of(log_sums.handle()).unwrap(), [BATCH as i64, HEADS as i64, 32]);
        assert_eq!(lengths, lines);
        let mut handles = [std::ptr::null_mut(); 4];
        let [a, b, c, d] = handles.each_mut().map(std::ptr::from_mut);
        let [g, q, k, v, o, l] =
            [gradient, query, key, value, &output, &log_sums].map(Tensor::handle);
        let (none, mask) = (std::ptr::null_mut(), bias.handle());
        let (scale, number) = (std::ptr::null(), std::ptr::null());
        let status = call!(efficient_backward(
            g,
            q,
            k,
            v,
            &mask,
            o,
            NONE,
            NONE,
            5,
            6,
            l,
            0.0,
            none,
            none,
            mask_type as i64,
            1,
            scale,
            number,
            number,
            0,
            a,
            b,
            c,
            d
        ));
        assert_eq!(status, 0, "{:?}", newest());
        let [_, _, _, of_bias] = handles.map(Tensor::from_handle);
        // How the weighted results change with each number that is added to scores.
        let weights = &case.numbers[3];
        let loss = |at: usize, by: f64| -> f64 {
            let moved = |row: usize, column: usize| {
                adds(row, column) + if row * KEYS + column == at { by } else { 0.0 }
            };
            plain(&case.numbers, moved).iter().zip(weights).map(|(one, by)| one * by).sum()
        };
        let step = 1e-5;
        let slopes: Vec<f64> = (0..QUERIES * KEYS)
            .map(|at| (loss(at, step) - loss(at, -step)) / (2.0 * step))
            .collect();
        assert_near(&values(&of_bias), &slopes, 2e-5);
    }
}

#[test]
fn gradients_may_share_memory() {
    let case = case();
    let [query, _, _, gradient] = &case.tensors;
    let ([output, log_sums], _) = efficient([query, query, query], None, None, 0);
    let [g, q, o, l] = [gradient, query, &output, &log_sums].map(Tensor::handle);
    let backward = |is_shared| {
        let mut handles = [std::ptr::null_mut(); 4];
        let [a, b, c, d] = handles.each_mut().map(std::ptr::from_mut);
        let (none, number) = (std::ptr::null_mut(), std::ptr::null());
        // SAFETY: the handles are alive, and the places valid for writes.
        let status = unsafe {
            let scale = std::ptr::null();
            efficient_backward(
                g, q, q, q, NONE, o, NONE, NONE, 5, 5, l, 0.0, none, none, 0, 0, scale, number,
                number, is_shared, a, b, c, d,
            )
        };
        assert_eq!(status, 0, "{:?}", newest());
        handles.map(Tensor::from_handle)
    };
    let (shared, apart) = (backward(1), backward(0));
    for at in 0..3 {
        assert_eq!(values(&shared[at]), values(&apart[at]));
        let storage = |tensor: &Tensor| crate::abi::tensors::storage_of(tensor.handle()).unwrap();
        assert_eq!(storage(&shared[at]), storage(&shared[0]));
    }
}

#[test]
fn sequences_have_padded_lines_of_log_sums() {
    let case = case();
    let ([query, key, value, _], bounds) = cut(&case);
    let batch = |tensor: &Tensor| {
        let own = sizes_of(tensor.handle()).unwrap();
        reshape(tensor.handle(), &[1, own[0], own[1], own[2]]).unwrap()
    };
    let all = [batch(&query), batch(&key), batch(&value)];
    let both = Some([&bounds[0], &bounds[1]]);
    let ([output, log_sums], lengths) = efficient(all.each_ref(), None, both, 1);
    assert_eq!(lengths, [3, 4]);
    assert_eq!(sizes_of(log_sums.handle()).unwrap(), [2, HEADS as i64, 32]);
    for (index, [queries, keys]) in PIECES.into_iter().enumerate() {
        let (q, k, v) = (piece(&query, queries), piece(&key, keys), piece(&value, keys));
        let ([alone, lines], _) = efficient([&q, &k, &v], None, None, 1);
        let part = narrow(output.handle(), 1, queries[0], queries[1]).unwrap();
        assert_near(&values(&part), &values(&alone), 1e-6);
        let own = narrow(log_sums.handle(), 0, index as i64, 1).unwrap();
        assert_near(&values(&own), &values(&lines), 1e-6);
    }
}

#[test]
fn wrong_bounds_are_named() {
    let case = case();
    let ([query, ..], bounds) = cut(&case);
    let of = |places: &[f64], dtype| {
        let dense = Dense { sizes: vec![places.len() as i64], values: places.to_vec() };
        dense.tensor(dtype)
    };
    let call = |first: &Tensor, second: Option<&Tensor>, window: *const i64| {
        let (first, second) = (first.handle(), second.map(Tensor::handle));
        let second = second.as_ref().map_or(NONE, std::ptr::from_ref);
        let mut made = std::ptr::null_mut();
        let (q, none, scale) = (query.handle(), std::ptr::null_mut(), std::ptr::null());
        call!(flash_forward(
            q, q, q, &first, second, 9, 9, 0.0, 0, 0, scale, window, window, NONE, NONE, &mut made,
            none, none, none, none
        ))
    };
    let whole = std::ptr::null();
    let longs = of(&[0.0, 5.0], api::SCONCE_DTYPE_I64);
    assert_refused(call(&longs, Some(&bounds[0]), whole), &["cum_seq_q", "in int32"]);
    let falls = of(&[0.0, 4.0, 2.0], api::SCONCE_DTYPE_I32);
    assert_refused(call(&bounds[0], Some(&falls), whole), &["cum_seq_k", "never fall"]);
    let one = of(&[0.0, 5.0], api::SCONCE_DTYPE_I32);
    assert_refused(
        call(&bounds[0], Some(&one), whole),
        &["cum_seq_k has 2 entries; expected 3 for the 2 sequences of cum_seq_q"],
    );
    assert_refused(call(&bounds[0], None, whole), &["cum_seq_q needs cum_seq_k beside it"]);
    let ends = of(&[0.0, 2.0, 9.0], api::SCONCE_DTYPE_I32);
    assert_refused(call(&ends, Some(&ends), whole), &["_flash_attention_forward"]);
}
