//! Handles of one kind passed as handles of another one, to both libraries.

use std::ffi::{CString, c_char};
use std::path::Path;

use super::operators::sample;
use super::shared::operators::{find, load};
use super::shared::{load_model, message};
use super::{compiled, folder};

/// Any function with up to six arguments that are no real numbers.
type AnyFunction = extern "C" fn(usize, usize, usize, usize, usize, usize) -> i32;

/// A kind of handle: its type in the header, what messages call its objects, and the function that ends a handle.
type Kind = (&'static str, &'static str, &'static str);

const KINDS: [Kind; 6] = [
    ("sconce_model", "a model", "sconce_model_unload"),
    ("sconce_op", "an operator", ""),
    ("sconce_kernel_library", "a kernel library", "sconce_torch_unload"),
    ("sconce_graph", "a graph", "sconce_graph_destroy"),
    ("sconce_backward_graph", "a backward graph", "sconce_backward_graph_destroy"),
    ("sconce_tensor", "a tensor", "sconce_tensor_release"),
];
const INVALID_HANDLE: i32 = 3;

fn function(name: &str) -> AnyFunction {
    let text = CString::new(name).unwrap();
    // SAFETY: the name ends with NUL.
    let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, text.as_ptr()) };
    assert!(!address.is_null(), "{name} is not exported");
    // SAFETY: a function takes its arguments from the registers it needs and ignores the others.
    unsafe { std::mem::transmute::<*mut libc::c_void, AnyFunction>(address) }
}

/// The message of a failure of the library that has the function.
fn message_of(name: &str) -> String {
    if name.starts_with("sconce_model") || name.starts_with("sconce_op") || name.contains("torch") {
        return message();
    }
    unsafe extern "C" {
        safe fn sconce_last_error_message() -> *const c_char;
    }
    // SAFETY: the text ends with NUL.
    unsafe { std::ffi::CStr::from_ptr(sconce_last_error_message()) }.to_string_lossy().into_owned()
}

/// A function whose first parameter is a handle: its name, the type of the handle, the name of that parameter, and
/// which of the others are pointers.
struct Taker {
    name: String,
    of: String,
    parameter: String,
    pointers: Vec<bool>,
}

/// The functions of libsconce_torch that take a handle, and those that end a handle of libsconce.
fn takers() -> Vec<Taker> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../include/sconce/sconce_torch.h");
    let header = std::fs::read_to_string(path).unwrap();
    let declaration = |text: &str| {
        let (_, text) = text.rsplit_once("sconce_status ")?;
        let (name, parameters) = text.split_once('(')?;
        let parameters: Vec<&str> =
            parameters.trim_end().trim_end_matches(')').split(',').map(str::trim).collect();
        let (of, parameter) = parameters[0].strip_prefix("struct ")?.split_once(" *")?;
        let pointers = parameters[1..].iter().map(|parameter| parameter.contains('*')).collect();
        let (of, parameter) = (of.to_owned(), parameter.to_owned());
        Some(Taker { name: name.to_owned(), of, parameter, pointers })
    };
    let mut all: Vec<Taker> = header.split(';').filter_map(declaration).collect();
    assert!(all.len() >= 22, "the header was not understood: {}", all.len());
    for (of, _, end) in KINDS.iter().filter(|kind| !kind.2.is_empty()) {
        if all.iter().all(|taker| taker.name != *end) {
            let parameter = if of.contains("tensor") { "tensor" } else { "graph" };
            let (name, of) = ((*end).to_owned(), (*of).to_owned());
            all.push(Taker { name, of, parameter: parameter.to_owned(), pointers: Vec::new() });
        }
    }
    all
}

/// Calls a function with a wrong handle and otherwise good arguments: it refuses the handle and says why.
fn refused(taker: &Taker, handle: usize, why: &str) {
    // Places for results, which may tell their size; and an empty text.
    let places = [[4096_u64; 1024]; 5];
    let mut arguments = [handle, 0, 0, 0, 0, 0];
    let number = usize::from(taker.name.ends_with("_limit"));
    for (at, is_pointer) in taker.pointers.iter().enumerate() {
        arguments[at + 1] = if *is_pointer { places[at].as_ptr() as usize } else { number };
    }
    let [first, second, third, fourth, fifth, sixth] = arguments;
    let status = function(&taker.name)(first, second, third, fourth, fifth, sixth);
    let text = message_of(&taker.name);
    assert_eq!(status, INVALID_HANDLE, "{} {handle:#x}: {text}", taker.name);
    let expected = format!("{} {why}", taker.parameter);
    assert!(
        text.to_lowercase().contains(&expected),
        "{} {handle:#x}: {text} is not {expected}",
        taker.name
    );
}

/// A handle that a function of libsconce returns, whose last argument is the place for it.
fn made(name: &str, arguments: usize) -> usize {
    let mut handle = 0_usize;
    let place = &raw mut handle as usize;
    let first = if arguments == 0 { place } else { 0 };
    assert_eq!(function(name)(first, place, 0, 0, 0, 0), 0, "{}", message_of(name));
    handle
}

#[test]
fn handles_of_other_kinds_are_refused_and_named() {
    let folder = folder("kinds");
    let path = compiled(&folder, &[]);
    let library = sample(&folder);
    let handles = || {
        let library = load(&library).unwrap();
        [
            load_model(&path).unwrap(),
            find(c"sample::scaled").unwrap(),
            library,
            made("sconce_graph_create", 1),
            made("sconce_backward_graph_create", 0),
            made("sconce_tensor_undefined", 0),
        ]
    };
    let (alive, ended) = (handles(), handles());
    let end = |handles: &[usize]| {
        for ((_, noun, end), handle) in KINDS.iter().zip(handles) {
            if !end.is_empty() {
                assert_eq!(function(end)(*handle, 0, 0, 0, 0, 0), 0, "{noun}: {}", message_of(end));
            }
        }
    };
    end(&ended);
    for taker in &takers() {
        let own = KINDS.iter().find(|kind| kind.0 == taker.of).unwrap();
        for (other, (alive, ended)) in KINDS.iter().zip(alive.iter().zip(&ended)) {
            let is_own = other.0 == own.0;
            let why = format!("is a handle of {}, not of {}", other.1, own.1);
            if !is_own {
                refused(taker, *alive, &why);
                refused(taker, *ended, &why);
            } else if !own.2.is_empty() {
                refused(taker, *ended, "is n");
            }
        }
        for number in [1, 16, 0x770, 0xdead_beef, 0x5581_94a2_32a0, 1 << 63] {
            refused(taker, number, "is n");
        }
    }
    end(&alive);
}
