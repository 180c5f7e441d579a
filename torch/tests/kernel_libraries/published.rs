//! Operators of torchvision and torchaudio, whose wheels are fetched with pip; beside what is worked out by hand.

use std::ffi::CString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::MutexGuard;

use super::shared::{live, numel, release, tensor as typed_tensor};
use super::{
    ONE_AT_A_TIME, call, elements, find, integer, load, real, release_all, tensor, tensor_value,
    text, truth, unload,
};

/// Fetches a package and returns the folder that has its files.
fn package(name: &str, version: &str, file: &str) -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{version}"));
    if !folder.join(file).exists() {
        let output = Command::new("python3")
            .args(["-m", "pip", "install", "--quiet", "--no-deps", "--disable-pip-version-check"])
            .args(["--only-binary", ":all:", "--target"])
            .arg(&folder)
            .arg(format!("{name}=={version}"))
            .output()
            .ok()?;
        if !output.status.success() {
            return None;
        }
    }
    folder.join(file).exists().then_some(folder)
}

/// The CUDA runtime, which published libraries need to be opened.
const RUNTIME: &str = "nvidia/cu13/lib/libcudart.so.13";

/// A library of a published wheel, with the lock that its tests hold.
struct Published {
    library: usize,
    before: usize,
    _alone: MutexGuard<'static, ()>,
}

impl Published {
    fn open(name: &str, version: &str, file: &str) -> Option<Published> {
        let alone = ONE_AT_A_TIME.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let found =
            package(name, version, file).zip(package("nvidia-cuda-runtime", "13.5.37", RUNTIME));
        let Some((wheel, runtime)) = found else {
            println!("skipped: {name} {version} and a CUDA runtime could not be fetched with pip");
            return None;
        };
        crate::shared::set_variable("SCONCE_LIBCUDART", runtime.join(RUNTIME));
        let library = load(&wheel.join(file)).unwrap();
        Some(Published { library, before: live(), _alone: alone })
    }
}

impl Drop for Published {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            assert_eq!(live(), self.before, "tensors are left");
        }
        unload(self.library);
    }
}

fn whole<T: Copy>(values: &[T], sizes: &[i64]) -> usize {
    // `SCONCE_DTYPE_I32`, `SCONCE_DTYPE_I64` and `SCONCE_DTYPE_U8` by the size of an element.
    let dtype = match size_of::<T>() {
        1 => 8,
        4 => 6,
        _ => 7,
    };
    typed_tensor(values, dtype, sizes)
}

fn assert_near(found: &[f32], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((f64::from(*found) - expected).abs() < 1e-5, "{found} instead of {expected}");
    }
}

#[test]
fn operators_of_torchvision_calculate_what_is_worked_out_by_hand() {
    let Some(_opened) = Published::open("torchvision", "0.29.2", "torchvision/_C_stable.so") else {
        return;
    };

    // Means of quarters of a 4x4 ramp.
    let ramp: Vec<f32> = (0..16_u8).map(f32::from).collect();
    let (input, rois) = (tensor(&ramp, &[1, 1, 4, 4]), tensor(&[0.0, 0.0, 0.0, 4.0, 4.0], &[1, 5]));
    let align = find(c"torchvision::roi_align").unwrap();
    let (scale, two) = (real(1.0), integer(2));
    let arguments = [tensor_value(input), tensor_value(rois), scale, two, two, two, truth(true)];
    let results = call(align, &arguments).unwrap();
    assert_eq!(elements::<f32>(results[0].tensor), [2.5, 4.5, 10.5, 12.5]);
    release_all(results);

    // The first two boxes share 81 of 119 units of area.
    let boxes = tensor(&[0., 0., 10., 10., 1., 1., 11., 11., 20., 20., 30., 30.], &[3, 4]);
    let scores = tensor(&[0.9, 0.8, 0.95], &[3]);
    let nms = find(c"torchvision::nms").unwrap();
    for (threshold, kept) in [(0.5, vec![2_i64, 0]), (0.7, vec![2, 0, 1])] {
        let arguments = [tensor_value(boxes), tensor_value(scores), real(threshold)];
        let results = call(nms, &arguments).unwrap();
        assert_eq!(elements::<i64>(results[0].tensor), kept);
        release_all(results);
    }
    // The kernel's own check is an exception, whose text arrives.
    let why = call(nms, &[tensor_value(scores), tensor_value(scores), real(0.5)])
        .map(|_| ())
        .unwrap_err();
    assert!(why.contains("boxes should be a 2d tensor"), "{why}");

    for tensor in [input, rois, boxes, scores] {
        release(tensor);
    }
}

#[test]
fn images_are_written_encoded_and_read_again() {
    let Some(_opened) = Published::open("torchvision", "0.29.2", "torchvision/image_stable.so")
    else {
        return;
    };
    // Three channels of 5 rows and 7 columns.
    let pixels: Vec<u8> = (0..105_u32).map(|at| (at * 37 % 251) as u8).collect();
    let image = whole(&pixels, &[3, 5, 7]);
    let encode = find(c"image::encode_png").unwrap();
    let encoded = call(encode, &[tensor_value(image), integer(6)]).unwrap();
    let bytes: Vec<u8> = elements(encoded[0].tensor);
    assert_eq!(bytes[..8], *b"\x89PNG\r\n\x1a\n");

    let folder = std::env::temp_dir().join(format!("sconce-images-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("image.png");
    let name = CString::new(path.to_str().unwrap()).unwrap();
    let write = find(c"image::write_file").unwrap();
    release_all(call(write, &[text(&name), tensor_value(encoded[0].tensor)]).unwrap());
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
    release_all(encoded);
    let read = call(find(c"image::read_file").unwrap(), &[text(&name)]).unwrap();
    let decode = find(c"image::decode_png").unwrap();
    let decoded = call(decode, &[tensor_value(read[0].tensor), integer(0)]).unwrap();
    assert_eq!(elements::<u8>(decoded[0].tensor), pixels);
    release_all(decoded);
    release_all(read);

    std::fs::write(&path, b"no image").unwrap();
    let read = call(find(c"image::read_file").unwrap(), &[text(&name)]).unwrap();
    let refused = call(decode, &[tensor_value(read[0].tensor), integer(0)]);
    let why = refused.map(|_| ()).unwrap_err();
    assert!(why.contains("Content is not png"), "{why}");
    release_all(read);
    std::fs::remove_dir_all(&folder).unwrap();
    let missing = call(find(c"image::read_file").unwrap(), &[text(&name)]);
    assert!(missing.map(|_| ()).unwrap_err().contains("No such file"));
    release(image);
}

fn torchaudio() -> Option<Published> {
    Published::open("torchaudio", "2.11.0", "torchaudio/lib/libtorchaudio.abi3.so")
}

#[test]
fn filters_of_torchaudio_calculate_what_is_worked_out_by_hand() {
    let Some(_opened) = torchaudio() else { return };
    // y[t] = x[t] + y[t-1] / 2, with one element before the first.
    let input = tensor(&[1.0, 0.0, 0.0, 2.0], &[1, 1, 4]);
    let coefficients = tensor(&[-0.5, 1.0], &[1, 2]);
    let output = tensor(&[0.0; 5], &[1, 1, 5]);
    let filter = find(c"torchaudio::_lfilter_core_loop").unwrap();
    let arguments = [tensor_value(input), tensor_value(coefficients), tensor_value(output)];
    release_all(call(filter, &arguments).unwrap());
    assert_eq!(elements::<f32>(output), [0.0, 1.0, 0.5, 0.25, 2.125]);

    // Each step: out = x - before + 0.995 out; the result is half of the wave and three quarters of that.
    let (wave, distorted) = (tensor(&[1.0, 2.0], &[1, 2]), tensor(&[1.0, 0.5], &[1, 2]));
    let (last_in, last_out) = (tensor(&[0.0], &[1]), tensor(&[0.0], &[1]));
    let result = tensor(&[0.0; 2], &[1, 2]);
    let overdrive = find(c"torchaudio::_overdrive_core_loop").unwrap();
    let arguments = [wave, distorted, last_in, last_out, result].map(tensor_value);
    release_all(call(overdrive, &arguments).unwrap());
    assert_near(&elements::<f32>(result), &[1.25, 1.0 + 0.75 * 0.495]);
    for tensor in [input, coefficients, output, wave, distorted, last_in, last_out, result] {
        release(tensor);
    }
}

#[test]
fn the_best_alignment_is_found() {
    let Some(_opened) = torchaudio() else { return };
    const STEPS: usize = 5;
    const LABELS: usize = 4;
    let scores: Vec<f32> =
        (0..STEPS * LABELS).map(|at| -((at * 29 % 23) as f32) / 4.0 - 0.125).collect();
    let targets = [2_i64, 1];
    // All sequences whose repeats and blanks fall away to the targets.
    let mut best = (f32::NEG_INFINITY, Vec::new());
    for number in 0..LABELS.pow(STEPS as u32) {
        let path: Vec<usize> =
            (0..STEPS).map(|step| number / LABELS.pow(step as u32) % LABELS).collect();
        let mut labels: Vec<usize> = path.clone();
        labels.dedup();
        labels.retain(|label| *label != 0);
        if labels.iter().map(|label| *label as i64).eq(targets) {
            let score = path.iter().enumerate().map(|(step, label)| scores[step * LABELS + label]);
            let score = score.sum();
            if score > best.0 {
                best = (score, path);
            }
        }
    }
    let log_probs = tensor(&scores, &[1, STEPS as i64, LABELS as i64]);
    let wanted = whole(&targets, &[1, 2]);
    let (steps, lengths) = (whole(&[STEPS as i64], &[1]), whole(&[2_i64], &[1]));
    let align = find(c"torchaudio::forced_align").unwrap();
    let arguments = [log_probs, wanted, steps, lengths].map(tensor_value);
    let arguments = [&arguments[..], &[integer(0)]].concat();
    let results = call(align, &arguments).unwrap();
    let path: Vec<usize> =
        elements::<i64>(results[0].tensor).into_iter().map(|label| label as usize).collect();
    assert_eq!(path, best.1);
    // The second result is the scores themselves, of which the path chooses.
    assert_eq!(elements::<f32>(results[1].tensor), scores);
    release_all(results);
    let refused = call(align, &[&arguments[..4], &[integer(-1)]].concat());
    assert!(refused.map(|_| ()).unwrap_err().contains("blank"));
    for tensor in [log_probs, wanted, steps, lengths] {
        release(tensor);
    }
}

#[test]
fn the_loss_of_a_transducer_is_the_sum_over_its_lattice() {
    let Some(_opened) = torchaudio() else { return };
    const STEPS: usize = 4;
    const PLACES: usize = 3;
    const LABELS: usize = 3;
    let logits: Vec<f32> =
        (0..STEPS * PLACES * LABELS).map(|at| (at * 17 % 13) as f32 / 6.0 - 1.0).collect();
    let targets = [1_i32, 2];
    let log_prob = |step: usize, place: usize, label: usize| -> f64 {
        let row = &logits[(step * PLACES + place) * LABELS..][..LABELS];
        let sum: f64 = row.iter().map(|value| f64::from(*value).exp()).sum();
        f64::from(row[label]) - sum.ln()
    };
    // The probability of being at a step with so many labels.
    let mut reached = [[0.0_f64; PLACES]; STEPS];
    for step in 0..STEPS {
        for place in 0..PLACES {
            reached[step][place] = match (step, place) {
                (0, 0) => 1.0,
                _ => {
                    let blank = step.checked_sub(1).map_or(0.0, |before| {
                        reached[before][place] * log_prob(before, place, 0).exp()
                    });
                    blank
                        + place.checked_sub(1).map_or(0.0, |before| {
                            let label = targets[before] as usize;
                            reached[step][before] * log_prob(step, before, label).exp()
                        })
                }
            };
        }
    }
    let last = reached[STEPS - 1][PLACES - 1] * log_prob(STEPS - 1, PLACES - 1, 0).exp();

    let values = tensor(&logits, &[1, STEPS as i64, PLACES as i64, LABELS as i64]);
    let wanted = whole(&targets, &[1, 2]);
    let (steps, lengths) = (whole(&[STEPS as i32], &[1]), whole(&[2_i32], &[1]));
    let loss = find(c"torchaudio::rnnt_loss_forward").unwrap();
    let tensors = [values, wanted, steps, lengths].map(tensor_value);
    let arguments = [&tensors[..], &[integer(0), real(-1.0), truth(true)]].concat();
    let results = call(loss, &arguments).unwrap();
    assert_near(&elements::<f32>(results[0].tensor), &[-last.ln()]);
    assert_eq!(numel(results[1].tensor), (STEPS * PLACES * LABELS) as i64);
    release_all(results);
    let wrong = [&tensors[..], &[integer(7), real(-1.0), truth(true)]].concat();
    assert!(call(loss, &wrong).map(|_| ()).unwrap_err().contains("blank"));
    for tensor in [values, wanted, steps, lengths] {
        release(tensor);
    }
}
