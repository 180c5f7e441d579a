//! For which architecture a source is compiled.

use std::ffi::{CString, c_int};

use sconce_base::error::{Error, Result};
use sconce_driver::CompiledForm;

use super::functions::{CompilerFunctions, check};

/// The architectures that a release of the library knows, as ten times major and minor version.
/// `None` before CUDA 11.2, whose library lacks the question.
pub(super) fn known(functions: &CompilerFunctions) -> Result<Option<Vec<c_int>>> {
    let (Ok(count), Ok(list)) =
        (functions.nvrtcGetNumSupportedArchs(), functions.nvrtcGetSupportedArchs())
    else {
        return Ok(None);
    };
    let mut number = 0;
    // SAFETY: `number` outlives the call.
    check("nvrtcGetNumSupportedArchs", unsafe { count(&mut number) })?;
    let mut known = vec![0; usize::try_from(number).unwrap_or(0)];
    // SAFETY: room for as many numbers as the library has said.
    check("nvrtcGetSupportedArchs", unsafe { list(known.as_mut_ptr()) })?;
    Ok(Some(known))
}

/// Whether options choose the architecture.
pub(super) fn is_chosen(options: &[CString]) -> bool {
    options.iter().any(|option| {
        let option = option.as_bytes();
        option.starts_with(b"--gpu-architecture") || option.starts_with(b"-arch")
    })
}

/// The option for a device of a compute capability. A device that the library does not know yet gets
/// PTX of the newest architecture before it, which the driver's compiler translates.
pub(super) fn option(
    known: Option<&[c_int]>,
    (major, minor): (i32, i32),
    form: CompiledForm,
) -> Result<String> {
    let wanted = 10 * major + minor;
    let (kind, architecture) = match known {
        None => (form, wanted),
        Some(known) if known.contains(&wanted) => (form, wanted),
        Some(known) => match known.iter().copied().filter(|one| *one < wanted).max() {
            Some(before) => (CompiledForm::Ptx, before),
            None => return Err(too_old(known, major, minor)),
        },
    };
    let prefix = if kind == CompiledForm::Ptx { "compute" } else { "sm" };
    Ok(format!("--gpu-architecture={prefix}_{architecture}"))
}

fn too_old(known: &[c_int], major: i32, minor: i32) -> Error {
    let oldest = known.iter().min().copied().unwrap_or(0);
    Error::not_supported(format!(
        "the installed NVRTC compiles for compute capability {}.{} and later, not for {major}.{minor}; an older \
         release does, and SCONCE_LIBNVRTC may name it",
        oldest / 10,
        oldest % 10
    ))
}

#[cfg(test)]
mod tests {
    use sconce_base::error::Status;

    use super::*;

    #[test]
    fn a_device_gets_its_own_code_or_ptx_of_the_newest_architecture_before_it() {
        let known = [50, 75, 80, 90];
        let of = |known, capability, form| option(known, capability, form).ok();
        let machine = |known, capability| of(known, capability, CompiledForm::MachineCode);
        assert_eq!(machine(Some(&known), (9, 0)).as_deref(), Some("--gpu-architecture=sm_90"));
        assert_eq!(machine(Some(&known), (8, 6)).as_deref(), Some("--gpu-architecture=compute_80"));
        assert_eq!(
            machine(Some(&known), (12, 1)).as_deref(),
            Some("--gpu-architecture=compute_90")
        );
        assert_eq!(machine(None, (10, 3)).as_deref(), Some("--gpu-architecture=sm_103"));
        let ptx = of(Some(&known), (7, 5), CompiledForm::Ptx);
        assert_eq!(ptx.as_deref(), Some("--gpu-architecture=compute_75"));
        let error = option(Some(&[75, 80]), (7, 0), CompiledForm::Ptx).err();
        let error = error.filter(|error| error.status() == Status::NotSupported);
        assert!(error.is_some_and(|error| error.message().contains("7.5 and later, not for 7.0")));
    }

    #[test]
    fn both_spellings_of_the_option_are_known() {
        let options = |text: &[&str]| -> Vec<CString> {
            text.iter().filter_map(|text| CString::new(*text).ok()).collect()
        };
        for chosen in [&["--gpu-architecture=sm_90a"][..], &["-lineinfo", "-arch", "sm_80"]] {
            assert!(is_chosen(&options(chosen)), "{chosen:?}");
        }
        assert!(!is_chosen(&options(&["--std=c++20", "-DNAME=arch"])));
    }
}
