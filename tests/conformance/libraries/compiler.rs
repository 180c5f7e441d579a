//! Sources that are compiled: what names their kernels, and what is refused. On the simulator functions stand for the
//! kernels.

use std::ffi::CString;

use sconce_base::error::{Result, Status};
use sconce_base::types::DeviceIndex;
use sconce_driver::{Compilation, CompiledForm, SourceCode};
use sconce_sim::{SimKernel, register_kernel};

use crate::support::stage::{Outcome, Stage};

use super::installed;

crate::support::runner::tests![
    expressions_name_the_entry_points_of_a_source,
    an_expression_that_names_nothing_is_refused_with_words,
    compiling_makes_no_context,
];

const TEXT: &str =
    "template <class T> __global__ void nothing() {} extern \"C\" __global__ void plain() {}";

fn text(text: &str) -> CString {
    CString::new(text).unwrap_or_default()
}

fn source(kernels: &[&str]) -> SourceCode {
    for name in ["nothing<float>", "nothing<int>", "plain"] {
        let _ = register_kernel(SimKernel {
            name: name.to_owned(),
            parameters: Vec::new(),
            registers: 16,
            static_shared_bytes: 0,
            function: Box::new(|_| ()),
        });
    }
    SourceCode {
        name: text("conformance.cu"),
        text: text(TEXT),
        kernels: kernels.iter().map(|kernel| text(kernel)).collect(),
        ..SourceCode::default()
    }
}

fn compile(
    stage: &Stage<'_>,
    device: DeviceIndex,
    kernels: &[&str],
    form: CompiledForm,
) -> Result<Compilation> {
    stage.driver.compile_source(device, &source(kernels), form)
}

fn expressions_name_the_entry_points_of_a_source(stage: &Stage<'_>) -> Outcome {
    for device in stage.devices() {
        for form in [CompiledForm::MachineCode, CompiledForm::Ptx] {
            let kernels = ["nothing<float>", "nothing<int>"];
            let compiled = installed(compile(stage, device, &kernels, form))?.code?;
            assert_eq!(compiled.entries.len(), 2);
            assert_ne!(compiled.entries[0], compiled.entries[1]);
            let module = stage.driver.module_load_code(device, &compiled.code)?;
            for name in compiled.entries.iter().map(String::as_str).chain(["plain"]) {
                stage.driver.kernel_find(device, module, name)?;
            }
            assert!(stage.driver.kernel_find(device, module, "nothing").is_err());
            stage.driver.module_release(device, module)?;
        }
    }
    Ok(())
}

fn an_expression_that_names_nothing_is_refused_with_words(stage: &Stage<'_>) -> Outcome {
    let zero = DeviceIndex::ZERO;
    let made = installed(compile(stage, zero, &["absent<float>"], CompiledForm::MachineCode))?;
    let error = made.code.expect_err("it names nothing");
    assert_eq!(error.status(), Status::InvalidArgument, "{error}");
    for words in [error.message(), &made.log] {
        assert!(words.contains("absent"), "{words}");
    }
    Ok(())
}

fn compiling_makes_no_context(stage: &Stage<'_>) -> Outcome {
    let active = |device| stage.driver.context_is_active(device);
    let before: Vec<bool> = stage.devices().into_iter().map(active).collect::<Result<_>>()?;
    for device in stage.devices() {
        installed(compile(stage, device, &[], CompiledForm::MachineCode))?.code?;
    }
    let after: Vec<bool> = stage.devices().into_iter().map(active).collect::<Result<_>>()?;
    assert_eq!(after, before);
    Ok(())
}
