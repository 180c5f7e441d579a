//! The kernels that come with the library.
//!
//! `scripts/build-kernels` compiles `kernels/*.cu` to the files in `kernels/generated`; both are
//! committed, and `scripts/build-kernels --check` compares them.

use sconce_driver::{CodeFormat, KernelCode, KernelImage};

/// One form of an image, from its file in `kernels/generated`.
macro_rules! code {
    ($name:literal, $ending:literal, $format:expr) => {
        KernelCode::generated(
            $format,
            include_bytes!(concat!("../../../kernels/generated/", $name, $ending, ".lzma")),
        )
    };
}

/// An image of PTX alone, which the driver compiles at the first use.
macro_rules! ptx_image {
    ($name:literal) => {
        KernelImage { name: $name, codes: &[code!($name, ".ptx", CodeFormat::Ptx)] }
    };
}

/// An image of PTX, and of machine code for the architectures that `scripts/build-kernels` names.
macro_rules! image {
    ($name:literal) => {
        KernelImage {
            name: $name,
            codes: &[
                code!($name, ".ptx", CodeFormat::Ptx),
                code!($name, ".sm_80.cubin", CodeFormat::Cubin { major: 8, minor: 0 }),
                code!($name, ".sm_90.cubin", CodeFormat::Cubin { major: 9, minor: 0 }),
                code!($name, ".sm_100.cubin", CodeFormat::Cubin { major: 10, minor: 0 }),
                code!($name, ".sm_120.cubin", CodeFormat::Cubin { major: 12, minor: 0 }),
            ],
        }
    };
}

/// Kernels for tests and benchmarks: `sconce_sleep_ns(u64 duration_ns)`, and
/// `sconce_fill_u32` and `sconce_add_u32`, both `(pointer, u64 count, u32 value)`.
pub const PROBE: KernelImage = image!("probe");

/// Conditions of graphs: `sconce_graph_set_condition(u64 condition, u64 address, u32 bytes)`.
pub const GRAPH_CONDITION: KernelImage = ptx_image!("graph_condition");

/// Generators captured into graphs: `sconce_random_take(u64 record, u64 increment, u64 slot,
/// u64 seed, u64 offset)`.
pub const RANDOM_CAPTURE: KernelImage = image!("random_capture");

/// Random orders of equal keys: `sconce_random_permute`; see `kernels::PermuteLaunch`.
pub const RANDOM_PERMUTE: KernelImage = image!("random_permute");

/// Copies with strides, `sconce_copy_strided_<bytes of an element>`; see `kernels::strided_launch`.
pub const COPY_STRIDED: KernelImage = image!("copy_strided");

/// Copies of rows, `sconce_copy_rows_<bytes of a cell>`; see `kernels::rows_launch`.
pub const COPY_ROWS: KernelImage = image!("copy_rows");

/// Multiplication in place, `sconce_scale_<type>`; see `kernels::scale_launch`.
pub const SCALE: KernelImage = image!("scale");

/// Sorts of short lines, `sconce_sort_lines_<bytes of an element>`.
pub const SORT_LINES: KernelImage = image!("sort_lines");

/// Sorts of lines that a block holds, `sconce_sort_block_<bytes of an element>`.
pub const SORT_BLOCK: KernelImage = image!("sort_block");

/// Sorts of long lines, `sconce_sort_count_<bytes of an element>` and `sconce_sort_pass_<type>`.
pub const SORT_RADIX: KernelImage = image!("sort_radix");

/// Element-wise operations, `sconce_pointwise_<inputs>_<domain>`, an image for each domain in the
/// order of `arithmetic::Domain::ALL`; see `kernels::pointwise_launch`.
pub const POINTWISE: [KernelImage; 5] = [
    image!("pointwise_f32"),
    image!("pointwise_f64"),
    image!("pointwise_integer"),
    image!("pointwise_c64"),
    image!("pointwise_c128"),
];

/// Frequent element-wise operations on contiguous floats, `sconce_pointwise_<inputs>_f32_flat`.
pub const POINTWISE_FLAT: KernelImage = image!("pointwise_flat");

/// Copies with strides, selecting by index, `sconce_select_<bytes of a unit>`.
pub const GATHER_SELECT: KernelImage = image!("gather_select");

/// Rows of several operands, `sconce_join_<bytes of a unit>`.
pub const GATHER_JOIN: KernelImage = image!("gather_join");

/// Many pieces of bytes in one range, `sconce_join_many`.
pub const GATHER_MANY: KernelImage = image!("gather_many");

/// Reductions, `sconce_reduce_<image>_<form>_<type>`, in the order of `kernels::ReduceImage`.
pub const REDUCTIONS: [KernelImage; 5] = [
    image!("reduce_sum"),
    image!("reduce_extreme"),
    image!("reduce_index"),
    image!("reduce_count"),
    image!("reduce_general"),
];

/// Conversions with other neighbours in the output than in the input,
/// `sconce_pointwise_transposed_<domain>`; see `kernels::transposed_launch`.
pub const POINTWISE_TRANSPOSED: KernelImage = image!("pointwise_transposed");

/// Softmax, `sconce_softmax_<form>_<type>`, and running sums, `sconce_scan_<form>_<type>`.
pub const LINES: [KernelImage; 2] = [image!("softmax"), image!("scan")];

/// Products of small matrices, `sconce_small_product_<type>`; see `kernels::SmallProductLaunch`.
pub const SMALL_PRODUCT: KernelImage = image!("small_product");

/// Random fills, `sconce_random_<distribution>_<type>`, an image for each distribution in the order
/// of `philox::Distribution::ALL`: a driver takes a while to compile one.
pub const RANDOM: [KernelImage; 9] = [
    image!("random_uniform"),
    image!("random_normal"),
    image!("random_log_normal"),
    image!("random_exponential"),
    image!("random_cauchy"),
    image!("random_geometric"),
    image!("random_bernoulli"),
    image!("random_integers"),
    image!("random_full_range"),
];

/// Every image.
#[cfg(test)]
pub(super) fn all() -> impl Iterator<Item = &'static KernelImage> {
    [
        &PROBE,
        &GRAPH_CONDITION,
        &RANDOM_CAPTURE,
        &RANDOM_PERMUTE,
        &COPY_STRIDED,
        &COPY_ROWS,
        &SCALE,
        &SORT_LINES,
        &SORT_BLOCK,
        &SORT_RADIX,
        &GATHER_SELECT,
        &GATHER_JOIN,
        &GATHER_MANY,
        &SMALL_PRODUCT,
    ]
    .into_iter()
    .chain(&POINTWISE)
    .chain([&POINTWISE_FLAT, &POINTWISE_TRANSPOSED])
    .chain(&RANDOM)
    .chain(&REDUCTIONS)
    .chain(&LINES)
}

/// The PTX of an image.
#[cfg(test)]
pub(super) fn ptx(image: &KernelImage) -> String {
    let code = image.codes.iter().find(|code| code.format() == CodeFormat::Ptx).unwrap();
    String::from_utf8(code.unpack().unwrap()).unwrap()
}

#[cfg(test)]
mod tests {
    use sconce_base::element::Dtype;
    use sconce_math::philox::{Distribution, Fill};

    use super::*;
    use crate::{fill_kernel_name, rows_kernel_name, scale_kernel_name, strided_kernel_name};

    #[test]
    fn machine_code_is_an_elf_file_for_the_architecture_that_it_is_listed_for() {
        for (image, code) in all().flat_map(|image| image.codes.iter().map(move |c| (image, c))) {
            let CodeFormat::Cubin { major, minor } = code.format() else { continue };
            let elf = code.unpack().unwrap();
            assert_eq!(&elf[..4], b"\x7fELF", "{}", image.name);
            assert_eq!(u16::from_le_bytes([elf[18], elf[19]]), 190, "EM_CUDA");
            // The lowest bytes of the flags hold the architecture, ten times the major number and
            // the minor one; releases of the format differ in which byte.
            let flags = u32::from_le_bytes([elf[48], elf[49], elf[50], elf[51]]);
            let number = (major * 10 + minor) as u8;
            assert!(flags.to_le_bytes().contains(&number), "{}: {flags:#x}", image.name);
        }
    }

    #[test]
    fn images_are_text_with_one_nul_at_the_end_and_target_the_oldest_supported_gpu() {
        for (image, kernels) in [
            (PROBE, ["sconce_sleep_ns", "sconce_fill_u32", "sconce_add_u32"].as_slice()),
            (RANDOM[0], &["sconce_random_uniform_f32"]),
            (RANDOM_CAPTURE, &["sconce_random_take"]),
            (COPY_STRIDED, &[1, 2, 4, 8, 16].map(strided_kernel_name)),
            (COPY_ROWS, &[1, 2, 4, 8, 16].map(rows_kernel_name)),
            (
                SCALE,
                &[Dtype::F16, Dtype::F32, Dtype::F64]
                    .map(|dtype| scale_kernel_name(dtype).unwrap()),
            ),
        ] {
            let text = ptx(&image);
            assert_eq!(text.find('\0'), Some(text.len() - 1));
            assert!(text.contains(".version 8.0\n"), "drivers from 525 on must accept it");
            assert!(text.contains(".target sm_75\n"));
            for kernel in kernels {
                assert!(text.contains(&format!(".visible .entry {kernel}(")), "{kernel}");
            }
        }
    }

    /// Every fill that a caller can ask for has a kernel on the GPU too.
    #[test]
    fn every_supported_fill_is_in_the_image() {
        for (distribution, image) in Distribution::ALL.into_iter().zip(RANDOM) {
            assert_eq!(image.name, format!("random_{}", distribution.name()));
            let text = ptx(&image);
            for dtype in Dtype::ALL.into_iter().filter(|dtype| dtype.real().1 == 1) {
                if distribution.supports(dtype) {
                    let name = fill_kernel_name(&Fill { distribution, dtype, first: 1, second: 0 });
                    assert!(text.contains(&format!(".visible .entry {name}(")), "{name}");
                }
            }
        }
    }
}
