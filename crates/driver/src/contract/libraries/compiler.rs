//! Kernels of the program that are compiled at run time, as a library such as NVRTC does it.
//!
//! | method | precondition | postcondition | blocks? |
//! |---|---|---|---|
//! | `compile_source` | – | nothing on the device changes | while the library is opened, and while it compiles |
//!
//! The library is opened at the first call that needs it; a failure is not remembered. A library that
//! is not installed is `LibraryNotFound`. No call needs a context, and none is a call of the driver that
//! a capture forbids.

use std::ffi::CString;

use sconce_base::error::Result;
use sconce_base::types::DeviceIndex;

use crate::ModuleCode;
use crate::contract::lacks;

/// The name under which every source finds the header of device code.
pub const DEVICE_HEADER_NAME: &str = "sconce/cuda/device.cuh";

/// The text of that header.
pub const DEVICE_HEADER: &str = include_str!("../../../../../include/sconce/cuda/device.cuh");

/// A source and all that its meaning depends on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceCode {
    /// The name in messages of the compiler.
    pub name: CString,
    /// CUDA C++.
    pub text: CString,
    /// Names and texts of headers that the source may include.
    pub headers: Vec<(CString, CString)>,
    /// Options of the compiler.
    pub options: Vec<CString>,
    /// C++ expressions that name kernels: `scale<float>`, `mine::step`.
    pub kernels: Vec<CString>,
}

/// What is made of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompiledForm {
    /// Machine code for one device. PTX where the compiler does not know the device yet.
    MachineCode,
    /// PTX, for the device and later ones.
    Ptx,
}

/// How a compilation went.
#[derive(Debug)]
pub struct Compilation {
    /// What the compiler said: errors, or warnings. Empty if it said nothing.
    pub log: String,
    /// The code, unless the source has errors. The error has the log in its message.
    pub code: Result<CompiledCode>,
}

/// Code made of a source.
#[derive(Debug)]
pub struct CompiledCode {
    /// The code.
    pub code: ModuleCode,
    /// The entry point of each of [`SourceCode::kernels`], in their order.
    pub entries: Vec<String>,
}

/// The compiler beside a driver.
#[allow(unused_variables, reason = "most defaults use no argument")]
pub trait Compiler: Send + Sync {
    /// Compiles a source for a device.
    fn compile_source(
        &self,
        device: DeviceIndex,
        source: &SourceCode,
        form: CompiledForm,
    ) -> Result<Compilation> {
        lacks("compile_source", "compiler")
    }
}
