//! Kernel images: sets of kernels as PTX and as machine code, compressed.
//!
//! A driver compiles PTX for its device, which takes more than 0.15 s for most images of the library
//! (docs/design/cuda.md). Machine code loads in a few milliseconds, but only on devices of its own
//! major architecture.

use std::io::Read;

use sconce_base::error::{Error, Result, Status};

use super::packed_ptx;

/// What the bytes of a [`KernelCode`] are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeFormat {
    /// PTX text, which every supported NVIDIA device accepts.
    Ptx,
    /// NVIDIA machine code for a compute capability; it runs on devices of the same major number
    /// whose minor number is not smaller.
    Cubin {
        /// Major number of the compute capability.
        major: i32,
        /// Minor number of the compute capability.
        minor: i32,
    },
}

/// The bytes of a [`KernelCode`], as they lie in the library.
#[derive(Clone, Copy, Debug)]
enum CodeBytes {
    /// The code itself.
    Plain(&'static [u8]),
    /// An LZMA stream (the `.lzma` file format) that holds machine code, or PTX in its packed form.
    Lzma(&'static [u8]),
}

/// One form of an image. A driver that loads machine code trusts the lengths in it; so only
/// `images` makes those, from the files of `scripts/build-kernels`.
#[derive(Clone, Copy, Debug)]
pub struct KernelCode {
    format: CodeFormat,
    bytes: CodeBytes,
}

/// A set of kernels that is loaded as one module. The simulator knows its kernels by their names
/// and reads no code.
#[derive(Clone, Copy, Debug)]
pub struct KernelImage {
    /// Name of the image, for messages (the file in `kernels/` without its ending).
    pub name: &'static str,
    /// The forms of the image.
    pub codes: &'static [KernelCode],
}

impl KernelImage {
    /// The forms that a device of this compute capability can load, the fastest to load first.
    pub fn codes_for(&self, major: i32, minor: i32) -> Vec<&'static KernelCode> {
        let mut usable: Vec<(i32, &KernelCode)> = self
            .codes
            .iter()
            .filter_map(|code| match code.format {
                CodeFormat::Ptx => Some((-1, code)),
                CodeFormat::Cubin { major: own, minor: least } => {
                    (own == major && least <= minor).then_some((least, code))
                }
            })
            .collect();
        usable.sort_by_key(|(nearness, _)| std::cmp::Reverse(*nearness));
        usable.into_iter().map(|(_, code)| code).collect()
    }
}

/// The most memory that decompressing may take beside its result, in KiB. The images are compressed
/// with a dictionary of 1 MiB.
const LZMA_MEMORY_KIB: u32 = 4096;

impl KernelCode {
    /// PTX that is not compressed.
    pub const fn ptx(text: &'static str) -> KernelCode {
        KernelCode { format: CodeFormat::Ptx, bytes: CodeBytes::Plain(text.as_bytes()) }
    }

    /// Code in an LZMA stream, made by `scripts/build-kernels`.
    pub const fn generated(format: CodeFormat, lzma: &'static [u8]) -> KernelCode {
        KernelCode { format, bytes: CodeBytes::Lzma(lzma) }
    }

    /// What the code is.
    pub fn format(&self) -> CodeFormat {
        self.format
    }

    /// The code, decompressed; PTX ends in a NUL byte, as the driver expects.
    pub fn unpack(&self) -> Result<Vec<u8>> {
        let mut code = match self.bytes {
            CodeBytes::Plain(bytes) => bytes.to_vec(),
            CodeBytes::Lzma(bytes) => self.decompress(bytes).map_err(|error| {
                Error::new(
                    Status::Internal,
                    format!("the library's own kernel code is damaged: {error}; install it again"),
                )
            })?,
        };
        if self.format == CodeFormat::Ptx {
            code.push(0);
        }
        Ok(code)
    }

    fn decompress(&self, bytes: &[u8]) -> std::io::Result<Vec<u8>> {
        let mut code = Vec::new();
        lzma_rust2::LzmaReader::new_mem_limit(bytes, LZMA_MEMORY_KIB, None)?
            .read_to_end(&mut code)?;
        match self.format {
            CodeFormat::Cubin { .. } => Ok(code),
            CodeFormat::Ptx => packed_ptx::unpack(&code)
                .ok_or_else(|| std::io::Error::other("a name in PTX that was never given")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn code(format: CodeFormat) -> KernelCode {
        KernelCode { format, bytes: CodeBytes::Plain(b"text") }
    }

    const fn cubin(major: i32, minor: i32) -> KernelCode {
        code(CodeFormat::Cubin { major, minor })
    }

    #[test]
    fn a_device_gets_the_nearest_machine_code_of_its_architecture_and_ptx_last() {
        let codes = const { &[code(CodeFormat::Ptx), cubin(8, 0), cubin(8, 6), cubin(9, 0)] };
        let image = KernelImage { name: "test", codes };
        let formats = |major, minor| -> Vec<CodeFormat> {
            image.codes_for(major, minor).into_iter().map(|code| code.format).collect()
        };
        let (ptx, at) = (CodeFormat::Ptx, |major, minor| CodeFormat::Cubin { major, minor });
        assert_eq!(formats(7, 5), [ptx]);
        assert_eq!(formats(8, 0), [at(8, 0), ptx]);
        assert_eq!(formats(8, 9), [at(8, 6), at(8, 0), ptx]);
        assert_eq!(formats(9, 0), [at(9, 0), ptx]);
        assert_eq!(formats(10, 3), [ptx]);
    }

    #[test]
    fn ptx_is_unpacked_with_a_nul_and_machine_code_as_it_is() {
        assert_eq!(code(CodeFormat::Ptx).unpack().unwrap(), b"text\0");
        assert_eq!(cubin(9, 0).unpack().unwrap(), b"text");
    }

    #[test]
    fn damaged_code_is_an_error_and_no_panic() {
        let good: &[u8] = include_bytes!("../../../../kernels/generated/probe.ptx.lzma");
        for cut in [0, 5, 13, good.len() / 2] {
            let bytes = CodeBytes::Lzma(&good[..cut]);
            let error = KernelCode { format: CodeFormat::Ptx, bytes }.unpack().unwrap_err();
            assert_eq!(error.status(), Status::Internal, "cut at {cut}");
        }
    }
}
