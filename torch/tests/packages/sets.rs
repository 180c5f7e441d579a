//! Both sets of a model's constants, in every order of calls.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use super::shared::{
    F32, as_strided, live, load_model, message, ok, read_values, release, run_model,
    sconce_model_unload, swap_constants as swap, tensor, update_constants as update,
};
use super::{compiled_from, folder};

#[link(name = "sconce_torch")]
unsafe extern "C" {
    safe fn sconce_model_free_inactive_constants(model: usize) -> i32;
}

/// The model of `sets.cpp`, with the source that says how its constants lie.
pub(super) fn library(folder: &Path, flags: &[&str]) -> PathBuf {
    let source = "constants_info_[0].name = \"w\";\nconstants_info_[0].shape = {2, 3};\n\
        constants_info_[0].stride = {1, 2};\nconstants_info_[1].name = \"b\";\n\
        constants_info_[1].shape = {3};\nconstants_info_[1].stride = {1};\n";
    if flags.contains(&"-DEMPTY") {
        std::fs::write(folder.join("model.cpp"), source).unwrap();
    }
    compiled_from(folder, "sets.cpp", flags)
}

/// A run, which returns the handles of all outputs.
pub(super) fn run(model: usize, input: usize) -> Result<[usize; 5], String> {
    let mut outputs = [0; 5];
    run_model(model, &[input], &mut outputs)?;
    Ok(outputs)
}

/// Takes the values from the inactive set.
fn free(model: usize) -> Result<(), String> {
    ok(sconce_model_free_inactive_constants(model))
}

/// The first output of a run.
fn sum(model: usize) -> Result<[f32; 6], String> {
    let input = tensor(&[0.0_f32], F32, &[1]);
    let result = run(model, input).map(|outputs| {
        let mut values = [0.0; 6];
        read_values(outputs[0], &mut values);
        outputs.into_iter().for_each(release);
        values
    });
    release(input);
    result
}

pub(super) fn unload(model: usize) {
    assert_eq!(sconce_model_unload(model), 0, "{}", message());
}

/// What both sets have by the rules of the header.
#[derive(Default)]
struct Sets {
    sets: [BTreeMap<&'static str, f32>; 2],
    filled: [bool; 2],
    active: usize,
}

/// The sum of a weight of `weight`, `weight + 1` and so on in memory, and a shift of one value.
fn expected(weight: f32, shift: f32) -> [f32; 6] {
    [0.0, 2.0, 4.0, 1.0, 3.0, 5.0].map(|place: f32| weight + place + shift)
}

/// A weight whose elements count up in the order in which the model keeps them.
fn weight(first: f32) -> usize {
    let values = [0.0, 2.0, 4.0, 1.0, 3.0, 5.0].map(|place: f32| first + place);
    tensor(&values, F32, &[2, 3])
}

impl Sets {
    /// What an update of a set must do: the reason of a refusal.
    fn update(
        &mut self,
        given: &[(&'static str, f32)],
        inactive: bool,
    ) -> Result<(), &'static str> {
        let other = self.sets[self.active].get("b").copied();
        let set = if inactive { 1 - self.active } else { self.active };
        let passed = given.iter().any(|(name, _)| *name == "b");
        if inactive && !passed && !self.sets[set].contains_key("b") {
            let copied = other.ok_or("has no value in either set")?;
            self.sets[set].insert("b", copied);
        }
        self.sets[set].extend(given.iter().copied());
        self.filled[set] = true;
        Ok(())
    }

    fn swap(&mut self) -> Result<(), &'static str> {
        let set = 1 - self.active;
        match (self.filled[set], self.sets[set].len()) {
            (false, _) => Err("the inactive set of constants has no values"),
            (true, 2) => {
                self.active = set;
                Ok(())
            }
            _ => Err("of the constants of the inactive set have no values, such as layer."),
        }
    }

    fn free(&mut self) {
        self.sets[1 - self.active].clear();
        self.filled[1 - self.active] = false;
    }

    fn run(&self) -> Result<[f32; 6], &'static str> {
        let set = &self.sets[self.active];
        match (set.get("w"), set.get("b")) {
            (Some(&weight), Some(&shift)) => Ok(expected(weight, shift)),
            _ => Err("of the model's constants have no values, such as "),
        }
    }
}

fn same<T: PartialEq + std::fmt::Debug>(
    ours: Result<T, String>,
    expected: Result<T, &'static str>,
    what: &str,
) {
    match (ours, expected) {
        (Ok(ours), Ok(expected)) => assert_eq!(ours, expected, "{what}"),
        (Err(why), Err(words)) => assert!(why.contains(words), "{what}: {why}"),
        (ours, expected) => panic!("{what}: {ours:?} instead of {expected:?}"),
    }
}

#[test]
fn sets_of_constants_are_right_in_every_order_of_calls() {
    for (flags, seed) in
        [(&[][..], 1_u64), (&["-DEMPTY"], 2), (&["-DLEAKS"], 3), (&["-DEMPTY", "-DLEAKS"], 4)]
    {
        // Each library has a path of its own, since it may stay open.
        let library = library(&folder(&format!("sets{seed}")), flags);
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut random = |below: u64| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 33) % below
        };
        let before = live();
        for script in 0..60 {
            let model = load_model(&library).unwrap();
            let mut sets = Sets::default();
            if !flags.contains(&"-DEMPTY") {
                sets.sets[0].extend([("w", 1.0)]);
                sets.filled[0] = true;
                // The library's own shift has three values; the script starts with one value.
                let shift = tensor(&[7.0_f32; 3], F32, &[3]);
                update(model, &[("layer.shift", shift)], false).unwrap();
                release(shift);
                sets.sets[0].extend([("b", 7.0)]);
            }
            let mut log = String::new();
            for step in 0..40 {
                let value = (1 + 10 * random(100)) as f32;
                let what = random(10);
                log += &format!(" {what}");
                let log = format!("{flags:?}, script {script}, step {step}:{log}");
                match what {
                    0..=5 => {
                        let inactive = what >= 2;
                        let (w, b) = (weight(value), tensor(&[value; 3], F32, &[3]));
                        let all = [("layer.weight", w), ("b", b)];
                        let (ours, theirs): (&[_], &[_]) = match random(3) {
                            0 => (&all, &[("w", value), ("b", value)]),
                            1 => (&all[..1], &[("w", value)]),
                            _ => (&all[1..], &[("b", value)]),
                        };
                        same(update(model, ours, inactive), sets.update(theirs, inactive), &log);
                        release(w);
                        release(b);
                    }
                    6 | 7 => same(swap(model), sets.swap(), &log),
                    8 => {
                        free(model).unwrap();
                        sets.free();
                    }
                    _ => {}
                }
                same(sum(model), sets.run(), &log);
            }
            unload(model);
        }
        assert_eq!(live(), before, "{flags:?} leaks tensors");
    }
}

#[test]
fn constants_that_do_not_fit_are_refused_in_words() {
    let folder = folder("sets_refused");
    let model = load_model(&library(&folder, &[])).unwrap();
    let before = live();
    let [two, three, six] =
        [2, 3, 6].map(|count: i64| tensor(&vec![1.0_f32; count as usize], F32, &[count]));
    let turned = tensor(&[1.0_f32; 6], F32, &[3, 2]);
    let right = weight(1.0);
    let integers = tensor(&[1_i32; 6], 6, &[2, 3]);
    for (given, words) in [
        (
            &[("layer.weight", six)][..],
            "float32[6] on cpu was passed for the constant layer.weight, which is float32[2, 3]",
        ),
        (&[("w", turned)], "float32[3, 2] on cpu was passed"),
        (&[("layer.shift", two)], "which is float32[3]"),
        (&[("w", integers)], "int32[2, 3] on cpu was passed"),
        (&[("layer.weight", right), ("w", right)], "\"w\" is passed twice in one call"),
        (&[("layer.shift", three), ("layer.weight", turned)], "which is float32[2, 3]"),
        (&[("weight", right)], "names[0]: the model has no constant \"weight\""),
        (&[("layer.weight", right), ("x", right)], "names[1]: the model has no constant \"x\""),
        (&[("layer.weight", 0)], "tensors[0] is NULL"),
        (&[("layer.weight", right), ("b", 12345)], "tensors[1] is not a tensor"),
    ] {
        for inactive in [false, true] {
            let why = update(model, given, inactive).unwrap_err();
            assert!(why.contains(words), "expected {words:?} in {why:?}");
        }
    }
    for (input, words) in [(0, "inputs[0] is NULL"), (12345, "inputs[0] is not a tensor")] {
        let why = run(model, input).unwrap_err();
        assert!(why.contains(words), "expected {words:?} in {why:?}");
    }
    assert_eq!(
        sum(model).unwrap(),
        [11.0, 23.0, 35.0, 12.0, 24.0, 36.0],
        "a refused update changed something"
    );
    // Elements in another order are copied into the order of the model.
    let base =
        tensor(&[1.0_f32, 0.0, 2.0, 0.0, 3.0, 0.0, 4.0, 0.0, 5.0, 0.0, 6.0, 0.0], F32, &[12]);
    let strided = as_strided(base, &[2, 3], &[2, 4]);
    update(model, &[("w", strided)], false).unwrap();
    assert_eq!(sum(model).unwrap(), [11.0, 23.0, 35.0, 12.0, 24.0, 36.0]);
    for handle in [two, three, six, turned, right, integers, base, strided] {
        release(handle);
    }
    assert_eq!(sum(model).unwrap(), [11.0, 23.0, 35.0, 12.0, 24.0, 36.0]);
    assert!(live() > before, "the model keeps no tensor of its own");
    unload(model);
}

#[test]
fn runs_beside_updates_and_swaps_read_one_set() {
    let folder = folder("sets_threads");
    let model = load_model(&library(&folder, &[])).unwrap();
    let set = |first: f32, inactive| {
        let (w, b) = (weight(first), tensor(&[1000.0 * first; 3], F32, &[3]));
        update(model, &[("w", w), ("b", b)], inactive).unwrap();
        release(w);
        release(b);
    };
    set(1.0, false);
    let ends = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !ends.load(Ordering::Relaxed) {
                    let values = sum(model).unwrap();
                    let first = (values[0] / 1001.0).round();
                    assert_eq!(values, expected(first, 1000.0 * first), "of two sets");
                }
            });
        }
        for turn in 2..200 {
            set(turn as f32, turn % 3 != 0);
            if turn % 3 == 1 {
                swap(model).unwrap();
                free(model).unwrap();
            }
        }
        ends.store(true, Ordering::Relaxed);
    });
    unload(model);
}
