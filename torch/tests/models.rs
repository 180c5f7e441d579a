//! Compiled models of PyTorch, from `SCONCE_TEST_MODELS` or `../shared/models`; without them the tests say so and end.
//! `NAME.pt2` is the package, `NAME.json` describes inputs and outputs, `NAME.bin` has their values.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls the libraries through their C API")]

mod shared;

use std::ffi::{CStr, c_char};
use std::ptr::null_mut;

use shared::recorded::{Recorded, models, recorded};
use shared::{
    described, live, load_model, message, read_values, run_model, run_model_into,
    sconce_model_unload, sconce_torch_string_free, swap_constants, update_constants,
};

#[link(name = "sconce_torch")]
unsafe extern "C" {
    fn sconce_model_run_graph(
        model: usize,
        inputs: *const usize,
        n: usize,
        outputs: *mut usize,
        m: usize,
    ) -> i32;
    fn sconce_model_get_output(
        model: usize,
        index: usize,
        output: *mut Output,
        name: *mut *mut c_char,
    ) -> i32;
    fn sconce_model_inspect(
        path: *const c_char,
        name: *const c_char,
        text: *mut *mut c_char,
    ) -> i32;
}

fn run(model: usize, inputs: &[usize], outputs: usize) -> Result<Vec<usize>, String> {
    let mut results = vec![0; outputs];
    run_model(model, inputs, &mut results)?;
    Ok(results)
}

fn release(tensors: &[usize]) {
    for tensor in tensors {
        shared::release(*tensor);
    }
}

/// Loads a model, runs it several times, and compares results and handles.
fn check(name: &str) {
    check_within(name, 1e-5);
}

/// As `check`, with what results may differ by, relative to the largest element.
fn check_within(name: &str, within: f32) {
    let Some(folder) = models() else { return };
    if !folder.join(format!("{name}.pt2")).exists() {
        println!("skipped: {} has no {name}.pt2; make_models.py makes it", folder.display());
        return;
    }
    let (inputs, outputs) = recorded(&folder, name);
    let before = live();
    let model = load_model(&folder.join(format!("{name}.pt2"))).unwrap();
    let tensors: Vec<usize> = inputs.iter().map(Recorded::tensor).collect();
    let loaded = live();
    for turn in 0..3 {
        let results = run(model, &tensors, outputs.len()).unwrap();
        for (index, (result, recorded)) in results.iter().zip(&outputs).enumerate() {
            let what = format!("{name}, output {index}, run {turn}");
            recorded.compare_within(*result, within, &what);
        }
        release(&results);
        assert_eq!(live(), loaded, "{name} leaks handles");
    }
    release(&tensors);
    assert_eq!(sconce_model_unload(model), 0, "{}", message());
    assert_eq!(live(), before, "{name} keeps handles");
}

#[test]
fn a_perceptron_agrees_with_pytorch() {
    check("cpu_mlp");
}

#[test]
fn a_convolutional_network_agrees_with_pytorch() {
    check("cpu_conv");
}

#[test]
fn a_model_of_two_inputs_agrees_with_pytorch() {
    check("cpu_two");
}

#[test]
fn a_decoder_agrees_with_pytorch() {
    check("cpu_llama");
}

#[test]
fn weights_that_were_packed_agree_with_pytorch() {
    check("cpu_frozen_mlp");
    check("cpu_frozen_images");
    check("cpu_frozen_lstm");
    check_within("cpu_frozen_half", 1e-2);
}

/// A number between two integers may be rounded to either, which is a step of a layer's numbers.
#[test]
fn quantized_models_agree_with_pytorch() {
    check_within("cpu_integers", 2e-2);
    check_within("cpu_dynamic_integers", 2e-2);
    check_within("cpu_four_bits", 1e-2);
}

#[test]
fn a_dynamic_batch_takes_its_sizes_and_no_others() {
    let Some(folder) = models() else { return };
    let (inputs, outputs) = recorded(&folder, "cpu_mlp");
    let model = load_model(&folder.join("cpu_mlp.pt2")).unwrap();
    let of = |rows: i64, columns: i64, dtype: i32| Recorded {
        dtype,
        shape: vec![rows, columns],
        bytes: inputs[0]
            .bytes
            .iter()
            .cycle()
            .take((rows * columns) as usize * if dtype == 7 { 8 } else { 4 })
            .copied()
            .collect(),
    };
    // The compiler assumes two rows or more; PyTorch's loader takes fewer.
    for rows in [0, 1, 2, 5, 64] {
        let tensor = of(rows, 256, 0).tensor();
        let results = run(model, &[tensor], 1).unwrap();
        let first = rows.min(32) as usize * 64 * 4;
        let mut bytes = vec![0_u8; rows as usize * 64 * 4];
        read_values(results[0], &mut bytes);
        for (ours, theirs) in bytes[..first].chunks_exact(4).zip(outputs[0].bytes.chunks_exact(4)) {
            let ours = f32::from_le_bytes(ours.try_into().unwrap());
            let theirs = f32::from_le_bytes(theirs.try_into().unwrap());
            assert!((ours - theirs).abs() < 1e-5);
        }
        release(&results);
        release(&[tensor]);
    }
    let before = live();
    for (wrong, words) in [
        (of(65, 256, 0), "float32[65, 256] on cpu; the model takes float32[2..64, 256] on cpu"),
        (of(4, 255, 0), "float32[4, 255]"),
        (of(4, 256, 7), "int64[4, 256]"),
    ] {
        let tensor = wrong.tensor();
        let refused = run(model, &[tensor], 1).unwrap_err();
        assert!(refused.contains(words) && refused.contains("input 0 ("), "{refused}");
        release(&[tensor]);
    }
    assert!(run(model, &[], 1).unwrap_err().contains("input_count is 0; the model has 1 inputs"));
    assert!(run(model, &[12345], 1).unwrap_err().contains("inputs[0]"));
    assert!(run(7, &[12345], 1).unwrap_err().contains("no model"));
    assert_eq!(live(), before);
    let tensor = of(2, 256, 0).tensor();
    let mut output = [0];
    // SAFETY: the arrays have their lengths.
    assert_ne!(unsafe { sconce_model_run_graph(model, &tensor, 1, output.as_mut_ptr(), 1) }, 0);
    assert!(message().contains("no graphs"), "{}", message());
    release(&[tensor]);
    assert_eq!(sconce_model_unload(model), 0);
    assert_ne!(sconce_model_unload(model), 0);
}

#[test]
fn threads_run_one_model_and_results_go_to_given_tensors() {
    let Some(folder) = models() else { return };
    let (inputs, outputs) = recorded(&folder, "cpu_two");
    let model = load_model(&folder.join("cpu_two.pt2")).unwrap();
    let before = live();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let tensors: Vec<usize> = inputs.iter().map(Recorded::tensor).collect();
                let into: Vec<usize> = outputs.iter().map(Recorded::tensor).collect();
                for _ in 0..50 {
                    run_model_into(model, &tensors, &into).unwrap();
                }
                outputs
                    .iter()
                    .zip(&into)
                    .for_each(|(recorded, tensor)| recorded.compare(*tensor, "of a thread"));
                release(&tensors);
                release(&into);
            });
        }
    });
    assert_eq!(live(), before);
    assert_eq!(sconce_model_unload(model), 0);
}

#[test]
fn constants_are_replaced_and_swapped() {
    let Some(folder) = models() else { return };
    let (inputs, outputs) = recorded(&folder, "cpu_mlp");
    let before = live();
    let model = load_model(&folder.join("cpu_mlp.pt2")).unwrap();
    let tensor = inputs[0].tensor();
    // Without weights and bias the last layer returns 0 for all, and softmax 1/64.
    let zeros = |shape: &[i64]| Recorded {
        dtype: 0,
        shape: shape.to_vec(),
        bytes: vec![0; 4 * shape.iter().product::<i64>() as usize],
    };
    let (weight, bias) = (zeros(&[64, 512]).tensor(), zeros(&[64]).tensor());
    let why = update_constants(model, &[("nothing", bias)], false).unwrap_err();
    assert!(why.contains("no constant \"nothing\""), "{why}");
    update_constants(model, &[("f.3.bias", weight)], false).unwrap_err();
    update_constants(model, &[("f.3.weight", weight), ("f.3.bias", bias)], false).unwrap();
    release(&[weight, bias]);
    let results = run(model, &[tensor], 1).unwrap();
    let mut bytes = vec![0_u8; 32 * 64 * 4];
    read_values(results[0], &mut bytes);
    let read = |four: &[u8]| f32::from_le_bytes(four.try_into().unwrap());
    let values: Vec<f32> = bytes.chunks_exact(4).map(read).collect();
    assert!(values.iter().all(|value| (value - 1.0 / 64.0).abs() < 1e-7));
    assert_ne!(f32::from_le_bytes(outputs[0].bytes[..4].try_into().unwrap()), values[0]);
    release(&results);
    release(&[tensor]);
    assert_eq!(sconce_model_unload(model), 0);
    swap_constants(model).unwrap_err();
    assert_eq!(live(), before);
}

#[test]
fn a_model_of_cuda_is_refused_on_simulated_devices() {
    let Some(folder) = models() else { return };
    shared::set_variable("SCONCE_BACKEND", "sim");
    let refused = load_model(&folder.join("mlp.pt2")).unwrap_err();
    assert!(refused.contains("the devices of this process are simulated"), "{refused}");
}

/// It could not run on simulated devices either.
#[test]
fn a_model_of_cuda_without_a_gpu_is_not_told_to_use_simulated_devices() {
    let Some(folder) = models() else { return };
    for (name, value) in [("SCONCE_BACKEND", "auto"), ("CUDA_VISIBLE_DEVICES", "")] {
        shared::set_variable(name, value);
    }
    let refused = load_model(&folder.join("mlp.pt2")).unwrap_err();
    assert!(refused.contains("compiled for CUDA, and no CUDA device is available ("), "{refused}");
    assert!(refused.contains("compile the model for the CPU"), "{refused}");
    assert!(!refused.contains("SCONCE_BACKEND") && !refused.contains("simulated"), "{refused}");
}

/// `sconce_model_output`.
#[repr(C)]
struct Output {
    struct_size: u32,
    dtype: i32,
    rank: i32,
    reserved: i32,
    least: [i64; 8],
    most: [i64; 8],
}

#[test]
fn outputs_are_what_pytorch_returned() {
    let Some(folder) = models() else { return };
    for name in ["cpu_mlp", "cpu_conv", "cpu_two", "cpu_llama"] {
        let (_, outputs) = recorded(&folder, name);
        let model = load_model(&folder.join(format!("{name}.pt2"))).unwrap();
        for (index, recorded) in outputs.iter().enumerate() {
            let size = size_of::<Output>() as u32;
            let (least, most) = ([0; 8], [0; 8]);
            let mut output =
                Output { struct_size: size, dtype: 0, rank: 0, reserved: 0, least, most };
            // SAFETY: the struct is valid for a write, and no name is asked for.
            let status = unsafe { sconce_model_get_output(model, index, &mut output, null_mut()) };
            assert_eq!(status, 0, "{}", message());
            assert_eq!(output.dtype, recorded.dtype, "{name}, output {index}");
            assert_eq!(output.rank as usize, recorded.shape.len(), "{name}, output {index}");
            for (dim, size) in recorded.shape.iter().enumerate() {
                let range = output.least[dim]..=output.most[dim];
                assert!(range.contains(size), "{name}, output {index}: {range:?}, {size}");
                let is_dynamic = name == "cpu_mlp" && dim == 0;
                assert_eq!(range, if is_dynamic { 2..=64 } else { *size..=*size }, "{name}");
            }
        }
        assert_eq!(sconce_model_unload(model), 0);
    }
}

#[test]
fn models_of_cuda_are_inspected_without_a_device() {
    let Some(folder) = models() else { return };
    shared::set_variable("SCONCE_BACKEND", "sim");
    for (name, words) in [
        ("mlp", &["compiled for: cuda", "input 0: float32[2..64, 256] on cuda"] as &[_]),
        ("two", &["input 1: ", "output 2: float32[6, 9, 32] on cuda"]),
        ("cpu_mlp", &["compiled for: cpu", "output 0: float32[2..64, 64] on cpu"]),
    ] {
        let path = folder.join(format!("{name}.pt2"));
        let path = std::ffi::CString::new(path.to_str().unwrap()).unwrap();
        let mut text = null_mut();
        // SAFETY: the path ends with NUL, and the place is valid for a write.
        let status = unsafe { sconce_model_inspect(path.as_ptr(), std::ptr::null(), &mut text) };
        assert_eq!(status, 0, "{}", message());
        // SAFETY: the call succeeded, so it is a text.
        let found = unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned();
        // SAFETY: freed once.
        unsafe { sconce_torch_string_free(text) };
        for part in words.iter().chain(&["of PyTorch's ABI"]) {
            assert!(found.contains(part), "{name}: {part}\n{found}");
        }
        assert!(!found.contains("missing"), "{found}");
    }
}

#[test]
fn a_model_says_what_it_is() {
    let Some(folder) = models() else { return };
    let model = load_model(&folder.join("cpu_mlp.pt2")).unwrap();
    let words = described(model);
    for part in [
        "float32[2..64, 256] on cpu",
        "output0 float32[2..64, 64] on cpu",
        "constant f.3.bias: float32, 256 bytes",
        "AOTI_DEVICE_KEY: cpu",
    ] {
        assert!(words.contains(part), "{words}");
    }
    assert_eq!(sconce_model_unload(model), 0);
}
