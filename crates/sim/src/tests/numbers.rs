//! Numbers that tests put into device memory and take from there.

use sconce_base::element::{Dtype, bf16_bits, bf16_value, f16_bits, f16_value};
use sconce_base::types::DevicePtr;
use sconce_driver::StreamRef;
use sconce_driver::prelude::*;

use super::support::*;
use crate::Simulator;

/// The bytes of numbers of the type.
pub(super) fn encode(element: Dtype, values: &[f64]) -> Vec<u8> {
    let bytes = |value: &f64| match element {
        Dtype::F16 => f16_bits(*value as f32).to_ne_bytes().to_vec(),
        Dtype::Bf16 => bf16_bits(*value as f32).to_ne_bytes().to_vec(),
        Dtype::F32 => (*value as f32).to_ne_bytes().to_vec(),
        Dtype::F64 => value.to_ne_bytes().to_vec(),
        _ => panic!("the libraries do not calculate with {element:?}"),
    };
    values.iter().flat_map(bytes).collect()
}

pub(super) fn decode(element: Dtype, bytes: &[u8]) -> Vec<f64> {
    let value = |bytes: &[u8]| match element {
        Dtype::F16 => f64::from(f16_value(u16::from_ne_bytes(bytes.try_into().unwrap()))),
        Dtype::Bf16 => f64::from(bf16_value(u16::from_ne_bytes(bytes.try_into().unwrap()))),
        Dtype::F32 => f64::from(f32::from_ne_bytes(bytes.try_into().unwrap())),
        Dtype::F64 => f64::from_ne_bytes(bytes.try_into().unwrap()),
        _ => panic!("the libraries do not calculate with {element:?}"),
    };
    bytes.chunks_exact(element.bytes()).map(value).collect()
}

/// Numbers between -1 and 1 that the type holds exactly.
pub(super) fn values(element: Dtype, count: usize, seed: &mut u64) -> Vec<f64> {
    let mut next = || {
        *seed =
            seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*seed >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    };
    let drawn: Vec<f64> = (0..count).map(|_| next()).collect();
    decode(element, &encode(element, &drawn))
}

/// How far apart two numbers around 1 are.
pub(super) fn step(element: Dtype) -> f64 {
    match element {
        Dtype::F16 => 2.0_f64.powi(-10),
        Dtype::Bf16 => 2.0_f64.powi(-7),
        Dtype::F32 => 2.0_f64.powi(-23),
        Dtype::F64 => 1e-13,
        _ => panic!("the libraries do not calculate with {element:?}"),
    }
}

/// Writes to memory and waits for it. Automatic mode only.
pub(super) fn write(
    sim: &Simulator,
    element: Dtype,
    to: DevicePtr,
    values: &[f64],
    stream: StreamRef,
) {
    let bytes = encode(element, values);
    sim.copy_async(to.into(), host_of(&bytes), bytes.len(), stream).unwrap();
    sim.stream_synchronize(stream).unwrap();
}

/// New memory that holds the numbers. Automatic mode only.
pub(super) fn upload(
    sim: &Simulator,
    element: Dtype,
    values: &[f64],
    stream: StreamRef,
) -> DevicePtr {
    let memory = sim.memory_alloc(stream.device, element.bytes() * values.len()).unwrap();
    write(sim, element, memory, values, stream);
    memory
}

/// What is there when the stream has come so far. Automatic mode only.
pub(super) fn download(
    sim: &Simulator,
    element: Dtype,
    from: DevicePtr,
    count: usize,
    stream: StreamRef,
) -> Vec<f64> {
    let mut bytes = vec![0_u8; element.bytes() * count];
    sim.copy_async(host_of_mut(&mut bytes), from.into(), bytes.len(), stream).unwrap();
    sim.stream_synchronize(stream).unwrap();
    decode(element, &bytes)
}

/// How far the numbers are off, measured by their size as a whole.
pub(super) fn relative_error(got: &[f64], wanted: &[f64]) -> f64 {
    assert_eq!(got.len(), wanted.len());
    let square = |sum: f64, value: f64| sum + value * value;
    let off = got.iter().zip(wanted).map(|(got, wanted)| got - wanted).fold(0.0, square);
    (off / wanted.iter().copied().fold(0.0, square)).sqrt()
}
