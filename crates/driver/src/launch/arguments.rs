//! What a kernel launch needs beside the kernel: a shape, and arguments by value.

/// Three extents, x fastest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dim3 {
    /// Extent along x.
    pub x: u32,
    /// Extent along y.
    pub y: u32,
    /// Extent along z.
    pub z: u32,
}

impl std::fmt::Display for Dim3 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} x {} x {}", self.x, self.y, self.z)
    }
}

impl Dim3 {
    /// A line of `x`.
    pub const fn line(x: u32) -> Dim3 {
        Dim3 { x, y: 1, z: 1 }
    }
}

/// Grid, block and dynamic shared memory of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchShape {
    /// Blocks.
    pub grid: Dim3,
    /// Threads a block.
    pub block: Dim3,
    /// Dynamic shared memory a block, in bytes.
    pub shared_bytes: u32,
}

/// The most slots of a structure that is a kernel's one parameter: every driver takes 4,096 bytes.
pub const MOST_WIDE_SLOTS: usize = 512;

/// The arguments of a launch, copied by value in the order of the kernel's parameters.
///
/// Each argument takes an 8-byte slot, little-endian, which is how both backends read them; a
/// structure of such arguments takes neighbouring slots. 32 are enough for every kernel of the
/// library but one, which takes a wide structure instead; no launch allocates.
#[derive(Clone, Copy, Debug, Default)]
pub struct KernelArguments {
    slots: [u64; KernelArguments::CAPACITY],
    length: usize,
    /// A bit for each slot: whether a parameter of the kernel begins there.
    begins: u32,
}

const _: () = assert!(KernelArguments::CAPACITY <= u32::BITS as usize);

impl KernelArguments {
    /// The most arguments a launch can have.
    pub const CAPACITY: usize = 32;

    /// No arguments.
    pub fn new() -> Self {
        Self::default()
    }

    /// Always inlined, as what calls it: a call would copy all slots for each argument.
    #[inline(always)]
    fn push(mut self, bits: u64) -> Self {
        self.add(bits);
        self
    }

    /// Adds 64 bits in place, which a loop does without copying the slots.
    #[inline]
    pub fn add(&mut self, bits: u64) {
        assert!(self.length < Self::CAPACITY, "a kernel has at most 32 arguments");
        self.slots[self.length] = bits;
        self.begins |= 1 << self.length;
        self.length += 1;
    }

    /// Leaves so many slots 0. No parameter begins there.
    #[inline]
    pub fn skip(&mut self, count: usize) {
        assert!(count <= Self::CAPACITY - self.length, "a kernel has at most 32 arguments");
        self.length += count;
    }

    /// Becomes one structure of so many slots, which are 0 until the caller writes them.
    #[inline]
    pub fn become_structure(&mut self, count: usize) -> &mut [u64] {
        assert!(count <= Self::CAPACITY, "a kernel has at most 32 arguments");
        // Without arguments all slots are 0.
        if self.length != 0 {
            self.slots.fill(0);
        }
        (self.length, self.begins) = (count, 1);
        &mut self.slots[..count]
    }

    /// With the slots at which the kernel's parameters begin: all, unless some are structures.
    #[inline(always)]
    pub fn with_begins(self, begins: u32) -> Self {
        KernelArguments { begins, ..self }
    }

    /// Adds a 64-bit integer or a device address.
    #[must_use]
    #[inline(always)]
    pub fn u64(self, value: u64) -> Self {
        self.push(value)
    }

    /// Adds a 32-bit integer.
    #[must_use]
    #[inline(always)]
    pub fn u32(self, value: u32) -> Self {
        self.push(u64::from(value))
    }

    /// Adds a float.
    #[must_use]
    #[inline(always)]
    pub fn f32(self, value: f32) -> Self {
        self.push(u64::from(value.to_bits()))
    }

    /// Adds a double.
    #[must_use]
    #[inline(always)]
    pub fn f64(self, value: f64) -> Self {
        self.push(value.to_bits())
    }

    /// Whether the kernel has one parameter, which takes all slots.
    #[inline]
    pub fn is_one_parameter(&self) -> bool {
        self.begins == 1
    }

    /// The slots at which a parameter of the kernel begins, in order.
    pub fn parameters(&self) -> impl Iterator<Item = usize> + use<> {
        let mut left = self.begins;
        std::iter::from_fn(move || {
            let next = (left != 0).then_some(left.trailing_zeros() as usize)?;
            left &= left - 1;
            Some(next)
        })
    }

    /// The slots in use.
    pub fn slots(&self) -> &[u64] {
        &self.slots[..self.length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_keep_their_order_and_bits() {
        let arguments = KernelArguments::new().u64(7).u32(9).f32(1.0).f64(-2.0);
        assert!(arguments.parameters().eq(0..4));
        assert_eq!(arguments.slots(), [7, 9, u64::from(1.0_f32.to_bits()), (-2.0_f64).to_bits()]);
    }

    #[test]
    fn slots_that_are_left_out_are_0_and_begin_no_parameter() {
        let mut arguments = KernelArguments::new();
        arguments.add(7);
        arguments.skip(KernelArguments::CAPACITY - 2);
        arguments.add(9);
        assert!(arguments.parameters().eq([0, KernelArguments::CAPACITY - 1]));
        let (slots, last) = (arguments.slots(), KernelArguments::CAPACITY - 1);
        assert_eq!((slots[0], slots[last]), (7, 9));
        assert!(slots[1..last].iter().all(|slot| *slot == 0));
    }

    #[test]
    #[should_panic = "a kernel has at most 32 arguments"]
    fn more_slots_than_there_are_cannot_be_left_out() {
        let mut arguments = KernelArguments::new();
        arguments.add(7);
        arguments.skip(KernelArguments::CAPACITY);
    }
}
