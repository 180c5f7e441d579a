//! The images of this library. `scripts/build-kernels` compiles `torch/kernels/*.cu` to `torch/kernels/generated`.

use super::image::{Form, Image};

macro_rules! form {
    ($name:literal, $ending:literal, $capability:expr) => {
        Form {
            capability: $capability,
            lzma: include_bytes!(concat!("../../kernels/generated/", $name, $ending, ".lzma")),
        }
    };
}

/// The forms of an image: PTX and machine code, or PTX alone, or both for devices of compute capability 9.0, which alone
/// take such images.
macro_rules! forms {
    ($name:literal) => {
        &[
            form!($name, ".ptx", None),
            form!($name, ".sm_80.cubin", Some((8, 0))),
            form!($name, ".sm_90.cubin", Some((9, 0))),
            form!($name, ".sm_100.cubin", Some((10, 0))),
            form!($name, ".sm_120.cubin", Some((12, 0))),
        ]
    };
    ($name:literal ptx) => {
        &[form!($name, ".ptx", None)]
    };
    ($name:literal hopper) => {
        &[form!($name, ".ptx", None), form!($name, ".sm_90a.cubin", Some((9, 0)))]
    };
}

/// Images, and the list of all: the name of a static, and that of its file in `torch/kernels` without the ending.
macro_rules! images {
    ($($(#[$doc:meta])* $image:ident = $name:literal $($alone:ident)?;)*) => {
        $(
            $(#[$doc])*
            pub static $image: Image = Image::new($name, forms!($name $($alone)?));
        )*
        /// All images.
        pub static ALL: &[&Image] = &[$(&$image),*];
    };
}

images! {
    /// Attention in one pass over keys and values, an image for each type; see `fallbacks::attention`.
    ATTENTION_F32 = "attention_f32";
    /// The same on devices without tensor cores for it, which get no machine code.
    ATTENTION_F16 = "attention_f16" ptx;
    /// As `ATTENTION_F16`.
    ATTENTION_BF16 = "attention_bf16" ptx;
    /// Attention on tensor cores of compute capability 8.0 and later.
    ATTENTION_TENSOR_F16 = "attention_tensor_f16";
    /// As `ATTENTION_TENSOR_F16`.
    ATTENTION_TENSOR_BF16 = "attention_tensor_bf16";
    /// Attention with products of warp groups, which compute capability 9.0 alone has.
    ATTENTION_GROUPS_F16 = "attention_groups_f16" hopper;
    /// As `ATTENTION_GROUPS_F16`.
    ATTENTION_GROUPS_BF16 = "attention_groups_bf16" hopper;
    /// As `ATTENTION_TENSOR_F16`, for sequences of several lengths.
    ATTENTION_SEQUENCES_F16 = "attention_sequences_f16";
    /// As `ATTENTION_SEQUENCES_F16`.
    ATTENTION_SEQUENCES_BF16 = "attention_sequences_bf16";
    /// As `ATTENTION_GROUPS_F16`, for sequences of several lengths.
    ATTENTION_SEQUENCES_GROUPS_F16 = "attention_sequences_groups_f16" hopper;
    /// As `ATTENTION_SEQUENCES_GROUPS_F16`.
    ATTENTION_SEQUENCES_GROUPS_BF16 = "attention_sequences_groups_bf16" hopper;
    /// Elements at indices: reads, writes, and writes that combine; see `operations::indexed`.
    INDEXED = "indexed";
    /// The greatest common divisor; see `operations::integers`.
    INTEGERS = "integers";
    /// Random numbers that are drawn until one fits; see `operations::random`.
    RANDOM_REJECTION = "random_rejection";
    /// Running maxima, minima and logarithms of sums; see `operations::running`.
    RUNNING = "running";
    /// Where values belong in sorted lines; see `operations::search`.
    SEARCH = "search";
    /// Where a mask is true; see `operations::selected`.
    SELECTED = "selected";
    /// The first elements of long lines in their order; see `operations::ordering`.
    TOP = "top";
    /// Windows of images: the largest element, the mean, and gradients; see `operations::pooling`.
    POOLING = "pooling";
    /// Special functions; see `operations::special`.
    SPECIAL = "special";
    /// The incomplete gamma functions.
    SPECIAL_GAMMA = "special_gamma";
    /// Orthogonal polynomials.
    SPECIAL_POLYNOMIALS = "special_polynomials";
    /// Steps of the solution of linear equations; see `operations::solvers`.
    SOLVERS = "solvers";
    /// Panels of factors: LU, reflections.
    SOLVERS_PANELS = "solvers_panels";
    /// Factors of symmetric and Hermitian matrices. As `TRANSCENDENTAL`.
    SOLVERS_SYMMETRIC = "solvers_symmetric" ptx;
    /// Functions of real and complex numbers; see `operations::transcendental`. Models rarely call them, so they get no
    /// machine code.
    TRANSCENDENTAL = "transcendental" ptx;
    /// Rotations that make columns orthogonal: singular values, eigenvalues.
    SOLVERS_JACOBI = "solvers_jacobi";
}
