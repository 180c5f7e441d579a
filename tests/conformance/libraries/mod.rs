//! The libraries of products, convolutions and transforms, each compared with plain loops in F64.
//!
//! | file | what of which trait |
//! |---|---|
//! | `blas`, `blas_order` | `Blas`: what is calculated; streams, workspaces, modes, refusals |
//! | `compiler` | `Compiler`: entry points, refusals |
//! | `convolution` | convolutions in device memory, and done by plain loops |
//! | `dnn`, `dnn_order` | `Dnn`: what is calculated; streams, plans, handles, refusals |
//! | `fft`, `fft_order` | `Fft`: what is calculated; streams, work areas, refusals |
//!
//! Here is what they share: numbers of every type, drawn, in device memory, and compared. A library
//! that is not installed skips its tests with the words of the error.

pub(crate) mod blas;
pub(crate) mod blas_complex;
pub(crate) mod blas_order;
pub(crate) mod compiler;
mod convolution;
pub(crate) mod dnn;
pub(crate) mod dnn_order;
pub(crate) mod fft;
pub(crate) mod fft_order;

use std::time::{Duration, Instant};

use sconce_base::element::{Dtype, bf16_bits, bf16_value, f16_bits, f16_value};
use sconce_base::error::{Result, Status};
use sconce_base::types::{DeviceIndex, DevicePtr};
use sconce_driver::StreamRef;

use crate::support::host::{Pageable, Pinned};
use crate::support::stage::{A_WHILE, Memory, Outcome, SOON, Stage, Stop, Stream};

pub(crate) const ZERO: DeviceIndex = DeviceIndex::ZERO;
/// The types in which the libraries calculate.
pub(crate) const ELEMENTS: [Dtype; 4] = [Dtype::F16, Dtype::Bf16, Dtype::F32, Dtype::F64];
/// Stands where nothing may be written; every type holds it exactly.
pub(crate) const MARK: f64 = 77.0;
/// Bytes before and behind a workspace that must stay as they are, and their value.
const GUARD: usize = 4096;
const GUARD_BYTE: u8 = 0x3C;

/// What a library's first call gave. If the library is not installed the test is skipped.
#[track_caller]
pub(crate) fn installed<T>(first_call: Result<T>) -> Outcome<T> {
    first_call.map_err(|error| match error.status() {
        Status::LibraryNotFound => Stop::Skip(error.to_string()),
        _ => Stop::from(error),
    })
}

pub(crate) fn encode(element: Dtype, values: &[f64]) -> Vec<u8> {
    let bytes = |value: &f64| match element {
        Dtype::F16 => f16_bits(*value as f32).to_le_bytes().to_vec(),
        Dtype::Bf16 => bf16_bits(*value as f32).to_le_bytes().to_vec(),
        Dtype::F32 => (*value as f32).to_le_bytes().to_vec(),
        Dtype::F64 => value.to_le_bytes().to_vec(),
        _ => panic!("the tests have no numbers of {element:?}"),
    };
    values.iter().flat_map(bytes).collect()
}

pub(crate) fn decode(element: Dtype, bytes: &[u8]) -> Vec<f64> {
    let value = |bytes: &[u8]| match element {
        Dtype::F16 => f64::from(f16_value(u16::from_le_bytes(bytes.try_into().unwrap()))),
        Dtype::Bf16 => f64::from(bf16_value(u16::from_le_bytes(bytes.try_into().unwrap()))),
        Dtype::F32 => f64::from(f32::from_le_bytes(bytes.try_into().unwrap())),
        Dtype::F64 => f64::from_le_bytes(bytes.try_into().unwrap()),
        _ => panic!("the tests have no numbers of {element:?}"),
    };
    bytes.chunks_exact(element.bytes()).map(value).collect()
}

/// Numbers between -1 and 1 that the type holds exactly.
pub(crate) fn drawn(element: Dtype, count: usize, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    };
    let values: Vec<f64> = (0..count).map(|_| next()).collect();
    decode(element, &encode(element, &values))
}

/// The largest relative error of rounding to the type.
pub(crate) fn rounding(element: Dtype) -> f64 {
    2.0_f64.powi(-(element.significand_bits() as i32))
}

/// The largest error of rounding numbers that are too small for all bits of the significand. Only F16
/// has such numbers here.
pub(crate) fn smallest_rounding(element: Dtype) -> f64 {
    if element == Dtype::F16 { 2.0_f64.powi(-25) } else { 0.0 }
}

/// The largest relative error of an addition in the type in which sums are kept. Units for short types
/// may cut bits off instead of rounding.
pub(crate) fn rounding_of_sums(element: Dtype) -> f64 {
    match element {
        Dtype::F16 | Dtype::Bf16 => 4.0 * rounding(Dtype::F32),
        _ => rounding(element),
    }
}

/// Numbers in device memory.
pub(crate) struct Array<'a> {
    stage: Stage<'a>,
    memory: Memory<'a>,
    element: Dtype,
}

impl<'a> Array<'a> {
    /// Memory of a device that holds the numbers, and nothing else.
    pub(crate) fn holding(
        stage: &Stage<'a>,
        device: DeviceIndex,
        element: Dtype,
        values: &[f64],
    ) -> Result<Array<'a>> {
        let memory = stage.memory(device, values.len() * element.bytes())?;
        let array = Array { stage: *stage, memory, element };
        array.write(values)?;
        Ok(array)
    }

    /// Overwrites the numbers, after all work of the device.
    pub(crate) fn write(&self, values: &[f64]) -> Result<()> {
        let (driver, device) = (self.stage.driver, self.memory.device);
        let host = Pageable::holding(&encode(self.element, values));
        driver.device_synchronize(device)?;
        let stream = StreamRef::default_of(device);
        driver.copy_async(self.at().into(), host.raw(), host.bytes(), stream)?;
        driver.stream_synchronize(stream)
    }

    /// The numbers, after all work of the device.
    pub(crate) fn read(&self) -> Result<Vec<f64>> {
        let Memory { device, ptr, bytes, .. } = self.memory;
        Ok(decode(self.element, &self.stage.read(device, ptr, bytes)?))
    }

    /// Sees that the numbers stay as they are for a while, by copies to `host` on a stream that runs.
    /// Nothing here waits for another stream.
    #[track_caller]
    pub(crate) fn assert_stays(
        &self,
        values: &[f64],
        host: &Pinned<'_>,
        stream: &Stream<'_>,
    ) -> Result<()> {
        std::thread::sleep(A_WHILE);
        let bytes = self.memory.bytes;
        self.stage.driver.copy_async(host.raw(), self.at().into(), bytes, stream.at)?;
        let start = Instant::now();
        while !stream.query()? {
            assert!(start.elapsed() < SOON, "the copy's stream stands still, too");
            std::thread::sleep(Duration::from_micros(200));
        }
        let held = encode(self.element, values);
        assert!(host.read() == held, "the result was written while its stream stands still");
        Ok(())
    }

    /// The first number.
    pub(crate) fn at(&self) -> DevicePtr {
        self.memory.ptr
    }
}

/// Memory for a library's intermediate results, between bytes that belong to others.
pub(crate) struct GuardedWorkspace<'a> {
    stage: Stage<'a>,
    memory: Memory<'a>,
    bytes: usize,
}

impl<'a> GuardedWorkspace<'a> {
    pub(crate) fn new(stage: &Stage<'a>, device: DeviceIndex, bytes: usize) -> Result<Self> {
        let memory = stage.memory(device, bytes + 2 * GUARD)?;
        let stream = StreamRef::default_of(device);
        stage.driver.fill_async(memory.ptr, GUARD_BYTE, memory.bytes, stream)?;
        stage.driver.device_synchronize(device)?;
        Ok(GuardedWorkspace { stage: *stage, memory, bytes })
    }

    pub(crate) fn at(&self) -> DevicePtr {
        self.memory.ptr.offset(GUARD as u64)
    }

    /// Sees that nothing was written around it, and gives it back.
    #[track_caller]
    pub(crate) fn assert_neighbours_untouched(self) -> Result<()> {
        let Memory { device, ptr, bytes, .. } = self.memory;
        let content = self.stage.read(device, ptr, bytes)?;
        let around = content[..GUARD].iter().chain(&content[GUARD + self.bytes..]);
        let written = around.filter(|byte| **byte != GUARD_BYTE).count();
        assert_eq!(written, 0, "so many bytes around a workspace were overwritten");
        self.memory.free()
    }
}

/// Compares numbers. An expected number comes with the most that the seen one may differ; a NaN is
/// only a NaN.
#[track_caller]
pub(crate) fn assert_close(seen: &[f64], expected: &[(f64, f64)], what: &dyn std::fmt::Debug) {
    assert_eq!(seen.len(), expected.len());
    for (index, (seen, (wanted, tolerance))) in seen.iter().zip(expected).enumerate() {
        let same = seen.is_nan() && wanted.is_nan();
        assert!(
            same || (seen - wanted).abs() <= *tolerance,
            "number {index} is {seen}, not {wanted} ± {tolerance:e}: {what:?}"
        );
    }
}
