//! Fourier transforms, with plans that are kept. See `docs/design/fft.md`.
//!
//! | file | idea |
//! |---|---|
//! | `shape` | from a caller's description to two checked sides |
//! | `layout` | the layout of a side in the library's form, if it has one |
//! | `route` | which of the sides go through packed temporaries, and the key of the plan |
//! | `run` | the call |
//! | `scale` | division of the results |
//! | `descriptor_memo` | for each thread, the transforms that it did last, found by their descriptors' bytes |
//! | `known_transform` | an entry of that memo: a descriptor that has been checked, with its plan |
//! | `plan_cache` | a device's plans, least recently used, with limits and figures |
//! | `cached_plan` | an entry of that cache: made by the first thread that needs it, executed by one at a time |
//! | `device_caches` | the caches of all devices: settings and figures, memory given back to the allocator |
//! | `make_plan` | making a plan, also when memory is short |
//! | `plan` | a device's plan, and when it may be destroyed |
//! | `plan_cost` | the device memory that a plan costs |
//! | `loom_models` | models of the cache under concurrent threads |

mod cached_plan;
mod descriptor_memo;
mod device_caches;
mod known_transform;
mod layout;
#[cfg(all(test, loom))]
mod loom_models;
mod make_plan;
mod plan;
mod plan_cache;
mod plan_cost;
mod route;
mod run;
mod scale;
mod shape;

pub use device_caches::{
    cache_size, cache_stats, clear_cache, max_bytes, reset_cache_stats, set_max_bytes, set_max_size,
};
pub use run::{transform, transform_known};
pub use scale::factor;

use sconce_base::element::Dtype;
use sconce_base::error::{Error, Result};
use sconce_driver::{FftDirection, FftKind, MOST_FFT_RANK};

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

/// A batch of transforms as a caller describes it; see `sconce_fft_desc`.
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
    /// The number of transforms.
    pub batch: i64,
    /// From transform to transform of the input.
    pub in_batch_stride: i64,
    /// Along each dimension of the input.
    pub in_strides: [i64; MOST_FFT_RANK],
    /// From transform to transform of the output.
    pub out_batch_stride: i64,
    /// Along each dimension of the output.
    pub out_strides: [i64; MOST_FFT_RANK],
    /// Whether the input of C2R may be overwritten.
    pub may_overwrite_input: bool,
}

/// The bytes of a caller's descriptor. Descriptors of equal bytes ask for the same transforms.
#[derive(Clone, Copy, Debug)]
pub struct RawDescriptor<'a> {
    /// Three words of kinds and types, the sizes, the batch, and the strides.
    pub words: &'a [u64; 15],
    /// The byte of the flag, which may have any value; only descriptors with 0 or 1 are remembered.
    pub may_overwrite_input: u8,
}

/// Figures of a device's plan cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheStats {
    /// The number of plans.
    pub size: u64,
    /// The limit in plans.
    pub max_size: u64,
    /// The device memory that the library took for all plans, also for those that graphs keep outside of the cache.
    pub plan_bytes: u64,
    /// The sum of these plans' workspaces.
    pub workspace_bytes: u64,
    /// The limit of both together.
    pub max_bytes: u64,
    /// Transforms that found their plan.
    pub hits: u64,
    /// Transforms that made their plan.
    pub misses: u64,
    /// Plans that left because of a limit or for want of memory.
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
