//! Tags of operators: numbers that only this library gives a meaning. They describe operators to compilers.

#![allow(unsafe_code, reason = "functions without a mangled name")]

/// Functions without arguments that return the number of a tag.
macro_rules! tags {
    ($($name:ident = $number:literal;)*) => {
        $(
            #[doc = concat!("Returns the number of this tag: ", stringify!($number), ".")]
            #[unsafe(no_mangle)]
            pub extern "C" fn $name() -> i32 {
                $number
            }
        )*
        /// How many tags there are; their numbers begin with 0.
        pub const TAGS: i32 = [$($number),*].len() as i32;
    };
}

tags! {
    torch_tag_core = 0;
    torch_tag_cudagraph_unsafe = 1;
    torch_tag_data_dependent_output = 2;
    torch_tag_dynamic_output_shape = 3;
    torch_tag_flexible_layout = 4;
    torch_tag_generated = 5;
    torch_tag_inplace_view = 6;
    torch_tag_maybe_aliasing_or_mutating = 7;
    torch_tag_needs_contiguous_strides = 8;
    torch_tag_needs_exact_strides = 9;
    torch_tag_needs_fixed_stride_order = 10;
    torch_tag_nondeterministic_bitwise = 11;
    torch_tag_nondeterministic_seeded = 12;
    torch_tag_out_variant = 13;
    torch_tag_pointwise = 14;
    torch_tag_pt2_compliant_tag = 15;
    torch_tag_reduction = 16;
    torch_tag_view_copy = 17;
}
