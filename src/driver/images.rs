//! The kernels that come with the library, as PTX.
//!
//! `scripts/build-kernels` makes the PTX from `kernels/*.cu`; both are committed, and
//! `scripts/build-kernels --check` holds them together.

use super::KernelImage;

/// Kernels for tests and benchmarks: `sconce_sleep_ns(u64 duration_ns)`, and
/// `sconce_fill_u32` and `sconce_add_u32`, both `(pointer, u64 count, u32 value)`.
pub const PROBE: KernelImage = KernelImage {
    name: "probe",
    ptx: concat!(include_str!("../../kernels/probe.ptx"), "\0").as_bytes(),
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_are_text_with_one_nul_at_the_end_and_target_the_oldest_supported_gpu() {
        let text = std::str::from_utf8(PROBE.ptx).unwrap();
        assert_eq!(text.find('\0'), Some(text.len() - 1));
        assert!(text.contains(".version 8.0\n"), "drivers from 525 on must accept it");
        assert!(text.contains(".target sm_75\n"));
        for kernel in ["sconce_sleep_ns", "sconce_fill_u32", "sconce_add_u32"] {
            assert!(text.contains(&format!(".visible .entry {kernel}(")), "{kernel}");
        }
    }
}
