//! Settings with hostile numbers, from the environment and from calls: the library starts or says why not, and later calls
//! return a status in little time and memory.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls functions by address")]

use sconce::*;

use crate::calls::{Arguments, Library};
use crate::limits::{MOST_CPU, cpu_time, in_process, limit_memory};
use crate::world::{Place, array, leaked, options};

/// Numbers as a person writes them.
const NUMBERS: [&str; 8] = [
    "0",
    "128",
    "65536",
    "2147483648",
    "4611686018427387904",
    "18446744073709551615",
    "99999999999999999999999999",
    "-1",
];

/// Variables, with `#` for a number.
const VARIABLES: &[(&str, &str)] = &[
    ("SCONCE_SIM_DEVICES", "#"),
    ("SCONCE_SIM_MEMORY", "#"),
    ("SCONCE_SIM_MEMORY", "#G"),
    ("SCONCE_SIM_SMS", "#"),
    ("SCONCE_SIM_THREADS_PER_SM", "#"),
    ("SCONCE_BLAS_WORKSPACE_MAX", "#"),
    ("SCONCE_BLAS_WORKSPACE_MAX", "#G"),
    ("CUBLAS_WORKSPACE_CONFIG", ":#:8"),
    ("CUBLAS_WORKSPACE_CONFIG", ":4096:#"),
    ("CUBLAS_WORKSPACE_CONFIG", ":#:#"),
    ("OMP_NUM_THREADS", "#"),
    ("OMP_THREAD_LIMIT", "#"),
    ("MKL_NUM_THREADS", "#"),
];

/// Keys of the allocator's configuration, with `#` for a number.
const KEYS: &[&str] = &[
    "max_split_size_mb:#",
    "max_non_split_rounding_mb:#",
    "large_segment_size_mb:#",
    "roundup_power2_divisions:#",
    "roundup_power2_divisions:[#:4,>:#]",
    "roundup_power2_divisions:[256:#,512:2]",
    "garbage_collection_threshold:#",
    "per_process_memory_fraction:#",
    "pinned_num_register_threads:#",
    "pinned_num_register_threads:#,pinned_use_cuda_host_register:True",
    "pinned_reserve_segment_size_mb:#",
    "pinned_max_round_threshold_mb:#",
    "pinned_max_cached_size_mb:#",
];

/// Says how far a program came, if that is wrong.
fn status(library: Library, function: &str, words: &[u64], real: f64) -> i32 {
    let mut arguments = Arguments::default();
    words.iter().for_each(|word| arguments.words(&[*word]));
    arguments.real(0.0);
    arguments.real(real);
    let before = cpu_time(Place::Cpu);
    // SAFETY: good arguments, or numbers.
    let status = unsafe { library.function(function).call(&arguments) } as i32;
    let took = cpu_time(Place::Cpu) - before;
    assert!(took < MOST_CPU, "{function} took {took:?}");
    assert!((0..=17).contains(&status) && status != 14, "{function} gave {status}");
    status
}

/// Work that meets every setting: memory of both kinds, cuBLAS's workspace, random numbers, and threads of the CPU.
fn work(library: Library) {
    let out = leaked(0_u64);
    let status = |function: &str, words: &[u64]| status(library, function, words, 1.0);
    // SAFETY: the place of results.
    let made = || unsafe { *(out as *const u64) };
    for bytes in [1_u64, 1 << 20, 3 << 20, 1 << 31, 1 << 40] {
        for kind in ["sconce_memory", "sconce_host_memory"] {
            if status(&format!("{kind}_alloc"), &[bytes, out]) == 0 {
                assert_eq!(status(&format!("{kind}_free"), &[made()]), 0);
            }
        }
    }
    let _ = status("sconce_blas_get_handle", &[out]);
    // The second is large enough for several threads.
    for (place, size) in [(Place::Device, 100), (Place::Cpu, 400)] {
        let shape = [array(&[size]), 2, options(place, SCONCE_DTYPE_F32), out];
        if status("sconce_tensor_zeros", &shape) != 0 {
            continue;
        }
        let tensor = made();
        let _ = status("sconce_tensor_uniform", &[tensor, 0]);
        let _ = status("sconce_tensor_binary", &[0, tensor, 0, tensor, 0, 0, 0, out]);
    }
    let _ = status("sconce_device_synchronize", &[0]);
}

/// Runs `start`, and then the work, in a process with an environment. Returns what went wrong.
fn attempt(what: &str, environment: &[(&str, &str)], start: impl Fn(Library)) -> Option<String> {
    let outcome = in_process(environment, || {
        let library = Library::open();
        limit_memory();
        start(library);
        work(library);
        Ok(())
    });
    outcome.err().map(|why| format!("{what}: {why}"))
}

/// A text with a number in place of each `#`.
fn with_number(text: &str) -> impl Iterator<Item = String> + '_ {
    NUMBERS.iter().map(move |number| text.replace('#', number))
}

#[test]
fn numbers_of_the_environment_cost_nothing() {
    let mut wrong = Vec::new();
    for (variable, text) in VARIABLES {
        for value in with_number(text) {
            wrong.extend(attempt(
                &format!("{variable}={value}"),
                &[(variable, value.as_str())],
                |library| _ = status(library, "sconce_init", &[], 0.0),
            ));
        }
    }
    assert!(wrong.is_empty(), "an end below 0 is a signal:\n{}", wrong.join("\n"));
}

#[test]
fn numbers_of_calls_that_set_something_cost_nothing() {
    let mut wrong = Vec::new();
    for policy in ["policy:segments", "policy:pages"] {
        for key in KEYS {
            wrong.extend(attempt(key, &[("SCONCE_ALLOC_CONF", policy)], |library| {
                for text in with_number(key) {
                    let text = std::ffi::CString::new(format!("{policy},{text}")).unwrap();
                    let text = [text.as_ptr() as u64];
                    if status(library, "sconce_memory_configure", &text, 0.0) == 0 {
                        work(library);
                    }
                }
            }));
        }
    }
    let numbers =
        [0_i64, 1, -1, 1 << 16, i64::from(i32::MAX), 1 << 40, 1 << 62, i64::MAX, i64::MIN];
    for number in numbers {
        for (function, words) in [
            ("sconce_parallel_set_num_threads", vec![number as u64]),
            ("sconce_blas_set_workspace_max_bytes", vec![0, number as u64]),
            ("sconce_fft_cache_set_max_bytes", vec![0, number as u64]),
            ("sconce_context_set_benchmark_limit_cudnn", vec![number as u64]),
            ("sconce_memory_record_history", vec![1, number as u64]),
        ] {
            wrong.extend(attempt(&format!("{function} {number}"), &[], |library| {
                let _ = status(library, function, &words, 0.0);
            }));
        }
        for field in 0..3 {
            let mut options = sconce_options {
                struct_size: size_of::<sconce_options>() as u32,
                backend: sconce_backend::SCONCE_BACKEND_SIM as i32,
                sim_devices: 1,
                sim_sms: 4,
                sim_memory_bytes: 64 << 20,
            };
            match field {
                0 => options.sim_devices = number as i32,
                1 => options.sim_sms = number as i32,
                _ => options.sim_memory_bytes = number as u64,
            }
            wrong.extend(attempt(&format!("field {field} of options {number}"), &[], |library| {
                let _ = status(library, "sconce_init_with", &[leaked(options)], 0.0);
            }));
        }
    }
    assert!(wrong.is_empty(), "an end below 0 is a signal:\n{}", wrong.join("\n"));
}
