//! Calls of exported functions by their names, with any arguments.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls functions by address")]

use std::ffi::{CString, c_void};

/// Arguments in integer registers (the last ones on the stack) and in floating-point registers; the
/// calling convention fills the two kinds independently of their order.
type AnyFunction = unsafe extern "C" fn(
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
    f64,
    f64,
    f64,
    f64,
) -> u64;

/// Integer arguments that registers hold.
const REGISTERS: usize = 6;
/// Integer arguments in all.
const MOST_WORDS: usize = 14;

/// The library that the tests of the boundary load.
#[derive(Clone, Copy)]
pub(crate) struct Library(*mut c_void);

impl Library {
    pub(crate) fn open() -> Library {
        let path = CString::new(testkit::shared_library().to_str().unwrap()).unwrap();
        // SAFETY: a library of ours, opened by its path.
        let library = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW) };
        assert!(!library.is_null());
        Library(library)
    }

    /// An exported function.
    pub(crate) fn function(self, name: &str) -> Function {
        let text = CString::new(name).unwrap();
        // SAFETY: an open library and a NUL-terminated name.
        let address = unsafe { libc::dlsym(self.0, text.as_ptr()) };
        assert!(!address.is_null(), "{name} is not exported");
        // SAFETY: a function takes its arguments from the registers it needs and ignores the others.
        Function(unsafe { std::mem::transmute::<*mut c_void, AnyFunction>(address) })
    }
}

/// A function of the library.
pub(crate) struct Function(AnyFunction);

impl Function {
    /// Calls the function.
    ///
    /// # Safety
    /// The arguments are ones that a caller may pass.
    pub(crate) unsafe fn call(&self, arguments: &Arguments) -> u64 {
        let [a, b, c, d, e, f, g, h, i, j, k, l, m, n] = arguments.all_words();
        let mut reals = arguments.reals.clone();
        reals.resize(4, 0.0);
        let [w, x, y, z] = reals[..] else { panic!("teach this test more: {arguments:?}") };
        // SAFETY: `AnyFunction` passes every register that arguments can be in, and this function demands that they
        // suit the function.
        unsafe { self.0(a, b, c, d, e, f, g, h, i, j, k, l, m, n, w, x, y, z) }
    }
}

/// The arguments of a call.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arguments {
    registers: Vec<u64>,
    stack: Vec<u64>,
    reals: Vec<f64>,
}

impl Arguments {
    /// Adds an integer, a pointer or a struct of two words, which is never split between registers and stack.
    pub(crate) fn words(&mut self, words: &[u64]) {
        let fits = self.registers.len() + words.len() <= REGISTERS;
        if fits { &mut self.registers } else { &mut self.stack }.extend(words);
    }

    pub(crate) fn real(&mut self, value: f64) {
        self.reals.push(value);
    }

    fn all_words(&self) -> [u64; MOST_WORDS] {
        let mut words = [0; MOST_WORDS];
        assert!(REGISTERS + self.stack.len() <= MOST_WORDS, "teach this test more: {self:?}");
        words[..self.registers.len()].copy_from_slice(&self.registers);
        words[REGISTERS..REGISTERS + self.stack.len()].copy_from_slice(&self.stack);
        words
    }
}
