//! Sources of kernels. There is no compiler: a source stays as it is, and functions that are registered under the
//! names of its kernels do their work.
#![forbid(unsafe_code)]

use sconce_base::error::{Result, Status};
use sconce_base::types::DeviceIndex;
use sconce_driver::{Compilation, CompiledCode, CompiledForm, Compiler, ModuleCode, SourceCode};

use crate::call::Call;
use crate::codes;
use crate::state::Simulator;

impl Compiler for Simulator {
    fn compile_source(
        &self,
        device: DeviceIndex,
        source: &SourceCode,
        _: CompiledForm,
    ) -> Result<Compilation> {
        self.inner.enter_device(Call::CompileSource, device)?;
        let code = compile(source);
        let log = code.as_ref().err().map(|error| error.message().to_owned());
        Ok(Compilation { log: log.unwrap_or_default(), code })
    }
}

/// Checks what can be checked without a compiler: whether there are functions of the kernels' names.
fn compile(source: &SourceCode) -> Result<CompiledCode> {
    let headers = source.headers.iter().map(|(_, text)| text.to_string_lossy());
    let texts: Vec<_> = std::iter::once(source.text.to_string_lossy()).chain(headers).collect();
    let entries: Vec<String> =
        source.kernels.iter().map(|kernel| kernel.to_string_lossy().into_owned()).collect();
    let name = source.name.to_string_lossy();
    match ModuleCode::source(&name, &texts.join("\n"), &entries) {
        Ok(code) => Ok(CompiledCode { code, entries }),
        Err(other) => {
            let why = format_args!("{name}: {other:?} names no function of the source");
            let error = codes::failure_because(Call::CompileSource, codes::INVALID_VALUE, why);
            Err(error.with_status(Status::InvalidArgument))
        }
    }
}
