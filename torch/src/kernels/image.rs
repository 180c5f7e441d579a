//! Images: a set of kernels in several forms of code, which a device loads when it first needs one of them.

#![allow(unsafe_code, reason = "calls libsconce.so")]

use std::collections::BTreeMap;
use std::ffi::CString;
use std::io::Read;
use std::sync::{Mutex, PoisonError, RwLock};

use super::packed_ptx;
use crate::abi::devices::with_device;
use crate::error::{Error, Result};
use crate::sconce::{api, check};

/// The most devices that a process can use kernels on.
pub(super) const MOST_DEVICES: usize = 64;

/// The most memory that decompressing may take beside its result, in KiB: the dictionary has 1 MiB.
const LZMA_MEMORY_KIB: u32 = 4096;

/// One form of an image: an LZMA stream made by `scripts/build-kernels`.
pub struct Form {
    /// The compute capability of machine code, which runs on devices of the same major number whose minor number is
    /// not smaller. PTX has none, and every device takes it.
    pub capability: Option<(i32, i32)>,
    /// The compressed code.
    pub lzma: &'static [u8],
}

impl Form {
    fn unpack(&self) -> std::io::Result<Vec<u8>> {
        let mut code = Vec::new();
        lzma_rust2::LzmaReader::new_mem_limit(self.lzma, LZMA_MEMORY_KIB, None)?
            .read_to_end(&mut code)?;
        match self.capability {
            Some(_) => Ok(code),
            None => packed_ptx::unpack(&code)
                .ok_or_else(|| std::io::Error::other("a name in PTX that was never given")),
        }
    }
}

/// A kernel of an image on one device. libsconce.so owns it until the process ends.
#[derive(Clone, Copy, Debug)]
pub struct Kernel(*mut api::sconce_kernel);

// SAFETY: the handle is a number, which libsconce.so takes on any thread.
unsafe impl Send for Kernel {}
// SAFETY: libsconce.so orders calls for one handle from several threads.
unsafe impl Sync for Kernel {}

impl Kernel {
    /// The handle.
    pub fn handle(self) -> *mut api::sconce_kernel {
        self.0
    }
}

/// A module that this library never unloads.
#[derive(Clone, Copy)]
struct Module(*mut api::sconce_module);

// SAFETY: the handle is a number, which libsconce.so takes on any thread.
unsafe impl Send for Module {}

/// What a device has of an image.
struct OfDevice {
    module: Mutex<Option<Module>>,
    kernels: RwLock<BTreeMap<String, Kernel>>,
}

/// The kernels of one file of `torch/kernels`.
pub struct Image {
    name: &'static str,
    forms: &'static [Form],
    devices: [OfDevice; MOST_DEVICES],
}

impl Image {
    /// An image that no device has loaded. `name` is that of the file without its ending.
    pub const fn new(name: &'static str, forms: &'static [Form]) -> Image {
        let devices = [const {
            OfDevice { module: Mutex::new(None), kernels: RwLock::new(BTreeMap::new()) }
        }; MOST_DEVICES];
        Image { name, forms, devices }
    }

    /// A kernel of the image. The first use of the image on a device loads it, also during a capture.
    pub fn kernel(&self, device: i32, name: &str) -> Result<Kernel> {
        let of_device = usize::try_from(device)
            .ok()
            .and_then(|device| self.devices.get(device))
            .ok_or_else(|| Error::not_supported(format!("device {device} is not one of 64")))?;
        // A panic leaves the tables as they are: entries are added whole.
        let known = of_device.kernels.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(kernel) = known.get(name) {
            return Ok(*kernel);
        }
        drop(known);
        let kernel = with_device(device, || {
            let mut module = of_device.module.lock().unwrap_or_else(PoisonError::into_inner);
            match *module {
                Some(module) => find(module, name),
                None => {
                    let (loaded, kernel) = self.load(device, name)?;
                    *module = Some(loaded);
                    Ok(kernel)
                }
            }
        })
        .map_err(|error| error.within(&format!("kernel {name} of {}", self.name)))?;
        let mut kernels = of_device.kernels.write().unwrap_or_else(PoisonError::into_inner);
        kernels.insert(name.to_owned(), kernel);
        Ok(kernel)
    }

    /// Loads the image on the current device, which is `device`, and finds a kernel.
    fn load(&self, device: i32, name: &str) -> Result<(Module, Kernel)> {
        if api::sconce_backend_get_active() == api::SCONCE_BACKEND_SIM {
            return Err(Error::not_supported(
                "the simulated device runs no kernels of libsconce_torch: use a GPU, or a model that was exported \
                 for the CPU",
            ));
        }
        let (mut major, mut minor) = (0, 0);
        check(api::sconce_device_get_capability(device, &mut major, &mut minor))?;
        let mut refused = Error::internal("the image has no code");
        for form in self.forms_for(major, minor) {
            let code = form.unpack().map_err(|error| {
                let text = format!("code of libsconce_torch is damaged: {error}; install it again");
                Error::internal(text)
            })?;
            let mut module = std::ptr::null_mut();
            // SAFETY: the code has that many bytes; the place is valid for a write.
            check(unsafe {
                api::sconce_module_load(code.as_ptr().cast(), code.len(), &mut module)
            })?;
            match find(Module(module), name) {
                Ok(kernel) => return Ok((Module(module), kernel)),
                Err(error) => refused = error,
            }
            check(api::sconce_module_unload(module))?;
        }
        Err(refused)
    }

    /// The forms for a device of this compute capability: the nearest machine code first, PTX last.
    fn forms_for(&self, major: i32, minor: i32) -> Vec<&Form> {
        let mut usable: Vec<&Form> = self
            .forms
            .iter()
            .filter(|form| {
                form.capability.is_none_or(|(own, least)| own == major && least <= minor)
            })
            .collect();
        usable.sort_by_key(|form| std::cmp::Reverse(form.capability));
        usable
    }
}

/// Finds a kernel of a module, which the current device loads if it has not.
fn find(module: Module, name: &str) -> Result<Kernel> {
    let name = CString::new(name).map_err(|_| Error::internal("a NUL in the name of a kernel"))?;
    let mut kernel = std::ptr::null_mut();
    // SAFETY: the name ends with NUL; the place is valid for a write.
    check(unsafe { api::sconce_kernel_get(module.0, name.as_ptr(), &mut kernel) })?;
    Ok(Kernel(kernel))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::super::images;
    use super::*;

    #[test]
    fn a_device_gets_the_nearest_machine_code_of_its_architecture_and_ptx_last() {
        let capabilities = |major, minor| -> Vec<_> {
            let forms = images::INDEXED.forms_for(major, minor);
            forms.iter().map(|form| form.capability).collect()
        };
        assert_eq!(capabilities(7, 5), [None]);
        assert_eq!(capabilities(8, 9), [Some((8, 0)), None]);
        assert_eq!(capabilities(9, 0), [Some((9, 0)), None]);
        assert_eq!(capabilities(11, 0), [None]);
    }

    #[test]
    fn all_code_can_be_unpacked() {
        for image in images::ALL {
            for form in image.forms {
                let code = form.unpack().unwrap();
                let begin: &[u8] = if form.capability.is_some() { b"\x7fELF" } else { b".version" };
                assert!(code.starts_with(begin), "{} {:?}", image.name, form.capability);
            }
        }
    }

    #[test]
    fn ptx_is_for_the_oldest_devices_that_ask_for_the_image() {
        for image in images::ALL {
            let ptx = image.forms.iter().find(|form| form.capability.is_none()).unwrap();
            let text = String::from_utf8(ptx.unpack().unwrap()).unwrap();
            let target = match image.name {
                name if name.starts_with("attention_sequences_groups_") => ".target sm_90a\n",
                name if name.starts_with("attention_sequences_") => ".target sm_80\n",
                name if name.starts_with("attention_tensor_") => ".target sm_80\n",
                name if name.starts_with("attention_groups_") => ".target sm_90a\n",
                _ => ".target sm_75\n",
            };
            assert!(text.contains(target), "{}", image.name);
        }
    }

    #[test]
    fn damaged_code_is_an_error_and_no_panic() {
        for form in images::INDEXED.forms {
            for cut in [0, 5, 13, form.lzma.len() / 2] {
                let form = Form { capability: form.capability, lzma: &form.lzma[..cut] };
                assert!(form.unpack().is_err(), "cut at {cut}");
            }
        }
    }

    #[test]
    fn a_simulated_device_refuses_kernels_with_words() {
        crate::testing::simulate();
        let error = images::INDEXED.kernel(0, "sconce_torch_indexed").unwrap_err();
        assert_eq!(error.status, api::SCONCE_ERROR_NOT_SUPPORTED);
        assert!(error.message.contains("exported for the CPU"), "{}", error.message);
    }
}
