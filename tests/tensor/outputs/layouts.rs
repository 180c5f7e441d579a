//! Outputs of other strides and shapes, and undefined ones.

use sconce::*;
use testkit::places::alone;

use super::calls::undefined;
use super::forms::ALL;
use crate::api::{CPU, Handle, integer, options};
use crate::create;
use crate::every::operations::Tensors;
use crate::storage::figures::Figures;

/// What an output is before the call.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Before {
    Undefined,
    /// No elements, of one dimension.
    Empty,
    /// The result's shape.
    Packed,
    /// The result's shape, dimensions in the other order in memory.
    Turned,
    /// The result's shape, with gaps between the elements.
    Gapped,
    /// Another shape, in more memory.
    Larger,
    /// Another shape, in less memory.
    Smaller,
}

use Before::{Empty, Gapped, Larger, Packed, Smaller, Turned, Undefined};

const ALL_BEFORE: [Before; 7] = [Undefined, Empty, Packed, Turned, Gapped, Larger, Smaller];

/// What the memory of an output holds before.
const OLD: i64 = 1;
/// Elements before and after those of an output.
const MARGIN: i64 = 3;

/// An output for a result, and all of its memory.
fn output(result: &Handle, before: Before) -> (Handle, Option<Handle>) {
    let sizes = result.sizes();
    let asked = options(result.dtype(), result.device());
    let memory = |elements: i64| create::full(&[elements], integer(OLD), &asked).unwrap();
    let in_order = |step: i64, reversed: bool| {
        let mut strides = vec![0; sizes.len()];
        let mut next = step;
        let order: Vec<usize> =
            if reversed { (0..sizes.len()).collect() } else { (0..sizes.len()).rev().collect() };
        for dim in order {
            strides[dim] = next;
            next *= sizes[dim];
        }
        (strides, next)
    };
    let view = |(strides, extent): (Vec<i64>, i64)| {
        let memory = memory(extent + 2 * MARGIN);
        (memory.as_strided(&sizes, &strides, MARGIN).unwrap(), Some(memory))
    };
    match before {
        Undefined => (undefined(), None),
        Empty => (create::empty(&[0], &asked).unwrap(), None),
        Packed => view(in_order(1, false)),
        Turned => view(in_order(1, true)),
        Gapped => view(in_order(2, false)),
        Larger => {
            let memory = memory(result.numel() + 50);
            (memory.again(), Some(memory))
        }
        Smaller => (memory(1).unsqueeze(0).unwrap(), None),
    }
}

/// The elements of the memory that are not the output's must be as they were.
fn gaps_are_untouched(output: &Handle, memory: &Handle) -> bool {
    output.fill(integer(OLD)).unwrap();
    let fresh =
        create::full(&memory.sizes(), integer(OLD), &options(memory.dtype(), memory.device()));
    memory.bytes().unwrap() == fresh.unwrap().bytes().unwrap()
}

/// What is wrong with an output after the call.
fn wrong(result: &Handle, output: &Handle, before: Before, kept: &Kept) -> Option<String> {
    let same_shape = matches!(before, Packed | Turned | Gapped);
    let strides = if same_shape { &kept.strides } else { &result.strides() };
    if output.sizes() != result.sizes() || output.dtype() != result.dtype() {
        return Some(format!("sizes {:?}, type {}", output.sizes(), output.dtype()));
    }
    if output.strides() != *strides {
        return Some(format!("strides {:?}, not {strides:?}", output.strides()));
    }
    if (same_shape || before == Larger) && output.data() != kept.data {
        return Some("other memory".to_owned());
    }
    if output.bytes().unwrap() != result.bytes().unwrap() {
        return Some("other elements".to_owned());
    }
    None
}

/// What an output was before the call.
#[derive(Default)]
struct Kept {
    strides: Vec<i64>,
    data: usize,
}

#[test]
fn results_are_the_same_in_every_output() {
    let _one = alone();
    let start = Figures::now();
    let mut problems = Vec::new();
    for device in [CPU, 0] {
        for form in ALL {
            let tensors = Tensors::new(device, device);
            let operands = |tensors: &Tensors| {
                [&tensors.matrix, &tensors.second, &tensors.batch].map(|each| each.bytes().unwrap())
            };
            let untouched = operands(&tensors);
            let results = (form.new)(&tensors).unwrap();
            for before in ALL_BEFORE {
                // Of a sequence the undefined tensor becomes one of the current device.
                if before == Undefined && !form.reads() && device == CPU {
                    continue;
                }
                let made: Vec<_> = results.iter().map(|result| output(result, before)).collect();
                let kept: Vec<Kept> = made
                    .iter()
                    .map(|(output, _)| match before {
                        Undefined => Kept::default(),
                        _ => Kept { strides: output.strides(), data: output.data() },
                    })
                    .collect();
                let outputs: Vec<Handle> = made.iter().map(|(output, _)| output.again()).collect();
                let mut note = |text: String| {
                    problems.push(format!("{} to {before:?} on {device}: {text}", form.name));
                };
                if let Err(failure) = (form.write)(&tensors, &outputs) {
                    note(failure.message);
                    continue;
                }
                for (at, result) in results.iter().enumerate() {
                    wrong(result, &outputs[at], before, &kept[at]).into_iter().for_each(&mut note);
                    if let Some(memory) = &made[at].1
                        && !gaps_are_untouched(&outputs[at], memory)
                    {
                        note("it wrote beside its output".to_owned());
                    }
                }
                if operands(&tensors) != untouched {
                    note("it wrote to an operand".to_owned());
                }
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    start.assert_unchanged();
}

/// A sequence keeps the shape of an output with as many elements.
#[test]
fn sequences_keep_a_shape_with_as_many_elements() {
    let _one = alone();
    for device in [CPU, 0] {
        let square = create::full(&[2, 3], integer(9), &options(SCONCE_DTYPE_I32, device)).unwrap();
        let turned = square.transpose(0, 1).unwrap();
        super::calls::arange([integer(0), integer(6), integer(1)], &square).unwrap();
        assert_eq!((square.sizes(), square.i32s()), (vec![2, 3], vec![0, 1, 2, 3, 4, 5]));
        super::calls::linspace([integer(5), integer(0)], 6, &turned).unwrap();
        assert_eq!((turned.sizes(), turned.i32s()), (vec![3, 2], vec![5, 4, 3, 2, 1, 0]));
        super::calls::randperm(6, &turned).unwrap();
        let mut numbers = turned.i32s();
        numbers.sort_unstable();
        assert_eq!((turned.sizes(), numbers), (vec![3, 2], vec![0, 1, 2, 3, 4, 5]));
    }
}

/// All owners of a handle see the result, views of the old memory keep that.
#[test]
fn other_owners_see_the_result_and_views_the_old_memory() {
    let _one = alone();
    let into = create::from_f32(&[1.0, 2.0], &[2], 0);
    let (owner, view) = (into.again(), into.view(&[2, 1]).unwrap());
    super::calls::eye(2, 2, &into).unwrap();
    assert_eq!((owner.sizes(), owner.f32s()), (vec![2, 2], vec![1.0, 0.0, 0.0, 1.0]));
    assert_eq!(view.f32s(), [1.0, 2.0]);
    assert!(!view.shares_storage(&into));
}

#[test]
fn the_warning_comes_once() {
    use std::ffi::{CStr, c_char, c_void};
    use std::sync::atomic::{AtomicUsize, Ordering};
    static WARNINGS: AtomicUsize = AtomicUsize::new(0);
    unsafe extern "C" fn count(_: i32, text: *const c_char, _: *mut c_void) {
        // SAFETY: the library passes a text.
        let text = unsafe { CStr::from_ptr(text) }.to_string_lossy();
        if text.contains("An output with one or more elements was resized since it had shape [1]") {
            WARNINGS.fetch_add(1, Ordering::Relaxed);
        }
    }
    let _one = alone();
    // SAFETY: a function of the right type.
    unsafe { sconce_log_set_callback(Some(count), std::ptr::null_mut()) };
    for _ in 0..2 {
        let empty = create::empty(&[0], &options(SCONCE_DTYPE_F32, 0)).unwrap();
        super::calls::eye(2, 2, &empty).unwrap();
    }
    sconce_base::log::flush();
    assert_eq!(WARNINGS.load(Ordering::Relaxed), 0, "an output without elements");
    for _ in 0..2 {
        super::calls::eye(2, 2, &create::from_f32(&[1.0], &[1], 0)).unwrap();
    }
    sconce_base::log::flush();
    // SAFETY: NULL takes the function back.
    unsafe { sconce_log_set_callback(None, std::ptr::null_mut()) };
    assert_eq!(WARNINGS.load(Ordering::Relaxed), 1);
}
