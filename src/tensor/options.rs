//! Type, place and order in memory of new tensors.

use sconce_base::element::Dtype;
use sconce_base::error::{Error, Result};
use sconce_tensors::tensor::{MemoryFormat, Place, TensorOptions};

use crate::{CBool, SCONCE_DTYPE_DEFAULT};

/// The order of a tensor's dimensions in memory.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum sconce_memory_format {
    /// As in the tensor that the new one is like; without one, the last dimension is innermost.
    SCONCE_MEMORY_FORMAT_PRESERVE = 0,
    /// The last dimension first.
    SCONCE_MEMORY_FORMAT_CONTIGUOUS = 1,
    /// Of four dimensions, the second one first.
    SCONCE_MEMORY_FORMAT_CHANNELS_LAST = 2,
    /// Of five dimensions, the second one first.
    SCONCE_MEMORY_FORMAT_CHANNELS_LAST_3D = 3,
}

numbers_of!(sconce_memory_format as i32: SCONCE_MEMORY_FORMAT_PRESERVE, SCONCE_MEMORY_FORMAT_CONTIGUOUS, SCONCE_MEMORY_FORMAT_CHANNELS_LAST, SCONCE_MEMORY_FORMAT_CHANNELS_LAST_3D);

/// The order that a number of the C API names.
pub(super) fn format_of(number: i32, name: &str) -> Result<MemoryFormat> {
    match number {
        SCONCE_MEMORY_FORMAT_PRESERVE => Ok(MemoryFormat::Preserve),
        SCONCE_MEMORY_FORMAT_CONTIGUOUS => Ok(MemoryFormat::Contiguous),
        SCONCE_MEMORY_FORMAT_CHANNELS_LAST => Ok(MemoryFormat::ChannelsLast),
        SCONCE_MEMORY_FORMAT_CHANNELS_LAST_3D => Ok(MemoryFormat::ChannelsLast3d),
        other => Err(Error::invalid_argument(format!(
            "{name} is {other}; it must be one of SCONCE_MEMORY_FORMAT_… (0 to 3)"
        ))),
    }
}

/// The type that a number of the C API names; `None` for `SCONCE_DTYPE_DEFAULT`.
pub(super) fn optional_dtype(number: i32, name: &str) -> Result<Option<Dtype>> {
    if number == SCONCE_DTYPE_DEFAULT {
        return Ok(None);
    }
    let named = |error: Error| {
        Error::invalid_argument(format!("{name}: {}, or SCONCE_DTYPE_DEFAULT", error.message()))
    };
    Dtype::try_from(number).map(Some).map_err(named)
}

/// Type, device and memory format of a new tensor. Begin with `SCONCE_TENSOR_OPTIONS_INIT`, with
/// which the call uses its defaults.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct sconce_tensor_options {
    /// `sizeof(sconce_tensor_options)`, set by the caller.
    pub struct_size: u32,
    /// `SCONCE_DTYPE_…`, or `SCONCE_DTYPE_DEFAULT`.
    pub dtype: i32,
    /// An index, `SCONCE_DEVICE_CPU`, or -1 for the default of the call: the current device, or for
    /// a `…_like` function the device of the other tensor. If `pinned` is true, -1 is the CPU.
    pub device: i32,
    /// `SCONCE_MEMORY_FORMAT_…`.
    pub memory_format: i32,
    /// Whether memory of the CPU is page-locked.
    pub pinned: CBool,
    /// 0, else INVALID_ARGUMENT.
    pub reserved: [u8; 7],
}

grows!(
    sconce_tensor_options, "SCONCE_TENSOR_OPTIONS_INIT", first version: 24 bytes,
    dtype, device, memory_format, pinned, reserved,
);

/// What a caller asked for; `None` is left to the call.
pub(super) struct Asked {
    pub(super) dtype: Option<Dtype>,
    pub(super) place: Option<Place>,
    pub(super) pinned: bool,
    pub(super) format: MemoryFormat,
}

/// Reads the options of a call; NULL leaves all to it.
///
/// # Safety
/// If `options` is neither NULL nor misaligned, it points to as many readable bytes as its first field says.
pub(super) unsafe fn asked_of(options: *const sconce_tensor_options) -> Result<Asked> {
    if options.is_null() {
        let format = MemoryFormat::Preserve;
        return Ok(Asked { dtype: None, place: None, pinned: false, format });
    }
    let options = read!(options);
    if options.reserved != [0; 7] {
        return Err(Error::invalid_argument(
            "options.reserved is not 0; begin with SCONCE_TENSOR_OPTIONS_INIT",
        ));
    }
    let place = if options.device == -1 { None } else { Some(Place::resolve(options.device)?) };
    Ok(Asked {
        dtype: optional_dtype(options.dtype, "options.dtype")?,
        place,
        pinned: options.pinned.field("options.pinned")?,
        format: format_of(options.memory_format, "options.memory_format")?,
    })
}

impl Asked {
    /// The place of a new tensor, if the caller's options say it: only memory of the CPU is page-locked.
    #[inline]
    fn place_of_new(&self) -> Option<Place> {
        self.place.or(self.pinned.then_some(Place::Cpu))
    }

    /// For a new tensor that is like no other: of a type unless the caller named one, on the current device.
    #[inline]
    pub(super) fn or(&self, dtype: Dtype) -> Result<TensorOptions> {
        let place = self.place_of_new().map_or_else(|| Place::resolve(-1), Ok)?;
        Ok(TensorOptions { dtype: self.dtype.unwrap_or(dtype), place, pinned: self.pinned })
    }

    /// For a new tensor that is like another.
    pub(super) fn or_like(&self, like: TensorOptions) -> TensorOptions {
        TensorOptions {
            dtype: self.dtype.unwrap_or(like.dtype),
            place: self.place_of_new().unwrap_or(like.place),
            pinned: self.pinned,
        }
    }
}
