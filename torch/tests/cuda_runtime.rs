//! The CUDA runtime's functions over the driver, through a kernel library that needs them and a driver that writes down
//! what it is asked (`cuda_runtime/`). Both are compiled here. One test: the runtime belongs to the process.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls the libraries through their C API")]

mod shared;

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::ptr::null;

use shared::message;
use shared::operators::{NOTHING, Value, find, load, sconce_op_call, unload};

#[link(name = "sconce_torch")]
unsafe extern "C" {
    fn torch_c10_cuda_free_error_msg(text: *mut c_char);
}

/// Compiles a source of `cuda_runtime/` to a shared library.
fn compiled(source: &str, name: &str, compiler: &[&str]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cuda_runtime");
    std::fs::create_dir_all(&folder).unwrap();
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cuda_runtime");
    // Tests run side by side, each in a process: none sees a file that another one has half written.
    let (library, unfinished) =
        (folder.join(name), folder.join(format!("{}.{name}", std::process::id())));
    let done = Command::new(compiler[0])
        .args(&compiler[1..])
        .args(["-Wall", "-Wextra", "-shared", "-fPIC", "-o"])
        .arg(&unfinished)
        .arg(sources.join(source))
        .arg(format!("-Wl,-soname,{name}"))
        .status()
        .unwrap();
    assert!(done.success(), "{source}");
    std::fs::rename(unfinished, &library).unwrap();
    library
}

/// A function that every library of the process sees.
fn symbol(name: &str) -> *mut c_void {
    let name = CString::new(name).unwrap();
    // SAFETY: the name ends with NUL.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    assert!(!found.is_null(), "{name:?}");
    found
}

/// Calls a function of the runtime with words: the types are those of its C declaration.
fn call(name: &str, words: &[usize]) -> i32 {
    assert!(words.len() <= 6);
    let mut all = [0; 6];
    all[..words.len()].copy_from_slice(words);
    // SAFETY: a function with at most six words of arguments, all in registers.
    let function: extern "C" fn(usize, usize, usize, usize, usize, usize) -> i32 =
        unsafe { std::mem::transmute(symbol(name)) };
    let [a, b, c, d, e, f] = all;
    function(a, b, c, d, e, f)
}

/// The word of a place for a result.
fn place<T>(value: &mut T) -> usize {
    std::ptr::from_mut(value).expose_provenance()
}

/// What the driver was asked since the last time.
fn calls() -> String {
    // SAFETY: it takes nothing and returns a text.
    let function: extern "C" fn() -> *const c_char =
        unsafe { std::mem::transmute(symbol("fake_calls")) };
    // SAFETY: a text that is valid until the next call.
    unsafe { CStr::from_ptr(function()) }.to_str().unwrap().to_owned()
}

fn text(name: &str, code: c_int) -> String {
    // SAFETY: the function takes a code and returns a text.
    let function: extern "C" fn(c_int) -> *const c_char =
        unsafe { std::mem::transmute(symbol(name)) };
    // SAFETY: a text of the library.
    unsafe { CStr::from_ptr(function(code)) }.to_str().unwrap().to_owned()
}

/// Calls the operator of the library.
fn launch(op: usize, way: i64) -> i64 {
    let way = Value { kind: 2, integer: way, ..NOTHING };
    let (mut result, mut count) = ([way], 0);
    // SAFETY: one argument, and an array of one result.
    let status = unsafe { sconce_op_call(op, &way, 1, result.as_mut_ptr(), 1, &mut count) };
    assert_eq!(status, 0, "{}", message());
    result[0].integer
}

const OUT_OF_MEMORY: i32 = 2;
const NOT_READY: i32 = 600;

fn devices() {
    let mut device = -1;
    assert_eq!(call("cudaGetDevice", &[place(&mut device)]), 0);
    assert_eq!((device, calls().as_str()), (0, ""), "asking makes no context");
    assert_eq!(call("cudaSetDevice", &[1]), 0);
    assert_eq!(calls(), "retain 1;current 1;");
    assert_eq!(call("cudaGetDevice", &[place(&mut device)]), 0);
    assert_eq!(device, 1);
    assert_eq!(call("cudaSetDevice", &[7]), 101);
    assert_eq!(call("cudaPeekAtLastError", &[]), 101);
    assert_eq!(call("cudaGetLastError", &[]), 101);
    assert_eq!(call("cudaGetLastError", &[]), 0, "taken once");
    assert_eq!(call("cudaGetDevice", &[0]), 1, "no place");
    assert_eq!(call("cudaGetLastError", &[]), 1);
    // An error that a kernel reported is not that of the next kernel.
    assert_eq!(call("cudaSetDevice", &[7]), 101);
    let mut reported = null::<c_char>();
    let place_of_text = place(&mut reported);
    assert_eq!(call("torch_c10_cuda_check_msg", &[101, 0, 0, 0, 0, place_of_text]), 0);
    assert!(!reported.is_null());
    // SAFETY: a text of that function, which is freed once.
    unsafe { torch_c10_cuda_free_error_msg(reported.cast_mut()) };
    assert_eq!(call("cudaPeekAtLastError", &[]), 0);
    let mut number = 0;
    assert_eq!(call("cudaGetDeviceCount", &[place(&mut number)]), 0);
    assert_eq!(number, 2);
    assert_eq!(call("cudaDeviceGetAttribute", &[place(&mut number), 75, 1]), 0);
    assert_eq!(number, 751);
    assert_eq!(call("cudaDriverGetVersion", &[place(&mut number)]), 0);
    assert_eq!(number, 13000);
    assert_eq!(call("cudaDeviceSynchronize", &[]), 0);
    assert_eq!(calls(), "synchronize 1;");
    assert_eq!(text("cudaGetErrorString", OUT_OF_MEMORY), "out of memory");
    assert_eq!(text("cudaGetErrorName", OUT_OF_MEMORY), "CUDA_ERROR_OUT_OF_MEMORY");
    assert_eq!(text("cudaGetErrorString", 12345), "unrecognized error code");
    // A new thread has device 0, whose context appears with the first call that needs one.
    std::thread::spawn(|| {
        assert_eq!(call("cudaDeviceSynchronize", &[]), 0);
        assert_eq!(calls(), "retain 0;current 0;synchronize 0;");
        assert_eq!(call("cudaSetDevice", &[1]), 0);
        assert_eq!(calls(), "current 1;", "a context is kept once");
    })
    .join()
    .unwrap();
}

fn memory() {
    let mut address = 1_usize;
    assert_eq!(call("cudaMalloc", &[place(&mut address), 0]), 0);
    assert_eq!((address, calls().as_str()), (0, ""));
    assert_eq!(call("cudaMalloc", &[place(&mut address), 1 << 30]), OUT_OF_MEMORY);
    assert_eq!(call("cudaGetLastError", &[]), OUT_OF_MEMORY);
    assert_eq!(call("cudaMalloc", &[place(&mut address), 4]), 0);
    let (mut from, mut into) = (0x0102_0304_u32, 0_u32);
    assert_eq!(call("cudaMemcpy", &[address, place(&mut from), 4, 1]), 0);
    assert_eq!(call("cudaMemcpyAsync", &[place(&mut into), address, 4, 2, 0x100]), 0);
    assert_eq!(into, from);
    assert_eq!(call("cudaMemcpy", &[address, place(&mut from), 4, 5]), 21, "no direction");
    assert_eq!(call("cudaMemset", &[address, 0x1ff, 3]), 0);
    assert_eq!(call("cudaMemsetAsync", &[address, 0, 1, 0x100]), 0);
    assert_eq!(call("cudaMemcpy", &[place(&mut into), address, 4, 4]), 0);
    assert_eq!(into, 0x01ff_ff00);
    assert_eq!(call("cudaFree", &[address]), 0);
    assert_eq!(call("cudaFree", &[0]), 0);
    assert_eq!(calls(), "allocate 4;copy 4;copy 4 on 256;fill 3;fill 1 on 256;copy 4;free;");
    assert_eq!(call("cudaMallocAsync", &[place(&mut address), 8, 0x100]), 0);
    assert_eq!(call("cudaFreeAsync", &[address, 0x100]), 0);
    assert_eq!(call("cudaHostAlloc", &[place(&mut address), 8, 2]), 0);
    assert_eq!(call("cudaFreeHost", &[address]), 0);
    assert_eq!(call("cudaMallocHost", &[place(&mut address), 8]), 0);
    assert_eq!(call("cudaFreeHost", &[address]), 0);
    assert_eq!(
        calls(),
        "allocate 8 on 256;free on 256;host 8 flags 2;free host;host 8 flags 0;free host;"
    );
    let (mut free, mut total) = (0_usize, 0_usize);
    assert_eq!(call("cudaMemGetInfo", &[place(&mut free), place(&mut total)]), 0);
    assert_eq!((free, total), (3, 4));
    call("cudaGetLastError", &[]);
}

/// A function that is refused for its place makes nothing that the caller could not free.
fn places_that_are_null() {
    call("cudaGetLastError", &[]);
    calls();
    for (name, words) in [
        ("cudaMalloc", [0, 64, 0]),
        ("cudaMallocAsync", [0, 64, 0x100]),
        ("cudaMallocHost", [0, 64, 0]),
        ("cudaHostAlloc", [0, 64, 2]),
        ("cudaStreamCreate", [0; 3]),
        ("cudaStreamCreateWithFlags", [0, 1, 0]),
        ("cudaStreamCreateWithPriority", [0, 1, 5]),
        ("cudaEventCreate", [0; 3]),
        ("cudaEventCreateWithFlags", [0, 2, 0]),
        ("cudaThreadExchangeStreamCaptureMode", [0; 3]),
    ] {
        assert_eq!(call(name, &words), 1, "{name}");
        assert_eq!(calls(), "", "{name}");
        assert_eq!(call("cudaGetLastError", &[]), 1, "{name}");
    }
}

fn streams() {
    let (mut stream, mut event, mut status) = (0_usize, 0_usize, -1);
    assert_eq!(call("cudaStreamCreate", &[place(&mut stream)]), 0);
    assert_eq!(call("cudaStreamCreateWithFlags", &[place(&mut stream), 1]), 0);
    assert_eq!(call("cudaStreamCreateWithPriority", &[place(&mut stream), 1, 5]), 0);
    assert_eq!(call("cudaEventCreate", &[place(&mut event)]), 0);
    assert_eq!(call("cudaEventCreateWithFlags", &[place(&mut event), 2]), 0);
    assert_eq!(call("cudaEventRecord", &[event, stream]), 0);
    assert_eq!(call("cudaStreamWaitEvent", &[stream, event, 0]), 0);
    assert_eq!(call("cudaEventQuery", &[event]), NOT_READY);
    assert_eq!(call("cudaStreamQuery", &[stream]), NOT_READY);
    assert_eq!(call("cudaGetLastError", &[]), NOT_READY);
    assert_eq!(call("cudaEventSynchronize", &[event]), 0);
    assert_eq!(call("cudaStreamSynchronize", &[stream]), 0);
    assert_eq!(call("cudaStreamIsCapturing", &[stream, place(&mut status)]), 0);
    assert_eq!(status, 1);
    let mut milliseconds = 0.0_f32;
    assert_eq!(call("cudaEventElapsedTime", &[place(&mut milliseconds), event, 0]), 0);
    assert_eq!(milliseconds, 2.5);
    assert_eq!(call("cudaEventDestroy", &[event]), 0);
    assert_eq!(call("cudaStreamDestroy", &[stream]), 0);
    assert_eq!(
        calls(),
        "stream 0 0;stream 1 0;stream 1 5;event 0;event 2;record 512 on 256;stream 256 waits for 512, 0;\
         wait for event 512;wait for stream 256;event 512 ends;stream 256 ends;"
    );
}

fn kernels(op: usize) {
    assert_eq!(launch(op, 0), 0);
    assert_eq!(
        calls(),
        "mode 2;load code;mode 1;kernel scale;launch code 1 2 3 by 4 5 6, 64 bytes on 256 with 7;"
    );
    assert_eq!(launch(op, 1), 0);
    assert_eq!(calls(), "launch code 8 1 1 by 32 1 1, 0 bytes on 0 with 7;", "loaded once");
    assert_eq!(launch(op, 2), 500, "code without the kernel");
    assert_eq!(launch(op, 3), 98, "what was not registered");
    assert_eq!(launch(op, 4), -1, "no configuration");
    calls();
    assert_eq!(launch(op, 5), 0);
    assert_eq!(calls(), "function ode attribute 8 is 99;");
    assert_eq!(launch(op, 6), 42);
}

fn kernels_with_attributes(op: usize) {
    calls();
    assert_eq!(launch(op, 7), 0);
    assert_eq!(calls(), "launch code 1 2 3 by 4 5 6, 64 bytes on 256 with 7, 1 attributes, 77;");
    assert_eq!(launch(op, 8), 0);
    assert_eq!(calls(), "launch code 1 2 3 by 4 5 6 together, 64 bytes on 256 with 7;");
    assert_eq!(launch(op, 9), 0);
    assert_eq!(launch(op, 10), 0);
    assert_eq!(calls(), "copy 3;");
    assert_eq!(launch(op, 11), 0);
    assert_eq!(calls(), "open memory, flags 1;close memory 0;");
    assert_eq!(launch(op, 12), 0);
    assert_eq!(calls(), "copy 2 rows of 2 from 1 to 2 on 256;");
}

/// A number of a struct that the runtime wrote.
fn number(bytes: &[u8], at: usize) -> i32 {
    i32::from_ne_bytes(bytes[at..at + 4].try_into().unwrap())
}

fn properties() {
    // The offsets are those of `cudaDeviceProp` in the headers of CUDA 13 and 12.
    for (name, size, processors, cooperative, cluster) in [
        ("cudaGetDeviceProperties", 1008, 384, 668, 748),
        ("cudaGetDeviceProperties_v2", 1032, 388, 688, 772),
    ] {
        let mut found = vec![0xaa_u8; size + 8];
        assert_eq!(call(name, &[found.as_mut_ptr().expose_provenance(), 1]), 0);
        assert_eq!(found[..20], *b"a device, number 1\0\0");
        assert_eq!(found[256..272], [4; 16]);
        assert_eq!(found[288..296], ((80_u64 << 30) | 1).to_ne_bytes());
        for (at, attribute) in [
            (308, 10),
            (320, 1),
            (360, 75),
            (364, 76),
            (processors, 16),
            (cooperative, 95),
            (cluster, 120),
        ] {
            assert_eq!(number(&found, at), attribute * 10 + 1, "{name}, {attribute}");
        }
        assert_eq!(found[296..304], 81_u64.to_ne_bytes(), "a size");
        assert_eq!(found[size..], [0xaa; 8], "nothing is written behind it");
        assert_eq!(call(name, &[0, 1]), 1, "no place");
        assert_eq!(call(name, &[found.as_mut_ptr().expose_provenance(), 7]), 101, "no device");
    }
    let mut of_twelve = vec![0_u8; 1032];
    assert_eq!(
        call("cudaGetDeviceProperties_v2", &[of_twelve.as_mut_ptr().expose_provenance(), 0]),
        0
    );
    assert_eq!((number(&of_twelve, 348), number(&of_twelve, 608)), (130, 360), "clocks");
    call("cudaGetLastError", &[]);
}

fn addresses() {
    calls();
    for (address, kind, device, on_device, on_host) in
        [(5, 2, 1, 5, 7), (8, 3, 1, 8, 10), (6, 0, -2, 0, 6)]
    {
        let mut found = [0_u64; 4];
        let place = found.as_mut_ptr().expose_provenance();
        assert_eq!(call("cudaPointerGetAttributes", &[place, address]), 0);
        let bytes: Vec<u8> = found.iter().flat_map(|word| word.to_ne_bytes()).collect();
        assert_eq!((number(&bytes, 0), number(&bytes, 4)), (kind, device), "{address}");
        assert_eq!(found[1..], [on_device, on_host, 0], "{address}");
    }
    let mut address = 0_usize;
    assert_eq!(call("cudaHostGetDevicePointer", &[place(&mut address), 16, 0]), 0);
    assert_eq!(address, 17);
    let mut mode = 2_i32;
    assert_eq!(call("cudaThreadExchangeStreamCaptureMode", &[place(&mut mode)]), 0);
    assert_eq!(mode, 1);
    assert_eq!(call("cudaThreadExchangeStreamCaptureMode", &[place(&mut mode)]), 0);
    assert_eq!((mode, calls().as_str()), (2, "mode 2;mode 1;"));
    let name = c"cuTensorMapEncodeTiled".as_ptr().expose_provenance();
    let mut found = -1_i32;
    let places = [place(&mut address), place(&mut found)];
    assert_eq!(call("cudaGetDriverEntryPoint", &[name, places[0], 2, places[1]]), 0);
    assert_eq!((address, found), (name, 0));
    let words = [name, places[0], 12_080, 0, places[1]];
    assert_eq!(call("cudaGetDriverEntryPointByVersion", &words), 0);
    assert_eq!(
        calls(),
        "address of cuTensorMapEncodeTiled, 12000, 2;address of cuTensorMapEncodeTiled, 12080, 0;"
    );
}

#[test]
fn libraries_call_the_driver_through_our_own_runtime() {
    let driver = compiled("driver.c", "libcuda.so.1", &["cc", "-std=c11"]);
    let library = compiled("library.cc", "libneeds_cuda.so", &["c++", "-std=c++17"]);
    shared::set_variable("SCONCE_BACKEND", "sim");
    shared::set_variable("SCONCE_LIBCUDART", "/nowhere/libcudart.so");
    let why = load(&library).unwrap_err();
    assert!(why.contains("/nowhere/libcudart.so") && why.contains("own"), "{why}");
    shared::set_variable("SCONCE_LIBCUDART", "own");
    let name = CString::new(driver.to_str().unwrap()).unwrap();
    // SAFETY: the name ends with NUL. Later, the library's name stands for it.
    let opened = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL) };
    assert!(!opened.is_null());

    let library = load(&library).unwrap();
    let op = find(c"sample::launch").unwrap();
    assert_eq!(calls(), "", "loading a library makes no call of the driver");
    devices();
    memory();
    places_that_are_null();
    streams();
    kernels(op);
    kernels_with_attributes(op);
    properties();
    addresses();
    unload(library);
    assert_eq!(calls(), "unload code;");
}
