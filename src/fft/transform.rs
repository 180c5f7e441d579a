//! Fourier transforms through cuFFT. See `docs/design/fft.md`.

use std::ffi::c_void;
use std::mem::offset_of;
use std::ptr::from_ref;

use sconce_base::error::{Error, Result};
use sconce_compute::fft::{self, Normalization, RawDescriptor, Transform};
use sconce_driver::{FftDirection, FftKind};

use crate::structs::{read_at, refuse_zeroed};
use crate::{CBool, dtype_of, guard, sconce_status, sconce_stream};

/// The largest number of dimensions of a transform.
pub const SCONCE_FFT_MOST_RANK: usize = 3;

/// The kinds of numbers that a transform reads and writes.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum sconce_fft_kind {
    /// Complex to complex.
    SCONCE_FFT_C2C = 0,
    /// Real to complex: the first n / 2 + 1 of the last dimension's n results. Forward only.
    SCONCE_FFT_R2C = 1,
    /// Complex to real: from the first n / 2 + 1 of the last dimension's n complex numbers. Inverse
    /// only.
    SCONCE_FFT_C2R = 2,
}

numbers_of!(sconce_fft_kind as i32: SCONCE_FFT_C2C, SCONCE_FFT_R2C, SCONCE_FFT_C2R);

/// Direction of a transform.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum sconce_fft_direction {
    /// The sign of the exponent is minus.
    SCONCE_FFT_FORWARD = 0,
    /// The sign of the exponent is plus.
    SCONCE_FFT_INVERSE = 1,
}

numbers_of!(sconce_fft_direction as i32: SCONCE_FFT_FORWARD, SCONCE_FFT_INVERSE);

/// The number by which the results of a transform are divided.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum sconce_fft_normalization {
    /// Not divided, as by cuFFT: a forward and an inverse transform together multiply by n.
    SCONCE_FFT_NORM_NONE = 0,
    /// Divided by the square root of the number of elements (torch's "ortho").
    SCONCE_FFT_NORM_BY_ROOT_N = 1,
    /// Divided by the number of elements (torch's "backward" of an inverse transform).
    SCONCE_FFT_NORM_BY_N = 2,
}

numbers_of!(sconce_fft_normalization as i32: SCONCE_FFT_NORM_NONE, SCONCE_FFT_NORM_BY_ROOT_N, SCONCE_FFT_NORM_BY_N);

const _: () = assert!(SCONCE_FFT_MOST_RANK == sconce_driver::MOST_FFT_RANK);

/// Describes a batch of transforms of 1 to 3 dimensions. Begin with `SCONCE_FFT_DESC_INIT`, which
/// sets `batch` and `rank` to 1.
///
/// Strides count elements of their side, real or complex. If all strides of a side are 0, that of
/// the batch included, the side is packed. If one of them is not 0, all count, and a stride of 0
/// repeats elements of the input, or its transforms. Entries past `rank` are not read.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct sconce_fft_desc {
    /// `sizeof(sconce_fft_desc)`, set by the caller.
    pub struct_size: u32,
    /// `SCONCE_FFT_C2C`, `_R2C` or `_C2R`.
    pub kind: i32,
    /// Type of a real number, `SCONCE_DTYPE_` F16, F32 or F64; C64 and C128 mean the same as F32
    /// and F64.
    pub dtype: i32,
    /// `SCONCE_FFT_FORWARD` or `_INVERSE`.
    pub direction: i32,
    /// One of `SCONCE_FFT_NORM_…`.
    pub normalization: i32,
    /// Number of dimensions, 1 to 3.
    pub rank: i32,
    /// Sizes of the real side (for C2C: of both), outermost first, at least 1.
    pub sizes: [i64; SCONCE_FFT_MOST_RANK],
    /// Number of transforms; 0 does nothing.
    pub batch: i64,
    /// Distance of transforms in the input; 0 repeats one transform if another stride is set.
    pub in_batch_stride: i64,
    /// Distance of elements along each dimension of the input.
    pub in_strides: [i64; SCONCE_FFT_MOST_RANK],
    /// Distance of transforms in the output.
    pub out_batch_stride: i64,
    /// Distance of elements along each dimension of the output. Elements must not overlap.
    pub out_strides: [i64; SCONCE_FFT_MOST_RANK],
    /// Whether a C2R transform may overwrite its input, which saves a copy of it.
    pub may_overwrite_input: CBool,
}

const _: () = assert!(offset_of!(sconce_fft_desc, may_overwrite_input) == size_of::<[u64; 15]>());

grows!(
    sconce_fft_desc, "SCONCE_FFT_DESC_INIT", first version: 128 bytes,
    kind, dtype, direction, normalization, rank, sizes, batch, in_batch_stride, in_strides,
    out_batch_stride, out_strides, may_overwrite_input,
);

/// The kind of a description.
pub(crate) fn kind_of(value: i32) -> Result<FftKind> {
    match value {
        SCONCE_FFT_C2C => Ok(FftKind::C2C),
        SCONCE_FFT_R2C => Ok(FftKind::R2C),
        SCONCE_FFT_C2R => Ok(FftKind::C2R),
        _ => Err(Error::invalid_argument(format!(
            "desc.kind is {value}; it must be SCONCE_FFT_C2C, _R2C or _C2R (0 to 2)"
        ))),
    }
}

/// The direction of a description.
pub(crate) fn direction_of(value: i32) -> Result<FftDirection> {
    match value {
        SCONCE_FFT_FORWARD => Ok(FftDirection::Forward),
        SCONCE_FFT_INVERSE => Ok(FftDirection::Inverse),
        _ => Err(Error::invalid_argument(format!(
            "desc.direction is {value}; it must be SCONCE_FFT_FORWARD or _INVERSE (0 or 1)"
        ))),
    }
}

/// The normalization of a description.
pub(crate) fn normalization_of(value: i32) -> Result<Normalization> {
    match value {
        SCONCE_FFT_NORM_NONE => Ok(Normalization::None),
        SCONCE_FFT_NORM_BY_ROOT_N => Ok(Normalization::ByRootN),
        SCONCE_FFT_NORM_BY_N => Ok(Normalization::ByN),
        _ => Err(Error::invalid_argument(format!(
            "desc.normalization is {value}; it must be one of SCONCE_FFT_NORM_… (0 to 2)"
        ))),
    }
}

impl sconce_fft_desc {
    #[inline]
    fn raw(&self) -> RawDescriptor<'_> {
        // SAFETY: up to the last field there are integers without a gap, as many bytes as 15 words,
        // and aligned as those.
        let words = unsafe { &*from_ref(self).cast::<[u64; 15]>() };
        RawDescriptor { words, may_overwrite_input: self.may_overwrite_input.byte() }
    }

    /// A transform that this thread does not know.
    #[inline(never)]
    fn transform(&self, input: usize, output: usize) -> Result<()> {
        refuse_zeroed(self, "desc")?;
        fft::transform(&self.raw(), &self.request()?, input, output)
    }

    fn request(&self) -> Result<Transform> {
        Ok(Transform {
            kind: kind_of(self.kind)?,
            element: fft::real_dtype(dtype_of(self.dtype)?)?,
            direction: direction_of(self.direction)?,
            normalization: normalization_of(self.normalization)?,
            rank: usize::try_from(self.rank)
                .ok()
                .filter(|rank| (1..=SCONCE_FFT_MOST_RANK).contains(rank))
                .ok_or_else(|| {
                    let rank = self.rank;
                    Error::invalid_argument(format!("desc.rank is {rank}; it must be 1 to 3"))
                })?,
            sizes: self.sizes,
            batch: self.batch,
            in_batch_stride: self.in_batch_stride,
            in_strides: self.in_strides,
            out_batch_stride: self.out_batch_stride,
            out_strides: self.out_strides,
            may_overwrite_input: self.may_overwrite_input.field("desc.may_overwrite_input")?,
        })
    }
}

/// Computes Fourier transforms as `desc` describes, with a plan of the device's cache.
///
/// The input does not change, except in place and for C2R with `may_overwrite_input`. If cuFFT does
/// not support the strides, elements are copied through packed temporaries.
///
/// - `desc`: kind, sizes, strides; begin with `SCONCE_FFT_DESC_INIT`.
/// - `input`: address of the input's first element.
/// - `output`: address of the output's first element. Equal to `input` for a transform in place:
///   every element of the output must then lie where an element of the input of the same transform
///   lies, as in cuFFT (R2C: rows of 2 * (n / 2 + 1) reals). Both are in memory of one device,
///   aligned to their elements.
/// - Errors: INVALID_ARGUMENT: a field of `desc` is out of its bounds, R2C is not forward or C2R
///   not inverse, elements of the output overlap each other, the output overlaps the input other
///   than in place, or one of them is not in device memory or reaches beyond its allocation.
///   CROSS_DEVICE: they are on different devices. NOT_SUPPORTED: cuFFT refuses the sizes; F16
///   supports powers of two only. LIBRARY_NOT_FOUND: cuFFT cannot be opened; the message lists what
///   was searched, and `SCONCE_LIBCUFFT` names another place. OUT_OF_MEMORY: for the plan, its
///   workspace or a temporary.
/// - Ownership: the memory must stay allocated until the transform is done. A graph of `sconce_graph`
///   keeps the plans of captured transforms until it is destroyed and its launches are done. Plans
///   of captures that other code began are never destroyed.
/// - Ordering: queued on the current stream of the device that holds the memory. The first
///   transform of a shape makes its plan, which takes milliseconds.
/// - Threads: any. Threads that queue transforms of the same shape on one device take turns.
/// - Safety: `desc` does not change during the call.
/// - torch: `torch.fft.fft`, `ifft`, `rfft`, `irfft` and their n-dimensional forms; `at::_fft_c2c`,
///   `_fft_r2c`, `_fft_c2r`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_fft(
    desc: *const sconce_fft_desc,
    input: *const c_void,
    output: *mut c_void,
) -> sconce_status {
    guard(|| {
        let mut place = None;
        // SAFETY: unless C passes NULL, `desc` has as many readable bytes as its first field says, and they
        // stay as they are during the call, which is as long as the reference lives.
        let desc = unsafe { read_at(desc, &mut place, "desc") }?;
        let (input, output) = (input as usize, output as usize);
        match fft::transform_known(&desc.raw(), input, output) {
            Some(done) => done,
            None => desc.transform(input, output),
        }
    })
}

/// Computes Fourier transforms on a stream, which is used instead of the current one. Otherwise as
/// `sconce_fft`.
///
/// - `stream`: the stream on which the transform is queued.
/// - Errors: CROSS_DEVICE: the memory and the stream are of different devices. Otherwise as
///   `sconce_fft`.
/// - Threads: any; the calling thread's device and streams have no effect and do not change.
/// - Safety: as `sconce_fft`.
/// - torch: `torch.fft.fftn` and the like inside `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_fft_on(
    desc: *const sconce_fft_desc,
    input: *const c_void,
    output: *mut c_void,
    stream: sconce_stream,
) -> sconce_status {
    guard(|| {
        let mut place = None;
        // SAFETY: unless C passes NULL, `desc` has as many readable bytes as its first field says, and they
        // stay as they are during the call, which is as long as the reference lives.
        let desc = unsafe { read_at(desc, &mut place, "desc") }?;
        stream.run(|| {
            let (input, output) = (input as usize, output as usize);
            match fft::transform_known(&desc.raw(), input, output) {
                Some(done) => done,
                None => desc.transform(input, output),
            }
        })
    })
}
