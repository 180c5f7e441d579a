#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::place::{HandlePlace, Release};
use super::written::Written;
use super::*;
use crate::tensor::layout::INLINE;
use crate::tensor::{Dims, Place, TensorOptions};

fn of_sizes(sizes: &[i64]) -> Tensor {
    let options = TensorOptions { dtype: Dtype::F32, place: Place::Cpu, pinned: false };
    options.empty(sizes).unwrap()
}

#[test]
fn a_handle_gives_back_what_it_holds() {
    for rank in [0, 1, 2, INLINE, INLINE + 1, 20] {
        let sizes: Vec<i64> = (0..rank as i64).map(|dim| 1 + dim % 2).collect();
        let tensor = of_sizes(&sizes);
        let key = insert(tensor.clone()).unwrap();
        let found = get(key, "t").unwrap();
        assert_eq!((found.sizes(), found.strides()), (tensor.sizes(), tensor.strides()));
        assert_eq!((found.numel(), found.dtype()), (tensor.numel(), Dtype::F32));
        assert!(found.storage().is(tensor.storage()));
        // Another tensor with fewer dimensions in the same place, and back.
        assign(key, "t", of_sizes(&[5])).unwrap();
        assert_eq!(get(key, "t").unwrap().sizes(), [5]);
        assign(key, "t", found).unwrap();
        assert_eq!(get(key, "t").unwrap().sizes(), sizes);
        release(key, "t").unwrap();
        assert!(!tensor.storage().is_shared());
        let refusal = get(key, "t").err().unwrap();
        assert!(refusal.message().contains("t is not a tensor"), "{refusal}");
        assert!(release(key, "t").is_err() && retain(key, "t").is_err());
        assert!(assign(key, "t", tensor.clone()).is_err());
        assert!(!tensor.storage().is_shared(), "a refused assignment keeps nothing");
    }
}

#[test]
fn a_look_copies_words_and_owns_nothing() {
    for rank in [0, 1, INLINE, INLINE + 1] {
        let sizes = vec![2; rank];
        let tensor = of_sizes(&sizes);
        let key = insert(tensor.clone()).unwrap();
        let (mut seen, mut strides) = (Dims::new(), Dims::new());
        let looked = look(key, "t", |words| {
            words.sizes(&mut seen)?;
            words.strides(&mut strides)?;
            Some((words.rank(), words.numel(), words.offset(), words.address(), words.device()))
        });
        let expected =
            (rank, tensor.numel(), 0, tensor.address(), tensor.storage().place().number());
        assert_eq!(looked.unwrap(), expected);
        assert_eq!((&seen[..], &strides[..]), (tensor.sizes(), tensor.strides()));
        // A view that begins elsewhere, and the undefined tensor.
        let storage = tensor.storage().clone();
        let view = Tensor::checked(storage, Dtype::F32, &[], &[], tensor.numel() - 1).unwrap();
        let address = view.address();
        assign(key, "t", view).unwrap();
        assert_eq!(look(key, "t", |words| Some(words.address())).unwrap(), address);
        assign(key, "t", Tensor::default()).unwrap();
        assert!(look(key, "t", |words| Some(words.storage().is_none())).unwrap());
        release(key, "t").unwrap();
        let refusal = look(key, "t", |_| Some(())).unwrap_err();
        assert!(refusal.message().contains("t is not a tensor"), "{refusal}");
        assert!(!tensor.storage().is_shared());
    }
}

#[test]
fn a_tensor_that_is_not_made_leaves_no_handle_and_owns_nothing() {
    let tensor = of_sizes(&[3; INLINE + 1]);
    let key = insert(tensor.clone()).unwrap();
    assert!(insert_view(key, "t", |_| Err(released("t"))).is_err());
    assert!(insert_made(|_| Err(released("t"))).is_err());
    let view = insert_view(key, "t", |_| Ok(())).unwrap();
    release(key, "t").unwrap();
    assert!(tensor.storage().is_shared());
    release(view, "t").unwrap();
    assert!(!tensor.storage().is_shared());
}

#[test]
fn a_view_has_the_layout_that_was_made_and_the_address_that_belongs_to_it() {
    for rank in [2, 3, INLINE, INLINE + 1] {
        let tensor = of_sizes(&vec![2; rank]);
        let key = insert(tensor.clone()).unwrap();
        let view = insert_view(key, "t", |layout| {
            layout.offset = layout.offset_after(1, layout.strides()[0]);
            layout.remove(0);
            layout.count_again();
            Ok(())
        });
        let view = view.unwrap();
        let found = get(view, "t").unwrap();
        let expected = (&tensor.sizes()[1..], &tensor.strides()[1..], tensor.strides()[0]);
        assert_eq!((found.sizes(), found.strides(), found.offset()), expected);
        assert_eq!((found.numel(), found.dtype()), (tensor.numel() / 2, Dtype::F32));
        assert!(found.storage().is(tensor.storage()));
        let seen = look(view, "t", |words| Some((words.address(), words.device()))).unwrap();
        assert_eq!(seen, (found.address(), found.place().number()));
        // A view of the view counts from there.
        let again = insert_view(view, "t", |layout| {
            layout.offset += 1;
            layout.set(&[], &[]);
            layout.count_again();
            Ok(())
        });
        let again = again.unwrap();
        assert_eq!(look(again, "t", |words| Some(words.address())).unwrap(), found.address() + 4);
        for handle in [key, view, again] {
            release(handle, "t").unwrap();
        }
    }
    let empty = insert(of_sizes(&[0, 3])).unwrap();
    let view = insert_view(empty, "t", |layout| {
        layout.offset = 7;
        Ok(())
    });
    let view = view.unwrap();
    assert_eq!(
        look(view, "t", |words| Some(words.address())).unwrap(),
        get(view, "t").unwrap().address()
    );
    let undefined = insert(Tensor::default()).unwrap();
    let refusal = insert_view(undefined, "t", |_| Ok(())).unwrap_err();
    assert!(refusal.message().contains("t is an undefined tensor"), "{refusal}");
    for handle in [empty, view, undefined] {
        release(handle, "t").unwrap();
    }
    let refusal = insert_view(view, "t", |_| Ok(())).unwrap_err();
    assert!(refusal.message().contains("t is not a tensor"), "{refusal}");
}

#[test]
fn handles_of_other_kinds_and_any_numbers_are_refused() {
    let tensor = insert(Tensor::default()).unwrap();
    assert!(!get(tensor, "t").unwrap().is_defined());
    let of_slab = |bits: u64| bits & !(0x3f << 26);
    for bits in [1, u64::MAX, of_slab(tensor.bits()), tensor.bits() + 1, !tensor.bits()] {
        let key = Key::from_bits(bits);
        assert!(get(key, "t").is_err() && release(key, "t").is_err(), "{bits:#x}");
    }
    release(tensor, "t").unwrap();
}

#[test]
fn owners_are_counted() {
    let key = insert(of_sizes(&[2])).unwrap();
    retain(key, "t").unwrap();
    release(key, "t").unwrap();
    assert!(get(key, "t").is_ok());
    release(key, "t").unwrap();
    assert!(get(key, "t").is_err() && release(key, "t").is_err());
}

#[test]
fn a_generation_that_is_used_up_names_no_handle() {
    let place = HandlePlace::at_generation(u32::MAX);
    assert_eq!(place.publish(Written::UNDEFINED), u32::MAX);
    assert_eq!(place.release(u32::MAX), Release::Last);
    assert_eq!(place.release(0), Release::Dead);
    assert!(!place.retain(0));
}

/// Threads pass handles on, use them after their release, and release them twice: every call has an outcome, and
/// each storage goes once.
#[test]
fn threads_misuse_handles() {
    use std::sync::Mutex;

    let rounds = if cfg!(miri) { 30 } else { 20_000 };
    let passed: Mutex<Vec<(Key, i64)>> = Mutex::new(Vec::new());
    let ended: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4_i64)
            .map(|thread| {
                let passed = &passed;
                scope.spawn(move || {
                    let mut ended = 0;
                    for round in 0..rounds {
                        let size = 1 + (thread * rounds + round) % 7;
                        let key = insert(of_sizes(&[size, 3])).unwrap();
                        let (other, expected) = {
                            let mut passed = passed.lock().unwrap();
                            passed.push((key, size));
                            let at = (round as usize * 7) % passed.len();
                            if passed.len() > 8 { passed.swap_remove(at) } else { passed[at] }
                        };
                        let words = look(other, "t", |words| Some((words.numel(), words.device())));
                        if let Ok(words) = words {
                            assert_eq!(words, (3 * expected, Place::Cpu.number()));
                        }
                        if let Ok(tensor) = get(other, "t") {
                            assert_eq!(tensor.sizes(), [expected, 3]);
                            assert_eq!(tensor.storage().bytes() as i64, 12 * expected);
                        }
                        ended += usize::from(release(other, "t").is_ok());
                    }
                    ended
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    let rest = passed.into_inner().unwrap();
    let rest = rest.into_iter().filter(|(key, _)| release(*key, "t").is_ok()).count();
    assert_eq!(ended + rest, 4 * rounds as usize, "each handle ends once");
}
