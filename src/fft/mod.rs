//! Fourier transforms, with plans that are kept. See `docs/design/fft.md`.
//!
//! | file | idea |
//! |---|---|
//! | `shape` | from a caller's description to two sides that have been checked |
//! | `layout` | how a library is told where the elements of a side lie, and whether it can be |
//! | `route` | which of the sides go through packed temporaries, and the key of the plan |
//! | `slot` | the place of a plan: made by the first that needs it, used by one at a time |
//! | `cache` | a device's places, least recently used, with limits and figures |
//! | `plan` | a plan: how one is made when memory is short, and when it may be destroyed |
//! | `measure` | how much memory the library takes for a plan |
//! | `memo`, `places` | what a thread found out about the descriptions that it used last, and where it keeps that |
//! | `scale` | division of the results |
//! | `run` | the call |
//! | `limits` | what callers read and set |

mod cache;
mod layout;
mod limits;
#[cfg(all(test, loom))]
mod loom_models;
mod measure;
mod memo;
#[allow(unsafe_code, reason = "what a thread owns, found by its address")]
mod places;
mod plan;
mod route;
mod run;
mod scale;
mod shape;
mod slot;

pub use limits::{
    cache_size, cache_stats, clear_cache, max_bytes, reset_cache_stats, set_max_bytes, set_max_size,
};
pub use run::{again, transform};

use crate::driver::{FftDirection, FftKind, MOST_FFT_RANK};
use crate::element::Dtype;
use crate::error::{Error, Result};

/// What sums are divided by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Normalization {
    /// Nothing.
    None,
    /// The square root of the number of elements.
    ByRootN,
    /// The number of elements.
    ByN,
}

/// Transforms as a caller describes them; see `sconce_fft_desc`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transform {
    /// From what to what.
    pub kind: FftKind,
    /// The type of a real number.
    pub element: Dtype,
    /// The exponent's sign.
    pub direction: FftDirection,
    /// What sums are divided by.
    pub normalization: Normalization,
    /// Dimensions, 1 to 3.
    pub rank: usize,
    /// Sizes of the real side.
    pub sizes: [i64; MOST_FFT_RANK],
    /// How many.
    pub batch: i64,
    /// From transform to transform.
    pub in_batch_stride: i64,
    /// Along each dimension.
    pub in_strides: [i64; MOST_FFT_RANK],
    /// From transform to transform.
    pub out_batch_stride: i64,
    /// Along each dimension.
    pub out_strides: [i64; MOST_FFT_RANK],
    /// Whether the input of C2R may be overwritten.
    pub may_overwrite_input: bool,
}

/// A caller's description as it lies in memory. Equal ones ask for the same transforms.
#[derive(Clone, Copy, Debug)]
pub struct Description<'a> {
    /// Three words of kinds and types, the sizes, the batch, and the rest.
    pub words: &'a [u64; 15],
    /// The byte of the flag, whatever it is: only 0 and 1 are ever remembered.
    pub may_overwrite_input: u8,
}

/// Figures of a device's cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheStats {
    /// Plans.
    pub size: u64,
    /// The most plans.
    pub max_size: u64,
    /// What the library took for itself.
    pub plan_bytes: u64,
    /// Workspaces of all plans.
    pub workspace_bytes: u64,
    /// The most bytes of both.
    pub max_bytes: u64,
    /// Transforms that found their plan.
    pub hits: u64,
    /// Transforms that made it.
    pub misses: u64,
    /// Plans that had to leave.
    pub evictions: u64,
}

/// The type of the real numbers that elements of a type consist of, if those can be transformed.
#[inline]
pub fn real_dtype(dtype: Dtype) -> Result<Dtype> {
    match dtype {
        Dtype::F16 => Ok(Dtype::F16),
        Dtype::F32 | Dtype::C64 => Ok(Dtype::F32),
        Dtype::F64 | Dtype::C128 => Ok(Dtype::F64),
        _ => Err(Error::not_supported(
            "desc.dtype must be SCONCE_DTYPE_F16, _F32 or _F64 (or _C64, _C128) for a transform",
        )),
    }
}
