//! Functions of registers that call the C library for each element: a function stores its registers, calls, and loads
//! the result. The C library's functions err by less than one unit in the last place, so those with bounds of 1.0 and
//! 3.5 units are the same.

#![allow(unsafe_code, reason = "functions of vector registers, in assembly")]

/// Calls a function for each element, in place.
///
/// # Safety
/// There are `N` elements.
pub(super) unsafe fn each<T: Copy, const N: usize>(
    elements: *mut T,
    function: unsafe extern "C" fn(T) -> T,
) {
    // SAFETY: the caller's promise.
    for element in unsafe { std::slice::from_raw_parts_mut(elements, N) } {
        // SAFETY: functions of the C library have no preconditions for numbers.
        *element = unsafe { function(*element) };
    }
}

/// Calls a function for each pair of elements of two arrays that follow one another; the results go to the first.
///
/// # Safety
/// There are twice `N` elements.
pub(super) unsafe fn each_pair<T: Copy, const N: usize>(
    elements: *mut T,
    function: unsafe extern "C" fn(T, T) -> T,
) {
    // SAFETY: the caller's promise.
    let (first, second) =
        unsafe { std::slice::from_raw_parts_mut(elements, 2 * N) }.split_at_mut(N);
    for (first, second) in first.iter_mut().zip(second) {
        // SAFETY: functions of the C library have no preconditions for numbers.
        *first = unsafe { function(*first, *second) };
    }
}

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
            unsafe extern "C" fn elements(values: *mut $kind) {
                unsafe extern "C" {
                    fn $scalar(value: $kind) -> $kind;
                }
                // SAFETY: the caller stored so many elements.
                unsafe { $crate::vectors::elements::each::<$kind, $count>(values, $scalar) };
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
            unsafe extern "C" fn elements(values: *mut $kind) {
                unsafe extern "C" {
                    fn $scalar(first: $kind, second: $kind) -> $kind;
                }
                // SAFETY: the caller stored twice so many elements.
                unsafe { $crate::vectors::elements::each_pair::<$kind, $count>(values, $scalar) };
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
