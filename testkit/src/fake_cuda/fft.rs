//! A driver beside the fake of cuFFT, and what is asked of it.

use sconce_base::element::Dtype;
use sconce_base::types::{DeviceIndex, DevicePtr};
use sconce_driver::prelude::*;
use sconce_driver::{FftCall, FftDirection, FftKind, FftLayout, FftPlan, FftShape, StreamRef};

use super::library::FakeLibrary;
use super::{Fake, open_beside};

pub const MAKE: &str = "cufftXtMakePlanMany";
/// The calls by which a plan is made.
pub const MADE: [&str; 3] = ["cufftCreate", "cufftSetAutoAllocation", MAKE];
/// The fake's first plan.
pub const PLAN: i64 = 71;

pub fn device() -> DeviceIndex {
    DeviceIndex::new(1).unwrap()
}

pub fn beside(fft: &[&str]) -> (Fake, FakeLibrary) {
    let library = FakeLibrary::new("fake_cufft.c", "libcufft.so.12", fft);
    let path = library.path();
    let fake = open_beside(&[], |config| config.libcufft = Some(path)).ok().unwrap();
    library.ask(&fake);
    (fake, library)
}

pub fn planned(fft: &[&str]) -> (Fake, FakeLibrary, Box<dyn FftPlan>) {
    let (fake, library) = beside(fft);
    let plan = fake.driver.fft_plan(device(), &packed(FftKind::C2C, &[8], 2)).unwrap();
    assert_eq!(library.names(), MADE);
    (fake, library, plan)
}

/// A shape whose both sides are packed.
pub fn packed(kind: FftKind, sizes: &[i64], batch: i64) -> FftShape {
    let mut shape = FftShape {
        kind,
        element: Dtype::F32,
        rank: sizes.len(),
        sizes: [1; 3],
        batch,
        input: FftLayout { embed: [1; 3], stride: 1, distance: 1 },
        output: FftLayout { embed: [1; 3], stride: 1, distance: 1 },
    };
    shape.sizes[..sizes.len()].copy_from_slice(sizes);
    let whole = shape;
    let side = |half| {
        let embed: [i64; 3] = whole.sizes_of(half);
        FftLayout { embed, stride: 1, distance: embed.iter().product() }
    };
    shape.input = side(kind == FftKind::C2R);
    shape.output = side(kind == FftKind::R2C);
    shape
}

pub fn call(stream: usize, workspace: u64) -> FftCall {
    FftCall {
        stream: StreamRef { device: device(), handle: super::stream(stream) },
        workspace: DevicePtr(workspace),
        input: DevicePtr(0x1000),
        output: DevicePtr(0x2000),
        direction: FftDirection::Forward,
    }
}
