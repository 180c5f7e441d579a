//! Random chains of views: after each step sizes, the places of elements and the values are those of a naive
//! model.

use sconce::*;
use testkit::numbers::Random;

use super::model::{Model, strided};
use crate::api::{self, CPU, Handle};
use crate::create::from_i32;

/// A tensor and its model. Element `i` of the storage holds `i`.
struct Pair {
    tensor: Handle,
    model: Model,
}

/// A dimension and the number that names it, from the front or from the end.
fn dimension(random: &mut Random, rank: usize) -> (usize, i64) {
    let dim = random.below(rank as u64);
    (dim as usize, if random.below(2) == 0 { dim } else { dim - rank as i64 })
}

/// The sizes of a shape with as many elements.
fn other_sizes(random: &mut Random, count: i64) -> Vec<i64> {
    if count == 0 {
        return random.one_of(&[&[0][..], &[0, 3], &[2, 0], &[1, 0, 5], &[0, 0]]).to_vec();
    }
    let (mut rest, mut sizes) = (count, Vec::new());
    for factor in [2, 3, 5, 7] {
        while rest % factor == 0 {
            rest /= factor;
            match sizes.last_mut() {
                Some(last) if random.below(2) == 0 => *last *= factor,
                _ => sizes.push(factor),
            }
        }
    }
    if rest > 1 {
        sizes.push(rest);
    }
    let at = random.below(sizes.len() as u64 + 1) as usize;
    if random.below(3) == 0 {
        sizes.insert(at, 1);
    }
    let other = random.below(sizes.len().max(1) as u64) as usize;
    if !sizes.is_empty() {
        sizes.swap(0, other);
    }
    sizes
}

/// The sizes as a caller may write them: one of them perhaps as -1.
fn written(random: &mut Random, sizes: &[i64]) -> Vec<i64> {
    let mut sizes = sizes.to_vec();
    if !sizes.is_empty() && !sizes.contains(&0) && random.below(3) == 0 {
        let at = random.below(sizes.len() as u64) as usize;
        sizes[at] = -1;
    }
    sizes
}

impl Pair {
    fn rank(&self) -> usize {
        self.model.sizes.len()
    }

    fn is_view_of(&self, first: &Handle) -> bool {
        self.tensor.shares_storage(first)
    }

    /// One random view; `None` if it is one that the tensor does not have.
    fn step(&self, random: &mut Random, storage: i64) -> Option<Pair> {
        let rank = self.rank();
        let pair = |tensor: api::Outcome<Handle>, model: Model| {
            let tensor = tensor.unwrap_or_else(|failure| panic!("{model:?}: {failure:?}"));
            Some(Pair { tensor, model })
        };
        let (tensor, model) = (&self.tensor, &self.model);
        let which = random.below(15);
        match which {
            0 => return self.strided(random, storage),
            1 => return self.reshaped(random),
            2 => {
                let sizes: Vec<i64> = model
                    .sizes
                    .iter()
                    .map(|size| if *size == 1 { 1 + random.below(3) } else { *size })
                    .collect();
                let new: Vec<i64> = (0..random.below(2)).map(|_| random.below(3)).collect();
                let sizes = [new, sizes].concat();
                if sizes.len() > 6 || sizes.iter().product::<i64>() > 2000 {
                    return None;
                }
                let mut asked = sizes.clone();
                let own = sizes.len() - rank;
                for dim in 0..rank {
                    if model.sizes[dim] == asked[own + dim] && random.below(3) == 0 {
                        asked[own + dim] = -1;
                    }
                }
                return pair(tensor.expand(&asked), model.expand(&sizes));
            }
            3 => return pair(tensor.squeeze_all(), model.squeezed(|_| true)),
            4 => {
                let at = random.below(rank as u64 + 1);
                let mut sizes = model.sizes.clone();
                sizes.insert(at as usize, 1);
                let from_end = at - rank as i64 - 1;
                let at = random.one_of(&[at, from_end]);
                return (rank < 6)
                    .then(|| pair(tensor.unsqueeze(at), model.reshaped(&sizes)))
                    .flatten();
            }
            _ if rank == 0 => return None,
            _ => {}
        }
        let (dim, named) = dimension(random, rank);
        let size = model.sizes[dim];
        match which {
            5 => {
                let start = random.below(size as u64 + 1);
                let length = random.below((size - start) as u64 + 1);
                let written =
                    if start < size { random.one_of(&[start, start - size]) } else { start };
                pair(tensor.narrow(named, written, length), model.part(dim, start, length, 1))
            }
            6 => {
                let (start, end) = (random.below(12) - 6, random.below(12) - 6);
                let end = if random.below(4) == 0 { i64::MAX } else { end };
                let step = random.one_of(&[1, 1, 2, 3, i64::MAX]);
                let within = |at: i64| if at < 0 { (at + size).max(0) } else { at.min(size) };
                let (from, to) = (within(start), within(end).max(within(start)));
                let length = (from..to).step_by(step as usize).count() as i64;
                let step_of_model = if length > 1 { step } else { 1 };
                let model = model.part(dim, from, length, step_of_model);
                pair(tensor.slice(named, start, end, step), model)
            }
            7 if size > 0 => {
                let at = random.below(size as u64);
                let written = random.one_of(&[at, at - size]);
                pair(tensor.select(named, written), model.select(dim, at))
            }
            8 => {
                let (other, named_other) = dimension(random, rank);
                let mut order: Vec<usize> = (0..rank).collect();
                order.swap(dim, other);
                pair(tensor.transpose(named, named_other), model.permute(&order))
            }
            9 => {
                let mut order: Vec<usize> = (0..rank).collect();
                for at in (1..rank).rev() {
                    order.swap(at, random.below(at as u64 + 1) as usize);
                }
                let dims: Vec<i64> = order.iter().map(|dim| *dim as i64).collect();
                pair(tensor.permute(&dims), model.permute(&order))
            }
            10 => pair(tensor.squeeze(&[named]), model.squeezed(|other| other == dim)),
            11 if rank > 1 => {
                let (other, named_other) = dimension(random, rank);
                let above = random.below(7) - 3;
                (other != dim)
                    .then(|| {
                        let model = model.diagonal(above, dim, other);
                        pair(tensor.diagonal(above, named, named_other), model)
                    })
                    .flatten()
            }
            12 => self.piece(random, dim, named),
            13 => {
                let (other, _) = dimension(random, rank);
                let (start, end) = (dim.min(other), dim.max(other));
                let joined: i64 = model.sizes[start..=end].iter().product();
                let sizes = [&model.sizes[..start], &[joined], &model.sizes[end + 1..]].concat();
                let flat = tensor.flatten(start as i64, end as i64);
                let model = model.reshaped(&sizes);
                assert_eq!(flat.as_ref().unwrap().shares_storage(tensor), model.has_strides());
                model.has_strides().then(|| pair(flat, model)).flatten()
            }
            14 if size > 0 && rank < 6 => {
                let parts = other_sizes(random, size);
                let asked = written(random, &parts);
                let sizes = [&model.sizes[..dim], &parts, &model.sizes[dim + 1..]].concat();
                (!parts.is_empty())
                    .then(|| pair(tensor.unflatten(named, &asked), model.reshaped(&sizes)))
                    .flatten()
            }
            _ => None,
        }
    }

    /// Any sizes and strides in the storage, overlapping ones too; those outside of it are refused.
    fn strided(&self, random: &mut Random, storage: i64) -> Option<Pair> {
        let rank = random.below(4) as usize;
        let sizes: Vec<i64> = (0..rank).map(|_| random.below(5)).collect();
        let strides: Vec<i64> = (0..rank).map(|_| random.one_of(&[0, 1, 1, 2, 3, 7, 20])).collect();
        let offset = random.below(storage as u64 + 2);
        let places = strided(&sizes, &strides, offset);
        let tensor = self.tensor.as_strided(&sizes, &strides, offset);
        if places.iter().any(|place| *place >= storage) {
            let text = api::refusal(tensor);
            assert!(text.contains("are out of bounds for storage of size"), "{text}");
            return None;
        }
        let tensor = tensor.unwrap();
        assert_eq!((tensor.strides(), tensor.storage_offset()), (strides, offset));
        Some(Pair { tensor, model: Model { sizes, places } })
    }

    /// Other sizes: `view` where strides exist, else only `reshape`, which copies.
    fn reshaped(&self, random: &mut Random) -> Option<Pair> {
        let sizes = other_sizes(random, self.model.places.len() as i64);
        let asked = written(random, &sizes);
        let model = self.model.reshaped(&sizes);
        let reshaped = self.tensor.reshape(&asked).unwrap();
        assert_eq!(reshaped.sizes(), sizes);
        assert_eq!(reshaped.i32s(), self.tensor.i32s());
        assert_eq!(reshaped.shares_storage(&self.tensor), model.has_strides(), "{model:?}");
        let viewed = self.tensor.view(&asked);
        if model.has_strides() {
            return Some(Pair { tensor: viewed.unwrap(), model });
        }
        let text = api::refusal(viewed);
        assert!(text.contains("view size is not compatible with input tensor's size"), "{text}");
        None
    }

    /// One of the pieces of a dimension, after all have been looked at.
    fn piece(&self, random: &mut Random, dim: usize, named: i64) -> Option<Pair> {
        let size = self.model.sizes[dim];
        let (pieces, lengths): (Vec<Handle>, Vec<i64>) = match random.below(4) {
            0 => {
                let count = 1 + random.below(6);
                let each = ((size + count - 1) / count).max(1);
                let lengths = match size {
                    0 => vec![0; count as usize],
                    _ => (0..size).step_by(each as usize).map(|at| each.min(size - at)).collect(),
                };
                (self.tensor.chunk(count, named).unwrap(), lengths)
            }
            1 => {
                let each = 1 + random.below(4);
                let lengths = match size {
                    0 => vec![0],
                    _ => (0..size).step_by(each as usize).map(|at| each.min(size - at)).collect(),
                };
                (self.tensor.split(each, named).unwrap(), lengths)
            }
            2 => {
                let first = random.below(size as u64 + 1);
                let lengths = vec![first, 0, size - first];
                (self.tensor.split_with_sizes(&lengths, named).unwrap(), lengths)
            }
            _ => {
                let pieces = self.tensor.unbind(named).unwrap();
                assert_eq!(pieces.len(), size as usize);
                let mut taken = None;
                for (at, tensor) in pieces.into_iter().enumerate() {
                    let pair = Pair { tensor, model: self.model.select(dim, at as i64) };
                    pair.check();
                    taken = Some(pair);
                }
                return taken;
            }
        };
        assert_eq!(pieces.len(), lengths.len(), "{:?}", self.model.sizes);
        let (mut start, mut taken) = (0, None);
        for (tensor, length) in pieces.into_iter().zip(lengths) {
            let pair = Pair { tensor, model: self.model.part(dim, start, length, 1) };
            pair.check();
            start += length;
            if taken.is_none() || random.below(2) == 0 {
                taken = Some(pair);
            }
        }
        taken
    }

    /// Sizes, places and values are the model's.
    #[track_caller]
    fn check(&self) {
        let (tensor, model) = (&self.tensor, &self.model);
        assert_eq!(tensor.sizes(), model.sizes);
        assert_eq!(tensor.numel(), model.places.len() as i64);
        let strides = tensor.strides();
        assert!(strides.iter().all(|stride| *stride >= 0), "{strides:?}");
        let places = strided(&model.sizes, &strides, tensor.storage_offset());
        assert_eq!(places, model.places, "{:?} by {strides:?}", model.sizes);
        let contiguous = places.windows(2).all(|pair| pair[1] == pair[0] + 1);
        assert_eq!(tensor.is_contiguous(SCONCE_MEMORY_FORMAT_CONTIGUOUS), contiguous);
        if let Some(first) = places.first() {
            assert_eq!(tensor.data(), tensor.storage().0 + 4 * *first as usize);
        }
        let mut sorted = places.clone();
        sorted.sort_unstable();
        let dense = sorted.windows(2).all(|pair| pair[1] == pair[0] + 1);
        assert_eq!(tensor.is_contiguous(SCONCE_MEMORY_FORMAT_PRESERVE), dense);
        let values: Vec<i64> = tensor.i32s().into_iter().map(i64::from).collect();
        assert_eq!(values, places);
    }
}

fn chains(device: i32, count: u64, seed: u64) {
    let _one = testkit::places::alone();
    let before = sconce_tensor_live_count();
    let mut steps = 0;
    for chain in 0..count {
        let mut random = Random(seed + chain);
        let rank = random.below(5) as usize;
        let sizes: Vec<i64> = (0..rank).map(|_| random.one_of(&[0, 1, 1, 2, 3, 4, 6])).collect();
        let model = Model::dense(&sizes);
        let storage = model.places.len() as i64;
        let values: Vec<i32> = (0..storage as i32).collect();
        let first = from_i32(&values, &sizes, device);
        let mut pair = Pair { tensor: first.again(), model };
        pair.check();
        for _ in 0..12 {
            if let Some(next) = pair.step(&mut random, storage) {
                assert!(next.is_view_of(&first));
                next.check();
                pair = next;
                steps += 1;
            }
        }
    }
    assert!(steps > 6 * count, "only {steps} views");
    assert_eq!(sconce_tensor_live_count(), before);
}

#[test]
fn chains_of_views_on_the_cpu_are_those_of_a_model() {
    chains(CPU, 1500, 1);
}

#[test]
fn chains_of_views_on_a_device_are_those_of_a_model() {
    chains(0, 200, 100_000);
}
