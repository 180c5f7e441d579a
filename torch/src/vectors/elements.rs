//! Functions of registers that call the C library for each element: a function stores its registers, calls, and loads
//! the result. The C library's functions err by less than one unit in the last place, so those with bounds of 1.0 and
//! 3.5 units are the same.

#![allow(unsafe_code, reason = "functions of vector registers, in assembly")]

/// A function of one register: the names of the vector function and of the one for an element, the kind and number of
/// elements, the register, and the bytes of stack that keep it aligned.
macro_rules! vector_function {
    ($name:ident, $scalar:ident, $kind:ty, $count:literal, $register:literal, $bytes:literal) => {
        #[doc = concat!("`", stringify!($scalar), "` of ", stringify!($count), " elements in a register.")]
        ///
        /// # Safety
        /// The processor has the register.
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name() {
            extern "C" fn elements(values: &mut [$kind; $count]) {
                unsafe extern "C" {
                    safe fn $scalar(value: $kind) -> $kind;
                }
                for value in values {
                    *value = $scalar(*value);
                }
            }
            std::arch::naked_asm!(
                concat!("sub rsp, ", $bytes, " + 8"),
                concat!("vmovups [rsp], ", $register, "0"),
                "mov rdi, rsp",
                "vzeroupper",
                "call {elements}",
                concat!("vmovups ", $register, "0, [rsp]"),
                concat!("add rsp, ", $bytes, " + 8"),
                "ret",
                elements = sym elements,
            );
        }
    };
    (@pair $name:ident, $scalar:ident, $kind:ty, $count:literal, $register:literal, $bytes:literal) => {
        #[doc = concat!("`", stringify!($scalar), "` of ", stringify!($count), " pairs of elements in two registers.")]
        ///
        /// # Safety
        /// The processor has the registers.
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name() {
            extern "C" fn elements([first, second]: &mut [[$kind; $count]; 2]) {
                unsafe extern "C" {
                    safe fn $scalar(first: $kind, second: $kind) -> $kind;
                }
                for (first, second) in first.iter_mut().zip(second) {
                    *first = $scalar(*first, *second);
                }
            }
            std::arch::naked_asm!(
                concat!("sub rsp, 2 * ", $bytes, " + 8"),
                concat!("vmovups [rsp], ", $register, "0"),
                concat!("vmovups [rsp + ", $bytes, "], ", $register, "1"),
                "mov rdi, rsp",
                "vzeroupper",
                "call {elements}",
                concat!("vmovups ", $register, "0, [rsp]"),
                concat!("add rsp, 2 * ", $bytes, " + 8"),
                "ret",
                elements = sym elements,
            );
        }
    };
}
pub(super) use vector_function;
