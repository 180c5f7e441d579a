//! A program of NVRTC: made of a source, compiled, asked for its code, destroyed.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr::{null, null_mut};

use sconce_base::error::{Error, Result, Status};
use sconce_driver::{CompiledCode, CompiledForm, ModuleCode, SourceCode};

use super::functions::{CompilerFunctions, check};

/// Reads a text or some bytes of a program: first the size, then as much.
type GetSize = unsafe extern "C" fn(*mut c_void, *mut usize) -> i32;
type GetBytes = unsafe extern "C" fn(*mut c_void, *mut c_char) -> i32;

/// A live program.
pub(super) struct Program<'a> {
    functions: &'a CompilerFunctions,
    handle: *mut c_void,
}

impl Drop for Program<'_> {
    fn drop(&mut self) {
        if let Ok(destroy) = self.functions.nvrtcDestroyProgram() {
            // SAFETY: a program that the library made, destroyed once. It fails only for another pointer.
            unsafe { destroy(&mut self.handle) };
        }
    }
}

impl<'a> Program<'a> {
    /// A program of a source, which may include `headers` besides its own.
    pub(super) fn new(
        functions: &'a CompilerFunctions,
        source: &SourceCode,
        headers: &[(CString, CString)],
    ) -> Result<Program<'a>> {
        let all = || headers.iter().chain(&source.headers);
        let names: Vec<*const c_char> = all().map(|(name, _)| name.as_ptr()).collect();
        let texts: Vec<*const c_char> = all().map(|(_, text)| text.as_ptr()).collect();
        let count = c_int::try_from(names.len())
            .map_err(|_| Error::invalid_argument("the source has too many headers"))?;
        let create = functions.nvrtcCreateProgram()?;
        let mut handle = null_mut();
        // SAFETY: a place that outlives the call; NUL-terminated texts and two lists of `count` of them, which the
        // library copies.
        let code = unsafe {
            create(
                &mut handle,
                source.text.as_ptr(),
                source.name.as_ptr(),
                count,
                texts.as_ptr(),
                names.as_ptr(),
            )
        };
        check("nvrtcCreateProgram", code)?;
        let program = Program { functions, handle };
        let add = functions.nvrtcAddNameExpression()?;
        for kernel in &source.kernels {
            // SAFETY: a live program that was not compiled, and a NUL-terminated text.
            let code = unsafe { add(program.handle, kernel.as_ptr()) };
            check("nvrtcAddNameExpression", code)?;
        }
        Ok(program)
    }

    /// Compiles it. The code of a failure may be explained in the log.
    pub(super) fn compile(&self, options: &[CString]) -> Result<()> {
        let pointers: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
        let count = c_int::try_from(pointers.len())
            .map_err(|_| Error::invalid_argument("the source has too many options"))?;
        let compile = self.functions.nvrtcCompileProgram()?;
        // SAFETY: a live program, and a list of `count` NUL-terminated texts.
        let code = unsafe { compile(self.handle, count, pointers.as_ptr()) };
        check("nvrtcCompileProgram", code)
    }

    /// What the compiler said.
    pub(super) fn log(&self) -> Result<String> {
        let get = self.functions.nvrtcGetProgramLog()?;
        let size = self.functions.nvrtcGetProgramLogSize()?;
        let bytes = self.bytes("nvrtcGetProgramLog", size, get)?;
        let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
        Ok(String::from_utf8_lossy(text).trim_end().to_owned())
    }

    /// The code, in the form that was requested where the options allow it.
    pub(super) fn code(&self, source: &SourceCode, form: CompiledForm) -> Result<CompiledCode> {
        let machine_code = match form {
            CompiledForm::MachineCode => self.machine_code()?,
            CompiledForm::Ptx => Vec::new(),
        };
        // There is no machine code for a virtual architecture, `compute_…`.
        let bytes = if machine_code.is_empty() { self.ptx()? } else { machine_code };
        let name = source.name.to_string_lossy();
        if bytes.is_empty() {
            return Err(Error::invalid_argument(format!(
                "{name}: the compiler made neither PTX nor machine code with these options"
            )));
        }
        let entries: Result<Vec<String>> = source.kernels.iter().map(|k| self.entry(k)).collect();
        Ok(CompiledCode { code: ModuleCode::new(&name, &bytes)?, entries: entries? })
    }

    fn machine_code(&self) -> Result<Vec<u8>> {
        // Releases before CUDA 11.1 make PTX only.
        let (Ok(size), Ok(get)) =
            (self.functions.nvrtcGetCUBINSize(), self.functions.nvrtcGetCUBIN())
        else {
            return Ok(Vec::new());
        };
        self.bytes("nvrtcGetCUBIN", size, get)
    }

    fn ptx(&self) -> Result<Vec<u8>> {
        let (size, get) = (self.functions.nvrtcGetPTXSize()?, self.functions.nvrtcGetPTX()?);
        let bytes = self.bytes("nvrtcGetPTX", size, get)?;
        // An empty text is a NUL byte.
        Ok(if bytes == [0] { Vec::new() } else { bytes })
    }

    /// The entry point that an expression names.
    fn entry(&self, kernel: &CStr) -> Result<String> {
        let get = self.functions.nvrtcGetLoweredName()?;
        let mut name = null();
        // SAFETY: a live program that was compiled, a NUL-terminated text, and a place that outlives the call.
        let code = unsafe { get(self.handle, kernel.as_ptr(), &mut name) };
        check("nvrtcGetLoweredName", code)
            .map_err(|error| error.context(format_args!("kernel {}", kernel.to_string_lossy())))?;
        if name.is_null() {
            let why =
                format!("nvrtcGetLoweredName returned no name for {}", kernel.to_string_lossy());
            return Err(Error::new(Status::Driver, why));
        }
        // SAFETY: a NUL-terminated text that lives as long as the program.
        Ok(unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned())
    }

    fn bytes(&self, call: &str, get_size: GetSize, get: GetBytes) -> Result<Vec<u8>> {
        let mut size = 0;
        // SAFETY: a live program, and a place that outlives the call.
        check(call, unsafe { get_size(self.handle, &mut size) })?;
        let mut bytes = vec![0_u8; size];
        if size > 0 {
            // SAFETY: a live program, and room for as many bytes as the library has said.
            check(call, unsafe { get(self.handle, bytes.as_mut_ptr().cast()) })?;
        }
        Ok(bytes)
    }
}
