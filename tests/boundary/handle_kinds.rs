//! Every exported function that takes a handle, called with live handles of all other kinds, with handles of its own
//! kind whose object was destroyed, and with numbers that are no handles. Each is refused, and the message says what
//! the handle is. No object is destroyed by that.
//!
//! What takes handles is read from the header, so a new function is covered without being named here.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls functions by address")]

use sconce::*;
use testkit::header::Prototype;

use crate::calls::Arguments;
use crate::limits;
use crate::ordinary::text;
use crate::world::{ENTRIES, Place, World, leaked, plain};

/// Numbers that are no handles of any kind. The last are addresses as a heap and a stack have them.
const NO_HANDLES: [u64; 8] = [
    1,
    8,
    1 << 32,
    (1 << 32) | 1,
    0xdead_beef,
    0x8000_0000_0000_0000,
    0x5581_94a2_32a0,
    0x7ffd_5b10_4c58,
];

/// A kind of handle: the type in the header, what messages call its objects, and the function that ends a handle.
struct Kind {
    of: &'static str,
    noun: &'static str,
    end: &'static str,
}

const KINDS: [Kind; 13] = [
    Kind {
        of: "sconce_backward_graph",
        noun: "a backward graph",
        end: "sconce_backward_graph_destroy",
    },
    Kind { of: "sconce_comm", noun: "a communicator", end: "sconce_comm_destroy" },
    Kind { of: "sconce_comm_work", noun: "a work", end: "sconce_comm_work_destroy" },
    Kind { of: "sconce_event", noun: "an event", end: "sconce_event_destroy" },
    Kind { of: "sconce_generator", noun: "a generator", end: "sconce_generator_destroy" },
    Kind { of: "sconce_graph", noun: "a graph", end: "sconce_graph_destroy" },
    // A kernel ends with its module, which is the next one here.
    Kind { of: "sconce_kernel", noun: "a kernel", end: "" },
    Kind { of: "sconce_module", noun: "a module", end: "sconce_module_unload" },
    Kind {
        of: "sconce_kernel_source",
        noun: "a kernel source",
        end: "sconce_kernel_source_destroy",
    },
    Kind { of: "sconce_memory_pool", noun: "a memory pool", end: "sconce_memory_pool_destroy" },
    Kind {
        of: "sconce_memory_snapshot",
        noun: "a memory snapshot",
        end: "sconce_memory_snapshot_destroy",
    },
    Kind { of: "sconce_store", noun: "a store", end: "sconce_store_destroy" },
    Kind { of: "sconce_tensor", noun: "a tensor", end: "sconce_tensor_release" },
];

/// The kind of handle that a parameter is, by its place in `KINDS`; and whether it is an array of them.
fn kind_of(kind: &str, name: &str) -> Option<(usize, bool)> {
    let plain = plain(kind);
    let (of, is_array) = match plain.strip_suffix(" *const *") {
        Some(of) => (of, true),
        None => (plain.strip_suffix(" *")?, false),
    };
    let place = KINDS.iter().position(|kind| kind.of == of)?;
    (!name.starts_with("out_")).then_some((place, is_array))
}

/// A handle of each kind, in the order of `KINDS`.
fn objects(world: &World) -> Vec<u64> {
    let ptx = c".version 8.0\n.target sm_75\n.visible .entry nothing() {}";
    let module = world.make("sconce_module_load", &[ptx.as_ptr() as u64, ptx.count_bytes() as u64]);
    let comm = world.make("sconce_comm_init_all", &[leaked([0_i32]), 1, 0]);
    let block = world.make("sconce_memory_alloc", &[64]);
    let float = SCONCE_DTYPE_F32 as u64;
    let path = format!("{}/kinds-{}-{comm:x}\0", env!("CARGO_TARGET_TMPDIR"), std::process::id());
    KINDS
        .iter()
        .map(|kind| match kind.of {
            "sconce_backward_graph" => world.make("sconce_backward_graph_create", &[]),
            "sconce_comm" => comm,
            "sconce_comm_work" => {
                world.make("sconce_comm_all_reduce", &[comm, block, block, 1, float, 0, 0, 0])
            }
            "sconce_event" => world.make("sconce_event_create", &[0]),
            "sconce_generator" => world.make("sconce_generator_create", &[0]),
            "sconce_graph" => world.make("sconce_graph_create", &[0]),
            "sconce_kernel" => world.make("sconce_kernel_get", &[module, text("name")]),
            "sconce_module" => module,
            "sconce_kernel_source" => {
                let code = c"__global__ void nothing() {}".as_ptr() as u64;
                world.make("sconce_kernel_source_create", &[code, text("name")])
            }
            "sconce_memory_pool" => world.make("sconce_memory_pool_create", &[]),
            "sconce_memory_snapshot" => world.make("sconce_memory_snapshot_create", &[]),
            "sconce_store" => {
                world.make("sconce_store_create_file", &[path.as_ptr() as u64, 1, 1000])
            }
            "sconce_tensor" => world.make("sconce_tensor_undefined", &[]),
            other => panic!("teach this test to make {other}"),
        })
        .collect()
}

/// Ends handles of all kinds, each of which is alive.
fn end(world: &World, objects: &[u64]) -> Result<(), String> {
    for (kind, handle) in KINDS.iter().zip(objects) {
        let is_alive = match kind.end {
            "" => world.status("sconce_kernel_allow_shared", &[*handle, 0, 0]),
            end => world.status(end, &[*handle]),
        };
        if is_alive != 0 {
            return Err(format!("{} is not alive: {}", kind.noun, world.message()));
        }
    }
    Ok(())
}

/// Calls a function with good arguments and a wrong one, which it refuses.
fn refuse(
    world: &World,
    prototype: &Prototype,
    wrong: (usize, u64),
    expected: &str,
) -> Result<(), String> {
    world.prepare(&prototype.name);
    world.clear_results(prototype);
    for at in 0..prototype.parameters.len() {
        // Results that tell their size. SAFETY: part of the writable memory.
        unsafe { *(world.result(at) as *mut u32) = 4096 };
    }
    let mut arguments = Arguments::default();
    for (at, (kind, name)) in prototype.parameters.iter().enumerate() {
        let is_array = kind_of(kind, name).is_some_and(|(_, is_array)| is_array);
        match kind.as_str() {
            "double" | "float" => arguments.real(0.5),
            _ if at == wrong.0 && is_array => arguments.words(&[leaked([wrong.1; ENTRIES])]),
            _ if at == wrong.0 => arguments.words(&[wrong.1]),
            _ => arguments.words(&world.good(&prototype.name, at, kind, name)),
        }
    }
    // SAFETY: good pointers, and a number that is no live handle of its kind.
    let status = unsafe { world.call(&prototype.name, &arguments) } as i32;
    let (name, message) = (&prototype.parameters[wrong.0].1, world.message());
    let is_named = [format!("{name} {expected}"), format!("{name}[0] {expected}")]
        .iter()
        .any(|text| message.contains(text.as_str()));
    if status == sconce_status::SCONCE_ERROR_INVALID_HANDLE as i32 && is_named {
        return Ok(());
    }
    Err(format!("{}: {name} = {:#x} gave {status}: {message}", prototype.name, wrong.1))
}

/// Calls a function with wrong handles in place of each of its own.
fn check(
    world: &World,
    prototype: &Prototype,
    alive: &[u64],
    ended: &[u64],
    wrong: &mut Vec<String>,
) {
    for (at, (kind, name)) in prototype.parameters.iter().enumerate() {
        let Some((own, _)) = kind_of(kind, name) else { continue };
        for (other, handles) in KINDS.iter().zip(alive.iter().zip(ended)) {
            let is_own = other.of == KINDS[own].of;
            let text = match is_own {
                true => "is not".to_owned(),
                false => format!("is a handle of {}, not of {}", other.noun, KINDS[own].noun),
            };
            let tried = [(*handles.0, !is_own), (*handles.1, true)];
            for (handle, _) in tried.iter().filter(|(_, is_wrong)| *is_wrong) {
                wrong.extend(refuse(world, prototype, (at, *handle), &text).err());
            }
        }
        for number in NO_HANDLES {
            wrong.extend(refuse(world, prototype, (at, number), "is not").err());
        }
    }
}

#[test]
fn handles_of_other_kinds_are_refused_and_named() {
    let all = testkit::header::prototypes(&testkit::header::text());
    let takes = |prototype: &Prototype| {
        prototype.parameters.iter().any(|(kind, name)| kind_of(kind, name).is_some())
    };
    for kind in KINDS.iter().filter(|kind| !kind.end.is_empty()) {
        assert!(all.iter().any(|prototype| prototype.name == kind.end), "{}", kind.end);
    }
    let functions: Vec<_> = all.into_iter().filter(takes).collect();
    assert!(functions.len() > 230, "the header was not understood: {}", functions.len());
    let outcome = limits::in_process(&[], || {
        let world = World::new(Place::Device);
        let (alive, ended) = (objects(&world), objects(&world));
        end(&world, &ended)?;
        let mut wrong = Vec::new();
        for prototype in &functions {
            check(&world, prototype, &alive, &ended, &mut wrong);
        }
        // Ends the last capture.
        world.prepare("sconce_graph_capture_begin");
        wrong.extend(end(&world, &alive).err());
        if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
    });
    if let Err(why) = outcome {
        panic!("{why}");
    }
}

#[test]
fn every_opaque_type_of_the_header_is_a_kind() {
    let text = testkit::header::text();
    let opaque = |line: &str| {
        let (of, name) =
            line.strip_prefix("typedef struct ")?.strip_suffix(';')?.split_once(' ')?;
        (of == name).then(|| of.to_owned())
    };
    let has_fields = |of: &String| text.contains(&format!("struct {of} {{"));
    let mut names: Vec<_> = text.lines().filter_map(opaque).filter(|of| !has_fields(of)).collect();
    names.sort_unstable();
    let mut kinds: Vec<_> = KINDS.iter().map(|kind| kind.of.to_owned()).collect();
    kinds.sort_unstable();
    assert_eq!(names, kinds);
}
