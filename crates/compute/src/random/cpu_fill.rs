//! Fills of host memory from generators of the CPU, with the bits of torch's CPU fills.

use sconce_base::collections::slab::Key;
use sconce_base::element::Dtype;
use sconce_base::error::{Error, Result, Status};
use sconce_math::mersenne::{self, STATE_BYTES, Sequence};

use super::generator::{self, Generator};
use super::registry;
use super::request::FillRequest;

#[cold]
fn of_a_device() -> Error {
    Error::new(
        Status::CrossDevice,
        "Expected a 'cpu' device type for generator but found 'cuda'; use a generator of SCONCE_DEVICE_CPU",
    )
}

/// Runs `action` on the sequence of a generator of the CPU, of the default one if none is given.
fn with_sequence<R>(
    key: Option<Key>,
    action: impl FnOnce(&mut Sequence) -> Result<R>,
) -> Result<R> {
    let key = match key {
        Some(key) => key,
        None => registry::default_of_cpu()?,
    };
    generator::with_generator(key, |generator| match generator {
        Generator::Cpu(cpu) => action(&mut cpu.sequence),
        Generator::Device(_) => Err(of_a_device()),
    })
}

/// The state of a generator of the CPU in torch's bytes.
pub fn cpu_state(key: Key) -> Result<[u8; STATE_BYTES]> {
    with_sequence(Some(key), |sequence| Ok(sequence.to_bytes()))
}

/// Draws `n` elements, in the order in which they lie in memory, and hands them to `write` piece by piece, with
/// the place of each piece in bytes. `is_contiguous`: their order is also that of a contiguous tensor, for
/// which torch draws normal numbers in another way.
pub fn fill_pieces(
    dtype: Dtype,
    n: usize,
    is_contiguous: bool,
    request: FillRequest,
    generator: Option<Key>,
    write: impl FnMut(usize, &[u8]) -> Result<()>,
) -> Result<()> {
    let (fill, parts) = request.check(dtype)?;
    with_sequence(generator, |sequence| {
        mersenne::fill(sequence, &fill, n * parts as usize, is_contiguous, write)
    })
}

/// The numbers 0 to `n - 1` in a random order.
pub fn permuted_numbers(n: usize, generator: Option<Key>) -> Result<Vec<i64>> {
    let mut numbers = Vec::new();
    numbers.try_reserve_exact(n).map_err(|_| {
        Error::new(Status::OutOfMemory, format!("no host memory for {n} numbers of 8 bytes"))
    })?;
    numbers.extend(0..n as i64);
    with_sequence(generator, |sequence| {
        mersenne::permutation(sequence, n as u64, |a, b| numbers.swap(a as usize, b as usize));
        Ok(())
    })?;
    Ok(numbers)
}
