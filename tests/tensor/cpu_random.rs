//! Random fills of tensors of the CPU, beside what PyTorch 2.11 recorded, and the generators of the CPU.

use std::ptr::null_mut;

use sconce::sconce_status::*;
use sconce::*;
use testkit::places::alone;
use testkit::simulated::generator;

use crate::api::{CPU, Handle, dtype_of, options, outcome, refusal, returned, written};
use crate::create::{empty, empty_strided};

type Generator = *mut sconce_generator;
type State = [u8; SCONCE_GENERATOR_CPU_STATE_BYTES];

const RECORDED: &str = include_str!("../golden/cpu_random.txt");

/// A generator of the CPU, of the test's own.
pub(crate) fn cpu_generator(seed: u64) -> Generator {
    testkit::simulated::runtime();
    // SAFETY: a writable place.
    let generator =
        written(null_mut(), |out| unsafe { sconce_generator_create(CPU, out) }).unwrap();
    outcome(sconce_generator_set_seed(generator, seed)).unwrap();
    generator
}

pub(crate) fn cpu_state(generator: Generator) -> State {
    let mut state = [0; SCONCE_GENERATOR_CPU_STATE_BYTES];
    // SAFETY: so many writable bytes.
    outcome(unsafe { sconce_generator_get_cpu_state(generator, state.as_mut_ptr()) }).unwrap();
    state
}

/// The tensor of a recorded line, filled from a generator.
fn filled(words: &[&str], generator: Generator) -> Handle {
    let (dtype, n) = (dtype_of(words[2]), words[5].parse().unwrap());
    let own = options(dtype, CPU);
    if words[1] == "randperm" {
        // SAFETY: valid options and a writable place.
        return returned(|out| unsafe {
            sconce_tensor_randperm(n, generator, &raw const own, out)
        })
        .unwrap();
    }
    let tensor = match words[6] {
        "1" => empty(&[n], &own).unwrap(),
        _ => empty_strided(&[n], &[2], &own).unwrap(),
    };
    let [a, b] = [3, 4].map(|index| words[index].parse::<f64>().unwrap());
    let raw = tensor.raw();
    outcome(match words[1] {
        "uniform" => sconce_tensor_uniform(raw, a, b, generator),
        "normal" => sconce_tensor_normal(raw, a, b, generator),
        "log_normal" => sconce_tensor_log_normal(raw, a, b, generator),
        "exponential" => sconce_tensor_exponential(raw, a, generator),
        "cauchy" => sconce_tensor_cauchy(raw, a, b, generator),
        "geometric" => sconce_tensor_geometric(raw, a, generator),
        "bernoulli" => sconce_tensor_bernoulli(raw, a, generator),
        "random" => sconce_tensor_random(raw, generator),
        _ => {
            let [low, high] = [3, 4].map(|index| words[index].parse().unwrap());
            sconce_tensor_random_integers(raw, low, high, generator)
        }
    })
    .unwrap();
    tensor
}

#[test]
fn fills_of_the_cpu_are_those_of_torch() {
    let _one = alone();
    let mut compared = 0;
    for line in RECORDED.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let generator = cpu_generator(words[0].parse().unwrap());
        let mut bytes = filled(&words, generator).bytes().unwrap();
        bytes.extend(filled(&words, generator).bytes().unwrap());
        let state = sconce_base::sha256::hex(&cpu_state(generator));
        let found = match words[8].starts_with('#') {
            true => format!("#{}", sconce_base::sha256::hex(&bytes)),
            false => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
        };
        assert_eq!((&found[..], &state[..16]), (words[8], words[7]), "{}", words[..7].join(" "));
        outcome(sconce_generator_destroy(generator)).unwrap();
        compared += 1;
    }
    assert!(compared > 600, "only {compared}");
}

#[test]
fn one_seed_for_the_cpu_and_every_device() {
    let _one = alone();
    let draw = |device| {
        let tensor = empty(&[40], &options(SCONCE_DTYPE_F32, device)).unwrap();
        outcome(sconce_tensor_normal(tensor.raw(), 0.0, 1.0, null_mut())).unwrap();
        tensor.bytes().unwrap()
    };
    outcome(sconce_random_manual_seed_everywhere(11)).unwrap();
    let first = [CPU, 0, 1].map(draw);
    assert!([CPU, 0, 1].map(draw) != first);
    outcome(sconce_random_manual_seed_everywhere(11)).unwrap();
    assert!([CPU, 0, 1].map(draw) == first);
    // The other calls seed devices only.
    let before = [CPU, 0].map(draw);
    outcome(sconce_random_manual_seed_everywhere(11)).unwrap();
    drop(draw(CPU));
    outcome(sconce_random_manual_seed_all(12)).unwrap();
    assert!(draw(CPU) == before[0] && draw(0) != before[1]);
    let own = cpu_generator(11);
    let tensor = empty(&[40], &options(SCONCE_DTYPE_F32, CPU)).unwrap();
    outcome(sconce_tensor_normal(tensor.raw(), 0.0, 1.0, own)).unwrap();
    assert!(tensor.bytes().unwrap() == first[0]);
    outcome(sconce_generator_destroy(own)).unwrap();
}

#[test]
fn fills_keep_to_the_order_in_memory() {
    let _one = alone();
    let own = options(SCONCE_DTYPE_F32, CPU);
    let fill = |tensor: Handle| {
        let generator = cpu_generator(5);
        outcome(sconce_tensor_uniform(tensor.raw(), 0.0, 1.0, generator)).unwrap();
        outcome(sconce_generator_destroy(generator)).unwrap();
        tensor
    };
    let plain = fill(empty(&[4, 6], &own).unwrap());
    let turned = fill(empty_strided(&[6, 4], &[1, 6], &own).unwrap());
    assert_eq!(turned.permute(&[1, 0]).unwrap().f32s(), plain.f32s());
    let gaps = fill(empty_strided(&[6, 4], &[2, 20], &own).unwrap());
    assert_eq!(gaps.permute(&[1, 0]).unwrap().f32s(), plain.f32s());
}

#[test]
fn states_of_generators_of_the_cpu_go_there_and_back() {
    let _one = alone();
    let own = cpu_generator(u64::MAX);
    let normal = |generator| {
        let tensor = empty(&[3], &options(SCONCE_DTYPE_F64, CPU)).unwrap();
        outcome(sconce_tensor_normal(tensor.raw(), 0.0, 1.0, generator)).unwrap();
        tensor.bytes().unwrap()
    };
    // The second half of a pair of normal numbers is part of the state.
    normal(own);
    let state = cpu_state(own);
    // SAFETY: a writable place.
    let clone = written(null_mut(), |out| unsafe { sconce_generator_clone(own, out) }).unwrap();
    let next = normal(own);
    assert!(normal(clone) == next && normal(clone) != next);
    let set_state = |state: &[u8]| {
        // SAFETY: the call is passed the state's length.
        outcome(unsafe { sconce_generator_set_state(own, state.as_ptr(), state.len()) })
    };
    set_state(&state).unwrap();
    assert!(normal(own) == next);
    let initial_seed = || {
        // SAFETY: a writable place.
        written(0, |out| unsafe { sconce_generator_get_initial_seed(own, out) }).unwrap()
    };
    assert_eq!(initial_seed(), u64::MAX);
    // SAFETY: a writable place.
    let device = written(0, |out| unsafe { sconce_generator_get_device(own, out) });
    assert_eq!(device, Ok(CPU));
    // SAFETY: a writable place.
    let seed = written(0, |out| unsafe { sconce_generator_seed(own, out) });
    assert_eq!(seed, Ok(initial_seed()));
    let before = cpu_state(own);
    for (place, spoilt) in [(8, 0), (8, 200), (9, 9), (12, 0), (16, 3), (20, 1)] {
        let mut bytes = state;
        bytes[place] = spoilt;
        assert!(refusal(set_state(&bytes)).contains("Invalid mt19937 state"), "{place}");
    }
    for length in [0, 8, 16, 5055] {
        let text = refusal(set_state(&state[..length]));
        assert!(text.contains("RNG state is wrong size"), "{length}");
    }
    assert!(refusal(set_state(&[0; 5057])).contains("RNG state is wrong size"));
    assert!(cpu_state(own) == before);
    outcome(sconce_generator_destroy(clone)).unwrap();
    outcome(sconce_generator_destroy(own)).unwrap();
}

#[test]
fn what_only_one_kind_of_generator_has() {
    let _one = alone();
    let (own, device) = (cpu_generator(1), generator(1));
    let crossed = |status| {
        assert_eq!(status, SCONCE_ERROR_CROSS_DEVICE, "{}", testkit::last_message());
    };
    let (mut number, mut other, mut bytes) = (7, 7, [7; SCONCE_GENERATOR_CPU_STATE_BYTES]);
    let mut philox = sconce_philox_state { seed: 7, offset: 7, device_state: std::ptr::null() };
    // SAFETY: a writable number.
    crossed(unsafe { sconce_generator_get_offset(own, &raw mut number) });
    // SAFETY: as many writable bytes as the longest state has.
    crossed(unsafe { sconce_generator_get_state(own, bytes.as_mut_ptr()) });
    // SAFETY: as many writable bytes as the longest state has.
    crossed(unsafe { sconce_generator_get_cpu_state(device, bytes.as_mut_ptr()) });
    // SAFETY: two writable numbers.
    let reserved =
        unsafe { sconce_generator_reserve_philox(own, 4, &raw mut number, &raw mut other) };
    crossed(reserved);
    // SAFETY: a writable struct.
    crossed(unsafe { sconce_generator_reserve_philox_state(own, 4, &raw mut philox) });
    crossed(sconce_generator_set_offset(own, 4));
    crossed(sconce_generator_prepare_capture(own));
    assert_eq!((number, other, philox.seed), (7, 7, 7));
    assert!(bytes.iter().all(|byte| *byte == 7));
    // SAFETY: a writable place.
    let default = written(null_mut(), |out| unsafe { sconce_generator_get_default(CPU, out) });
    let text = refusal(outcome(sconce_generator_destroy(default.unwrap())));
    assert!(text.contains("the default generator of the CPU"), "{text}");
    for generator in [own, device] {
        outcome(sconce_generator_destroy(generator)).unwrap();
    }
}
