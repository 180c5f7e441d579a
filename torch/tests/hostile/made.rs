//! Arguments as words: tensors, lists, texts and numbers that are made for one call.

use std::ffi::{CString, c_char, c_void};
use std::ptr::null_mut;

use super::kinds::Kind;
use super::values::{Case, Filling, Handle, Order, TensorCase};

#[repr(C)]
pub(crate) struct TensorOptions {
    pub(crate) struct_size: u32,
    pub(crate) dtype: i32,
    pub(crate) device: i32,
    pub(crate) memory_format: i32,
    pub(crate) pinned: bool,
    pub(crate) reserved: [u8; 7],
}

#[link(name = "sconce")]
unsafe extern "C" {
    fn sconce_tensor_zeros(
        sizes: *const i64,
        rank: usize,
        options: *const TensorOptions,
        tensor: *mut u64,
    ) -> i32;
    safe fn sconce_tensor_get_data(tensor: u64, data: &mut *mut c_void) -> i32;
    fn sconce_tensor_as_strided(
        tensor: u64,
        sizes: *const i64,
        strides: *const i64,
        rank: usize,
        offset: i64,
        view: *mut u64,
    ) -> i32;
    fn sconce_tensor_to(
        tensor: u64,
        options: *const TensorOptions,
        non_blocking: bool,
        copy: bool,
        result: *mut u64,
    ) -> i32;
    pub(crate) safe fn sconce_tensor_release(tensor: u64) -> i32;
    pub(crate) safe fn sconce_tensor_live_count() -> usize;
    safe fn sconce_generator_create(device: i32, generator: &mut *mut c_void) -> i32;
    fn sconce_generator_destroy(generator: *mut c_void) -> i32;
}

#[link(name = "sconce_torch")]
unsafe extern "C" {
    fn aoti_torch_new_uninitialized_tensor(tensor: *mut u64) -> i32;
    fn torch_new_list_reserve_size(size: usize, list: *mut u64) -> i32;
    fn torch_list_push_back(list: u64, word: u64) -> i32;
    fn torch_list_size(list: u64, size: *mut usize) -> i32;
    fn torch_list_get_item(list: u64, at: usize, word: *mut u64) -> i32;
    fn torch_delete_list(list: u64) -> i32;
    fn torch_new_string_handle(data: *const c_char, length: usize, text: *mut u64) -> i32;
    fn torch_delete_string(text: u64) -> i32;
    fn torch_new_stable_ivalue(place: *mut *mut u64) -> i32;
    fn torch_delete_stable_ivalue(place: *mut u64) -> i32;
    safe fn torch_new_scalar_int(value: i64, scalar: &mut u64) -> i32;
    safe fn torch_new_scalar_double(value: f64, scalar: &mut u64) -> i32;
    safe fn torch_new_scalar_bool(value: bool, scalar: &mut u64) -> i32;
    safe fn torch_new_scalar_complex_double(real: f64, imaginary: f64, scalar: &mut u64) -> i32;
    fn torch_delete_scalar(scalar: u64) -> i32;
    safe fn aoti_torch_delete_tensor_object(tensor: u64) -> i32;
}

const CPU: i32 = -2;

/// Sconce's number and the bytes of an element of c10's number of a type.
fn dtype_of(number: i32) -> (i32, usize) {
    match number {
        6 => (0, 4),
        7 => (1, 8),
        5 => (2, 2),
        15 => (3, 2),
        1 => (4, 1),
        2 => (5, 2),
        3 => (6, 4),
        4 => (7, 8),
        0 => (8, 1),
        11 => (9, 1),
        9 => (10, 8),
        10 => (11, 16),
        27 => (12, 2),
        28 => (13, 4),
        29 => (14, 8),
        8 => (15, 4),
        24 => (16, 1),
        26 => (17, 1),
        23 => (18, 1),
        25 => (19, 1),
        44 => (20, 1),
        _ => (21, 1),
    }
}

/// The bits of a number in a type of real numbers of 16 bits: those of float32, cut.
fn half(value: f32, mantissa: u32) -> u16 {
    if mantissa == 7 {
        return (value.to_bits() >> 16) as u16;
    }
    let bits = value.to_bits();
    let (sign, exponent) = ((bits >> 16) as u16 & 0x8000, ((bits >> 23) & 0xff) as i32 - 112);
    match exponent {
        31.. => sign | 0x7c00 | u16::from(value.is_nan()),
        1..=30 => sign | (exponent as u16) << 10 | (bits >> 13) as u16 & 0x3ff,
        _ => sign,
    }
}

/// Writes one element.
fn element(value: f64, number: i32, to: &mut [u8]) {
    let whole = value as i64;
    match number {
        6 | 9 => to[..4].copy_from_slice(&(value as f32).to_ne_bytes()),
        7 | 10 => to[..8].copy_from_slice(&value.to_ne_bytes()),
        5 | 8 => to[..2].copy_from_slice(&half(value as f32, 10).to_ne_bytes()),
        15 => to[..2].copy_from_slice(&half(value as f32, 7).to_ne_bytes()),
        11 => to[0] = u8::from(value != 0.0),
        _ => {
            let bytes = whole.to_ne_bytes();
            let count = to.len().min(8);
            to[..count].copy_from_slice(&bytes[..count]);
        }
    }
}

/// A tensor over new memory.
fn tensor(case: &TensorCase) -> u64 {
    let (dtype, bytes) = dtype_of(case.dtype);
    let rank = case.sizes.len();
    let mut strides = vec![1_i64; rank];
    let mut places: Vec<usize> = (0..rank).collect();
    if case.order != Order::Reversed {
        places.reverse();
    }
    let mut next = if case.order == Order::Stepped { 2 } else { 1 };
    for place in places {
        strides[place] = next;
        next *= case.sizes[place].max(1);
    }
    if let (Order::Expanded, Some(first)) = (case.order, strides.first_mut()) {
        *first = 0;
    }
    let offset = i64::from(case.order == Order::Behind);
    let reach = case.sizes.iter().zip(&strides).map(|(size, stride)| (size - 1).max(0) * stride);
    let count = reach.sum::<i64>() + 1 + offset;
    let mut options = TensorOptions {
        struct_size: size_of::<TensorOptions>() as u32,
        dtype,
        device: CPU,
        memory_format: 0,
        pinned: false,
        reserved: [0; 7],
    };
    let (mut memory, mut data, mut view) = (0, null_mut(), 0);
    // SAFETY: the options and the places are valid.
    assert_eq!(unsafe { sconce_tensor_zeros(&count, 1, &options, &mut memory) }, 0);
    assert_eq!(sconce_tensor_get_data(memory, &mut data), 0);
    // SAFETY: the memory has so many elements, and nothing else uses it.
    let all = unsafe { std::slice::from_raw_parts_mut(data.cast::<u8>(), count as usize * bytes) };
    for (at, to) in all.chunks_exact_mut(bytes).enumerate() {
        let value = match case.filling {
            Filling::All(value) => value,
            Filling::Count(modulo) => f64::from(at as u32 % modulo),
        };
        element(value, case.dtype, to);
    }
    if case.is_on_device {
        options.device = 0;
        let mut there = 0;
        // SAFETY: the options are valid, and the place is valid for a write.
        assert_eq!(unsafe { sconce_tensor_to(memory, &options, false, false, &mut there) }, 0);
        release(memory);
        memory = there;
    }
    // SAFETY: sizes and strides have so many entries.
    let status = unsafe {
        let (sizes, strides) = (case.sizes.as_ptr(), strides.as_ptr());
        sconce_tensor_as_strided(memory, sizes, strides, rank, offset, &mut view)
    };
    assert_eq!(status, 0, "{case:?}");
    release(memory);
    view
}

/// Makes a tensor of the device, with all that this needs.
pub(crate) fn use_the_device() {
    let (handle, order, filling) = (Handle::Tensor, Order::Contiguous, Filling::Count(7));
    let case =
        TensorCase { handle, dtype: 6, sizes: vec![256], order, filling, is_on_device: true };
    release(tensor(&case));
}

pub(crate) fn release(tensor: u64) {
    assert_eq!(sconce_tensor_release(tensor), 0);
}

/// The number of tensors that are alive.
pub(crate) fn live() -> usize {
    sconce_tensor_live_count()
}

/// What a call is made of, beside its words.
#[derive(Default)]
pub(crate) struct Kept {
    /// Handles that stay the caller's in C.
    pub(crate) tensors: Vec<u64>,
    generators: Vec<*mut c_void>,
    pub(crate) texts: Vec<CString>,
    /// Arrays and places that C reads or writes.
    pub(crate) memory: Vec<Box<[u64]>>,
}

impl Drop for Kept {
    fn drop(&mut self) {
        for generator in &self.generators {
            // SAFETY: it is alive, and not used afterwards.
            assert_eq!(unsafe { sconce_generator_destroy(*generator) }, 0);
        }
        self.tensors.iter().for_each(|tensor| release(*tensor));
    }
}

impl Kept {
    /// A handle, and whether it has to be released.
    pub(crate) fn handle(case: &TensorCase) -> (u64, bool) {
        match case.handle {
            Handle::Tensor => (tensor(case), true),
            Handle::Null => (0, false),
            Handle::Garbage => (0x0fff_ffff_dead_bee0, false),
            Handle::Released => {
                let gone = tensor(case);
                release(gone);
                (gone, false)
            }
            Handle::Undefined => {
                let mut made = 0;
                // SAFETY: the place is valid for a write.
                assert_eq!(unsafe { aoti_torch_new_uninitialized_tensor(&mut made) }, 0);
                (made, true)
            }
        }
    }

    pub(crate) fn generator(&mut self) -> u64 {
        let mut made = null_mut();
        assert_eq!(sconce_generator_create(CPU, &mut made), 0);
        self.generators.push(made);
        made as u64
    }

    /// The word of an argument, as the dispatcher takes it and then owns it.
    pub(crate) fn word(&mut self, kind: &Kind, case: &Case) -> u64 {
        let mut made = 0;
        let status = match (kind, case) {
            (Kind::Optional(_), Case::None) => return 0,
            (Kind::Optional(inner), case) => {
                let (word, mut place) = (self.word(inner, case), null_mut());
                // SAFETY: the place is valid for a write.
                assert_eq!(unsafe { torch_new_stable_ivalue(&mut place) }, 0);
                // SAFETY: it is memory of one word.
                unsafe { place.write(word) };
                return place as u64;
            }
            (Kind::List(inner, _), Case::List(cases) | Case::Miscounted(cases, _)) => {
                // SAFETY: the place is valid for a write.
                let status = unsafe { torch_new_list_reserve_size(0, &mut made) };
                for case in cases {
                    let word = self.word(inner, case);
                    // SAFETY: the list is alive.
                    assert_eq!(unsafe { torch_list_push_back(made, word) }, 0);
                }
                status
            }
            (Kind::Tensor, Case::Tensor(case)) => return Kept::handle(case).0,
            (Kind::Scalar, Case::Int(value)) => torch_new_scalar_int(*value, &mut made),
            (Kind::Scalar, Case::Float(value)) => torch_new_scalar_double(*value, &mut made),
            (Kind::Scalar, Case::Bool(value)) => torch_new_scalar_bool(*value, &mut made),
            (Kind::Scalar, Case::Complex(re, im)) => {
                torch_new_scalar_complex_double(*re, *im, &mut made)
            }
            // SAFETY: the text has so many bytes; the place is valid for a write.
            (Kind::Text, Case::Text(text)) => unsafe {
                torch_new_string_handle(text.as_ptr().cast(), text.len(), &mut made)
            },
            (_, Case::Int(value)) => return value.cast_unsigned(),
            (_, Case::Float(value)) => return value.to_bits(),
            (_, Case::Bool(value)) => return u64::from(*value),
            (_, Case::Code(code)) => return u64::from(code.cast_unsigned()),
            (_, Case::Device(kind, index)) => {
                return u64::from(kind.cast_unsigned()) << 32 | u64::from(index.cast_unsigned());
            }
            (Kind::Generator, Case::Generator(some)) => {
                return if *some { self.generator() } else { 0 };
            }
            (kind, case) => panic!("{case:?} is no {kind:?}"),
        };
        assert_eq!(status, 0);
        made
    }
}

/// Deletes a word of a result with what it owns. The library made the word, of its kind, and it is used once.
pub(crate) fn delete(kind: &Kind, word: u64) {
    let status = match kind {
        Kind::Tensor => aoti_torch_delete_tensor_object(word),
        // SAFETY: the word is that of a scalar.
        Kind::Scalar => unsafe { torch_delete_scalar(word) },
        // SAFETY: the word is that of a text.
        Kind::Text => unsafe { torch_delete_string(word) },
        Kind::Optional(_) if word == 0 => 0,
        Kind::Optional(inner) => {
            let place = word as *mut u64;
            // SAFETY: a word of an optional kind that is not 0 is the address of one of the inner kind.
            delete(inner, unsafe { place.read() });
            // SAFETY: the library made the word's memory, and what was in it is deleted.
            unsafe { torch_delete_stable_ivalue(place) }
        }
        Kind::List(inner, _) => {
            let mut count = 0;
            // SAFETY: the word is that of a list; the place is valid for a write.
            assert_eq!(unsafe { torch_list_size(word, &mut count) }, 0);
            for at in 0..count {
                let mut entry = 0;
                // SAFETY: the word is that of a list; the place is valid for a write.
                assert_eq!(unsafe { torch_list_get_item(word, at, &mut entry) }, 0);
                delete(inner, entry);
            }
            // SAFETY: the word is that of a list, whose entries are deleted.
            unsafe { torch_delete_list(word) }
        }
        _ => 0,
    };
    assert_eq!(status, 0, "{kind:?}");
}
