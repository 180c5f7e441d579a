//! Fourier transforms over one to three dimensions (`torch.fft`), through cuFFT, or by the calling thread.

use sconce_base::element::Dtype;
use sconce_base::error::{Error, Result, Status};
use sconce_compute::fft::{self, Normalization, RawDescriptor, Transform};
use sconce_driver::{FftDirection, FftKind, MOST_FFT_RANK};
use sconce_math::fourier::packed_transform;
use smallvec::SmallVec;

use super::output::{Destination, InPlace};
use crate::tensor::dims::wrap_dim;
use crate::tensor::promotion::{DEFAULT_FLOAT, is_complex, is_integral};
use crate::tensor::transfer::{Conversion, clone, read_bytes, to, write_bytes};
use crate::tensor::{Dims, MemoryFormat, Place, Tensor, TensorOptions, dims, views};

/// What is transformed, and how.
pub struct TensorFft<'a> {
    pub kind: FftKind,
    pub direction: FftDirection,
    pub normalization: Normalization,
    /// One to three dimensions, of which the last is halved by R2C.
    pub dims: &'a [i64],
    /// For C2R: elements of the result along the last dimension; `None`: an even number.
    pub length: Option<i64>,
}

/// The transform, in a new tensor or in `into`.
pub fn fourier(input: &Tensor, asked: &TensorFft<'_>, into: Option<&Tensor>) -> Result<Tensor> {
    // The transform reads a copy.
    let destination = Destination::at(input.place(), into)?.reads(input, InPlace::Works)?;
    let order = order_of(input, asked.dims)?;
    let input = with_type(input, asked.kind)?;
    // The transformed dimensions last, in memory, too: then all others are one batch.
    let turned = clone(&permuted(&input, &order), MemoryFormat::Contiguous)?;
    let rank = asked.dims.len();
    let first = turned.rank() - rank;
    let mut sizes = Dims::from_slice(turned.sizes());
    let last = sizes.len() - 1;
    let mut real = Dims::from_slice(&turned.sizes()[first..]);
    match asked.kind {
        FftKind::C2C => {}
        FftKind::R2C => sizes[last] = sizes[last] / 2 + 1,
        FftKind::C2R => {
            let length = asked.length.unwrap_or(2 * (sizes[last] - 1));
            if length < 1 || length / 2 + 1 > sizes[last] {
                return Err(Error::invalid_argument(format!(
                    "Invalid number of data points ({length}) specified for a dimension of {} frequencies",
                    sizes[last]
                )));
            }
            sizes[last] = length;
            real[rank - 1] = length;
        }
    }
    if let Some(size) = real.iter().find(|size| **size < 1) {
        return Err(Error::invalid_argument(format!(
            "Invalid number of data points ({size}) specified"
        )));
    }
    let dtype = match asked.kind {
        FftKind::C2R => turned.dtype().real().0,
        _ => complex_of(turned.dtype()),
    };
    if let Some(found) = destination.dtype().filter(|found| is_complex(*found) != is_complex(dtype))
    {
        return Err(Error::invalid_argument(format!(
            "the transform expects a {} output tensor, but got {}",
            if is_complex(dtype) { "complex" } else { "floating point" },
            found.c10_name()
        )));
    }
    let mut back: SmallVec<[usize; 8]> = SmallVec::from_elem(0, order.len());
    for (place, dim) in order.iter().enumerate() {
        back[*dim] = place;
    }
    let packed = dims::contiguous_strides(&sizes);
    let [result_sizes, result_strides] =
        [&sizes, &packed].map(|values| back.iter().map(|place| values[*place]).collect::<Dims>());
    let result = destination.castable(dtype)?.output(
        TensorOptions::of(&turned).with(dtype),
        &result_sizes,
        result_strides,
    )?;
    let result = result.in_order(dtype, &order)?;
    if result.tensor().numel() != 0 {
        run(asked, &turned, &permuted(result.tensor(), &order), &real)?;
    }
    result.finish()
}

/// The other dimensions, then the transformed ones.
fn order_of(input: &Tensor, dims: &[i64]) -> Result<SmallVec<[usize; 8]>> {
    if dims.is_empty() || dims.len() > MOST_FFT_RANK || input.rank() == 0 {
        return Err(Error::invalid_argument(format!(
            "a transform takes 1 to {MOST_FFT_RANK} dimensions of a tensor that has as many, but {} were given",
            dims.len()
        )));
    }
    let mut named: SmallVec<[usize; 8]> = SmallVec::new();
    for dim in dims {
        let at = wrap_dim(*dim, input.rank())?;
        if named.contains(&at) {
            return Err(Error::invalid_argument("FFT dims must be unique"));
        }
        named.push(at);
    }
    let others = (0..input.rank()).filter(|dim| !named.contains(dim));
    let mut order: SmallVec<[usize; 8]> = others.collect();
    order.extend_from_slice(&named);
    Ok(order)
}

fn permuted(tensor: &Tensor, order: &[usize]) -> Tensor {
    let order: SmallVec<[i64; 8]> = order.iter().map(|dim| *dim as i64).collect();
    // The order names each dimension once.
    views::permute(tensor, &order).unwrap_or_default()
}

fn complex_of(dtype: Dtype) -> Dtype {
    match dtype.real().0 {
        Dtype::F16 => Dtype::C32,
        Dtype::F64 => Dtype::C128,
        _ => Dtype::C64,
    }
}

/// The input in a type that the transform takes.
fn with_type(input: &Tensor, kind: FftKind) -> Result<Tensor> {
    let dtype = input.dtype();
    let wanted = match kind {
        FftKind::R2C if is_complex(dtype) => {
            return Err(Error::invalid_argument(
                "rfft expects a real input tensor, but got a complex one",
            ));
        }
        FftKind::R2C if is_integral(dtype) => DEFAULT_FLOAT,
        FftKind::R2C => dtype,
        _ => complex_of(dtype),
    };
    fft::real_dtype(wanted.real().0)?;
    if input.place() == Place::Cpu && wanted.real().0 == Dtype::F16 {
        return Err(Error::not_supported(
            "Unsupported dtype Half: transforms on the CPU take F32 and F64; convert the tensor first",
        ));
    }
    let conversion = Conversion {
        dtype: Some(wanted),
        place: None,
        non_blocking: true,
        copy: false,
        format: MemoryFormat::Preserve,
    };
    Ok(to(input, conversion)?.unwrap_or_else(|| input.clone()))
}

/// Both tensors are contiguous, with the transformed dimensions last.
fn run(asked: &TensorFft<'_>, input: &Tensor, output: &Tensor, real: &[i64]) -> Result<()> {
    let rank = real.len();
    let first = input.rank() - rank;
    let sizes: [i64; MOST_FFT_RANK] =
        std::array::from_fn(|axis| real.get(axis).copied().unwrap_or(0));
    // Of a dimension of one element a tensor may have any stride.
    let strides = |tensor: &Tensor| -> [i64; MOST_FFT_RANK] {
        let packed = dims::contiguous_strides(&tensor.sizes()[first..]);
        std::array::from_fn(|axis| packed.get(axis).copied().unwrap_or(0))
    };
    let of_one = |tensor: &Tensor| tensor.sizes()[first..].iter().product::<i64>();
    let request = Transform {
        kind: asked.kind,
        element: fft::real_dtype(input.dtype().real().0)?,
        direction: asked.direction,
        normalization: asked.normalization,
        rank,
        sizes,
        batch: input.sizes()[..first].iter().product(),
        in_batch_stride: of_one(input),
        in_strides: strides(input),
        out_batch_stride: of_one(output),
        out_strides: strides(output),
        // The input is a copy.
        may_overwrite_input: true,
    };
    if input.place() == Place::Cpu {
        return on_the_cpu(&request, input, output);
    }
    let words = words_of(&request);
    let descriptor = RawDescriptor { words: &words, may_overwrite_input: 1 };
    fft::transform(&descriptor, &request, input.address(), output.address())
}

/// The transforms of a batch, one after the other, by the calling thread.
fn on_the_cpu(request: &Transform, input: &Tensor, output: &Tensor) -> Result<()> {
    let sizes: SmallVec<[usize; MOST_FFT_RANK]> =
        request.sizes[..request.rank].iter().map(|size| *size as usize).collect();
    let packed = packed_transform(request.kind, request.element, &sizes);
    let bytes_of = |tensor: &Tensor, distance: i64| distance as usize * tensor.element();
    let mut before = vec![0; bytes_of(input, request.in_batch_stride)];
    let mut after = vec![0; bytes_of(output, request.out_batch_stride)];
    let factor = fft::factor(request);
    for index in 0..request.batch as usize {
        read_bytes(input, index * before.len(), &mut before)?;
        packed.run(&before, &mut after, request.direction, factor).map_err(|error| {
            Error::new(Status::Internal, format!("a transform was refused: {error}"))
        })?;
        write_bytes(output, index * after.len(), &after)?;
    }
    Ok(())
}

/// The words that stand for a request in the memory of known transforms. The first has a bit that no
/// descriptor of the C API has, whose first half is its size.
fn words_of(request: &Transform) -> [u64; 15] {
    let mut words = [0; 15];
    words[0] = u64::MAX;
    words[1] = (request.kind as u64) << 32 | request.element as u64;
    words[2] = (request.direction as u64) << 40
        | (request.normalization as u64) << 32
        | request.rank as u64;
    let numbers = request
        .sizes
        .into_iter()
        .chain([request.batch, request.in_batch_stride])
        .chain(request.in_strides)
        .chain([request.out_batch_stride])
        .chain(request.out_strides);
    for (word, number) in words[3..].iter_mut().zip(numbers) {
        *word = number as u64;
    }
    words
}
