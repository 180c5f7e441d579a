//! NVRTC, the compiler of CUDA C++ at run time. It makes no call of the driver.
//!
//! | file | what |
//! |---|---|
//! | `functions` | the table of its functions |
//! | `architecture` | for which architecture a source is compiled |
//! | `program` | a source that is compiled: its log and its code |

mod architecture;
mod functions;
mod program;

use std::ffi::CString;
use std::path::Path;

use sconce_base::error::{Error, Result, Status};
use sconce_base::types::DeviceIndex;
use sconce_driver::{
    Compilation, CompiledForm, Compiler, DEVICE_HEADER, DEVICE_HEADER_NAME, SourceCode,
};

use self::functions::CompilerFunctions;
use self::program::Program;
use super::CudaDriver;
use super::libraries::library::LibraryName;

const NAME: LibraryName = LibraryName {
    name: "NVRTC",
    files: &["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2"],
    variable: "SCONCE_LIBNVRTC",
};

/// A header by which a toolkit's folder of headers is known.
const HEADER_OF_TOOLKITS: &str = "cuda_fp16.h";

/// The library, once it was opened.
pub(super) type Nvrtc = CompilerFunctions;

impl Compiler for CudaDriver {
    fn compile_source(
        &self,
        device: DeviceIndex,
        source: &SourceCode,
        form: CompiledForm,
    ) -> Result<Compilation> {
        let capability = self.compute_capability(device)?;
        let functions = self.nvrtc.get_or_try_init(|| {
            let library = self.libraries.open(&NAME, self.libraries.nvrtc.as_deref())?;
            CompilerFunctions::load(&library)
        })?;
        let mut options = source.options.clone();
        if !architecture::is_chosen(&options) {
            let known = architecture::known(functions)?;
            options.push(text(architecture::option(known.as_deref(), capability, form)?)?);
        }
        if let Some(headers) = self.toolkit_headers() {
            options.push(text(format!("--include-path={headers}"))?);
        }
        let program = Program::new(functions, source, &headers_for(source)?)?;
        let compiled = program.compile(&options);
        let log = program.log()?;
        let code = match compiled {
            Ok(()) => program.code(source, form),
            Err(error) => Err(with_log(error, source, &log)),
        };
        Ok(Compilation { log, code })
    }
}

impl CudaDriver {
    /// The first folder of a toolkit that has headers for device code.
    fn toolkit_headers(&self) -> Option<String> {
        let folders = self.libraries.toolkits().map(|toolkit| format!("{toolkit}/include"));
        folders.into_iter().find(|folder| Path::new(folder).join(HEADER_OF_TOOLKITS).is_file())
    }
}

/// The library's own header, unless the source brings one of that name.
fn headers_for(source: &SourceCode) -> Result<Vec<(CString, CString)>> {
    if source.headers.iter().any(|(name, _)| name.as_bytes() == DEVICE_HEADER_NAME.as_bytes()) {
        return Ok(Vec::new());
    }
    Ok(vec![(text(DEVICE_HEADER_NAME.to_owned())?, text(DEVICE_HEADER.to_owned())?)])
}

fn text(text: String) -> Result<CString> {
    CString::new(text).map_err(|_| Error::new(Status::Internal, "a text contains a NUL byte"))
}

fn with_log(error: Error, source: &SourceCode, log: &str) -> Error {
    let error = error.context(source.name.to_string_lossy());
    if log.is_empty() { error } else { error.followed_by(log) }
}
