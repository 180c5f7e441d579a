//! The functions of PyTorch's ABI that take tensors, called by the signatures that PyTorch's headers declare.

use std::ffi::{CString, c_void};

use super::kinds::{Callable, Kind, parts};
use super::made::{Kept, release};
use super::message;
use super::search::search_all;
use super::simulate;
use super::values::Case;

const FUNCTIONS: &str = include_str!("../abi/functions.txt");

/// Functions that are not called: they take addresses that the library cannot check or complex numbers, give up what they
/// take, or print.
const NOT_CALLED: [&str; 11] = [
    "aoti_torch_scalar_to_tensor_complex64",
    "aoti_torch_scalar_to_tensor_complex128",
    "aoti_torch_create_tensor_from_blob",
    "aoti_torch_create_tensor_from_blob_v2",
    "aoti_torch_create_tensor_from_blob_npu",
    "torch_from_blob",
    "aoti_torch_delete_tensor_object",
    "aoti_torch_print_tensor_handle",
    "aoti_torch_proxy_executor_call_function",
    "aoti_torch_tensor_to_ivalue",
    "aoti_torch_save_tensor_handle",
];

/// How a parameter of C is passed.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Passed {
    /// A handle or a number of up to 8 bytes.
    Word,
    /// A number of the type `double`.
    Double,
    /// A number of the type `float`.
    Single,
    /// The address of a value, or NULL; so many bytes.
    Pointer(usize),
    /// The address of an array and, as the next parameter, its count.
    Array(usize),
    /// The address of an array of addresses, and its count.
    Addresses,
    /// The address of the address of an array or a text, and its count if it has one.
    Twice(bool),
    Text,
    Out,
}

/// A function and how its parameters are passed.
struct Function {
    what: Callable,
    passed: Vec<Passed>,
    address: *mut c_void,
}

/// The kind of a parameter with its way; `None` for a type that is not passed here. `counted` is whether the next parameter
/// is its count.
fn parameter(kind: &str, name: &str, counted: bool) -> Option<(Kind, Passed)> {
    let optional = |kind: Kind| Kind::Optional(Box::new(kind));
    let list = |kind: Kind| Kind::List(Box::new(kind), None);
    let is_result = name.starts_with("ret") || ["out", "new_handle"].contains(&name);
    let is_code = ["dtype", "layout", "memory_format"].iter().any(|part| name.ends_with(part));
    let whole = if is_code { Kind::Code } else { Kind::Int };
    Some(match (kind, counted) {
        ("Tensor", _) => (Kind::Tensor, Passed::Word),
        (_, false) if is_result && kind.ends_with('*') => {
            (Kind::Out(kind == "Tensor*"), Passed::Out)
        }
        ("int64" | "int32" | "int" | "int16" | "int8", _) => (whole, Passed::Word),
        ("uint64" | "uint32" | "uint16" | "uint8", _) => (whole, Passed::Word),
        ("bool", _) => (Kind::Bool, Passed::Word),
        ("double", _) => (Kind::Float, Passed::Double),
        ("float", _) => (Kind::Float, Passed::Single),
        ("Tensor*", true) => (list(Kind::Tensor), Passed::Array(8)),
        ("int64*", true) => (list(Kind::Int), Passed::Array(8)),
        ("int32*", true) => (list(Kind::Int), Passed::Array(4)),
        ("double*", true) => (list(Kind::Float), Passed::Array(8)),
        ("Tensor*", false) => (optional(Kind::Tensor), Passed::Pointer(8)),
        // Sizes and strides, as many as a number that is passed beside them or a tensor says.
        ("int64*", false) if name.ends_with("_ptr") => (list(Kind::Int), Passed::Array(0)),
        ("int64*", false) => (optional(Kind::Int), Passed::Pointer(8)),
        ("int32*", false) => (optional(whole), Passed::Pointer(4)),
        ("double*", false) => (optional(Kind::Float), Passed::Pointer(8)),
        ("Tensor**", true) => (list(optional(Kind::Tensor)), Passed::Addresses),
        ("double**", true) => (optional(list(Kind::Float)), Passed::Twice(true)),
        ("int64**", true) => (optional(list(Kind::Int)), Passed::Twice(true)),
        ("char*", _) => (Kind::Text, Passed::Text),
        ("char**", false) => (optional(Kind::Text), Passed::Twice(false)),
        ("AtenGeneratorHandle*", _) => (optional(Kind::Generator), Passed::Pointer(8)),
        _ => return None,
    })
}

/// Reads a line of `functions.txt`; `None` if it takes or returns no tensor, or something that is not passed here.
fn function(line: &str) -> Option<Function> {
    let (name, rest) = line.split_once('(')?;
    if NOT_CALLED.contains(&name) {
        return None;
    }
    let of_parameter = |text| str::rsplit_once(text, ' ').unwrap_or((text, ""));
    let all = parts(rest.strip_suffix(')')?).into_iter().map(of_parameter);
    let all: Vec<(&str, &str)> = all.map(|(kind, name)| (kind.trim(), name)).collect();
    let (mut arguments, mut passed, mut at) = (Vec::new(), Vec::new(), 0);
    while let Some(&(kind, own)) = all.get(at) {
        let counts = |(kind, name): &&(&str, &str)| {
            let base = own.trim_end_matches("_ptr");
            let named = [
                format!("{own}_len_"),
                format!("{own}_len"),
                format!("{base}_size"),
                format!("num_{own}"),
            ];
            ["int64", "uint32"].contains(kind) && named.iter().any(|wanted| name == wanted)
        };
        let counted = kind.ends_with('*') && all.get(at + 1).filter(counts).is_some();
        let (kind, how) = parameter(kind, own, counted)?;
        arguments.push(kind);
        passed.push(how);
        at += 1 + usize::from(counted);
    }
    if !arguments.iter().any(|kind| matches!(kind, Kind::Tensor | Kind::Out(true))) {
        return None;
    }
    let symbol = CString::new(name).unwrap();
    // SAFETY: the name ends with NUL.
    let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, symbol.as_ptr()) };
    let what =
        Callable { name: name.to_owned(), overload: String::new(), arguments, results: vec![] };
    (!address.is_null()).then_some(Function { what, passed, address })
}

/// Entries that every array has: a count of up to as many is what the ABI allows.
const ROOM: usize = 64;

/// The words of a call.
#[derive(Default)]
struct Call {
    kept: Kept,
    words: Vec<u64>,
    reals: Vec<f64>,
    /// Where tensors are returned to: the array and the place in it.
    outs: Vec<usize>,
}

impl Call {
    /// Memory of its own with these bytes, and zeros behind.
    fn array(&mut self, bytes: &[u8]) -> u64 {
        let mut memory = vec![0_u64; ROOM + 1].into_boxed_slice();
        for (word, eight) in memory.iter_mut().zip(bytes.chunks(8)) {
            let mut whole = [0; 8];
            whole[..eight.len()].copy_from_slice(eight);
            *word = u64::from_ne_bytes(whole);
        }
        let address = memory.as_ptr() as u64;
        self.kept.memory.push(memory);
        address
    }

    fn text(&mut self, text: &[u8]) -> u64 {
        let bytes: Vec<u8> = text.iter().copied().filter(|byte| *byte != 0).collect();
        let text = CString::new(bytes).unwrap();
        let address = text.as_ptr() as u64;
        self.kept.texts.push(text);
        address
    }

    /// A value of up to 8 bytes.
    fn word(&mut self, case: &Case) -> u64 {
        match case {
            Case::Tensor(tensor) => {
                let (handle, is_owned) = Kept::handle(tensor);
                if is_owned {
                    self.kept.tensors.push(handle);
                }
                handle
            }
            Case::Int(value) => value.cast_unsigned(),
            Case::Bool(value) => u64::from(*value),
            Case::Code(code) => u64::from(code.cast_unsigned()),
            Case::Float(value) => value.to_bits(),
            Case::Generator(true) => self.kept.generator(),
            Case::None | Case::Generator(false) => 0,
            other => panic!("{other:?} is no word"),
        }
    }

    fn entries(&mut self, cases: &[Case], bytes: usize) -> Vec<u8> {
        let words: Vec<u64> = cases.iter().map(|case| self.word(case)).collect();
        words.iter().flat_map(|word| word.to_ne_bytes()[..bytes].to_vec()).collect()
    }

    fn push(&mut self, how: Passed, case: &Case) {
        let (cases, count): (&[Case], i64) = match case {
            Case::List(cases) => (cases, cases.len() as i64),
            Case::Miscounted(cases, count) => (cases, *count),
            _ => (&[], 0),
        };
        match how {
            Passed::Word => {
                let word = self.word(case);
                self.words.push(word);
            }
            Passed::Double | Passed::Single => {
                let Case::Float(value) = case else { panic!("{case:?} is no number") };
                let single = f64::from_bits(u64::from((*value as f32).to_bits()));
                self.reals.push(if how == Passed::Double { *value } else { single });
            }
            Passed::Pointer(_) if *case == Case::None => self.words.push(0),
            Passed::Pointer(bytes) => {
                let word = self.word(case);
                let address = self.array(&word.to_ne_bytes()[..bytes]);
                self.words.push(address);
            }
            Passed::Array(bytes) => {
                let entries = self.entries(cases, if bytes == 0 { 8 } else { bytes });
                let address = if cases.is_empty() && count == 0 { 0 } else { self.array(&entries) };
                self.words.push(address);
                if bytes != 0 {
                    self.words.push(count.cast_unsigned());
                }
            }
            Passed::Addresses => {
                let mut addresses = Vec::new();
                for case in cases {
                    let word = self.word(case);
                    let is_none = *case == Case::None;
                    addresses.push(if is_none { 0 } else { self.array(&word.to_ne_bytes()) });
                }
                let bytes: Vec<u8> = addresses.iter().flat_map(|one| one.to_ne_bytes()).collect();
                let address = self.array(&bytes);
                self.words.extend([address, count.cast_unsigned()]);
            }
            Passed::Twice(is_counted) => {
                let inner = match case {
                    Case::None => 0,
                    Case::Text(text) => self.text(text),
                    _ => {
                        let entries = self.entries(cases, 8);
                        self.array(&entries)
                    }
                };
                let address = self.array(&inner.to_ne_bytes());
                self.words.push(if *case == Case::None { 0 } else { address });
                if is_counted {
                    self.words.push(count.cast_unsigned());
                }
            }
            Passed::Text => {
                let Case::Text(text) = case else { panic!("{case:?} is no text") };
                let address = self.text(text);
                self.words.push(address);
            }
            Passed::Out => {
                let address = if *case == Case::Out(true) { self.array(&[]) } else { 0 };
                self.words.push(address);
            }
        }
    }
}

/// Words and numbers that a call passes at most. Those that a function does not take are ignored, as the calling
/// conventions of Linux allow: numbers are in registers of their own, words in registers and then on the stack.
const WORDS: usize = 32;
const REALS: usize = 8;

type Any = unsafe extern "C" fn(
    f64,
    f64,
    f64,
    f64,
    f64,
    f64,
    f64,
    f64,
    u64,
    u64,
    u64,
    u64,
    u64,
    u64,
    u64,
    u64,
    u64,
    u64,
    u64,
    u64,
    u64,
    u64,
    u64,
    u64,
    u64,
    u64,
    u64,
    u64,
    u64,
    u64,
    u64,
    u64,
    u64,
    u64,
    u64,
    u64,
    u64,
    u64,
    u64,
    u64,
) -> i32;

fn called(address: *mut c_void, words: &[u64], reals: &[f64]) -> i32 {
    let (mut w, mut r) = ([0; WORDS], [0.0; REALS]);
    w[..words.len()].copy_from_slice(words);
    r[..reals.len()].copy_from_slice(reals);
    // SAFETY: the address is that of a function of C that takes some of these arguments.
    let function: Any = unsafe { std::mem::transmute(address) };
    // SAFETY: the words are what the function's parameters are declared as.
    unsafe {
        function(
            r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7], w[0], w[1], w[2], w[3], w[4], w[5],
            w[6], w[7], w[8], w[9], w[10], w[11], w[12], w[13], w[14], w[15], w[16], w[17], w[18],
            w[19], w[20], w[21], w[22], w[23], w[24], w[25], w[26], w[27], w[28], w[29], w[30],
            w[31],
        )
    }
}

fn by_signature(function: &Function, cases: &[Case]) -> Result<(), String> {
    let mut call = Call::default();
    for ((how, case), kind) in function.passed.iter().zip(cases).zip(&function.what.arguments) {
        call.push(*how, case);
        if *kind == Kind::Out(true) && *case == Case::Out(true) {
            call.outs.push(call.kept.memory.len() - 1);
        }
    }
    let status = called(function.address, &call.words, &call.reals);
    if status != 0 {
        return Err(message());
    }
    for at in &call.outs {
        let made = call.kept.memory[*at][0];
        if made != 0 {
            release(made);
        }
    }
    Ok(())
}

#[test]
fn functions_refuse_what_is_hostile() {
    let _folder = simulate();
    let all: Vec<Function> = FUNCTIONS.lines().filter_map(function).collect();
    let callables: Vec<Callable> = all.iter().map(|function| function.what.clone()).collect();
    let of = |what: &Callable| all.iter().find(|function| function.what.name == what.name).unwrap();
    search_all(&callables, &|what, cases| by_signature(of(what), cases), 300);
}

/// Functions that the library exports and that are not called above, because of what they take.
#[test]
fn functions_with_tensors_are_called() {
    let called: Vec<String> =
        FUNCTIONS.lines().filter_map(function).map(|function| function.what.name).collect();
    let with_tensors = FUNCTIONS.lines().filter(|line| line.contains("Tensor"));
    let missing: Vec<&str> = with_tensors
        .filter_map(|line| line.split('(').next())
        .filter(|name| {
            let symbol = CString::new(*name).unwrap();
            // SAFETY: the name ends with NUL.
            let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, symbol.as_ptr()) };
            !address.is_null()
                && !NOT_CALLED.contains(name)
                && !called.iter().any(|one| one == name)
        })
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}
