//! Structs of the C API with bytes in them that no caller should write, and of other versions' sizes.
//!
//! Which structs, fields and functions there are is read from the header, so that a new one is covered or
//! fails the test.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls the C API with bytes")]

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use sconce::sconce_status::*;
use sconce::*;
use testkit::libraries::products::Block;
use testkit::structs::{self, Struct};
use testkit::{in_child, last_message};

use crate::descriptions::{Bytes, good};
use crate::initialisers::initialiser;

/// With pages, as other memory does not sleep.
const SIM: [(&str, &str); 2] = [("SCONCE_BACKEND", "sim"), ("SCONCE_ALLOC_CONF", "policy:pages")];

/// Functions that read a struct, and those that fill one in: `(function, struct)`.
fn functions(of_results: bool) -> Vec<(String, Struct)> {
    let header = testkit::header::text();
    let structs = structs::structs(&header);
    let mut found = Vec::new();
    for prototype in testkit::header::prototypes(&header) {
        for (kind, _) in &prototype.parameters {
            let name = kind.replace("const ", "").replace("struct ", "").replace([' ', '*'], "");
            // The options of tensors may be all 0, which is a tensor of F32 on device 0; `tests/tensor/misuse.rs`
            // passes every byte in them.
            // So may the configuration of a communicator; `tests/comm/life.rs` passes wrong ones.
            if name == "sconce_tensor_options" || name == "sconce_comm_config" {
                continue;
            }
            let sized = structs.get(&name).filter(|found| found.tells_its_size());
            if let Some(found_struct) = sized.filter(|_| kind.contains("const") != of_results) {
                found.push((prototype.name.clone(), found_struct.clone()));
            }
        }
    }
    assert!(found.len() >= 4, "the header was not understood: {found:?}");
    found
}

/// Calls a function of the library with a struct of the test.
macro_rules! call {
    ($function:ident($($argument:expr),*)) => {
        // SAFETY: the struct has as many readable and writable bytes as any version of it, and paths in it are NULL;
        // addresses of devices are checked; the kernel has no parameters; other places are writable.
        unsafe { $function($($argument),*) }
    };
}

/// Memory for the calls.
struct Operands([Block; 3], *mut sconce_kernel);

impl Operands {
    fn new() -> Operands {
        Operands([0; 3].map(|_| Block::new(4096)), kernel())
    }

    /// Calls a function with the description.
    fn call(&self, function: &str, desc: &Bytes) -> sconce_status {
        let desc: *const c_void = std::ptr::from_ref(desc).cast();
        let [a, b, c] = [0, 1, 2].map(|i| self.0[i].0);
        let mut sizes = [0; 3];
        let stream = sconce_stream { id: 0, device: 0, reserved: 0 };
        match function {
            "sconce_init_with" => call!(sconce_init_with(desc.cast())),
            "sconce_matmul" => call!(sconce_matmul(desc.cast(), a, b, c)),
            "sconce_convolution" => call!(sconce_convolution(desc.cast(), a, b, c)),
            "sconce_matmul_on" => call!(sconce_matmul_on(desc.cast(), a, b, c, stream)),
            "sconce_convolution_on" => call!(sconce_convolution_on(desc.cast(), a, b, c, stream)),
            "sconce_fft_on" => call!(sconce_fft_on(desc.cast(), a, b, stream)),
            "sconce_copy_strided_on" => {
                call!(sconce_copy_strided_on(desc.cast(), a, b, CBool::FALSE, stream))
            }
            "sconce_convolution_get_output_sizes" => {
                call!(sconce_convolution_get_output_sizes(desc.cast(), sizes.as_mut_ptr()))
            }
            "sconce_fft" => call!(sconce_fft(desc.cast(), a, b)),
            "sconce_copy_strided" => call!(sconce_copy_strided(desc.cast(), a, b, CBool::FALSE)),
            "sconce_kernel_launch" => {
                call!(sconce_kernel_launch(self.1, desc.cast(), null(), null(), 0))
            }
            "sconce_kernel_launch_on" => {
                call!(sconce_kernel_launch_on(self.1, desc.cast(), null(), null(), 0, stream))
            }
            "sconce_memory_pool_sleep" => {
                let status = call!(sconce_memory_pool_sleep(null_mut(), 0, desc.cast()));
                awake_again(status)
            }
            "sconce_memory_sleep" => {
                let status = call!(sconce_memory_sleep(0, desc.cast()));
                awake_again(status)
            }
            other => panic!("this test does not know how to call {other}; teach it"),
        }
    }
}

/// The status of a call that may have put memory of device 0 to sleep, which is woken.
fn awake_again(status: sconce_status) -> sconce_status {
    let message = last_message();
    assert_eq!(sconce_memory_wake(0, 0), SCONCE_OK, "{message}; {}", last_message());
    status
}

unsafe extern "C" fn nothing(_: *mut sconce_sim_launch, _: *mut c_void) {}

/// A kernel without parameters.
fn kernel() -> *mut sconce_kernel {
    let ptx = c".version 8.0\n.target sm_75\n.visible .entry nothing() {}";
    let (name, mut module, mut kernel) = (c"nothing".as_ptr(), null_mut(), null_mut());
    let function: sconce_sim_kernel_function = Some(nothing);
    // SAFETY: a good text, and a function that does nothing.
    let registered =
        unsafe { sconce_sim_register_kernel(name, null(), 0, 16, 0, function, null_mut(), None) };
    // SAFETY: the bytes of the text, and a good place.
    let loaded = unsafe { sconce_module_load(ptx.as_ptr().cast(), ptx.count_bytes(), &mut module) };
    // SAFETY: a good text and place.
    let found = unsafe { sconce_kernel_get(module, name, &mut kernel) };
    assert_eq!([registered, loaded, found], [SCONCE_OK; 3], "{}", last_message());
    kernel
}

fn start() -> Operands {
    let options = good("sconce_options");
    // SAFETY: whole options.
    let status = unsafe { sconce_init_with(std::ptr::from_ref(&options).cast()) };
    assert_eq!(status, SCONCE_OK, "{}", last_message());
    Operands::new()
}

#[test]
fn any_byte_of_a_description_may_be_any() {
    in_child("any_byte_of_a_description_may_be_any", &SIM, || {
        let operands = start();
        for (function, described) in functions(false) {
            let good = good(&described.name);
            assert_eq!(operands.call(&function, &good), SCONCE_OK, "{}", last_message());
            for field in &described.fields {
                for at in field.offset..field.offset + field.bytes {
                    // All where a type might have values that are none; of numbers some.
                    let few =
                        matches!(field.kind.as_str(), "int64_t" | "uint64_t" | "size_t" | "double");
                    let step = if few { 51 } else { 1 };
                    for byte in (0..=u8::MAX).step_by(step) {
                        let mut bad = good;
                        bad.0[at] = byte;
                        let status = operands.call(&function, &bad);
                        assert!(
                            (0..14).contains(&(status as i32)),
                            "{function}: {}[{}] = {byte}: {status:?} {}",
                            field.name,
                            at - field.offset,
                            last_message()
                        );
                    }
                }
                assert_eq!(sconce_device_synchronize(0), SCONCE_OK, "{function}: {}", field.name);
            }
        }
    });
}

#[test]
fn a_bool_of_a_description_is_0_or_1() {
    in_child("a_bool_of_a_description_is_0_or_1", &SIM, || {
        let operands = start();
        let mut bools = 0;
        for (function, described) in functions(false) {
            for field in described.fields.iter().filter(|field| field.kind == "bool") {
                bools += 1;
                for byte in 0..=u8::MAX {
                    let mut desc = good(&described.name);
                    desc.0[field.offset] = byte;
                    // Twice: a transform remembers its last descriptions.
                    for _ in 0..2 {
                        let status = operands.call(&function, &desc);
                        if byte <= 1 {
                            assert_eq!(status, SCONCE_OK, "{}", last_message());
                            continue;
                        }
                        assert_eq!(status, SCONCE_ERROR_INVALID_ARGUMENT, "{} {byte}", field.name);
                        let words = format!("desc.{} is the byte {byte};", field.name);
                        assert!(last_message().starts_with(&words), "{}", last_message());
                    }
                }
            }
        }
        assert_eq!(
            bools, 8,
            "transpose_a, transpose_b, may_overwrite_input, cooperative, each for two functions"
        );
    });
}

#[test]
fn descriptions_of_other_sizes_are_accepted_if_nothing_is_lost() {
    in_child("descriptions_of_other_sizes_are_accepted_if_nothing_is_lost", &SIM, || {
        let operands = start();
        for (function, described) in functions(false) {
            let (good, bytes) = (good(&described.name), described.bytes);
            for larger in [bytes + 1, bytes + 8, 4096] {
                let newer = good.with_size(larger);
                assert_eq!(operands.call(&function, &newer), SCONCE_OK, "{}", last_message());
                for at in [bytes, larger - 1] {
                    let mut asks_for_more = newer;
                    asks_for_more.0[at] = 1;
                    let status = operands.call(&function, &asks_for_more);
                    assert_eq!(status, SCONCE_ERROR_INVALID_ARGUMENT, "{function}");
                    assert!(
                        last_message().contains("or use a newer library"),
                        "{}",
                        last_message()
                    );
                }
            }
            for size in [0, 4, bytes - 8, 4097, u32::MAX as usize] {
                let status = operands.call(&function, &good.with_size(size));
                assert_eq!(status, SCONCE_ERROR_INVALID_ARGUMENT, "{function} {size}");
                let words = format!(".struct_size is {size};");
                assert!(last_message().contains(&words), "{}", last_message());
                assert!(last_message().contains(&initialiser(&described)), "{}", last_message());
            }
        }
    });
}

#[test]
fn a_zeroed_description_is_refused_with_its_initialisers_name() {
    in_child("a_zeroed_description_is_refused_with_its_initialisers_name", &SIM, || {
        let operands = start();
        for (function, described) in functions(false) {
            if described.name == "sconce_options" {
                continue; // There 0 means: as the environment says.
            }
            for size in [0, described.bytes, described.bytes + 8] {
                let status = operands.call(&function, &Bytes::zeroed(size));
                assert_eq!(status, SCONCE_ERROR_INVALID_ARGUMENT, "{function} {size}");
                let message = last_message();
                assert!(message.contains(&initialiser(&described)), "{message}");
                assert_eq!(message.contains("is zero in all fields"), size != 0, "{message}");
            }
        }
    });
}

#[test]
fn results_go_into_structs_of_other_sizes() {
    in_child("results_go_into_structs_of_other_sizes", &SIM, || {
        let operands = start();
        for (function, filled) in functions(true) {
            let fill = |bytes: &mut Bytes| {
                let place: *mut c_void = std::ptr::from_mut(bytes).cast();
                match function.as_str() {
                    "sconce_device_get_properties" => {
                        call!(sconce_device_get_properties(0, place.cast()))
                    }
                    "sconce_memory_get_stats" => call!(sconce_memory_get_stats(0, place.cast())),
                    "sconce_host_memory_get_stats" => {
                        call!(sconce_host_memory_get_stats(place.cast()))
                    }
                    "sconce_fft_cache_get_stats" => {
                        call!(sconce_fft_cache_get_stats(0, place.cast()))
                    }
                    "sconce_blas_get_workspace_stats" => {
                        call!(sconce_blas_get_workspace_stats(0, place.cast()))
                    }
                    "sconce_kernel_get_attributes" => {
                        call!(sconce_kernel_get_attributes(operands.1, 0, place.cast()))
                    }
                    "sconce_memory_pool_get_sleep_state" => {
                        call!(sconce_memory_pool_get_sleep_state(null_mut(), 0, place.cast()))
                    }
                    "sconce_memory_get_page_figures" => {
                        call!(sconce_memory_get_page_figures(0, place.cast()))
                    }
                    other => panic!("this test does not know how to call {other}; teach it"),
                }
            };
            let bytes = filled.bytes;
            // What has grown since its first version.
            let first = match &*filled.name {
                "sconce_memory_stats" => bytes - 8,
                "sconce_device_properties" => bytes - 48,
                _ => bytes,
            };
            let mut whole = Bytes::zeroed(bytes);
            assert_eq!(fill(&mut whole), SCONCE_OK, "{}", last_message());
            let mut newer = Bytes([0xee; 8192]).with_size(bytes + 16);
            assert_eq!(fill(&mut newer), SCONCE_OK, "{}", last_message());
            assert_eq!(newer.0[..4], ((bytes + 16) as u32).to_ne_bytes());
            assert_eq!(newer.0[4..16], whole.0[4..16], "{function}");
            assert_eq!(newer.0[bytes - 8..bytes], whole.0[bytes - 8..bytes], "{function}");
            assert_eq!(newer.0[bytes..bytes + 16], [0; 16], "{function}: zeros for a newer caller");
            assert_eq!(newer.0[bytes + 16], 0xee, "{function}: beyond the caller's struct");
            for size in [0, 4, first - 8, 4097] {
                let mut bad = Bytes([0xee; 8192]).with_size(size);
                assert_eq!(fill(&mut bad), SCONCE_ERROR_INVALID_ARGUMENT, "{function} {size}");
                assert!(last_message().contains(&initialiser(&filled)), "{}", last_message());
                assert!(
                    bad.0[4..].iter().all(|byte| *byte == 0xee),
                    "{function}: nothing is written"
                );
            }
        }
    });
}
