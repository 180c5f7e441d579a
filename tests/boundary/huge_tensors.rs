//! Every function that takes tensors, called with one that repeats a number more often than any memory could hold. The
//! results would be as large: each call returns a status in little time and memory.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use testkit::header::Prototype;

use crate::calls::Arguments;
use crate::limits;
use crate::world::{ENTRIES, Place, World, leaked, plain};

/// Sizes of tensors with one number: more elements than memory has bytes, and more bytes than an address can count.
const SIZES: [&[i64]; 5] =
    [&[1 << 40], &[1 << 31, 1 << 31], &[1 << 20, 1 << 20, 1 << 20], &[2, 1 << 61], &[2; 40]];

/// Functions that read each element for a result of few bytes, which takes as long as there are elements.
const READS_ALL: [&str; 2] = ["sconce_tensor_reduce", "sconce_tensor_reduce_out"];

/// Functions of tensors, in the order of the header.
fn functions() -> Vec<Prototype> {
    let mut all = testkit::header::prototypes(&testkit::header::text());
    let takes = |(kind, name): &(String, String)| {
        kind.contains("sconce_tensor *") && !name.starts_with("out_")
    };
    all.retain(|prototype| {
        prototype.parameters.iter().any(takes)
            && !READS_ALL.contains(&prototype.name.trim_end_matches("_on"))
            && !["_retain", "_release"].iter().any(|end| prototype.name.ends_with(end))
    });
    assert!(all.len() > 90, "the header was not understood: {}", all.len());
    all
}

/// More than the operations of any function.
const CODES: u64 = 64;

fn call(world: &World, prototype: &Prototype) {
    let function = prototype.name.as_str();
    for (sizes, code) in SIZES.iter().flat_map(|sizes| (0..CODES).map(move |code| (sizes, code))) {
        let is_code = |(kind, name): &(String, String)| {
            kind == "int32_t" && (name == "operation" || name == "kind")
        };
        if code > 0 && !prototype.parameters.iter().any(is_code) {
            continue;
        }
        let huge = world.repeated(sizes);
        let is_tensor = |(kind, name): &(String, String)| {
            plain(kind).starts_with("sconce_tensor *") && !name.starts_with("out_")
        };
        let places =
            (0..prototype.parameters.len()).filter(|at| is_tensor(&prototype.parameters[*at]));
        let mut choices: Vec<Vec<usize>> = places.clone().map(|at| vec![at]).collect();
        choices.push(places.collect());
        for hostile in choices {
            let mut arguments = Arguments::default();
            for (at, (kind, name)) in prototype.parameters.iter().enumerate() {
                if kind == "double" {
                    arguments.real(0.5);
                } else if is_code(&prototype.parameters[at]) {
                    arguments.words(&[code]);
                } else if !hostile.contains(&at) {
                    arguments.words(&world.good(function, at, kind, name));
                } else if kind.contains("*const *") {
                    arguments.words(&[leaked([huge; ENTRIES])]);
                } else {
                    arguments.words(&[huge]);
                }
            }
            let _ = limits::call(world, prototype, &arguments);
        }
        world.release(huge);
    }
}

fn check(policy: &str, place: Place) {
    let processes: Vec<_> = functions().chunks(16).map(<[_]>::to_vec).collect();
    limits::check(policy, place, &processes, |world, prototype| {
        call(world, prototype);
        Ok(())
    });
}

#[test]
fn repeated_numbers_cost_nothing_with_segments() {
    check("policy:segments", Place::Device);
}

#[test]
fn repeated_numbers_cost_nothing_with_pages() {
    check("policy:pages", Place::Device);
}

#[test]
fn repeated_numbers_cost_nothing_on_the_cpu() {
    check("policy:segments", Place::Cpu);
}
