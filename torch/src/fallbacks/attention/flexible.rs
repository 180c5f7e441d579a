//! C++ functions of PyTorch that the code generated for flexible attention on the CPU calls (`flex_attention`). They are
//! not part of PyTorch's C ABI; their names and parameters are those of PyTorch 2.15.
//!
//! That code divides its work among threads with `at::parallel_for`, whose loops the compiler puts into the model, and
//! has buffers for as many threads as `torch.set_num_threads` set where the model was compiled. Nothing says here how
//! many these are. So there is one thread, and the loops run on the thread that called the model.

#![allow(unsafe_code, reason = "functions of C++ over memory of the caller")]

use std::cell::Cell;
use std::ffi::{c_int, c_void};

use half::{bf16, f16};

use crate::abi::bits::CBool;
use crate::foreign::cpu_allocator;
use crate::operations::products::blocks::{Block, multiply};

thread_local! {
    static THREAD: Cell<c_int> = const { Cell::new(0) };
    static IS_PARALLEL: Cell<bool> = const { Cell::new(false) };
}

/// `at::get_num_threads`
#[unsafe(export_name = "_ZN2at15get_num_threadsEv")]
pub extern "C" fn get_num_threads() -> c_int {
    1
}

/// `at::init_num_threads`: there is nothing to prepare for one thread.
#[unsafe(export_name = "_ZN2at16init_num_threadsEv")]
pub extern "C" fn init_num_threads() {}

/// `at::get_thread_num`
#[unsafe(export_name = "_ZN2at14get_thread_numEv")]
pub extern "C" fn get_thread_num() -> c_int {
    THREAD.get()
}

/// `at::internal::set_thread_num`
#[unsafe(export_name = "_ZN2at8internal14set_thread_numEi")]
pub extern "C" fn set_thread_num(number: c_int) {
    THREAD.set(number);
}

/// `at::in_parallel_region`
#[unsafe(export_name = "_ZN2at18in_parallel_regionEv")]
pub extern "C" fn in_parallel_region() -> bool {
    IS_PARALLEL.get()
}

/// The constructor of `c10::ParallelGuard`, whose only member is the state before.
///
/// # Safety
/// The place is valid for a write.
#[unsafe(export_name = "_ZN3c1013ParallelGuardC1Eb")]
pub unsafe extern "C" fn enter_parallel(guard: *mut CBool, state: CBool) {
    // SAFETY: the generated code has a guard on its stack, and passes the address.
    unsafe { guard.write(IS_PARALLEL.replace(state.is_true()).into()) };
}

/// The destructor of `c10::ParallelGuard`.
///
/// # Safety
/// The guard was constructed.
#[unsafe(export_name = "_ZN3c1013ParallelGuardD1Ev")]
pub unsafe extern "C" fn leave_parallel(guard: *mut CBool) {
    // SAFETY: the generated code has a guard on its stack, and passes the address.
    IS_PARALLEL.set(unsafe { guard.read() }.is_true());
}

/// `at::getCPUAllocator`
#[unsafe(export_name = "_ZN2at15getCPUAllocatorEv")]
pub extern "C" fn get_cpu_allocator() -> *mut c_void {
    cpu_allocator()
}

/// `at::native::cpublas::could_pack`: packed factors are read, but are no faster here.
#[unsafe(export_name = "_ZN2at6native7cpublas10could_packEN3c1010ScalarTypeE")]
pub extern "C" fn could_pack(_dtype: i8) -> bool {
    false
}

/// `at::native::cpublas::pack`: puts pairs of rows of 16-bit numbers side by side.
///
/// # Safety
/// `from` has `inner` rows, and the result has `inner`, rounded up to an even number.
#[unsafe(export_name = "_ZN2at6native7cpublas4packEllllN3c1010ScalarTypeES3_PKvPv")]
pub unsafe extern "C" fn pack(
    inner: i64,
    columns: i64,
    from_stride: i64,
    into_stride: i64,
    _from_dtype: i8,
    _into_dtype: i8,
    from: *const u16,
    into: *mut u16,
) {
    for row in 0..inner + inner % 2 {
        for column in 0..columns {
            let from = from.wrapping_offset((row * from_stride + column) as isize);
            // SAFETY: the generated code's matrix has `inner` rows of `columns` numbers, which `row` and `column` are
            // below.
            let value = if row < inner { unsafe { from.read_unaligned() } } else { 0 };
            let place = ((row / 2 * into_stride + column) * 2 + row % 2) as isize;
            // SAFETY: the result has `inner` rows, rounded up to an even number, of `columns` numbers each, as two rows
            // side by side.
            unsafe { into.wrapping_offset(place).write_unaligned(value) };
        }
    }
}

/// `at::native::cpublas::brgemm_release`: no state of the processor is kept.
#[unsafe(export_name = "_ZN2at6native7cpublas14brgemm_releaseEb")]
pub extern "C" fn brgemm_release(_is_packed: CBool) {}

/// `at::native::cpublas::brgemm` of float32, which is never packed: `into = first @ second`, or that added to it.
///
/// # Safety
/// The matrices have these sizes and strides.
#[unsafe(export_name = "_ZN2at6native7cpublas6brgemmEllllllbPKfS3_Pfb")]
pub unsafe extern "C" fn brgemm_float(
    rows: i64,
    columns: i64,
    inner: i64,
    first_stride: i64,
    second_stride: i64,
    into_stride: i64,
    adds: CBool,
    first: *const f32,
    second: *const f32,
    into: *mut f32,
    _is_packed: CBool,
) {
    let block = |data, stride: i64| Block { data, stride: stride as usize };
    let sizes = [rows, columns, inner].map(|size| size.max(0) as usize);
    let (first, second) = (block(first, first_stride), block(second, second_stride));
    // SAFETY: the generated code has matrices of these sizes and strides, and the result is no part of the others.
    unsafe { multiply(sizes, first, second, block(into, into_stride), adds.is_true()) };
}

/// The rows of a 16-bit matrix in float32, one after another.
///
/// # Safety
/// The matrix has these sizes and this stride.
unsafe fn widened(
    [rows, columns]: [i64; 2],
    data: *const u16,
    stride: i64,
    is_packed: bool,
    number: fn(u16) -> f32,
) -> Vec<f32> {
    let mut numbers = Vec::with_capacity((rows.max(0) * columns.max(0)) as usize);
    for row in 0..rows {
        for column in 0..columns {
            let place = match is_packed {
                true => (row / 2 * stride + column) * 2 + row % 2,
                false => row * stride + column,
            };
            // SAFETY: the matrix has `rows` rows of `columns` numbers, which `row` and `column` are below, and pairs of
            // rows lie side by side if it is packed.
            let bits = unsafe { data.wrapping_offset(place as isize).read_unaligned() };
            numbers.push(number(bits));
        }
    }
    numbers
}

/// Functions for a 16-bit type: name in C++, its name here, and what makes float32 of the bits.
macro_rules! products_of_16_bits {
    ($($symbol:literal $name:ident: $number:expr;)*) => {
        $(
            /// `at::native::cpublas::brgemm` of a 16-bit type: `into = first @ second`, or that added to it.
            ///
            /// # Safety
            /// The matrices have these sizes and strides; `second` is packed if the flag says so.
            #[unsafe(export_name = $symbol)]
            pub unsafe extern "C" fn $name(
                rows: i64,
                columns: i64,
                inner: i64,
                first_stride: i64,
                second_stride: i64,
                into_stride: i64,
                adds: CBool,
                first: *const u16,
                second: *const u16,
                into: *mut f32,
                is_packed: CBool,
            ) {
                // SAFETY: the generated code has a first matrix of `rows` rows and `inner` columns, which is never
                // packed.
                let first = unsafe { widened([rows, inner], first, first_stride, false, $number) };
                let sizes = [inner, columns];
                // SAFETY: the generated code has a second matrix of `inner` rows and `columns` columns, packed if the
                // flag says so.
                let second = unsafe { widened(sizes, second, second_stride, is_packed.is_true(), $number) };
                let (first, second) = (first.as_ptr(), second.as_ptr());
                // SAFETY: both matrices were made here with these sizes, and the result is the one that the generated
                // code passed.
                unsafe {
                    brgemm_float(
                        rows, columns, inner, inner, columns, into_stride, adds, first, second, into, is_packed,
                    );
                }
            }
        )*
    };
}

products_of_16_bits! {
    "_ZN2at6native7cpublas6brgemmEllllllbPKN3c108BFloat16ES5_Pfb" brgemm_bfloat16: |bits| bf16::from_bits(bits).to_f32();
    "_ZN2at6native7cpublas6brgemmEllllllbPKN3c104HalfES5_Pfb" brgemm_half: |bits| f16::from_bits(bits).to_f32();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guards_restore_the_state_before() {
        let (mut outer, mut inner) = (CBool::from(true), CBool::from(true));
        assert!(!in_parallel_region());
        // SAFETY: the places are valid for writes.
        unsafe { enter_parallel(&mut outer, true.into()) };
        assert!(in_parallel_region());
        // SAFETY: the place is valid for a write.
        unsafe { enter_parallel(&mut inner, false.into()) };
        assert!(!in_parallel_region());
        // SAFETY: both were constructed.
        unsafe { leave_parallel(&mut inner) };
        assert!(in_parallel_region());
        // SAFETY: the guard was constructed.
        unsafe { leave_parallel(&mut outer) };
        assert!(!in_parallel_region());
        set_thread_num(3);
        assert_eq!(get_thread_num(), 3);
        assert_eq!(std::thread::spawn(|| get_thread_num()).join().unwrap(), 0);
    }

    #[test]
    fn packed_and_plain_factors_of_16_bits_are_multiplied() {
        // Two rows of three numbers, with a gap, times three rows of two.
        let first =
            [1.0, 2.0, 3.0, 99.0, -1.0, 0.5, 4.0, 99.0].map(|x| bf16::from_f32(x).to_bits());
        let second = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0].map(|x| bf16::from_f32(x).to_bits());
        let expected = [22.0, 28.0, 20.5, 24.0];
        let mut packed = [7; 8];
        // SAFETY: the array has four rows of two.
        unsafe { pack(3, 2, 2, 2, 15, 15, second.as_ptr(), packed.as_mut_ptr()) };
        assert_eq!(packed[2..], [second[1], second[3], second[4], 0, second[5], 0]);
        for (factor, is_packed) in [(second.as_ptr(), false), (packed.as_ptr(), true)] {
            let mut into = [100.0_f32; 4];
            for (adds, base) in [(false, 0.0), (true, 1.0)] {
                let into = into.as_mut_ptr();
                // SAFETY: the arrays have these sizes.
                unsafe {
                    brgemm_bfloat16(
                        2,
                        2,
                        3,
                        4,
                        2,
                        2,
                        adds.into(),
                        first.as_ptr(),
                        factor,
                        into,
                        is_packed.into(),
                    );
                }
                // SAFETY: there are four numbers.
                let found = unsafe { *into.cast::<[f32; 4]>() };
                assert_eq!(found, expected.map(|sum| sum * (1.0 + base)));
            }
        }
        let halves = [f16::from_f32(0.5).to_bits(), f16::from_f32(-3.0).to_bits()];
        let mut product = 0.0;
        // SAFETY: one row of two numbers, times a column of two.
        unsafe {
            brgemm_half(
                1,
                1,
                2,
                2,
                1,
                1,
                false.into(),
                halves.as_ptr(),
                halves.as_ptr(),
                &mut product,
                false.into(),
            );
        }
        assert_eq!(product, 9.25);
    }
}
