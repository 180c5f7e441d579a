//! Fourier transforms: streams, work areas, the life of plans, refusals.

use sconce_base::element::Dtype;
use sconce_base::error::Status;
use sconce_base::types::DevicePtr;
use sconce_driver::{FftDirection, FftKind, FftShape};

use super::fft::{PlacedTransform, packed, plan};
use super::{Array, GuardedWorkspace, ZERO, assert_close, decode, encode, installed, rounding};
use crate::support::stage::{Outcome, Stage, carries_number, fails, fails_with};

crate::support::runner::tests![
    a_transform_runs_between_what_was_queued_before_and_after,
    a_plan_runs_on_the_stream_of_each_call,
    a_long_transform_uses_its_work_area_alone,
    a_dropped_plan_finishes_its_work,
    plans_are_independent,
    shapes_that_no_library_takes_are_refused,
];

const FORWARD: FftDirection = FftDirection::Forward;

fn a_transform_runs_between_what_was_queued_before_and_after(stage: &Stage<'_>) -> Outcome {
    let cases = [
        (FftKind::C2C, Dtype::F32, FORWARD),
        (FftKind::R2C, Dtype::F64, FORWARD),
        (FftKind::C2R, Dtype::F32, FftDirection::Inverse),
    ];
    for (kind, element, direction) in cases {
        let shape = packed(kind, element, &[6, 10], 2);
        let mut plan = plan(stage, ZERO, &shape)?;
        let stream = stage.stream(ZERO)?;
        let area = stage.memory(ZERO, plan.workspace_bytes().max(1))?;
        let mut placed = PlacedTransform::new(stage, ZERO, &shape, direction)?;
        let call = placed.call(stream.at, area.ptr);
        plan.execute(&call)?;
        stream.synchronize()?;
        placed.held = PlacedTransform::drawn(&shape, 1000);
        let expected = placed.expected();
        let input = encode(element, &placed.held);
        let before = stage.pinned(ZERO, input.len(), 0)?;
        let after = stage.pinned(ZERO, expected.len() * element.bytes(), 0)?;
        before.write(&input);
        let gate = stream.gate()?;
        stage.driver.copy_async(call.input.into(), before.raw(), before.bytes(), stream.at)?;
        plan.execute(&call)?;
        stage.driver.copy_async(after.raw(), call.output.into(), after.bytes(), stream.at)?;
        assert!(!stream.query()?, "the stream stands still");
        gate.open();
        stream.synchronize()?;
        assert_close(&decode(element, &after.read()), &expected, &shape);
    }
    Ok(())
}

fn a_plan_runs_on_the_stream_of_each_call(stage: &Stage<'_>) -> Outcome {
    let shape = packed(FftKind::C2C, Dtype::F32, &[24], 2);
    let mut plan = plan(stage, ZERO, &shape)?;
    let [first, second] = [stage.stream(ZERO)?, stage.stream(ZERO)?];
    let [first_done, second_done] = [stage.event(ZERO)?, stage.event(ZERO)?];
    // Each execution has an area of its own as long as it runs.
    let bytes = plan.workspace_bytes().max(1);
    let areas = [stage.memory(ZERO, bytes)?, stage.memory(ZERO, bytes)?];
    let placed = [
        PlacedTransform::new(stage, ZERO, &shape, FORWARD)?,
        PlacedTransform::new(stage, ZERO, &shape, FftDirection::Inverse)?,
    ];
    let calls = [placed[0].call(first.at, areas[0].ptr), placed[1].call(second.at, areas[1].ptr)];
    for call in &calls {
        plan.execute(call)?;
    }
    let held = vec![0.0; placed[0].expected().len()];
    placed[0].output.write(&held)?;
    let host = stage.pinned(ZERO, held.len() * shape.element.bytes(), 0)?;
    let gate = first.gate()?;
    plan.execute(&calls[0])?;
    first.record(&first_done)?;
    plan.execute(&calls[1])?;
    second.record(&second_done)?;
    second_done.assert_completes("the other stream stands still")?;
    placed[0].output.assert_stays(&held, &host, &second)?;
    assert!(!first_done.query()?, "the first stream did not stand still");
    gate.open();
    // The default stream is one of them.
    placed[0].assert_done()?;
    placed[1].assert_done()?;
    placed[0].output.write(&held)?;
    plan.execute(&placed[0].call(stage.default_stream(ZERO).at, areas[0].ptr))?;
    placed[0].assert_done()
}

/// Three tones, whose spectrum is known without loops.
fn a_long_transform_uses_its_work_area_alone(stage: &Stage<'_>) -> Outcome {
    const TONES: [(usize, f64); 3] = [(0, 0.25), (3, 1.0), (1777, -0.5)];
    let stream = stage.stream(ZERO)?;
    // A power of two, and a prime that libraries transform by way of a longer convolution.
    for (size, batch) in [(1_usize << 16, 1), (10_007, 2)] {
        let shape = packed(FftKind::C2C, Dtype::F32, &[size as i64], batch);
        let mut plan = plan(stage, ZERO, &shape)?;
        let area = GuardedWorkspace::new(stage, ZERO, plan.workspace_bytes())?;
        let number = |place: usize| {
            TONES.iter().fold([0.0, 0.0], |[re, im], (frequency, amplitude)| {
                let turns = (frequency * place % size) as f64 / size as f64;
                let (sin, cos) = (std::f64::consts::TAU * turns).sin_cos();
                [re + amplitude * cos, im + amplitude * sin]
            })
        };
        let signal: Vec<f64> = (0..size).flat_map(number).collect();
        let signals = signal.repeat(batch as usize);
        let input = Array::holding(stage, ZERO, Dtype::F32, &signals)?;
        let output = Array::holding(stage, ZERO, Dtype::F32, &vec![0.0; signals.len()])?;
        let call = sconce_driver::FftCall {
            stream: stream.at,
            workspace: area.at(),
            input: input.at(),
            output: output.at(),
            direction: FORWARD,
        };
        plan.execute(&call)?;
        let off = 8.0 * rounding(Dtype::F32) * size as f64;
        let mut spectrum = vec![(0.0, off); 2 * size];
        for (frequency, amplitude) in TONES {
            spectrum[2 * frequency].0 = amplitude * size as f64;
        }
        assert_close(&output.read()?, &spectrum.repeat(batch as usize), &(size, batch));
        area.assert_neighbours_untouched()?;
    }
    Ok(())
}

fn a_dropped_plan_finishes_its_work(stage: &Stage<'_>) -> Outcome {
    let probe = stage.probe(ZERO)?;
    let stream = stage.stream(ZERO)?;
    for sizes in [&[24_i64][..], &[10_007]] {
        let shape = packed(FftKind::C2C, Dtype::F32, sizes, 1);
        let mut plan = plan(stage, ZERO, &shape)?;
        let area = GuardedWorkspace::new(stage, ZERO, plan.workspace_bytes())?;
        // A single 1 at the start: all of the transform is 1.
        let count = 2 * sizes[0] as usize;
        let impulse: Vec<f64> = (0..count).map(|i| f64::from(i == 0)).collect();
        let input = Array::holding(stage, ZERO, Dtype::F32, &impulse)?;
        let output = Array::holding(stage, ZERO, Dtype::F32, &vec![0.0; count])?;
        probe.sleep_ms(&stream, 30)?;
        plan.execute(&sconce_driver::FftCall {
            stream: stream.at,
            workspace: area.at(),
            input: input.at(),
            output: output.at(),
            direction: FORWARD,
        })?;
        drop(plan);
        let ones: Vec<_> = (0..count).map(|i| (f64::from(i % 2 == 0), 1e-4)).collect();
        assert_close(&output.read()?, &ones, &sizes);
        area.assert_neighbours_untouched()?;
    }
    Ok(())
}

fn plans_are_independent(stage: &Stage<'_>) -> Outcome {
    let most = stage.driver.fft_most_plans();
    assert!(most >= 1);
    let stream = stage.stream(ZERO)?;
    let shapes = [4, 9, 16, 25].map(|size| packed(FftKind::C2C, Dtype::F64, &[size], 2));
    let mut plans = Vec::new();
    for shape in shapes.iter().chain(&shapes).take(most) {
        let plan = plan(stage, ZERO, shape)?;
        let area = stage.memory(ZERO, plan.workspace_bytes().max(1))?;
        plans.push((plan, area, PlacedTransform::new(stage, ZERO, shape, FORWARD)?));
    }
    // Every second one goes; the rest is not harmed.
    let mut keep = [true, false].into_iter().cycle();
    plans.retain(|_| keep.next() == Some(true));
    for (plan, area, placed) in &mut plans {
        plan.execute(&placed.call(stream.at, area.ptr))?;
    }
    plans.iter().try_for_each(|(.., placed)| placed.assert_done())?;
    assert_eq!(stage.driver.fft_most_plans(), most);
    Ok(())
}

fn shapes_that_no_library_takes_are_refused(stage: &Stage<'_>) -> Outcome {
    let good = packed(FftKind::C2C, Dtype::F32, &[16], 2);
    let mut before = plan(stage, ZERO, &good)?;
    let refused =
        |shape: &FftShape| stage.driver.fft_plan(ZERO, shape).map(|plan| plan.workspace_bytes());
    for element in [Dtype::I32, Dtype::U8] {
        fails_with(refused(&FftShape { element, ..good }), Status::NotSupported);
    }
    let odd = packed(FftKind::C2C, Dtype::F16, &[12], 2);
    carries_number(&fails_with(refused(&odd), Status::NotSupported));
    for shape in [
        FftShape { sizes: [0, 1, 1], ..good },
        FftShape { sizes: [-16, 1, 1], ..good },
        FftShape { batch: 0, ..good },
    ] {
        carries_number(&fails(refused(&shape)));
    }
    // None of that harmed the library.
    let placed = PlacedTransform::new(stage, ZERO, &good, FORWARD)?;
    let stream = stage.stream(ZERO)?;
    let area = stage.memory(ZERO, before.workspace_bytes().max(1))?;
    let call = placed.call(stream.at, area.ptr);
    before.execute(&call)?;
    placed.assert_done()?;
    let mut after = installed(stage.driver.fft_plan(ZERO, &good))?;
    let area = stage.memory(ZERO, after.workspace_bytes().max(1))?;
    after.execute(&sconce_driver::FftCall { workspace: area.ptr, ..call })?;
    assert_ne!(area.ptr, DevicePtr(0));
    placed.assert_done()
}
