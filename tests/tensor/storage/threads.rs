//! Tensors on several threads: random views of shared storages against a naive model, handed from thread to thread and
//! released anywhere; handles that change while others look at them; memory of others, given back once.

use std::ffi::c_void;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use sconce::*;
use testkit::places::alone;
use testkit::threads::{Xorshift, asked_seconds, seconds};

use super::figures::Figures;
use crate::api::{CPU, Handle, outcome, returned};
use crate::create::from_i32;
use crate::views::Model;

const THREADS: u64 = 4;
const SIZES: [i64; 3] = [3, 4, 5];
const COUNT: i64 = 60;

/// A tensor and what it must hold: `first` and the places of its elements.
struct Pair {
    tensor: Handle,
    model: Model,
    first: i64,
}

/// How many of the foreign memories were made, and given back.
static MADE: AtomicUsize = AtomicUsize::new(0);
static GIVEN_BACK: AtomicUsize = AtomicUsize::new(0);

unsafe extern "C" fn give_back(context: *mut c_void) {
    // SAFETY: what `foreign` made of a box.
    drop(unsafe { Box::from_raw(context.cast::<Vec<i32>>()) });
    GIVEN_BACK.fetch_add(1, Ordering::Relaxed);
}

/// A tensor over memory that its deleter frees: what uses it later would read other values.
fn foreign(values: Vec<i32>) -> Handle {
    let bytes = values.len() * 4;
    let mut values = Box::new(values);
    let (address, context) = (values.as_mut_ptr(), Box::into_raw(values));
    MADE.fetch_add(1, Ordering::Relaxed);
    // SAFETY: the memory lives until the deleter is called.
    returned(|out| unsafe {
        let (sizes, strides) = (SIZES.as_ptr(), std::ptr::null());
        let (dtype, address, context) = (SCONCE_DTYPE_I32, address.cast(), context.cast());
        let deleter = Some(give_back as _);
        sconce_tensor_from_memory(
            address, bytes, sizes, strides, 3, dtype, CPU, deleter, context, out,
        )
    })
    .unwrap()
}

impl Pair {
    /// A tensor with a storage of its own.
    fn new(random: &mut Xorshift) -> Pair {
        let first = random.below(1 << 20) as i64;
        let values: Vec<i32> = (0..COUNT).map(|at| (first + at) as i32).collect();
        let tensor = match random.below(3) {
            0 => foreign(values),
            1 => from_i32(&values, &SIZES, CPU),
            _ => from_i32(&values, &SIZES, 0),
        };
        Pair { tensor, model: Model::dense(&SIZES), first }
    }

    /// A random view, or a copy, whose model is another one.
    fn next(&self, random: &mut Xorshift) -> Pair {
        let (tensor, model, first) = (&self.tensor, &self.model, self.first);
        let rank = model.sizes.len();
        if rank == 0 {
            return Pair {
                tensor: tensor.unsqueeze(0).unwrap(),
                model: model.reshaped(&[1]),
                first,
            };
        }
        let dim = random.below(rank);
        let size = model.sizes[dim];
        let at = dim as i64;
        let (tensor, model) = match random.below(7) {
            0 if size > 0 => {
                let index = random.below(size as usize) as i64;
                (tensor.select(at, index), model.select(dim, index))
            }
            1 if size > 0 => {
                let start = random.below(size as usize) as i64;
                let length = size - start;
                (tensor.narrow(at, start, length), model.part(dim, start, length, 1))
            }
            2 => {
                let length = (size + 1) / 2;
                (tensor.slice(at, 0, i64::MAX, 2), model.part(dim, 0, length, 2))
            }
            3 => {
                let mut order: Vec<usize> = (0..rank).collect();
                order.swap(0, dim);
                (tensor.transpose(0, at), model.permute(&order))
            }
            4 if rank < 5 && model.places.len() < 200 => {
                let sizes = [&[2], &model.sizes[..]].concat();
                (tensor.expand(&sizes), model.expand(&sizes))
            }
            5 => (tensor.clone_as(SCONCE_MEMORY_FORMAT_CONTIGUOUS), model.clone()),
            _ => (Ok(tensor.again()), model.clone()),
        };
        Pair { tensor: tensor.unwrap(), model, first }
    }

    fn check(&self) {
        assert_eq!(self.tensor.sizes(), self.model.sizes);
        let expected = self.model.places.iter().map(|place| (self.first + place) as i32);
        assert!(self.tensor.i32s().into_iter().eq(expected), "{:?}", self.model);
    }
}

/// One thread: makes tensors and views, gives some of them to others, takes theirs, checks and releases.
fn wander(seed: u64, until: Instant, shared: &Mutex<Vec<Pair>>) -> usize {
    let mut random = Xorshift(seed);
    let (mut own, mut steps): (Vec<Pair>, usize) = (vec![Pair::new(&mut random)], 0);
    while steps < 200 || Instant::now() < until {
        steps += 1;
        let at = random.below(own.len().max(1));
        match random.below(10) {
            0 => own.push(Pair::new(&mut random)),
            1..=4 if !own.is_empty() => own.push(own[at].next(&mut random)),
            5 if !own.is_empty() => shared.lock().unwrap().push(own.swap_remove(at)),
            6 => own.extend(shared.lock().unwrap().pop()),
            7 if !own.is_empty() => own[at].check(),
            _ if own.len() > 20 => drop(own.split_off(5)),
            _ if !own.is_empty() => drop(own.swap_remove(at)),
            _ => {}
        }
    }
    own.iter().for_each(Pair::check);
    steps
}

#[test]
fn views_of_shared_storages_are_those_of_a_model_on_every_thread() {
    let _one = alone();
    let start = Figures::now();
    let seed = match asked_seconds() {
        Some(_) => std::process::id().into(),
        None => 1,
    };
    let (until, shared) = (Instant::now() + seconds(0.5), Mutex::new(Vec::new()));
    let steps: usize = std::thread::scope(|scope| {
        let shared = &shared;
        let threads: Vec<_> = (1..=THREADS)
            .map(|thread| scope.spawn(move || wander(seed * 977 + thread * 31, until, shared)))
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    shared.lock().unwrap().iter().for_each(Pair::check);
    shared.lock().unwrap().clear();
    println!("{steps} steps, {} foreign memories", MADE.load(Ordering::Relaxed));
    assert!(MADE.load(Ordering::Relaxed) > 20);
    assert_eq!(GIVEN_BACK.load(Ordering::Relaxed), MADE.load(Ordering::Relaxed));
    start.assert_unchanged();
}

/// Who looks at a handle that others assign sees one of the tensors it was assigned, whole.
#[test]
fn a_handle_that_is_assigned_holds_one_tensor_or_another() {
    let _one = alone();
    let start = Figures::now();
    let until = Instant::now() + seconds(0.3);
    for device in [CPU, 0] {
        let holder = from_i32(&[0; 6], &[2, 3], device);
        std::thread::scope(|scope| {
            for value in 1..=2_i32 {
                let holder = &holder;
                scope.spawn(move || {
                    let mut rounds = 0;
                    while rounds < 100 || Instant::now() < until {
                        rounds += 1;
                        let sizes = [2 + i64::from(value), 3];
                        let values = vec![value; (sizes[0] * 3) as usize];
                        let source = from_i32(&values, &sizes, device);
                        outcome(sconce_tensor_assign(holder.raw(), source.raw())).unwrap();
                    }
                });
            }
            for _ in 0..2 {
                scope.spawn(|| {
                    let mut rounds = 0;
                    while rounds < 100 || Instant::now() < until {
                        rounds += 1;
                        let seen = holder.view(&[-1]).unwrap();
                        let values = seen.i32s();
                        assert_eq!(values.len() as i32, (values[0] + 2) * 3, "{values:?}");
                        assert!(values.iter().all(|value| *value == values[0]), "{values:?}");
                        assert_eq!(seen.sizes(), [values.len() as i64]);
                    }
                });
            }
        });
    }
    start.assert_unchanged();
}
