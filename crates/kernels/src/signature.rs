//! What each kernel takes: the one list of parameters that packing, the simulator's kernels and a test
//! of the compiled images agree on.

use sconce_driver::{KernelArguments, MOST_WIDE_SLOTS};

/// A parameter as the compiler lists it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parameter {
    /// A 32-bit integer.
    U32,
    /// A 64-bit integer or an address.
    U64,
    /// A double.
    F64,
    /// 64 bits that some kernels of the family take as an integer and the others as a double.
    Word,
    /// A structure of this many 8-byte slots, passed by value.
    Slots(usize),
}

use Parameter::{F64, Slots, U32, U64, Word};

impl Parameter {
    /// 8-byte slots in [`KernelArguments`].
    const fn slots(self) -> usize {
        match self {
            U32 | U64 | F64 | Word => 1,
            Slots(count) => count,
        }
    }
}

/// The parameters of the kernels of one family, in their order.
#[derive(Debug, PartialEq, Eq)]
pub struct Signature {
    /// What the names of the kernels begin with.
    pub family: &'static str,
    /// The parameters.
    pub parameters: &'static [Parameter],
}

impl Signature {
    /// How many slots the arguments of a launch take.
    pub const fn slots(&self) -> usize {
        let (mut slots, mut index) = (0, 0);
        while index < self.parameters.len() {
            slots += self.parameters[index].slots();
            index += 1;
        }
        slots
    }

    /// A bit for each slot: whether a parameter begins there.
    const fn begins(&self) -> u32 {
        let (mut begins, mut slot, mut index) = (0, 0, 0);
        while index < self.parameters.len() {
            begins |= 1 << slot;
            slot += self.parameters[index].slots();
            index += 1;
        }
        begins
    }

    /// Begins the arguments of a kernel whose one parameter is a structure. Its slots are 0 until the caller writes
    /// them.
    #[inline]
    pub(super) fn structure<'a>(&self, arguments: &'a mut KernelArguments) -> &'a mut [u64] {
        debug_assert!(matches!(self.parameters, [Slots(_)]), "{} has no structure", self.family);
        arguments.become_structure(self.slots())
    }

    /// Begins the arguments of a launch.
    #[inline(always)]
    pub(super) fn pack(&'static self) -> Packing {
        Packing { signature: self, arguments: KernelArguments::new() }
    }

    /// The parameter that a slot belongs to.
    fn parameter_at(&self, slot: usize) -> Option<Parameter> {
        let mut end = 0;
        self.parameters.iter().copied().find(|parameter| {
            end += parameter.slots();
            slot < end
        })
    }
}

/// Arguments in the making. Debug builds check each against the signature.
pub(super) struct Packing {
    signature: &'static Signature,
    arguments: KernelArguments,
}

impl Packing {
    fn expect(&self, given: Parameter) {
        debug_assert!(
            match self.signature.parameter_at(self.arguments.slots().len()) {
                Some(Slots(_)) => true,
                Some(parameter) => parameter == given,
                None => false,
            },
            "argument {} of {} is no {given:?}",
            self.arguments.slots().len(),
            self.signature.family
        );
    }

    /// Adds a 64-bit integer or an address.
    #[inline(always)]
    pub(super) fn u64(self, value: u64) -> Self {
        self.expect(U64);
        Packing { arguments: self.arguments.u64(value), ..self }
    }

    /// Adds a 32-bit integer.
    #[inline(always)]
    pub(super) fn u32(self, value: u32) -> Self {
        self.expect(U32);
        Packing { arguments: self.arguments.u32(value), ..self }
    }

    /// Adds a double.
    #[inline(always)]
    pub(super) fn f64(self, value: f64) -> Self {
        self.expect(F64);
        Packing { arguments: self.arguments.f64(value), ..self }
    }

    /// Adds 64 bits that are an integer or a double.
    #[inline(always)]
    pub(super) fn word(self, bits: u64) -> Self {
        self.expect(Word);
        Packing { arguments: self.arguments.u64(bits), ..self }
    }

    /// Adds 64 bits in place: in a loop each argument of a chain would copy all slots.
    #[inline]
    pub(super) fn add(&mut self, bits: u64) {
        self.expect(U64);
        self.arguments.add(bits);
    }

    /// Adds a 32-bit integer in place.
    #[inline]
    pub(super) fn add_u32(&mut self, value: u32) {
        self.expect(U32);
        self.arguments.add(u64::from(value));
    }

    /// Leaves so many slots of a structure 0.
    #[inline]
    pub(super) fn skip(&mut self, count: usize) {
        self.arguments.skip(count);
    }

    /// The arguments, now complete.
    #[inline(always)]
    pub(super) fn finish(self) -> KernelArguments {
        debug_assert_eq!(
            self.arguments.slots().len(),
            self.signature.slots(),
            "{} lacks arguments",
            self.signature.family
        );
        self.arguments.with_begins(self.signature.begins())
    }
}

/// `(duration_ns)`.
pub const SLEEP: Signature = Signature { family: "sconce_sleep_ns", parameters: &[U64] };
/// `(pointer, count, value)`.
pub const FILL_U32: Signature =
    Signature { family: "sconce_fill_u32", parameters: &[U64, U64, U32] };
/// `(pointer, count, value)`.
pub const ADD_U32: Signature = Signature { family: "sconce_add_u32", parameters: &[U64, U64, U32] };
/// `(dst, src, dst_pitch, src_pitch, width, height, lanes_shift, along)`.
pub const COPY_ROWS: Signature = Signature {
    family: "sconce_copy_rows_",
    parameters: &[U64, U64, U64, U64, U64, U64, U32, U32],
};
/// `(dst, src, n, rank, axes)`.
pub const COPY_STRIDED: Signature =
    Signature { family: "sconce_copy_strided_", parameters: &[U64, U64, U32, U32, Slots(27)] };
/// `(address, factor, n, rank, reals, axes)`.
pub const SCALE: Signature =
    Signature { family: "sconce_scale_", parameters: &[U64, F64, U64, U32, U32, Slots(12)] };
/// `(launch)`, of an element-wise operation with one input.
pub const POINTWISE_1: Signature =
    Signature { family: "sconce_pointwise_1_", parameters: &[Slots(30)] };
/// `(launch)`, of an element-wise operation with two inputs.
pub const POINTWISE_2: Signature =
    Signature { family: "sconce_pointwise_2_", parameters: &[Slots(31)] };
/// `(launch)`, of an element-wise operation with three inputs.
pub const POINTWISE_3: Signature =
    Signature { family: "sconce_pointwise_3_", parameters: &[Slots(31)] };
/// `(launch)`, of a conversion with other neighbours in the output than in the input.
pub const TRANSPOSED: Signature =
    Signature { family: "sconce_pointwise_transposed_", parameters: &[Slots(28)] };
/// `(condition, address, bytes)`.
pub const SET_CONDITION: Signature =
    Signature { family: "sconce_graph_set_condition", parameters: &[U64, U64, U32] };
/// `(record, increment, slot, seed, offset)`.
pub const RANDOM_TAKE: Signature =
    Signature { family: "sconce_random_take", parameters: &[U64; 5] };
/// `(keys, values, n, wide, seed, offset, state)`.
pub const RANDOM_PERMUTE: Signature =
    Signature { family: "sconce_random_permute", parameters: &[U64; 7] };
/// `(address, n, seed, offset, threads, first, second, state)`.
pub const RANDOM_FILL: Signature =
    Signature { family: "sconce_random_", parameters: &[U64, U64, U64, U64, U64, Word, Word, U64] };
/// `(length, shift, lines, rank, across, mask, infinity, sides)`.
pub const SORT_LINES: Signature = Signature {
    family: "sconce_sort_lines_",
    parameters: &[U32, U32, U32, U32, U32, U64, U64, Slots(18)],
};
/// `(length, rank, mask, infinity, sides)`.
pub const SORT_BLOCK: Signature =
    Signature { family: "sconce_sort_block_", parameters: &[U32, U32, U64, U64, Slots(18)] };
/// `(length, blocks_of_line, rank, mask, infinity, histogram, sides)`.
pub const SORT_COUNT: Signature = Signature {
    family: "sconce_sort_count_",
    parameters: &[U32, U64, U32, U64, U64, U64, Slots(18)],
};
/// `(length, tiles_of_line, rank, number, wide, mask, infinity, work, sides)`.
pub const SORT_PASS: Signature = Signature {
    family: "sconce_sort_pass_",
    parameters: &[U32, U64, U32, U32, U32, U64, U64, Slots(4), Slots(18)],
};
/// `(dst, src, n, rank, wide, selected, axes)`.
pub const SELECT: Signature = Signature {
    family: "sconce_select_",
    parameters: &[U64, U64, U32, U32, U32, Slots(3), Slots(20)],
};
/// `(pieces)`, which are more than [`KernelArguments`] hold.
pub const JOIN_MANY: Signature =
    Signature { family: "sconce_join_many", parameters: &[Slots(508)] };
/// `(dst_pitch, parts)`.
pub const JOIN: Signature = Signature { family: "sconce_join_", parameters: &[U64, Slots(30)] };

/// `(reduction)`.
pub const REDUCE: Signature = Signature { family: "sconce_reduce_", parameters: &[Slots(32)] };
/// `(lines)`.
pub const SOFTMAX: Signature = Signature { family: "sconce_softmax_", parameters: &[Slots(27)] };
/// `(lines)`.
pub(crate) const SCAN: Signature = Signature { family: "sconce_scan_", parameters: &[Slots(27)] };

/// `(product)`.
pub const SMALL_PRODUCT: Signature =
    Signature { family: "sconce_small_product_", parameters: &[Slots(16)] };

/// Every signature. A family that begins like another one comes before it.
pub(crate) const SIGNATURES: [&Signature; 25] = [
    &SLEEP,
    &FILL_U32,
    &ADD_U32,
    &COPY_ROWS,
    &COPY_STRIDED,
    &SCALE,
    &POINTWISE_1,
    &POINTWISE_2,
    &POINTWISE_3,
    &TRANSPOSED,
    &SET_CONDITION,
    &RANDOM_TAKE,
    &RANDOM_PERMUTE,
    &RANDOM_FILL,
    &SORT_LINES,
    &SORT_BLOCK,
    &SORT_COUNT,
    &SORT_PASS,
    &SELECT,
    &JOIN_MANY,
    &JOIN,
    &REDUCE,
    &SOFTMAX,
    &SCAN,
    &SMALL_PRODUCT,
];

const _: () = {
    let mut index = 0;
    while index < SIGNATURES.len() {
        let (signature, slots) = (SIGNATURES[index], SIGNATURES[index].slots());
        // More than that go to the driver as one structure (`kernel_launch_wide`).
        assert!(
            slots <= KernelArguments::CAPACITY
                || signature.parameters.len() == 1 && slots <= MOST_WIDE_SLOTS
        );
        index += 1;
    }
};

/// The signature of a kernel.
#[cfg(test)]
pub(crate) fn signature_of(kernel: &str) -> Option<&'static Signature> {
    SIGNATURES.into_iter().find(|signature| kernel.starts_with(signature.family))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::images;

    /// The kernels of a PTX text, with their parameters.
    fn entries(ptx: &str) -> Vec<(String, Vec<Parameter>)> {
        let mut entries = Vec::new();
        for text in ptx.split(".entry ").skip(1) {
            let (name, rest) = text.split_once('(').unwrap();
            let (list, _) = rest.split_once(')').unwrap();
            let list = list.split(',').map(str::trim).filter(|text| !text.is_empty());
            entries.push((name.to_owned(), list.map(parameter).collect()));
        }
        entries
    }

    /// A parameter as PTX writes it: `.param .u64 name`, or `.param .align 8 .b8 name[216]`.
    fn parameter(text: &str) -> Parameter {
        let words: Vec<&str> = text.split_whitespace().collect();
        match words[..] {
            [".param", ".u64", _] => U64,
            [".param", ".u32", _] => U32,
            [".param", ".f64", _] => F64,
            [".param", ".align", "8", ".b8", name] => {
                let bytes = name.split_once('[').unwrap().1.trim_end_matches(']');
                let bytes: usize = bytes.parse().unwrap();
                assert!(bytes.is_multiple_of(8), "{text}");
                Slots(bytes / 8)
            }
            _ => panic!("no kernel has a parameter like this yet: {text}"),
        }
    }

    #[test]
    fn the_compiled_kernels_have_the_listed_parameters() {
        let mut seen = Vec::new();
        for image in images::all() {
            for (kernel, parameters) in entries(&images::ptx(image)) {
                let signature = signature_of(&kernel).expect(&kernel);
                assert_eq!(parameters.len(), signature.parameters.len(), "{kernel}");
                for (compiled, listed) in parameters.iter().zip(signature.parameters) {
                    let is_word = *listed == Word && matches!(compiled, U64 | F64);
                    assert!(compiled == listed || is_word, "{kernel}: {parameters:?}");
                }
                seen.push(signature);
            }
        }
        assert_eq!(seen.len(), 82 + 30 + 74 + 15 + 4 + 2 + 1 + 4 + 5 + 1, "kernels in all images");
        for signature in SIGNATURES {
            assert!(seen.contains(&signature), "{} has no kernel", signature.family);
        }
    }

    #[test]
    fn a_kernel_belongs_to_the_longest_family_that_its_name_begins_with() {
        for (kernel, family) in [
            ("sconce_random_take", "sconce_random_take"),
            ("sconce_random_uniform_f32", "sconce_random_"),
            ("sconce_copy_rows_16", "sconce_copy_rows_"),
        ] {
            assert_eq!(signature_of(kernel).unwrap().family, family);
        }
        assert_eq!(signature_of("nothing"), None);
    }

    #[test]
    fn a_structure_is_one_parameter_wherever_it_stands() {
        let mut packing = SELECT.pack().u64(1).u64(2).u32(3).u32(4).u32(5);
        for slot in 5..SELECT.slots() {
            packing = packing.u64(slot as u64);
        }
        assert!(packing.finish().parameters().eq([0, 1, 2, 3, 4, 5, 8]));
        assert!(SLEEP.pack().u64(1).finish().parameters().eq([0]));
    }

    #[test]
    #[should_panic = "argument 1 of sconce_fill_u32 is no U32"]
    fn an_argument_of_another_type_is_refused() {
        let _ = FILL_U32.pack().u64(1).u32(2);
    }

    #[test]
    #[should_panic = "sconce_fill_u32 lacks arguments"]
    fn a_missing_argument_is_refused() {
        let _ = FILL_U32.pack().u64(1).u64(2).finish();
    }
}
