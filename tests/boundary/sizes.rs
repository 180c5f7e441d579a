//! Every exported function that takes a number, called with hostile ones: none, one, more than any device has, the
//! largest, and negative ones, under both policies of memory. The other arguments are those of an ordinary call, so the
//! numbers reach the code that uses them. Each call returns a status in little time and memory.
//!
//! What takes numbers is read from the header, so a new function is covered without being named here.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls functions by address")]

use sconce::*;
use testkit::header::Prototype;

use crate::calls::Arguments;
use crate::descriptions::{fields_with, good};
use crate::limits;
use crate::world::{ENTRIES, Place, World, array, leaked, plain, scalar};

/// Numbers of 64 bits.
const HUGE: [u64; 11] = [
    0,
    1,
    1 << 31,
    1 << 32,
    1 << 40,
    1 << 62,
    i64::MAX as u64,
    1 << 63,
    u64::MAX,
    u64::MAX - 4095,
    -2_i64 as u64,
];
/// Combinations of several hostile numbers that are tried for each function.
const MOST_COMBINATIONS: usize = 60;

/// Functions that are not called, and why.
const LEFT_OUT: &[(&str, &str)] = &[
    ("sconce_init_with", "the process is started already; see `settings`"),
    ("sconce_memory_sleep", "its only number is a code, and memory that sleeps fails later calls"),
    ("sconce_torch_free", "it frees what the other calls use"),
    ("sconce_cupy_free", "it frees what the other calls use"),
    ("sconce_ort_free", "it frees what the other calls use"),
    ("sconce_stream_restore", "it has no numbers but those of a stream"),
];

/// Parameters that count the caller's own memory: a number that this memory does not have would be a lie.
fn counts_memory_of_the_caller(function: &str, name: &str) -> bool {
    let reads = ["values", "sconce_store_", "sconce_sim_memory_", "sconce_sim_kernel_"];
    let is_comm = function.starts_with("sconce_comm_") && !function.contains("comm_tensors");
    match name {
        "rank" | "dims" | "capacity" | "spatial" | "lists" | "device_count" | "edge_count"
        | "argument_count" | "parameter_count" | "image_bytes" | "expected_bytes"
        | "desired_bytes" => true,
        "length" => !function.contains("tensor"),
        "count" => !is_comm,
        "bytes" => reads.iter().any(|part| function.contains(part)),
        _ => false,
    }
}

/// Parameters of 32 bits that count or number something, and are no code for it.
const COUNTS: [&str; 11] = [
    "limit",
    "count",
    "ranks",
    "rank",
    "world_size",
    "num_threads",
    "priority",
    "root",
    "peer",
    "key",
    "color",
];

/// The hostile arguments for a parameter; none if it is not a number.
fn hostile(function: &str, kind: &str, name: &str) -> Vec<u64> {
    if name.starts_with("out_") {
        return Vec::new();
    }
    match plain(kind).as_str() {
        "size_t" if counts_memory_of_the_caller(function, name) => vec![0, 1, 3, ENTRIES as u64],
        // A longer wait would be one.
        "int64_t" if name == "timeout_ms" => Vec::new(),
        "size_t" | "ptrdiff_t" | "int64_t" | "uint64_t" => HUGE.to_vec(),
        "uint32_t" => vec![0, 1, 1 << 16, 1 << 31, u64::from(u32::MAX)],
        "int32_t" if name == "peer" && function.contains("device") => Vec::new(),
        "int32_t" if COUNTS.contains(&name) => {
            [0, 1, -1, -3, 1 << 16, i32::MAX, i32::MIN].map(|n| n as u32 as u64).to_vec()
        }
        "int64_t *" | "size_t *" => {
            let numbers = HUGE.map(|number| number as i64);
            let alone = numbers.iter().map(|number| array(&[*number]));
            let beside = numbers.iter().flat_map(|n| [array(&[*n, 1]), array(&[2, *n])]);
            let overflows =
                [array(&[1 << 32, 1 << 32]), array(&[1 << 16; 4]), array(&[3, 1 << 61])];
            alone.chain(beside).chain(overflows).collect()
        }
        "sconce_scalar *" => {
            let integers = HUGE.map(|n| scalar(SCONCE_SCALAR_INTEGER, n as i64, 0.0));
            let reals = [1e9, 1e18, -1e18, 1e300, f64::NAN, f64::INFINITY, 5e-324];
            let reals = reals.map(|real| scalar(SCONCE_SCALAR_REAL, 0, real));
            integers.into_iter().chain(reals).collect()
        }
        described if described.ends_with("_desc *") || described.ends_with("_copy *") => {
            let of = described.trim_end_matches(" *");
            let numbers = |kind: &str| match kind {
                "int64_t" | "uint64_t" | "size_t" => HUGE.to_vec(),
                "int32_t" | "uint32_t" => vec![0, 1, 1 << 16, i32::MAX as u64, 1 << 31, u64::MAX],
                _ => Vec::new(),
            };
            fields_with(of, good(of), numbers).into_iter().map(leaked).collect()
        }
        _ => Vec::new(),
    }
}

fn hostile_reals() -> [f64; 6] {
    [0.0, -1.0, f64::NAN, f64::INFINITY, 1e300, 5e-324]
}

/// An argument: words, or a real number.
#[derive(Clone)]
enum Argument {
    Words(Vec<u64>),
    Real(f64),
}

/// The hostile arguments of each parameter.
fn all_hostile(prototype: &Prototype) -> Vec<Vec<Argument>> {
    let of = |(kind, name): &(String, String)| {
        if kind == "double" {
            return hostile_reals().map(Argument::Real).to_vec();
        }
        let words = hostile(&prototype.name, kind, name).into_iter();
        words.map(|word| Argument::Words(vec![word])).collect()
    };
    prototype.parameters.iter().map(of).collect()
}

/// The ordinary argument of each parameter.
fn ordinary(world: &World, prototype: &Prototype) -> Vec<Argument> {
    let of = |(at, (kind, name)): (usize, &(String, String))| match kind.as_str() {
        "double" => Argument::Real(0.5),
        _ => Argument::Words(world.good(&prototype.name, at, kind, name)),
    };
    prototype.parameters.iter().enumerate().map(of).collect()
}

/// Which arguments each call has, by parameter: 0 is the ordinary one. First all are, then one is hostile, then several.
fn picks(hostile: &[Vec<Argument>]) -> Vec<Vec<usize>> {
    let ordinary = vec![0; hostile.len()];
    let mut all = vec![ordinary.clone()];
    for (at, hostile) in hostile.iter().enumerate() {
        for pick in 1..=hostile.len() {
            let mut one = ordinary.clone();
            one[at] = pick;
            all.push(one);
        }
    }
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    for _ in 0..MOST_COMBINATIONS {
        let several = hostile.iter().map(|hostile| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as usize % (hostile.len() + 1)
        });
        all.push(several.collect());
    }
    all
}

/// Calls a function with all picks. Returns whether the ordinary call did what it is for.
fn call(world: &World, prototype: &Prototype) -> bool {
    let function = prototype.name.as_str();
    let mut is_ordinary = !prototype.returns.ends_with("sconce_status");
    let hostile = all_hostile(prototype);
    for (round, picked) in picks(&hostile).into_iter().enumerate() {
        world.prepare(function);
        let mut arguments = Arguments::default();
        for ((good, hostile), pick) in ordinary(world, prototype).iter().zip(&hostile).zip(picked) {
            match if pick == 0 { good } else { &hostile[pick - 1] } {
                Argument::Words(words) => arguments.words(words),
                Argument::Real(real) => arguments.real(*real),
            }
        }
        let Some(status) = limits::call(world, prototype, &arguments) else { continue };
        is_ordinary |= round == 0 && status == 0;
        if round == 0 && !is_ordinary && NOT_ORDINARY.iter().all(|(name, _)| *name != function) {
            return false;
        }
    }
    is_ordinary
}

/// Whether a function takes a number.
fn takes_numbers(prototype: &Prototype) -> bool {
    let is_number = |(kind, name): &(String, String)| {
        kind == "double" || !hostile(&prototype.name, kind, name).is_empty()
    };
    prototype.parameters.iter().any(is_number)
}

/// Functions with numbers, in the order of the header.
fn functions() -> Vec<Prototype> {
    let mut all = testkit::header::prototypes(&testkit::header::text());
    let left_out = |name: &str| LEFT_OUT.iter().any(|(left_out, _)| *left_out == name);
    for (name, _) in LEFT_OUT {
        assert!(all.iter().any(|prototype| prototype.name == *name), "{name} does not exist");
    }
    all.retain(|prototype| takes_numbers(prototype) && !left_out(&prototype.name));
    assert!(all.len() > 180, "the header was not understood: {}", all.len());
    all
}

/// Functions whose ordinary call this test cannot make, so that hostile numbers may be refused for another reason.
const NOT_ORDINARY: &[(&str, &str)] = &[
    ("sconce_comm_recv", "what a rank receives from itself needs a group with the send"),
    ("sconce_comm_send", "what a rank sends to itself needs a group with the receive"),
    ("sconce_ipc_open_memory", "the handle is another process's"),
    ("sconce_memory_detach_oom_observer", "the id is a number of the library"),
    ("sconce_sanitizer_get_report", "the library is opened without the sanitizer"),
    ("sconce_sanitizer_record_history", "the library is opened without the sanitizer"),
    ("sconce_sim_kernel_fail", "only functions of kernels may call it"),
    ("sconce_sim_kernel_read", "only functions of kernels may call it"),
    ("sconce_sim_kernel_write", "only functions of kernels may call it"),
];

/// Functions of one process, which do not change what the next ones meet.
const FUNCTIONS_OF_A_PROCESS: usize = 24;

/// Whether a function changes how later calls behave, so that it needs a process of its own.
fn needs_a_process(name: &str) -> bool {
    let parts =
        ["sconce_sim_", "_set_", "_configure", "capture", "stream_sleep", "_init_", "sconce_comm_"];
    parts.iter().any(|part| name.contains(part))
}

/// The functions of each process.
fn processes(place: Place) -> Vec<Vec<Prototype>> {
    let is_of_place = |prototype: &Prototype| {
        let of_tensors = ["sconce_tensor_", "sconce_backward_"];
        place == Place::Device || of_tensors.iter().any(|part| prototype.name.starts_with(part))
    };
    let (alone, together): (Vec<_>, Vec<_>) = functions()
        .into_iter()
        .filter(is_of_place)
        .partition(|prototype| needs_a_process(&prototype.name));
    let together = together.chunks(FUNCTIONS_OF_A_PROCESS).map(<[_]>::to_vec);
    together.chain(alone.into_iter().map(|prototype| vec![prototype])).collect()
}

fn check(policy: &str, place: Place) {
    limits::check(policy, place, &processes(place), |world, prototype| {
        let is_known = NOT_ORDINARY.iter().all(|(name, _)| *name != prototype.name);
        if call(world, prototype) == is_known { Ok(()) } else { Err(world.message()) }
    });
}

#[test]
fn numbers_cost_nothing_with_segments_and_tensors_of_the_device() {
    check("policy:segments", Place::Device);
}

#[test]
fn numbers_cost_nothing_with_pages_and_tensors_of_the_device() {
    check("policy:pages", Place::Device);
}

#[test]
fn numbers_cost_nothing_with_tensors_of_the_cpu() {
    check("policy:segments", Place::Cpu);
}
