//! Outputs that are one tensor several times, an input, or a view of a constant, of the model of `sets.cpp`.

use std::ptr::null_mut;

use super::folder;
use super::sets::{library, run, unload};
use super::shared::{F32, live, load_model, numel, read_values, release, run_model_into, tensor};

#[link(name = "sconce")]
unsafe extern "C" {
    safe fn sconce_tensor_get_data(tensor: usize, address: &mut *mut f32) -> i32;
}

#[test]
fn outputs_are_independent_handles_that_outlive_the_model() {
    let folder = folder("outputs");
    let library = library(&folder, &[]);
    let before = live();
    // Whichever is released first, the others stay; also where the model and the input are gone.
    for first in 0..5 {
        let model = load_model(&library).unwrap();
        let input = tensor(&[5.0_f32, 6.0], F32, &[2]);
        let outputs = run(model, input).unwrap();
        assert!(!outputs.contains(&input), "an output has the input's handle");
        let mut distinct = outputs.to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), 5, "a handle is handed out twice");
        release(input);
        release(outputs[first]);
        unload(model);
        let sum = [16.0, 28.0, 40.0, 17.0, 29.0, 41.0];
        let view = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let values: [&[f32]; 4] = [&sum, &sum, &[5.0, 6.0], &view];
        for (at, values) in values.into_iter().enumerate().filter(|(at, _)| *at != first) {
            assert_eq!(numel(outputs[at]), values.len() as i64);
            let mut read = vec![0.0_f32; values.len()];
            read_values(outputs[at], &mut read);
            assert_eq!(read, values, "output {at} without {first}");
        }
        // Two of them share their memory, as in PyTorch.
        if first > 1 {
            let mut data = null_mut();
            assert_eq!(sconce_tensor_get_data(outputs[0], &mut data), 0);
            // SAFETY: the tensor has six elements, and nobody else uses them.
            unsafe { std::slice::from_raw_parts_mut(data, 6) }.fill(3.0);
            let mut read = [0.0_f32; 6];
            read_values(outputs[1], &mut read);
            assert_eq!(read, [3.0; 6]);
        }
        for at in (0..5).filter(|at| *at != first) {
            release(outputs[at]);
        }
        assert_eq!(live(), before);
    }
    // A model that fails half-way has written one handle to several places.
    let model = load_model(&library).unwrap();
    let (input, loaded) = (tensor(&[-1.0_f32], F32, &[1]), live());
    let why = run(model, input).unwrap_err();
    assert!(why.ends_with("the model failed: Expected x >= 0 but received -1.000000"), "{why}");
    assert_eq!(live(), loaded);
    release(input);
    unload(model);
    assert_eq!(live(), before);
}

#[test]
fn places_may_be_the_memory_of_inputs_and_of_each_other() {
    let folder = folder("places");
    let model = load_model(&library(&folder, &[])).unwrap();
    // The input is the place of the first output, and itself an output that is copied later.
    let input = tensor(&[5.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0], F32, &[2, 3]);
    let (again, same, view) = (
        tensor(&[0.0_f32; 6], F32, &[2, 3]),
        tensor(&[0.0_f32; 6], F32, &[2, 3]),
        tensor(&[0.0_f32; 6], F32, &[3, 2]),
    );
    let places = [input, again, same, view, 0];
    run_model_into(model, &[input], &places).unwrap();
    let sum = [16.0, 28.0, 40.0, 17.0, 29.0, 41.0];
    for (at, values) in [
        (0, sum),
        (1, sum),
        (2, [5.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
        (3, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
    ] {
        let mut read = [0.0_f32; 6];
        read_values(places[at], &mut read);
        assert_eq!(read, values, "place {at}");
    }
    let why = run_model_into(model, &[input], &[input, 0, same, view, 0]);
    assert!(why.unwrap_err().contains("output 1 (y)"));
    // A copy would repeat the elements in larger places. None is written if one does not fit.
    for sizes in [&[1_i64, 2, 3][..], &[2, 2, 3], &[6], &[2, 1], &[2, 3, 1]] {
        let count = sizes.iter().product::<i64>() as usize;
        let (good, bad) =
            (tensor(&[7.0_f32; 6], F32, &[2, 3]), tensor(&vec![7.0_f32; count], F32, sizes));
        let why = run_model_into(model, &[input], &[good, bad, same, view, 0]).unwrap_err();
        let wanted =
            format!("output 1 (y) is float32[2, 3] on cpu, and its place float32{sizes:?} on cpu");
        assert!(why.contains(&wanted) && why.contains("with the sizes [2, 3]"), "{why}");
        let mut read = [0.0_f32; 6];
        read_values(good, &mut read);
        assert_eq!(read, [7.0; 6], "{sizes:?}");
        [good, bad].into_iter().for_each(release);
    }
    places.into_iter().take(4).for_each(release);
    unload(model);
}
