//! What the CUDA backend hands to NVRTC, and what it makes of the answers.

#![allow(unsafe_code, reason = "reaches into the fake libraries")]
#![allow(clippy::unwrap_used, reason = "a test may fail loudly anywhere")]

use std::ffi::{CStr, CString, c_char, c_int};

use sconce_base::error::{Result, Status};
use sconce_driver::prelude::*;
use sconce_driver::{Compilation, CompiledForm, ModuleFormat, SourceCode};
use testkit::fake_cuda::library::FakeLibrary;
use testkit::fake_cuda::{Fake, open_beside, second};

/// `struct program` of `fake_nvrtc.c`, as far as it is read.
#[repr(C)]
struct Given {
    source: [c_char; 8192],
    name: [c_char; 64],
    headers: [c_char; 32768],
    options: [c_char; 1024],
    expressions: [c_char; 1024],
}

fn beside(nvrtc: &[&str]) -> (Fake, FakeLibrary) {
    let library = FakeLibrary::new("fake_nvrtc.c", "libnvrtc.so.13", nvrtc);
    let path = library.path();
    let fake = open_beside(&["CAPABILITY=90"], |config| {
        config.libnvrtc = Some(path);
        config.cuda_home = Some("/nowhere".to_owned());
    });
    (fake.ok().unwrap(), library)
}

fn c(text: &str) -> CString {
    CString::new(text).unwrap()
}

fn source(text: &str) -> SourceCode {
    SourceCode { name: c("mine.cu"), text: c(text), ..SourceCode::default() }
}

fn compile(fake: &Fake, source: &SourceCode, form: CompiledForm) -> Result<Compilation> {
    fake.driver.compile_source(second(), source, form)
}

/// A text that the fake was given.
fn given<const N: usize>(library: &FakeLibrary, field: fn(&Given) -> &[c_char; N]) -> String {
    // SAFETY: the fake's program has this layout, and no call is under way.
    let program = unsafe { &*library.symbol("last").cast::<Given>() };
    // SAFETY: the fake ends each text with a NUL.
    unsafe { CStr::from_ptr(field(program).as_ptr()) }.to_str().unwrap().to_owned()
}

fn live_programs(library: &FakeLibrary) -> c_int {
    // SAFETY: a function of this type.
    let live: extern "C" fn() -> c_int =
        unsafe { std::mem::transmute(library.symbol("live_programs")) };
    live()
}

#[test]
fn a_source_is_handed_over_with_all_that_belongs_to_it() {
    let (fake, library) = beside(&[]);
    let mut source = source("some text");
    source.headers = vec![(c("a.cuh"), c("text of a"))];
    source.options = vec![c("--use_fast_math"), c("-DN=3")];
    source.kernels = vec![c("scale<float>"), c("mine::step")];
    let made = compile(&fake, &source, CompiledForm::MachineCode).unwrap();
    let code = made.code.unwrap();
    assert_eq!((made.log.as_str(), code.code.format()), ("", ModuleFormat::Cubin));
    assert_eq!(
        (code.code.name(), code.entries.as_slice()),
        ("mine.cu", &["_Z0", "_Z1"].map(String::from)[..])
    );
    assert_eq!(given(&library, |p| &p.source), "some text");
    assert_eq!(given(&library, |p| &p.name), "mine.cu");
    assert_eq!(given(&library, |p| &p.expressions), "scale<float>;mine::step;");
    let options = given(&library, |p| &p.options);
    // A toolkit of the machine may add its headers.
    assert!(options.starts_with("--use_fast_math;-DN=3;--gpu-architecture=sm_90;"), "{options}");
    let headers = given(&library, |p| &p.headers);
    assert!(headers.starts_with("sconce/cuda/device.cuh=") && headers.contains("class Engine"));
    assert!(headers.ends_with("\na.cuh=text of a\n"), "{headers}");
    assert_eq!(live_programs(&library), 0);
    assert_eq!(fake.retained(1), 0, "no context was made");
}

#[test]
fn a_source_may_bring_its_own_header_of_device_code_and_choose_the_architecture() {
    let (fake, library) = beside(&[]);
    let mut source = source("");
    source.headers = vec![(c("sconce/cuda/device.cuh"), c("mine"))];
    source.options = vec![c("-arch=compute_80")];
    let made = compile(&fake, &source, CompiledForm::MachineCode).unwrap();
    // There is no machine code for a virtual architecture.
    assert_eq!(made.code.unwrap().code.format(), ModuleFormat::Ptx);
    assert_eq!(given(&library, |p| &p.headers), "sconce/cuda/device.cuh=mine\n");
    assert!(!given(&library, |p| &p.options).contains("gpu-architecture"));
}

#[test]
fn ptx_is_made_on_request_and_for_devices_that_the_library_does_not_know() {
    let (fake, library) = beside(&[]);
    let made = compile(&fake, &source(""), CompiledForm::Ptx).unwrap();
    assert_eq!(made.code.unwrap().code.format(), ModuleFormat::Ptx);
    assert!(given(&library, |p| &p.options).starts_with("--gpu-architecture=compute_90;"));
    assert!(!library.names().contains(&"nvrtcGetCUBIN".to_owned()));

    let (fake, library) = beside(&["ARCHITECTURES=75,80,86"]);
    let made = compile(&fake, &source(""), CompiledForm::MachineCode).unwrap();
    assert_eq!(made.code.unwrap().code.format(), ModuleFormat::Ptx);
    assert!(given(&library, |p| &p.options).starts_with("--gpu-architecture=compute_86;"));

    let (fake, _library) = beside(&["ARCHITECTURES=100"]);
    let error = compile(&fake, &source(""), CompiledForm::MachineCode).unwrap_err();
    assert_eq!(error.status(), Status::NotSupported);
    assert!(error.message().contains("10.0 and later, not for 9.0"), "{error}");
}

#[test]
fn errors_and_warnings_reach_the_caller() {
    let (fake, library) = beside(&[]);
    let made = compile(&fake, &source("an error"), CompiledForm::MachineCode).unwrap();
    let error = made.code.unwrap_err();
    assert_eq!((error.status(), error.backend_code()), (Status::InvalidArgument, 6));
    assert_eq!(made.log, "mine.cu(1): error: this is wrong");
    for part in ["mine.cu", "NVRTC_ERROR_COMPILATION (6)", &made.log] {
        assert!(error.message().contains(part), "{part}: {error}");
    }
    let made = compile(&fake, &source("a warning"), CompiledForm::MachineCode).unwrap();
    assert!(made.code.is_ok());
    assert_eq!(made.log, "mine.cu(1): warning: this is odd");
    assert_eq!(live_programs(&library), 0);
}

#[test]
fn every_call_may_fail_and_leaves_no_program() {
    let (fake, library) = beside(&[]);
    let mut source = source("");
    source.kernels = vec![c("scale<float>")];
    compile(&fake, &source, CompiledForm::MachineCode).unwrap().code.unwrap();
    compile(&fake, &source, CompiledForm::Ptx).unwrap().code.unwrap();
    let mut names = library.names();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), 13, "{names:?}");
    for call in names.iter().filter(|name| *name != "nvrtcDestroyProgram") {
        for (code, status) in [
            (1, Status::OutOfMemory),
            (5, Status::InvalidArgument),
            (7, Status::LibraryNotFound),
            (11, Status::Driver),
            (4711, Status::Driver),
        ] {
            library.fail(call, code);
            // Of two forms, one uses the call.
            let errors: Vec<_> = [CompiledForm::MachineCode, CompiledForm::Ptx]
                .iter()
                .filter_map(|form| match compile(&fake, &source, *form) {
                    Err(error) => Some(error),
                    Ok(made) => made.code.err(),
                })
                .collect();
            assert!(!errors.is_empty(), "{call}");
            let told = call.trim_end_matches("Size");
            for error in errors {
                assert_eq!((error.status(), error.backend_code()), (status, code), "{error}");
                assert!(error.message().contains(told), "{call}: {error}");
            }
            assert_eq!(live_programs(&library), 0, "{call}");
            library.fail("", 0);
            library.names();
        }
    }
}

#[test]
fn an_old_release_makes_ptx_and_is_not_asked_what_it_knows() {
    let (fake, library) = beside(&[
        "nvrtcGetCUBIN=gone",
        "nvrtcGetCUBINSize=gone_too",
        "nvrtcGetNumSupportedArchs=gone_as_well",
    ]);
    let made = compile(&fake, &source(""), CompiledForm::MachineCode).unwrap();
    assert_eq!(made.code.unwrap().code.format(), ModuleFormat::Ptx);
    assert!(given(&library, |p| &p.options).starts_with("--gpu-architecture=sm_90;"));
}

#[test]
fn the_headers_of_a_toolkit_are_found() {
    let (_, library) = beside(&[]);
    let home = std::path::Path::new(&library.path()).with_file_name("toolkit");
    std::fs::create_dir_all(home.join("include")).unwrap();
    std::fs::write(home.join("include/cuda_fp16.h"), "").unwrap();
    let home = home.to_str().unwrap().to_owned();
    let path = library.path();
    let folder = format!("--include-path={home}/include;");
    let fake = open_beside(&[], |config| {
        config.libnvrtc = Some(path);
        config.cuda_home = Some(home);
    });
    compile(&fake.ok().unwrap(), &source(""), CompiledForm::Ptx).unwrap().code.unwrap();
    assert!(given(&library, |p| &p.options).ends_with(&folder));
}

/// Not a fake: where NVRTC is installed, or `SCONCE_LIBNVRTC` names it.
#[test]
fn an_installed_nvrtc_compiles_templates_with_the_header_of_device_code() {
    let fake = open_beside(&["CAPABILITY=90"], |_| {}).ok().unwrap();
    let mut source = source(
        "#include <sconce/cuda/device.cuh>\n#include \"mine.cuh\"\n\
         template <class T> __global__ void scale(T* x, sconce_math::philox::State state) {\n\
         sconce_math::philox::Engine engine(sconce_math::philox::unpack(state), threadIdx.x);\n\
         x[threadIdx.x] *= engine.next_uniform().x * FACTOR;\nint unused;\n}",
    );
    source.headers = vec![(c("mine.cuh"), c("#define FACTOR 3"))];
    source.kernels = vec![c("scale<float>"), c("scale<double>")];
    let made = match compile(&fake, &source, CompiledForm::MachineCode) {
        Err(error) if error.status() == Status::LibraryNotFound => {
            eprintln!("skipped: {error}");
            return;
        }
        made => made.unwrap(),
    };
    let code = made.code.unwrap();
    assert_eq!(code.code.format(), ModuleFormat::Cubin);
    assert!(made.log.contains("unused") && made.log.contains("mine.cu"), "{}", made.log);
    for entry in &code.entries {
        assert_eq!(code.code.has_kernel(entry), Some(true), "{entry}");
    }
    assert_ne!(code.entries[0], code.entries[1]);
    source.kernels.push(c("scale<nothing>"));
    let made = compile(&fake, &source, CompiledForm::Ptx).unwrap();
    let error = made.code.unwrap_err();
    assert_eq!(error.status(), Status::InvalidArgument, "{error}");
    assert!(error.message().contains("nothing"), "{error}");
}
